//! A source file: where it is, how far it is read, what is wrong with it, and the parts it has.
//!
//! One worker at a time publishes into a source, under its state lock; a commit takes the same lock, so what it writes
//! and the offset it came from belong together.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use trainscope_api::runs::MAX_HPARAMS;
use trainscope_format::hparams::HparamValue;
use trainscope_format::lineage::LineageValue;
use trainscope_format::{
    Body, Checkpoint, Damage, Format, Hparams, Kind, Lineage, RecordBatch, SessionStart, TagInfo,
};

use super::chunk::Points;
use super::part::{Part, PartId, Sealed};
use super::store::{Batch, PartRecord, Store};

/// Which file on disk, beyond its name: device and inode where the system has them.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub(crate) struct Identity {
    /// Device number.
    pub(crate) device: u64,
    /// Inode number; 0 where the system has none.
    pub(crate) inode: u64,
}

/// Where a file belongs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Place {
    /// The run it is part of.
    pub(crate) run: Arc<str>,
    /// Path as shown: relative to its base directory, with `/` between parts.
    pub(crate) path: Arc<str>,
    /// The path to open, as bytes of the system.
    pub(crate) full: std::path::PathBuf,
    /// Rank that writes it.
    pub(crate) rank: u32,
}

/// First bytes of a file, to tell it from another one that took its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head(pub(crate) Vec<u8>);

/// Session starts remembered of a file. A program writes one each time it begins or resumes.
const MAX_SESSION_STARTS: usize = 10_000;

/// How many bytes a [`Head`] holds at most. Each event file differs in its first 64: they hold its wall time.
const HEAD_BYTES: usize = 64;

/// The first bytes of a file.
pub(crate) fn head(file: &mut File) -> std::io::Result<Head> {
    let mut head = Vec::with_capacity(HEAD_BYTES);
    file.seek(SeekFrom::Start(0))?;
    file.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(Head(head))
}

/// What is stored of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FileRecord {
    place: Place,
    format: Format,
    identity: Identity,
    state: SourceState,
}

/// How far a file is read and what was found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SourceState {
    /// Size as last seen.
    pub(crate) len_bytes: u64,
    /// Time of last change as last seen.
    pub(crate) modified: Option<SystemTime>,
    /// True if it was longer at a later look.
    #[serde(skip)]
    pub(crate) has_grown: bool,
    /// Bytes fed to the decoder. After a restart: equal to `offset`.
    pub(crate) fed_bytes: u64,
    /// Bytes before this one are decoded and published.
    pub(crate) offset: u64,
    /// What the decoder remembers beside offset and tags.
    pub(crate) decoder: Vec<u8>,
    /// The first bytes.
    pub(crate) head: Head,
    /// First damage.
    pub(crate) first_damage: Option<Damage>,
    /// Damage at the end whose extent is not known yet.
    pub(crate) open_damage: Option<Damage>,
    /// Bytes in damaged stretches.
    pub(crate) skipped_bytes: u64,
    /// Whole records that hold nothing known.
    pub(crate) skipped_records: u64,
    /// Records that the program says it could not write.
    pub(crate) lost_records: u64,
    /// Records published.
    pub(crate) records: u64,
    /// How many of them the store holds.
    #[serde(skip)]
    pub(crate) committed_records: u64,
    /// Session starts, at most [`MAX_SESSION_STARTS`].
    pub(crate) session_starts: Vec<SessionStart>,
    /// Hyper-parameters that it says its run has.
    pub(crate) hparams: BTreeMap<String, HparamValue>,
    /// Records counted but not read, by kind.
    pub(crate) unread: BTreeMap<Kind, u64>,
    /// Earliest wall time of a record; NaN and 0 do not count.
    pub(crate) first_wall_time_secs: Option<f64>,
    /// Latest wall time of a record.
    pub(crate) last_wall_time_secs: Option<f64>,
    /// Highest step.
    pub(crate) last_step: Option<i64>,
    /// Why it cannot be opened or read.
    #[serde(skip)]
    pub(crate) unreadable: Option<String>,
    /// Whether it is on disk no more.
    #[serde(skip)]
    pub(crate) gone: bool,
}

/// What a decoder made of one stretch of a file.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The records.
    pub(crate) batch: RecordBatch,
    /// Bytes fed so far.
    pub(crate) fed_bytes: u64,
    /// The decoder's offset behind them.
    pub(crate) offset: u64,
    /// What the decoder remembers.
    pub(crate) decoder: Vec<u8>,
    /// Damage whose end has not been seen.
    pub(crate) open_damage: Option<Damage>,
}

/// One source file and what was read of it.
pub(crate) struct Source {
    /// Unique within one index.
    pub(super) id: u64,
    /// How it is read.
    pub(crate) format: Format,
    /// Which file it is.
    pub(crate) identity: Identity,
    place: RwLock<Place>,
    state: Mutex<SourceState>,
    parts: RwLock<Parts>,
    /// Whether it differs from what the store holds.
    dirty: AtomicBool,
    /// Whether something was published since the last notice, and whether there were new tags.
    touched: AtomicBool,
    new_tags: AtomicBool,
}

/// What was published since the last notice.
pub(super) struct Touched {
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

/// Points of one call grouped by tag; kept by the worker so that its memory is reused.
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

    /// Where it belongs.
    pub(crate) fn place(&self) -> Place {
        self.place.read().clone()
    }

    /// The file has another name now.
    pub(crate) fn move_to(&self, place: Place) {
        *self.place.write() = place;
        self.dirty.store(true, Ordering::Relaxed);
    }

    /// Whether a file that begins so can be this one, grown.
    pub(crate) fn is_same(&self, now: &Head) -> bool {
        now.0.starts_with(&self.state.lock().head.0)
    }

    /// A copy of its state.
    pub(crate) fn state(&self) -> SourceState {
        self.state.lock().clone()
    }

    /// Reads or changes its state. A change of what is stored must be followed by [`Source::mark_dirty`].
    pub(crate) fn with_state<T>(&self, f: impl FnOnce(&mut SourceState) -> T) -> T {
        f(&mut self.state.lock())
    }

    /// Its state differs from the stored one.
    pub(crate) fn mark_dirty(&self) {
        self.dirty.store(true, Ordering::Relaxed);
    }

    /// From where a new decoder goes on.
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

    /// Publishes a block; returns how many records became answerable and how many bytes were sealed.
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

    /// Packs what it holds in memory, since no more is expected soon; returns how many bytes were sealed.
    pub(super) fn pack(&self) -> usize {
        self.parts.read().list.iter().map(|part| part.pack()).sum()
    }

    /// What was published since the last call, if anything.
    pub(super) fn take_touched(&self) -> Option<Touched> {
        if !self.touched.swap(false, Ordering::Acquire) {
            return None;
        }
        let parts = self.parts.read();
        let touched = parts
            .list
            .iter()
            .filter(|part| part.touched.swap(false, Ordering::Relaxed));
        let tags = touched.map(|part| Arc::clone(&part.tag)).collect();
        Some(Touched {
            tags,
            new_tags: self.new_tags.swap(false, Ordering::Relaxed),
        })
    }

    /// Adds to `batch` what the store lacks; the returned parts are told when it is written.
    ///
    /// Full batches are written by `ahead`. They hold only chunks that no record counts yet, so that what is in the
    /// store is whole at any time: the record of the file and those of its tags are written last.
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
        let mut last = Vec::new();
        for (tag, part) in self.parts.read().list.iter().enumerate() {
            if !part.dirty.swap(false, Ordering::Relaxed) {
                continue;
            }
            let info = TagInfo {
                name: Arc::clone(&part.tag),
                kind: part.kind,
            };
            let record = PartRecord {
                part: part.id,
                tag: info,
                counted: part.counted(),
            };
            let (first, chunks) = part.to_commit();
            last.push((tag, record, first));
            parts.push((Arc::clone(part), chunks));
        }
        // What is written is gathered: whoever asks need not wait for the disk.
        drop(state);
        for ((_, part, first), (_, chunks)) in last.iter().zip(&parts) {
            // The first may be in the store already, shorter, and counted as that.
            for (number, chunk) in (*first..).zip(chunks).skip(1) {
                batch.chunk(part.part, number, chunk);
                if batch.is_full() {
                    ahead(std::mem::take(batch));
                }
            }
        }
        for ((tag, record, first), (_, chunks)) in last.iter().zip(&parts) {
            if let Some(chunk) = chunks.first() {
                batch.chunk(record.part, *first, chunk);
            }
            batch.part(self.id, u32::try_from(*tag).unwrap_or(u32::MAX), record);
        }
        batch.file(self.id, &record);
        Some(Committing { parts, records })
    }
}

/// What a commit holds of one source.
pub(super) struct Committing {
    parts: Vec<(Arc<Part>, Vec<Arc<Sealed>>)>,
    pub(super) records: u64,
}

impl Committing {
    /// The commit was not written: its parts differ from the store as before.
    pub(super) fn failed(self) {
        for (part, _) in self.parts {
            part.dirty.store(true, Ordering::Relaxed);
        }
    }

    /// The commit is durable.
    pub(super) fn done(self) {
        for (part, chunks) in self.parts {
            part.committed(&chunks);
        }
    }
}

/// Groups a batch's scalars by tag and appends them; returns how many bytes were sealed.
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

/// What lineage says that others write as hyper-parameters, under the names that those have.
fn of_lineage(lineage: &Lineage) -> Vec<(String, HparamValue)> {
    let text = |value: &String| HparamValue::Text(value.clone());
    let count = |value: &i64| HparamValue::Number(*value as f64);
    let values = match lineage {
        Lineage::Train(train) => vec![
            ("optimizer", train.optimizer.as_ref().map(text)),
            (
                "learning_rate",
                train.learning_rate.map(HparamValue::Number),
            ),
            ("loss_function", train.loss_function.as_ref().map(text)),
            ("epochs", train.epochs.as_ref().map(count)),
            ("batch_size", train.batch_size.as_ref().map(count)),
            ("network", train.network.as_ref().map(text)),
        ],
        Lineage::UserDefined(info) => {
            let value = |value: &LineageValue| match value {
                LineageValue::Text(text) => Some(HparamValue::Text(text.clone())),
                LineageValue::Bool(yes) => Some(HparamValue::Bool(*yes)),
                LineageValue::Int(number) => Some(HparamValue::Number(*number as f64)),
                LineageValue::Number(number) => Some(HparamValue::Number(*number)),
                LineageValue::Texts(_) | LineageValue::Map(_) => None,
            };
            let values = info.values.iter();
            return values
                .filter_map(|(name, v)| Some((name.clone(), value(v)?)))
                .collect();
        }
        Lineage::Evaluation(_) | Lineage::Dataset(_) => Vec::new(),
    };
    let known = values.into_iter();
    known
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

impl SourceState {
    /// Takes note of a batch's records, times, steps and damages.
    fn see(&mut self, batch: &RecordBatch) {
        self.records += batch.len_records();
        self.skipped_records += batch.skipped_records;
        let free = MAX_SESSION_STARTS.saturating_sub(self.session_starts.len());
        let starts = batch.session_starts.iter().take(free);
        self.session_starts.extend(starts);
        for record in &batch.records {
            match &record.body {
                Body::Loss(loss) => {
                    self.lost_records = self.lost_records.saturating_add(loss.records);
                }
                Body::Hparams(Hparams::SessionStart(start)) => {
                    self.note_hparams(start.values.iter().cloned());
                }
                Body::Lineage(lineage) => self.note_hparams(of_lineage(lineage)),
                _ => {}
            }
        }
        self.skipped_bytes += batch
            .damages
            .iter()
            .map(|damage| damage.len_bytes)
            .sum::<u64>();
        if self.first_damage.is_none() {
            self.first_damage = batch.damages.first().cloned();
        }
        let records = || batch.records.iter().map(|r| (r.step, r.wall_time_secs));
        let unread = || batch.unread.iter().map(|r| (r.step, r.wall_time_secs));
        let scalars = &batch.scalars;
        let steps = scalars.steps.iter().copied();
        let steps = steps.chain(records().chain(unread()).map(|(step, _)| step));
        self.last_step = self.last_step.max(steps.max());
        let wall_times = scalars.wall_times_secs.iter().copied();
        let wall_times = wall_times.chain(records().chain(unread()).map(|(_, time)| time));
        let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
        wall_times
            .filter(|time| time.is_finite() && *time != 0.0)
            .for_each(|time| {
                first = first.min(time);
                last = last.max(time);
            });
        if first <= last {
            self.first_wall_time_secs =
                Some(self.first_wall_time_secs.map_or(first, |t| t.min(first)));
            self.last_wall_time_secs = Some(self.last_wall_time_secs.map_or(last, |t| t.max(last)));
        }
    }

    fn note_hparams(&mut self, values: impl IntoIterator<Item = (String, HparamValue)>) {
        for (name, value) in values {
            if self.hparams.len() < MAX_HPARAMS || self.hparams.contains_key(&name) {
                self.hparams.insert(name, value);
            }
        }
    }

    /// Takes note of the size of the file: one that is larger than it was is being written.
    pub(crate) fn resize(&mut self, len_bytes: u64) {
        self.has_grown |= (1..len_bytes).contains(&self.len_bytes);
        self.len_bytes = len_bytes;
    }

    /// Where the first damage begins and what is wrong there.
    pub(crate) fn damage(&self) -> Option<&Damage> {
        self.first_damage.as_ref().or(self.open_damage.as_ref())
    }

    /// Bytes in damaged stretches, the open one included.
    pub(crate) fn damaged_bytes(&self) -> u64 {
        self.skipped_bytes
            + self
                .open_damage
                .as_ref()
                .map_or(0, |damage| damage.len_bytes)
    }
}
