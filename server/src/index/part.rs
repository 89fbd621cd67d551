//! A part: what one file holds of one tag, published point by point and sealed chunk by chunk.
//!
//! Chunks are numbered from 0. The first `stored` are in the store alone, the next ones are sealed and wait in memory
//! to be committed, the points after them are open. Readers see all three at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::RwLock;
use trainscope_format::Kind;

use super::chunk::{self, CHUNK, ChunkMeta, Points, Want};
use super::store::Store;

/// Which part; unique within one index.
pub(super) type PartId = u64;

/// A sealed chunk that is not yet committed.
#[derive(Debug)]
pub(super) struct Sealed {
    pub(super) columns: Vec<u8>,
    pub(super) summaries: Vec<u8>,
}

impl Sealed {
    pub(super) fn of(points: &Points) -> (ChunkMeta, Arc<Self>) {
        let (meta, summaries) = chunk::encode_summaries(points);
        let columns = chunk::encode(points);
        (meta, Arc::new(Self { columns, summaries }))
    }
}

/// What is counted of a part whose bodies are not stored, and derived for scalars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Counted {
    pub(super) points: u64,
    pub(super) min_step: Option<i64>,
    pub(super) max_step: Option<i64>,
}

impl Counted {
    pub(super) fn add(&mut self, points: u64, min_step: i64, max_step: i64) {
        self.points += points;
        self.min_step = Some(self.min_step.map_or(min_step, |s| s.min(min_step)));
        self.max_step = Some(self.max_step.map_or(max_step, |s| s.max(max_step)));
    }
}

/// What one file holds of one tag.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) id: PartId,
    pub(super) tag: Arc<str>,
    pub(super) kind: Kind,
    /// Whether something was published since the last commit.
    pub(super) dirty: AtomicBool,
    /// Whether something was published since the last notice.
    pub(super) touched: AtomicBool,
    data: RwLock<PartData>,
}

#[derive(Debug, Default)]
struct PartData {
    counted: Counted,
    metas: Vec<ChunkMeta>,
    stored: usize,
    sealed: Vec<Arc<Sealed>>,
    open: Points,
}

impl PartData {
    /// Makes a chunk of the open points if they are enough; says how many chunks that made.
    fn seal_if_full(&mut self) -> usize {
        if !self.open.is_full() {
            return 0;
        }
        let (meta, chunk) = Sealed::of(&self.open);
        self.sealed.push(chunk);
        self.metas.push(meta);
        self.open.clear();
        1
    }
}

/// Where the columns of a chunk are.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Stored(u32),
    Sealed(Arc<Sealed>),
    Open(Arc<Points>),
}

/// A chunk as a reader sees it.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) part: PartId,
    pub(super) meta: ChunkMeta,
    pub(super) place: Place,
}

/// The stored form of a chunk, with the number it goes to.
pub(super) struct Commit {
    pub(super) number: u32,
    pub(super) chunk: Arc<Sealed>,
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
            data: RwLock::default(),
        }
    }

    /// A part as the store has it.
    pub(super) fn stored(
        id: PartId,
        tag: Arc<str>,
        kind: Kind,
        counted: Counted,
        metas: Vec<ChunkMeta>,
    ) -> Self {
        let part = Self::new(id, tag, kind);
        part.dirty.store(false, Ordering::Relaxed);
        part.touched.store(false, Ordering::Relaxed);
        *part.data.write() = PartData {
            counted,
            stored: metas.len(),
            metas,
            ..PartData::default()
        };
        part
    }

    /// Publishes points that follow those published before; returns how many chunks were sealed.
    pub(super) fn append(&self, points: &Points, store: &Store) -> usize {
        let data = &mut *self.data.write();
        self.dirty.store(true, Ordering::Relaxed);
        self.touched.store(true, Ordering::Relaxed);
        let (Some(min), Some(max)) = (points.steps.iter().min(), points.steps.iter().max()) else {
            return 0;
        };
        data.counted.add(points.len() as u64, *min, *max);
        thaw(self.id, data, store);
        let (mut from, mut sealed) = (0, 0);
        while from < points.len() {
            let to = points.len().min(from + CHUNK - data.open.len());
            data.open.extend(points, from, to);
            from = to;
            sealed += data.seal_if_full();
        }
        sealed
    }

    /// The same for one record with a body.
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
        thaw(self.id, data, store);
        data.open.push_body(step, wall_time_secs, body);
        data.seal_if_full()
    }

    /// Counts records whose bodies are not stored.
    pub(super) fn count(&self, step: i64) {
        self.data.write().counted.add(1, step, step);
        self.dirty.store(true, Ordering::Relaxed);
        self.touched.store(true, Ordering::Relaxed);
    }

    pub(super) fn counted(&self) -> Counted {
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

    /// Whether there is more than a count.
    pub(super) fn has_points(&self) -> bool {
        let data = self.data.read();
        !data.metas.is_empty() || data.open.len() > 0
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

    /// What must be written for the store to hold all that is published: sealed chunks, and the open points as a
    /// chunk that a later commit overwrites. [`Part::committed`] wants the extent back when it is written.
    pub(super) fn to_commit(&self) -> (Vec<Commit>, Extent) {
        let data = self.data.read();
        let mut commits: Vec<Commit> = data
            .sealed
            .iter()
            .enumerate()
            .map(|(i, chunk)| Commit {
                number: number(data.stored + i),
                chunk: Arc::clone(chunk),
            })
            .collect();
        let sealed = commits.len();
        let open = (data.open.len() > 0).then(|| {
            let (meta, chunk) = Sealed::of(&data.open);
            commits.push(Commit {
                number: number(data.metas.len()),
                chunk,
            });
            meta
        });
        (commits, Extent { sealed, open })
    }

    /// What [`Part::to_commit`] returned is in the store now and need not be in memory, unless it has grown since.
    pub(super) fn committed(&self, extent: Extent) {
        let data = &mut *self.data.write();
        data.sealed.drain(..extent.sealed);
        data.stored += extent.sealed;
        if data.sealed.is_empty() {
            // A burst (a cold start) leaves room for thousands behind.
            data.sealed = Vec::new();
            let as_committed = |meta: &ChunkMeta| meta.summary.count == data.open.len() as u64;
            if let Some(meta) = extent.open.filter(as_committed) {
                data.metas.push(meta);
                data.stored += 1;
                data.open = Points::default();
            }
        }
    }
}

/// How much of a part one commit holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Sealed chunks.
    pub(super) sealed: usize,
    /// The open points, if there were any.
    open: Option<ChunkMeta>,
}

/// Takes a last chunk that is not full back from the store, so that points can be appended to it.
fn thaw(id: PartId, data: &mut PartData, store: &Store) {
    let full = |meta: &ChunkMeta| meta.summary.count >= CHUNK as u64;
    if data.metas.len() != data.stored || data.open.len() > 0 || data.metas.last().is_none_or(full)
    {
        return;
    }
    let read = store.columns(id, number(data.stored - 1), |bytes| {
        chunk::decode(bytes, Want::All, &mut data.open)
    });
    if read.is_ok() && !data.open.is_full() {
        data.metas.pop();
        data.stored -= 1;
    } else {
        // The store says so to everybody; a short chunk in the middle is read like any other.
        data.open.clear();
    }
}
