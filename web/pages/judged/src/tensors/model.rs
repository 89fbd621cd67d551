//! State of the page: tensor, rank, step, slice and comparison from the address, and the answers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use trainscope_api::findings::{Findings, FindingsQuery};
use trainscope_api::sessions::{SessionItemsQuery, SessionState};
use trainscope_api::tensors::{
    HistoryPoint, Slice, TensorEntry, TensorHistory, TensorIndex, TensorQuery, TensorSource,
};
use trainscope_format::Severity;
use trainscope_format::session::SessionItem;

use super::names::{add_live, arrange, default_tensor};
use super::steps::{last_step, step_from};
use trainscope_web_kit::client::{self, ClientError};
use trainscope_web_kit::components::tensor::{Plane, Tile, Window, around, short};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Load, Query, query};
use trainscope_web_kit::route::use_run;
use trainscope_web_kit::sessions::use_sessions;
use trainscope_web_kit::url_state::{History, UrlState, use_url_state};

const TENSOR: &str = "tensor";
const RANK: &str = "rank";
const STEP: &str = "step";
/// Value of [`STEP`] for the memory of a training that waits.
const NOW: &str = "now";
const SLICE: &str = "slice";
const SWAP: &str = "swap";
const AT: &str = "at";
const COMPARE: &str = "compare";
const SHOW: &str = "show";
const ABSOLUTE: &str = "atol";
const RELATIVE: &str = "rtol";
const SEARCH: &str = "q";
const ROLE: &str = "role";
/// Maximum number of tensors in memory that the list shows.
const MAX_LIVE: usize = 5_000;
/// Time between requests for statistics that the server has not read yet.
const PENDING_PAUSE: Duration = Duration::from_millis(30);

/// Content of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CellContent {
    #[default]
    Current,
    Other,
    Difference,
}

/// Training that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeldTraining {
    session: String,
    /// Number of the hold; each hold has other values.
    turn: u64,
    pub(super) step: i64,
}

/// The page's state. `Copy`: take it with [`use_model`].
#[derive(Clone, Copy)]
pub(super) struct Model {
    url: UrlState,
    pub(super) run: Memo<String>,
    pub(super) search: Memo<String>,
    pub(super) role: Memo<Option<String>>,
    pub(super) index: RwSignal<Option<Arc<TensorIndex>>>,
    /// Worst severity of the findings of each tensor of the rank.
    pub(super) health: Memo<Arc<HashMap<String, Severity>>>,
    /// Shown tensor: that of the address, else that of the first cause, else the first.
    pub(super) entry: Memo<Option<TensorEntry>>,
    pub(super) tensor: Memo<String>,
    pub(super) rank: Memo<u32>,
    pub(super) history: Memo<Arc<TensorHistory>>,
    /// The session of the run while its training waits.
    pub(super) held: Memo<Option<HeldTraining>>,
    /// `true` if values are those in the memory of the training.
    pub(super) is_now: Memo<bool>,
    /// Shown step: that of the address, else that of the first cause, else the last.
    pub(super) step: Memo<Option<i64>>,
    /// Slice as in the address.
    pub(super) slice_text: Memo<Option<String>>,
    pub(super) is_swapped: Memo<bool>,
    /// Shape, once known.
    pub(super) shape: Memo<Option<Vec<u64>>>,
    /// Scrollable plane, or the error of the slice.
    pub(super) plane: Memo<Option<Result<Plane, String>>>,
    pub(super) at: Memo<Option<(u64, u64)>>,
    pub(super) compare: Memo<Option<String>>,
    pub(super) shown: Memo<CellContent>,
    /// Absolute and relative tolerance of equal elements; `None` means the default of the server.
    pub(super) tolerance: Memo<[Option<f64>; 2]>,
    /// Visible window of the table.
    pub(super) view: RwSignal<Window>,
    /// Values of the visible window and some around it.
    pub(super) loaded: Memo<Load<Arc<Tile>>>,
}

/// Returns the state of this page.
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
        let sessions = use_sessions();
        let held = Memo::new(move |_| {
            let session = run.with(|run| sessions.of_run(run))?;
            (session.state == SessionState::Waiting).then_some(HeldTraining {
                session: session.id,
                turn: session.turn,
                step: session.step,
            })
        });
        let is_now = Memo::new(move |_| {
            step.with(|text| text.as_deref() == Some(NOW)) && held.with(Option::is_some)
        });
        let asked_rank = move || rank.with(|text| text.as_ref().and_then(|text| text.parse().ok()));
        let in_list = move || {
            let held = held.get().filter(|_| is_now.get());
            Some((run.get(), search.get(), role.get(), held, asked_rank()))
        };
        let index = query(in_list, |(run, search, role, held, rank)| async move {
            let mut found = client::tensors_named(&run, &search, role.as_deref()).await?;
            if let Some(held) = held {
                let rank = rank.unwrap_or(0);
                let items = live_items(held.session, rank, search).await;
                add_live(&mut found, items, rank, role.as_deref());
            }
            arrange(&mut found.tensors);
            Ok(found)
        });
        let index = index.again_with_list().answer;
        let findings = Query::<Findings>::idle();
        // Tensor and step of the first cause, then of each hit.
        let causes = Memo::new(move |_| {
            let found = findings.answer.get();
            let found = found.iter().flat_map(|found| {
                let cause = found.first_cause.iter().map(|cause| &cause.hit);
                cause.chain(&found.hits)
            });
            let places = found.map(|hit| (hit.tensor.clone(), hit.step));
            Arc::new(places.collect::<Vec<_>>())
        });
        let health = Memo::new(move |_| {
            let mut worst = HashMap::new();
            for hit in findings.answer.get().iter().flat_map(|found| &found.hits) {
                let known = worst.entry(hit.tensor.clone()).or_insert(hit.severity);
                *known = (*known).max(hit.severity);
            }
            Arc::new(worst)
        });
        let tensor = Memo::new(move |_| {
            named.get().unwrap_or_else(|| {
                index.with(|index| default_tensor(index.as_deref(), &causes.get()))
            })
        });
        let entry = Memo::new(move |before: Option<&Option<TensorEntry>>| {
            let name = tensor.get();
            let found = index.with(|index| {
                let mut all = index.iter().flat_map(|index| &index.tensors);
                all.find(|entry| entry.tensor == name).cloned()
            });
            // A filter may remove it from the list; the page continues to show it.
            found.or_else(|| {
                before
                    .cloned()
                    .flatten()
                    .filter(|entry| entry.tensor == name)
            })
        });
        let rank = Memo::new(move |_| {
            let asked = asked_rank();
            let first = entry.with(|entry| entry.as_ref().and_then(|e| e.ranks.first().copied()));
            asked.or(first).unwrap_or(0)
        });
        let judged = move || {
            Some(FindingsQuery {
                run: run.get(),
                rank: Some(rank.get()),
                ..FindingsQuery::default()
            })
        };
        findings.start(judged, |key| async move { client::findings(&key).await });
        findings.again_with_list();
        let subject = move || (run.get(), tensor.get(), rank.get());
        let recorded = query(
            move || Some(subject()).filter(|(_, tensor, _)| !tensor.is_empty()),
            |(run, tensor, rank)| async move { client::tensor_history(&run, &tensor, rank, None).await },
        );
        let recorded = recorded.again_with_list().cleared_with(subject);
        repeat_while_pending(recorded);
        let history = Memo::new(move |_| recorded.answer.get().unwrap_or_default());
        let step = Memo::new(move |_| {
            if let Some(held) = held.get().filter(|_| is_now.get()) {
                return Some(held.step);
            }
            let asked = step.with(|text| text.as_ref().and_then(|text| text.parse().ok()));
            let is_named = named.with(Option::is_some);
            let cause = causes.with(|causes| {
                let mut all = causes.iter();
                all.find(|(of, _)| !is_named && tensor.with(|name| name == of))
                    .map(|(_, step)| *step)
            });
            history.with(|history| {
                let is_there = |step: &i64| history.points.iter().any(|point| point.step == *step);
                let cause = cause.filter(is_there);
                asked.or(cause).or_else(|| last_step(&history.points))
            })
        });
        let values = Query::<Tile>::idle();
        // The list has the shape of the last step; the values of another step report theirs.
        let shape = Memo::new(move |_| {
            let of_step = values.answer.with(|tile| {
                let tile = tile.as_ref()?;
                let is_it =
                    tile.tensor == tensor.get() && step.get() == Some(tile.values.place.step);
                is_it.then(|| tile.values.place.shape.clone())
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
            (Some(_), Some("other")) => CellContent::Other,
            (Some(_), _) => CellContent::Difference,
            (None, _) => CellContent::Current,
        });
        let limits = [url.param(ABSOLUTE), url.param(RELATIVE)];
        let tolerance = Memo::new(move |_| limits.map(|text| parse_tolerance(&text.get()?)));
        let at = Memo::new(move |_| {
            let text = at.get()?;
            let (row, column) = text.split_once(',')?;
            Some((row.parse().ok()?, column.parse().ok()?))
        });
        let view = RwSignal::new(Window::default());
        let elements = move || {
            let step = step.get()?;
            let held = held.get().filter(|_| is_now.get());
            if held.is_none() && source_at(history, step)? == TensorSource::Statistics {
                return None;
            }
            let plane = plane.get().and_then(Result::ok);
            let view = view.get();
            let window = plane.as_ref().map(|plane| around(view, plane.all()));
            let shown = plane.zip(window);
            let [absolute, relative] = tolerance.get();
            let wanted = TensorQuery {
                run: run.get(),
                tensor: tensor.get(),
                rank: rank.get(),
                step: Some(step),
                slice: shown
                    .as_ref()
                    .map(|(plane, window)| plane.slice_of(*window).to_string()),
                compare: compare.get(),
                absolute,
                relative,
                session: held.as_ref().map(|held| held.session.clone()),
                ..TensorQuery::default()
            };
            Some((wanted, shown, held))
        };
        values.start(elements, |(wanted, shown, _)| async move {
            let values = client::tensor_values(&wanted).await?;
            // Without a slice the answer reports the shape; the next request has a slice.
            let whole = || {
                let plane = Plane::new(Slice::last_two(&values.place.shape), false)?;
                Some((plane, Window::default()))
            };
            let (plane, window) = shown.or_else(whole).ok_or(ClientError::Misunderstood)?;
            Ok(Tile {
                tensor: wanted.tensor,
                plane,
                window,
                values,
            })
        });
        values.cleared_with(move || (run.get(), tensor.get()));
        // A tensor that the training shows need not have been recorded.
        let loaded = Memo::new(move |_| match recorded.load() {
            Load::Failed(error) if !is_now.get() => Load::Failed(error),
            _ => values.load(),
        });
        let model = Self {
            url,
            run,
            search,
            role,
            index,
            health,
            entry,
            tensor,
            rank,
            history,
            held,
            is_now,
            step,
            slice_text,
            is_swapped,
            shape,
            plane,
            at,
            compare,
            shown,
            tolerance,
            view,
            loaded,
        };
        provide_context(model);
        model
    }

    /// Source of the step's elements; reactive. For a step that was thinned out or deleted, the server answers with
    /// those available.
    pub(super) fn source(self) -> Option<TensorSource> {
        if self.is_now.get() {
            return Some(TensorSource::Session);
        }
        source_at(self.history, self.step.get()?)
    }

    /// Nearest steps with elements before and after the shown one; reactive.
    pub(super) fn nearest(self) -> Vec<i64> {
        let step = self.step.get().unwrap_or(0);
        self.history.with(|history| {
            let near = [-1, 1].map(|by| step_from(&history.points, step, by));
            let has_elements = |step: &i64| {
                let mut points = history.points.iter();
                points.any(|point| point.step == *step && point.source != TensorSource::Statistics)
            };
            near.into_iter().flatten().filter(has_elements).collect()
        })
    }

    /// Statistics of a step; reactive.
    pub(super) fn point(self, step: i64) -> Option<HistoryPoint> {
        self.history.with(|history| {
            let mut points = history.points.iter();
            points.find(|point| point.step == step).cloned()
        })
    }

    /// Query for the shown tensor; reactive.
    pub(super) fn query(self) -> TensorQuery {
        TensorQuery {
            run: self.run.get(),
            tensor: self.tensor.get(),
            rank: self.rank.get(),
            step: self.step.get(),
            session: self
                .held
                .get()
                .filter(|_| self.is_now.get())
                .map(|held| held.session),
            ..TensorQuery::default()
        }
    }

    /// Address of the values in the memory of the training; reactive.
    pub(super) fn now_href(self) -> String {
        self.url.href(&[(STEP, Some(NOW))])
    }

    /// Address of another tensor at the same step; reactive.
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

    /// Shows a side of a comparison; by default with the previous step.
    pub(super) fn show(self, shown: CellContent) {
        let compare = self.compare.get_untracked();
        let compare = compare.as_deref().unwrap_or("previous");
        let (compare, show) = match shown {
            CellContent::Current => (None, None),
            CellContent::Other => (Some(compare), Some("other")),
            CellContent::Difference => (Some(compare), None),
        };
        self.url
            .set(&[(COMPARE, compare), (SHOW, show)], History::Push);
    }

    /// Sets a tolerance; invalid text restores the default of the server.
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

    /// Moves by `by` steps, among those with elements if any exist. Returns `false` if there is no such step.
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

    /// Moves by `by` tensors in the list. Returns `false` at its ends.
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

/// Requests the tensors of a waiting rank. On an error, returns those received before.
async fn live_items(session: String, rank: u32, search: String) -> Vec<SessionItem> {
    let mut query = SessionItemsQuery {
        session,
        rank,
        pattern: search,
        offset: 0,
    };
    let mut items = Vec::new();
    while let Ok(mut page) = client::session_tensors(&query).await {
        let is_last = !page.cut || page.items.is_empty() || items.len() >= MAX_LIVE;
        items.append(&mut page.items);
        if is_last {
            break;
        }
        query.offset = items.len() as u64;
    }
    items
}

/// Parses a tolerance: a finite number that is not negative.
fn parse_tolerance(text: &str) -> Option<f64> {
    let number = trainscope_web_kit::format::parse_number(text);
    number.filter(|number| number.is_finite() && *number >= 0.0)
}

fn source_at(history: Memo<Arc<TensorHistory>>, step: i64) -> Option<TensorSource> {
    history.with(|history| {
        let mut points = history.points.iter();
        let known = points.find(|point| point.step == step).map(|p| p.source);
        known.or((history.total > 0).then_some(TensorSource::Dump))
    })
}

/// Repeats the request for statistics while the server has not read all.
fn repeat_while_pending(history: Query<TensorHistory>) {
    Effect::new(move || {
        let is_pending = |history: &Option<Arc<TensorHistory>>| {
            history
                .as_ref()
                .is_some_and(|history| history.pending_bytes > 0)
        };
        let has_failed = history.error.with_untracked(Option::is_some);
        if !history.is_fetching.get() && !has_failed && history.answer.with_untracked(is_pending) {
            set_timeout(move || history.ask_again(), PENDING_PAUSE);
        }
    });
}
