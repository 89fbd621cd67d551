//! The rows of the page: chosen runs or groups of runs, with the values of all columns that have arrived.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use trainscope_api::table::{CellValue, Cells, TableAnswer};

/// Rows with their columns. Views are compared by identity.
#[derive(Debug, Default)]
pub(super) struct View {
    /// Name of each row: a run, or the values that a group shares.
    pub(super) names: Vec<String>,
    /// Runs of each group; empty if rows are runs.
    members: Vec<Vec<String>>,
    pub(super) columns: BTreeMap<String, Column>,
    /// `true` if rows are groups.
    pub(super) is_grouped: bool,
}

/// Values of a column, one for each row.
#[derive(Debug, Default)]
pub(super) struct Column {
    pub(super) cells: Cells,
    /// Standard deviation of each group's numbers; `None` if rows are runs.
    pub(super) spread: Option<Arc<Vec<f64>>>,
}

impl PartialEq for View {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl View {
    /// The runs of a table that pass a test.
    pub(super) fn of(table: &TableAnswer, is_in: impl Fn(&str) -> bool) -> Self {
        let rows: Vec<usize> = (0..table.runs.len())
            .filter(|row| is_in(&table.runs[*row]))
            .collect();
        let names: Vec<String> = rows.iter().map(|row| table.runs[*row].clone()).collect();
        let columns = table.columns.iter().map(|column| {
            let cells = picked(&column.cells, &rows);
            let spread = None;
            (column.key.clone(), Column { cells, spread })
        });
        Self {
            members: Vec::new(),
            columns: columns.collect(),
            names,
            is_grouped: false,
        }
    }

    /// Groups of the rows by the values of some columns. They have means and standard deviations of numbers, and the
    /// texts that all their rows share.
    pub(super) fn grouped(&self, by: &[String]) -> Self {
        // Numbers are compared by all digits, not only by those of their text.
        let exact = |value: CellValue| match value {
            CellValue::Number(number) => number.to_string(),
            other => text_of(&other),
        };
        let mut groups: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
        for row in 0..self.len() {
            let key = by.iter().map(|key| exact(self.value(key, row)));
            groups.entry(key.collect()).or_default().push(row);
        }
        let mut groups: Vec<(Vec<String>, Vec<usize>)> = groups.into_iter().collect();
        groups.sort_by_key(|(_, rows)| rows.first().copied());
        let rows: Vec<&Vec<usize>> = groups.iter().map(|(_, rows)| rows).collect();
        let name = |rows: &[usize]| {
            let first = rows.first().copied().unwrap_or(0);
            let values = by.iter().map(|key| text_of(&self.value(key, first)));
            values.collect::<Vec<_>>().join(" · ")
        };
        let columns = self.columns.iter().map(|(key, column)| {
            let (mut means, mut spread) = (Vec::new(), Vec::new());
            for rows in &rows {
                let (mean, deviation) = together(&column.cells, rows);
                means.push(mean);
                spread.push(deviation);
            }
            let cells = Cells::new(means.iter());
            let spread = Some(Arc::new(spread));
            (key.clone(), Column { cells, spread })
        });
        Self {
            names: rows.iter().map(|rows| name(rows)).collect(),
            members: rows
                .iter()
                .map(|rows| rows.iter().map(|row| self.names[*row].clone()).collect())
                .collect(),
            columns: columns.collect(),
            is_grouped: true,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Value of a row; missing until the column has arrived.
    pub(super) fn value(&self, key: &str, row: usize) -> CellValue {
        let column = self.columns.get(key);
        column.map_or(CellValue::Missing, |column| column.cells.get(row))
    }

    pub(super) fn number(&self, key: &str, row: usize) -> Option<f64> {
        self.columns.get(key)?.cells.number(row)
    }

    /// Runs of a row; empty if the row does not exist.
    pub(super) fn runs(&self, row: usize) -> &[String] {
        if self.is_grouped {
            self.members.get(row).map_or(&[], Vec::as_slice)
        } else {
            self.names.get(row).map_or(&[], std::slice::from_ref)
        }
    }

    /// Runs of all rows, in their order.
    pub(super) fn runs_of_rows(&self) -> impl Iterator<Item = &[String]> {
        (0..self.len()).map(|row| self.runs(row))
    }

    /// Position of a run's row.
    pub(super) fn row_of(&self, run: &str) -> Option<usize> {
        self.runs_of_rows()
            .position(|runs| runs.iter().any(|known| known == run))
    }

    /// Place of a run's row in an order of rows.
    pub(super) fn place_of(&self, run: &str, order: &[u32]) -> Option<usize> {
        let row = self.row_of(run)?;
        let mut order = order.iter();
        order.position(|candidate| *candidate as usize == row)
    }

    /// First run of the row `by` places after the row of `run` in an order of rows, or of the first row if `run` has no
    /// place.
    pub(super) fn run_beside(
        &self,
        run: Option<&str>,
        order: &[u32],
        by: isize,
    ) -> Option<&String> {
        let last = order.len().checked_sub(1)?;
        let place = run.and_then(|run| self.place_of(run, order));
        let next = place.map_or(0, |place| place.saturating_add_signed(by).min(last));
        self.runs(order[next] as usize).first()
    }

    /// `true` if all runs of some rows are selected; `false` without rows.
    pub(super) fn are_selected(&self, rows: &[u32], selected: &[String]) -> bool {
        let selected: HashSet<&String> = selected.iter().collect();
        let mut runs = rows.iter().flat_map(|row| self.runs(*row as usize));
        !rows.is_empty() && runs.all(|run| selected.contains(run))
    }
}

/// Cells of some rows.
fn picked(cells: &Cells, rows: &[usize]) -> Cells {
    match cells {
        Cells::Numbers(numbers) => {
            // Rows that are not in the column yet have no value, which a plain number cannot express.
            if rows.last().is_some_and(|last| *last >= numbers.len()) {
                let values: Vec<CellValue> = rows.iter().map(|row| cells.get(*row)).collect();
                return Cells::new(values.iter());
            }
            Cells::Numbers(rows.iter().map(|row| numbers[*row]).collect())
        }
        Cells::Dictionary { entries, codes } => Cells::Dictionary {
            entries: entries.clone(),
            codes: rows
                .iter()
                .map(|row| codes.get(*row).copied().unwrap_or(u32::MAX))
                .collect(),
        },
    }
}

/// Mean and standard deviation of the numbers of some rows. Without numbers, the value that all rows share, if any.
fn together(cells: &Cells, rows: &[usize]) -> (CellValue, f64) {
    let numbers: Vec<f64> = rows.iter().filter_map(|row| cells.number(*row)).collect();
    if numbers.is_empty() {
        let mut values = rows.iter().map(|row| cells.get(*row));
        let first = values.next().unwrap_or_default();
        let is_shared = values.all(|value| value == first);
        return (if is_shared { first } else { CellValue::Missing }, 0.0);
    }
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let squares = numbers
        .iter()
        .map(|number| (number - mean).powi(2))
        .sum::<f64>();
    let deviation = if numbers.len() > 1 {
        (squares / (n - 1.0)).sqrt()
    } else {
        0.0
    };
    (CellValue::Number(mean), deviation)
}

/// A value as text; empty without one.
pub(super) fn text_of(value: &CellValue) -> String {
    match value {
        CellValue::Missing => String::new(),
        CellValue::Number(number) => trainscope_web_kit::format::cell(*number),
        CellValue::Text(text) => text.clone(),
        CellValue::Truth(yes) => yes.to_string(),
    }
}

#[cfg(test)]
pub(super) fn table(columns: &[(&str, &[CellValue])]) -> TableAnswer {
    let rows = columns.first().map_or(0, |column| column.1.len());
    TableAnswer {
        seq: 1,
        runs: (0..rows).map(|row| format!("r{row}")).collect(),
        indices: None,
        columns: columns
            .iter()
            .map(|(key, values)| trainscope_api::table::TableColumn {
                key: (*key).to_owned(),
                cells: Cells::new(values.iter()),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CellValue::{Missing, Number, Text};

    #[test]
    fn groups_have_means_deviations_and_shared_texts() {
        let of = |text: &str| Text(text.to_owned());
        let table = table(&[
            ("lr", &[Number(0.1), Number(0.1), Number(0.2), Number(0.2)]),
            (
                "seed",
                &[Number(1.0), Number(2.0), Number(1.0), Number(2.0)],
            ),
            ("opt", &[of("adam"), of("adam"), of("adam"), of("sgd")]),
            ("loss", &[Number(1.0), Number(3.0), Missing, Number(5.0)]),
        ]);
        let view = View::of(&table, |_| true).grouped(&["lr".to_owned()]);
        assert_eq!(view.len(), 2);
        assert_eq!(view.runs(1), ["r2", "r3"]);
        assert_eq!(view.number("loss", 0), Some(2.0));
        assert_eq!(view.number("loss", 1), Some(5.0));
        let spread = view.columns["loss"].spread.clone().unwrap();
        assert!((spread[0] - 2.0_f64.sqrt()).abs() < 1e-12 && spread[1] == 0.0);
        assert_eq!(view.value("opt", 0), of("adam"));
        assert_eq!(view.value("opt", 1), Missing);
        assert_eq!(view.row_of("r3"), Some(1));
    }

    #[test]
    fn the_cursor_moves_from_row_to_row_and_is_a_run() {
        let rates = [Number(0.1), Number(0.2), Number(0.1), Number(0.2)];
        let view = View::of(&table(&[("lr", &rates)]), |_| true);
        let groups = view.grouped(&["lr".to_owned()]);
        let order = [1, 0];
        let beside = |run: &str, by: isize| groups.run_beside(Some(run), &order, by).unwrap();
        assert_eq!(groups.run_beside(None, &order, 1).unwrap(), "r1");
        assert_eq!(beside("r1", 1), "r0");
        // Any run of a group is in its row.
        assert_eq!(
            (beside("r3", 1), beside("r2", 1)),
            (&"r0".to_owned(), &"r0".to_owned())
        );
        assert_eq!(
            (beside("r2", -1), beside("r2", -9)),
            (&"r1".to_owned(), &"r1".to_owned())
        );
        assert_eq!(beside("0.200", 1), "r1", "the name of a group is no run");
        assert_eq!(view.run_beside(Some("r1"), &[3, 1, 2], 1).unwrap(), "r2");
        assert_eq!(view.run_beside(Some("r1"), &[], 1), None);
    }

    #[test]
    fn all_rows_are_selected_if_all_of_their_runs_are() {
        let rates = [Number(0.1), Number(0.2), Number(0.1), Number(0.2)];
        let view = View::of(&table(&[("lr", &rates)]), |_| true);
        let groups = view.grouped(&["lr".to_owned()]);
        let selected = ["r0", "r2", "of another filter"].map(str::to_owned);
        assert!(view.are_selected(&[0, 2], &selected) && groups.are_selected(&[0], &selected));
        assert!(
            !view.are_selected(&[0, 1], &selected),
            "two of three, but not these two"
        );
        assert!(!groups.are_selected(&[1], &selected));
        assert!(!view.are_selected(&[], &selected));
    }

    #[test]
    fn rows_that_a_column_lacks_have_no_value() {
        let mut table = table(&[("lr", &[Number(0.1), Number(0.2)])]);
        table.runs.push("r2".to_owned());
        let view = View::of(&table, |run| run != "r0");
        assert_eq!(view.names, ["r1", "r2"]);
        assert_eq!(
            (view.value("lr", 0), view.value("lr", 1)),
            (Number(0.2), Missing)
        );
    }
}
