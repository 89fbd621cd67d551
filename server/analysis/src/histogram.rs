//! Rebinning of histograms: counts of recorded bins in bins that many histograms share.
//!
//! Values are assumed to be spread evenly over their bin; a bin without width is a single value. Rebinning preserves
//! the total count; counts are exact if the new edges are edges of the recorded bins.

use trainscope_format::{Histogram, TensorSummary};

mod grid;
mod row;

pub use grid::{Grid, Spacing, Span};
pub use row::{Row, SHARES};

/// Overlap with the next bin that is not reported, as a share of a bin.
const ROUNDING: f64 = 1e-3;

/// Problem of a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// A bin ends before it begins; its edges change places.
    Unsorted,
    /// A bin overlaps the next one; both count.
    Overlapping,
    /// A count is below zero or not a number; the bin is left out.
    BadCount,
    /// An edge is not a number, or infinite where the writer gives no bound; the bin is left out.
    BadEdge,
    /// Statistics without exponents.
    NoExponents,
}

/// Values between two bounds, both finite and in order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bin {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) count: f64,
}

impl Bin {
    /// Share of its values between `from` and `to`.
    fn share(&self, from: f64, to: f64) -> f64 {
        let (from, to) = (from.max(self.low), to.min(self.high));
        // Halves, because a width may overflow an `f64`.
        let width = self.high / 2.0 - self.low / 2.0;
        if width > 0.0 {
            ((to / 2.0 - from / 2.0) / width).clamp(0.0, 1.0)
        } else {
            f64::from(u8::from(from <= to))
        }
    }
}

/// A recorded distribution with sorted bins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mass {
    pub(crate) bins: Vec<Bin>,
    pub(crate) nan: u64,
    pub(crate) pos_inf: u64,
    pub(crate) neg_inf: u64,
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
    /// True if the bins are those of binary exponents, and zero.
    pub(crate) is_exponents: bool,
    pub(crate) faults: Vec<Fault>,
}

impl Mass {
    /// Converts a histogram. Its outermost bins are cut at its minimum and maximum, if recorded.
    pub fn of_histogram(histogram: &Histogram) -> Self {
        let finite = |bound: Option<f64>| bound.filter(|bound| bound.is_finite());
        let (mut min, mut max) = (finite(histogram.min), finite(histogram.max));
        if min.zip(max).is_some_and(|(min, max)| min > max) {
            (min, max) = (None, None);
        }
        let mut mass = Self {
            nan: histogram.nan,
            pos_inf: histogram.pos_inf,
            neg_inf: histogram.neg_inf,
            min,
            max,
            ..Self::default()
        };
        let edges = histogram.lefts.iter().zip(&histogram.rights);
        for ((&left, &right), &count) in edges.zip(&histogram.counts) {
            mass.push(left, right, count);
        }
        // Edges written as `f32`, or as a start and a width, differ by rounding.
        let overlaps = |pair: &[Bin]| {
            let width = (pair[0].high - pair[0].low).min(pair[1].high - pair[1].low);
            pair[0].high - pair[1].low > width * ROUNDING
        };
        if mass.bins.windows(2).any(overlaps) {
            mass.fault(Fault::Overlapping);
        }
        mass
    }

    /// Converts the statistics of a tensor: bins of its exponents, and a bin without width for zeros.
    pub fn of_statistics(summary: &TensorSummary) -> Self {
        let stats = &summary.stats;
        let mut mass = Self {
            nan: stats.nan,
            pos_inf: stats.pos_inf,
            neg_inf: stats.neg_inf,
            min: stats.finite.map(|finite| finite.min),
            max: stats.finite.map(|finite| finite.max),
            is_exponents: true,
            ..Self::default()
        };
        match &stats.exponents {
            Some(exponents) => {
                for (low, high, count) in exponents.iter() {
                    mass.push(low, high, count as f64);
                }
                mass.push(0.0, 0.0, stats.zero as f64);
            }
            None if stats.finite.is_some() => mass.fault(Fault::NoExponents),
            None => {}
        }
        mass
    }

    fn fault(&mut self, fault: Fault) {
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    fn push(&mut self, left: f64, right: f64, count: f64) {
        if count == 0.0 {
            return;
        }
        if !(count > 0.0 && count.is_finite()) {
            self.fault(Fault::BadCount);
            return;
        }
        if left.is_nan() || right.is_nan() {
            // The bounds would turn it into a number.
            self.fault(Fault::BadEdge);
            return;
        }
        let (mut low, mut high) = (left, right);
        if right < left {
            self.fault(Fault::Unsorted);
            (low, high) = (right, left);
        }
        // If a bin is disjoint from the bounds, the bounds are ignored.
        if let Some(max) = self.max.filter(|&max| low <= max) {
            high = high.min(max);
        }
        if let Some(min) = self.min.filter(|&min| min <= high) {
            low = low.max(min);
        }
        if low.is_finite() && high.is_finite() {
            self.bins.push(Bin { low, high, count });
        } else {
            self.fault(Fault::BadEdge);
        }
    }
}

#[cfg(test)]
mod tests;
