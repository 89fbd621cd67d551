//! A column of the table in memory.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use trainscope_analysis::columns::{CellValue, ColumnFacts};
use trainscope_api::table::{Cells, ColumnSource};

/// Values of all runs. Rows beyond the cells have none.
#[derive(Debug, Default)]
pub(crate) struct Column {
    pub(super) cells: Cells,
    /// Sources that had a value in some run.
    pub(super) sources: BTreeSet<ColumnSource>,
    /// Rows in which sources disagree.
    pub(super) disagreeing: BTreeSet<u32>,
    /// Rows of a scalar with NaN at any of its points.
    pub(super) nan: BTreeSet<u32>,
    facts: OnceLock<ColumnFacts>,
}

impl Clone for Column {
    /// A copy that is about to change: its facts are counted again.
    fn clone(&self) -> Self {
        Self {
            cells: self.cells.clone(),
            sources: self.sources.clone(),
            disagreeing: self.disagreeing.clone(),
            nan: self.nan.clone(),
            facts: OnceLock::new(),
        }
    }
}

impl Column {
    /// A column of computed values.
    pub(super) fn of_values(values: &[CellValue], source: ColumnSource) -> Self {
        Self {
            cells: Cells::new(values.iter()),
            sources: BTreeSet::from([source]),
            ..Self::default()
        }
    }

    /// The column with some of its rows.
    pub(super) fn of_rows(&self, rows: &[usize]) -> Self {
        let values: Vec<CellValue> = rows.iter().map(|row| self.cells.get(*row)).collect();
        let marked = |numbers: &BTreeSet<u32>| {
            let is_marked =
                |row: &usize| u32::try_from(*row).is_ok_and(|row| numbers.contains(&row));
            let rows = (0_u32..).zip(rows).filter(|(_, row)| is_marked(row));
            rows.map(|(at, _)| at).collect()
        };
        Self {
            cells: Cells::new(values.iter()),
            sources: self.sources.clone(),
            disagreeing: marked(&self.disagreeing),
            nan: marked(&self.nan),
            facts: OnceLock::new(),
        }
    }

    /// Value of a row.
    pub(crate) fn get(&self, row: usize) -> CellValue {
        self.cells.get(row)
    }

    /// `true` if sources of a row disagree.
    pub(crate) fn disagrees(&self, row: usize) -> bool {
        u32::try_from(row).is_ok_and(|row| self.disagreeing.contains(&row))
    }

    /// Values of the first `rows` rows.
    pub(crate) fn values(&self, rows: usize) -> Vec<CellValue> {
        (0..rows).map(|row| self.cells.get(row)).collect()
    }

    /// Facts about its values.
    pub(crate) fn facts(&self) -> &ColumnFacts {
        self.facts.get_or_init(|| match &self.cells {
            Cells::Numbers(_) => {
                let values = self.values(self.cells.len());
                ColumnFacts::new(values.iter())
            }
            Cells::Dictionary { entries, codes } => {
                let mut counts = vec![0_usize; entries.len()];
                for code in codes {
                    let count = usize::try_from(*code)
                        .ok()
                        .and_then(|code| counts.get_mut(code));
                    if let Some(count) = count {
                        *count += 1;
                    }
                }
                ColumnFacts::of_counts(entries.iter().zip(counts))
            }
        })
    }

    /// Sets values of rows; facts are counted again.
    pub(super) fn set(&mut self, rows: &[u32], values: &[CellValue]) {
        self.cells.set(rows, values);
        self.facts = OnceLock::new();
    }

    /// The common value of all runs with a value.
    pub(super) fn constant(&self) -> Option<CellValue> {
        let facts = self.facts();
        if facts.runs == 0 || !facts.is_constant() {
            return None;
        }
        let mut values = (0..self.cells.len()).map(|row| self.cells.get(row));
        values.find(|value| !value.is_missing())
    }
}
