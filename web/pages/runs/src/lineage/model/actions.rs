//! Changes of the page's state, in the address and the notebook.

use trainscope_api::importance::Measure;
use trainscope_api::notebook::RunNotes;
use trainscope_api::table::{ColumnGroup, ColumnKind, Direction};

use super::super::axis::{self, AxisLook, LOOKS};
use super::super::brush::{self, BRUSH, Brush, Brushes};
use super::super::order::pressed;
use super::super::view::View;
use super::{
    AXES, BAR, COLOUR, COLUMNS, GOAL, GROUP, IS_DATA, MAX_NAMED, MEASURE, Model, OF_KEPT, PANEL,
    PARETO, REPETITIONS, SELECTED, SORT, Selection, SidePanel, TARGET,
};
use trainscope_web_kit::parameters::{RUNS, SEARCH};
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
        self.url.set(&[BRUSH.to(brushes.clone())], history);
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
        let changes = [BRUSH.clear(), SEARCH.clear(), RUNS.clear()];
        self.url.set(&changes, History::Push);
    }

    pub(in super::super) fn set_filter(self, text: &str) {
        self.url.set(&[SEARCH.to(text.trim())], History::Replace);
    }

    /// Keeps only the rows that pass. The address names their runs, or has terms of the filter if there are too many.
    pub(in super::super) fn keep_only(self) {
        let runs = self.kept_runs();
        if runs.len() <= MAX_NAMED {
            self.name_only(runs);
            return;
        }
        let (terms, others) = self.brushes.with_untracked(brush::terms);
        let text = format!("{} {terms}", self.filter.get_untracked());
        let changes = [SEARCH.to(text.trim()), BRUSH.to(others)];
        self.url.set(&changes, History::Push);
    }

    fn name_only(self, runs: Vec<String>) {
        let changes = [RUNS.to(runs), BRUSH.clear(), SEARCH.clear()];
        self.url.set(&changes, History::Push);
    }

    /// `true` if the rows that pass can be left out; reactive.
    pub(in super::super) fn can_exclude(self) -> bool {
        self.exclusion().is_some()
    }

    /// Leaves out the rows that pass.
    pub(in super::super) fn exclude(self) {
        match untrack(|| self.exclusion()) {
            Some(Exclusion::Rest(runs)) => self.name_only(runs),
            Some(Exclusion::Term(term)) => {
                let changes = [SEARCH.to(term), BRUSH.clear()];
                self.url.set(&changes, History::Push);
            }
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
        self.url.set(&[AXES.to(keys)], history);
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
        let changes = [AXES.to(keys), BRUSH.to(brushes)];
        self.url.set(&changes, History::Push);
    }

    pub(in super::super) fn change_look(self, key: &str, change: impl FnOnce(&mut AxisLook)) {
        let mut looks = self.looks.get_untracked();
        change(looks.entry(key.to_owned()).or_default());
        self.url.set(&[LOOKS.to(looks)], History::Push);
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
        let changes = [COLUMNS.to(table), AXES.to(axes)];
        self.url.set(&changes, History::Push);
    }

    /// Replaces a column in the table and among the axes, for instance by another summary of the same scalar.
    pub(in super::super) fn replace_column(self, key: &str, by: &str) {
        let replaced = |mut keys: Vec<String>| {
            for known in &mut keys {
                if known == key {
                    by.clone_into(known);
                }
            }
            keys
        };
        let changes = [
            AXES.to(replaced(self.axis_keys.get_untracked())),
            COLUMNS.to(replaced(self.table_keys.get_untracked())),
        ];
        self.url.set(&changes, History::Push);
    }

    pub(in super::super) fn set_colour(self, key: &str) {
        self.url.set(&[COLOUR.to(key)], History::Push);
    }

    pub(in super::super) fn set_target(self, key: &str) {
        // Axes that the user chose end with the result too.
        let mut axes = self.axis_keys.get_untracked();
        axes.retain(|known| known != key);
        axes.push(key.to_owned());
        let has_axes = untrack(|| self.url.param(AXES).with(Option::is_some));
        let mut changes = vec![TARGET.to(key), GOAL.clear(), BAR.clear()];
        changes.extend(has_axes.then(|| AXES.to(axes)));
        self.url.set(&changes, History::Push);
    }

    pub(in super::super) fn set_goal(self, goal: Direction) {
        self.url.set(&[GOAL.to(goal)], History::Push);
    }

    pub(in super::super) fn set_measure(self, measure: Option<Measure>) {
        self.url.set(&[MEASURE.to_option(measure)], History::Push);
    }

    pub(in super::super) fn set_of_kept(self, is_on: bool) {
        self.url.set(&[OF_KEPT.to(is_on)], History::Push);
    }

    pub(in super::super) fn set_bar(self, keys: &[String]) {
        self.url.set(&[BAR.to(keys)], History::Push);
    }

    pub(in super::super) fn set_group(self, keys: &[String]) {
        self.url.set(&[GROUP.to(keys)], History::Push);
    }

    pub(in super::super) fn set_pareto(self, keys: &[String]) {
        self.url.set(&[PARETO.to(keys)], History::Push);
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
        self.url.set(&[IS_DATA.to(is_data)], History::Push);
    }

    pub(in super::super) fn press_sort(self, column: &str, is_further: bool) {
        let keys = pressed(&self.sort.get_untracked(), column, is_further);
        self.url.set(&[SORT.to(keys)], History::Push);
    }

    pub(in super::super) fn toggle_selected(self, run: &str) {
        let mut selected = self.selected.get_untracked();
        match selected.iter().position(|known| known == run) {
            Some(position) => {
                selected.remove(position);
            }
            None => selected.push(run.to_owned()),
        }
        self.url.set(&[SELECTED.to(selected)], History::Replace);
    }

    pub(in super::super) fn select_none(self) {
        self.url.set(&[SELECTED.clear()], History::Replace);
    }

    /// Selects all kept runs, at most [`MAX_NAMED`]; clears the selection if all are selected.
    pub(in super::super) fn toggle_all(self) {
        let (view, kept) = (self.view.get_untracked(), self.kept.get_untracked());
        let selected = self.selected.get_untracked();
        let is_all = view.are_selected(&kept.rows, &selected);
        let mut next = if is_all { Vec::new() } else { self.kept_runs() };
        next.truncate(MAX_NAMED);
        self.url.set(&[SELECTED.to(next)], History::Replace);
    }

    pub(in super::super) fn open_panel(self, panel: Option<SidePanel>) {
        self.url.set(&[PANEL.to_option(panel)], History::Push);
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
        self.url.href(&[PANEL.to(SidePanel::Row(run.to_owned()))])
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
