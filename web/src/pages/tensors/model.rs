//! State of the page: tensor, rank, step, slice and comparison from the address, and the answers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use leptos::task::spawn_local;
use trainscope_api::findings::FindingsQuery;
use trainscope_api::tensors::{
    HistoryPoint, Slice, TensorEntry, TensorHistory, TensorIndex, TensorQuery, TensorSource,
    TensorValues,
};
use trainscope_format::Severity;

use super::list::{arrange, default_tensor};
use super::plane::{Plane, Window, around, short};
use super::steps::{last_step, step_from};
use crate::client::{self, ClientError};
use crate::live::use_live;
use crate::prelude::*;
use crate::route::use_run;
use crate::url_state::{History, UrlState, use_url_state};

const TENSOR: &str = "tensor";
const RANK: &str = "rank";
const STEP: &str = "step";
const SLICE: &str = "slice";
const SWAP: &str = "swap";
const AT: &str = "at";
const COMPARE: &str = "compare";
const SHOW: &str = "show";
const ABSOLUTE: &str = "atol";
const RELATIVE: &str = "rtol";
const SEARCH: &str = "q";
const ROLE: &str = "role";

/// Content of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shown {
    #[default]
    Current,
    Other,
    Difference,
}

/// Values, or why there are none.
#[derive(Clone, PartialEq)]
pub(super) enum Loaded {
    Loading,
    Values(Arc<Tile>),
    Failed(String),
}

/// An answer, and what it is of.
#[derive(Clone, PartialEq)]
pub(super) struct Tile {
    pub(super) tensor: String,
    pub(super) plane: Plane,
    pub(super) window: Window,
    pub(super) values: TensorValues,
}

/// The page's state. `Copy`: take it with [`use_model`].
#[derive(Clone, Copy)]
pub(super) struct Model {
    url: UrlState,
    pub(super) run: Memo<String>,
    pub(super) search: Memo<String>,
    pub(super) role: Memo<Option<String>>,
    pub(super) index: RwSignal<Option<Arc<TensorIndex>>>,
    /// The worst that was found of each tensor of the rank.
    pub(super) health: RwSignal<Arc<HashMap<String, Severity>>>,
    /// The tensor and step of the first cause, if a problem was found in a tensor.
    cause: RwSignal<Option<(String, i64)>>,
    /// The tensor that is looked at: the one of the address, else that of the first cause, else the first.
    pub(super) entry: Memo<Option<TensorEntry>>,
    pub(super) tensor: Memo<String>,
    pub(super) rank: Memo<u32>,
    pub(super) history: RwSignal<Arc<TensorHistory>>,
    /// The step that is looked at: the one of the address, else that of the first cause, else the last.
    pub(super) step: Memo<Option<i64>>,
    /// The slice as the address has it.
    pub(super) slice_text: Memo<Option<String>>,
    pub(super) is_swapped: Memo<bool>,
    /// The shape, once it is known.
    pub(super) shape: Memo<Option<Vec<u64>>>,
    /// Scrollable plane, or the error of the slice.
    pub(super) plane: Memo<Option<Result<Plane, String>>>,
    pub(super) at: Memo<Option<(u64, u64)>>,
    pub(super) compare: Memo<Option<String>>,
    pub(super) shown: Memo<Shown>,
    /// By how much elements may differ and still be alike, and by which share; the server's own choice without.
    pub(super) tolerance: Memo<[Option<f64>; 2]>,
    /// Visible window of the table.
    pub(super) view: RwSignal<Window>,
    pub(super) loaded: RwSignal<Loaded>,
}

/// The state of this page.
pub(super) fn use_model() -> Model {
    expect_context()
}

/// Text of an error for users.
pub(super) fn sentence(error: &ClientError) -> String {
    match error {
        ClientError::Refused(error) => error.message.clone(),
        ClientError::Unreachable | ClientError::Misunderstood => String::new(),
    }
}

impl Model {
    pub(super) fn provide() -> Self {
        let url = use_url_state();
        let run = use_run();
        let run = Memo::new(move |_| run.get().unwrap_or_default());
        let (search, role) = (url.param(SEARCH), url.param(ROLE));
        let search = Memo::new(move |_| search.get().unwrap_or_default());
        let (named, rank, step) = (url.param(TENSOR), url.param(RANK), url.param(STEP));
        let (slice_text, swap) = (url.param(SLICE), url.param(SWAP));
        let (at, compare, show) = (url.param(AT), url.param(COMPARE), url.param(SHOW));
        let index = RwSignal::new(None::<Arc<TensorIndex>>);
        let history = RwSignal::new(Arc::new(TensorHistory::default()));
        let cause = RwSignal::new(None::<(String, i64)>);
        let tensor = Memo::new(move |_| {
            named.get().unwrap_or_else(|| {
                let cause = cause.get().map(|(tensor, _)| tensor);
                index.with(|index| default_tensor(index.as_deref(), cause.as_deref()))
            })
        });
        let entry = Memo::new(move |before: Option<&Option<TensorEntry>>| {
            let name = tensor.get();
            let found = index.with(|index| {
                let mut all = index.iter().flat_map(|index| &index.tensors);
                all.find(|entry| entry.tensor == name).cloned()
            });
            // A filter may leave it out of the list, and the page goes on showing it.
            found.or_else(|| {
                before
                    .cloned()
                    .flatten()
                    .filter(|entry| entry.tensor == name)
            })
        });
        let rank = Memo::new(move |_| {
            let asked = rank.with(|text| text.as_ref().and_then(|text| text.parse().ok()));
            let first = entry.with(|entry| entry.as_ref().and_then(|e| e.ranks.first().copied()));
            asked.or(first).unwrap_or(0)
        });
        let step = Memo::new(move |_| {
            let asked = step.with(|text| text.as_ref().and_then(|text| text.parse().ok()));
            let is_named = named.with(Option::is_some);
            let cause = cause
                .get()
                .filter(|(of, _)| !is_named && tensor.with(|own| own == of));
            history.with(|history| {
                let is_there = |step: &i64| history.points.iter().any(|point| point.step == *step);
                let cause = cause.map(|(_, step)| step).filter(is_there);
                asked.or(cause).or_else(|| last_step(&history.points))
            })
        });
        let loaded = RwSignal::new(Loaded::Loading);
        // Shape of the last step from the list; a step of another shape reports its own.
        let shape = Memo::new(move |_| {
            let of_step = loaded.with(|loaded| match loaded {
                Loaded::Values(tile) => {
                    let is_it =
                        tile.tensor == tensor.get() && step.get() == Some(tile.values.place.step);
                    is_it.then(|| tile.values.place.shape.clone())
                }
                _ => None,
            });
            of_step.or_else(|| entry.with(|entry| entry.as_ref()?.shape.clone()))
        });
        let is_swapped = Memo::new(move |_| swap.with(Option::is_some));
        let plane = Memo::new(move |_| {
            let shape = shape.get()?;
            let slice = match slice_text.get() {
                Some(text) => Slice::parse(&text, &shape),
                None => Ok(Slice::last_two(&shape)),
            };
            Some(slice.and_then(|slice| {
                let shown = short(&slice, &shape);
                Plane::new(slice, is_swapped.get())
                    .ok_or_else(|| format!("{shown}: at most two axes fit into a table"))
            }))
        });
        let shown = Memo::new(move |_| match (compare.get(), show.get().as_deref()) {
            (Some(_), Some("other")) => Shown::Other,
            (Some(_), _) => Shown::Difference,
            (None, _) => Shown::Current,
        });
        let limits = [url.param(ABSOLUTE), url.param(RELATIVE)];
        let tolerance = Memo::new(move |_| limits.map(|text| parse_tolerance(&text.get()?)));
        let at = Memo::new(move |_| {
            let text = at.get()?;
            let (row, column) = text.split_once(',')?;
            Some((row.parse().ok()?, column.parse().ok()?))
        });
        let model = Self {
            url,
            run,
            search,
            role,
            index,
            health: RwSignal::new(Arc::default()),
            cause,
            entry,
            tensor,
            rank,
            history,
            step,
            slice_text,
            is_swapped,
            shape,
            plane,
            at,
            compare,
            shown,
            tolerance,
            view: RwSignal::new(Window::default()),
            loaded,
        };
        model.load_index();
        model.load_history();
        model.load_values();
        provide_context(model);
        model
    }

    fn load_index(self) {
        let live = use_live();
        let asked = StoredValue::new(0_u64);
        Effect::new(move || {
            live.list_version.track();
            let (run, search, role) = (self.run.get(), self.search.get(), self.role.get());
            let number = next(asked);
            spawn_local(async move {
                let found = client::tensor_index(&run, &search, role.as_deref()).await;
                let (Some(true), Ok(mut found)) =
                    (asked.try_get_value().map(|asked| asked == number), found)
                else {
                    return;
                };
                arrange(&mut found.tensors);
                let is_new = |known: &Option<Arc<TensorIndex>>| known.as_deref() != Some(&found);
                if self.index.with_untracked(is_new) {
                    self.index.set(Some(Arc::new(found)));
                }
            });
        });
        let asked = StoredValue::new(0_u64);
        Effect::new(move || {
            live.list_version.track();
            let query = FindingsQuery {
                run: self.run.get(),
                rank: Some(self.rank.get()),
                ..FindingsQuery::default()
            };
            let number = next(asked);
            spawn_local(async move {
                let Ok(found) = client::findings(&query).await else {
                    return;
                };
                if asked.try_get_value() == Some(number) {
                    let cause = found.first_cause.as_ref();
                    let cause = cause.map(|cause| (cause.hit.tensor.clone(), cause.hit.step));
                    if self.cause.with_untracked(|known| *known != cause) {
                        self.cause.set(cause);
                    }
                    let mut worst = HashMap::new();
                    for hit in found.hits {
                        let known = worst.entry(hit.tensor).or_insert(hit.severity);
                        *known = (*known).max(hit.severity);
                    }
                    self.health.set(Arc::new(worst));
                }
            });
        });
    }

    /// Asks for the statistics over steps, again while some are not read.
    fn load_history(self) {
        let live = use_live();
        let asked = StoredValue::new(0_u64);
        Effect::new(move |before: Option<(String, String, u32)>| {
            live.list_version.track();
            let now = (self.run.get(), self.tensor.get(), self.rank.get());
            let number = next(asked);
            if before.as_ref() != Some(&now) {
                self.history.set(Arc::default());
            }
            if !now.1.is_empty() {
                self.ask_history(now.clone(), asked, number);
            }
            now
        });
    }

    fn ask_history(
        self,
        (run, tensor, rank): (String, String, u32),
        asked: StoredValue<u64>,
        number: u64,
    ) {
        spawn_local(async move {
            let found = client::tensor_history(&run, &tensor, rank).await;
            if asked.try_get_value() != Some(number) {
                return;
            }
            let found = match found {
                Ok(found) => found,
                Err(error) => {
                    let is_new = self.history.with_untracked(|history| history.total == 0);
                    if is_new {
                        self.loaded.set(Loaded::Failed(sentence(&error)));
                    }
                    return;
                }
            };
            let is_pending = found.pending_bytes > 0;
            self.history.set(Arc::new(found));
            if is_pending {
                set_timeout(
                    move || {
                        if asked.try_get_value() == Some(number) {
                            self.ask_history((run, tensor, rank), asked, number);
                        }
                    },
                    Duration::from_millis(30),
                );
            }
        });
    }

    /// Asks for what is in view, and some around it, whenever the answer before does not have it.
    fn load_values(self) {
        let asked = StoredValue::new(0_u64);
        Effect::new(move |before: Option<Option<TensorQuery>>| {
            let before = before.flatten();
            let source = self.source();
            let (Some(step), Some(source)) = (self.step.get(), source) else {
                self.loaded.set(Loaded::Loading);
                return None;
            };
            if source == TensorSource::Statistics {
                next(asked);
                self.loaded.set(Loaded::Loading);
                return None;
            }
            let plane = self.plane.get().and_then(Result::ok);
            let view = self.view.get();
            let window = plane.as_ref().map(|plane| around(view, plane.all()));
            let [absolute, relative] = self.tolerance.get();
            let query = TensorQuery {
                run: self.run.get(),
                tensor: self.tensor.get(),
                rank: self.rank.get(),
                step: Some(step),
                slice: plane
                    .as_ref()
                    .zip(window)
                    .map(|(plane, window)| plane.slice_of(window).to_string()),
                compare: self.compare.get(),
                absolute,
                relative,
                ..TensorQuery::default()
            };
            if before.as_ref() == Some(&query) {
                return before;
            }
            let is_same =
                |before: &TensorQuery| before.tensor == query.tensor && before.run == query.run;
            if !before.as_ref().is_some_and(is_same) {
                self.loaded.set(Loaded::Loading);
            }
            let number = next(asked);
            let sent = query.clone();
            spawn_local(async move {
                let found = client::tensor_values(&sent).await;
                if asked.try_get_value() != Some(number) {
                    return;
                }
                self.loaded.set(match (found, plane, window) {
                    (Ok(values), Some(plane), Some(window)) => Loaded::Values(Arc::new(Tile {
                        tensor: sent.tensor,
                        plane,
                        window,
                        values,
                    })),
                    // The first answer says which shape it is; the next has the slice.
                    (Ok(values), ..) => {
                        let slice = Slice::last_two(&values.place.shape);
                        match Plane::new(slice, false) {
                            Some(plane) => Loaded::Values(Arc::new(Tile {
                                tensor: sent.tensor,
                                window: Window::default(),
                                plane,
                                values,
                            })),
                            None => Loaded::Loading,
                        }
                    }
                    (Err(error), ..) => Loaded::Failed(sentence(&error)),
                });
            });
            Some(query)
        });
    }

    /// Source of the step's elements; reactive. For a step that was thinned out or deleted, the server answers with
    /// those available.
    pub(super) fn source(self) -> Option<TensorSource> {
        let step = self.step.get()?;
        self.history.with(|history| {
            let mut points = history.points.iter();
            let known = points.find(|point| point.step == step).map(|p| p.source);
            known.or((history.total > 0).then_some(TensorSource::Dump))
        })
    }

    /// The steps with elements before and after the one that is looked at; reactive.
    pub(super) fn nearest(self) -> Vec<i64> {
        let step = self.step.get().unwrap_or(0);
        self.history.with(|history| {
            let near = [-1, 1].map(|by| step_from(&history.points, step, by));
            let has_elements = |step: &i64| {
                let mut points = history.points.iter();
                points.any(|own| own.step == *step && own.source != TensorSource::Statistics)
            };
            near.into_iter().flatten().filter(has_elements).collect()
        })
    }

    /// The statistics of a step; reactive.
    pub(super) fn point(self, step: i64) -> Option<HistoryPoint> {
        self.history.with(|history| {
            let mut points = history.points.iter();
            points.find(|point| point.step == step).cloned()
        })
    }

    /// The query of what is looked at; reactive.
    pub(super) fn query(self) -> TensorQuery {
        TensorQuery {
            run: self.run.get(),
            tensor: self.tensor.get(),
            rank: self.rank.get(),
            step: self.step.get(),
            ..TensorQuery::default()
        }
    }

    /// The address of another tensor at the same step; reactive.
    pub(super) fn href(self, tensor: &str) -> String {
        let changes = [
            (TENSOR, Some(tensor)),
            (SLICE, None),
            (AT, None),
            (SWAP, None),
        ];
        self.url.href(&changes)
    }

    pub(super) fn set_search(self, text: &str) {
        let text = Some(text.trim()).filter(|text| !text.is_empty());
        self.url.set(&[(SEARCH, text)], History::Replace);
    }

    pub(super) fn set_role(self, role: Option<&str>) {
        self.url.set(&[(ROLE, role)], History::Push);
    }

    pub(super) fn set_rank(self, rank: &str) {
        self.url.set(&[(RANK, Some(rank))], History::Push);
    }

    pub(super) fn set_step(self, step: i64) {
        let step = step.to_string();
        self.url.set(&[(STEP, Some(&step))], History::Replace);
    }

    pub(super) fn set_compare(self, compare: Option<&str>) {
        self.url.set(&[(COMPARE, compare)], History::Push);
    }

    /// Shows this side of a comparison; with nothing to compare with, the step before.
    pub(super) fn show(self, shown: Shown) {
        let compare = self.compare.get_untracked();
        let compare = compare.as_deref().unwrap_or("previous");
        let (compare, show) = match shown {
            Shown::Current => (None, None),
            Shown::Other => (Some(compare), Some("other")),
            Shown::Difference => (Some(compare), None),
        };
        self.url
            .set(&[(COMPARE, compare), (SHOW, show)], History::Push);
    }

    /// Invalid text leaves the default to the server.
    pub(super) fn set_tolerance(self, is_relative: bool, text: &str) {
        let key = if is_relative { RELATIVE } else { ABSOLUTE };
        let known = parse_tolerance(text).map(|_| text.trim());
        self.url.set(&[(key, known)], History::Push);
    }

    pub(super) fn set_slice(self, text: &str) {
        let text = Some(text.trim()).filter(|text| !text.is_empty());
        self.url.set(&[(SLICE, text), (AT, None)], History::Replace);
    }

    pub(super) fn swap(self) {
        let swapped = (!self.is_swapped.get_untracked()).then_some("1");
        self.url.set(&[(SWAP, swapped), (AT, None)], History::Push);
    }

    pub(super) fn look_at(self, row: u64, column: u64) {
        let at = format!("{row},{column}");
        self.url.set(&[(AT, Some(&at))], History::Replace);
    }

    /// Goes to an element by its indices.
    pub(super) fn jump(self, indices: &[u64]) {
        let plane = self.plane.get_untracked().and_then(Result::ok);
        let shape = self.shape.get_untracked();
        let Some((plane, shape)) = plane.zip(shape) else {
            return;
        };
        let (plane, (row, column)) = plane.through(indices);
        let (slice, at) = (short(&plane.slice, &shape), format!("{row},{column}"));
        self.url
            .set(&[(SLICE, Some(&slice)), (AT, Some(&at))], History::Push);
    }

    /// Goes so many steps on, of those with elements if there are any; whether there is one.
    pub(super) fn step_by(self, by: isize) -> bool {
        let Some(now) = self.step.get_untracked() else {
            return false;
        };
        let next = self
            .history
            .with_untracked(|history| step_from(&history.points, now, by));
        if let Some(next) = next {
            self.set_step(next);
        }
        next.is_some()
    }

    /// Goes so many tensors on; whether there is one.
    pub(super) fn tensor_by(self, by: isize) -> bool {
        let name = self.tensor.get_untracked();
        let next = self.index.with_untracked(|index| {
            let tensors = &index.as_ref()?.tensors;
            let at = tensors.iter().position(|entry| entry.tensor == name)?;
            let next = tensors.get(at.checked_add_signed(by)?)?;
            Some(next.tensor.clone())
        });
        if let Some(next) = &next {
            let changes = [
                (TENSOR, Some(&**next)),
                (SLICE, None),
                (AT, None),
                (SWAP, None),
            ];
            self.url.set(&changes, History::Replace);
        }
        next.is_some()
    }
}

/// A tolerance is a number, and none is below zero.
fn parse_tolerance(text: &str) -> Option<f64> {
    let number = crate::format::parse_number(text);
    number.filter(|number| number.is_finite() && *number >= 0.0)
}

fn next(asked: StoredValue<u64>) -> u64 {
    let number = asked.get_value() + 1;
    asked.set_value(number);
    number
}
