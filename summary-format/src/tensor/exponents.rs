//! Counts of values between two powers of two, by sign.

use serde::{Deserialize, Serialize};

/// Buckets of a dense table: sign and biased exponent.
pub(super) const BUCKETS: usize = 512;

/// A histogram over sign and binary exponent: 255 buckets per sign, of which the empty ones take no memory.
///
/// Bucket *b* of a sign counts the values with 2^(*b*−127) ≤ |x| < 2^(*b*−126); the first (*b* = 0) also all smaller
/// magnitudes, the last (*b* = 254) also all larger ones. Zeros, NaN and infinities are excluded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Exponents {
    /// Bucket (with 256 added for negative values) and count, ascending, no count 0.
    counts: Vec<(u16, u64)>,
}

impl Exponents {
    pub(super) fn from_dense(dense: &[u64; BUCKETS]) -> Self {
        let counts = (0..).zip(dense.iter().copied());
        Self {
            counts: counts.filter(|bucket| bucket.1 > 0).collect(),
        }
    }

    /// Builds a histogram from pairs of a bucket (with 256 added for negative values) and its count. `None` unless the
    /// buckets are valid and ascend, and no count is 0.
    pub fn from_counts(counts: Vec<(u16, u64)>) -> Option<Self> {
        let ascends = counts.is_sorted_by(|a, b| a.0 < b.0);
        let is_bucket =
            |&(bucket, count): &(u16, u64)| bucket < 512 && bucket & 255 < 255 && count > 0;
        (ascends && counts.iter().all(is_bucket)).then_some(Self { counts })
    }

    /// Bucket (with 256 added for negative values) and count of each non-empty bucket.
    pub fn counts(&self) -> &[(u16, u64)] {
        &self.counts
    }

    /// Lower bound, upper bound and count of each non-empty bucket.
    pub fn iter(&self) -> impl Iterator<Item = (f64, f64, u64)> {
        self.counts.iter().map(|&(bucket, count)| {
            let exponent = i32::from(bucket & 255) - 127;
            let low = if exponent == -127 {
                f64::from_bits(1)
            } else {
                2.0_f64.powi(exponent)
            };
            let high = if exponent == 127 {
                f64::MAX
            } else {
                2.0_f64.powi(exponent + 1).next_down()
            };
            if bucket < 256 {
                (low, high, count)
            } else {
                (-high, -low, count)
            }
        })
    }

    /// Histogram of the values multiplied by a power of two; `None` for other factors, and if a value is or gets beyond
    /// the range of the buckets.
    pub(crate) fn scaled(&self, factor: f64) -> Option<Self> {
        let exponent = factor.log2();
        let is_power = exponent.fract() == 0.0 && exponent.abs() < 256.0;
        #[expect(clippy::cast_possible_truncation, reason = "below 256")]
        let shift = is_power.then_some(exponent as i16)?;
        let counts = self.counts.iter().map(|&(bucket, count)| {
            let (sign, exponent) = (bucket & 256, i16::try_from(bucket & 255).ok()?);
            let shifted = exponent + shift;
            let is_inside = |exponent: i16| (1..254).contains(&exponent);
            let bucket = u16::try_from(shifted).ok()? | sign;
            (is_inside(exponent) && is_inside(shifted)).then_some((bucket, count))
        });
        counts.collect::<Option<_>>().and_then(Self::from_counts)
    }

    /// Adds the counts of another part of the tensor.
    pub fn merge(&mut self, other: &Self) {
        let mut dense = [0; BUCKETS];
        for &(bucket, count) in self.counts.iter().chain(&other.counts) {
            if let Some(sum) = dense.get_mut(usize::from(bucket)) {
                *sum += count;
            }
        }
        *self = Self::from_dense(&dense);
    }
}
