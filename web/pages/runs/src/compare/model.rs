//! State of the page: runs, options and place in the address, the comparison, and the map in view.

use std::sync::Arc;
use std::time::Duration;

use trainscope_api::compare::{
    AgainstBase, Align, CompareQuery, Comparison, DEFAULT_TOLERANCE, DifferenceMap, MAX_RUNS,
    MapQuery, Parting, Reading,
};

use trainscope_web_kit::client;
use trainscope_web_kit::format;
use trainscope_web_kit::parameters::{RUNS, SEARCH, TENSOR};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Query, query};
use trainscope_web_kit::run_colour::use_run_colours;
use trainscope_web_kit::run_name::longer_names;
use trainscope_web_kit::url_state::{History, Key, Setting, UrlState, join_list, use_url_state};

const BASE: Key<String> = Key::new("base");
/// Run shown against the base.
const OTHER: Key<String> = Key::new("other");
const TOLERANCE: Setting<f64> = Key::with(
    "tolerance",
    |text| format::parse_number(text).filter(|value| *value >= 0.0),
    f64::to_string,
)
.or(DEFAULT_TOLERANCE);
/// First compared step.
const SINCE: Key<i64> = Key::with("since", typed_step, i64::to_string);
const ALIGN: Setting<Align> = Key::of_words(
    "align",
    &[
        (Align::Step, "step"),
        (Align::Samples, "samples"),
        (Align::Epoch, "epoch"),
        (Align::Time, "time"),
    ],
)
.or(Align::Step);
const TAB: Setting<Tab> = Key::of_words(
    "tab",
    &[
        (Tab::Summary, "summary"),
        (Tab::Scalars, "scalars"),
        (Tab::Tensors, "tensors"),
        (Tab::Findings, "findings"),
        (Tab::Graph, "graph"),
        (Tab::Data, "data"),
        (Tab::Configuration, "configuration"),
    ],
)
.or(Tab::Summary);
/// Runs are read to their ends.
const ALL: Setting<bool> = Key::new("all").or(false);
/// Role of the tensors on the map, as the server reads it.
const ROLE: Key<String> = Key::new("role");
/// Step of the base, of the chosen tensor or scalar.
const STEP: Key<i64> = Key::with("step", typed_step, i64::to_string);

/// Pause before the next request while the server still reads the runs.
const READ_ON: Duration = Duration::from_millis(150);
/// Maximum rows of the map on the summary.
pub(super) const SUMMARY_ROWS: usize = 40;
/// Maximum rows of the map on the tab of tensors.
pub(super) const TENSOR_ROWS: usize = 300;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tab {
    #[default]
    Summary,
    Scalars,
    Tensors,
    Findings,
    Graph,
    Data,
    Configuration,
}

impl Tab {
    pub(super) const ALL: [Self; 7] = [
        Self::Summary,
        Self::Scalars,
        Self::Tensors,
        Self::Findings,
        Self::Graph,
        Self::Data,
        Self::Configuration,
    ];
}

pub(super) const ALIGNS: [Align; 4] = [Align::Step, Align::Samples, Align::Epoch, Align::Time];

#[derive(Clone, Copy)]
pub(super) struct Model {
    pub(super) url: UrlState,
    /// Compared runs, the base first.
    pub(super) runs: Memo<Vec<String>>,
    /// Runs in the address, with duplicates and beyond [`MAX_RUNS`].
    pub(super) asked: Memo<Vec<String>>,
    pub(super) tolerance: Memo<f64>,
    pub(super) align: Memo<Align>,
    pub(super) since: Memo<Option<i64>>,
    pub(super) tab: Memo<Tab>,
    /// Run shown against the base.
    pub(super) other: Memo<Option<String>>,
    pub(super) search: Memo<String>,
    pub(super) role: Memo<Option<String>>,
    /// Chosen tensor or scalar, and step of the base.
    pub(super) chosen: Memo<Option<(String, i64)>>,
    pub(super) query: Query<Comparison>,
    pub(super) map: Query<DifferenceMap>,
    /// Short names that tell the runs apart, by run.
    names: Memo<std::collections::BTreeMap<String, String>>,
}

pub(super) fn use_model() -> Model {
    expect_context()
}

impl Model {
    pub(super) fn new() -> Self {
        let url = use_url_state();
        let list = url.setting(RUNS);
        let base = url.param(BASE);
        let runs = Memo::new(move |_| ordered(list.get(), base.get().as_deref()));
        let (tolerance, since) = (url.setting(TOLERANCE), url.param(SINCE));
        let (align, tab) = (url.setting(ALIGN), url.setting(TAB));
        let other = url.param(OTHER);
        let other = Memo::new(move |_| {
            let wanted = other.get();
            runs.with(|runs| {
                let others = || runs.iter().skip(1);
                let found = others().find(|run| Some(*run) == wanted.as_ref());
                found.or_else(|| others().next()).cloned()
            })
        });
        let all = url.setting(ALL);
        let asked_query = Memo::new(move |_| {
            let runs = runs.get();
            (runs.len() > 1).then(|| CompareQuery {
                runs: join_list(&runs),
                base: None,
                tolerance: Some(tolerance.get()),
                since: since.get(),
                align: align.get(),
                all: u8::from(all.get()),
            })
        });
        let shown = Signal::derive(move || Arc::new(runs.get()));
        let comparison = query(
            move || asked_query.get(),
            |wanted| async move { client::compare(&wanted).await },
        )
        .again_with_runs(shown)
        .cleared_with(move || runs.get());
        let (search, role) = (url.setting(SEARCH), url.param(ROLE));
        let map_query = Memo::new(move |_| {
            let is_long = match tab.get() {
                Tab::Summary => false,
                Tab::Tensors => true,
                _ => return None,
            };
            // The map waits for the comparison, which names the first step that parts.
            comparison.answer.with(Option::is_some).then_some(())?;
            Some(MapQuery {
                base: runs.with(|runs| runs.first().cloned())?,
                other: other.get()?,
                tolerance: Some(tolerance.get()),
                since: since.get(),
                align: align.get(),
                search: is_long
                    .then(|| search.get())
                    .filter(|text| !text.is_empty()),
                role: role.get().filter(|_| is_long),
                limit: Some(if is_long { TENSOR_ROWS } else { SUMMARY_ROWS }),
                ..MapQuery::default()
            })
        });
        let map = query(
            move || map_query.get(),
            |wanted| async move { client::compare_map(&wanted).await },
        )
        .again_with_runs(shown)
        .cleared_with(move || (runs.get(), other.get()));
        read_on(comparison, |answer: &Comparison| {
            let mut others = answer.others.iter();
            others.any(|other| other.reading == Reading::Going)
        });
        read_on(map, |answer: &DifferenceMap| answer.progress.is_some());
        let colours = use_run_colours();
        Effect::new(move || colours.draw_together(runs.get()));
        let (tensor, step) = (url.param(TENSOR), url.param(STEP));
        let chosen = Memo::new(move |_| tensor.get().zip(step.get()));
        Self {
            url,
            runs,
            asked: list,
            tolerance,
            align,
            since,
            tab,
            other,
            search,
            role,
            chosen,
            query: comparison,
            map,
            names: Memo::new(move |_| {
                runs.with(|runs| longer_names(runs.iter().map(String::as_str)))
            }),
        }
    }

    /// Short name of a run, different from those of the other runs.
    pub(super) fn name(self, run: &str) -> String {
        self.names
            .with(|names| names.get(run).cloned())
            .unwrap_or_else(|| run.to_owned())
    }

    pub(super) fn base(self) -> String {
        self.runs
            .with(|runs| runs.first().cloned())
            .unwrap_or_default()
    }

    /// Calls `look` with the run shown against the base; `None` before the answer.
    pub(super) fn with_other<T>(self, look: impl FnOnce(&AgainstBase) -> T) -> Option<T> {
        let other = self.other.get()?;
        self.query.answer.with(|answer| {
            let mut others = answer.as_deref()?.others.iter();
            others.find(|against| against.run == other).map(look)
        })
    }

    pub(super) fn set_runs(self, runs: &[String]) {
        let changes = [RUNS.to(runs), BASE.clear(), OTHER.clear()];
        self.url.set(&changes, History::Push);
    }

    pub(super) fn show_other(self, run: &str) {
        self.url.set(&[OTHER.to(run)], History::Push);
    }

    pub(super) fn make_base(self, run: &str) {
        let mut runs = self.runs.get_untracked();
        runs.retain(|known| known != run);
        runs.insert(0, run.to_owned());
        self.set_runs(&runs);
    }

    pub(super) fn show_tab(self, tab: Tab) {
        self.url.set(&[TAB.to(tab)], History::Push);
    }

    pub(super) fn set_align(self, align: Align) {
        self.url.set(&[ALIGN.to(align)], History::Push);
    }

    pub(super) fn set_tolerance(self, text: &str) {
        if let Some(tolerance) = TOLERANCE.read(text) {
            self.url.set(&[TOLERANCE.to(tolerance)], History::Push);
        }
    }

    pub(super) fn set_since(self, text: &str) {
        let since = SINCE.to_option(SINCE.read(text));
        self.url.set(&[since], History::Push);
    }

    pub(super) fn set_search(self, text: &str) {
        self.url.set(&[SEARCH.to(text)], History::Replace);
    }

    pub(super) fn set_role(self, role: Option<&str>) {
        self.url.set(&[ROLE.to_option(role)], History::Push);
    }

    pub(super) fn read_all(self) {
        self.url.set(&[ALL.to(true)], History::Replace);
    }

    /// Chooses a tensor at a step of the base.
    pub(super) fn choose(self, tensor: &str, step: i64) {
        let changes = [TENSOR.to(tensor), STEP.to(step)];
        self.url.set(&changes, History::Replace);
    }

    /// Chosen tensor and step; without a choice, those of the sentence.
    pub(super) fn place(self) -> Option<(String, i64)> {
        self.chosen.get().or_else(|| {
            self.with_other(|other| {
                let first = other.beyond.as_ref().or(other.partings.first())?;
                Some((first.name.clone(), first.step))
            })?
        })
    }

    /// Handles a key; `true` if it was used.
    pub(super) fn key(self, key: &str) -> bool {
        match key {
            "b" => {
                let runs = self.runs.get_untracked();
                if runs.len() > 1 {
                    let mut order = runs;
                    order.rotate_left(1);
                    self.set_runs(&order);
                }
            }
            "s" => {
                if let Some(other) = self.other.get_untracked() {
                    self.make_base(&other);
                }
            }
            "[" => self.next_parting(false),
            "]" => self.next_parting(true),
            "j" => self.move_by(1, 0),
            "k" => self.move_by(-1, 0),
            "ArrowLeft" => self.move_by(0, -1),
            "ArrowRight" => self.move_by(0, 1),
            _ => return false,
        }
        true
    }

    fn next_parting(self, is_forward: bool) {
        let now = untrack(|| self.place());
        let all: Vec<Parting> =
            untrack(|| self.with_other(|other| other.partings.clone())).unwrap_or_default();
        let at = now.and_then(|(name, step)| {
            all.iter()
                .position(|parting| parting.name == name && parting.step == step)
        });
        let next = match (at, is_forward) {
            (None, _) => Some(0),
            (Some(at), true) => at.checked_add(1),
            (Some(at), false) => at.checked_sub(1),
        };
        if let Some(parting) = next.and_then(|next| all.get(next)) {
            self.choose(&parting.name, parting.step);
        }
    }

    /// Moves the choice on the map by rows and columns.
    fn move_by(self, rows: isize, columns: isize) {
        let now = untrack(|| self.place());
        let next = self.map.answer.with_untracked(|map| {
            let map = map.as_deref()?;
            let row = now
                .as_ref()
                .and_then(|now| map.rows.iter().position(|row| row.name == now.0));
            let column = now.as_ref().and_then(|now| {
                map.columns
                    .iter()
                    .position(|column| (column.first..=column.last).contains(&now.1))
            });
            let moved = |at: Option<usize>, by: isize, len: usize| match at {
                Some(at) => at.saturating_add_signed(by).min(len.checked_sub(1)?).into(),
                None => (len > 0).then_some(0),
            };
            let row = map.rows.get(moved(row, rows, map.rows.len())?)?;
            let column = map
                .columns
                .get(moved(column, columns, map.columns.len())?)?;
            Some((row.name.clone(), column.first))
        });
        if let Some((name, step)) = next {
            self.choose(&name, step);
        }
    }
}

/// Asks again while an answer says that the server is still reading.
fn read_on<A: Send + Sync + 'static>(query: Query<A>, is_going: impl Fn(&A) -> bool + 'static) {
    Effect::new(move || {
        let is_fetching = query.is_fetching.get();
        let is_going = query
            .answer
            .with(|answer| answer.as_deref().is_some_and(&is_going));
        if is_going && !is_fetching {
            set_timeout(move || query.ask_again(), READ_ON);
        }
    });
}

/// At most [`MAX_RUNS`] runs without duplicates, the base first.
fn ordered(list: Vec<String>, base: Option<&str>) -> Vec<String> {
    let mut runs: Vec<String> = Vec::new();
    for run in list {
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    if let Some(at) = base.and_then(|base| runs.iter().position(|run| run == base)) {
        let base = runs.remove(at);
        runs.insert(0, base);
    }
    runs.truncate(MAX_RUNS);
    runs
}

#[expect(clippy::cast_possible_truncation, reason = "a step typed by a user")]
fn typed_step(text: &str) -> Option<i64> {
    Some(format::parse_number(text)?.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::ordered;

    #[test]
    fn the_base_comes_first() {
        let list = |names: &[&str]| {
            names
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            ordered(list(&["a", "b", "a"]), Some("b")),
            list(&["b", "a"])
        );
        assert_eq!(ordered(list(&["a", "b"]), Some("c")), list(&["a", "b"]));
        let many: Vec<String> = (0..12).map(|at| at.to_string()).collect();
        assert_eq!(ordered(many, None).len(), 8);
    }
}
