//! State of the page, derived from the table, the notebook and the address.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use trainscope_api::importance::Measure;
use trainscope_api::table::{ColumnInfo, Direction, TableColumns};
use trainscope_charts::parallel::AxisSpec;

use super::axis::{self, LOOKS, Looks, axis_of, info_of};
use super::brush::{BRUSH, Brush, Brushes};
use super::filter::Filter;
use super::front::fronts_of;
use super::order::{NAME, SortKey, sorted};
use super::store::Store;
use super::view::View;
use trainscope_web_kit::frames::after_paint;
use trainscope_web_kit::i18n::{I18n, use_i18n};
use trainscope_web_kit::notebook::{Notes, use_notebook};
use trainscope_web_kit::parameters::{LINEAGE_FOCUS, RUNS, SEARCH};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::state::{AppState, use_app_state};
use trainscope_web_kit::url_state::{Key, Setting, UrlState, use_url_state};

mod actions;

const COLUMNS: Key<Vec<String>> = Key::new("cols");
const SORT: Setting<Vec<SortKey>> = Key::new("sort").or(Vec::new());
const AXES: Key<Vec<String>> = Key::new("axes");
const COLOUR: Key<String> = Key::new("colour");
/// Columns whose equal values group runs.
const GROUP: Setting<Vec<String>> = Key::new("group").or(Vec::new());
/// Column of the result.
const TARGET: Key<String> = Key::new("target");
const GOAL: Key<Direction> = Key::of_words(
    "goal",
    &[(Direction::Less, "less"), (Direction::More, "more")],
);
const MEASURE: Key<Measure> = Key::of_words(
    "measure",
    &[
        (Measure::Variance, "variance"),
        (Measure::BestTenth, "best"),
        (Measure::Rank, "rank"),
        (Measure::Linear, "linear"),
    ],
);
/// The tab of data.
const IS_DATA: Setting<bool> = Key::of_words("tab", &[(true, "data")]).or(false);
const SELECTED: Setting<Vec<String>> = Key::new("sel").or(Vec::new());
const PANEL: Key<SidePanel> = Key::with(
    "panel",
    |text| match text.strip_prefix("run:") {
        Some(run) => Some(SidePanel::Row(run.to_owned())),
        None => (text == "columns").then_some(SidePanel::Columns),
    },
    |panel| match panel {
        SidePanel::Columns => "columns".to_owned(),
        SidePanel::Row(run) => format!("run:{run}"),
    },
);
/// Parameters of the scatter plot.
const BAR: Setting<Vec<String>> = Key::new("bar").or(Vec::new());
/// Results of the Pareto fronts.
const PARETO: Setting<Vec<String>> = Key::new("pareto").or(Vec::new());
/// Importances of the kept rows alone.
const OF_KEPT: Setting<bool> = Key::of_words("of", &[(true, "kept")]).or(false);
/// Maximum number of runs named in the address. Beyond it, brushes become terms of the filter.
const MAX_NAMED: usize = 200;
/// Period between updates of the table during a drag of a brush. An update on each frame would slow down the lines.
const DRAG_TABLE_PERIOD: Duration = Duration::from_millis(700);
/// Value of [`COLOUR`] for the colours of the runs.
pub(super) const BY_RUN: &str = "run";
/// Columns whose values differ between repetitions of one training.
const REPETITIONS: [&str; 5] = ["seed", "host", "commit", "path", "dir"];

/// Content of the right panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SidePanel {
    Columns,
    /// All values of a run.
    Row(String),
}

/// Maximum characters of a column in a list of columns.
pub(super) const SELECT_CHARS: usize = 24;

/// Field of a run's notes that is edited in its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditedNote {
    Tags,
    Note,
}

/// Rows that pass filter and brushes, and a mark for each row of the view.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Selection {
    pub(super) rows: Vec<u32>,
    pub(super) marks: Vec<bool>,
}

/// State of the page; [`use_model`] returns a copy.
#[derive(Clone, Copy)]
pub(super) struct Model {
    pub(super) state: AppState,
    pub(super) url: UrlState,
    pub(super) notebook: Notes,
    pub(super) store: Store,
    pub(super) i18n: I18n,
    /// Facts about all columns; empty before they have arrived.
    pub(super) columns: Memo<Arc<TableColumns>>,
    /// Runs that a link names; empty for all.
    pub(super) named: Memo<Vec<String>>,
    pub(super) view: Memo<Arc<View>>,
    pub(super) filter: Memo<String>,
    pub(super) axis_keys: Memo<Vec<String>>,
    pub(super) axes: Memo<Arc<Vec<(String, AxisSpec)>>>,
    pub(super) looks: Memo<Looks>,
    /// Brushes of the address, or the draft during a drag.
    pub(super) brushes: Memo<Brushes>,
    /// Brushes during a drag; the address follows at its end.
    pub(super) draft: RwSignal<Option<Brushes>>,
    pub(super) kept: Memo<Arc<Selection>>,
    pub(super) table_keys: Memo<Vec<String>>,
    pub(super) sort: Memo<Vec<SortKey>>,
    /// Rows of the selection in the order of the table.
    pub(super) order: Memo<Arc<Vec<u32>>>,
    /// The same for the table: a frame later, or during a drag of a brush once per [`DRAG_TABLE_PERIOD`].
    pub(super) table_order: Memo<Arc<Vec<u32>>>,
    pub(super) colour: Memo<Option<String>>,
    pub(super) target: Memo<Option<String>>,
    pub(super) goal: Memo<Option<Direction>>,
    pub(super) measure: Memo<Option<Measure>>,
    /// `true` if filter or brushes exclude rows.
    pub(super) is_part: Memo<bool>,
    /// `true` if importances are those of the kept rows alone.
    pub(super) is_of_kept: Memo<bool>,
    /// Runs for the importances; `None` for all.
    pub(super) judged_runs: Memo<Option<Vec<String>>>,
    pub(super) group: Memo<Vec<String>>,
    pub(super) is_data: Memo<bool>,
    pub(super) selected: Memo<Vec<String>>,
    pub(super) panel: Memo<Option<SidePanel>>,
    /// Parameters of the scatter plot: one, or a pair.
    pub(super) bar: Memo<Vec<String>>,
    /// Results of the Pareto fronts.
    pub(super) pareto: Memo<Vec<String>>,
    /// Front of each row by these results; empty with fewer than two.
    pub(super) fronts: Memo<Arc<Vec<Option<u32>>>>,
    /// The best finite result of the kept rows.
    pub(super) best: Memo<Option<f64>>,
    /// Run of the row that keys act on; the keys `j` and `k` set the first run of a group.
    pub(super) cursor: RwSignal<Option<String>>,
    /// The run whose notes are edited in its row.
    pub(super) edited_note: RwSignal<Option<(String, EditedNote)>>,
    /// The row under the pointer.
    pub(super) hovered: RwSignal<Option<u32>>,
    /// The axis that keys act on.
    pub(super) axis_focus: RwSignal<Option<String>>,
    /// Columns of the table in view, beyond those that other parts need.
    pub(super) in_view: RwSignal<Vec<String>>,
}

pub(super) fn use_model() -> Model {
    expect_context()
}

impl Model {
    #[expect(
        clippy::too_many_lines,
        reason = "one signal after the other, each from those before it"
    )]
    pub(super) fn provide() -> Self {
        let (state, url, notebook, i18n) =
            (use_app_state(), use_url_state(), use_notebook(), use_i18n());
        let store = Store::new();
        let columns = Memo::new(move |_| store.columns.answer.get().unwrap_or_default());
        let named = url.setting(RUNS);
        let hidden = Memo::new(move |_| {
            notebook.with(|book| {
                let hidden = book.runs.iter().filter(|(_, notes)| notes.is_hidden);
                hidden.map(|(run, _)| run.clone()).collect::<BTreeSet<_>>()
            })
        });
        let group = url.setting(GROUP);
        let view = Memo::new(move |_| {
            let named: HashSet<String> = named.get().into_iter().collect();
            let view = hidden.with(|hidden| {
                let is_in =
                    |run: &str| !hidden.contains(run) && (named.is_empty() || named.contains(run));
                store.table.with(|table| View::of(table, is_in))
            });
            let by = group.get();
            Arc::new(if by.is_empty() {
                view
            } else {
                view.grouped(&by)
            })
        });
        let filter = url.setting(SEARCH);
        // An address can be older than an alias, hence the duplicates.
        let shown_columns = move |keys: Vec<String>| {
            notebook.with(|book| {
                let mut shown: Vec<String> = Vec::new();
                for key in keys {
                    let key = book.shown_column(&key);
                    if !shown.iter().any(|known| known == key) {
                        shown.push(key.to_owned());
                    }
                }
                shown
            })
        };
        let target = url.param(TARGET);
        let target = Memo::new(move |_| {
            target
                .get()
                .or_else(|| columns.with(|columns| axis::first_target(columns)))
        });
        let chosen_axes = url.param(AXES);
        let axis_keys = Memo::new(move |_| match chosen_axes.get() {
            Some(keys) => shown_columns(keys),
            None => columns.with(|columns| axis::first_axes(columns, target.get())),
        });
        let looks = url.setting(LOOKS);
        let axes = Memo::new(move |_| {
            let view = view.get();
            let texts = i18n.texts().lineage();
            let made = axis_keys.get().into_iter().filter_map(|key| {
                let info = columns.with(|columns| info_of(columns, &key));
                let look = looks.with(|looks| looks.get(&key).copied().unwrap_or_default());
                let axis = axis_of(&view, &info, look, (texts.group)(info.group))?;
                Some((key, axis))
            });
            Arc::new(made.collect::<Vec<_>>())
        });
        let (asked, draft) = (url.setting(BRUSH), RwSignal::new(None::<Brushes>));
        let brushes = Memo::new(move |_| draft.get().unwrap_or_else(|| asked.get()));
        let parsed = Memo::new(move |_| filter.with(|text| Filter::parse(text)));
        let filtered = Memo::new(move |_| {
            let view = view.get();
            let marks = parsed
                .with(|filter| notebook.with(|book| filter.rows(&view, |run| book.runs.get(run))));
            Arc::new(marks)
        });
        let passing = Memo::new(move |_| {
            // Columns without an axis on the page can have brushes too.
            let view = view.get();
            let made = brushes.with(|brushes| {
                let of = |(key, brush): (&String, &Brush)| {
                    let known = axes.with(|axes| {
                        let found = axes.iter().find(|(candidate, _)| candidate == key);
                        found.map(|(_, axis)| (Arc::clone(&axis.spots), axis.kind.clone()))
                    });
                    let made = || {
                        let info = columns.with(|columns| info_of(columns, key));
                        let look = looks.with(|looks| looks.get(key).copied().unwrap_or_default());
                        let AxisSpec { spots, kind, .. } = axis_of(&view, &info, look, "")?;
                        Some((spots, kind))
                    };
                    let (spots, kind) = known.or_else(made)?;
                    Some((spots, kind, brush.clone()))
                };
                brushes.iter().filter_map(of).collect::<Vec<_>>()
            });
            let mut marks = filtered.get().as_ref().clone();
            for (spots, kind, brush) in &made {
                for (mark, spot) in marks.iter_mut().zip(spots.iter()) {
                    *mark = *mark && brush.holds(*spot, kind);
                }
            }
            let rows = marks.iter().zip(0..).filter(|(mark, _)| **mark);
            Arc::new(Selection {
                rows: rows.map(|(_, row)| row).collect(),
                marks,
            })
        });
        let chosen_columns = url.param(COLUMNS);
        let table_keys = Memo::new(move |_| match chosen_columns.get() {
            Some(keys) => shown_columns(keys),
            None => columns.with(|columns| axis::first_columns(columns, None)),
        });
        let goal = url.param(GOAL);
        let goal = Memo::new(move |_| {
            goal.get().or_else(|| {
                let target = target.get()?;
                columns.with(|columns| info_of(columns, &target).direction)
            })
        });
        let is_part =
            Memo::new(move |_| passing.with(|kept| kept.rows.len()) < view.with(|view| view.len()));
        let is_of_kept = url.setting(OF_KEPT);
        let judged_runs = Memo::new(move |before: Option<&Option<Vec<String>>>| {
            if is_of_kept.get() && is_part.get() {
                // The answer would be outdated while the brush still moves.
                if draft.with(Option::is_some) {
                    return before.cloned().flatten();
                }
                let (view, kept) = (view.get(), passing.get());
                let runs = kept.rows.iter().flat_map(|row| view.runs(*row as usize));
                return Some(runs.cloned().collect());
            }
            let is_all = named.with(Vec::is_empty) && hidden.with(BTreeSet::is_empty);
            (!is_all).then(|| view.with(|view| view.runs_of_rows().flatten().cloned().collect()))
        });
        let colour = url.param(COLOUR);
        let colour = Memo::new(move |_| colour.get().or_else(|| target.get()));
        let sort_list = url.setting(SORT);
        let sort = Memo::new(move |_| {
            let keys = sort_list.get();
            if !keys.is_empty() {
                return keys;
            }
            // The best rows first; by name without a target and its direction.
            match (target.get(), goal.get()) {
                (Some(column), Some(goal)) => vec![SortKey {
                    column,
                    is_descending: goal == Direction::More,
                }],
                _ => vec![SortKey {
                    column: NAME.to_owned(),
                    is_descending: false,
                }],
            }
        });
        // All rows are sorted at once, since a moving brush only changes the kept rows.
        let order_of_all = Memo::new(move |_| {
            let view = view.get();
            Arc::new(sort.with(|keys| sorted(&view, keys)))
        });
        let order = Memo::new(move |_| {
            let (all, kept) = (order_of_all.get(), passing.get());
            let is_kept = |row: &u32| kept.marks.get(*row as usize) == Some(&true);
            Arc::new(all.iter().copied().filter(is_kept).collect::<Vec<u32>>())
        });
        let table_order = table_order(view, order, draft);
        let pareto = url.setting(PARETO);
        let fronts = Memo::new(move |_| {
            let (view, keys) = (view.get(), pareto.get());
            let of = |key: &String| columns.with(|columns| info_of(columns, key).direction);
            let directions: Vec<Option<Direction>> = keys.iter().map(of).collect();
            Arc::new(fronts_of(&view, &keys, &directions))
        });
        let best = Memo::new(move |_| {
            let (view, target, goal) = (view.get(), target.get()?, goal.get()?);
            passing.with(|kept| {
                let values = kept
                    .rows
                    .iter()
                    .filter_map(|row| view.number(&target, *row as usize));
                let values = values.filter(|value| value.is_finite());
                match goal {
                    Direction::Less => values.reduce(f64::min),
                    Direction::More => values.reduce(f64::max),
                }
            })
        });
        let focus = url.param(LINEAGE_FOCUS);
        let model = Self {
            state,
            url,
            notebook,
            store,
            i18n,
            columns,
            named,
            view,
            filter,
            axis_keys,
            axes,
            looks,
            brushes,
            draft,
            kept: passing,
            table_keys,
            sort,
            order,
            table_order,
            colour,
            target,
            goal,
            measure: url.param(MEASURE),
            is_part,
            is_of_kept,
            judged_runs,
            group,
            is_data: url.setting(IS_DATA),
            selected: url.setting(SELECTED),
            panel: url.param(PANEL),
            bar: url.setting(BAR),
            pareto,
            fronts,
            best,
            cursor: RwSignal::new(None),
            edited_note: RwSignal::new(None),
            hovered: RwSignal::new(None),
            axis_focus: RwSignal::new(None),
            in_view: RwSignal::new(Vec::new()),
        };
        provide_context(model);
        Effect::new(move || model.cursor.set(focus.get()));
        // Axes, order and colour load first; cells of the table load as they come into view.
        Effect::new(move || {
            if columns.with(|columns| columns.seq == 0 && columns.columns.is_empty()) {
                return;
            }
            let mut keys = axis_keys.get();
            keys.extend(colour.get());
            keys.extend(target.get());
            keys.extend(sort.get().into_iter().map(|key| key.column));
            keys.extend(group.get());
            keys.extend(model.bar.get());
            keys.extend(model.pareto.get());
            keys.extend(brushes.with(|brushes| brushes.keys().cloned().collect::<Vec<_>>()));
            columns.with(|columns| {
                let known: Vec<&str> = columns
                    .columns
                    .iter()
                    .map(|info| info.key.as_str())
                    .collect();
                keys.extend(parsed.with(|filter| {
                    filter
                        .columns(&known)
                        .into_iter()
                        .map(str::to_owned)
                        .collect::<Vec<_>>()
                }));
            });
            keys.retain(|key| key != NAME && key != BY_RUN);
            keys.sort();
            keys.dedup();
            store.need(&keys);
        });
        Effect::new(move || {
            let keys = model.in_view.get();
            if store.is_ready.get() {
                store.need(&keys);
            }
        });
        model
    }

    /// Facts about a column; reactive.
    pub(super) fn info(self, key: &str) -> ColumnInfo {
        self.columns.with(|columns| info_of(columns, key))
    }
}

/// Rows of a view, with the tick of their update.
type RowsOfView = (u64, Arc<View>, Arc<Vec<u32>>);

/// Order of rows for the table, updated after the lines are painted. Rows of another view are there at once.
fn table_order(
    view: Memo<Arc<View>>,
    order: Memo<Arc<Vec<u32>>>,
    draft: RwSignal<Option<Brushes>>,
) -> Memo<Arc<Vec<u32>>> {
    let (ticks, is_due) = (RwSignal::new(0_u64), StoredValue::new(false));
    let tick = move || {
        is_due.try_set_value(false);
        ticks.try_update(|ticks| *ticks += 1);
    };
    let is_dragged = Memo::new(move |_| draft.with(Option::is_some));
    Effect::new(move |was_dragged: Option<bool>| {
        order.track();
        let is_dragged = is_dragged.get();
        let is_released = was_dragged == Some(true) && !is_dragged;
        if is_released || !is_due.get_value() {
            is_due.set_value(true);
            if is_dragged {
                set_timeout(tick, DRAG_TABLE_PERIOD);
            } else {
                after_paint(tick);
            }
        }
        is_dragged
    });
    let renewed = Memo::new(move |before: Option<&RowsOfView>| {
        let (tick, view) = (ticks.get(), view.get());
        let before = before.filter(|before| before.0 == tick && Arc::ptr_eq(&before.1, &view));
        before
            .cloned()
            .unwrap_or_else(|| (tick, view, order.get_untracked()))
    });
    Memo::new(move |_| renewed.with(|renewed| Arc::clone(&renewed.2)))
}
