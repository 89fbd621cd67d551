//! Changes of the page's state, in the address and the notebook.

use trainscope_api::importance::Measure;
use trainscope_api::notebook::RunNotes;
use trainscope_api::table::{ColumnGroup, ColumnKind, Direction};

use super::super::axis::{self, AxisLook};
use super::super::brush::{self, Brush, Brushes};
use super::super::order::{SortKey, pressed};
use super::super::view::View;
use super::{
    AXES, BAR, BRUSH, COLOUR, COLUMNS, FILTER, GOAL, GROUP, KEPT, LOOKS, MAX_NAMED, MEASURE, Model,
    OF, PANEL, PARETO, REPETITIONS, RUNS, SELECTED, SORT, Selection, SidePanel, TAB, TARGET,
    measure_text,
};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::url_state::History;

impl Model {
    /// Sets the brush of an axis, or removes it.
    pub(in super::super) fn set_brush(self, key: &str, brush: Brush, history: History) {
        let mut brushes = self.brushes.get_untracked();
        if brush.is_empty() {
            brushes.remove(key);
        } else {
            brushes.insert(key.to_owned(), brush);
        }
        self.set_brushes(&brushes, history);
    }

    pub(in super::super) fn set_brushes(self, brushes: &Brushes, history: History) {
        self.url
            .set(&[(BRUSH, brush::text(brushes).as_deref())], history);
        self.draft.set(None);
    }

    /// Shows a brush during its drag.
    pub(in super::super) fn draft_brush(self, key: &str, brush: Brush) {
        let mut brushes = self.brushes.get_untracked();
        brushes.insert(key.to_owned(), brush);
        self.draft.set(Some(brushes));
    }

    /// Removes brushes, the filter and the names of runs.
    pub(in super::super) fn reset(self) {
        self.url.set(
            &[(BRUSH, None), (FILTER, None), (RUNS, None)],
            History::Push,
        );
    }

    pub(in super::super) fn set_filter(self, text: &str) {
        let text = text.trim();
        self.url.set(
            &[(FILTER, (!text.is_empty()).then_some(text))],
            History::Replace,
        );
    }

    /// Keeps only the rows that pass. The address names their runs, or has terms of the filter if there are too many.
    pub(in super::super) fn keep_only(self) {
        let runs = self.kept_runs();
        if runs.len() <= MAX_NAMED {
            self.url.set(
                &[
                    (RUNS, Some(&trainscope_web_kit::url_state::join_list(&runs))),
                    (BRUSH, None),
                    (FILTER, None),
                ],
                History::Push,
            );
            return;
        }
        let (terms, others) = self.brushes.with_untracked(brush::terms);
        let text = format!("{} {terms}", self.filter.get_untracked());
        let text = Some(text.trim()).filter(|text| !text.is_empty());
        let others = brush::text(&others);
        self.url
            .set(&[(FILTER, text), (BRUSH, others.as_deref())], History::Push);
    }

    /// `true` if the rows that pass can be left out; reactive.
    pub(in super::super) fn can_exclude(self) -> bool {
        self.exclusion().is_some()
    }

    /// Leaves out the rows that pass.
    pub(in super::super) fn exclude(self) {
        match untrack(|| self.exclusion()) {
            Some(Exclusion::Rest(runs)) => {
                let runs = trainscope_web_kit::url_state::join_list(&runs);
                self.url.set(
                    &[(RUNS, Some(&runs)), (BRUSH, None), (FILTER, None)],
                    History::Push,
                );
            }
            Some(Exclusion::Term(term)) => self
                .url
                .set(&[(FILTER, Some(&term)), (BRUSH, None)], History::Push),
            None => {}
        }
    }

    /// Change that leaves out the rows that pass, if one can; reactive.
    fn exclusion(self) -> Option<Exclusion> {
        let (view, kept) = (self.view.get(), self.kept.get());
        let rest = runs_marked(&view, &kept, false);
        self.brushes.with(|brushes| {
            self.filter
                .with(|filter| Exclusion::of(rest, brushes, filter))
        })
    }

    fn kept_runs(self) -> Vec<String> {
        let (view, kept) = (self.view.get_untracked(), self.kept.get_untracked());
        runs_marked(&view, &kept, true).cloned().collect()
    }

    pub(in super::super) fn set_axes(self, keys: &[String], history: History) {
        let text = trainscope_web_kit::url_state::join_list(keys);
        self.url.set(&[(AXES, Some(&text))], history);
    }

    /// Moves an axis to another place.
    pub(in super::super) fn move_axis(self, key: &str, to: usize) {
        let mut keys = self.axis_keys.get_untracked();
        let Some(from) = keys.iter().position(|known| known == key) else {
            return;
        };
        let moved = keys.remove(from);
        keys.insert(to.min(keys.len()), moved);
        self.set_axes(&keys, History::Push);
    }

    /// Removes an axis with its brush.
    pub(in super::super) fn remove_axis(self, key: &str) {
        let mut keys = self.axis_keys.get_untracked();
        keys.retain(|known| known != key);
        let mut brushes = self.brushes.get_untracked();
        brushes.remove(key);
        self.url.set(
            &[
                (AXES, Some(&trainscope_web_kit::url_state::join_list(&keys))),
                (BRUSH, brush::text(&brushes).as_deref()),
            ],
            History::Push,
        );
    }

    pub(in super::super) fn change_look(self, key: &str, change: impl FnOnce(&mut AxisLook)) {
        let mut looks = self.looks.get_untracked();
        change(looks.entry(key.to_owned()).or_default());
        self.url
            .set_list(LOOKS, &axis::look_items(&looks), History::Push);
    }

    /// Shows a column as an axis and in the table, or removes it from both.
    pub(in super::super) fn toggle_column(self, key: &str) {
        let mut table = self.table_keys.get_untracked();
        let mut axes = self.axis_keys.get_untracked();
        if table.iter().any(|known| known == key) || axes.iter().any(|known| known == key) {
            table.retain(|known| known != key);
            axes.retain(|known| known != key);
        } else {
            table.push(key.to_owned());
            if axis::is_axis(&untrack(|| self.info(key))) {
                axes.push(key.to_owned());
            }
        }
        self.url.set(
            &[
                (
                    COLUMNS,
                    Some(&trainscope_web_kit::url_state::join_list(&table)),
                ),
                (AXES, Some(&trainscope_web_kit::url_state::join_list(&axes))),
            ],
            History::Push,
        );
    }

    /// Replaces a column in the table and among the axes, for instance by another summary of the same scalar.
    pub(in super::super) fn replace_column(self, key: &str, by: &str) {
        let replaced = |mut keys: Vec<String>| {
            for known in &mut keys {
                if known == key {
                    by.clone_into(known);
                }
            }
            trainscope_web_kit::url_state::join_list(&keys)
        };
        let (axes, table) = (
            replaced(self.axis_keys.get_untracked()),
            replaced(self.table_keys.get_untracked()),
        );
        self.url.set(
            &[(AXES, Some(&axes)), (COLUMNS, Some(&table))],
            History::Push,
        );
    }

    pub(in super::super) fn set_colour(self, key: &str) {
        self.url.set(&[(COLOUR, Some(key))], History::Push);
    }

    pub(in super::super) fn set_target(self, key: &str) {
        // Axes that the user chose end with the result too.
        let mut axes = self.axis_keys.get_untracked();
        axes.retain(|known| known != key);
        axes.push(key.to_owned());
        let axes = trainscope_web_kit::url_state::join_list(&axes);
        let has_axes = untrack(|| self.url.param(AXES).with(Option::is_some));
        let mut changes = vec![(TARGET, Some(key)), (GOAL, None), (BAR, None)];
        changes.extend(has_axes.then_some((AXES, Some(&*axes))));
        self.url.set(&changes, History::Push);
    }

    pub(in super::super) fn set_goal(self, goal: Direction) {
        let text = match goal {
            Direction::Less => "less",
            Direction::More => "more",
        };
        self.url.set(&[(GOAL, Some(text))], History::Push);
    }

    pub(in super::super) fn set_measure(self, measure: Option<Measure>) {
        self.url
            .set(&[(MEASURE, measure.map(measure_text))], History::Push);
    }

    pub(in super::super) fn set_of_kept(self, is_on: bool) {
        self.url.set(&[(OF, is_on.then_some(KEPT))], History::Push);
    }

    pub(in super::super) fn set_bar(self, keys: &[String]) {
        self.url.set_list(BAR, keys, History::Push);
    }

    pub(in super::super) fn set_group(self, keys: &[String]) {
        self.url.set_list(GROUP, keys, History::Push);
    }

    pub(in super::super) fn set_pareto(self, keys: &[String]) {
        self.url.set_list(PARETO, keys, History::Push);
    }

    /// Parameters that group repetitions: all that differ, except seeds, paths, hosts and commits; reactive.
    pub(in super::super) fn group_offer(self) -> Vec<String> {
        let is_repetition = |key: &str| {
            let key = key.to_lowercase();
            REPETITIONS
                .iter()
                .any(|name| key.split(['.', '_', '/', ':']).any(|part| part == *name))
        };
        self.columns.with(|columns| {
            let parameters = columns.columns.iter().filter(|info| {
                info.group == ColumnGroup::Parameter
                    && axis::differs(info)
                    && info.kind != ColumnKind::Text
                    && !is_repetition(&info.key)
            });
            parameters.map(|info| info.key.clone()).collect()
        })
    }

    pub(in super::super) fn set_tab(self, is_data: bool) {
        self.url
            .set(&[(TAB, is_data.then_some("data"))], History::Push);
    }

    pub(in super::super) fn press_sort(self, column: &str, is_further: bool) {
        let keys = pressed(&self.sort.get_untracked(), column, is_further);
        let keys: Vec<String> = keys.iter().map(SortKey::text).collect();
        self.url.set_list(SORT, &keys, History::Push);
    }

    pub(in super::super) fn toggle_selected(self, run: &str) {
        let mut selected = self.selected.get_untracked();
        match selected.iter().position(|known| known == run) {
            Some(position) => {
                selected.remove(position);
            }
            None => selected.push(run.to_owned()),
        }
        self.url.set_list(SELECTED, &selected, History::Replace);
    }

    pub(in super::super) fn select_none(self) {
        self.url.set(&[(SELECTED, None)], History::Replace);
    }

    /// Selects all kept runs, at most [`MAX_NAMED`]; clears the selection if all are selected.
    pub(in super::super) fn toggle_all(self) {
        let (view, kept) = (self.view.get_untracked(), self.kept.get_untracked());
        let selected = self.selected.get_untracked();
        let is_all = view.are_selected(&kept.rows, &selected);
        let mut next = if is_all { Vec::new() } else { self.kept_runs() };
        next.truncate(MAX_NAMED);
        self.url.set_list(SELECTED, &next, History::Replace);
    }

    pub(in super::super) fn open_panel(self, panel: Option<&SidePanel>) {
        let text = panel.map(|panel| match panel {
            SidePanel::Columns => "columns".to_owned(),
            SidePanel::Row(run) => format!("run:{run}"),
        });
        self.url.set(&[(PANEL, text.as_deref())], History::Push);
    }

    /// Hides runs for all users of these folders.
    pub(in super::super) fn hide(self, runs: impl IntoIterator<Item = String>) {
        let change = runs.into_iter().map(|run| {
            let notes = untrack(|| self.notebook.notes(&run));
            (
                run,
                RunNotes {
                    is_hidden: true,
                    ..notes
                },
            )
        });
        self.notebook.set_many(change.collect());
    }

    /// Position of the cursor's row among the kept ones.
    pub(in super::super) fn cursor_place(self) -> Option<usize> {
        let run = self.cursor.get_untracked()?;
        let view = self.view.get_untracked();
        self.order
            .with_untracked(|order| view.place_of(&run, order))
    }

    /// Moves the cursor down or up.
    pub(in super::super) fn move_cursor(self, by: isize) {
        let (view, order) = (self.view.get_untracked(), self.order.get_untracked());
        let run = self.cursor.get_untracked();
        let next = view.run_beside(run.as_deref(), &order, by);
        self.cursor.set(next.cloned());
    }

    /// Address of this page with the panel of a run; reactive.
    pub(in super::super) fn row_panel_href(self, run: &str) -> String {
        self.url.href(&[(PANEL, Some(&format!("run:{run}")))])
    }
}

/// Change of the address that leaves out the rows that pass.
#[derive(Debug, PartialEq)]
enum Exclusion {
    /// Names of the runs that stay.
    Rest(Vec<String>),
    /// Text of the filter.
    Term(String),
}

impl Exclusion {
    /// The change for the runs that stay. `None` without any; with too many for their names, also if no single term
    /// leaves out the others.
    fn of<'a>(
        rest: impl Iterator<Item = &'a String>,
        brushes: &Brushes,
        filter: &str,
    ) -> Option<Self> {
        let rest: Vec<String> = rest.take(MAX_NAMED + 1).cloned().collect();
        if rest.len() <= MAX_NAMED {
            return (!rest.is_empty()).then_some(Self::Rest(rest));
        }
        // Terms must all hold, hence their opposites leave out more than the rows that pass all of them.
        let mut brushes = brushes.iter();
        let (key, brush) = brushes.next()?;
        let is_single = brushes.next().is_none() && filter.is_empty();
        let term = is_single.then(|| brush.term(key)).flatten()?;
        Some(Self::Term(format!("-{term}")))
    }
}

/// Runs of the rows that pass, or of the others.
fn runs_marked<'a>(
    view: &'a View,
    kept: &'a Selection,
    is_kept: bool,
) -> impl Iterator<Item = &'a String> {
    let rows = view.runs_of_rows().zip(&kept.marks);
    let wanted = rows.filter(move |(_, mark)| **mark == is_kept);
    wanted.flat_map(|(runs, _)| runs)
}

#[cfg(test)]
mod tests {
    use trainscope_api::table::CellValue;

    use super::super::super::view::table;
    use super::*;

    #[test]
    fn rows_are_left_out_by_names_or_by_a_single_term() {
        let range = Brush {
            ranges: vec![(0.0, 1.0)],
            ..Brush::default()
        };
        let one = Brushes::from([("lr".to_owned(), range.clone())]);
        let two = Brushes::from([("lr".to_owned(), range.clone()), ("wd".to_owned(), range)]);
        let of = |count: usize, brushes: &Brushes, filter: &str| {
            let rest: Vec<String> = (0..count).map(|run| format!("r{run}")).collect();
            Exclusion::of(rest.iter(), brushes, filter)
        };
        assert_eq!(
            of(2, &two, "adam"),
            Some(Exclusion::Rest(vec!["r0".to_owned(), "r1".to_owned()]))
        );
        assert_eq!(of(0, &one, ""), None);
        let many = MAX_NAMED + 1;
        assert_eq!(
            of(many, &one, ""),
            Some(Exclusion::Term("-lr:0..1".to_owned()))
        );
        assert_eq!(of(many, &two, ""), None);
        assert_eq!(of(many, &one, "adam"), None);
        assert_eq!(of(many, &Brushes::new(), "adam"), None);
    }

    #[test]
    fn runs_of_groups_are_counted_not_groups() {
        let rates: Vec<CellValue> = (0..300_u32)
            .map(|run| CellValue::Number(f64::from(run % 3)))
            .collect();
        let view = View::of(&table(&[("lr", &rates)]), |_| true).grouped(&["lr".to_owned()]);
        let kept = Selection {
            rows: vec![0],
            marks: vec![true, false, false],
        };
        assert_eq!(runs_marked(&view, &kept, true).count(), 100);
        assert_eq!(runs_marked(&view, &kept, false).count(), 200);
        let rest = || runs_marked(&view, &kept, false);
        let exclusion = Exclusion::of(rest(), &Brushes::new(), "adam");
        assert!(matches!(exclusion, Some(Exclusion::Rest(runs)) if runs.len() == 200));
        let none = Selection {
            rows: Vec::new(),
            marks: vec![false; 3],
        };
        let rest = runs_marked(&view, &none, false);
        assert_eq!(Exclusion::of(rest, &Brushes::new(), "adam"), None);
    }
}
