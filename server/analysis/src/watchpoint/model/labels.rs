//! Statistics of all targets of a training, updated per batch.

use trainscope_format::tensor::{Exponents, TensorStats};

/// Tolerance for numbers outside of a range, as a share of the range. Chosen: targets may be smoothed or dequantized.
const TOLERANCE: f64 = 0.05;

/// Bucket of exponents that holds 1 = 2⁰, and that of NaN and infinities: the biased exponent of IEEE 754 binary32.
const ONE: u16 = 127;
const NOT_FINITE: u16 = 255;

/// Counts of the elements of targets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    /// Number of elements that are 0, 1, 2 or 3, 4 to 7, … by their magnitude.
    pub(crate) buckets: Vec<u64>,
    /// Elements between 0 and 1, or 0 and -1, without the ends.
    pub(crate) fractions: u64,
    negative: u64,
    /// Number of finite elements.
    pub(crate) total: u64,
    /// Minimum and maximum of these.
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Labels {
    /// Adds the elements of a batch.
    pub(crate) fn count(&mut self, stats: &TensorStats) {
        let mut add = |bucket: usize, count: u64| {
            if self.buckets.len() <= bucket {
                self.buckets.resize(bucket + 1, 0);
            }
            self.buckets[bucket] = self.buckets[bucket].saturating_add(count);
        };
        add(0, stats.zero);
        for &(bucket, count) in stats.exponents.iter().flat_map(Exponents::counts) {
            if (ONE..NOT_FINITE).contains(&bucket) {
                add(usize::from(bucket - ONE) + 1, count);
            } else if bucket < ONE {
                self.fractions = self.fractions.saturating_add(count);
            }
        }
        let Some(finite) = stats.finite else {
            return;
        };
        let is_first = self.total == 0;
        self.total = (self.total).saturating_add(stats.zero + stats.negative + stats.positive);
        self.negative = self.negative.saturating_add(stats.negative);
        self.min = if is_first {
            finite.min
        } else {
            self.min.min(finite.min)
        };
        self.max = if is_first {
            finite.max
        } else {
            self.max.max(finite.max)
        };
    }

    /// Minimum number of elements outside of a range, with minimum and maximum; `None` if none exceeds the tolerance.
    /// Ranges end at 0, ±1 or nowhere. For elements from 1 to 2 the number of ones is unknown: all are counted if none
    /// is larger, otherwise none.
    pub(crate) fn outside(&self, low: f64, high: f64) -> Option<(u64, f64, f64)> {
        let width = if (high - low).is_finite() {
            high - low
        } else {
            self.min.abs().max(self.max.abs())
        };
        let (is_below, is_above) = (
            self.min < low - TOLERANCE * width,
            self.max > high + TOLERANCE * width,
        );
        if !(is_below || is_above) {
            return None;
        }
        // If some are at least 2, those from 1 to 2 may all be 1.
        let is_far = self.max >= 2.0 || self.min <= -2.0;
        let large = self.buckets.iter().skip(1 + usize::from(is_far));
        let large = large.sum::<u64>();
        let outside = match (is_below, is_above) {
            // Both signs are in one bucket.
            (true, _) if low < 0.0 => large,
            (true, true) => self.negative.max(large),
            (true, false) => self.negative,
            (false, _) => large,
        };
        Some((outside, self.min, self.max))
    }
}
