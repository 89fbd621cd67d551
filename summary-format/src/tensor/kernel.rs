//! Kernels for one block of numbers in the first-level cache: finite sums and exponents.
//!
//! The loops are written over lanes, so that the compiler vectorises them for any processor.

#![expect(
    clippy::inline_always,
    reason = "code gets the instructions of the function that it is inlined into"
)]

use super::DType;
use super::dispatch::{Registers, with_registers};
use super::exponents::BUCKETS;

/// Elements of a block: 8 KiB of `f32`.
pub(super) const BLOCK: usize = 2048;
/// Independent sums, so that additions do not wait for each other.
pub(super) const LANES: usize = 16;
/// Copies of the exponent table: similar values fall into one bucket, and would wait for its count.
pub(super) const TABLES: usize = 8;

/// Counts by sign and exponent: zeros are in the first bucket of their sign.
pub(super) type ExponentTables = [[u32; BUCKETS]; TABLES];

/// The two types that all others are widened to.
pub(super) trait Real: Copy + PartialOrd + Default {
    const LARGEST: Self;
    const INFINITY: Self;
    const NEG_INFINITY: Self;
    const ZERO: Self;
    /// The bytes as numbers without copying, if they are aligned numbers of this type.
    fn view(dtype: DType, bytes: &[u8]) -> Option<&[Self]>;
    /// [`sums`], compiled for these registers.
    fn sums(
        registers: Registers,
        values: &[Self],
        ahead: &[u8],
        element_bytes: usize,
        expects_finite: bool,
    ) -> BlockSums;
    fn magnitude(self) -> Self;
    fn wide(self) -> f64;
    /// Bucket of [`super::Exponents`]; for non-finite values, the bucket after the finite ones.
    fn bucket(self) -> usize;
}

/// The part of [`Real`] that both types have in common.
macro_rules! real {
    ($float:ty, $dtype:ident) => {
        const LARGEST: Self = Self::MAX;
        const INFINITY: Self = Self::INFINITY;
        const NEG_INFINITY: Self = Self::NEG_INFINITY;
        const ZERO: Self = 0.0;

        #[inline(always)]
        fn view(dtype: DType, bytes: &[u8]) -> Option<&[Self]> {
            let is_same = dtype == DType::$dtype && cfg!(target_endian = "little");
            is_same.then(|| bytemuck::try_cast_slice(bytes).ok())?
        }

        fn sums(
            registers: Registers,
            values: &[Self],
            ahead: &[u8],
            element_bytes: usize,
            expects_finite: bool,
        ) -> BlockSums {
            with_registers!(
                registers,
                sums::<$float>,
                values: &[$float], ahead: &[u8], element_bytes: usize, expects_finite: bool => BlockSums
            )
        }

        #[inline(always)]
        fn magnitude(self) -> Self {
            self.abs()
        }
    };
}

impl Real for f32 {
    real!(f32, F32);

    #[inline(always)]
    fn wide(self) -> f64 {
        self.into()
    }

    #[inline(always)]
    fn bucket(self) -> usize {
        (self.to_bits() >> 23) as usize
    }
}

impl Real for f64 {
    real!(f64, F64);

    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    #[inline(always)]
    fn bucket(self) -> usize {
        let high = (self.to_bits() >> 52) as usize;
        let exponent = high & 0x7ff;
        // The bias is 1023 there and 127 here.
        let finite = exponent.saturating_sub(1023 - 127).min(254);
        let bucket = if exponent == 0x7ff { 255 } else { finite };
        bucket | (high >> 11) << 8
    }
}

/// Results of a block: figures over its finite numbers, and counts of the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockSums {
    pub(super) nan: u64,
    pub(super) pos_inf: u64,
    pub(super) neg_inf: u64,
    pub(super) negative: u64,
    /// The smallest absolute value: if it is normal, there are no zeros and no subnormals to count.
    pub(super) smallest: f64,
    /// Minimum; +∞ if nothing is finite.
    pub(super) min: f64,
    /// Maximum; −∞ if nothing is finite.
    pub(super) max: f64,
    pub(super) sum: f64,
    pub(super) sum_abs: f64,
    pub(super) sum_squares: f64,
}

impl BlockSums {
    #[inline(always)]
    fn add<T: Real>(&mut self, x: T, is_kept: bool) {
        let wide = x.wide();
        self.negative += u64::from(x < T::ZERO);
        self.smallest = smaller(x.magnitude().wide(), self.smallest);
        if is_kept || is_finite(x) {
            self.min = smaller(wide, self.min);
            self.max = larger(wide, self.max);
            self.sum += wide;
            self.sum_abs += wide.abs();
            self.sum_squares += wide * wide;
        } else if wide.is_nan() {
            self.nan += 1;
        } else if wide > 0.0 {
            self.pos_inf += 1;
        } else {
            self.neg_inf += 1;
        }
    }
}

/// Prefetches a cache line. The hardware prefetcher stops at each page of 4 KiB.
#[inline(always)]
pub(super) fn prefetch(ahead: &[u8], at: usize) {
    #[cfg(not(target_arch = "x86_64"))]
    let _no_such_hint = (ahead, at);
    #[cfg(target_arch = "x86_64")]
    #[expect(
        unsafe_code,
        reason = "a hint, which reads nothing: any address will do"
    )]
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(ahead.as_ptr().wrapping_add(at).cast());
    }
}

#[inline(always)]
pub(super) fn is_finite<T: Real>(value: T) -> bool {
    value.magnitude() <= T::LARGEST
}

/// Number of zeros, and number of other values with a magnitude below `min_normal`.
#[inline(always)]
pub(super) fn count_tiny<T: Real>(values: &[T], min_normal: f64) -> (u64, u64) {
    let mut zero = 0_u64;
    let mut tiny = 0_u64;
    for &x in values {
        zero += u64::from(x == T::ZERO);
        tiny += u64::from(x.magnitude().wide() < min_normal);
    }
    (zero, tiny.saturating_sub(zero))
}

/// Counts the exponents of finite numbers.
#[inline(always)]
pub(super) fn count_exponents<T: Real>(values: &[T], tables: &mut ExponentTables) {
    let (chunks, rest) = values.as_chunks::<TABLES>();
    for chunk in chunks {
        for (table, value) in tables.iter_mut().zip(chunk) {
            table[value.bucket() % BUCKETS] += 1;
        }
    }
    for value in rest {
        tables[0][value.bucket() % BUCKETS] += 1;
    }
}

/// Sums over the numbers of a block. If all are expected to be finite and one is not, the sums are not finite either.
/// `ahead` begins at the next block. A separate function for each register width: inlined into a larger one, the lanes
/// are kept in memory, at up to five times the time.
#[inline(always)]
pub(super) fn sums<T: Real>(
    values: &[T],
    ahead: &[u8],
    element_bytes: usize,
    expects_finite: bool,
) -> BlockSums {
    if expects_finite {
        sums_of::<T, true>(values, ahead, element_bytes)
    } else {
        sums_of::<T, false>(values, ahead, element_bytes)
    }
}

#[inline(always)]
fn sums_of<T: Real, const FINITE: bool>(
    values: &[T],
    ahead: &[u8],
    element_bytes: usize,
) -> BlockSums {
    let (chunks, rest) = values.as_chunks::<LANES>();

    let mut nan = [0_u32; LANES];
    let mut not_finite = [0_u32; LANES];
    let mut negative = [0_u32; LANES];
    let mut smallest = [T::INFINITY; LANES];
    let mut min = [T::INFINITY; LANES];
    let mut max = [T::NEG_INFINITY; LANES];
    let mut sum = [0.0; LANES];
    let mut sum_abs = [0.0; LANES];
    let mut sum_squares = [0.0; LANES];
    let stride = LANES * element_bytes;
    for (index, x) in chunks.iter().enumerate() {
        prefetch(ahead, index * stride);
        if size_of::<T>() == 8 {
            prefetch(ahead, index * stride + 64);
        }
        for lane in 0..LANES {
            let raw = x[lane];
            if !FINITE {
                nan[lane] += u32::from(raw.partial_cmp(&raw).is_none());
                not_finite[lane] += u32::from(!is_finite(raw));
            }
            let is_kept = FINITE || is_finite(raw);
            negative[lane] += u32::from(raw < T::ZERO);
            smallest[lane] = smaller(raw.magnitude(), smallest[lane]);
            min[lane] = smaller(if is_kept { raw } else { T::INFINITY }, min[lane]);
            max[lane] = larger(if is_kept { raw } else { T::NEG_INFINITY }, max[lane]);
        }
    }
    // A separate loop: together with those of `T`, the wider lanes do not all stay in registers.
    for x in chunks {
        for lane in 0..LANES {
            let raw = x[lane];
            let is_kept = FINITE || is_finite(raw);
            let wide = if is_kept { raw } else { T::ZERO }.wide();
            sum[lane] += wide;
            sum_abs[lane] += wide.abs();
            sum_squares[lane] += wide * wide;
        }
    }
    let nan = count(nan);
    let infinite = count(not_finite) - nan;
    let mut pos_inf = 0;
    if infinite > 0 {
        let is_pos_inf = |x: &T| u64::from(*x == T::INFINITY);
        pos_inf = chunks.as_flattened().iter().map(is_pos_inf).sum();
    }
    let mut block = BlockSums {
        nan,
        pos_inf,
        neg_inf: infinite - pos_inf,
        negative: count(negative),
        smallest: least(smallest).wide(),
        min: least(min).wide(),
        max: greatest(max).wide(),
        sum: total(sum),
        sum_abs: total(sum_abs),
        sum_squares: total(sum_squares),
    };
    // The remainder has separate sums: variable lanes would keep all of them out of registers.
    for &x in rest {
        block.add(x, FINITE);
    }
    block
}

/// Sum of squared distances of the finite numbers from `mean`.
#[inline(always)]
pub(super) fn squared_distances<T: Real>(values: &[T], mean: f64) -> f64 {
    let mut sums = [0.0; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    let squared = |x: T| {
        let distance = if is_finite(x) { x.wide() - mean } else { 0.0 };
        distance * distance
    };
    for chunk in chunks {
        for lane in 0..LANES {
            sums[lane] += squared(chunk[lane]);
        }
    }
    total(sums) + rest.iter().map(|&x| squared(x)).sum::<f64>()
}

#[inline(always)]
fn smaller<T: Real>(a: T, b: T) -> T {
    if a < b { a } else { b }
}

#[inline(always)]
fn larger<T: Real>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

#[inline(always)]
pub(super) fn count(lanes: [u32; LANES]) -> u64 {
    lanes.into_iter().map(u64::from).sum()
}

/// The sum of lanes, in pairs. Not inlined: otherwise the compiler reorders the lanes in every round of the loop
/// before it, at twice the time.
#[inline(never)]
pub(super) fn total(mut lanes: [f64; LANES]) -> f64 {
    let mut len = LANES;
    while len > 1 {
        len /= 2;
        for lane in 0..len {
            lanes[lane] += lanes[lane + len];
        }
    }
    lanes[0]
}

#[inline(never)]
fn least<T: Real>(lanes: [T; LANES]) -> T {
    lanes.into_iter().fold(T::INFINITY, smaller)
}

#[inline(never)]
fn greatest<T: Real>(lanes: [T; LANES]) -> T {
    lanes.into_iter().fold(T::NEG_INFINITY, larger)
}
