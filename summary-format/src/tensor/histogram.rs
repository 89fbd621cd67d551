//! Counts of values in equal bins of a given range.

#![expect(
    clippy::inline_always,
    reason = "code gets the instructions of the function that it is inlined into"
)]

use serde::{Deserialize, Serialize};

use super::DType;
use super::dispatch::with_widest_registers;
use super::kernel::BLOCK;
use crate::float;

/// Counts in bins of equal width from `low` to `high`; the last bin includes `high`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Where the first bin begins.
    #[serde(with = "float")]
    pub low: f64,
    /// Where the last bin ends.
    #[serde(with = "float")]
    pub high: f64,
    /// How many values lie in each bin.
    pub bins: Vec<u64>,
    /// Values below `low`, −∞ among them.
    pub below: u64,
    /// Values above `high`, +∞ among them.
    pub above: u64,
    /// Values that are not a number.
    pub nan: u64,
}

impl Histogram {
    /// The usual number of bins.
    pub const BINS: usize = 64;

    /// All bins empty. Where `low` equals `high`, what equals them lies in the first bin.
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

    /// Counts all elements in `bytes`. A value within rounding of an edge may fall to either side of it.
    pub fn add(&mut self, dtype: DType, bytes: &[u8]) {
        let bins = u32::try_from(self.bins.len()).unwrap_or(u32::MAX - 3);
        let places = count_places(dtype, bytes, (self.low, self.high), bins);
        for (sum, count) in self.bins.iter_mut().zip(&places) {
            *sum += count;
        }
        if let [.., below, above, nan] = places[..] {
            self.below += below;
            self.above += above;
            self.nan += nan;
        }
    }

    /// Adds the counts of another part of the same tensor; `false`, and nothing done, if its bins are others.
    #[must_use]
    pub fn merge(&mut self, other: &Self) -> bool {
        let is_alike = self.low.to_bits() == other.low.to_bits()
            && self.high.to_bits() == other.high.to_bits()
            && self.bins.len() == other.bins.len();
        if is_alike {
            for (sum, count) in self.bins.iter_mut().zip(&other.bins) {
                *sum += count;
            }
            self.below += other.below;
            self.above += other.above;
            self.nan += other.nan;
        }
        is_alike
    }
}

fn count_places(dtype: DType, bytes: &[u8], range: (f64, f64), bins: u32) -> Vec<u64> {
    with_widest_registers!(
        count,
        dtype: DType, bytes: &[u8], range: (f64, f64), bins: u32 => Vec<u64>
    )
}

/// Copies of the counts, so that values that fall into one bin one after another do not wait for each other.
const TABLES: usize = 4;

/// Counts for each bin, then those below, above, and not a number.
#[inline(always)]
fn count(dtype: DType, bytes: &[u8], (low, high): (f64, f64), bins: u32) -> Vec<u64> {
    let places = bins as usize + 3;
    let last = f64::from(bins.saturating_sub(1));
    // Halves, because `high - low` may exceed what an `f64` holds; and near its ends, where the number of bins by the
    // width would not be a normal number, a power of two brings both nearer to 1.
    let half_width = high / 2.0 - low / 2.0;
    let zoom = if half_width > 1e300 {
        2.0_f64.powi(-64)
    } else if half_width < 1e-290 {
        2.0_f64.powi(64)
    } else {
        0.5
    };
    let (origin, width) = (low * zoom, high * zoom - low * zoom);
    let per_width = if width > 0.0 {
        f64::from(bins) / width
    } else {
        0.0
    };

    let mut block = [0.0; BLOCK];
    let mut place = [0_u32; BLOCK];
    let mut tables = vec![[0_u64; TABLES]; places];
    for piece in bytes.chunks(BLOCK * dtype.size_bytes()) {
        let len = dtype.widen_to_f64(piece, &mut block);
        for (place, &value) in place.iter_mut().zip(&block[..len]) {
            let position = ((value * zoom - origin) * per_width).floor();
            let position = if position >= 0.0 { position } else { 0.0 };
            let position = if position <= last { position } else { last };
            // Of 2^52 + n, the last bits are n: the only way from f64 to integer that vectorises.
            #[expect(clippy::cast_possible_truncation, reason = "it is below 2^32")]
            let inside = (position + 4_503_599_627_370_496.0).to_bits() as u32;
            let beyond = if value < low { bins } else { bins + 1 };
            *place = if value >= low && value <= high {
                inside
            } else if value.is_nan() {
                bins + 2
            } else {
                beyond
            };
        }
        for places in place[..len].chunks(TABLES) {
            for (table, &place) in places.iter().enumerate() {
                if let Some(counts) = tables.get_mut(place as usize) {
                    counts[table] += 1;
                }
            }
        }
    }
    tables.iter().map(|counts| counts.iter().sum()).collect()
}
