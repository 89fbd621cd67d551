//! How a tensor differs from what it was a step ago: what statistics of either cannot tell.

#![expect(
    clippy::inline_always,
    reason = "code gets the instructions of the function that it is inlined into"
)]

use serde::{Deserialize, Serialize};

use super::DType;
use super::dispatch::with_widest_registers;
use super::kernel::BLOCK;
use crate::float;

/// When two numbers count as equal: |after − before| ≤ `absolute` + `relative` · |before| (numpy's `isclose`, with the
/// earlier value as the reference).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// As a share of the earlier value.
    pub relative: f64,
    /// In units of the tensor.
    pub absolute: f64,
}

impl Default for Tolerance {
    /// 1e-5 and 1e-8, the defaults of `isclose` and of the condition *weight not changed*.
    fn default() -> Self {
        Self {
            relative: 1e-5,
            absolute: 1e-8,
        }
    }
}

/// What one pass over two states of a tensor tells. Sums are over the pairs in which both are finite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChangeStats {
    /// Pairs of elements.
    pub count: u64,
    /// Pairs in which both are finite.
    pub finite: u64,
    /// Pairs that differ by more than the tolerance. A NaN differs from everything, an infinity only not from itself.
    pub changed: u64,
    /// Sum of |after − before|.
    #[serde(with = "float")]
    pub sum_abs_change: f64,
    /// Sum of |before|.
    #[serde(with = "float")]
    pub sum_abs_before: f64,
    /// Sum of (after − before)².
    #[serde(with = "float")]
    pub sum_squares_change: f64,
    /// Sum of before².
    #[serde(with = "float")]
    pub sum_squares_before: f64,
    /// The largest |after − before|.
    #[serde(with = "float")]
    pub max_abs_change: f64,
}

impl ChangeStats {
    /// Compares two states of a tensor, element by element, as far as both reach.
    pub fn of(dtype: DType, before: &[u8], after: &[u8], tolerance: Tolerance) -> Self {
        of_any(dtype, before, after, tolerance)
    }

    /// Adds the comparison of another part of the same tensor.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.finite += other.finite;
        self.changed += other.changed;
        self.sum_abs_change += other.sum_abs_change;
        self.sum_abs_before += other.sum_abs_before;
        self.sum_squares_change += other.sum_squares_change;
        self.sum_squares_before += other.sum_squares_before;
        self.max_abs_change = self.max_abs_change.max(other.max_abs_change);
    }

    /// Mean |after − before| by mean |before| + `epsilon`: how large an update is. `None` without finite pairs.
    pub fn mean_change_ratio(&self, epsilon: f64) -> Option<f64> {
        let finite = self.finite as f64;
        (self.finite > 0)
            .then(|| self.sum_abs_change / finite / (self.sum_abs_before / finite + epsilon))
    }
}

fn of_any(dtype: DType, before: &[u8], after: &[u8], tolerance: Tolerance) -> ChangeStats {
    with_widest_registers!(
        of,
        dtype: DType, before: &[u8], after: &[u8], tolerance: Tolerance => ChangeStats
    )
}

const LANES: usize = 8;

#[inline(always)]
fn of(dtype: DType, before: &[u8], after: &[u8], tolerance: Tolerance) -> ChangeStats {
    let mut all = ChangeStats::default();
    let mut old = [0.0; BLOCK];
    let mut new = [0.0; BLOCK];
    let piece = BLOCK * dtype.size_bytes();
    for (before, after) in before.chunks(piece).zip(after.chunks(piece)) {
        let len = dtype
            .widen_to_f64(before, &mut old)
            .min(dtype.widen_to_f64(after, &mut new));
        // A rest that does not fill the lanes is filled with pairs of zeros, which add nothing.
        let padded = len.next_multiple_of(LANES);
        old[len..padded].fill(0.0);
        new[len..padded].fill(0.0);
        let mut block = of_block(&old[..padded], &new[..padded], tolerance);
        block.count = len as u64;
        block.finite -= (padded - len) as u64;
        all.merge(&block);
    }
    all
}

#[expect(
    clippy::float_cmp,
    clippy::needless_bitwise_bool,
    reason = "equal infinities are meant; branches would not vectorise"
)]
#[inline(always)]
fn of_block(old: &[f64], new: &[f64], tolerance: Tolerance) -> ChangeStats {
    let mut finite = [0_u64; LANES];
    let mut changed = [0_u64; LANES];
    let mut sums = [[0.0; LANES]; 5];
    let (old, _) = old.as_chunks::<LANES>();
    let (new, _) = new.as_chunks::<LANES>();
    for (old, new) in old.iter().zip(new) {
        for lane in 0..LANES {
            let (before, after) = (old[lane], new[lane]);
            let change = (after - before).abs();
            let size = before.abs();
            let is_finite = (size <= f64::MAX) & (after.abs() <= f64::MAX);
            // Equal infinities have a NaN for their difference.
            let is_close = (is_finite & (change <= tolerance.absolute + tolerance.relative * size))
                | (before == after);
            finite[lane] += u64::from(is_finite);
            changed[lane] += u64::from(!is_close);
            let (change, size) = if is_finite {
                (change, size)
            } else {
                (0.0, 0.0)
            };
            sums[0][lane] += change;
            sums[1][lane] += size;
            sums[2][lane] += change * change;
            sums[3][lane] += size * size;
            let max = sums[4][lane];
            sums[4][lane] = if change > max { change } else { max };
        }
    }
    ChangeStats {
        count: 0,
        finite: finite.iter().sum(),
        changed: changed.iter().sum(),
        sum_abs_change: sums[0].iter().sum(),
        sum_abs_before: sums[1].iter().sum(),
        sum_squares_change: sums[2].iter().sum(),
        sum_squares_before: sums[3].iter().sum(),
        max_abs_change: sums[4].into_iter().fold(0.0, f64::max),
    }
}
