//! State of the page, derived from the list of runs and the address.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use trainscope_api::notebook::RunNotes;
use trainscope_api::runs::Run;
use trainscope_api::tags::TagList;
use trainscope_format::hparams::HparamValue;

use super::columns::{self, Column, MAX_COLUMNS};
use super::filter::{self, Filter, RunFacts};
use super::layout::StandardColumn;
use super::metrics::Metrics;
use super::order::{Item, SORT, Sort, SortKey, arrange};
use super::run_state::{Counts, ONLY, Only};
use trainscope_web_kit::notebook::{Notes, use_notebook};
use trainscope_web_kit::parameters::{RUNS_PANEL, RunsPanel, SEARCH};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;
use trainscope_web_kit::state::{AppState, use_app_state};
use trainscope_web_kit::url_state::{History, Key, Setting, UrlState, use_url_state};

const FLAT: Setting<bool> = Setting::mark("flat");
/// Folders without their rows.
const FOLDED: Setting<Vec<String>> = Key::new("folded").or(Vec::new());
const SELECTED: Setting<Vec<String>> = Key::new("sel").or(Vec::new());
/// Optional columns, and standard ones that are off; an empty list is a choice too.
const COLUMNS: Key<Vec<String>> = Key::new("cols");
/// Hidden runs are listed too.
const HIDDEN: Setting<bool> = Setting::mark("hidden");
/// Maximum number of runs whose tags are loaded for the filter.
const TAGS_ASKED: usize = 200;

/// State of the page; [`use_model`] returns a copy.
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
    pub(super) panel: Memo<Option<RunsPanel>>,
    /// Optional columns of the list.
    pub(super) columns: Memo<Vec<Column>>,
    /// Standard columns that are switched off.
    pub(super) off: Memo<Vec<StandardColumn>>,
    metrics: Metrics,
    pub(super) notebook: Notes,
    parsed: Memo<Filter>,
    /// Runs that are hidden for all users of these folders.
    pub(super) hidden: Memo<BTreeSet<String>>,
    /// `true` if hidden runs are listed too, paler.
    pub(super) shows_hidden: Memo<bool>,
    pub(super) counts: Memo<Counts>,
    /// Rows in their order.
    pub(super) items: Memo<Arc<Vec<Item>>>,
    /// Run of the row that keys act on.
    pub(super) cursor: RwSignal<Option<String>>,
}

pub(super) fn use_model() -> Model {
    expect_context()
}

impl Model {
    pub(super) fn provide() -> Self {
        let state = use_app_state();
        let url = use_url_state();
        let (filter, only, sort) = (url.setting(SEARCH), url.setting(ONLY), url.setting(SORT));
        let flat = url.setting(FLAT);
        let grouped = Memo::new(move |_| !flat.get());
        let folded = url.setting(FOLDED);
        let chosen = url.param(COLUMNS);
        let notebook = use_notebook();
        let chosen = Memo::new(move |_| {
            // Columns of the address, otherwise the last choice.
            chosen
                .get()
                .or_else(|| notebook.with(|book| book.columns.clone()))
        });
        let columns = Memo::new(move |_| {
            chosen.with(|chosen| {
                state
                    .runs
                    .with(|list| columns::shown(chosen.as_deref(), &list.runs))
            })
        });
        let off = Memo::new(move |_| {
            chosen.with(|chosen| columns::switched_off(chosen.as_deref().unwrap_or_default()))
        });
        let metrics = Metrics::new(state, columns);
        let hidden = Memo::new(move |_| {
            notebook.with(|book| {
                let hidden = book.runs.iter().filter(|(_, notes)| notes.is_hidden);
                hidden.map(|(run, _)| run.clone()).collect::<BTreeSet<_>>()
            })
        });
        let counts = Memo::new(move |_| {
            hidden.with(|hidden| {
                state.runs.with(|list| {
                    let shown = list.runs.iter();
                    Counts::of(shown.filter(|run| !hidden.contains(&run.id)))
                })
            })
        });
        let parsed = Memo::new(move |_| filter.with(|text| Filter::parse(text)));
        let shows_hidden = url.setting(HIDDEN);
        // Values of extra columns are only read for a filter that can need them, since they arrive one by one.
        let has_metrics = Memo::new(move |_| {
            let is_metric = |column: &Column| matches!(column, Column::Metric(_));
            filter.with(|text| text.contains(':')) && columns.with(|all| all.iter().any(is_metric))
        });
        let items = Memo::new(move |_| {
            let list = state.runs.get();
            let only = only.get();
            // Signals are read once, not once per run.
            let hidden = if shows_hidden.get() {
                BTreeSet::new()
            } else {
                hidden.get()
            };
            let kept = parsed.with(|filter| {
                let shown = list
                    .runs
                    .iter()
                    .filter(|run| only.holds(run) && !hidden.contains(&run.id));
                let values = has_metrics.get().then(|| metrics.known());
                let keys = if filter.asks_for_missing() {
                    columns
                        .with(|columns| filter::keys(&list.runs, columns.iter().map(Column::name)))
                } else {
                    Vec::new()
                };
                notebook.with(|book| {
                    let matches = |run: &Run, tags: Option<&TagList>| {
                        let scalar = |tag: &str| values.as_ref()?.get(&run.id, tag);
                        let known = RunFacts {
                            tags,
                            notes: book.runs.get(&run.id),
                            scalar: &scalar,
                            keys: &keys,
                        };
                        filter.matches(run, known)
                    };
                    if filter.asks_for_tags() {
                        state.with_tags(|known| {
                            let tags = |run: &Run| known.get(&run.id).map(AsRef::as_ref);
                            let kept = shown.filter(|run| matches(run, tags(run)));
                            kept.collect::<Vec<_>>()
                        })
                    } else {
                        shown.filter(|run| matches(run, None)).collect()
                    }
                })
            });
            let folded: HashSet<String> = folded.get().into_iter().collect();
            let sort = sort.get();
            // Values are only read if they decide the order.
            let known =
                matches!(sort.key, SortKey::Column(Column::Metric(_))).then(|| metrics.known());
            let cell = |run: &Run, column: &Column| match column {
                Column::Hparam(name) => columns::hparam(run, name),
                Column::Metric(tag) => known.as_ref()?.get(&run.id, tag).map(HparamValue::Number),
            };
            Arc::new(arrange(kept, &sort, grouped.get(), &folded, &cell))
        });
        Effect::new(move || {
            if parsed.with(Filter::asks_for_tags) {
                // Runs can come later than the filter.
                let first = state.runs.with(|list| {
                    let first = list.runs.iter().take(TAGS_ASKED);
                    first.map(|run| run.id.clone()).collect::<Vec<_>>()
                });
                state.load_tags(first, false);
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
            selected: url.setting(SELECTED),
            panel: url.param(RUNS_PANEL),
            columns,
            off,
            metrics,
            notebook,
            parsed,
            hidden,
            shows_hidden,
            counts,
            items,
            cursor: RwSignal::new(None),
        };
        provide_context(model);
        model
    }

    pub(super) fn set_filter(self, text: &str) {
        self.url.set(&[SEARCH.to(text.trim())], History::Replace);
    }

    /// Restricts the list to some runs; a second press shows all again.
    pub(super) fn press_only(self, only: Only) {
        let next = if self.only.get_untracked() == only {
            Only::All
        } else {
            only
        };
        self.url.set(&[ONLY.to(next)], History::Push);
    }

    /// Shows or removes an extra column, in the address and in the notebook.
    pub(super) fn toggle_column(self, column: &Column) {
        let shown = self.columns.get_untracked();
        let mut shown: Vec<String> = shown.iter().map(Column::text).collect();
        toggle(&mut shown, &column.text());
        // A column beyond the maximum replaces the first one.
        if shown.len() > MAX_COLUMNS {
            shown.remove(0);
        }
        self.keep_columns(shown, &self.off.get_untracked());
    }

    /// Shows or removes a standard column.
    pub(super) fn toggle_standard(self, column: StandardColumn) {
        let mut off = self.off.get_untracked();
        match off.iter().position(|other| *other == column) {
            Some(position) => {
                off.remove(position);
            }
            None => off.push(column),
        }
        let shown = self.columns.get_untracked();
        self.keep_columns(shown.iter().map(Column::text).collect(), &off);
    }

    fn keep_columns(self, mut all: Vec<String>, off: &[StandardColumn]) {
        all.extend(off.iter().map(|column| columns::off_text(*column)));
        self.url.set(&[COLUMNS.to(&*all)], History::Replace);
        self.notebook.set_columns(all);
    }

    /// All keys of the filter; reactive.
    pub(super) fn keys(self) -> Vec<String> {
        self.columns.with(|columns| {
            let names = columns.iter().map(Column::name);
            self.state.runs.with(|list| filter::keys(&list.runs, names))
        })
    }

    /// Completions of the last word of the filter; reactive.
    pub(super) fn suggestions(self, draft: &str) -> Vec<String> {
        let keys = self.keys();
        self.state
            .runs
            .with(|list| filter::suggestions(draft, &list.runs, &keys))
    }

    /// First unknown key of the filter, with all known keys; reactive.
    pub(super) fn unknown_key(self) -> Option<(String, Vec<String>)> {
        let keys = self.keys();
        let unknown = self
            .parsed
            .with(|filter| filter.unknown_key(&keys).map(str::to_owned));
        unknown.map(|key| (key, keys))
    }

    /// Value of a column for a run; reactive.
    pub(super) fn cell(self, run: &Run, column: &Column) -> Option<HparamValue> {
        match column {
            Column::Hparam(name) => columns::hparam(run, name),
            Column::Metric(tag) => {
                let value = self.metrics.known().get(&run.id, tag);
                value.map(HparamValue::Number)
            }
        }
    }

    pub(super) fn clear_filters(self) {
        self.url.set(&[SEARCH.clear(), ONLY.clear()], History::Push);
    }

    pub(super) fn press_sort(self, key: &SortKey) {
        let sort = self.sort.get_untracked().pressed(key);
        self.url.set(&[SORT.to(sort)], History::Push);
    }

    pub(super) fn toggle_grouped(self) {
        let flat = FLAT.to(self.grouped.get_untracked());
        self.url.set(&[flat], History::Push);
    }

    pub(super) fn toggle_folded(self, folder: &str) {
        let mut closed = self.folded.get_untracked();
        toggle(&mut closed, folder);
        self.url.set(&[FOLDED.to(closed)], History::Replace);
    }

    pub(super) fn select(self, runs: &[String]) {
        self.url.set(&[SELECTED.to(runs)], History::Replace);
    }

    pub(super) fn toggle_selected(self, run: &str) {
        let mut selected = self.selected.get_untracked();
        toggle(&mut selected, run);
        self.select(&selected);
    }

    /// Selects all runs that pass the filter, or none if all are selected.
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

    /// Address of the comparison of the selected runs.
    pub(super) fn compare_href(self) -> Option<String> {
        let selected = self.selected.get_untracked();
        (!selected.is_empty()).then(|| route::compare_href(&selected))
    }

    pub(super) fn hide_selected(self) {
        let selected = self.selected.get_untracked();
        self.set_hidden(selected, true);
        self.select(&[]);
    }

    /// Removes the hidden mark of the selected runs.
    pub(super) fn unhide_selected(self) {
        let selected = self.selected.get_untracked();
        self.set_hidden(selected, false);
    }

    /// Lists hidden runs or leaves them out, only in this address.
    pub(super) fn toggle_hidden(self) {
        let hidden = HIDDEN.to(!self.shows_hidden.get_untracked());
        self.url.set(&[hidden], History::Push);
    }

    fn set_hidden(self, runs: impl IntoIterator<Item = String>, is_hidden: bool) {
        let change = runs.into_iter().map(|run| {
            let notes = untrack(|| self.notebook.notes(&run));
            (run, RunNotes { is_hidden, ..notes })
        });
        self.notebook.set_many(change.collect());
    }

    /// The address of this page with a panel open.
    pub(super) fn panel_href(self, panel: RunsPanel) -> String {
        self.url.href(&[RUNS_PANEL.to(panel)])
    }

    pub(super) fn open_panel(self, panel: Option<RunsPanel>) {
        let panel = RUNS_PANEL.to_option(panel);
        self.url.set(&[panel], History::Push);
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

    /// Moves the cursor by rows, skipping the heads of folders.
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
