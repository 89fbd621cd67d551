//! Series reader: live points in a range, raw if they fit into the limit, otherwise in buckets.
//!
//! A zoomed-out view reads no points: chunks entirely in range are taken from their summaries, and only those at its
//! edges, or those cut by a restart, are decoded.

mod select;

use trainscope_analysis::series::{Buckets, CLASSES, Summary};
use trainscope_api::scalars::{NonFinite, NonFiniteClass, Series};

use self::select::{Selection, Side, select};
use super::ReadError;
use super::attempts::Attempt;
use super::chunk::{self, ChunkMeta, Points, Want};
use super::part::{Piece, Place};
use super::store::{PartId, Store};

/// Range and resolution of a query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    /// Lowest step, inclusive.
    pub(super) from: i64,
    /// Highest step, inclusive.
    pub(super) to: i64,
    /// Maximum number of points or buckets.
    pub(super) points: usize,
    /// True to include superseded points.
    pub(super) superseded: bool,
    /// True to include wall times.
    pub(super) wall_times: bool,
}

impl Range {
    /// All live steps, without wall times; `points` is 0.
    const ALL: Self = Self {
        from: i64::MIN,
        to: i64::MAX,
        points: 0,
        superseded: false,
        wall_times: false,
    };
}

const CLASS_NAMES: [NonFiniteClass; 3] = [
    NonFiniteClass::Nan,
    NonFiniteClass::PosInf,
    NonFiniteClass::NegInf,
];

/// Reads the points of one writer in a range.
///
/// With superseded points, the first `live` entries are the curve, and those after them are superseded, in the order
/// in which they were recorded.
pub(super) fn read(
    attempts: &[Attempt],
    range: &Range,
    store: &Store,
) -> Result<Series, ReadError> {
    let mut series = read_side(attempts, range, Side::Live, store)?;
    series.attempts = attempts
        .iter()
        .flat_map(|attempt| attempt.told.clone())
        .collect();
    if range.superseded {
        let mut old = read_side(attempts, range, Side::Superseded, store)?;
        series.live = Some(series.steps.len() as u64);
        series.total += old.total;
        series.cut |= old.cut;
        series.steps.append(&mut old.steps);
        series.wall_times_secs.append(&mut old.wall_times_secs);
        series.values.append(&mut old.values);
        series.min.append(&mut old.min);
        series.max.append(&mut old.max);
        series.non_finite.append(&mut old.non_finite);
    }
    Ok(series)
}

fn read_side(
    attempts: &[Attempt],
    range: &Range,
    side: Side,
    store: &Store,
) -> Result<Series, ReadError> {
    let want = if range.wall_times {
        Want::All
    } else {
        Want::Values
    };
    let (selected, is_per_epoch) = select(attempts, range, side, want, store)?;
    let total: u64 = selected.iter().map(Selection::count).sum();
    let mut series = if total <= range.points as u64 {
        raw(selected, total, want, store)?
    } else {
        bucketed(&selected, total, range, want, store)?
    };
    series.per_epoch = is_per_epoch;
    Ok(series)
}

fn raw(
    selected: Vec<Selection>,
    total: u64,
    want: Want,
    store: &Store,
) -> Result<Series, ReadError> {
    let mut series = Series {
        total,
        ..Series::default()
    };
    for part in selected {
        let mut points = match part {
            Selection::Whole(piece) => piece.points(want, store)?,
            Selection::Points(_, points) => points,
        };
        series.steps.append(&mut points.steps);
        series.values.append(&mut points.values);
        if want == Want::All {
            series.wall_times_secs.append(&mut points.wall_times_secs);
        }
    }
    let finite = |v: &f64| if v.is_finite() { *v } else { f64::NAN };
    series.min = series.values.iter().map(finite).collect();
    series.max = series.min.clone();
    let mut stretches = Stretches::default();
    for (entry, (step, value)) in series.steps.iter().zip(&series.values).enumerate() {
        for (class, is) in CLASSES.iter().enumerate() {
            if is(*value) {
                stretches.see(class, entry, 1, *step, *step);
            }
        }
    }
    series.non_finite = stretches.finish();
    Ok(series)
}

/// Number of chunks per bucket above which whole chunks are small enough to be the unit; below, blocks are.
const CHUNKS_A_BUCKET: u64 = 4;

fn bucketed(
    selected: &[Selection],
    total: u64,
    range: &Range,
    want: Want,
    store: &Store,
) -> Result<Series, ReadError> {
    let a_bucket = total / range.points as u64;
    let by_chunk = a_bucket >= CHUNKS_A_BUCKET * chunk::CHUNK as u64;
    let by_block = a_bucket >= chunk::BLOCK_POINTS as u64;
    let mut buckets = Buckets::new(total, range.points);
    let mut stretches = Stretches::default();
    let mut blocks = BlockReader::default();
    for (i, part) in selected.iter().enumerate() {
        match part {
            Selection::Points(_, points) => push_points(points, &mut buckets, &mut stretches),
            Selection::Whole(piece) if by_chunk && !has_non_finite(&piece.meta) => {
                buckets.push(&piece.meta.summary);
            }
            Selection::Whole(piece) if by_block => {
                let mut at = 0;
                for summary in blocks.of(piece, &selected[i..], store)? {
                    push_block(piece, at, &summary, &mut buckets, &mut stretches, store)?;
                    at += usize::try_from(summary.count).unwrap_or(0);
                }
            }
            Selection::Whole(piece) => {
                push_points(&piece.points(want, store)?, &mut buckets, &mut stretches);
            }
        }
    }
    let mut series = Series {
        total,
        cut: true,
        non_finite: stretches.finish(),
        ..Series::default()
    };
    for bucket in buckets.finish() {
        let finite = bucket.min <= bucket.max;
        series.steps.push(bucket.last_step);
        series.values.push(bucket.last_value);
        series.min.push(if finite { bucket.min } else { f64::NAN });
        series.max.push(if finite { bucket.max } else { f64::NAN });
        if range.wall_times {
            series.wall_times_secs.push(bucket.last_wall_time_secs);
        }
    }
    Ok(series)
}

fn has_non_finite(meta: &ChunkMeta) -> bool {
    meta.summary.non_finite != [0; 3]
}

fn push_points(points: &Points, buckets: &mut Buckets, stretches: &mut Stretches) {
    for (i, (step, value)) in points.steps.iter().zip(&points.values).enumerate() {
        let wall_time = points.wall_times_secs.get(i).copied().unwrap_or(f64::NAN);
        let entry = buckets.push(&Summary::of_point(*step, wall_time, *value));
        if !value.is_finite() {
            for (class, is) in CLASSES.iter().enumerate() {
                if is(*value) {
                    stretches.see(class, entry, 1, *step, *step);
                }
            }
        }
    }
}

/// Adds the block of `piece` that begins at point `at`.
fn push_block(
    piece: &Piece,
    at: usize,
    summary: &Summary,
    buckets: &mut Buckets,
    stretches: &mut Stretches,
    store: &Store,
) -> Result<(), ReadError> {
    let entry = buckets.push(summary);
    if summary.non_finite == [0; 3] {
        return Ok(());
    }
    // The exact position of the first value of a class needs the points, but only at the start of a range.
    let mut block: Option<Points> = None;
    for (class, is) in CLASSES.iter().enumerate() {
        let count = summary.non_finite[class];
        if count == 0 {
            continue;
        }
        let mut first = summary.last_step;
        if stretches.begins(class, entry) {
            let points = match &block {
                Some(points) => points,
                None => block.insert(piece.points(Want::Values, store)?),
            };
            let end = points.len().min(at + chunk::BLOCK_POINTS);
            let found = (at.min(end)..end).find(|i| is(points.values[*i]));
            first = found.map_or(first, |i| points.steps[i]);
        }
        stretches.see(class, entry, count, first, summary.last_step);
    }
    Ok(())
}

/// Block summaries, read ahead from the store in one sweep per part.
#[derive(Default)]
struct BlockReader {
    part: Option<u64>,
    read: std::collections::VecDeque<(u32, Vec<Summary>)>,
}

/// Maximum number of chunks whose summaries are read in one sweep; bounds the memory of a read.
const SWEEP: u32 = 256;

impl BlockReader {
    fn of(
        &mut self,
        piece: &Piece,
        rest: &[Selection],
        store: &Store,
    ) -> Result<Vec<Summary>, ReadError> {
        let damaged = || ReadError::Storage("a summary is damaged".to_owned());
        match &piece.place {
            Place::Open(open) => Ok(chunk::block_summaries(open).collect()),
            Place::Sealed(sealed) => {
                chunk::decode_blocks(&sealed.summaries, &piece.meta).ok_or_else(damaged)
            }
            Place::Stored(number) => {
                while self.part == Some(piece.part)
                    && self.read.front().is_some_and(|(n, _)| n < number)
                {
                    self.read.pop_front();
                }
                if self.part != Some(piece.part)
                    || self.read.front().is_none_or(|(n, _)| n != number)
                {
                    self.sweep(piece.part, *number, rest, store)?;
                }
                let (_, blocks) = self.read.pop_front().ok_or_else(damaged)?;
                let count: u64 = blocks.iter().map(|b| b.count).sum();
                // Rewritten with more points in the meantime: use those that existed before.
                if count == piece.meta.summary.count {
                    Ok(blocks)
                } else {
                    Ok(vec![piece.meta.summary])
                }
            }
        }
    }

    fn sweep(
        &mut self,
        part: u64,
        first: u32,
        rest: &[Selection],
        store: &Store,
    ) -> Result<(), ReadError> {
        let same = |selected: &&Selection| matches!(selected, Selection::Whole(Piece { part: p, place: Place::Stored(_), .. }) if *p == part);
        let wanted = rest.iter().take(SWEEP as usize).take_while(same).count();
        let last = first + u32::try_from(wanted).unwrap_or(SWEEP).saturating_sub(1);
        self.part = Some(part);
        self.read.clear();
        store.summaries(part, first, last, |number, bytes| {
            let meta = chunk::decode_meta(bytes)?;
            self.read
                .push_back((number, chunk::decode_blocks(bytes, &meta)?));
            Some(())
        })
    }
}

/// Collects ranges of entries with non-finite values.
#[derive(Default)]
struct Stretches {
    open: [Option<(usize, NonFinite)>; 3],
    done: Vec<NonFinite>,
}

impl Stretches {
    /// True if a value of this class in this entry begins a new range.
    fn begins(&self, class: usize, entry: usize) -> bool {
        self.open[class].is_none_or(|(last, _)| entry > last + 1)
    }

    fn see(&mut self, class: usize, entry: usize, count: u64, first_step: i64, last_step: i64) {
        if self.begins(class, entry) {
            let stretch = NonFinite {
                class: CLASS_NAMES[class],
                first_step,
                last_step,
                count,
            };
            if let Some((_, before)) = self.open[class].replace((entry, stretch)) {
                self.done.push(before);
            }
        } else if let Some((last, stretch)) = &mut self.open[class] {
            *last = entry;
            stretch.last_step = last_step;
            stretch.count += count;
        }
    }

    fn finish(mut self) -> Vec<NonFinite> {
        self.done
            .extend(self.open.into_iter().flatten().map(|(_, stretch)| stretch));
        self.done
            .sort_by_key(|stretch| (stretch.first_step, stretch.class));
        self.done
    }
}

/// A published record with its body.
pub(super) struct StoredRecord {
    pub(super) part: PartId,
    pub(super) step: i64,
    pub(super) wall_time_secs: f64,
    pub(super) body: Box<[u8]>,
}

/// The records of one writer in a range: their number, and `range.points` of them, evenly spaced including the first
/// and the last, or all if there are fewer.
pub(super) fn read_bodies(
    attempts: &[Attempt],
    range: &Range,
    store: &Store,
) -> Result<(u64, Vec<StoredRecord>), ReadError> {
    let selected = wanted(attempts, range, Want::All, store)?;
    let total: u64 = selected.iter().map(Selection::count).sum();
    let count = total.min(range.points as u64);
    // Index of the n-th record; the last one of several is the last of all.
    let nth = |n: u64| match count {
        1 => total - 1,
        _ => u64::try_from(u128::from(n) * u128::from(total - 1) / u128::from(count - 1))
            .unwrap_or(0),
    };
    let mut records = Vec::new();
    let (mut next, mut begin) = (0, 0);
    for chunk in selected {
        let end = begin + chunk.count();
        if next < count && nth(next) < end {
            let (part, mut points) = match chunk {
                Selection::Whole(piece) => (piece.part, piece.points(Want::All, store)?),
                Selection::Points(part, points) => (part, points),
            };
            while next < count && nth(next) < end {
                let at = usize::try_from(nth(next) - begin).unwrap_or(usize::MAX);
                if let Some(body) = points.bodies.get_mut(at) {
                    let body = std::mem::take(body);
                    let (step, wall_time_secs) = (points.steps[at], points.wall_times_secs[at]);
                    records.push(StoredRecord {
                        part,
                        step,
                        wall_time_secs,
                        body,
                    });
                }
                next += 1;
            }
        }
        begin = end;
    }
    Ok((total, records))
}

/// Calls a function for every record of one writer in a range, in order, with one chunk in memory at a time;
/// `range.points` is ignored.
pub(super) fn each_body(
    attempts: &[Attempt],
    range: &Range,
    store: &Store,
    mut look: impl FnMut(StoredRecord) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    for chunk in wanted(attempts, range, Want::All, store)? {
        let (part, points) = match chunk {
            Selection::Whole(piece) => (piece.part, piece.points(Want::All, store)?),
            Selection::Points(part, points) => (part, points),
        };
        let times = points.steps.into_iter().zip(points.wall_times_secs);
        for ((step, wall_time_secs), body) in times.zip(points.bodies) {
            look(StoredRecord {
                part,
                step,
                wall_time_secs,
                body,
            })?;
        }
    }
    Ok(())
}

/// The steps of one writer's records in a range, in order.
pub(super) fn read_steps(
    attempts: &[Attempt],
    range: &Range,
    store: &Store,
) -> Result<Vec<i64>, ReadError> {
    let mut steps = Vec::new();
    for chunk in wanted(attempts, range, Want::Steps, store)? {
        let mut points = match chunk {
            Selection::Whole(piece) => piece.points(Want::Steps, store)?,
            Selection::Points(_, points) => points,
        };
        steps.append(&mut points.steps);
    }
    Ok(steps)
}

/// Chunks of live points, followed by superseded ones if requested.
fn wanted(
    attempts: &[Attempt],
    range: &Range,
    want: Want,
    store: &Store,
) -> Result<Vec<Selection>, ReadError> {
    let (mut selected, _) = select(attempts, range, Side::Live, want, store)?;
    if range.superseded {
        selected.extend(select(attempts, range, Side::Superseded, want, store)?.0);
    }
    Ok(selected)
}

/// Live points of a writer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LivePoints {
    pub(super) points: u64,
    pub(super) superseded: u64,
    pub(super) first_step: Option<i64>,
    pub(super) last_step: Option<i64>,
}

/// Counts the live points of a writer; reads only chunks that a restart has cut.
pub(super) fn live_points(attempts: &[Attempt], store: &Store) -> LivePoints {
    let mut live = LivePoints::default();
    let (mut min, mut max) = (i64::MAX, i64::MIN);
    let counted = || attempts.iter().map(|attempt| attempt.part.counted());
    if attempts.iter().any(|attempt| !attempt.part.has_points()) {
        for counted in counted() {
            live.points += counted.points;
            min = min.min(counted.min_step.unwrap_or(i64::MAX));
            max = max.max(counted.max_step.unwrap_or(i64::MIN));
        }
    } else {
        // An unreadable chunk is reported when its points are requested.
        let selected = select(attempts, &Range::ALL, Side::Live, Want::Steps, store);
        let (selected, _) = selected.unwrap_or_default();
        for chunk in &selected {
            live.points += chunk.count();
            let (first, last) = chunk.steps();
            min = min.min(first);
            max = max.max(last);
        }
        let all: u64 = counted().map(|counted| counted.points).sum();
        live.superseded = all.saturating_sub(live.points);
    }
    if min <= max {
        (live.first_step, live.last_step) = (Some(min), Some(max));
    }
    live
}

/// Step and value of the live point of the highest step.
pub(super) fn last_point(attempts: &[Attempt], store: &Store) -> Option<(i64, f64)> {
    let newest = attempts
        .iter()
        .max_by_key(|attempt| attempt.part.counted().max_step)?;
    let last = newest.part.last()?;
    if attempts.len() == 1 && newest.part.counted().max_step == Some(last.0) {
        return Some(last);
    }
    let step = live_points(attempts, store).last_step?;
    let range = Range {
        from: step,
        to: step,
        points: usize::MAX,
        ..Range::ALL
    };
    let series = read_side(attempts, &range, Side::Live, store).ok()?;
    Some((step, *series.values.last()?))
}
