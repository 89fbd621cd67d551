//! Source files: location, reading position, errors, and parts.
//!
//! One worker at a time publishes into a source, under its state lock; a commit takes the same lock: the written data
//! and their offset are consistent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashMap;
use trainscope_format::{Checkpoint, Format, Kind, RecordBatch, TagInfo};

use super::chunk::Points;
use super::part::Part;
use super::state::{FileRecord, SourceState};
use super::store::{Batch, PARTS, PartId, PartRecord, SealedChunk, Store};
use crate::discovery::file::{FileId, Identity, OpenFile, Place};
use crate::reader::Block;

/// One source file and its decoded data.
pub(crate) struct Source {
    /// Unique within one index.
    pub(super) id: u64,
    pub(crate) format: Format,
    pub(crate) identity: Identity,
    place: RwLock<Place>,
    state: Mutex<SourceState>,
    parts: RwLock<Parts>,
    /// True if it differs from the stored record.
    dirty: AtomicBool,
    /// True if data was published since the last notice, and true if there are new tags.
    touched: AtomicBool,
    new_tags: AtomicBool,
}

/// Data published since the last notice.
pub(super) struct UnannouncedData {
    pub(super) tags: Vec<Arc<str>>,
    pub(super) new_tags: bool,
}

#[derive(Default)]
struct Parts {
    /// By the decoder's tag id.
    list: Vec<Arc<Part>>,
    by_name: FxHashMap<(Kind, Arc<str>), u32>,
}

impl Parts {
    fn push(&mut self, part: Arc<Part>) {
        let at = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.by_name.insert((part.kind, Arc::clone(&part.tag)), at);
        self.list.push(part);
    }
}

/// Points of one call grouped by tag; owned by the worker to reuse its memory.
#[derive(Default)]
pub(crate) struct Staging {
    by_tag: Vec<Points>,
    touched: Vec<u32>,
}

impl Source {
    pub(super) fn new(id: u64, place: Place, format: Format, identity: Identity) -> Self {
        Self {
            id,
            format,
            identity,
            place: RwLock::new(place),
            state: Mutex::default(),
            parts: RwLock::default(),
            dirty: AtomicBool::new(true),
            touched: AtomicBool::new(true),
            new_tags: AtomicBool::new(false),
        }
    }

    pub(super) fn stored(id: u64, record: FileRecord, parts: impl Iterator<Item = Part>) -> Self {
        let mut list = Parts::default();
        parts.for_each(|part| list.push(Arc::new(part)));
        Self {
            id,
            format: record.format,
            identity: record.identity,
            place: RwLock::new(record.place),
            state: Mutex::new(record.state),
            parts: RwLock::new(list),
            dirty: AtomicBool::new(false),
            touched: AtomicBool::new(false),
            new_tags: AtomicBool::new(false),
        }
    }

    /// Run, rank and path.
    pub(crate) fn place(&self) -> Place {
        self.place.read().clone()
    }

    /// Updates the location after a rename.
    pub(crate) fn move_to(&self, place: Place) {
        *self.place.write() = place;
        self.dirty.store(true, Ordering::Relaxed);
    }

    /// True if the opened file is this one, grown or unchanged.
    pub(crate) fn is_same(&self, now: &OpenFile) -> bool {
        let state = self.state.lock();
        let known = FileId {
            identity: self.identity,
            head: state.head.clone(),
        };
        now.continues(&known, state.fed_bytes)
    }

    /// A copy of its state.
    pub(crate) fn state(&self) -> SourceState {
        self.state.lock().clone()
    }

    /// Reads or changes its state. After a change of stored data, call [`Source::mark_dirty`].
    pub(crate) fn with_state<T>(&self, f: impl FnOnce(&mut SourceState) -> T) -> T {
        f(&mut self.state.lock())
    }

    /// Marks its state as different from the stored one.
    pub(crate) fn mark_dirty(&self) {
        self.dirty.store(true, Ordering::Relaxed);
    }

    /// Position at which a new decoder resumes.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        let state = self.state.lock();
        let parts = self.parts.read();
        let tags = parts
            .list
            .iter()
            .map(|part| TagInfo {
                name: Arc::clone(&part.tag),
                kind: part.kind,
            })
            .collect();
        Checkpoint {
            offset: state.offset,
            tags,
            state: state.decoder.clone(),
        }
    }

    pub(super) fn parts(&self) -> Vec<Arc<Part>> {
        self.parts.read().list.clone()
    }

    pub(super) fn parts_len(&self) -> usize {
        self.parts.read().list.len()
    }

    pub(super) fn part(&self, kind: Kind, tag: &str) -> Option<Arc<Part>> {
        let parts = self.parts.read();
        let at = parts.by_name.get(&(kind, Arc::from(tag)))?;
        parts.list.get(*at as usize).cloned()
    }

    /// Publishes a block; returns the number of records made available and of bytes sealed.
    pub(super) fn publish(
        &self,
        block: &Block,
        staging: &mut Staging,
        store: &Store,
        next_part: impl Fn() -> PartId,
    ) -> (u64, usize) {
        let mut state = self.state.lock();
        let batch = &block.batch;
        if !batch.new_tags.is_empty() {
            self.new_tags.store(true, Ordering::Relaxed);
            let mut parts = self.parts.write();
            for tag in &batch.new_tags {
                parts.push(Arc::new(Part::new(
                    next_part(),
                    Arc::clone(&tag.name),
                    tag.kind,
                )));
            }
        }
        let parts = self.parts.read();
        let sealed = stage(batch, &parts.list, staging, store);
        let mut sealed = sealed;
        for record in &batch.records {
            let body = postcard::to_allocvec(&record.body);
            if let (Some(part), Ok(body)) = (parts.list.get(record.tag.0 as usize), body) {
                let (step, time) = (record.step, record.wall_time_secs);
                sealed += part.append_body(step, time, body.into(), store);
            }
        }
        for record in &batch.unread {
            if let Some(part) = parts.list.get(record.tag.0 as usize) {
                part.count(record.step);
                *state.unread.entry(part.kind).or_default() += 1;
            }
        }
        drop(parts);

        state.see(batch);
        state.fed_bytes = block.fed_bytes;
        state.offset = block.offset;
        state.len_bytes = state.len_bytes.max(block.fed_bytes);
        state.decoder.clone_from(&block.decoder);
        state.open_damage.clone_from(&block.open_damage);
        self.mark_dirty();
        self.touched.store(true, Ordering::Release);
        (batch.len_records(), sealed)
    }

    /// Seals its open chunks, since no more data is expected soon; returns the number of bytes sealed.
    pub(super) fn pack(&self) -> usize {
        self.parts.read().list.iter().map(|part| part.pack()).sum()
    }

    /// Takes the data published since the last call, if any.
    pub(super) fn take_touched(&self) -> Option<UnannouncedData> {
        if !self.touched.swap(false, Ordering::Acquire) {
            return None;
        }
        let parts = self.parts.read();
        let touched = parts
            .list
            .iter()
            .filter(|part| part.touched.swap(false, Ordering::Relaxed));
        let tags = touched.map(|part| Arc::clone(&part.tag)).collect();
        Some(UnannouncedData {
            tags,
            new_tags: self.new_tags.swap(false, Ordering::Relaxed),
        })
    }

    /// Adds uncommitted data to `batch`; the returned parts are to be notified after the write.
    ///
    /// Full batches are written by `ahead`. They hold only chunks that no record counts yet: the store is consistent at
    /// any time: the record of the file and those of its tags are written last.
    pub(super) fn commit(
        &self,
        batch: &mut Batch,
        mut ahead: impl FnMut(Batch),
    ) -> Option<Committing> {
        if !self.dirty.swap(false, Ordering::Relaxed) {
            return None;
        }
        let state = self.state.lock();
        let record = FileRecord {
            place: self.place(),
            format: self.format,
            identity: self.identity,
            state: state.clone(),
        };
        let records = state.records;
        let mut parts = Vec::new();
        let mut groups = Vec::new();
        for (group, all) in (0..).zip(self.parts.read().list.chunks(PARTS)) {
            let before = parts.len();
            for part in all {
                if part.dirty.swap(false, Ordering::Relaxed) {
                    let (first, chunks) = part.to_commit();
                    parts.push((Arc::clone(part), first, chunks));
                }
            }
            if parts.len() > before {
                groups.push((group, all.iter().map(|part| part.record()).collect()));
            }
        }
        // All data is collected: readers need not wait for the disk.
        drop(state);
        let mut last = Vec::new();
        for (part, first, chunks) in &parts {
            let mut chunks = (*first..).zip(chunks);
            // The first may be in the store already, shorter, and counted as such.
            if part.is_stored()
                && let Some((number, chunk)) = chunks.next()
            {
                last.push((part.id, number, chunk));
            }
            for (number, chunk) in chunks {
                batch.chunk(part.id, number, chunk);
                if batch.is_full() {
                    ahead(std::mem::take(batch));
                }
            }
        }
        for (part, number, chunk) in last {
            batch.chunk(part, number, chunk);
        }
        for (group, records) in groups {
            let records: Vec<PartRecord> = records;
            batch.parts(self.id, group, &records);
        }
        batch.file(self.id, &record);
        Some(Committing { parts, records })
    }
}

/// Part of a commit that belongs to one source.
pub(super) struct Committing {
    /// With the number of the first chunk, and the chunks.
    parts: Vec<(Arc<Part>, u32, Vec<Arc<SealedChunk>>)>,
    pub(super) records: u64,
}

impl Committing {
    /// Restores the dirty state after a failed commit.
    pub(super) fn failed(self) {
        for (part, ..) in self.parts {
            part.dirty.store(true, Ordering::Relaxed);
        }
    }

    /// Finishes a durable commit.
    pub(super) fn done(self) {
        for (part, _, chunks) in self.parts {
            part.committed(&chunks);
        }
    }
}

/// Groups a batch's scalars by tag and appends them; returns the number of bytes sealed.
fn stage(batch: &RecordBatch, parts: &[Arc<Part>], staging: &mut Staging, store: &Store) -> usize {
    if staging.by_tag.len() < parts.len() {
        staging.by_tag.resize_with(parts.len(), Points::default);
    }
    let columns = &batch.scalars;
    for (i, tag) in columns.tags.iter().enumerate() {
        let Some(points) = staging.by_tag.get_mut(tag.0 as usize) else {
            continue;
        };
        if points.len() == 0 {
            staging.touched.push(tag.0);
        }
        points.push(
            columns.steps[i],
            columns.wall_times_secs[i],
            columns.values[i],
        );
    }
    let mut sealed = 0;
    for tag in staging.touched.drain(..) {
        let (Some(part), Some(points)) = (
            parts.get(tag as usize),
            staging.by_tag.get_mut(tag as usize),
        ) else {
            continue;
        };
        sealed += part.append(points, store);
        points.clear();
    }
    sealed
}
