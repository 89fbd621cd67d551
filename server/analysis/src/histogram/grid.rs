//! Bins shared by many distributions: range, and spacing of the edges.

use super::Mass;

/// Share of all values that may be below the linear threshold of a symmetric logarithm.
const NEAR_ZERO: f64 = 0.01;
/// Maximum ratio of the maximum to that threshold.
const WIDEST: f64 = 1e12;
/// Binary exponents of `f64`, subnormal ones included, from −1,074 to 1,023.
const EXPONENTS: usize = 2_098;

/// Equal widths are useless for a distribution whose median absolute value is smaller than the maximum of all by more
/// than this factor: half of its values are in a thousandth of the axis, less than a pixel of a card.
const MAX_LINEAR_RATIO: f64 = 1e3;

/// Spacing of edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// Equal widths.
    #[default]
    Linear,
    /// Equal ratios in both directions, equal widths around zero.
    Symlog,
}

/// Range of the values of many distributions.
#[derive(Clone, Debug)]
pub struct Span {
    low: f64,
    high: f64,
    /// Number of values by the exponent of their absolute value.
    sizes: Box<[f64]>,
    /// Minimum of the median absolute values of single distributions, without zeros.
    least_median: f64,
    /// Exponents of the bins on either side of zero, negative ones first; `None` once a bin is not that of an
    /// exponent.
    exponents: Option<[Reach; 2]>,
}

/// Minimum and maximum exponent, as indices of [`Span::sizes`].
type Reach = Option<(usize, usize)>;

impl Default for Span {
    fn default() -> Self {
        Self {
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            sizes: vec![0.0; EXPONENTS].into(),
            least_median: f64::INFINITY,
            exponents: Some([None; 2]),
        }
    }
}

impl Span {
    /// Extends the range by a distribution.
    pub fn add(&mut self, mass: &Mass) {
        if !mass.is_exponents && !mass.bins.is_empty() {
            self.exponents = None;
        }
        self.least_median = self.least_median.min(median(mass));
        for bin in &mass.bins {
            if let Some([negative, positive]) = &mut self.exponents {
                let (reach, edge) = if bin.low < 0.0 {
                    (negative, -bin.high)
                } else {
                    (positive, bin.low)
                };
                if let Some(at) = exponent(edge) {
                    let (least, greatest) = reach.unwrap_or((at, at));
                    *reach = Some((least.min(at), greatest.max(at)));
                }
            }
            self.low = self.low.min(bin.low);
            self.high = self.high.max(bin.high);
            let size = bin.low.abs().max(bin.high.abs());
            if let Some(sum) = exponent(size).and_then(|at| self.sizes.get_mut(at)) {
                *sum += bin.count;
            }
        }
    }

    /// The most readable spacing for these values: [`Spacing::Symlog`] above `MAX_LINEAR_RATIO`.
    pub fn fitting(&self) -> Spacing {
        let greatest = self.low.abs().max(self.high.abs());
        let is_wide = greatest > MAX_LINEAR_RATIO * self.least_median;
        if is_wide {
            Spacing::Symlog
        } else {
            Spacing::Linear
        }
    }

    /// True if all bins are those of binary exponents.
    pub fn is_exponents(&self) -> bool {
        self.exponents.is_some() && self.low <= self.high
    }

    /// Power of two of the exponent up to which more than `share` of the absolute values are found, without zeros;
    /// `None` without values.
    fn size_above(&self, share: f64) -> Option<f64> {
        let all: f64 = self.sizes.iter().sum();
        let mut seen = 0.0;
        let at = self.sizes.iter().position(|size| {
            seen += size;
            seen > all * share
        });
        at.map(power)
    }

    /// Linear threshold of a symmetric logarithm of these values: a power of two, 1 without values.
    fn linear(&self) -> f64 {
        let greatest = self.low.abs().max(self.high.abs());
        let linear = self.size_above(NEAR_ZERO).unwrap_or(1.0);
        if greatest.is_finite() {
            linear.max(greatest / WIDEST).max(f64::MIN_POSITIVE)
        } else {
            linear
        }
    }
}

/// The median absolute value of a distribution, by the outer edges of its bins and without zeros; infinite without
/// values.
fn median(mass: &Mass) -> f64 {
    let size = |bin: &super::Bin| bin.low.abs().max(bin.high.abs());
    let mut sizes: Vec<(f64, f64)> = mass.bins.iter().map(|bin| (size(bin), bin.count)).collect();
    sizes.retain(|(size, _)| *size > 0.0);
    sizes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let all: f64 = sizes.iter().map(|(_, count)| count).sum();
    let mut seen = 0.0;
    let found = sizes.iter().find(|(_, count)| {
        seen += count;
        seen > all / 2.0
    });
    found.map_or(f64::INFINITY, |(size, _)| *size)
}

/// Edges of the bins of one sign, ascending, with `together` exponents in each.
fn sides((least, greatest): (usize, usize), together: usize) -> Vec<f64> {
    let bins = (greatest + 1 - least).div_ceil(together);
    let edges = (0..=bins).map(|bin| power(least + bin * together).min(f64::MAX));
    edges.collect()
}

/// Index of the exponent of a positive number.
fn exponent(size: f64) -> Option<usize> {
    if size <= 0.0 {
        return None;
    }
    let bits = size.to_bits();
    let biased = usize::try_from(bits >> 52).ok()?;
    match biased {
        0 => usize::try_from(63_u32.saturating_sub(bits.leading_zeros())).ok(),
        _ => Some(biased + 51),
    }
}

/// The power of two at an index.
fn power(at: usize) -> f64 {
    let exponent = i32::try_from(at).unwrap_or(0) - 1_074;
    2.0_f64.powi(exponent).max(f64::from_bits(1))
}

/// Contiguous bins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    edges: Vec<f64>,
    linear: f64,
}

impl Grid {
    /// Bins over the whole range; no bins without values. A range without width gets bins around it.
    pub fn new(span: &Span, bins: usize, spacing: Spacing) -> Self {
        if span.low > span.high || bins == 0 {
            return Self {
                edges: Vec::new(),
                linear: 1.0,
            };
        }
        let linear = span.linear();
        let (mut low, mut high) = (span.low, span.high);
        let forward = |value: f64| match spacing {
            Spacing::Linear => value / 2.0,
            Spacing::Symlog => (value.abs() / linear).ln_1p().copysign(value),
        };
        let backward = |place: f64| match spacing {
            Spacing::Linear => (place * 2.0).clamp(f64::MIN, f64::MAX),
            Spacing::Symlog => (place.abs().exp_m1() * linear).copysign(place),
        };
        if low >= high {
            let half = if low == 0.0 { 0.5 } else { low.abs() / 2.0 };
            (low, high) = ((low - half).max(f64::MIN), (high + half).min(f64::MAX));
        }
        let (from, to) = (forward(low), forward(high));
        let mut edges: Vec<f64> = (0..=bins)
            .map(|n| backward(from + (to - from) * (n as f64 / bins as f64)))
            .collect();
        // The outer edges are those of the data, without rounding.
        edges[0] = low;
        edges[bins] = high;
        for at in 1..bins {
            edges[at] = edges[at].clamp(edges[at - 1], high);
        }
        Self { edges, linear }
    }

    /// Bins of exponents: every edge is a power of two. Counts stay whole numbers, and zeros have a separate bin. With
    /// more than `bins` bins, neighbours are joined, but never values of different signs. Other spans get the bins of
    /// [`Grid::new`].
    pub fn of_exponents(span: &Span, bins: usize) -> Self {
        let Some([negative, positive]) = span.exponents.filter(|_| span.low <= span.high) else {
            return Self::new(span, bins, Spacing::Symlog);
        };
        let mut together = 1;
        loop {
            let side = |reach: Reach| {
                reach
                    .map(|reach| sides(reach, together))
                    .unwrap_or_default()
            };
            let (below, above) = (side(negative), side(positive));
            let mut edges: Vec<f64> = below.iter().rev().map(|edge| -edge).collect();
            if below.is_empty() || above.is_empty() {
                // Zeros are between the only sign and zero.
                if span.low <= 0.0 && span.high >= 0.0 || edges.is_empty() && above.is_empty() {
                    edges.push(0.0);
                }
            }
            edges.extend(above);
            if edges == [0.0] {
                return Self::new(span, 1, Spacing::Linear);
            }
            if edges.len() <= bins.max(3) + 1 {
                let linear = span.linear();
                return Self { edges, linear };
            }
            together += 1;
        }
    }

    /// The edges, ascending; one more than there are bins.
    pub fn edges(&self) -> &[f64] {
        &self.edges
    }

    /// Linear threshold of the symmetric logarithm.
    pub fn linear(&self) -> f64 {
        self.linear
    }

    pub(crate) fn len(&self) -> usize {
        self.edges.len().saturating_sub(1)
    }

    /// The bin of a value; values outside belong to the outermost bins.
    pub(crate) fn place(&self, value: f64) -> usize {
        let above = self.edges.partition_point(|edge| *edge <= value);
        above.saturating_sub(1).min(self.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_range_is_drawn_on_a_logarithm() {
        let span = |bins: &[(f64, f64, f64)]| {
            let mut span = Span::default();
            let bins = bins
                .iter()
                .map(|&(low, high, count)| crate::histogram::Bin { low, high, count });
            span.add(&Mass {
                bins: bins.collect(),
                ..Mass::default()
            });
            span
        };
        assert_eq!(
            span(&[(-1.0, 0.0, 5.0), (0.0, 1.0, 5.0)]).fitting(),
            Spacing::Linear
        );
        assert_eq!(
            span(&[(0.0, 1.0, 9.0), (1.0, 1e20, 1.0)]).fitting(),
            Spacing::Symlog
        );
        assert_eq!(
            span(&[(0.0, 1.0, 1.0), (1.0, 1e20, 9.0)]).fitting(),
            Spacing::Linear
        );
        assert_eq!(span(&[]).fitting(), Spacing::Linear);
        // One of many that is a thousand times smaller would be a spike.
        let mut one = span(&[(0.0, 1.0, 9.0)]);
        let huge = super::super::Bin {
            low: -1e30,
            high: 0.0,
            count: 1e6,
        };
        one.add(&Mass {
            bins: vec![huge],
            ..Mass::default()
        });
        assert_eq!(one.fitting(), Spacing::Symlog);
        assert_eq!(span(&[(0.0, 0.0, 3.0)]).fitting(), Spacing::Linear);
    }

    #[test]
    fn exponents_have_their_places() {
        for (size, at) in [
            (f64::from_bits(1), 0),
            (f64::MIN_POSITIVE, 52),
            (1.0, 1_074),
            (f64::MAX, 2_097),
        ] {
            assert_eq!(exponent(size), Some(at), "{size}");
        }
        assert_eq!(exponent(0.0), None);
        assert_eq!(power(1_074).to_bits(), 1.0_f64.to_bits());
        assert_eq!(power(0).to_bits(), 1);
    }
}
