//! What the page shows, derived from the list of runs and the address.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use trainscope_api::findings::{Counts as Counted, Verdict};
use trainscope_api::notebook::RunNotes;
use trainscope_api::runs::{Run, RunStatus};
use trainscope_format::Severity;
use trainscope_format::hparams::HparamValue;

use super::columns::{self, Column, MAX_COLUMNS};
use super::filter::Filter;
use super::metrics::Metrics;
use super::order::{Files, Item, Sort, SortKey, arrange};
use crate::erased::{effect, memo};
use crate::notebook::{Notes, use_notebook};
use crate::prelude::*;
use crate::route;
use crate::state::{AppState, use_app_state};
use crate::url_state::{History, UrlState, use_url_state};

const FILTER: &str = "q";
const ONLY: &str = "only";
const SORT: &str = "sort";
const FLAT: &str = "flat";
const FOLDED: &str = "folded";
const SELECTED: &str = "sel";
const PANEL: &str = "panel";
const COLUMNS: &str = "cols";
/// Runs whose tags are asked for when the filter asks for tags.
const TAGS_ASKED: usize = 200;

/// Which runs the state buttons leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Only {
    All,
    /// Something is certainly wrong.
    Errors,
    /// Something may be wrong, and nothing worse.
    Warnings,
    Damaged,
    /// Nothing was found, and all files are whole.
    Healthy,
    Live,
}

impl Only {
    const fn text(self) -> Option<&'static str> {
        match self {
            Self::All => None,
            Self::Errors => Some("errors"),
            Self::Warnings => Some("warnings"),
            Self::Damaged => Some("damaged"),
            Self::Healthy => Some("healthy"),
            Self::Live => Some("live"),
        }
    }

    fn parse(text: Option<&str>) -> Self {
        let some = [
            Self::Errors,
            Self::Warnings,
            Self::Damaged,
            Self::Healthy,
            Self::Live,
        ];
        let found = some.into_iter().find(|only| only.text() == text);
        found.unwrap_or(Self::All)
    }

    pub(super) fn holds(self, run: &Run) -> bool {
        match self {
            Self::All => true,
            Self::Errors => worst(run) == Some(Severity::Error),
            Self::Warnings => worst(run) == Some(Severity::Warning),
            Self::Damaged => Files::of(run).is_bad(),
            Self::Healthy => {
                let verdict = run.health.as_ref().map(|health| health.verdict);
                verdict == Some(Verdict::NoProblem) && !Files::of(run).is_bad()
            }
            Self::Live => run.status == RunStatus::Live,
        }
    }
}

/// The worst that was found in a run; what is only worth knowing does not count.
pub(super) fn worst(run: &Run) -> Option<Severity> {
    let counts = run.health.as_ref()?.counts;
    match counts {
        Counted { error: 1.., .. } => Some(Severity::Error),
        Counted { warning: 1.., .. } => Some(Severity::Warning),
        _ => None,
    }
}

/// How many runs each state button leaves, hidden ones left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) all: u64,
    pub(super) errors: u64,
    pub(super) warnings: u64,
    pub(super) damaged: u64,
    pub(super) healthy: u64,
    pub(super) live: u64,
}

/// What is open at the right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SidePanel {
    /// How to record.
    Record,
    /// Which columns are shown.
    Columns,
    /// The files of a run.
    Files(String),
}

impl SidePanel {
    fn text(&self) -> String {
        match self {
            Self::Record => "record".to_owned(),
            Self::Columns => "columns".to_owned(),
            Self::Files(run) => format!("files:{run}"),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "record" => return Some(Self::Record),
            "columns" => return Some(Self::Columns),
            _ => {}
        }
        let run = text.strip_prefix("files:")?;
        Some(Self::Files(run.to_owned()))
    }
}

/// The page's state. `Copy`: take it with [`use_model`].
#[derive(Clone, Copy)]
pub(super) struct Model {
    pub(super) state: AppState,
    url: UrlState,
    /// Text of the filter.
    pub(super) filter: Memo<String>,
    pub(super) only: Memo<Only>,
    pub(super) sort: Memo<Sort>,
    pub(super) grouped: Memo<bool>,
    folded: Memo<Vec<String>>,
    pub(super) selected: Memo<Vec<String>>,
    pub(super) panel: Memo<Option<SidePanel>>,
    /// What people have chosen to stand in the list.
    pub(super) columns: Memo<Vec<Column>>,
    metrics: Metrics,
    pub(super) notebook: Notes,
    /// Runs that are left out.
    pub(super) hidden: Memo<BTreeSet<String>>,
    pub(super) counts: Memo<Counts>,
    /// Rows in their order.
    pub(super) items: Memo<Arc<Vec<Item>>>,
    /// The row that the keys act on.
    pub(super) cursor: RwSignal<Option<String>>,
}

/// The state of this page.
pub(super) fn use_model() -> Model {
    expect_context()
}

impl Model {
    pub(super) fn provide() -> Self {
        let state = use_app_state();
        let url = use_url_state();
        let text = |key: &'static str| url.param(key);
        let (filter, only, sort) = (text(FILTER), text(ONLY), text(SORT));
        let (flat, panel) = (text(FLAT), text(PANEL));
        let filter = memo(move || filter.get().unwrap_or_default());
        let only = memo(move || only.with(|text| Only::parse(text.as_deref())));
        let sort = memo(move || sort.with(|text| Sort::parse(text.as_deref())));
        let grouped = memo(move || flat.with(Option::is_none));
        let folded = url.list(FOLDED);
        let (chosen, is_chosen) = (url.list(COLUMNS), text(COLUMNS));
        let notebook = use_notebook();
        let columns = memo(move || {
            let chosen = is_chosen.with(Option::is_some).then(|| chosen.get());
            // A link says which columns; without, those that were chosen last.
            let chosen = chosen.or_else(|| notebook.with(|book| book.columns.clone()));
            state.runs.with(|list| columns::shown(chosen, &list.runs))
        });
        let metrics = Metrics::new(state, columns);
        let hidden = memo(move || {
            notebook.with(|book| {
                let hidden = book.runs.iter().filter(|(_, notes)| notes.is_hidden);
                hidden.map(|(run, _)| run.clone()).collect::<BTreeSet<_>>()
            })
        });
        let counts = memo(move || {
            hidden.with(|hidden| {
                let mut counts = Counts::default();
                state.runs.with(|list| {
                    for run in list.runs.iter().filter(|run| !hidden.contains(&run.id)) {
                        counts.all += 1;
                        counts.errors += u64::from(Only::Errors.holds(run));
                        counts.warnings += u64::from(Only::Warnings.holds(run));
                        counts.damaged += u64::from(Only::Damaged.holds(run));
                        counts.healthy += u64::from(Only::Healthy.holds(run));
                        counts.live += u64::from(Only::Live.holds(run));
                    }
                });
                counts
            })
        });
        let parsed = memo(move || filter.with(|text| Filter::parse(text)));
        let items = memo(move || {
            let list = state.runs.get();
            let only = only.get();
            // Signals are read once, not once a run.
            let hidden = hidden.get();
            let kept = parsed.with(|filter| {
                let shown = list
                    .runs
                    .iter()
                    .filter(|run| only.holds(run) && !hidden.contains(&run.id));
                notebook.with(|book| {
                    let notes = |run: &Run| book.runs.get(&run.id);
                    if filter.asks_for_tags() {
                        state.with_tags(|known| {
                            let tags = |run: &Run| known.get(&run.id).map(AsRef::as_ref);
                            let kept =
                                shown.filter(|run| filter.matches(run, tags(run), notes(run)));
                            kept.collect::<Vec<_>>()
                        })
                    } else {
                        shown
                            .filter(|run| filter.matches(run, None, notes(run)))
                            .collect()
                    }
                })
            });
            let folded: HashSet<String> = folded.get().into_iter().collect();
            let sort = sort.get();
            // Known values count only where they decide.
            let known =
                matches!(sort.key, SortKey::Column(Column::Metric(_))).then(|| metrics.known());
            let cell = |run: &Run, column: &Column| match column {
                Column::Hparam(name) => run.hparams.get(name).cloned(),
                Column::Metric(tag) => known.as_ref()?.get(&run.id, tag).map(HparamValue::Number),
            };
            Arc::new(arrange(kept, &sort, grouped.get(), &folded, &cell))
        });
        effect(move || {
            if parsed.with(Filter::asks_for_tags) {
                let list = state.runs.get_untracked();
                let first = list.runs.iter().take(TAGS_ASKED);
                state.load_tags(first.map(|run| run.id.clone()), false);
            }
        });
        let model = Self {
            state,
            url,
            filter,
            only,
            sort,
            grouped,
            folded,
            selected: url.list(SELECTED),
            panel: memo(move || panel.with(|text| text.as_deref().and_then(SidePanel::parse))),
            columns,
            metrics,
            notebook,
            hidden,
            counts,
            items,
            cursor: RwSignal::new(None),
        };
        provide_context(model);
        model
    }

    pub(super) fn set_filter(self, text: &str) {
        let text = text.trim();
        self.url.set(
            &[(FILTER, (!text.is_empty()).then_some(text))],
            History::Replace,
        );
    }

    /// A second press on a button leaves all again.
    pub(super) fn press_only(self, only: Only) {
        let next = if self.only.get_untracked() == only {
            Only::All
        } else {
            only
        };
        self.url.set(&[(ONLY, next.text())], History::Push);
    }

    /// Shows a column, or takes it away; kept beside the runs, and in the address.
    pub(super) fn toggle_column(self, column: &Column) {
        let shown = self.columns.get_untracked();
        let mut shown: Vec<String> = shown.iter().map(Column::text).collect();
        toggle(&mut shown, &column.text());
        // One more than fits takes the place of the first.
        if shown.len() > MAX_COLUMNS {
            shown.remove(0);
        }
        if shown.is_empty() {
            // None is a choice, too.
            self.url.set(&[(COLUMNS, Some(""))], History::Replace);
        } else {
            self.url.set_list(COLUMNS, &shown, History::Replace);
        }
        self.notebook.set_columns(shown);
    }

    /// What stands in a column of a run's row; reactive.
    pub(super) fn cell(self, run: &Run, column: &Column) -> Option<HparamValue> {
        match column {
            Column::Hparam(name) => run.hparams.get(name).cloned(),
            Column::Metric(tag) => {
                let value = self.metrics.known().get(&run.id, tag);
                value.map(HparamValue::Number)
            }
        }
    }

    pub(super) fn clear_filters(self) {
        self.url.set(&[(FILTER, None), (ONLY, None)], History::Push);
    }

    pub(super) fn press_sort(self, key: &SortKey) {
        let sort = self.sort.get_untracked().pressed(key);
        self.url
            .set(&[(SORT, sort.text().as_deref())], History::Push);
    }

    pub(super) fn toggle_grouped(self) {
        let flat = self.grouped.get_untracked().then_some("1");
        self.url.set(&[(FLAT, flat)], History::Push);
    }

    pub(super) fn toggle_folded(self, folder: &str) {
        let mut closed = self.folded.get_untracked();
        toggle(&mut closed, folder);
        self.url.set_list(FOLDED, &closed, History::Replace);
    }

    pub(super) fn select(self, runs: &[String]) {
        self.url.set_list(SELECTED, runs, History::Replace);
    }

    pub(super) fn toggle_selected(self, run: &str) {
        let mut selected = self.selected.get_untracked();
        toggle(&mut selected, run);
        self.select(&selected);
    }

    /// Selects all runs that pass the filter; if they all are, none.
    pub(super) fn toggle_all(self) {
        let ids = self.ids();
        let selected = self.selected.get_untracked();
        if ids.iter().all(|id| selected.contains(id)) {
            self.select(&[]);
        } else {
            self.select(&ids);
        }
    }

    /// The address that shows the scalars of all selected runs.
    pub(super) fn together_href(self) -> Option<String> {
        let selected = self.selected.get_untracked();
        let first = selected.first()?;
        Some(route::scalars_href(first, &selected[1..], None))
    }

    pub(super) fn hide_selected(self) {
        let selected = self.selected.get_untracked();
        self.set_hidden(selected, true);
        self.select(&[]);
    }

    pub(super) fn show_hidden(self) {
        self.set_hidden(self.hidden.get_untracked(), false);
    }

    fn set_hidden(self, runs: impl IntoIterator<Item = String>, is_hidden: bool) {
        let change = runs.into_iter().map(|run| {
            let notes = untrack(|| self.notebook.notes(&run));
            (run, RunNotes { is_hidden, ..notes })
        });
        self.notebook.set_many(change.collect());
    }

    /// The address of this page with a panel open.
    pub(super) fn panel_href(self, panel: &SidePanel) -> String {
        self.url.href(&[(PANEL, Some(&panel.text()))])
    }

    pub(super) fn open_panel(self, panel: Option<&SidePanel>) {
        let text = panel.map(SidePanel::text);
        self.url.set(&[(PANEL, text.as_deref())], History::Push);
    }

    /// Names of the runs that pass the filter and are not folded away, in the order of the rows.
    pub(super) fn ids(self) -> Vec<String> {
        self.items.with_untracked(|items| {
            let ids = items.iter().filter_map(|item| match item {
                Item::Run { id, .. } => Some(id.clone()),
                Item::Group(_) => None,
            });
            ids.collect()
        })
    }

    /// Moves the cursor by rows, over folders' heads.
    pub(super) fn move_cursor(self, by: isize) {
        let ids = self.ids();
        let Some(last) = ids.len().checked_sub(1) else {
            return;
        };
        let now = self
            .cursor
            .with_untracked(|cursor| ids.iter().position(|id| Some(id) == cursor.as_ref()));
        let next = match now {
            Some(position) => position.saturating_add_signed(by).min(last),
            None if by > 0 => 0,
            None => last,
        };
        self.cursor.set(ids.get(next).cloned());
    }
}

fn toggle(list: &mut Vec<String>, item: &str) {
    match list.iter().position(|other| other == item) {
        Some(position) => {
            list.remove(position);
        }
        None => list.push(item.to_owned()),
    }
}
