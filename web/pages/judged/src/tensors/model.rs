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
use trainscope_web_kit::parameters::{
    RANK, SEARCH, TENSOR, TENSOR_COMPARE, TENSOR_STEP, TensorStep,
};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Load, Query, query};
use trainscope_web_kit::route::use_run;
use trainscope_web_kit::sessions::use_sessions;
use trainscope_web_kit::url_state::{Change, History, Key, Setting, UrlState, use_url_state};

/// Slice as the server reads it.
const SLICE: Key<String> = Key::new("slice");
const SWAP: Setting<bool> = Setting::mark("swap");
/// Row and column of the chosen element.
const AT: Key<(u64, u64)> = Key::with(
    "at",
    |text| {
        let (row, column) = text.split_once(',')?;
        Some((row.parse().ok()?, column.parse().ok()?))
    },
    |(row, column)| format!("{row},{column}"),
);
/// The other side of a comparison instead of the difference.
const IS_OTHER: Setting<bool> = Key::of_words("show", &[(true, "other")]).or(false);
/// Absolute tolerance of equal elements; without it, the default of the server.
const ABSOLUTE: Key<f64> = Key::with("atol", parse_tolerance, f64::to_string);
/// Relative tolerance of equal elements.
const RELATIVE: Key<f64> = Key::with("rtol", parse_tolerance, f64::to_string);
/// Role of the listed tensors, as the server reads it.
const ROLE: Key<String> = Key::new("role");
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
        let (search, role) = (url.setting(SEARCH), url.param(ROLE));
        let (named, asked_rank, step) =
            (url.param(TENSOR), url.param(RANK), url.param(TENSOR_STEP));
        let slice_text = url.param(SLICE);
        let (compare, is_other) = (url.param(TENSOR_COMPARE), url.setting(IS_OTHER));
        let sessions = use_sessions();
        let held = Memo::new(move |_| {
            let session = run.with(|run| sessions.of_run(run))?;
            (session.state == SessionState::Waiting).then_some(HeldTraining {
                session: session.id,
                turn: session.turn,
                step: session.step,
            })
        });
        let is_now =
            Memo::new(move |_| step.get() == Some(TensorStep::Now) && held.with(Option::is_some));
        let in_list = move || {
            let held = held.get().filter(|_| is_now.get());
            Some((run.get(), search.get(), role.get(), held, asked_rank.get()))
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
            let asked = asked_rank.get();
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
            let asked = match step.get() {
                Some(TensorStep::Recorded(step)) => Some(step),
                Some(TensorStep::Now) | None => None,
            };
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
        let is_swapped = url.setting(SWAP);
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
        let shown = Memo::new(move |_| match (compare.get(), is_other.get()) {
            (Some(_), true) => CellContent::Other,
            (Some(_), false) => CellContent::Difference,
            (None, _) => CellContent::Current,
        });
        let limits = [url.param(ABSOLUTE), url.param(RELATIVE)];
        let tolerance = Memo::new(move |_| limits.map(|limit| limit.get()));
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
            at: url.param(AT),
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
        self.url.href(&[TENSOR_STEP.to(TensorStep::Now)])
    }

    /// Address of another tensor at the same step; reactive.
    pub(super) fn href(self, tensor: &str) -> String {
        self.url.href(&of_tensor(tensor))
    }

    pub(super) fn set_search(self, text: &str) {
        self.url.set(&[SEARCH.to(text.trim())], History::Replace);
    }

    pub(super) fn set_role(self, role: Option<&str>) {
        self.url.set(&[ROLE.to_option(role)], History::Push);
    }

    pub(super) fn set_rank(self, rank: String) {
        self.url.set(&[RANK.typed(Some(rank))], History::Push);
    }

    pub(super) fn set_step(self, step: i64) {
        let step = TENSOR_STEP.to(TensorStep::Recorded(step));
        self.url.set(&[step], History::Replace);
    }

    pub(super) fn set_compare(self, compare: Option<&str>) {
        self.url
            .set(&[TENSOR_COMPARE.to_option(compare)], History::Push);
    }

    /// Shows a side of a comparison; by default with the previous step.
    pub(super) fn show(self, shown: CellContent) {
        let compare = self.compare.get_untracked();
        let compare = compare.as_deref().unwrap_or("previous");
        let changes = [
            TENSOR_COMPARE.to_option((shown != CellContent::Current).then_some(compare)),
            IS_OTHER.to(shown == CellContent::Other),
        ];
        self.url.set(&changes, History::Push);
    }

    /// Sets a tolerance; invalid text restores the default of the server.
    pub(super) fn set_tolerance(self, is_relative: bool, text: &str) {
        let key = if is_relative { RELATIVE } else { ABSOLUTE };
        let known = key.read(text).map(|_| text.trim().to_owned());
        self.url.set(&[key.typed(known)], History::Push);
    }

    pub(super) fn set_slice(self, text: &str) {
        let text = Some(text.trim()).filter(|text| !text.is_empty());
        let changes = [SLICE.to_option(text), AT.clear()];
        self.url.set(&changes, History::Replace);
    }

    pub(super) fn swap(self) {
        let swap = SWAP.to(!self.is_swapped.get_untracked());
        self.url.set(&[swap, AT.clear()], History::Push);
    }

    pub(super) fn look_at(self, row: u64, column: u64) {
        self.url.set(&[AT.to((row, column))], History::Replace);
    }

    /// Goes to an element by its indices.
    pub(super) fn jump(self, indices: &[u64]) {
        let plane = self.plane.get_untracked().and_then(Result::ok);
        let shape = self.shape.get_untracked();
        let Some((plane, shape)) = plane.zip(shape) else {
            return;
        };
        let (plane, at) = plane.through(indices);
        let changes = [SLICE.to(short(&plane.slice, &shape)), AT.to(at)];
        self.url.set(&changes, History::Push);
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
            self.url.set(&of_tensor(next), History::Replace);
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

/// Changes of the address to another tensor.
fn of_tensor(tensor: &str) -> [Change; 4] {
    [TENSOR.to(tensor), SLICE.clear(), AT.clear(), SWAP.clear()]
}

/// Parses a tolerance: a finite number that is not negative.
fn parse_tolerance(text: &str) -> Option<f64> {
    trainscope_web_kit::format::parse_number(text).filter(|number| *number >= 0.0)
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
