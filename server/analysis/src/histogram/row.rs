//! One row of a picture of distributions: counts in shared bins, and the values that divide them.

use super::{Bin, Fault, Grid, Mass};

/// Shares of all values; see [`Row::percentiles`].
pub const SHARES: [f64; 7] = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0];

/// Halvings until the bounds of a percentile are neighbours, whatever they began with.
const HALVINGS: usize = 64;

/// One distribution or several together, in the bins of a grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Values in each bin.
    pub counts: Vec<f64>,
    /// Values that are not a number.
    pub nan: u64,
    /// Values that are +∞.
    pub pos_inf: u64,
    /// Values that are −∞.
    pub neg_inf: u64,
    /// What is wrong with the distributions.
    pub faults: Vec<Fault>,
    min: Option<f64>,
    max: Option<f64>,
    bins: Vec<Bin>,
}

impl Row {
    /// An empty row of a grid.
    pub fn new(grid: &Grid) -> Self {
        Self {
            counts: vec![0.0; grid.len()],
            ..Self::default()
        }
    }

    /// Counts a distribution; the grid is that of the row.
    pub fn add(&mut self, mass: &Mass, grid: &Grid) {
        self.nan = self.nan.saturating_add(mass.nan);
        self.pos_inf = self.pos_inf.saturating_add(mass.pos_inf);
        self.neg_inf = self.neg_inf.saturating_add(mass.neg_inf);
        self.faults.extend(&mass.faults);
        self.faults.sort_unstable();
        self.faults.dedup();
        for bin in &mass.bins {
            spread(&mut self.counts, bin, grid);
        }
        let named = |bound: Option<f64>, own: Option<f64>| bound.or(own);
        let least = mass.bins.iter().map(|bin| bin.low).reduce(f64::min);
        let greatest = mass.bins.iter().map(|bin| bin.high).reduce(f64::max);
        if let (Some(least), Some(greatest)) = (named(mass.min, least), named(mass.max, greatest)) {
            self.min = Some(self.min.map_or(least, |min| min.min(least)));
            self.max = Some(self.max.map_or(greatest, |max| max.max(greatest)));
        }
        self.bins.extend(&mass.bins);
    }

    /// Values in all bins.
    pub fn finite(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// The values below which [`SHARES`] of all values lie, the first and the last of them the least and the greatest
    /// value; `None` if there are no values. Exact for evenly spread bins.
    pub fn percentiles(&self, grid: &Grid) -> Option<[f64; SHARES.len()]> {
        let (min, max) = self.min.zip(self.max)?;
        let all = self.finite();
        if all <= 0.0 {
            return None;
        }
        let mut out = [min; SHARES.len()];
        for (value, share) in out.iter_mut().zip(SHARES) {
            *value = if share <= 0.0 {
                min
            } else if share >= 1.0 {
                max
            } else {
                self.value_at(all * share, grid).clamp(min, max)
            };
        }
        Some(out)
    }

    /// The least value that at least so many values do not exceed.
    fn value_at(&self, wanted: f64, grid: &Grid) -> f64 {
        let (mut below, mut at) = (0.0, 0);
        for (index, count) in self.counts.iter().enumerate() {
            at = index;
            if below + count >= wanted {
                break;
            }
            below += count;
        }
        let edges = grid.edges();
        let (Some(&from), Some(&to)) = (edges.get(at), edges.get(at + 1)) else {
            return f64::NAN;
        };
        let inside: Vec<&Bin> = self
            .bins
            .iter()
            .filter(|bin| bin.low <= to && bin.high >= from)
            .collect();
        let up_to = |value: f64| {
            let counts = inside.iter().map(|bin| bin.count * bin.share(from, value));
            below + counts.sum::<f64>()
        };
        let (mut low, mut high) = (from, to);
        for _ in 0..HALVINGS {
            let middle = low / 2.0 + high / 2.0;
            if middle <= low || middle >= high {
                break;
            }
            if up_to(middle) >= wanted {
                high = middle;
            } else {
                low = middle;
            }
        }
        // A single value at the lower edge is found there, not a hair above it.
        if up_to(low) >= wanted { low } else { high }
    }
}

/// Spreads a bin over those of the grid; the last of them takes what is left, so that nothing is lost by rounding.
fn spread(counts: &mut [f64], bin: &Bin, grid: &Grid) {
    let (first, mut last) = (grid.place(bin.low), grid.place(bin.high));
    let edges = grid.edges();
    // A bin that ends at an edge has nothing beyond it.
    if last > first && edges.get(last).is_some_and(|edge| *edge >= bin.high) {
        last -= 1;
    }
    let mut left = bin.count;
    for at in first..last {
        let (Some(&from), Some(&to)) = (edges.get(at), edges.get(at + 1)) else {
            break;
        };
        let part = (bin.count * bin.share(from, to)).min(left);
        if let Some(count) = counts.get_mut(at) {
            *count += part;
            left -= part;
        }
    }
    if let Some(count) = counts.get_mut(last) {
        *count += left;
    }
}
