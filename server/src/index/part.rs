//! Parts: the points of one tag in one file, published point by point and sealed chunk by chunk.
//!
//! Chunks are numbered from 0. The first `stored` are in the store alone, the next ones are sealed and wait in memory
//! for a commit, the points after them are open. Readers see all three at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, RwLock};
use trainscope_analysis::restart::Rewinds;
use trainscope_format::{Kind, TagInfo};

use super::ReadError;
use super::chunk::{self, CHUNK, ChunkMeta, Points, Want};
use super::store::{PartCounts, PartId, PartRecord, SealedChunk, Store};

/// The points of one tag in one file.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) id: PartId,
    pub(super) tag: Arc<str>,
    pub(super) kind: Kind,
    /// True if data was published since the last commit.
    pub(super) dirty: AtomicBool,
    /// True if data was published since the last notice.
    pub(super) touched: AtomicBool,
    /// True if the store has a record of it.
    is_stored: AtomicBool,
    data: RwLock<PartData>,
    /// Lowest step above the first one, if computed; ascending steps never change it.
    pub(super) next_step: Mutex<Option<i64>>,
    /// Rewinds of the first `live.len()` points; computed only if steps go back.
    pub(super) rewinds: Mutex<Option<Arc<Rewinds>>>,
}

#[derive(Debug, Default)]
struct PartData {
    counted: PartCounts,
    metas: Vec<ChunkMeta>,
    stored: usize,
    sealed: Vec<Arc<SealedChunk>>,
    open: Points,
}

impl PartData {
    /// Seals the open points, if any; returns the size of the chunk in bytes.
    fn seal(&mut self) -> usize {
        if self.open.len() == 0 {
            return 0;
        }
        let (meta, summaries) = chunk::encode_summaries(&self.open);
        let columns = chunk::encode(&self.open);
        let len_bytes = columns.len() + summaries.len();
        // Tags of short runs have one chunk: room for four would take 80 MB in 10,000 runs.
        if self.metas.is_empty() {
            self.metas.reserve_exact(1);
            self.sealed.reserve_exact(1);
        }
        self.sealed.push(Arc::new(SealedChunk {
            columns: columns.as_slice().into(),
            summaries: summaries.as_slice().into(),
        }));
        self.metas.push(meta);
        self.open.clear();
        len_bytes
    }

    fn seal_if_full(&mut self) -> usize {
        if self.open.is_full() { self.seal() } else { 0 }
    }

    /// Reopens a last chunk that is not full, to append points.
    fn thaw(&mut self, id: PartId, store: &Store) {
        let full = |meta: &ChunkMeta| meta.summary.count >= CHUNK as u64;
        if self.open.len() > 0 || self.metas.last().is_none_or(full) {
            return;
        }
        let open = &mut self.open;
        let read = match self.sealed.last() {
            Some(sealed) => chunk::decode(&sealed.columns, Want::All, open),
            None => store
                .columns(id, number(self.stored - 1), |bytes| {
                    chunk::decode(bytes, Want::All, open)
                })
                .ok(),
        };
        if read.is_some() && !self.open.is_full() {
            self.metas.pop();
            if self.sealed.pop().is_none() {
                self.stored -= 1;
            }
        } else {
            // The store reports the error to all readers; a short chunk in the middle is read like any other.
            self.open.clear();
        }
    }
}

/// Location of the columns of a chunk.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Stored(u32),
    Sealed(Arc<SealedChunk>),
    Open(Arc<Points>),
}

/// A chunk as a reader sees it.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) part: PartId,
    pub(super) meta: ChunkMeta,
    pub(super) place: Place,
}

impl Piece {
    /// Reads the points of a chunk.
    pub(super) fn points(&self, want: Want, store: &Store) -> Result<Points, ReadError> {
        let mut points = Points::default();
        match &self.place {
            Place::Open(open) => return Ok(Points::clone(open)),
            Place::Sealed(sealed) => {
                chunk::decode(&sealed.columns, want, &mut points)
                    .ok_or_else(|| ReadError::Storage("a chunk is damaged".to_owned()))?;
            }
            Place::Stored(number) => {
                store.columns(self.part, *number, |bytes| {
                    chunk::decode(bytes, want, &mut points)
                })?;
            }
        }
        // A partial chunk may have been rewritten with more points since its metadata was read.
        let n = usize::try_from(self.meta.summary.count).unwrap_or(usize::MAX);
        points.steps.truncate(n);
        points.wall_times_secs.truncate(n);
        points.values.truncate(n);
        points.bodies.truncate(n);
        Ok(points)
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

impl Part {
    pub(super) fn new(id: PartId, tag: Arc<str>, kind: Kind) -> Self {
        Self {
            id,
            tag,
            kind,
            dirty: AtomicBool::new(true),
            touched: AtomicBool::new(true),
            is_stored: AtomicBool::new(false),
            data: RwLock::default(),
            next_step: Mutex::default(),
            rewinds: Mutex::default(),
        }
    }

    /// Restores a part from the store.
    pub(super) fn stored(
        id: PartId,
        tag: Arc<str>,
        kind: Kind,
        counted: PartCounts,
        metas: Vec<ChunkMeta>,
    ) -> Self {
        let part = Self::new(id, tag, kind);
        part.dirty.store(false, Ordering::Relaxed);
        part.touched.store(false, Ordering::Relaxed);
        part.is_stored.store(true, Ordering::Relaxed);
        *part.data.write() = PartData {
            counted,
            stored: metas.len(),
            metas,
            ..PartData::default()
        };
        part
    }

    /// Publishes points that follow those published before; returns the number of bytes sealed.
    pub(super) fn append(&self, points: &Points, store: &Store) -> usize {
        let data = &mut *self.data.write();
        self.dirty.store(true, Ordering::Relaxed);
        self.touched.store(true, Ordering::Relaxed);
        let (Some(min), Some(max)) = (points.steps.iter().min(), points.steps.iter().max()) else {
            return 0;
        };
        data.counted.add(points.len() as u64, *min, *max);
        data.thaw(self.id, store);
        let (mut from, mut sealed) = (0, 0);
        while from < points.len() {
            let to = points.len().min(from + CHUNK - data.open.len());
            data.open.extend(points, from, to);
            from = to;
            sealed += data.seal_if_full();
        }
        sealed
    }

    /// Like [`Part::append`], for one record with a body.
    pub(super) fn append_body(
        &self,
        step: i64,
        wall_time_secs: f64,
        body: Box<[u8]>,
        store: &Store,
    ) -> usize {
        let data = &mut *self.data.write();
        self.dirty.store(true, Ordering::Relaxed);
        self.touched.store(true, Ordering::Relaxed);
        data.counted.add(1, step, step);
        data.thaw(self.id, store);
        data.open.push_body(step, wall_time_secs, body);
        data.seal_if_full()
    }

    /// Counts records whose bodies are not stored.
    pub(super) fn count(&self, step: i64) {
        self.data.write().counted.add(1, step, step);
        self.dirty.store(true, Ordering::Relaxed);
        self.touched.store(true, Ordering::Relaxed);
    }

    pub(super) fn counted(&self) -> PartCounts {
        self.data.read().counted
    }

    /// First and last wall time, if there are points.
    pub(super) fn wall_times_secs(&self) -> Option<(f64, f64)> {
        let data = self.data.read();
        let first = data.metas.first().map(|m| m.first_wall_time_secs);
        let last = data.metas.last().map(|m| m.summary.last_wall_time_secs);
        Some((
            first.or_else(|| data.open.wall_times_secs.first().copied())?,
            data.open.wall_times_secs.last().copied().or(last)?,
        ))
    }

    /// True if there are points, not only a count.
    pub(super) fn has_points(&self) -> bool {
        let data = self.data.read();
        !data.metas.is_empty() || data.open.len() > 0
    }

    /// Number of chunks, the open one included.
    pub(super) fn chunks(&self) -> usize {
        let data = self.data.read();
        data.metas.len() + usize::from(data.open.len() > 0)
    }

    /// Step and value of the last point.
    pub(super) fn last(&self) -> Option<(i64, f64)> {
        let data = self.data.read();
        let open = data
            .open
            .steps
            .last()
            .copied()
            .zip(data.open.values.last().copied());
        open.or_else(|| {
            data.metas
                .last()
                .map(|m| (m.summary.last_step, m.summary.last_value))
        })
    }

    /// All chunks in order, the open points last.
    pub(super) fn pieces(&self) -> Vec<Piece> {
        let data = self.data.read();
        let mut pieces = Vec::with_capacity(data.metas.len() + 1);
        for (i, meta) in data.metas.iter().enumerate() {
            let place = match i.checked_sub(data.stored).and_then(|i| data.sealed.get(i)) {
                Some(sealed) => Place::Sealed(Arc::clone(sealed)),
                None => Place::Stored(number(i)),
            };
            pieces.push(Piece {
                part: self.id,
                meta: *meta,
                place,
            });
        }
        if data.open.len() > 0 {
            let meta = ChunkMeta::of(&data.open);
            pieces.push(Piece {
                part: self.id,
                meta,
                place: Place::Open(Arc::new(data.open.clone())),
            });
        }
        pieces
    }

    /// Seals the open points, since no more are expected soon; returns the number of bytes sealed.
    pub(super) fn pack(&self) -> usize {
        let data = &mut *self.data.write();
        let sealed = data.seal();
        data.open = Points::default();
        sealed
    }

    /// Chunks to write so that the store has all published data, and the number of the first one. They are returned to
    /// [`Part::committed`] after the write.
    pub(super) fn to_commit(&self) -> (u32, Vec<Arc<SealedChunk>>) {
        self.pack();
        let data = self.data.read();
        (number(data.stored), data.sealed.clone())
    }

    /// Its record in the store, with the points published so far.
    pub(super) fn record(&self) -> PartRecord {
        PartRecord {
            part: self.id,
            tag: TagInfo {
                name: Arc::clone(&self.tag),
                kind: self.kind,
            },
            counted: self.counted(),
        }
    }

    /// True if the store has a record of it.
    pub(super) fn is_stored(&self) -> bool {
        self.is_stored.load(Ordering::Relaxed)
    }

    /// Drops committed chunks from memory, unless a last short one was reopened in the meantime.
    pub(super) fn committed(&self, chunks: &[Arc<SealedChunk>]) {
        self.is_stored.store(true, Ordering::Relaxed);
        let data = &mut *self.data.write();
        let same = data.sealed.iter().zip(chunks);
        let n = same.take_while(|(a, b)| Arc::ptr_eq(a, b)).count();
        data.sealed.drain(..n);
        data.stored += n;
        if data.sealed.is_empty() {
            // A burst (a cold start) leaves capacity for thousands.
            data.sealed = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_while_a_commit_is_written_stays_for_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let (store, ..) = Store::open(folder.path()).unwrap();
        let part = Part::new(0, "loss".into(), Kind::Scalars);
        let append = |n: i64| {
            let mut points = Points::default();
            (0..n).for_each(|step| points.push(step, 1e9, 0.5));
            part.append(&points, &store);
        };
        append(10);
        let (first, chunks) = part.to_commit();
        assert_eq!((first, chunks.len()), (0, 1));
        // Enough to fill the chunk that is being written, which makes it another one.
        append(2_000);
        part.committed(&chunks);
        let (first, chunks) = part.to_commit();
        assert_eq!((first, chunks.len()), (0, 2));
        part.committed(&chunks);
        let counts = part.pieces().into_iter().map(|p| p.meta.summary.count);
        assert_eq!(counts.collect::<Vec<_>>(), [1_024, 986]);
        assert_eq!(part.to_commit().1.len(), 0);
    }
}
