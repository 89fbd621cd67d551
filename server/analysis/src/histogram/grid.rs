//! Bins that many distributions share: how far they reach, and how their edges are spaced.

use super::Mass;

/// Of all values, so many may be nearer to zero than where a symmetric logarithm begins to be one.
const NEAR_ZERO: f64 = 0.01;
/// Greatest ratio of the greatest value and that place.
const WIDEST: f64 = 1e12;
/// Binary exponents of `f64`, subnormal ones included, from −1,074 to 1,023.
const EXPONENTS: usize = 2_098;

/// How edges are spaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// Equal widths.
    #[default]
    Linear,
    /// Equal ratios in both directions, equal widths around zero.
    Symlog,
}

/// How far the values of many distributions reach.
#[derive(Clone, Debug)]
pub struct Span {
    low: f64,
    high: f64,
    /// Values by the exponent of their absolute value.
    sizes: Box<[f64]>,
}

impl Default for Span {
    fn default() -> Self {
        Self {
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            sizes: vec![0.0; EXPONENTS].into(),
        }
    }
}

impl Span {
    /// Makes room for a distribution.
    pub fn add(&mut self, mass: &Mass) {
        for bin in &mass.bins {
            self.low = self.low.min(bin.low);
            self.high = self.high.max(bin.high);
            let size = bin.low.abs().max(bin.high.abs());
            if let Some(sum) = exponent(size).and_then(|at| self.sizes.get_mut(at)) {
                *sum += bin.count;
            }
        }
    }

    /// Where a symmetric logarithm of these values begins: a power of two, 1 if there are none.
    fn linear(&self) -> f64 {
        let all: f64 = self.sizes.iter().sum();
        let greatest = self.low.abs().max(self.high.abs());
        let mut seen = 0.0;
        let first = self.sizes.iter().position(|size| {
            seen += size;
            seen > all * NEAR_ZERO
        });
        let linear = first.map_or(1.0, power);
        if greatest.is_finite() {
            linear.max(greatest / WIDEST).max(f64::MIN_POSITIVE)
        } else {
            linear
        }
    }
}

/// Place of the exponent of a positive number.
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

/// The power of two at a place.
fn power(at: usize) -> f64 {
    let exponent = i32::try_from(at).unwrap_or(0) - 1_074;
    2.0_f64.powi(exponent).max(f64::from_bits(1))
}

/// Bins without gaps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    edges: Vec<f64>,
    linear: f64,
}

impl Grid {
    /// So many bins over all of a span; none if there are no values. A span without width gets bins around it.
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
        // The outer edges are those of the data, not what rounding makes of them.
        edges[0] = low;
        edges[bins] = high;
        for at in 1..bins {
            edges[at] = edges[at].clamp(edges[at - 1], high);
        }
        Self { edges, linear }
    }

    /// The edges, ascending; one more than there are bins.
    pub fn edges(&self) -> &[f64] {
        &self.edges
    }

    /// Where a symmetric logarithm begins.
    pub fn linear(&self) -> f64 {
        self.linear
    }

    /// Number of bins.
    pub(crate) fn len(&self) -> usize {
        self.edges.len().saturating_sub(1)
    }

    /// The bin that a value lies in; what lies outside belongs to the outermost ones.
    pub(crate) fn place(&self, value: f64) -> usize {
        let above = self.edges.partition_point(|edge| *edge <= value);
        above.saturating_sub(1).min(self.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
