//! Reading of the table: only rows of runs that changed.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

use trainscope_analysis::columns::CellValue;
use trainscope_api::notebook::Notebook;
use trainscope_api::runs::Run;
use trainscope_api::table::{ColumnSource, MAX_COLUMNS};

use super::column::Column;
use super::row::{Cell, JUDGEMENT_KEYS, Row, RunJudgement};
use super::{RowFacts, RunTable, configuration, group, pipelines, summary};
use crate::discovery::base::{bases, folder_of};
use crate::index::{Index, ReadError};

/// Maximum number of columns in memory; those beyond [`MAX_COLUMNS`] are counted until they become common.
const MAX_TRACKED: usize = 2 * MAX_COLUMNS;
/// Maximum number of different names of columns beyond that.
const MAX_REFUSED: usize = 100_000;
/// Rows that are read before they are added: a row with its sources takes more memory than in the columns.
const BATCH: usize = 256;

/// Facts that the index does not hold.
pub(crate) struct Surroundings<'a> {
    pub(crate) base_dirs: &'a [PathBuf],
    pub(crate) notes: &'a Notebook,
    /// Judgement of a run; `None` before it was judged.
    pub(crate) judged: &'a dyn Fn(&str) -> Option<RunJudgement>,
    /// `true` to look for changed configuration files too, a few system calls for each run.
    pub(crate) looks_at_files: bool,
}

/// A row that must be read.
struct Due {
    run: Run,
    folder: Option<PathBuf>,
    fingerprint: u64,
    stamp: u64,
    judged: Option<RunJudgement>,
}

impl RunTable {
    /// Takes over all changes since the last call; `true` if there were any.
    pub(crate) fn update(&mut self, around: &Surroundings<'_>) -> Result<bool, ReadError> {
        let seq = self.index.notices().seq().max(self.seq + 1);
        let runs = self.index.runs().runs;
        let bases = bases(around.base_dirs);
        let is_shorter = self.drop_others(&runs);
        if is_shorter {
            self.reset = seq;
        }
        let places: BTreeMap<Arc<str>, u32> = (0_u32..)
            .zip(&self.rows)
            .map(|(at, row)| (Arc::clone(&row.run), at))
            .collect();
        let (mut due, mut judged_anew) = (Vec::new(), Vec::new());
        for run in runs {
            let judged = (around.judged)(&run.id);
            let fingerprint = fingerprint(&run, around.notes);
            let place = places.get(&*run.id).copied();
            let known = place.and_then(|at| self.rows.get(at as usize));
            let folder = || folder_of(&bases, &run.id);
            let stamp = match known {
                Some(known) if !around.looks_at_files => known.stamp,
                _ => folder().map_or(0, |folder| configuration::stamp(&folder)),
            };
            let is_same = |row: &RowFacts| row.fingerprint == fingerprint && row.stamp == stamp;
            match (place, known) {
                (Some(at), Some(row)) if is_same(row) => {
                    if row.judged != judged {
                        judged_anew.push((at, judged));
                    }
                }
                _ => due.push(Due {
                    folder: folder(),
                    run,
                    fingerprint,
                    stamp,
                    judged,
                }),
            }
        }
        let mut changed: BTreeSet<u32> = judged_anew.iter().map(|(at, _)| *at).collect();
        self.take_judgements(judged_anew, seq);
        let mut read = Vec::with_capacity(due.len());
        for part in due.chunks(BATCH) {
            let rows = read_rows(&self.index, part, around.notes);
            let mut batch = Vec::with_capacity(part.len());
            for (due, row) in part.iter().zip(rows) {
                let mut row = match row {
                    Ok(row) => row,
                    // Gone since the list was made.
                    Err(ReadError::UnknownRun(_)) => continue,
                    Err(error) => return Err(error),
                };
                row.put_judgement(due.judged.as_ref());
                let place = places.get(&*due.run.id).copied();
                let at =
                    place.unwrap_or_else(|| u32::try_from(self.rows.len()).unwrap_or(u32::MAX));
                let facts = RowFacts {
                    run: due.run.id.as_str().into(),
                    fingerprint: due.fingerprint,
                    stamp: due.stamp,
                    judged: due.judged.clone(),
                    changed: seq,
                    faults: std::mem::take(&mut row.faults),
                    left_out: row.left_out,
                    kind: row.pipeline.as_ref().map(|pipeline| self.kind(pipeline)),
                    domains: std::mem::take(&mut row.domains),
                };
                match self.rows.get_mut(at as usize) {
                    Some(row) => *row = facts,
                    None => self.rows.push(facts),
                }
                read.push(at);
                batch.push((at, row));
            }
            self.take(&batch, |key| key != pipelines::KEY);
        }
        changed.extend(&read);
        if changed.is_empty() && !is_shorter {
            return Ok(false);
        }
        self.seq = seq;
        self.name_kinds(seq);
        self.update_summaries(&read)?;
        self.choose_keys();
        Ok(true)
    }

    /// Sets the judgements of rows that are the same otherwise; their files are not read again.
    fn take_judgements(&mut self, all: Vec<(u32, Option<RunJudgement>)>, seq: u64) {
        let mut batch = Vec::with_capacity(all.len());
        for (at, judged) in all {
            let mut row = Row::default();
            row.put_judgement(judged.as_ref());
            if let Some(row) = self.rows.get_mut(at as usize) {
                row.judged = judged;
                row.changed = seq;
            }
            batch.push((at, row));
        }
        self.take(&batch, |key| JUDGEMENT_KEYS.contains(&key));
    }

    /// Removes rows of runs that no longer exist; `true` if there were any.
    fn drop_others(&mut self, runs: &[Run]) -> bool {
        let names: BTreeSet<&str> = runs.iter().map(|run| &*run.id).collect();
        self.keep(|run| names.contains(run))
    }

    /// A table of the runs that pass a test, as if the others did not exist.
    pub(crate) fn part(&self, is_in: impl Fn(&str) -> bool) -> Self {
        let mut part = Self {
            // Summaries of columns are of the rows in the table.
            summaries: Arc::default(),
            refused: BTreeSet::new(),
            ..self.clone()
        };
        part.keep(is_in);
        // Names of columns are facts about runs, too.
        part.columns.retain(|_, column| column.facts().runs > 0);
        part.keys.retain(|key| part.columns.contains_key(key));
        let kinds: BTreeSet<&Arc<str>> = part
            .rows
            .iter()
            .filter_map(|row| row.kind.as_ref())
            .collect();
        part.kinds.retain(|kind, _| kinds.contains(kind));
        part
    }

    /// Keeps the rows of runs that pass a test; `true` if there were others.
    fn keep(&mut self, is_in: impl Fn(&str) -> bool) -> bool {
        let stays: Vec<bool> = self.rows.iter().map(|row| is_in(&row.run)).collect();
        if stays.iter().all(|stays| *stays) {
            return false;
        }
        let rows: Vec<usize> = (0..stays.len()).filter(|row| stays[*row]).collect();
        for column in self.columns.values_mut() {
            *column = Arc::new(column.of_rows(&rows));
        }
        self.summaries.lock().clear();
        let mut stays = stays.into_iter();
        self.rows.retain(|_| stays.next().unwrap_or_default());
        true
    }

    /// Kind of a pipeline, with one copy of each in memory.
    fn kind(&mut self, pipeline: &trainscope_format::lineage::DatasetNode) -> Arc<str> {
        let (text, bare) = pipelines::kind(pipeline);
        if let Some((kind, _)) = self.kinds.get_key_value(&*text) {
            return Arc::clone(kind);
        }
        let kind: Arc<str> = text.into();
        self.kinds.insert(Arc::clone(&kind), Arc::new(bare));
        kind
    }

    /// Sets the values of rows in the columns that pass a test.
    fn take(&mut self, batch: &[(u32, Row)], is_in: impl Fn(&str) -> bool) {
        if batch.is_empty() {
            return;
        }
        let all = batch.iter().flat_map(|(_, row)| row.cells.keys());
        for key in all {
            if self.columns.contains_key(key) {
                continue;
            }
            if self.columns.len() < MAX_TRACKED {
                self.columns.insert(key.clone(), Arc::default());
            } else if self.refused.len() < MAX_REFUSED {
                self.refused.insert(hash(key));
            }
        }
        let rows: Vec<u32> = batch.iter().map(|(at, _)| *at).collect();
        for (key, column) in &mut self.columns {
            if !is_in(key) {
                continue;
            }
            let is_same = batch.iter().all(|(at, row)| is_same(column, *at, row, key));
            if is_same {
                continue;
            }
            let values: Vec<CellValue> = batch.iter().map(|(_, row)| row.value(key)).collect();
            let column = Arc::make_mut(column);
            column.set(&rows, &values);
            for (at, row) in batch {
                let cell = row.cells.get(key);
                mark(
                    &mut column.disagreeing,
                    *at,
                    cell.is_some_and(Cell::disagrees),
                );
                mark(&mut column.nan, *at, row.nan.contains(key));
                let sources = cell.iter().flat_map(|cell| &cell.values);
                for (source, _) in sources {
                    if !column.sources.contains(source) {
                        column.sources.insert(source.clone());
                    }
                }
            }
        }
    }

    /// Sets the letters of the kinds of pipelines; rows with another letter count as changed.
    fn name_kinds(&mut self, seq: u64) {
        let letters = pipelines::letters_of(&self.rows);
        let before = self
            .columns
            .get(pipelines::KEY)
            .cloned()
            .unwrap_or_default();
        let mut is_same = true;
        for (at, letter) in letters.iter().enumerate() {
            if before.get(at) != *letter {
                is_same = false;
                if let Some(row) = self.rows.get_mut(at) {
                    row.changed = seq;
                }
            }
        }
        if !is_same || before.cells.len() > letters.len() {
            let column = Column::of_values(&letters, ColumnSource::Lineage);
            self.columns
                .insert(pipelines::KEY.to_owned(), Arc::new(column));
        }
        let used: BTreeSet<&Arc<str>> = self
            .rows
            .iter()
            .filter_map(|row| row.kind.as_ref())
            .collect();
        let used: BTreeSet<Arc<str>> = used.into_iter().map(Arc::clone).collect();
        self.kinds.retain(|kind, _| used.contains(kind));
    }

    /// Reads requested summaries again, for rows that changed.
    fn update_summaries(&mut self, rows: &[u32]) -> Result<(), ReadError> {
        let summaries = self.summaries.lock().clone();
        let mut later = BTreeMap::new();
        for (key, mut column) in summaries {
            let Some((tag, name)) = super::key::summary(&key) else {
                continue;
            };
            let mut values = Vec::with_capacity(rows.len());
            for row in rows {
                let run = self.rows.get(*row as usize).map(|row| &*row.run);
                let run = run.unwrap_or_default();
                values.push(summary::summary(&self.index, run, tag, name)?);
            }
            Arc::make_mut(&mut column).set(rows, &values);
            later.insert(key, column);
        }
        // Snapshots of the table before keep theirs.
        self.summaries = Arc::new(parking_lot::Mutex::new(later));
        Ok(())
    }

    /// Chooses the columns that most runs have.
    fn choose_keys(&mut self) {
        self.columns.retain(|_, column| column.facts().runs > 0);
        let counts = self.columns.iter();
        let mut keys: Vec<(usize, &String)> = counts
            .map(|(key, column)| (column.facts().runs, key))
            .collect();
        keys.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        self.left_out = keys.len().saturating_sub(MAX_COLUMNS) + self.refused.len();
        keys.truncate(MAX_COLUMNS);
        let mut keys: Vec<String> = keys.into_iter().map(|(_, key)| key.clone()).collect();
        keys.sort_by(|a, b| group(a).cmp(&group(b)).then_with(|| a.cmp(b)));
        self.keys = keys;
    }
}

/// `true` if the column already has the value of the row.
fn is_same(column: &Column, at: u32, row: &Row, key: &str) -> bool {
    let value = row.value(key);
    let before = column.get(at as usize);
    let is_equal = match (&before, &value) {
        (CellValue::Number(a), CellValue::Number(b)) => {
            a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
        }
        _ => before == value,
    };
    let cell = row.cells.get(key);
    let mut sources = cell.iter().flat_map(|cell| &cell.values);
    is_equal
        && column.disagreeing.contains(&at) == cell.is_some_and(Cell::disagrees)
        && column.nan.contains(&at) == row.nan.contains(key)
        && sources.all(|(source, _)| column.sources.contains(source))
}

fn mark(rows: &mut BTreeSet<u32>, row: u32, is_marked: bool) {
    if is_marked {
        rows.insert(row);
    } else {
        rows.remove(&row);
    }
}

fn hash(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

/// Reads rows on all cores, in their order.
fn read_rows(index: &Index, due: &[Due], notes: &Notebook) -> Vec<Result<Row, ReadError>> {
    let read = |due: &Due| Row::read(index, &due.run, due.folder.as_deref(), notes);
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = due.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let parts = due.chunks(share);
        let workers: Vec<_> = parts
            .map(|part| scope.spawn(move || part.iter().map(read).collect::<Vec<_>>()))
            .collect();
        let rows = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
        rows.flat_map(|rows| rows.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Hash of everything in a row that the index and the notebook hold.
fn fingerprint(run: &Run, notes: &Notebook) -> u64 {
    let mut hasher = DefaultHasher::new();
    let bits = |number: Option<f64>| number.map(f64::to_bits);
    (
        run.status,
        run.last_step,
        run.len_bytes,
        &run.ranks,
        &run.kinds,
    )
        .hash(&mut hasher);
    (
        bits(run.first_wall_time_secs),
        bits(run.last_wall_time_secs),
    )
        .hash(&mut hasher);
    for file in &run.files {
        (&file.path, file.read_bytes, file.records, file.status).hash(&mut hasher);
    }
    let run_notes = notes.runs.get(&run.id);
    run_notes
        .map(|notes| (&notes.note, &notes.tags))
        .hash(&mut hasher);
    notes.aliases.hash(&mut hasher);
    hasher.finish()
}
