//! Chunks: up to 1,024 points of one series as compressed columns, with a summary of every 64 points.
//!
//! Every point is stored exactly, NaN payloads included. Steps and wall times are coded as differences, values as
//! order-preserving integers, each in [blocks](super::bits) that can be read alone.
//!
//! ```text
//! n u16, coding u8 (0 values are f64, 1 they are f32, 2 bodies instead of values), then three columns (steps, wall
//! times, values or bodies), each: length u32, bytes
//! steps and wall times: for each block of 64: first u64, then the differences of neighbours packed
//! values: for each block: packed
//! bodies: each: length u32, bytes
//! ```

use trainscope_analysis::series::Summary;

use super::bits::{BLOCK, pack, unpack};

/// Number of points in one block summary.
pub(super) const BLOCK_POINTS: usize = BLOCK;
/// Points of a sealed chunk.
pub(super) const CHUNK: usize = 1_024;
/// Size of bodies that seals a chunk with fewer points: the store holds sixteen values per page.
const CHUNK_BYTES: usize = 16 << 10;

const DOUBLE: u8 = 0;
const SINGLE: u8 = 1;
const BODIES: u8 = 2;

/// Metadata of a chunk, available without reading it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ChunkMeta {
    /// Summary of all its points.
    pub(super) summary: Summary,
    pub(super) min_step: i64,
    pub(super) max_step: i64,
    /// Wall time of the first point.
    pub(super) first_wall_time_secs: f64,
    /// True if steps never go back, and those of values never repeat.
    pub(super) ascends: bool,
}

impl ChunkMeta {
    /// Computes the metadata of points in the order of the file, at least one.
    pub(super) fn of(points: &Points) -> Self {
        let blocks: Vec<_> = block_summaries(points).collect();
        Self::of_blocks(points, &blocks)
    }

    /// Like [`ChunkMeta::of`], from the summaries of the blocks instead of all values.
    fn of_blocks(points: &Points, blocks: &[Summary]) -> Self {
        let mut summary = Summary::EMPTY;
        if blocks.is_empty() {
            // Records with bodies have no values to summarise.
            summary = Summary::of(&points.steps, &points.wall_times_secs, &points.values);
        }
        for block in blocks {
            summary.merge(block);
        }
        Self {
            summary,
            min_step: points.steps.iter().copied().min().unwrap_or(0),
            max_step: points.steps.iter().copied().max().unwrap_or(0),
            first_wall_time_secs: points.wall_times_secs.first().copied().unwrap_or(f64::NAN),
            ascends: if points.values.is_empty() {
                points.steps.is_sorted()
            } else {
                points.steps.is_sorted_by(|a, b| a < b)
            },
        }
    }
}

/// Points of one series as columns of equal length: scalars have values, records of other kinds have bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Points {
    pub(super) steps: Vec<i64>,
    pub(super) wall_times_secs: Vec<f64>,
    pub(super) values: Vec<f64>,
    pub(super) bodies: Vec<Box<[u8]>>,
}

impl Points {
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn push(&mut self, step: i64, wall_time_secs: f64, value: f64) {
        self.steps.push(step);
        self.wall_times_secs.push(wall_time_secs);
        self.values.push(value);
    }

    pub(super) fn push_body(&mut self, step: i64, wall_time_secs: f64, body: Box<[u8]>) {
        self.steps.push(step);
        self.wall_times_secs.push(wall_time_secs);
        self.bodies.push(body);
    }

    /// True if they make a whole chunk.
    pub(super) fn is_full(&self) -> bool {
        self.len() >= CHUNK
            || self.bodies.iter().map(|body| body.len()).sum::<usize>() >= CHUNK_BYTES
    }

    pub(super) fn clear(&mut self) {
        self.steps.clear();
        self.wall_times_secs.clear();
        self.values.clear();
        self.bodies.clear();
    }

    /// Appends the points `from..to` of `other`.
    pub(super) fn extend(&mut self, other: &Self, from: usize, to: usize) {
        self.steps.extend_from_slice(&other.steps[from..to]);
        self.wall_times_secs
            .extend_from_slice(&other.wall_times_secs[from..to]);
        self.values.extend_from_slice(&other.values[from..to]);
    }

    /// Moves one point of `other` to the end. Missing columns of `other` stay empty.
    pub(super) fn take(&mut self, other: &mut Self, at: usize) {
        self.steps.extend(other.steps.get(at));
        self.wall_times_secs.extend(other.wall_times_secs.get(at));
        self.values.extend(other.values.get(at));
        self.bodies
            .extend(other.bodies.get_mut(at).map(std::mem::take));
    }

    /// Removes all unmarked points.
    pub(super) fn retain(&mut self, keep: &[bool]) {
        retain(&mut self.steps, keep);
        retain(&mut self.wall_times_secs, keep);
        retain(&mut self.values, keep);
        retain(&mut self.bodies, keep);
    }
}

fn retain<T>(column: &mut Vec<T>, keep: &[bool]) {
    let mut marks = keep.iter();
    column.retain(|_| marks.next().copied().unwrap_or(false));
}

const SIGN: u64 = 1 << 63;

/// Maps integers to unsigned ones in the same order.
fn map_step(step: i64) -> u64 {
    step.cast_unsigned() ^ SIGN
}

fn unmap_step(mapped: u64) -> i64 {
    (mapped ^ SIGN).cast_signed()
}

/// Maps floats to integers in the same order (−0.0 before 0.0, NaN outermost); every bit pattern is preserved.
fn map_double(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits & SIGN == 0 { bits ^ SIGN } else { !bits }
}

fn unmap_double(mapped: u64) -> f64 {
    f64::from_bits(if mapped & SIGN == 0 {
        !mapped
    } else {
        mapped ^ SIGN
    })
}

fn map_single(value: f32) -> u64 {
    let bits = value.to_bits();
    u64::from(if bits >> 31 == 0 {
        bits ^ (1 << 31)
    } else {
        !bits
    })
}

fn unmap_single(mapped: u64) -> f32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "only 32 bits were packed; damage gives a wrong value, not a panic"
    )]
    let mapped = mapped as u32;
    f32::from_bits(if mapped >> 31 == 0 {
        !mapped
    } else {
        mapped ^ (1 << 31)
    })
}

/// The value as `f32`, if that loses no bit.
fn as_single(value: f64) -> Option<f32> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whether it loses anything is the question"
    )]
    let single = value as f32;
    (f64::from(single).to_bits() == value.to_bits()).then_some(single)
}

/// Appends differences of neighbours, block by block. `mapped` maps each point in an order-preserving way.
fn encode_differences(n: usize, mapped: impl Fn(usize) -> u64, out: &mut Vec<u8>) {
    let mut differences = [0; BLOCK];
    for begin in (0..n).step_by(BLOCK) {
        let len = BLOCK.min(n - begin);
        let mut before = mapped(begin);
        out.extend_from_slice(&before.to_le_bytes());
        for (i, difference) in differences[..len - 1].iter_mut().enumerate() {
            let next = mapped(begin + 1 + i);
            *difference = map_step(next.wrapping_sub(before).cast_signed());
            before = next;
        }
        pack(&differences[..len - 1], out);
    }
}

fn decode_differences(bytes: &[u8], n: usize, mut each: impl FnMut(u64)) -> Option<()> {
    let mut rest = bytes;
    let mut differences = [0; BLOCK];
    for begin in (0..n).step_by(BLOCK) {
        let len = BLOCK.min(n - begin);
        let (first, after) = rest.split_first_chunk::<8>()?;
        let mut value = u64::from_le_bytes(*first);
        rest = unpack(after, len - 1, &mut differences)?;
        each(value);
        for difference in &differences[..len - 1] {
            value = value.wrapping_add(unmap_step(*difference).cast_unsigned());
            each(value);
        }
    }
    Some(())
}

fn encode_values(values: &[f64], single: bool, out: &mut Vec<u8>) {
    let mut mapped = [0; BLOCK];
    for block in values.chunks(BLOCK) {
        for (to, value) in mapped.iter_mut().zip(block) {
            *to = if single {
                as_single(*value).map_or(0, map_single)
            } else {
                map_double(*value)
            };
        }
        pack(&mapped[..block.len()], out);
    }
}

fn decode_values(bytes: &[u8], n: usize, single: bool, out: &mut Vec<f64>) -> Option<()> {
    let mut rest = bytes;
    let mut mapped = [0; BLOCK];
    for begin in (0..n).step_by(BLOCK) {
        let len = BLOCK.min(n - begin);
        rest = unpack(rest, len, &mut mapped)?;
        if single {
            out.extend(mapped[..len].iter().map(|m| f64::from(unmap_single(*m))));
        } else {
            out.extend(mapped[..len].iter().map(|m| unmap_double(*m)));
        }
    }
    Some(())
}

/// Appends one column after its length.
fn column(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out);
    let len = u32::try_from(out.len() - at - 4).unwrap_or(u32::MAX);
    out[at..at + 4].copy_from_slice(&len.to_le_bytes());
}

/// Writes the columns of at most [`CHUNK`] points.
pub(super) fn encode(points: &Points) -> Vec<u8> {
    let n = points.len();
    // Signalling NaNs of f32 do not survive widening on all machines, so NaN decides by its bits like all others.
    let coding = match points {
        Points { bodies, .. } if !bodies.is_empty() => BODIES,
        Points { values, .. } if values.iter().all(|v| as_single(*v).is_some()) => SINGLE,
        _ => DOUBLE,
    };
    let mut out = Vec::with_capacity(64 + n * 9);
    out.extend_from_slice(&u16::try_from(n).unwrap_or(u16::MAX).to_le_bytes());
    out.push(coding);
    column(&mut out, |out| {
        encode_differences(n, |i| map_step(points.steps[i]), out);
    });
    column(&mut out, |out| {
        encode_differences(n, |i| map_double(points.wall_times_secs[i]), out);
    });
    column(&mut out, |out| {
        if coding == BODIES {
            points
                .bodies
                .iter()
                .for_each(|body| column(out, |out| out.extend_from_slice(body)));
        } else {
            encode_values(&points.values, coding == SINGLE, out);
        }
    });
    out
}

/// Columns to read in addition to the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// None.
    Steps,
    /// Values or bodies; wall times stay empty.
    Values,
    /// All columns.
    All,
}

/// Appends the points of a chunk to `out`; `None` if the bytes are not one.
pub(super) fn decode(bytes: &[u8], want: Want, out: &mut Points) -> Option<()> {
    let (n, rest) = bytes.split_first_chunk::<2>()?;
    let n = usize::from(u16::from_le_bytes(*n));
    let (&[coding], rest) = rest.split_first_chunk::<1>()?;
    if n > CHUNK {
        return None;
    }
    let (steps, rest) = take_column(rest)?;
    let (wall_times, rest) = take_column(rest)?;
    let (mut values, _) = take_column(rest)?;
    decode_differences(steps, n, |mapped| out.steps.push(unmap_step(mapped)))?;
    if want == Want::Steps {
        return Some(());
    }
    if want == Want::All {
        decode_differences(wall_times, n, |mapped| {
            out.wall_times_secs.push(unmap_double(mapped));
        })?;
    }
    if coding == BODIES {
        for _ in 0..n {
            let (body, rest) = take_column(values)?;
            out.bodies.push(body.into());
            values = rest;
        }
        return Some(());
    }
    decode_values(values, n, coding == SINGLE, &mut out.values)
}

fn take_column(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*len) as usize)
}

const SUMMARY_BYTES: usize = 8 * 5 + 3;
const META_BYTES: usize = SUMMARY_BYTES + 3 * 8 + 1 + 2 + 3 * 2;

fn encode_summary(summary: &Summary, out: &mut Vec<u8>) {
    out.extend_from_slice(&summary.last_step.to_le_bytes());
    for float in [
        summary.last_wall_time_secs,
        summary.last_value,
        summary.min,
        summary.max,
    ] {
        out.extend_from_slice(&float.to_le_bytes());
    }
    // At most 64 in a block; the totals of the chunk are wider in its metadata.
    out.extend(
        summary
            .non_finite
            .map(|n| u8::try_from(n).unwrap_or(u8::MAX)),
    );
}

fn decode_summary(bytes: &[u8; SUMMARY_BYTES], count: u64) -> Summary {
    let word = |i: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[i * 8..i * 8 + 8]);
        word
    };
    Summary {
        count,
        last_step: i64::from_le_bytes(word(0)),
        last_wall_time_secs: f64::from_le_bytes(word(1)),
        last_value: f64::from_le_bytes(word(2)),
        min: f64::from_le_bytes(word(3)),
        max: f64::from_le_bytes(word(4)),
        non_finite: [40, 41, 42].map(|i| u64::from(bytes[i])),
    }
}

/// The metadata of a chunk, and its stored form with the summaries of its blocks.
pub(super) fn encode_summaries(points: &Points) -> (ChunkMeta, Vec<u8>) {
    let blocks: Vec<_> = block_summaries(points).collect();
    let meta = ChunkMeta::of_blocks(points, &blocks);
    let mut out = Vec::with_capacity(META_BYTES + blocks.len() * SUMMARY_BYTES);
    encode_summary(&meta.summary, &mut out);
    out.extend_from_slice(&meta.min_step.to_le_bytes());
    out.extend_from_slice(&meta.max_step.to_le_bytes());
    out.extend_from_slice(&meta.first_wall_time_secs.to_le_bytes());
    out.push(u8::from(meta.ascends));
    for n in [meta.summary.count]
        .into_iter()
        .chain(meta.summary.non_finite)
    {
        out.extend_from_slice(&u16::try_from(n).unwrap_or(u16::MAX).to_le_bytes());
    }
    for block in &blocks {
        encode_summary(block, &mut out);
    }
    (meta, out)
}

/// The summary of every [`BLOCK`] points.
pub(super) fn block_summaries(points: &Points) -> impl Iterator<Item = Summary> {
    let blocks = points
        .steps
        .chunks(BLOCK)
        .zip(points.wall_times_secs.chunks(BLOCK))
        .zip(points.values.chunks(BLOCK));
    blocks.map(|((steps, wall_times), values)| Summary::of(steps, wall_times, values))
}

/// Reads the metadata of a chunk; `None` if the bytes are not of this form.
pub(super) fn decode_meta(bytes: &[u8]) -> Option<ChunkMeta> {
    let (summary, rest) = bytes.split_first_chunk::<SUMMARY_BYTES>()?;
    let (min_step, rest) = rest.split_first_chunk::<8>()?;
    let (max_step, rest) = rest.split_first_chunk::<8>()?;
    let (first_wall, rest) = rest.split_first_chunk::<8>()?;
    let (&[ascends], rest) = rest.split_first_chunk::<1>()?;
    let (count, rest) = rest.split_first_chunk::<2>()?;
    let mut summary = decode_summary(summary, u64::from(u16::from_le_bytes(*count)));
    let (classes, _) = rest.split_first_chunk::<6>()?;
    for (n, bytes) in summary
        .non_finite
        .iter_mut()
        .zip(classes.as_chunks::<2>().0)
    {
        *n = u64::from(u16::from_le_bytes(*bytes));
    }
    Some(ChunkMeta {
        summary,
        min_step: i64::from_le_bytes(*min_step),
        max_step: i64::from_le_bytes(*max_step),
        first_wall_time_secs: f64::from_le_bytes(*first_wall),
        ascends: ascends == 1,
    })
}

/// Reads the summaries of a chunk's blocks.
pub(super) fn decode_blocks(bytes: &[u8], meta: &ChunkMeta) -> Option<Vec<Summary>> {
    let blocks = bytes.get(META_BYTES..)?.as_chunks::<SUMMARY_BYTES>().0;
    let counts = (0..meta.summary.count)
        .step_by(BLOCK)
        .map(|begin| (meta.summary.count - begin).min(BLOCK as u64));
    let summaries: Vec<_> = blocks
        .iter()
        .zip(counts)
        .map(|(bytes, count)| decode_summary(bytes, count))
        .collect();
    (summaries.iter().map(|s| s.count).sum::<u64>() == meta.summary.count).then_some(summaries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|v| v.to_bits()).collect()
    }

    #[test]
    fn bodies_come_back_byte_for_byte() {
        let mut points = Points::default();
        for (step, body) in [(1, &b"abc"[..]), (1, b""), (-7, &[0; 300])] {
            points.push_body(step, 1e9, body.into());
        }
        let bytes = encode(&points);
        let mut back = Points::default();
        decode(&bytes, Want::All, &mut back).unwrap();
        assert_eq!(back, points);
        for cut in 0..bytes.len() {
            assert_eq!(
                decode(&bytes[..cut], Want::All, &mut Points::default()),
                None
            );
        }
        let (_, stored) = encode_summaries(&points);
        assert_eq!(decode_meta(&stored).unwrap().summary.count, 3);
    }

    fn assert_round_trip(points: &Points) -> usize {
        let bytes = encode(points);
        let mut back = Points::default();
        decode(&bytes, Want::All, &mut back).unwrap();
        assert_eq!(back.steps, points.steps);
        assert_eq!(bits(&back.wall_times_secs), bits(&points.wall_times_secs));
        assert_eq!(bits(&back.values), bits(&points.values));
        let (meta, stored) = encode_summaries(points);
        let read = decode_meta(&stored).unwrap();
        assert_eq!(format!("{read:?}"), format!("{meta:?}"));
        let blocks = decode_blocks(&stored, &read).unwrap();
        assert_eq!(
            format!("{blocks:?}"),
            format!("{:?}", block_summaries(points).collect::<Vec<_>>())
        );
        bytes.len()
    }

    proptest::proptest! {
        #[test]
        fn any_points_come_back_bit_for_bit(
            points in proptest::collection::vec(
                (proptest::num::i64::ANY, proptest::num::f64::ANY, proptest::num::f64::ANY), 1..=CHUNK),
            single in proptest::bool::ANY,
        ) {
            let mut columns = Points::default();
            for (step, wall, value) in points {
                #[expect(clippy::cast_possible_truncation, reason = "values of f32 are wanted")]
                columns.push(step, wall, if single { f64::from(value as f32) } else { value });
            }
            assert_round_trip(&columns);
        }

        #[test]
        fn hostile_bytes_do_not_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let _ = decode(&bytes, Want::All, &mut Points::default());
            if let Some(meta) = decode_meta(&bytes) {
                let _ = decode_blocks(&bytes, &meta);
            }
        }
    }

    #[test]
    fn a_usual_loss_curve_takes_under_nine_bytes_a_point() {
        let mut points = Points::default();
        let mut noise = 12_345_u64;
        for i in 0..1_024_i32 {
            noise = noise
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let jitter = (noise >> 40) as f64 / f64::from(1 << 24);
            #[expect(clippy::cast_possible_truncation, reason = "training code logs f32")]
            let value = f64::from((2.0 / (1.0 + f64::from(i) / 300.0) + 0.1 * jitter) as f32);
            points.push(
                i.into(),
                1.795e9 + f64::from(i) * 0.01 + jitter * 1e-3,
                value,
            );
        }
        let bytes = assert_round_trip(&points);
        assert!(bytes < 9 * CHUNK, "{bytes}");
    }
}
