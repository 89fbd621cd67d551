//! One block of numbers, read while it lies in the first-level cache: finite sums and exponents.
//!
//! The loops are written over lanes, so that the compiler vectorises them for whatever the processor has.

#![expect(
    clippy::inline_always,
    reason = "code gets the instructions of the function that it is inlined into"
)]

use super::exponents::BUCKETS;

/// Elements of a block: 8 KiB of `f32`.
pub(super) const BLOCK: usize = 2048;
/// Independent sums, so that additions do not wait for each other.
const LANES: usize = 16;
/// Copies of the exponent table: values near each other fall into one bucket, and its count would be waited for.
pub(super) const TABLES: usize = 8;

/// Counts by sign and exponent: zeros are in the first bucket of their sign.
pub(super) type ExponentTables = [[u32; BUCKETS]; TABLES];

/// The two types that everything else is widened to.
pub(super) trait Real: Copy + PartialOrd + Default {
    const LARGEST: Self;
    const SMALLEST_NORMAL: Self;
    const ZERO: Self;
    fn magnitude(self) -> Self;
    fn wide(self) -> f64;
    /// Bucket of [`super::Exponents`], of a finite number.
    fn bucket(self) -> usize;
}

impl Real for f32 {
    const LARGEST: Self = Self::MAX;
    const SMALLEST_NORMAL: Self = Self::MIN_POSITIVE;
    const ZERO: Self = 0.0;

    #[inline(always)]
    fn magnitude(self) -> Self {
        self.abs()
    }

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
    const LARGEST: Self = Self::MAX;
    const SMALLEST_NORMAL: Self = Self::MIN_POSITIVE;
    const ZERO: Self = 0.0;

    #[inline(always)]
    fn magnitude(self) -> Self {
        self.abs()
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    #[inline(always)]
    fn bucket(self) -> usize {
        let high = (self.to_bits() >> 52) as usize;
        // Biased by 1023 here and by 127 there.
        (high & 0x7ff).saturating_sub(1023 - 127).min(254) | (high >> 11) << 8
    }
}

/// What a block of finite numbers comes to.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockSums {
    pub(super) zero: u64,
    pub(super) negative: u64,
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) sum: f64,
    pub(super) sum_abs: f64,
    pub(super) sum_squares: f64,
    /// Sum of squared distances from the mean of the block.
    pub(super) m2: f64,
}

/// Whether all are finite.
#[inline(always)]
pub(super) fn all_finite<T: Real>(values: &[T]) -> bool {
    // Without early exit, so that it vectorises.
    let outside = values
        .iter()
        .fold(0, |sum: u32, value| sum | u32::from(!is_finite(*value)));
    outside == 0
}

#[inline(always)]
pub(super) fn is_finite<T: Real>(value: T) -> bool {
    value.magnitude() <= T::LARGEST
}

/// How many finite numbers are subnormal in the type they are in here.
#[inline(always)]
pub(super) fn count_subnormal<T: Real>(values: &[T]) -> u64 {
    values.iter().fold(0, |count, &x| {
        count + u64::from(x != T::ZERO && x.magnitude() < T::SMALLEST_NORMAL)
    })
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

/// Sums over finite numbers, at least one and at most [`BLOCK`].
#[inline(always)]
pub(super) fn sums<T: Real>(values: &[T]) -> BlockSums {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let first = values.first().copied().unwrap_or_default();

    let mut zero = [0_u32; LANES];
    let mut negative = [0_u32; LANES];
    let mut min = [first; LANES];
    let mut max = [first; LANES];
    for x in chunks {
        for lane in 0..LANES {
            zero[lane] += u32::from(x[lane] == T::ZERO);
            negative[lane] += u32::from(x[lane] < T::ZERO);
            min[lane] = smaller(x[lane], min[lane]);
            max[lane] = larger(x[lane], max[lane]);
        }
    }

    let mut sum = [0.0; LANES];
    let mut sum_abs = [0.0; LANES];
    let mut sum_squares = [0.0; LANES];
    for chunk in chunks {
        let x: [f64; LANES] = std::array::from_fn(|lane| chunk[lane].wide());
        for lane in 0..LANES {
            sum[lane] += x[lane];
            sum_abs[lane] += x[lane].abs();
            sum_squares[lane] += x[lane] * x[lane];
        }
    }

    let mut block = BlockSums {
        zero: zero.iter().copied().map(u64::from).sum(),
        negative: negative.iter().copied().map(u64::from).sum(),
        min: min.into_iter().fold(first, smaller).wide(),
        max: max.into_iter().fold(first, larger).wide(),
        sum: total(sum),
        sum_abs: total(sum_abs),
        sum_squares: total(sum_squares),
        m2: 0.0,
    };
    // What does not fill the lanes has sums of its own: variable lanes would keep all of them out of registers.
    for &x in rest {
        block.zero += u64::from(x == T::ZERO);
        block.negative += u64::from(x < T::ZERO);
        let x = x.wide();
        block.min = block.min.min(x);
        block.max = block.max.max(x);
        block.sum += x;
        block.sum_abs += x.abs();
        block.sum_squares += x * x;
    }

    // A second look at the block, about its own mean: squares of large numbers that lie close together would cancel.
    let mean = block.sum / values.len() as f64;
    let mut m2 = [0.0; LANES];
    for chunk in chunks {
        let x: [f64; LANES] = std::array::from_fn(|lane| chunk[lane].wide());
        for lane in 0..LANES {
            let distance = x[lane] - mean;
            m2[lane] += distance * distance;
        }
    }
    block.m2 = total(m2);
    for x in rest {
        let distance = x.wide() - mean;
        block.m2 += distance * distance;
    }
    block
}

#[inline(always)]
fn smaller<T: Real>(a: T, b: T) -> T {
    if a < b { a } else { b }
}

#[inline(always)]
fn larger<T: Real>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

/// The sum of lanes, in pairs. Not inlined: seen together with the loop before it, the compiler reorders the lanes in
/// every round of that loop, at twice the time.
#[inline(never)]
fn total(mut lanes: [f64; LANES]) -> f64 {
    let mut len = LANES;
    while len > 1 {
        len /= 2;
        for lane in 0..len {
            lanes[lane] += lanes[lane + len];
        }
    }
    lanes[0]
}
