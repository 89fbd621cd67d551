//! The index of recorded data: the only module that uses sled.
//!
//! Input comes from [`ingest`](crate::ingest) alone; handlers read. Publication is not commit: published data is
//! available at once, and a commit makes it survive a restart together with the offset it came from. Everything here
//! is derived from the source files and may be deleted at any time.

mod attempts;
mod bits;
mod catalog;
mod chunk;
mod part;
mod program_settings;
mod reader;
mod recordings;
mod records;
mod source;
mod state;
mod store;
#[cfg(test)]
mod tests;
mod traces;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};
use trainscope_api::live::RunChange;
use trainscope_api::scalars::{
    DEFAULT_POINTS, Field, ScalarsAnswer, ScalarsQuery, ScalarsRequest, Series, SeriesKey,
};
use trainscope_api::status::Ingest;
use trainscope_api::tags::TagList;
use trainscope_format::{Format, Kind};

use crate::discovery::file::{Identity, Place};
use crate::notices::Notices;
use crate::people;
use crate::reader::Block;
use attempts::Attempt;
use catalog::{Catalog, RunEntry};
pub(crate) use program_settings::settings_of;
use reader::Range;
use recordings::Recordings;
pub(crate) use records::Blob;
pub use records::IndexedRecord;
pub(crate) use source::{Source, Staging};
pub(crate) use store::folder;
use store::{Batch, Meta, Opening, Store};
pub(crate) use traces::TraceEntry;

/// Maximum number of tags named in one notice; more are sent as "any".
const MAX_NOTICE_TAGS: usize = 64;

/// Shared read access; cloning is cheap. Methods may block on the disk unless documented otherwise: call them off the
/// async threads.
#[derive(Clone)]
pub struct Index(Arc<Inner>);

struct Inner {
    store: Store,
    catalog: Catalog,
    next_file: AtomicU64,
    next_part: AtomicU64,
    progress: Mutex<Progress>,
    records: AtomicU64,
    committed_records: AtomicU64,
    sealed_bytes: AtomicUsize,
    /// Runs with tensor files. Names and locations only, never stored: each walk finds them.
    recordings: RwLock<Arc<Recordings>>,
    /// Names of all runs in the order of lists, with the version of the set.
    ordered_names: Mutex<OrderedNames>,
    notices: Notices,
}

/// Names in an order, with the version of their set.
type OrderedNames = (Option<u64>, Arc<[Arc<str>]>);

/// Latest progress of the ingest loop, available without locking any file.
#[derive(Clone, Copy, Default)]
struct Progress {
    ingest: Ingest,
    /// Number of runs, and of growing ones.
    runs: (usize, usize),
    listing: Option<Listing>,
}

/// The last walk over the folders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listing {
    pub(crate) ended: Instant,
    pub(crate) took: Duration,
}

/// Reason why a query fails.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// No run of that name.
    #[error("no run is called `{0}`")]
    UnknownRun(String),
    /// No such series in the run.
    #[error("run `{run}` has no `{tag}` among the {} of rank {rank}", kind.as_str())]
    UnknownTag {
        /// Name of the run.
        run: String,
        /// Kind.
        kind: Kind,
        /// Name of the tag.
        tag: String,
        /// Rank.
        rank: u32,
    },
    /// No such blob, or no longer.
    #[error("no blob has the id `{0}`; ask for the records again")]
    UnknownBlob(String),
    /// A source file cannot be read at the indexed location.
    #[error("{path} cannot be read: {reason}")]
    Unreadable {
        /// Path for display.
        path: String,
        /// Description of the error.
        reason: String,
    },
    /// Stored data cannot be read back.
    #[error("the index cannot be read: {0}; it is rebuilt from the files")]
    Storage(String),
    /// Data cannot be stored.
    #[error("the index cannot be written: {0}")]
    Unwritable(String),
}

impl Index {
    /// Progress of reading.
    pub fn ingest(&self) -> Ingest {
        let progress = self.0.progress.lock().ingest;
        Ingest {
            records: self.0.records.load(Ordering::Acquire),
            committed_records: self.0.committed_records.load(Ordering::Acquire),
            ..progress
        }
    }

    /// Announces what is published, and problems.
    pub fn notices(&self) -> &Notices {
        &self.0.notices
    }

    /// Number of runs, and of growing ones, at the last check of the ingest loop.
    pub fn run_counts(&self) -> (usize, usize) {
        self.0.progress.lock().runs
    }

    /// The last walk over the folders; `None` before the first one.
    pub(crate) fn listing(&self) -> Option<Listing> {
        self.0.progress.lock().listing
    }

    /// Notes that a walk has just ended.
    pub(crate) fn note_listing(&self, took: Duration) {
        let ended = Instant::now();
        self.0.progress.lock().listing = Some(Listing { ended, took });
    }

    /// Number of files that cannot be read.
    pub(crate) fn unreadable_files(&self) -> usize {
        let sources = self.0.catalog.sources();
        let unreadable =
            |source: &&Arc<Source>| source.with_state(|state| state.unreadable.is_some());
        sources.iter().filter(unreadable).count()
    }

    /// Size of the index on disk, bytes; `None` if it cannot be read.
    pub(crate) fn size_bytes(&self) -> Option<u64> {
        self.0.store.size_bytes()
    }

    /// Counts runs. Waits for the files that are being read.
    pub(crate) fn count_runs(&self) -> (usize, usize) {
        let (only, live) = self.only_tensors();
        (
            self.0.catalog.len() + only,
            self.0.catalog.live_runs() + live,
        )
    }

    /// Runs with a growing file whose name passes a test.
    pub(crate) fn growing_runs(&self, is_wanted: impl Fn(&str) -> bool) -> BTreeSet<Arc<str>> {
        self.0.catalog.growing_runs(is_wanted)
    }

    /// The tags of one run.
    pub fn tags(&self, run: &str) -> Result<TagList, ReadError> {
        let run = self.run(run)?;
        Ok(run.tags(&self.0.store))
    }

    /// The event files of a run; `None` if it has none, or does not exist for the person who asks.
    fn entry(&self, run: &str) -> Option<Arc<RunEntry>> {
        self.0.catalog.run(run).filter(|_| people::may_see(run))
    }

    fn run(&self, run: &str) -> Result<Arc<RunEntry>, ReadError> {
        let found = self.entry(run);
        // A run with tensors only has no such tags.
        let found = found.or_else(|| self.recording(run).map(|_| Arc::default()));
        found.ok_or_else(|| ReadError::UnknownRun(run.to_owned()))
    }

    /// Finds one series without reading it. Does not block.
    pub fn series(&self, query: &ScalarsQuery) -> Result<Selection, ReadError> {
        let key = SeriesKey {
            run: query.run.clone(),
            rank: query.rank,
            tag: query.tag.clone(),
            writer: query.writer.clone(),
        };
        let range = Range {
            from: query.from.unwrap_or(i64::MIN),
            to: query.to.unwrap_or(i64::MAX),
            points: query.points.unwrap_or(DEFAULT_POINTS),
            superseded: query.superseded != 0,
            wall_times: true,
        };
        self.select(&key, range)
    }

    /// Points of many series; `None` for unknown series.
    pub fn many_series(&self, request: &ScalarsRequest) -> Result<ScalarsAnswer, ReadError> {
        let seq = self.0.notices.seq();
        let wants = |field| request.fields.contains(&field);
        let (min, max) = if request.fields.is_empty() {
            (true, true)
        } else {
            (wants(Field::Min), wants(Field::Max))
        };
        let range = Range {
            from: request.from.unwrap_or(i64::MIN),
            to: request.to.unwrap_or(i64::MAX),
            points: request.points.unwrap_or(DEFAULT_POINTS),
            superseded: request.superseded,
            wall_times: wants(Field::WallTimesSecs),
        };
        let mut series = Vec::with_capacity(request.series.len());
        for key in &request.series {
            series.push(
                match self.select(key, range).and_then(|found| found.read()) {
                    Ok(mut one) => {
                        // For raw points, min and max are the values themselves: not sent twice.
                        if !min || !one.cut {
                            one.min.clear();
                        }
                        if !max || !one.cut {
                            one.max.clear();
                        }
                        Some(one)
                    }
                    Err(ReadError::UnknownRun(_) | ReadError::UnknownTag { .. }) => None,
                    Err(storage) => return Err(storage),
                },
            );
        }
        Ok(ScalarsAnswer { seq, series })
    }

    fn select(&self, key: &SeriesKey, range: Range) -> Result<Selection, ReadError> {
        let writers = self
            .run(&key.run)?
            .numbered_writers(key.rank, &key.tag, &self.0.store);
        let mut writers = writers.into_iter();
        let writer = writers.find(|writer| writer.name.as_deref() == key.writer.as_deref());
        let writer = writer.ok_or_else(|| ReadError::UnknownTag {
            run: key.run.clone(),
            kind: Kind::Scalars,
            tag: key.tag.clone(),
            rank: key.rank,
        })?;
        Ok(Selection {
            index: self.clone(),
            attempts: writer.attempts,
            range,
        })
    }
}

/// A range of one series, not yet read.
pub struct Selection {
    index: Index,
    attempts: Vec<Attempt>,
    range: Range,
}

impl Selection {
    /// True if reading it takes less time than waking another thread: at most one chunk, which is in memory if it was
    /// requested recently.
    pub fn is_short(&self) -> bool {
        self.attempts
            .iter()
            .map(|attempt| attempt.part.chunks())
            .sum::<usize>()
            <= 1
    }

    /// Reads its points.
    pub fn read(&self) -> Result<Series, ReadError> {
        reader::read(&self.attempts, &self.range, &self.index.0.store)
    }
}

/// Write access for [`ingest`](crate::ingest).
impl Index {
    /// Opens the index of these base directories; stored data is available when this returns.
    pub(crate) fn open(cache_dir: &Path, base_dirs: &[PathBuf]) -> std::io::Result<Self> {
        let folder = store::folder(cache_dir, base_dirs);
        let (store, meta, opened) = Store::open(&folder)?;
        let note = match opened {
            Opening::AsLeft | Opening::New => None,
            Opening::Rebuilt => Some(
                "The index was of another version or not whole, and is rebuilt from the files. Nothing is lost."
                    .to_owned(),
            ),
            Opening::Temporary(reason) => Some(format!(
                "The index {} cannot be used: {reason}. This server keeps one of its own until it ends.",
                folder.display()
            )),
        };
        let notices = Notices::new();
        if let Some(note) = note {
            notices.add_message(note);
        }
        let index = Self(Arc::new(Inner {
            store,
            catalog: Catalog::default(),
            next_file: AtomicU64::new(meta.next_file),
            next_part: AtomicU64::new(meta.next_part),
            progress: Mutex::default(),
            records: AtomicU64::new(0),
            committed_records: AtomicU64::new(0),
            sealed_bytes: AtomicUsize::new(0),
            recordings: RwLock::default(),
            ordered_names: Mutex::default(),
            notices,
        }));
        index.load();
        index.set_progress(Ingest::default());
        Ok(index)
    }

    fn load(&self) {
        let Ok(files) = self.0.store.load() else {
            return;
        };
        let mut records = 0;
        for store::StoredFile { id, record, parts } in files {
            let parts = parts.into_iter().map(|(record, metas)| {
                part::Part::stored(
                    record.part,
                    record.tag.name,
                    record.tag.kind,
                    record.counted,
                    metas,
                )
            });
            let source = Source::stored(id, record, parts);
            source.with_state(|state| {
                state.fed_bytes = state.offset;
                state.committed_records = state.records;
                records += state.records;
            });
            self.0.catalog.add(Arc::new(source));
        }
        self.0.records.store(records, Ordering::Release);
        self.0.committed_records.store(records, Ordering::Release);
    }

    /// True if stored data could not be read: [`Index::start_over`] is due.
    pub(crate) fn is_broken(&self) -> bool {
        self.0.store.is_broken()
    }

    /// Clears everything, to read all files again.
    pub(crate) fn start_over(&self) {
        self.0.catalog.clear();
        self.0.records.store(0, Ordering::Release);
        self.0.committed_records.store(0, Ordering::Release);
        self.0.sealed_bytes.store(0, Ordering::Release);
        match self.0.store.clear() {
            Ok(()) => self.0.notices.add_message(
                "The index was damaged and is rebuilt from the files. Nothing is lost.".to_owned(),
            ),
            Err(e) => self
                .0
                .notices
                .add_message(format!("The index is damaged and cannot be rebuilt: {e}")),
        }
    }

    /// All sources, by run and path.
    pub(crate) fn sources(&self) -> Vec<Arc<Source>> {
        self.0.catalog.sources()
    }

    /// Adds a source, not read yet.
    pub(crate) fn add(&self, place: Place, format: Format, identity: Identity) -> Arc<Source> {
        let id = self.0.next_file.fetch_add(1, Ordering::Relaxed);
        let source = Arc::new(Source::new(id, place, format, identity));
        self.0.catalog.add(Arc::clone(&source));
        source
    }

    /// Updates the name of a source's file.
    pub(crate) fn move_to(&self, source: &Arc<Source>, place: Place) {
        self.0.catalog.remove(source);
        source.move_to(place);
        self.0.catalog.add(Arc::clone(source));
    }

    /// Removes a source and all its data. No worker may publish into it any more.
    pub(crate) fn remove(&self, source: &Arc<Source>) {
        self.0.catalog.remove(source);
        self.0
            .records
            .fetch_sub(source.state().records, Ordering::AcqRel);
        let parts: Vec<_> = source.parts().iter().map(|part| part.id).collect();
        let mut batch = Batch::default();
        let removed = self
            .0
            .store
            .remove_file(source.id, &parts, &mut batch)
            .and_then(|()| self.0.store.apply(batch, self.meta()));
        if let Err(e) = removed {
            tracing::warn!("cannot forget {}: {e}", source.place().path);
        }
        self.count_committed();
    }

    /// Makes a block available.
    pub(crate) fn publish(&self, source: &Source, block: &Block, staging: &mut Staging) {
        let next_part = || self.0.next_part.fetch_add(1, Ordering::Relaxed);
        let (records, sealed) = source.publish(block, staging, &self.0.store, next_part);
        self.0.sealed_bytes.fetch_add(sealed, Ordering::Relaxed);
        self.0.records.fetch_add(records, Ordering::AcqRel);
    }

    /// Compresses the open chunks of a source that was read to its end, after a large read.
    pub(crate) fn pack(&self, source: &Source) {
        let sealed = source.pack();
        self.0.sealed_bytes.fetch_add(sealed, Ordering::Relaxed);
    }

    /// Size of sealed chunks in memory that wait for a commit.
    pub(crate) fn sealed_bytes(&self) -> usize {
        self.0.sealed_bytes.load(Ordering::Relaxed)
    }

    /// Number of records that the next start would read again after a crash.
    pub(crate) fn uncommitted_records(&self) -> u64 {
        let records = self.0.records.load(Ordering::Relaxed);
        records.saturating_sub(self.0.committed_records.load(Ordering::Relaxed))
    }

    fn meta(&self) -> Meta {
        Meta::now(
            self.0.next_file.load(Ordering::Relaxed),
            self.0.next_part.load(Ordering::Relaxed),
        )
    }

    /// Makes published data durable, with their offsets; returns the number of sources written. After the first failure
    /// nothing is written: data stays in memory, and the error is the same each time.
    pub(crate) fn commit(&self) -> Result<usize, ReadError> {
        self.0.sealed_bytes.store(0, Ordering::Relaxed);
        self.0.store.check_open()?;
        let mut batch = Batch::default();
        let mut committing = Vec::new();
        let mut result = Ok(());
        let mut write = |batch| {
            if result.is_ok() {
                result = self.0.store.apply(batch, self.meta());
            }
        };
        for source in self.0.catalog.sources() {
            if let Some(part) = source.commit(&mut batch, &mut write) {
                committing.push((source, part));
            }
            if batch.is_full() {
                write(std::mem::take(&mut batch));
            }
        }
        let written = committing.len();
        if written > 0 {
            write(batch);
            let result = result.and_then(|()| self.0.store.flush());
            for (source, part) in committing {
                if result.is_ok() {
                    source.with_state(|state| state.committed_records = part.records);
                    part.done();
                } else {
                    part.failed();
                    source.mark_dirty();
                }
            }
            result?;
            self.count_committed();
        }
        Ok(written)
    }

    fn count_committed(&self) {
        let committed = self
            .0
            .catalog
            .sources()
            .iter()
            .map(|s| s.with_state(|state| state.committed_records))
            .sum();
        self.0.committed_records.store(committed, Ordering::Release);
    }

    /// Sets the progress for [`Index::ingest`].
    pub(crate) fn set_progress(&self, ingest: Ingest) {
        let runs = self.count_runs();
        let mut progress = self.0.progress.lock();
        (progress.ingest, progress.runs) = (ingest, runs);
        drop(progress);
        self.0.notices.set_ingest(self.ingest());
    }

    /// Announces what was published since the last notice, if anything was, or if `runs_changed`.
    pub(crate) fn announce(&self, runs_changed: bool) {
        let mut runs: Vec<RunChange> = Vec::new();
        for (run, sources) in self.0.catalog.sources_of_runs() {
            let touched = sources.iter().filter_map(|source| source.take_touched());
            let touched: Vec<_> = touched.collect();
            if touched.is_empty() {
                continue;
            }
            // Ranks of unequal steps grow at different times: the step is that of all files.
            let steps = sources
                .iter()
                .filter_map(|source| source.with_state(|state| state.last_step));
            let tags = touched.iter().flat_map(|part| &part.tags);
            runs.push(RunChange {
                run: run.to_string(),
                last_step: steps.max(),
                tags: tags.map(ToString::to_string).collect(),
                tags_changed: touched.iter().any(|part| part.new_tags),
            });
        }
        if runs.is_empty() && !runs_changed {
            return;
        }
        for change in &mut runs {
            change.tags.sort_unstable();
            change.tags.dedup();
            if change.tags.len() > MAX_NOTICE_TAGS
                || change.tags.iter().map(String::len).sum::<usize>() > 16 << 10
            {
                change.tags.clear();
            }
        }
        self.0.notices.set_ingest(self.ingest());
        self.0.notices.announce(runs, runs_changed);
    }
}
