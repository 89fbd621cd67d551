//! Selected results of a tensor, computed in one pass: each block is processed while it is in the cache.

#![expect(
    clippy::inline_always,
    reason = "code gets the instructions of the function that it is inlined into"
)]

use super::change::{ChangeStats, Comparable, Tolerance};
use super::dispatch::{Registers, with_registers};
use super::histogram::{Histogram, Places};
use super::kernel::{BLOCK, Real};
use super::stats::{ExponentCounts, Moments, TensorStats};
use super::{ContentHasher, DType, RangeCount, bytes};

/// Results to compute. Counts and moments are always included; the rest is optional and costs nothing if it is not
/// selected.
///
/// ```
/// use trainscope_format::tensor::{DType, Select};
///
/// let bytes = [1.0_f32, -2.0].map(f32::to_le_bytes).concat();
/// let selected = Select::new().hash().read(DType::F32, &bytes);
/// assert_eq!(selected.stats.negative, 1);
/// assert!(selected.hash.is_some() && selected.histogram.is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Select<'a> {
    moments: bool,
    exponents: bool,
    ranges: &'a [(f64, f64)],
    hash: bool,
    histogram: Option<(f64, f64, usize)>,
    change: Option<(&'a [u8], Tolerance)>,
    registers: Registers,
}

/// Results of [`Select::read`]; `None` if not selected.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectResult {
    /// Counts and moments, with exponents and counts in ranges if selected.
    pub stats: TensorStats,
    /// [`ContentHasher`] hash of the bytes, including an incomplete last element.
    pub hash: Option<u64>,
    /// Histogram of the selected range.
    pub histogram: Option<Histogram>,
    /// Change from the earlier state to this one.
    pub change: Option<ChangeStats>,
}

impl Default for Select<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> Select<'a> {
    /// Counts and moments alone: [`TensorStats`] without exponents.
    pub fn new() -> Self {
        Self {
            moments: true,
            ..Self::nothing()
        }
    }

    fn nothing() -> Self {
        Self {
            moments: false,
            exponents: false,
            ranges: &[],
            hash: false,
            histogram: None,
            change: None,
            registers: Registers::widest(),
        }
    }

    /// Adds [`TensorStats::exponents`].
    #[must_use]
    pub fn exponents(self) -> Self {
        Self {
            exponents: true,
            ..self
        }
    }

    /// Adds [`TensorStats::ranges`]: elements inside each range, given as start and end, both included.
    #[must_use]
    pub fn ranges(self, ranges: &'a [(f64, f64)]) -> Self {
        Self { ranges, ..self }
    }

    /// Adds the hash of the content.
    #[must_use]
    pub fn hash(self) -> Self {
        Self { hash: true, ..self }
    }

    /// Adds a histogram of a given range. For the range of the tensor, a second pass is needed: [`Histogram::add`] with
    /// the minimum and maximum of the first.
    #[must_use]
    pub fn histogram(self, low: f64, high: f64, bins: usize) -> Self {
        Self {
            histogram: Some((low, high, bins)),
            ..self
        }
    }

    /// Adds the difference from the state `before`, element by element, up to the shorter one.
    #[must_use]
    pub fn change(self, before: &'a [u8], tolerance: Tolerance) -> Self {
        Self {
            change: Some((before, tolerance)),
            ..self
        }
    }

    /// Sets the register width instead of the widest.
    #[must_use]
    pub fn registers(self, registers: Registers) -> Self {
        Self { registers, ..self }
    }

    /// Reads all elements in `bytes` once.
    pub fn read(self, dtype: DType, bytes: &[u8]) -> SelectResult {
        let select = self;
        with_registers!(
            self.registers,
            read,
            select: Select<'_>, dtype: DType, bytes: &[u8] => SelectResult
        )
    }
}

#[inline(always)]
fn read(select: Select<'_>, dtype: DType, bytes: &[u8]) -> SelectResult {
    if dtype.is_read_as_f32() {
        fold(select, dtype, bytes, |bytes, block: &mut [f32; BLOCK]| {
            dtype.widen_to_f32(bytes, block)
        })
    } else {
        fold(select, dtype, bytes, |bytes, block: &mut [f64; BLOCK]| {
            dtype.widen_to_f64(bytes, block)
        })
    }
}

/// Processes block by block: widens, then computes all selected results.
#[inline(always)]
fn fold<T: Comparable>(
    select: Select<'_>,
    dtype: DType,
    bytes: &[u8],
    widen: impl Fn(&[u8], &mut [T; BLOCK]) -> usize,
) -> SelectResult {
    let size = dtype.size_bytes();
    // Statistics of bytes have a faster method.
    let mut moments = (select.moments && size > 1).then(|| Moments::new(dtype, select.registers));
    let mut exponents = (select.exponents && size > 1).then(ExponentCounts::new);
    let ranges = select.ranges.iter();
    let mut ranges: Vec<RangeCount> = ranges
        .map(|&(start, end)| RangeCount {
            start,
            end,
            count: 0,
        })
        .collect();
    let mut hasher = select.hash.then(ContentHasher::new);
    let mut places = select
        .histogram
        .map(|(low, high, bins)| Places::new(low, high, bins));
    let mut changes = select
        .change
        .map(|(before, tolerance)| (before, tolerance, ChangeStats::default()));

    let needs_numbers = moments.is_some()
        || exponents.is_some()
        || !ranges.is_empty()
        || places.is_some()
        || changes.is_some();
    let mut block = [T::default(); BLOCK];
    let mut old = [T::default(); BLOCK];
    let piece_bytes = BLOCK * size;
    for (index, piece) in bytes.chunks(piece_bytes).enumerate() {
        let from = index * piece_bytes;
        let numbers: &[T] = if needs_numbers {
            numbers_of(dtype, piece, &widen, &mut block)
        } else {
            &[]
        };
        let ahead = bytes.get(from + piece_bytes..).unwrap_or_default();
        if let Some(moments) = &mut moments {
            moments.add(numbers, ahead, size);
        }
        if let Some(hasher) = &mut hasher {
            hasher.write(piece);
        }
        if let Some(exponents) = &mut exponents {
            exponents.add(numbers);
        }
        for range in &mut ranges {
            range.add(numbers);
        }
        if let Some(places) = &mut places {
            places.add(numbers);
        }
        if let Some((before, tolerance, sofar)) = &mut changes {
            let before = before.get(from..).unwrap_or_default();
            let (before, before_ahead) = before.split_at(before.len().min(piece_bytes));
            let ahead = [before_ahead, ahead];
            let old = numbers_of(dtype, before, &widen, &mut old);
            let states = [old, numbers];
            sofar.merge(&T::changes(
                select.registers,
                states,
                *tolerance,
                ahead,
                size,
            ));
        }
    }

    let mut stats = if let Some(moments) = moments {
        moments.finish(exponents)
    } else if select.moments {
        bytes::stats_of(dtype, bytes, select.exponents)
    } else {
        TensorStats::default()
    };
    stats.ranges = ranges;
    SelectResult {
        stats,
        hash: hasher.map(|hasher| hasher.finish()),
        histogram: places.map(Places::finish),
        change: changes.map(|changes| changes.2),
    }
}

/// The numbers of a piece, in place if they need no conversion, otherwise widened into the block.
#[inline(always)]
fn numbers_of<'a, T: Real>(
    dtype: DType,
    piece: &'a [u8],
    widen: &impl Fn(&[u8], &mut [T; BLOCK]) -> usize,
    block: &'a mut [T; BLOCK],
) -> &'a [T] {
    if let Some(in_place) = T::view(dtype, piece) {
        return in_place;
    }
    let len = widen(piece, block);
    &block[..len]
}

impl TensorStats {
    /// The statistics of all elements in `bytes`, exponents included; [`Select`] computes other subsets.
    pub fn of(dtype: DType, bytes: &[u8]) -> Self {
        Select::new().exponents().read(dtype, bytes).stats
    }
}

impl Histogram {
    /// Counts all elements in `bytes`. A value within rounding error of an edge may fall on either side of it.
    pub fn add(&mut self, dtype: DType, bytes: &[u8]) {
        let select = Select::nothing().histogram(self.low, self.high, self.bins.len());
        if let Some(counted) = select.read(dtype, bytes).histogram {
            self.add_counts(&counted);
        }
    }
}

impl ChangeStats {
    /// Compares two states of a tensor element by element, up to the shorter one.
    pub fn of(dtype: DType, before: &[u8], after: &[u8], tolerance: Tolerance) -> Self {
        let select = Select::nothing().change(before, tolerance);
        select.read(dtype, after).change.unwrap_or_default()
    }
}
