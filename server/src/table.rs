//! Table of runs: a row for each run, a column for each parameter, result and fact that is known of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use trainscope_analysis::columns::{CellValue, ColumnFacts};
use trainscope_analysis::headline::{self, Direction};
use trainscope_api::notebook::Notebook;
use trainscope_api::table::MAX_COLUMNS;

use crate::discovery::base::{Base, bases};
use crate::index::{Index, ReadError};

mod configuration;
mod importance;
mod key;
mod pipelines;
mod row;

pub(crate) use importance::{ImportanceError, importance};
pub(crate) use key::{Group, group, head};
pub(crate) use row::{Cell, Row};

/// Rows by name of the run, with the keys of all columns.
#[derive(Debug, Default)]
pub(crate) struct RunTable {
    pub(crate) rows: Vec<Row>,
    /// Keys in the order of their groups, then by name.
    pub(crate) keys: Vec<String>,
    /// Number of columns that exceed the limit.
    pub(crate) left_out: usize,
}

impl RunTable {
    /// Reads the table of all runs of an index.
    pub(crate) fn read(
        index: &Index,
        base_dirs: &[PathBuf],
        notes: &Notebook,
    ) -> Result<Self, ReadError> {
        let bases = bases(base_dirs);
        let mut rows = Vec::new();
        for run in index.runs().runs {
            let folder = bases.iter().find_map(|base| folder(base, &run.id));
            rows.push(Row::read(
                index,
                &run,
                folder.as_deref(),
                notes.runs.get(&run.id),
            )?);
        }
        pipelines::name_kinds(&mut rows);
        let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
        for key in rows.iter().flat_map(|row| row.cells.keys()) {
            *counts.entry(key).or_default() += 1;
        }
        let mut keys: Vec<(usize, &String)> = counts
            .into_iter()
            .map(|(key, count)| (count, key))
            .collect();
        keys.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        let left_out = keys.len().saturating_sub(MAX_COLUMNS);
        keys.truncate(MAX_COLUMNS);
        let mut keys: Vec<String> = keys.into_iter().map(|(_, key)| key.clone()).collect();
        keys.sort_by(|a, b| group(a).cmp(&group(b)).then_with(|| a.cmp(b)));
        Ok(Self {
            rows,
            keys,
            left_out,
        })
    }

    /// Values of a column, one for each run. A summary of a scalar (`metric:loss@min`) need not be among the keys.
    pub(crate) fn column(&self, key: &str) -> Vec<CellValue> {
        self.rows.iter().map(|row| row.value(key)).collect()
    }

    /// Facts of a column.
    pub(crate) fn facts(&self, key: &str) -> ColumnFacts {
        ColumnFacts::new(self.column(key).iter())
    }

    /// `true` if a column has a value in some run.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.rows.iter().any(|row| !row.value(key).is_missing())
    }

    /// Keys of a glance at the runs: parameters and pipelines that differ, then the results that have a better end,
    /// at most `most`.
    pub(crate) fn glance(&self, most: usize) -> Vec<String> {
        let differs = |key: &&String| self.rows.len() == 1 || !self.facts(key).is_constant();
        let parameters = self
            .keys
            .iter()
            .filter(|key| is_parameter(key))
            .filter(differs);
        let results = self.keys.iter().filter(|key| group(key) == Group::Result);
        let results: Vec<&String> = results.filter(|key| direction(key).is_some()).collect();
        let room = most.saturating_sub(results.len().min(most / 3));
        let mut keys: Vec<String> = parameters.take(room).cloned().collect();
        keys.extend(results.into_iter().take(most - keys.len()).cloned());
        keys
    }
}

/// Parameters of a training, and the kind of its data pipeline: the columns that may explain a result.
pub(crate) fn is_parameter(key: &str) -> bool {
    group(key) == Group::Parameter || key == "data:pipeline"
}

/// Better end of a result by the name in its key.
pub(crate) fn direction(key: &str) -> Option<Direction> {
    match group(key) {
        Group::Result => headline::direction(head(key)),
        _ => None,
    }
}

/// Folder of a run below a base directory.
fn folder(base: &Base, run: &str) -> Option<PathBuf> {
    let name = base.run_below(run)?;
    let folder = if name == "." {
        base.dir.clone()
    } else {
        base.dir.join(name)
    };
    folder.is_dir().then_some(folder)
}
