//! Conversion between values and fractions of an axis: linear, logarithmic, symmetric logarithmic.
//!
//! An [`Axis`] is valid for any input: its bounds are finite, ordered and, on a logarithmic scale, positive.
//! Differences are taken of halves: even the widest range of `f64` does not overflow.

use std::f64::consts::LN_10;

/// Multiple of its linear part above which a symmetric scale is treated as logarithmic; the quotient itself may exceed
/// `f64`.
const FAR: f64 = 1e15;

/// Scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Scale {
    /// Equal distances are equal differences.
    #[default]
    Linear,
    /// Equal distances are equal ratios; zero and negative values cannot be shown.
    Log,
    /// Logarithmic in both directions, linear around zero.
    Symlog {
        /// End of the linear part, above 0.
        linear: f64,
    },
}

impl Scale {
    /// Position of a value, in units of the scale; `None` for values that it cannot show.
    pub(crate) fn forward(self, value: f64) -> Option<f64> {
        if !value.is_finite() {
            return None;
        }
        match self {
            Self::Linear => Some(value),
            Self::Log => (value > 0.0).then(|| value.log10()),
            Self::Symlog { linear } => {
                let linear = linear.max(f64::MIN_POSITIVE);
                let ratio = value.abs() / linear;
                let size = if ratio < FAR {
                    ratio.ln_1p() / LN_10
                } else {
                    value.abs().log10() - linear.log10()
                };
                Some(size.copysign(value))
            }
        }
    }

    /// The value at a position.
    fn backward(self, position: f64) -> f64 {
        let value = match self {
            Self::Linear => position,
            Self::Log => 10_f64.powf(position),
            Self::Symlog { linear } => {
                let size = position.abs();
                let value = if size < FAR.log10() {
                    (size * LN_10).exp_m1() * linear
                } else {
                    10_f64.powf(size + linear.max(f64::MIN_POSITIVE).log10())
                };
                value.copysign(position)
            }
        };
        value.clamp(f64::MIN, f64::MAX)
    }

    /// True if an axis of this scale can show a value.
    pub fn shows(self, value: f64) -> bool {
        value.is_finite() && (self != Self::Log || value > 0.0)
    }
}

/// A range on a scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    lo: f64,
    hi: f64,
    scale: Scale,
}

impl Axis {
    /// Creates an axis from `lo` to `hi`. Bounds that the scale cannot show, or that leave nothing between them, are
    /// replaced by the nearest valid ones.
    pub fn new(lo: f64, hi: f64, scale: Scale) -> Self {
        let (mut lo, mut hi) = (clean(lo, scale), clean(hi, scale));
        if lo > hi {
            std::mem::swap(&mut lo, &mut hi);
        }
        let axis = Self { lo, hi, scale };
        if axis.span() > 0.0 {
            return axis;
        }
        match scale {
            Scale::Log => {
                lo = (lo / 10.0).max(f64::MIN_POSITIVE);
                hi = (hi * 10.0).min(f64::MAX);
            }
            Scale::Linear | Scale::Symlog { .. } => {
                let half = if lo == 0.0 { 1.0 } else { lo.abs() / 2.0 };
                lo = (lo - half).max(f64::MIN);
                hi = (hi + half).min(f64::MAX);
            }
        }
        let wider = Self { lo, hi, scale };
        if wider.span() > 0.0 {
            wider
        } else {
            // Halving a subnormal value loses precision.
            Self {
                lo: if scale == Scale::Log { 0.1 } else { -1.0 },
                hi: 1.0,
                scale,
            }
        }
    }

    /// Lower bound.
    pub fn lo(&self) -> f64 {
        self.lo
    }

    /// Upper bound.
    pub fn hi(&self) -> f64 {
        self.hi
    }

    /// Its scale.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Half the distance of the bounds in units of the scale.
    fn span(&self) -> f64 {
        match (self.scale.forward(self.lo), self.scale.forward(self.hi)) {
            (Some(lo), Some(hi)) => hi / 2.0 - lo / 2.0,
            _ => 0.0,
        }
    }

    /// Position of a value: 0 at the lower bound, 1 at the upper, other numbers outside. `None` if the scale cannot
    /// show it.
    pub fn fraction(&self, value: f64) -> Option<f64> {
        let lo = self.scale.forward(self.lo)?;
        let at = self.scale.forward(value)?;
        Some((at / 2.0 - lo / 2.0) / self.span())
    }

    /// The value at a fraction; always finite.
    pub fn value(&self, fraction: f64) -> f64 {
        let fraction = if fraction.is_finite() { fraction } else { 0.0 };
        let lo = self.scale.forward(self.lo).unwrap_or_default();
        // Doubled after the product: the span itself may exceed f64.
        let half = lo / 2.0 + self.span() * fraction;
        self.scale.backward(half * 2.0)
    }

    /// True if the value is between the bounds.
    pub fn contains(&self, value: f64) -> bool {
        self.lo <= value && value <= self.hi
    }
}

fn clean(bound: f64, scale: Scale) -> f64 {
    let bound = if bound.is_nan() {
        0.0
    } else {
        bound.clamp(f64::MIN, f64::MAX)
    };
    match scale {
        Scale::Log if bound < f64::MIN_POSITIVE => f64::MIN_POSITIVE,
        _ => bound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(left: f64, right: f64) {
        assert!(
            (left - right).abs() <= 1e-9 * right.abs().max(1.0),
            "{left} {right}"
        );
    }

    #[test]
    fn fractions_and_values_are_inverse() {
        for (axis, value) in [
            (Axis::new(0.0, 10.0, Scale::Linear), 2.5),
            (Axis::new(0.001, 1000.0, Scale::Log), 0.5),
            (
                Axis::new(-100.0, 100.0, Scale::Symlog { linear: 0.1 }),
                -3.0,
            ),
        ] {
            near(axis.value(axis.fraction(value).unwrap()), value);
        }
        near(
            Axis::new(1.0, 100.0, Scale::Log).fraction(10.0).unwrap(),
            0.5,
        );
    }

    #[test]
    fn the_widest_range_does_not_overflow() {
        let axis = Axis::new(f64::MIN, f64::MAX, Scale::Linear);
        near(axis.fraction(0.0).unwrap(), 0.5);
        near(axis.fraction(f64::MAX).unwrap(), 1.0);
        assert!(axis.value(0.75).is_finite());
    }

    #[test]
    fn a_symmetric_scale_tells_all_sizes_apart() {
        let axis = Axis::new(-1e300, 1e300, Scale::Symlog { linear: 1e-300 });
        near(axis.fraction(0.0).unwrap(), 0.5);
        near(axis.fraction(1.0).unwrap(), 0.75);
        near(axis.value(axis.fraction(1e-3).unwrap()).log10(), -3.0);
        near(axis.value(axis.fraction(-1e200).unwrap()) / 1e200, -1.0);
    }

    #[test]
    fn what_a_scale_cannot_show_has_no_place() {
        let axis = Axis::new(0.1, 10.0, Scale::Log);
        assert_eq!(axis.fraction(0.0), None);
        assert_eq!(axis.fraction(-1.0), None);
        assert_eq!(axis.fraction(f64::NAN), None);
        assert_eq!(
            Axis::new(0.0, 1.0, Scale::Linear).fraction(f64::INFINITY),
            None
        );
    }

    #[test]
    fn impossible_bounds_become_possible_ones() {
        for scale in [Scale::Linear, Scale::Log, Scale::Symlog { linear: 1.0 }] {
            for lo in [f64::NAN, f64::NEG_INFINITY, 0.0, 5e-324, 1e308] {
                for hi in [f64::NAN, f64::INFINITY, 0.0, 5e-324, -7.0] {
                    let axis = Axis::new(lo, hi, scale);
                    assert!(axis.span() > 0.0, "{lo} {hi} {scale:?} {axis:?}");
                }
            }
        }
    }
}
