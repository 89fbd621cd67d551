//! Table of runs: a row for each run, a column for each parameter, result and fact.
//!
//! Values are in columns, shared by snapshots of the table: 10,000 runs × 200 columns take a fraction of the memory of
//! rows with names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use trainscope_analysis::columns::CellValue;
use trainscope_analysis::headline::{self, Direction};
use trainscope_analysis::pipeline::Pipeline;
use trainscope_api::notebook::Notebook;
use trainscope_api::table::{ColumnSource, SOURCES_DIFFER};

use crate::discovery::base::{bases, folder_of};
use crate::index::{Index, ReadError};

mod answers;
mod column;
mod configuration;
mod domain;
mod filter;
mod groups;
mod importance;
mod key;
mod memory;
mod order;
mod pipelines;
mod row;
mod summary;
mod update;

use domain::Domains;

pub(crate) use answers::row;
pub(crate) use column::Column;
pub(crate) use configuration::texts as configuration_files;
pub(crate) use filter::{Filter, UnknownColumn};
pub(crate) use importance::{ImportanceError, importance, pair};
pub(crate) use key::{Group, group, head, label};
pub use memory::Tables;
pub(crate) use order::compare;
pub(crate) use pipelines::is_path;
pub(crate) use row::Row;
pub(crate) use update::Surroundings;

/// Maximum number of summaries of scalars (`metric:loss@min`) in memory.
const MAX_SUMMARIES: usize = 64;

/// Facts of a row that are not in columns.
#[derive(Clone, Debug)]
pub(crate) struct RowFacts {
    pub(crate) run: Arc<str>,
    fingerprint: u64,
    stamp: u64,
    judged: Option<row::RunJudgement>,
    /// Version of the table in which it changed last.
    changed: u64,
    /// Configuration files that cannot be read, with reasons.
    pub(crate) faults: Vec<(String, String)>,
    /// Number of values that exceed a limit.
    pub(crate) left_out: usize,
    /// Kind of its data pipeline.
    kind: Option<Arc<str>>,
    /// Domains that an experiment in its folder declares.
    domains: Domains,
}

/// All runs in columns. A clone is a snapshot that shares the columns.
#[derive(Clone)]
pub(crate) struct RunTable {
    index: Index,
    /// Version; grows with every change.
    pub(crate) seq: u64,
    /// Version since which the rows have their current indices.
    reset: u64,
    pub(crate) rows: Vec<RowFacts>,
    columns: BTreeMap<String, Arc<Column>>,
    /// Keys in the order of their groups, then by name.
    pub(crate) keys: Vec<String>,
    /// Number of columns that exceed the limit.
    pub(crate) left_out: usize,
    /// Hashes of the keys of columns beyond the limit of memory.
    refused: BTreeSet<u64>,
    /// A pipeline of each kind, without places on a disk.
    kinds: BTreeMap<Arc<str>, Arc<Pipeline>>,
    /// Requested summaries of scalars.
    summaries: Arc<Mutex<BTreeMap<String, Arc<Column>>>>,
}

impl RunTable {
    /// A table without rows.
    pub(crate) fn new(index: Index) -> Self {
        let seq = index.notices().seq();
        Self {
            index,
            seq,
            reset: seq,
            rows: Vec::new(),
            columns: BTreeMap::new(),
            keys: Vec::new(),
            left_out: 0,
            refused: BTreeSet::new(),
            kinds: BTreeMap::new(),
            summaries: Arc::default(),
        }
    }

    /// Reads the table of all runs of an index, without their judgements.
    pub(crate) fn read(
        index: &Index,
        base_dirs: &[PathBuf],
        notes: &Notebook,
    ) -> Result<Self, ReadError> {
        let mut table = Self::new(index.clone());
        table.update(&Surroundings {
            base_dirs,
            notes,
            judged: &|_| None,
            looks_at_files: true,
        })?;
        Ok(table)
    }

    /// A column by its key, also a summary of a scalar (`metric:loss@min`) and the disagreements of sources
    /// (`sources_differ:lr`); empty if no run has it.
    pub(crate) fn column(&self, key: &str) -> Result<Arc<Column>, ReadError> {
        if let Some(column) = self.columns.get(key) {
            return Ok(Arc::clone(column));
        }
        if let Some(of) = key.strip_prefix(SOURCES_DIFFER) {
            let rows = self.columns.get(of).map(|column| &column.disagreeing);
            let rows = rows.cloned().unwrap_or_default();
            let value = |at: u32| {
                if rows.contains(&at) {
                    CellValue::Truth(true)
                } else {
                    CellValue::Missing
                }
            };
            let values: Vec<CellValue> = (0_u32..).take(self.rows.len()).map(value).collect();
            return Ok(Arc::new(Column::of_values(&values, ColumnSource::Files)));
        }
        let Some((tag, name)) = key::summary(key) else {
            return Ok(Arc::default());
        };
        if !self.columns.contains_key(&format!("metric:{tag}")) {
            return Ok(Arc::default());
        }
        if let Some(column) = self.summaries.lock().get(key) {
            return Ok(Arc::clone(column));
        }
        let mut values = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            values.push(summary::summary(&self.index, &row.run, tag, name)?);
        }
        let column = Arc::new(Column::of_values(&values, ColumnSource::Scalars));
        let mut summaries = self.summaries.lock();
        if summaries.len() < MAX_SUMMARIES {
            summaries.insert(key.to_owned(), Arc::clone(&column));
        }
        Ok(column)
    }

    /// Keys of an overview of the runs: parameters and pipelines that differ, then the results that have a better end,
    /// at most `most`.
    pub(crate) fn glance(&self, most: usize) -> Vec<String> {
        let is_constant = |key: &String| {
            self.columns
                .get(key)
                .is_none_or(|column| column.facts().is_constant())
        };
        let differs = |key: &&String| self.rows.len() == 1 || !is_constant(key);
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

    /// Key of a column in any letter case; a bare name may also be that of a result or a fact of the run.
    pub(crate) fn key(&self, name: &str) -> Result<String, UnknownColumn> {
        if self.columns.contains_key(name) {
            return Ok(name.to_owned());
        }
        let lower = name.to_lowercase();
        let forms = [
            lower.clone(),
            format!("metric:{lower}"),
            format!("eval:{lower}"),
            format!("run:{lower}"),
        ];
        let of_form = |form: &String| {
            let mut keys = self.keys.iter();
            keys.find(|key| key.to_lowercase() == *form).cloned()
        };
        if let Some(key) = forms.iter().find_map(of_form) {
            return Ok(key);
        }
        // A summary of a scalar.
        if let Some((tag, summary)) = name.rsplit_once('@')
            && let Ok(tag) = self.key(tag)
        {
            let key = format!("{tag}@{}", summary.to_lowercase());
            if key::summary(&key).is_some() {
                return Ok(key);
            }
        }
        let near = crate::suggest::similar(name, &mut self.keys.iter().map(String::as_str));
        Err(UnknownColumn {
            name: name.to_owned(),
            similar: near.map(str::to_owned),
        })
    }
}

/// Parameters of a training, and the kind of its data pipeline: the columns that may explain a result.
pub(crate) fn is_parameter(key: &str) -> bool {
    group(key) == Group::Parameter || key == pipelines::KEY
}

/// Better end of a result by the name in its key.
pub(crate) fn direction(key: &str) -> Option<Direction> {
    match group(key) {
        Group::Result => headline::direction(head(key)),
        _ => None,
    }
}

/// Row of one run with its settings alone: parameters, data and results of its lineage, without scalars and facts.
pub(crate) fn settings_of(
    index: &Index,
    base_dirs: &[PathBuf],
    run: &str,
) -> Result<Row, ReadError> {
    Row::settings(index, run, run_folder(base_dirs, run).as_deref())
}

/// Folder of a run; `None` for a run without a folder.
pub(crate) fn run_folder(base_dirs: &[PathBuf], run: &str) -> Option<PathBuf> {
    folder_of(&bases(base_dirs), run)
}
