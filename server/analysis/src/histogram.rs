//! Histograms counted again: bins that were recorded in any way, as counts in bins that many of them share.
//!
//! What is known of a recorded bin is how many values lie in it, not where: it is spread evenly over its width, and one
//! without width is a single value. Counting again neither loses nor makes a value; the counts of bins whose edges are
//! edges of the recorded ones are exact.

use trainscope_format::{Histogram, TensorSummary};

mod grid;
mod row;

pub use grid::{Grid, Spacing, Span};
pub use row::{Row, SHARES};

/// The share of a bin by which it may overlap the next one without being told.
const ROUNDING: f64 = 1e-3;

/// What is wrong with a histogram.
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
    /// Which share of its values lies from `from` up to `to`.
    fn share(&self, from: f64, to: f64) -> f64 {
        let (from, to) = (from.max(self.low), to.min(self.high));
        // Halves, because a width may exceed what an `f64` holds.
        let width = self.high / 2.0 - self.low / 2.0;
        if width > 0.0 {
            ((to / 2.0 - from / 2.0) / width).clamp(0.0, 1.0)
        } else {
            f64::from(u8::from(from <= to))
        }
    }
}

/// One recorded distribution, put in order.
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
    /// What a histogram says. Its outermost bins end at the least and the greatest value, if it names them.
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
        // Edges that were written as `f32`, or as a beginning and a width, miss each other by rounding.
        let overlaps = |pair: &[Bin]| {
            let width = (pair[0].high - pair[0].low).min(pair[1].high - pair[1].low);
            pair[0].high - pair[1].low > width * ROUNDING
        };
        if mass.bins.windows(2).any(overlaps) {
            mass.fault(Fault::Overlapping);
        }
        mass
    }

    /// What statistics of a tensor say: its exponents, zeros as a bin without width.
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
            // Bounds would make a number of it.
            self.fault(Fault::BadEdge);
            return;
        }
        let (mut low, mut high) = (left, right);
        if right < left {
            self.fault(Fault::Unsorted);
            (low, high) = (right, left);
        }
        // A bin that has nothing in common with the bounds is believed; they are not.
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
