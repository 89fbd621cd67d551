//! Columns over groups of runs, and the Pareto front of each run.

use std::sync::Arc;

use trainscope_analysis::columns::CellValue;
use trainscope_analysis::groups::{fronts, groups, spread};
use trainscope_analysis::headline::Direction;
use trainscope_api::table::ColumnSource;

use super::{Column, RunTable, direction};
use crate::index::ReadError;

/// Groups of runs: the first run of each, and columns.
pub(crate) struct RunGroups {
    pub(crate) names: Vec<String>,
    /// Parameters of the groups, number of runs, and mean, deviation and number of each result.
    pub(crate) columns: Vec<(String, Arc<Column>)>,
}

impl RunTable {
    /// Groups of some rows by the values of parameters, with the mean of results.
    pub(crate) fn groups(
        &self,
        rows: &[usize],
        by: &[String],
        results: &[String],
    ) -> Result<RunGroups, ReadError> {
        let mut keys = Vec::with_capacity(by.len());
        for key in by {
            keys.push(self.column(key)?.values(self.rows.len()));
        }
        let groups = groups(&keys, rows);
        let mut columns: Vec<(String, Vec<CellValue>)> = by
            .iter()
            .enumerate()
            .map(|(at, key)| {
                let value = groups
                    .iter()
                    .filter_map(|group| group.values.get(at).cloned());
                (key.clone(), value.collect())
            })
            .collect();
        let number = |count: usize| CellValue::Number(count as f64);
        let counts = groups.iter().map(|group| number(group.rows.len()));
        columns.push(("runs".to_owned(), counts.collect()));
        for key in results {
            let column = self.column(key)?;
            let of = |rows: &[usize]| spread(rows.iter().map(|row| column.cells.number(*row)));
            let spreads: Vec<_> = groups.iter().map(|group| of(&group.rows)).collect();
            let of_some = |value: Option<f64>| value.map_or(CellValue::Missing, CellValue::Number);
            let mean = spreads
                .iter()
                .map(|spread| of_some((spread.count > 0).then_some(spread.mean)));
            columns.push((key.clone(), mean.collect()));
            let deviation = spreads.iter().map(|spread| of_some(spread.deviation));
            columns.push((format!("{key} sd"), deviation.collect()));
            let count = spreads.iter().map(|spread| number(spread.count));
            columns.push((format!("{key} n"), count.collect()));
        }
        let names = groups.iter().filter_map(|group| group.rows.first());
        let names = names.filter_map(|row| self.rows.get(*row));
        let columns = columns.into_iter().map(|(key, values)| {
            (
                key,
                Arc::new(Column::of_values(&values, ColumnSource::Files)),
            )
        });
        Ok(RunGroups {
            names: names.map(|row| row.run.to_string()).collect(),
            columns: columns.collect(),
        })
    }

    /// Column with the Pareto front of some rows by results; the error is a result whose better end is unknown.
    pub(crate) fn fronts(
        &self,
        rows: &[usize],
        results: &[String],
    ) -> Result<Result<Column, String>, ReadError> {
        let mut signs = Vec::with_capacity(results.len());
        for key in results {
            let sign = match direction(key) {
                Some(Direction::Less) => 1.0,
                Some(Direction::More) => -1.0,
                None => return Ok(Err(key.clone())),
            };
            signs.push((self.column(key)?, sign));
        }
        let of = |row: &usize| {
            let values = signs.iter().map(|(column, sign)| {
                column
                    .cells
                    .number(*row)
                    .map_or(f64::NAN, |value| value * sign)
            });
            values.collect::<Vec<f64>>()
        };
        let fronts = fronts(&rows.iter().map(of).collect::<Vec<_>>());
        let mut values = vec![CellValue::Missing; self.rows.len()];
        for (row, front) in rows.iter().zip(fronts) {
            if let (Some(value), Some(front)) = (values.get_mut(*row), front) {
                *value = CellValue::Number(f64::from(front));
            }
        }
        Ok(Ok(Column::of_values(&values, ColumnSource::Files)))
    }
}
