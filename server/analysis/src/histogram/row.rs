//! One row of a histogram chart: counts in shared bins, and percentiles.

use super::{Bin, Fault, Grid, Mass};

/// Shares of all values; see [`Row::percentiles`].
pub const SHARES: [f64; 7] = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0];

/// Bisection steps until the bounds of a percentile are adjacent numbers, for any start.
const HALVINGS: usize = 64;

/// One distribution, or several merged, in the bins of a grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Values in each bin.
    pub counts: Vec<f64>,
    /// Number of NaN values.
    pub nan: u64,
    /// Number of +∞ values.
    pub pos_inf: u64,
    /// Number of −∞ values.
    pub neg_inf: u64,
    /// Problems of the distributions.
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

    /// Adds a distribution; the grid must be that of the row.
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
        let named = |bound: Option<f64>, edge: Option<f64>| bound.or(edge);
        let least = mass.bins.iter().map(|bin| bin.low).reduce(f64::min);
        let greatest = mass.bins.iter().map(|bin| bin.high).reduce(f64::max);
        if let (Some(least), Some(greatest)) = (named(mass.min, least), named(mass.max, greatest)) {
            self.min = Some(self.min.map_or(least, |min| min.min(least)));
            self.max = Some(self.max.map_or(greatest, |max| max.max(greatest)));
        }
        self.bins.extend(&mass.bins);
    }

    /// Number of values in all bins.
    pub fn finite(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// Percentiles at [`SHARES`], the first and the last being the minimum and maximum; `None` without values. Exact
    /// for evenly spread bins.
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

    /// Minimum value that at least `wanted` values do not exceed.
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
        // A single value at the lower edge is returned exactly.
        if up_to(low) >= wanted { low } else { high }
    }
}

/// Spreads a bin over those of the grid. The last bin takes the remainder: rounding loses nothing.
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
