//! How many values lie between two powers of two, by sign.

use serde::{Deserialize, Serialize};

/// Buckets of a dense table: sign times biased exponent.
pub(super) const BUCKETS: usize = 512;

/// A histogram over sign and binary exponent: 255 buckets a sign, of which the empty ones take no room.
///
/// Bucket *b* of a sign counts the values with 2^(*b*−127) ≤ |x| < 2^(*b*−126); the first (*b* = 0) all that are nearer
/// to zero, the last (*b* = 254) all that are further from it. Zeros, NaN and infinities are not in it.
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

    /// From pairs of a bucket (with 256 added for negative values) and its count. `None` unless the buckets ascend, are
    /// buckets, and no count is 0.
    pub fn from_counts(counts: Vec<(u16, u64)>) -> Option<Self> {
        let ascends = counts.is_sorted_by(|a, b| a.0 < b.0);
        let is_bucket =
            |&(bucket, count): &(u16, u64)| bucket < 512 && bucket & 255 < 255 && count > 0;
        (ascends && counts.iter().all(is_bucket)).then_some(Self { counts })
    }

    /// Each bucket that is not empty, with 256 added for negative values, and its count.
    pub fn counts(&self) -> &[(u16, u64)] {
        &self.counts
    }

    /// Each bucket that is not empty: the smallest and the largest value that it may hold, and how many it holds.
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

    /// Adds what another part of the tensor holds.
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
