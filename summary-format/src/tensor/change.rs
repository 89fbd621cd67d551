//! Difference of a tensor from its previous state, which the statistics of the two cannot show.

#![expect(
    clippy::inline_always,
    reason = "code gets the instructions of the function that it is inlined into"
)]

use serde::{Deserialize, Serialize};

use super::dispatch::{Registers, with_registers};
use super::kernel::{self, LANES, Real};
use crate::float;

/// Tolerance for equality: |after − before| ≤ `absolute` + `relative` · |before| (numpy's `isclose`, with the earlier
/// value as the reference).
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

/// Differences of two states of a tensor, computed in one pass. Sums are over the pairs in which both are finite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChangeStats {
    /// Pairs of elements.
    pub count: u64,
    /// Pairs in which both are finite.
    pub finite: u64,
    /// Pairs that differ by more than the tolerance. NaN differs from everything, an infinity from everything but
    /// itself.
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

    /// Relative size of an update: mean |after − before| divided by (mean |before| + `epsilon`). `None` without finite
    /// pairs.
    pub fn mean_change_ratio(&self, epsilon: f64) -> Option<f64> {
        let finite = self.finite as f64;
        (self.finite > 0)
            .then(|| self.sum_abs_change / finite / (self.sum_abs_before / finite + epsilon))
    }
}

/// Types that can be compared, with a separate function for each register width, as in [`Real::sums`].
pub(super) trait Comparable: Real {
    /// [`of_block`], compiled for these registers.
    fn changes(
        registers: Registers,
        states: [&[Self]; 2],
        tolerance: Tolerance,
        ahead: [&[u8]; 2],
        element_bytes: usize,
    ) -> ChangeStats;
}

macro_rules! compared {
    ($type:ty) => {
        impl Comparable for $type {
            fn changes(
                registers: Registers,
                states: [&[Self]; 2],
                tolerance: Tolerance,
                ahead: [&[u8]; 2],
                element_bytes: usize,
            ) -> ChangeStats {
                with_registers!(
                    registers,
                    of_block,
                    states: [&[$type]; 2],
                    tolerance: Tolerance,
                    ahead: [&[u8]; 2],
                    element_bytes: usize => ChangeStats
                )
            }
        }
    };
}

compared!(f32);
compared!(f64);

/// Compares two blocks, up to the shorter one; `ahead` begins at the next block of each state, in elements of the
/// given size in bytes.
#[inline(always)]
fn of_block<T: Real>(
    [old, new]: [&[T]; 2],
    tolerance: Tolerance,
    ahead: [&[u8]; 2],
    element_bytes: usize,
) -> ChangeStats {
    let len = old.len().min(new.len());
    let (old, new) = (&old[..len], &new[..len]);
    let mut all = of_lanes::<T, true>(old, new, tolerance, ahead, element_bytes);
    // Both sums are finite only if all numbers are.
    if !(all.sum_abs_change + all.sum_abs_before).is_finite() {
        all = of_lanes::<T, false>(old, new, tolerance, ahead, element_bytes);
    }
    // The last elements are padded to full lanes with pairs of zeros, which add nothing.
    let whole = len - len % LANES;
    if whole < len {
        let mut rest = [[T::ZERO; LANES]; 2];
        for (rest, from) in rest.iter_mut().zip([old, new]) {
            rest[..len - whole].copy_from_slice(&from[whole..]);
        }
        let [old, new] = rest;
        let mut rest = of_lanes::<T, false>(&old, &new, tolerance, [&[], &[]], 0);
        rest.finite -= (LANES + whole - len) as u64;
        all.merge(&rest);
    }
    all.count = len as u64;
    all
}

#[expect(
    clippy::float_cmp,
    clippy::needless_bitwise_bool,
    reason = "equal infinities are meant; branches would not vectorise"
)]
#[inline(always)]
fn of_lanes<T: Real, const FINITE: bool>(
    old: &[T],
    new: &[T],
    tolerance: Tolerance,
    ahead: [&[u8]; 2],
    element_bytes: usize,
) -> ChangeStats {
    let mut finite = [0_u32; LANES];
    let mut changed = [0_u32; LANES];
    let mut sum_abs_change = [0.0; LANES];
    let mut sum_abs_before = [0.0; LANES];
    let mut sum_squares_change = [0.0; LANES];
    let mut sum_squares_before = [0.0; LANES];
    let mut max_abs_change = [0.0; LANES];
    let (old, _) = old.as_chunks::<LANES>();
    let (new, _) = new.as_chunks::<LANES>();
    let stride = LANES * element_bytes;
    for (index, (old, new)) in old.iter().zip(new).enumerate() {
        for ahead in ahead {
            kernel::prefetch(ahead, index * stride);
            if size_of::<T>() == 8 {
                kernel::prefetch(ahead, index * stride + 64);
            }
        }
        for lane in 0..LANES {
            let (before, after) = (old[lane].wide(), new[lane].wide());
            let change = (after - before).abs();
            let size = before.abs();
            let bound = tolerance.absolute + tolerance.relative * size;
            let (is_finite, is_close) = if FINITE {
                (true, change <= bound)
            } else {
                let is_finite = (size <= f64::MAX) & (after.abs() <= f64::MAX);
                // The difference of equal infinities is NaN.
                (
                    is_finite,
                    (is_finite & (change <= bound)) | (before == after),
                )
            };
            finite[lane] += u32::from(is_finite);
            changed[lane] += u32::from(!is_close);
            let (change, size) = if is_finite {
                (change, size)
            } else {
                (0.0, 0.0)
            };
            sum_abs_change[lane] += change;
            sum_abs_before[lane] += size;
            sum_squares_change[lane] += change * change;
            sum_squares_before[lane] += size * size;
            let max = max_abs_change[lane];
            max_abs_change[lane] = if change > max { change } else { max };
        }
    }
    ChangeStats {
        count: 0,
        finite: kernel::count(finite),
        changed: kernel::count(changed),
        sum_abs_change: kernel::total(sum_abs_change),
        sum_abs_before: kernel::total(sum_abs_before),
        sum_squares_change: kernel::total(sum_squares_change),
        sum_squares_before: kernel::total(sum_squares_before),
        max_abs_change: max_abs_change.into_iter().fold(0.0, f64::max),
    }
}
