//! Counts of values in equal bins of a given range.

#![expect(
    clippy::inline_always,
    reason = "code gets the instructions of the function that it is inlined into"
)]

use serde::{Deserialize, Serialize};

use super::kernel::{BLOCK, Real};
use crate::float;

/// Counts in bins of equal width from `low` to `high`; the last bin includes `high`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Lower edge of the first bin.
    #[serde(with = "float")]
    pub low: f64,
    /// Upper edge of the last bin.
    #[serde(with = "float")]
    pub high: f64,
    /// Number of values in each bin.
    pub bins: Vec<u64>,
    /// Values below `low`, including −∞.
    pub below: u64,
    /// Values above `high`, including +∞.
    pub above: u64,
    /// Values that are not a number.
    pub nan: u64,
}

impl Histogram {
    /// Default number of bins.
    pub const BINS: usize = 64;

    /// Empty bins. If `low` equals `high`, values equal to them are in the first bin.
    pub fn new(low: f64, high: f64, bins: usize) -> Self {
        Self {
            low,
            high,
            bins: vec![0; bins],
            below: 0,
            above: 0,
            nan: 0,
        }
    }

    /// Adds the counts of another part of the same tensor; returns `false` without a change if its bins differ.
    #[must_use]
    pub fn merge(&mut self, other: &Self) -> bool {
        let is_alike = self.low.to_bits() == other.low.to_bits()
            && self.high.to_bits() == other.high.to_bits()
            && self.bins.len() == other.bins.len();
        if is_alike {
            self.add_counts(other);
        }
        is_alike
    }

    pub(super) fn add_counts(&mut self, other: &Self) {
        for (sum, count) in self.bins.iter_mut().zip(&other.bins) {
            *sum += count;
        }
        self.below += other.below;
        self.above += other.above;
        self.nan += other.nan;
    }
}

/// Copies of the counts, so that consecutive values of one bin do not wait for each other.
const TABLES: usize = 8;

/// Number of bins that a byte can index, which needs no bounds check.
const SMALL: usize = 256;

/// A histogram under construction.
pub(super) struct Places {
    histogram: Histogram,
    bins: u32,
    last: f64,
    zoom: f64,
    origin: f64,
    per_width: f64,
    place: Box<[u32; BLOCK]>,
    /// Counts of each bin, followed by those below, above, and NaN.
    tables: Vec<[u64; TABLES]>,
}

impl Places {
    pub(super) fn new(low: f64, high: f64, bins: usize) -> Self {
        // Halves, because `high - low` may overflow an `f64`; near its limits, where bins divided by the width would
        // be subnormal, a power of two scales both closer to 1.
        let half_width = high / 2.0 - low / 2.0;
        let zoom = if half_width > 1e300 {
            2.0_f64.powi(-64)
        } else if half_width < 1e-290 {
            2.0_f64.powi(64)
        } else {
            0.5
        };
        let (origin, width) = (low * zoom, high * zoom - low * zoom);
        let histogram = Histogram::new(low, high, bins);
        let bins = u32::try_from(bins).unwrap_or(u32::MAX).min(1 << 30);
        Self {
            histogram,
            bins,
            last: f64::from(bins.saturating_sub(1)),
            zoom,
            origin,
            per_width: if width > 0.0 {
                f64::from(bins) / width
            } else {
                0.0
            },
            place: Box::new([0; BLOCK]),
            tables: vec![[0; TABLES]; (bins as usize + 3).max(SMALL)],
        }
    }

    #[inline(always)]
    pub(super) fn add<T: Real>(&mut self, block: &[T]) {
        let (low, high) = (self.histogram.low, self.histogram.high);
        // Without early exit, so that it vectorises.
        let is_inside = block
            .iter()
            .fold(true, |all, x| all & (x.wide() >= low) & (x.wide() <= high));
        let (bins, last) = (self.bins, self.last);
        let (zoom, origin, per_width) = (self.zoom, self.origin, self.per_width);
        let inside = |value: f64| {
            let position = (value * zoom - origin) * per_width;
            let position = if position >= 0.0 { position } else { 0.0 };
            let position = if position <= last { position } else { last };
            // The last bits of 2^52 + n are n, rounded: the only conversion of f64 to integer that vectorises on all
            // targets.
            let shifted = position + 4_503_599_627_370_496.0;
            let is_rounded_up = shifted - 4_503_599_627_370_496.0 > position;
            #[expect(clippy::cast_possible_truncation, reason = "it is below 2^32")]
            let place = (shifted.to_bits() as u32).wrapping_sub(u32::from(is_rounded_up));
            place
        };
        let places = self.place.iter_mut().zip(block);
        if is_inside {
            for (place, value) in places {
                *place = inside(value.wide());
            }
        } else {
            for (place, value) in places {
                let value = value.wide();
                let beyond = if value < low { bins } else { bins + 1 };
                *place = if value >= low && value <= high {
                    inside(value)
                } else if value.is_nan() {
                    bins + 2
                } else {
                    beyond
                };
            }
        }
        let len = block.len().min(BLOCK);
        let (chunks, rest) = self.place[..len].as_chunks::<TABLES>();
        // A local borrow: through `self`, the address of the counts would be loaded again after each count.
        let tables = self.tables.as_mut_slice();
        if tables.len() == SMALL
            && let Some(tables) = tables.first_chunk_mut::<SMALL>()
        {
            for places in chunks {
                for (table, &place) in places.iter().enumerate() {
                    tables[place as usize % SMALL][table] += 1;
                }
            }
        } else {
            for places in chunks {
                for (table, &place) in places.iter().enumerate() {
                    if let Some(counts) = tables.get_mut(place as usize) {
                        counts[table] += 1;
                    }
                }
            }
        }
        for &place in rest {
            if let Some(counts) = tables.get_mut(place as usize) {
                counts[0] += 1;
            }
        }
    }

    pub(super) fn finish(self) -> Histogram {
        let mut histogram = self.histogram;
        let mut counts = self.tables.iter().map(|counts| counts.iter().sum());
        for bin in &mut histogram.bins {
            *bin = counts.next().unwrap_or(0);
        }
        histogram.below = counts.next().unwrap_or(0);
        histogram.above = counts.next().unwrap_or(0);
        histogram.nan = counts.next().unwrap_or(0);
        histogram
    }
}
