//! Statistics of a tensor: one pass over its bytes, and parts that can be merged.

#![expect(
    clippy::inline_always,
    reason = "code gets the instructions of the function that it is inlined into"
)]

use serde::{Deserialize, Serialize};

use super::DType;
use super::RangeCount;
use super::dispatch::Registers;
use super::exponents::{BUCKETS, Exponents};
use super::kernel::{self, BlockSums, ExponentTables, Real};
use crate::float;

/// Statistics of a tensor from one pass. Every element is exactly one of NaN, +∞, −∞, zero, negative and positive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorStats {
    /// Elements.
    pub count: u64,
    /// Elements that are not a number.
    pub nan: u64,
    /// Elements that are +∞.
    pub pos_inf: u64,
    /// Elements that are −∞.
    pub neg_inf: u64,
    /// Elements that are 0.0 or −0.0.
    pub zero: u64,
    /// Finite elements below zero.
    pub negative: u64,
    /// Finite elements above zero.
    pub positive: u64,
    /// Finite elements below the type's smallest normal number in magnitude, without zeros. 0 for integers.
    pub subnormal: u64,
    /// Figures over the finite elements; `None` if there are none.
    pub finite: Option<FiniteStats>,
    /// Histogram of magnitudes; `None` if it was not selected.
    pub exponents: Option<Exponents>,
    /// Elements inside each selected range. Not stored: ranges belong to the selection, not to the tensor.
    #[serde(skip)]
    pub ranges: Vec<RangeCount>,
}

/// Figures over the finite elements of a tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FiniteStats {
    /// The smallest.
    #[serde(with = "float")]
    pub min: f64,
    /// The largest.
    #[serde(with = "float")]
    pub max: f64,
    /// The arithmetic mean.
    #[serde(with = "float")]
    pub mean: f64,
    /// Sum of squared distances from the mean: the variance times the number of finite elements. Infinite if it
    /// exceeds `f64`.
    #[serde(with = "float")]
    pub m2: f64,
    /// The mean of the absolute values.
    #[serde(with = "float")]
    pub mean_abs: f64,
    /// The square root of the sum of squares.
    #[serde(with = "float")]
    pub l2: f64,
}

impl FiniteStats {
    /// The largest absolute value.
    pub fn abs_max(&self) -> f64 {
        self.min.abs().max(self.max.abs())
    }
}

impl TensorStats {
    /// Adds the statistics of another part of the same tensor. Counts, minimum and maximum are exact, sums are subject
    /// to rounding. Exponents and counts in ranges are present in the result if both parts have them; a part without
    /// elements lacks none.
    pub fn merge(&mut self, other: &Self) {
        self.finite = match (self.finite, other.finite) {
            (Some(a), Some(b)) => Some(merge_finite(
                (self.finite_count(), a),
                (other.finite_count(), b),
            )),
            (a, b) => a.or(b),
        };
        self.exponents = match (self.exponents.take(), &other.exponents) {
            (Some(mut a), Some(b)) => {
                a.merge(b);
                Some(a)
            }
            (a, b) if self.count + other.count == 0 => a.or_else(|| b.clone()),
            (a, _) if other.count == 0 => a,
            (_, b) if self.count == 0 => b.clone(),
            _ => None,
        };
        if self.count == 0 {
            self.ranges.clone_from(&other.ranges);
        } else if other.count > 0 {
            self.ranges.retain_mut(|range| {
                let part = other.ranges.iter().find(|part| part.is_like(range));
                range.count += part.map_or(0, |part| part.count);
                part.is_some()
            });
        }
        self.count += other.count;
        self.nan += other.nan;
        self.pos_inf += other.pos_inf;
        self.neg_inf += other.neg_inf;
        self.zero += other.zero;
        self.negative += other.negative;
        self.positive += other.positive;
        self.subnormal += other.subnormal;
    }

    /// `true` if every element is counted once, so that sums of these counts cannot overflow. `false` for a tensor
    /// that another thread has written to while it was read.
    pub fn adds_up(&self) -> bool {
        let parts = [
            self.nan,
            self.pos_inf,
            self.neg_inf,
            self.zero,
            self.negative,
            self.positive,
        ];
        let sum = parts
            .iter()
            .try_fold(0_u64, |sum, part| sum.checked_add(*part));
        // Zeros have no bucket.
        let has_buckets = self.exponents.as_ref().is_none_or(|exponents| {
            let counts = exponents.counts().iter();
            let total = counts.fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
            total == self.negative.saturating_add(self.positive)
        });
        sum == Some(self.count) && self.subnormal <= self.count && has_buckets
    }

    /// Number of finite elements.
    pub fn finite_count(&self) -> u64 {
        self.zero + self.negative + self.positive
    }

    /// The variance of the finite elements (of the population: divided by their number).
    pub fn variance(&self) -> Option<f64> {
        Some(self.finite?.m2 / self.finite_count() as f64)
    }

    /// Lower and upper bound of the number of elements in `low..=high`; ±∞ are compared like other numbers, NaN is
    /// outside. The bounds are equal if [`Self::ranges`] has that range. Otherwise exponents leave the elements of
    /// buckets cut by a limit uncertain; without exponents, only minimum, maximum and signs bound the number.
    pub fn count_within(&self, low: f64, high: f64) -> (u64, u64) {
        let mut ranges = self.ranges.iter();
        if let Some(range) = ranges.find(|range| (range.start, range.end) == (low, high)) {
            return (range.count, range.count);
        }
        let infinite = [
            (f64::NEG_INFINITY, self.neg_inf),
            (f64::INFINITY, self.pos_inf),
        ];
        let inside = infinite.iter().filter(|(x, _)| low <= *x && *x <= high);
        let infinite = inside.map(|(_, count)| count).sum();
        let mut bounds = (infinite, infinite);
        let Some(finite) = self.finite else {
            return bounds;
        };
        let zero = std::iter::once((0.0, 0.0, self.zero));
        let of_sign = [
            (f64::NEG_INFINITY, 0.0_f64.next_down(), self.negative),
            (0.0_f64.next_up(), f64::INFINITY, self.positive),
        ];
        let of_sign = of_sign.iter().copied().filter(|_| self.exponents.is_none());
        let others = self
            .exponents
            .iter()
            .flat_map(Exponents::iter)
            .chain(of_sign);
        for (from, to, count) in others.chain(zero) {
            if count == 0 {
                continue;
            }
            // The outermost buckets end at the minimum and maximum.
            let (from, to) = (from.max(finite.min), to.min(finite.max));
            if low <= from && to <= high {
                bounds.0 += count;
                bounds.1 += count;
            } else if low <= to && from <= high {
                bounds.1 += count;
            }
        }
        bounds
    }
}

/// Statistics of the blocks so far.
#[derive(Default)]
pub(super) struct Moments {
    stats: TensorStats,
    min_normal: f64,
    /// `false` after a block with non-finite values: such blocks tend to be consecutive.
    expects_finite: bool,
    registers: Registers,
}

impl Moments {
    pub(super) fn new(dtype: DType, registers: Registers) -> Self {
        let min_normal = dtype.min_normal_exponent();
        Self {
            stats: TensorStats::default(),
            min_normal: min_normal.map_or(0.0, |exponent| 2.0_f64.powi(exponent)),
            expects_finite: true,
            registers,
        }
    }

    /// Adds a block; `ahead` begins at the memory that is read next, in elements of the given size in bytes.
    #[inline(always)]
    pub(super) fn add<T: Real>(&mut self, block: &[T], ahead: &[u8], element_bytes: usize) {
        let mut sums = None;
        if self.expects_finite {
            let finite = T::sums(self.registers, block, ahead, element_bytes, true);
            // A sum of magnitudes is finite only if all of them are.
            sums = finite.sum_abs.is_finite().then_some(finite);
        }
        let sums =
            sums.unwrap_or_else(|| T::sums(self.registers, block, ahead, element_bytes, false));
        let not_finite = sums.nan + sums.pos_inf + sums.neg_inf;
        self.expects_finite = not_finite == 0;

        let len = block.len() as u64;
        let finite_len = len - not_finite;
        if finite_len > 0 {
            let part = (finite_len, of_block(block, finite_len, &sums));
            self.stats.finite = Some(match self.stats.finite {
                Some(sofar) => merge_finite((self.stats.finite_count(), sofar), part),
                None => part.1,
            });
        }
        let stats = &mut self.stats;
        let (zero, subnormal) = if sums.smallest < self.min_normal || sums.smallest == 0.0 {
            kernel::count_tiny(block, self.min_normal)
        } else {
            (0, 0)
        };
        let negative = sums.negative - sums.neg_inf;
        stats.count += len;
        stats.nan += sums.nan;
        stats.pos_inf += sums.pos_inf;
        stats.neg_inf += sums.neg_inf;
        stats.zero += zero;
        stats.subnormal += subnormal;
        stats.negative += negative;
        stats.positive += finite_len - zero - negative;
    }

    pub(super) fn finish(self, exponents: Option<ExponentCounts>) -> TensorStats {
        let mut stats = self.stats;
        stats.exponents = exponents.map(|counts| counts.finish(stats.positive, stats.negative));
        stats
    }
}

/// Counts by exponent, in 32 bits as long as they fit.
pub(super) struct ExponentCounts {
    tables: Box<ExponentTables>,
    in_tables: usize,
    dense: [u64; BUCKETS],
}

impl ExponentCounts {
    pub(super) fn new() -> Self {
        Self {
            tables: Box::new([[0; BUCKETS]; kernel::TABLES]),
            in_tables: 0,
            dense: [0; BUCKETS],
        }
    }

    #[inline(always)]
    pub(super) fn add<T: Real>(&mut self, block: &[T]) {
        if self.in_tables >= 1 << 31 {
            self.flush();
        }
        self.in_tables += block.len();
        kernel::count_exponents(block, &mut self.tables);
    }

    fn flush(&mut self) {
        for table in self.tables.iter_mut() {
            for (sum, count) in self.dense.iter_mut().zip(table) {
                *sum += u64::from(std::mem::take(count));
            }
        }
        self.in_tables = 0;
    }

    /// Removes non-finite values, in the last bucket of each sign, and zeros, in the first.
    fn finish(mut self, positive: u64, negative: u64) -> Exponents {
        self.flush();
        let signs = self.dense.chunks_exact_mut(BUCKETS / 2);
        for (buckets, count) in signs.zip([positive, negative]) {
            if let [nearest, others @ .., not_finite] = buckets {
                *not_finite = 0;
                *nearest = count - others.iter().sum::<u64>();
            }
        }
        Exponents::from_dense(&self.dense)
    }
}

/// The figures of a block with `finite_len` finite numbers, also if their squares would overflow an `f64`.
#[inline(always)]
fn of_block<T: Real>(block: &[T], finite_len: u64, sums: &BlockSums) -> FiniteStats {
    let abs_max = sums.min.abs().max(sums.max.abs());
    if (1e-140..1e140).contains(&abs_max) || abs_max == 0.0 {
        scaled(block, finite_len, sums, 1.0)
    } else {
        of_extreme_block(block, finite_len, sums, abs_max)
    }
}

#[cold]
fn of_extreme_block<T: Real>(
    block: &[T],
    finite_len: u64,
    sums: &BlockSums,
    abs_max: f64,
) -> FiniteStats {
    // A power of two, so that nothing is rounded, that scales the largest number close to 1; its inverse is finite
    // too.
    let scale = 2.0_f64.powf(abs_max.log2().floor().clamp(-1000.0, 1000.0));
    let finite = block.iter().filter(|x| kernel::is_finite(**x));
    let near_one: Vec<f64> = finite.map(|x| x.wide() / scale).collect();
    let near_one_sums = kernel::sums(&near_one, &[], size_of::<f64>(), true);
    let mut stats = scaled(&near_one, finite_len, &near_one_sums, scale);
    (stats.min, stats.max) = (sums.min, sums.max);
    stats
}

#[inline(always)]
fn scaled<T: Real>(block: &[T], finite_len: u64, sums: &BlockSums, scale: f64) -> FiniteStats {
    let len = finite_len as f64;
    let mean = sums.sum / len;
    let mut m2 = sums.sum_squares - sums.sum * mean;
    // The difference loses at most four bits, or else the block is read again: squares of large, similar numbers would
    // cancel.
    if m2 * 16.0 < sums.sum_squares {
        m2 = kernel::squared_distances(block, mean);
    }
    FiniteStats {
        min: sums.min * scale,
        max: sums.max * scale,
        mean: mean * scale,
        m2: m2 * scale * scale,
        mean_abs: sums.sum_abs / len * scale,
        l2: sums.sum_squares.sqrt() * scale,
    }
}

/// Merges two parts (Chan et al., 1979), each with its number of finite elements, not 0.
#[inline]
fn merge_finite((a_count, a): (u64, FiniteStats), (b_count, b): (u64, FiniteStats)) -> FiniteStats {
    let total = (a_count + b_count) as f64;
    let (a_share, b_share) = (a_count as f64 / total, b_count as f64 / total);
    let distance = b.mean - a.mean;
    FiniteStats {
        min: a.min.min(b.min),
        max: a.max.max(b.max),
        mean: a.mean * a_share + b.mean * b_share,
        m2: a.m2 + b.m2 + distance * distance * a_share * b_count as f64,
        mean_abs: a.mean_abs * a_share + b.mean_abs * b_share,
        l2: root_of_squares(a.l2, b.l2),
    }
}

/// √(a² + b²). Six times as fast as `hypot` where the squares are normal numbers.
#[inline]
fn root_of_squares(a: f64, b: f64) -> f64 {
    let is_ordinary = |x| (1e-140..1e140).contains(&x);
    if is_ordinary(a) && is_ordinary(b) {
        (a * a + b * b).sqrt()
    } else {
        a.hypot(b)
    }
}
