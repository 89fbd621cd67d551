//! Answers about the table in the types of the API.

use std::path::PathBuf;

use trainscope_analysis::columns::{CellValue, ColumnKind};
use trainscope_analysis::headline::Direction;
use trainscope_analysis::pipeline::{Pipeline, side_by_side};
use trainscope_api::notebook::Notebook;
use trainscope_api::table::{
    Cells, ColumnInfo, ConfigurationFault, KindResult, MAX_FAULTS, MAX_JSON_ROWS, MAX_KIND_RUNS,
    MAX_KINDS, PipelineKind, PipelineKinds, RowColumn, RunRow, Scale, SourcedValue, TableAnswer,
    TableColumn, TableColumns, TablePage, TableRequest, TableRow, Unit,
};

use super::row::{JUDGEMENT_KEYS, Row};
use super::{
    Column, Filter, RunTable, UnknownColumn, direction, group, label, pipelines, run_folder,
};
use crate::index::{Index, ReadError};

impl RunTable {
    /// All columns.
    pub(crate) fn infos(&self) -> Result<TableColumns, ReadError> {
        let mut columns = Vec::with_capacity(self.keys.len());
        for key in &self.keys {
            columns.push(info(key, &*self.column(key)?));
        }
        let faults = self.rows.iter().flat_map(|row| {
            let fault = |(path, reason): &(String, String)| ConfigurationFault {
                run: row.run.to_string(),
                path: path.clone(),
                reason: reason.clone(),
            };
            row.faults.iter().map(fault)
        });
        Ok(TableColumns {
            seq: self.seq,
            runs: self.rows.len(),
            columns,
            left_out: self.left_out,
            values_left_out: self.rows.iter().map(|row| row.left_out).sum(),
            faults: faults.clone().take(MAX_FAULTS).collect(),
            fault_count: faults.count(),
        })
    }

    /// Columns of all rows, of those that match a filter, or of those that changed.
    pub(crate) fn answer(
        &self,
        request: &TableRequest,
    ) -> Result<Result<TableAnswer, UnknownColumn>, ReadError> {
        let rows: Option<Vec<usize>> = match (&request.filter, request.since) {
            (Some(text), _) => match Filter::new(self, text)? {
                Ok(filter) => Some(filter.rows(self)),
                Err(unknown) => return Ok(Err(unknown)),
            },
            (None, Some(since)) if (self.reset..=self.seq).contains(&since) => {
                let rows = self.rows.iter().enumerate();
                let rows = rows.filter(|(_, facts)| facts.changed > since);
                Some(rows.map(|(at, _)| at).collect())
            }
            (None, _) => None,
        };
        let mut columns = Vec::with_capacity(request.columns.len());
        for key in &request.columns {
            let column = self.column(key)?;
            let cells = match &rows {
                None => column.cells.clone(),
                Some(rows) => {
                    let values: Vec<CellValue> = rows.iter().map(|row| column.get(*row)).collect();
                    Cells::new(values.iter())
                }
            };
            let key = key.clone();
            columns.push(TableColumn { key, cells });
        }
        let name = |row: usize| self.rows.get(row).map(|facts| facts.run.to_string());
        let runs = match &rows {
            None => (0..self.rows.len()).filter_map(name).collect(),
            Some(rows) => rows.iter().copied().filter_map(name).collect(),
        };
        let index = |row: &usize| u32::try_from(*row).unwrap_or(u32::MAX);
        Ok(Ok(TableAnswer {
            seq: self.seq,
            runs,
            indices: rows.map(|rows| rows.iter().map(index).collect()),
            columns,
        }))
    }

    /// A page of rows.
    pub(crate) fn page(
        &self,
        request: &TableRequest,
    ) -> Result<Result<TablePage, UnknownColumn>, ReadError> {
        let answer = match self.answer(request)? {
            Ok(answer) => answer,
            Err(unknown) => return Ok(Err(unknown)),
        };
        let total = answer.runs.len();
        let limit = request.limit.unwrap_or(MAX_JSON_ROWS).min(MAX_JSON_ROWS);
        let end = request.offset.saturating_add(limit).min(total);
        let row = |at: usize| TableRow {
            run: answer.runs.get(at).cloned().unwrap_or_default(),
            index: match &answer.indices {
                Some(indices) => indices.get(at).copied().unwrap_or_default(),
                None => u32::try_from(at).unwrap_or(u32::MAX),
            },
            cells: answer
                .columns
                .iter()
                .map(|column| column.cells.get(at))
                .collect(),
        };
        Ok(Ok(TablePage {
            seq: answer.seq,
            rows: (request.offset..end).map(row).collect(),
            total,
            cut: end < total,
        }))
    }

    /// Kinds of data pipelines with results by key; without keys those whose better end is known.
    pub(crate) fn pipelines(&self, results: Option<&[String]>) -> Result<PipelineKinds, ReadError> {
        let known = self.keys.iter().filter(|key| direction(key).is_some());
        let keys: Vec<String> = match results {
            Some(keys) => keys.to_vec(),
            None => known.cloned().collect(),
        };
        let mut columns = Vec::with_capacity(keys.len());
        for key in keys {
            let column = self.column(&key)?;
            columns.push((key, column));
        }
        let mut kinds = pipelines::rows_of_kinds(&self.rows);
        let with: usize = kinds.iter().map(|(_, rows)| rows.len()).sum();
        let left_out = kinds.len().saturating_sub(MAX_KINDS);
        kinds.truncate(MAX_KINDS);
        let pipelines = kinds.iter().filter_map(|(kind, _)| self.kinds.get(kind));
        let pipelines: Vec<&Pipeline> = pipelines.map(|pipeline| &**pipeline).collect();
        let (places, cells) = side_by_side(&pipelines);
        let kinds = kinds.iter().zip(cells).enumerate();
        let kinds = kinds.map(|(index, ((_, rows), cells))| PipelineKind {
            kind: pipelines::letters(index),
            runs: rows
                .iter()
                .take(MAX_KIND_RUNS)
                .map(|row| self.name(*row))
                .collect(),
            run_count: rows.len(),
            cells,
            results: columns
                .iter()
                .map(|(key, column)| self.result(key, column, rows))
                .collect(),
        });
        Ok(PipelineKinds {
            seq: self.seq,
            places,
            kinds: kinds.collect(),
            left_out,
            runs_without: self.rows.len() - with,
        })
    }

    fn name(&self, row: usize) -> String {
        self.rows
            .get(row)
            .map(|facts| facts.run.to_string())
            .unwrap_or_default()
    }

    /// A result over some rows.
    fn result(&self, key: &str, column: &Column, rows: &[usize]) -> KindResult {
        let numbers = rows
            .iter()
            .filter_map(|row| Some((*row, column.cells.number(*row)?)));
        let all: Vec<(usize, f64)> = numbers.collect();
        let mut finite = all.clone();
        finite.retain(|(_, number)| number.is_finite());
        finite.sort_by(|a, b| a.1.total_cmp(&b.1));
        let best = match direction(key) {
            Some(Direction::Less) => finite.first(),
            Some(Direction::More) => finite.last(),
            None => None,
        };
        KindResult {
            key: key.to_owned(),
            runs: finite.len(),
            not_finite: all.len() - finite.len(),
            median: median(&finite),
            best: best.map(|(_, number)| *number),
            best_run: best.map(|(row, _)| self.name(*row)),
        }
    }
}

/// Median of sorted numbers: of an even count the mean of the two in the middle.
fn median(sorted: &[(usize, f64)]) -> Option<f64> {
    let (_, high) = *sorted.get(sorted.len() / 2)?;
    let (_, low) = *sorted.get((sorted.len() - 1) / 2)?;
    Some(low + (high - low) / 2.0)
}

fn info(key: &str, column: &Column) -> ColumnInfo {
    let facts = column.facts();
    let is_number = matches!(facts.kind, ColumnKind::Number | ColumnKind::Integer);
    ColumnInfo {
        key: key.to_owned(),
        label: label(key).to_owned(),
        group: group(key),
        kind: facts.kind,
        scale: if is_number && facts.is_log {
            Scale::Log
        } else {
            Scale::Linear
        },
        direction: direction(key),
        unit: unit(key),
        sources: column.sources.iter().cloned().collect(),
        runs: facts.runs,
        distinct: facts.distinct,
        least: facts.least,
        greatest: facts.greatest,
        nan: facts.nan.max(column.nan.len()),
        constant: column.constant(),
        disagreeing: column.disagreeing.len(),
    }
}

fn unit(key: &str) -> Option<Unit> {
    match key {
        "run:started" => Some(Unit::Time),
        "run:duration" => Some(Unit::Duration),
        "run:size" | "lineage:model_size_bytes" => Some(Unit::Bytes),
        _ => None,
    }
}

/// One run with all of its values; `None` if there is no such run. Reads its files.
pub(crate) fn row(
    index: &Index,
    base_dirs: &[PathBuf],
    notes: &Notebook,
    table: &RunTable,
    name: &str,
) -> Result<Option<RunRow>, ReadError> {
    let Some(run) = index.describe(name) else {
        return Ok(None);
    };
    let folder = run_folder(base_dirs, name);
    let row = Row::read(index, &run, folder.as_deref(), notes)?;
    let mut columns: Vec<RowColumn> = row
        .cells
        .iter()
        .map(|(key, cell)| RowColumn {
            key: key.clone(),
            group: group(key),
            value: cell.value().cloned().unwrap_or_default(),
            disagrees: cell.disagrees(),
            values: cell
                .values
                .iter()
                .cloned()
                .map(|(source, value)| SourcedValue { source, value })
                .collect(),
        })
        .collect();
    // The judgement and the kind of the pipeline are only in the table.
    if let Some(at) = table.rows.iter().position(|row| *row.run == *name) {
        for key in JUDGEMENT_KEYS.into_iter().chain([pipelines::KEY]) {
            let column = table.column(key)?;
            let value = column.get(at);
            let source = column.sources.first().filter(|_| !value.is_missing());
            columns.extend(source.map(|source| RowColumn {
                key: key.to_owned(),
                group: group(key),
                value: value.clone(),
                disagrees: false,
                values: vec![SourcedValue {
                    source: source.clone(),
                    value,
                }],
            }));
        }
    }
    columns.sort_by(|a, b| a.group.cmp(&b.group).then_with(|| a.key.cmp(&b.key)));
    let fault = |(path, reason): &(String, String)| ConfigurationFault {
        run: name.to_owned(),
        path: path.clone(),
        reason: reason.clone(),
    };
    Ok(Some(RunRow {
        run: name.to_owned(),
        columns,
        faults: row.faults.iter().map(fault).collect(),
        values_left_out: row.left_out,
    }))
}
