//! Statistics of a tensor: one pass over its bytes, and parts that can be merged.

#![expect(
    clippy::inline_always,
    reason = "code gets the instructions of the function that it is inlined into"
)]

use serde::{Deserialize, Serialize};

use super::DType;
use super::dispatch::with_widest_registers;
use super::exponents::{BUCKETS, Exponents};
use super::kernel::{self, BLOCK, BlockSums, ExponentTables, Real};
use crate::float;

/// What one pass over a tensor tells. Every element is exactly one of NaN, +∞, −∞, zero, negative and positive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Finite elements nearer to zero than the type's smallest normal number, zeros not counted. 0 for integers.
    pub subnormal: u64,
    /// What the finite elements come to; `None` if there are none.
    pub finite: Option<FiniteStats>,
    /// How large the finite elements are.
    pub exponents: Exponents,
}

/// Figures over the finite elements of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Sum of squared distances from the mean: the variance is this by the number of finite elements. Infinite where
    /// it exceeds `f64`.
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
    /// The statistics of all elements in `bytes`.
    pub fn of(dtype: DType, bytes: &[u8]) -> Self {
        if dtype.size_bytes() == 1 {
            super::bytes::stats_of(dtype, bytes)
        } else {
            of_any(dtype, bytes)
        }
    }

    /// Adds the statistics of another part of the same tensor. Counts, minimum and maximum are exact, sums to rounding.
    pub fn merge(&mut self, other: &Self) {
        self.finite = match (self.finite, other.finite) {
            (Some(a), Some(b)) => Some(merge_finite(
                (self.finite_count(), a),
                (other.finite_count(), b),
            )),
            (a, b) => a.or(b),
        };
        self.count += other.count;
        self.nan += other.nan;
        self.pos_inf += other.pos_inf;
        self.neg_inf += other.neg_inf;
        self.zero += other.zero;
        self.negative += other.negative;
        self.positive += other.positive;
        self.subnormal += other.subnormal;
        self.exponents.merge(&other.exponents);
    }

    /// Elements that are numbers and finite.
    pub fn finite_count(&self) -> u64 {
        self.zero + self.negative + self.positive
    }

    /// The variance of the finite elements (of the population: divided by their number).
    pub fn variance(&self) -> Option<f64> {
        Some(self.finite?.m2 / self.finite_count() as f64)
    }

    /// How many finite elements lie in `low..=high`: at least the first, at most the second. The exponents tell it up
    /// to the buckets that the limits cut; the two agree where the limits cut none.
    pub fn count_within(&self, low: f64, high: f64) -> (u64, u64) {
        let Some(finite) = self.finite else {
            return (0, 0);
        };
        let zero = std::iter::once((0.0, 0.0, self.zero));
        let mut bounds = (0, 0);
        for (from, to, count) in self.exponents.iter().chain(zero) {
            // The outermost buckets reach no further than the extremes.
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

fn of_any(dtype: DType, bytes: &[u8]) -> TensorStats {
    with_widest_registers!(of, dtype: DType, bytes: &[u8] => TensorStats)
}

#[inline(always)]
fn of(dtype: DType, bytes: &[u8]) -> TensorStats {
    if dtype.is_read_as_f32() {
        fold(dtype, bytes, |bytes, block: &mut [f32; BLOCK]| {
            dtype.widen_to_f32(bytes, block)
        })
    } else {
        fold(dtype, bytes, |bytes, block: &mut [f64; BLOCK]| {
            dtype.widen_to_f64(bytes, block)
        })
    }
}

/// Block by block: widen, set aside what is not finite, sum up the rest.
#[inline(always)]
fn fold<T: Real>(
    dtype: DType,
    bytes: &[u8],
    widen: impl Fn(&[u8], &mut [T; BLOCK]) -> usize,
) -> TensorStats {
    let mut stats = TensorStats::default();
    let mut exponents = ExponentCounts::new();
    let mut block = [T::default(); BLOCK];
    for piece in bytes.chunks(BLOCK * dtype.size_bytes()) {
        let len = widen(piece, &mut block);
        stats.count += len as u64;
        let mut finite_len = len;
        if !kernel::all_finite(&block[..len]) {
            finite_len = 0;
            for index in 0..len {
                let value = block[index];
                if kernel::is_finite(value) {
                    block[finite_len] = value;
                    finite_len += 1;
                } else if value > T::ZERO {
                    stats.pos_inf += 1;
                } else if value < T::ZERO {
                    stats.neg_inf += 1;
                } else {
                    stats.nan += 1;
                }
            }
        }
        if finite_len == 0 {
            continue;
        }
        let finite = &block[..finite_len];
        exponents.add(finite);
        let sums = kernel::sums(finite);
        if dtype == DType::F64 {
            // Of all other types the exponents tell.
            stats.subnormal += kernel::count_subnormal(finite);
        }
        let part = (finite_len as u64, of_block(finite, &sums));
        stats.finite = Some(match stats.finite {
            Some(sofar) => merge_finite((stats.finite_count(), sofar), part),
            None => part.1,
        });
        stats.zero += sums.zero;
        stats.negative += sums.negative;
        stats.positive += finite_len as u64 - sums.zero - sums.negative;
    }
    exponents.finish(dtype, &mut stats);
    stats
}

/// Counts by exponent, in 32 bits as long as they fit.
struct ExponentCounts {
    tables: Box<ExponentTables>,
    in_tables: usize,
    dense: [u64; BUCKETS],
}

impl ExponentCounts {
    fn new() -> Self {
        Self {
            tables: Box::new([[0; BUCKETS]; kernel::TABLES]),
            in_tables: 0,
            dense: [0; BUCKETS],
        }
    }

    #[inline(always)]
    fn add<T: Real>(&mut self, finite: &[T]) {
        if self.in_tables >= 1 << 31 {
            self.flush();
        }
        self.in_tables += finite.len();
        kernel::count_exponents(finite, &mut self.tables);
    }

    fn flush(&mut self) {
        for table in self.tables.iter_mut() {
            for (sum, count) in self.dense.iter_mut().zip(table) {
                *sum += u64::from(std::mem::take(count));
            }
        }
        self.in_tables = 0;
    }

    /// Takes the zeros out of the first bucket of each sign, where the kernel has counted them too, and adds up the
    /// subnormal numbers of narrow types, which are normal once they are widened.
    fn finish(mut self, dtype: DType, stats: &mut TensorStats) {
        self.flush();
        let (positive, negative) = self.dense.split_at_mut(BUCKETS / 2);
        for (buckets, count) in [(positive, stats.positive), (negative, stats.negative)] {
            if let [nearest, others @ ..] = buckets {
                *nearest = count - others.iter().sum::<u64>();
            }
            if let (true, Some(exponent)) = (dtype.is_read_as_f32(), dtype.min_normal_exponent()) {
                let below = usize::try_from(exponent + 127).unwrap_or(0);
                stats.subnormal += buckets.iter().take(below).sum::<u64>();
            }
        }
        stats.exponents = Exponents::from_dense(&self.dense);
    }
}

/// The figures of one block, also where squares of its numbers would not fit into an `f64`.
fn of_block<T: Real>(finite: &[T], sums: &BlockSums) -> FiniteStats {
    let abs_max = sums.min.abs().max(sums.max.abs());
    if (1e-140..1e140).contains(&abs_max) || abs_max == 0.0 {
        return scaled(sums, finite.len(), 1.0);
    }
    // A power of two, so that nothing is rounded, that brings the largest number near 1; its inverse is finite too.
    let scale = 2.0_f64.powf(abs_max.log2().floor().clamp(-1000.0, 1000.0));
    let near_one: Vec<f64> = finite.iter().map(|x| x.wide() / scale).collect();
    let mut stats = scaled(&kernel::sums(&near_one), finite.len(), scale);
    (stats.min, stats.max) = (sums.min, sums.max);
    stats
}

fn scaled(sums: &BlockSums, len: usize, scale: f64) -> FiniteStats {
    let len = len as f64;
    FiniteStats {
        min: sums.min * scale,
        max: sums.max * scale,
        mean: sums.sum / len * scale,
        m2: sums.m2 * scale * scale,
        mean_abs: sums.sum_abs / len * scale,
        l2: sums.sum_squares.sqrt() * scale,
    }
}

/// Two parts as one (Chan et al., 1979), each with its number of finite elements, not 0.
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
        l2: a.l2.hypot(b.l2),
    }
}

#[cfg(test)]
mod tests {
    use super::{DType, TensorStats, of};

    #[test]
    fn any_processor_computes_the_same() {
        let bytes: Vec<u8> = (0..50_000_u32)
            .flat_map(|i| (i as f32 * 0.37).sin().to_le_bytes())
            .chain(f32::INFINITY.to_le_bytes())
            .collect();
        for dtype in DType::ALL {
            if dtype.size_bytes() > 1 {
                let plain = of(dtype, &bytes);
                let widest = TensorStats::of(dtype, &bytes);
                assert_eq!(format!("{plain:?}"), format!("{widest:?}"));
            }
        }
    }
}
