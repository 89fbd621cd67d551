//! Ticks of axes: 1-2-5 steps, powers on logarithmic axes, clock steps on time axes.
//!
//! The result is ascending, within the range, and has at most the requested number of ticks.

use crate::label;
use crate::scale::{Axis, Scale};

/// Ticks of one axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ticks {
    /// Positions, ascending.
    pub values: Vec<f64>,
    /// Their distance; 0 if it is not constant (powers).
    pub step: f64,
}

impl Ticks {
    /// Positions with their labels.
    pub(crate) fn labelled(self) -> Vec<(f64, String)> {
        let labels = label::ticks(&self.values, self.step);
        self.values.into_iter().zip(labels).collect()
    }
}

/// Number of ticks that have room, of `each` pixels each.
pub(crate) fn room(length: f64, each: f64, (least, most): (f64, f64)) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between two small numbers"
    )]
    let room = (length / each).clamp(least, most) as u32;
    room
}

/// Tolerance for rounding of a division: a bound that is nearly a multiple of the step counts as one.
const SLACK: f64 = 1e-9;

/// The 1-2-5 steps from a tenth of `span` downwards or upwards: the smallest for which `count(step)` is at most `most`.
fn step_by(span: f64, most: f64, count: impl Fn(f64) -> f64) -> f64 {
    let span = span.clamp(f64::MIN_POSITIVE, f64::MAX);
    let mut exponent = (span / most.max(1.0)).log10().floor().max(-307.0);
    loop {
        let power = 10_f64.powf(exponent);
        for factor in [1.0, 2.0, 5.0] {
            let step = factor * power;
            if !step.is_finite() {
                return power;
            }
            if count(step) <= most {
                return step;
            }
        }
        exponent += 1.0;
    }
}

fn first_at(lo: f64, step: f64) -> f64 {
    (lo / step - SLACK).ceil()
}

fn last_at(hi: f64, step: f64) -> f64 {
    (hi / step + SLACK).floor()
}

/// Half of a span that may exceed `f64`, doubled without overflow.
fn span(lo: f64, hi: f64) -> f64 {
    ((hi / 2.0 - lo / 2.0) * 2.0).min(f64::MAX)
}

fn multiples(lo: f64, hi: f64, step: f64, most: f64) -> Vec<f64> {
    let first = first_at(lo, step);
    let count = (last_at(hi, step) - first + 1.0).clamp(0.0, most);
    let mut values = Vec::new();
    let mut index = 0.0;
    while index < count {
        let value = (first + index) * step;
        // Minus zero would get a sign in its label.
        values.push(if value == 0.0 { 0.0 } else { value });
        index += 1.0;
    }
    values
}

/// Ticks of a linear range, at multiples of a 1-2-5 step.
pub fn linear(lo: f64, hi: f64, most: u32) -> Ticks {
    let most = f64::from(most.max(2));
    let step = step_by(span(lo, hi), most, |step| {
        last_at(hi, step) - first_at(lo, step) + 1.0
    });
    Ticks {
        values: multiples(lo, hi, step, most),
        step,
    }
}

/// Usual intervals of clocks in seconds.
const CLOCK_STEPS_SECS: [f64; 18] = [
    1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1_800.0, 3_600.0, 7_200.0,
    10_800.0, 21_600.0, 43_200.0, 86_400.0,
];

/// Ticks of a range of seconds; `offset_secs` is added before multiples are taken (the offset of a time zone).
pub fn time(lo: f64, hi: f64, most: u32, offset_secs: f64) -> Ticks {
    let (lo, hi) = (lo + offset_secs, hi + offset_secs);
    let most_f = f64::from(most.max(2));
    let count = |step: f64| last_at(hi, step) - first_at(lo, step) + 1.0;
    let span = span(lo, hi);
    let step = if span < most_f {
        step_by(span, most_f, count)
    } else {
        CLOCK_STEPS_SECS
            .into_iter()
            .find(|&step| count(step) <= most_f)
            .unwrap_or_else(|| {
                86_400.0 * step_by(span / 86_400.0, most_f, |days| count(days * 86_400.0))
            })
    };
    let mut values = multiples(lo, hi, step, most_f);
    for value in &mut values {
        *value -= offset_secs;
    }
    Ticks { values, step }
}

/// Ticks of an axis of values.
pub fn of(axis: &Axis, most: u32) -> Ticks {
    match axis.scale() {
        Scale::Linear => linear(axis.lo(), axis.hi(), most),
        Scale::Log => log(axis.lo(), axis.hi(), most),
        Scale::Symlog { linear } => symlog(axis, linear, most),
    }
}

fn log(lo: f64, hi: f64, most: u32) -> Ticks {
    let inside = |value: &f64| lo * (1.0 - SLACK) <= *value && *value <= hi * (1.0 + SLACK);
    let (from, to) = (lo.log10().floor(), hi.log10().ceil());
    let limit = f64::from(most.max(2));
    if to - from <= limit {
        for mantissas in [&[1.0, 2.0, 5.0][..], &[1.0, 3.0][..]] {
            let mut values = Vec::new();
            let mut exponent = from;
            while exponent <= to {
                values.extend(mantissas.iter().map(|m| m * 10_f64.powf(exponent)));
                exponent += 1.0;
            }
            values.retain(inside);
            if values.len() as f64 <= limit {
                if values.len() < 3 {
                    return linear(lo, hi, most);
                }
                return Ticks { values, step: 0.0 };
            }
        }
    }
    let exponents = linear(lo.log10(), hi.log10(), most.max(2));
    let step = exponents.step.max(1.0);
    let mut values: Vec<f64> = multiples(lo.log10(), hi.log10(), step, limit)
        .into_iter()
        .map(|exponent| 10_f64.powf(exponent))
        .collect();
    values.retain(inside);
    Ticks { values, step: 0.0 }
}

fn symlog(axis: &Axis, linear_to: f64, most: u32) -> Ticks {
    let widest = axis.lo().abs().max(axis.hi().abs());
    let (from, to) = (linear_to.log10().floor(), widest.log10().floor());
    let most = most.max(3) as usize;
    let with = |mantissas: &[f64], stride: f64| {
        let mut values = vec![0.0];
        // From the outside in: the outermost power shows the magnitude.
        let mut exponent = to;
        while exponent >= from && values.len() <= 4 * most {
            let sizes = mantissas.iter().map(|m| m * 10_f64.powf(exponent));
            values.extend(sizes.flat_map(|size| [size, -size]));
            exponent -= stride;
        }
        values.retain(|&at| axis.contains(at));
        values
    };
    let mut values = with(&[1.0, 2.0, 5.0], 1.0);
    let mut stride = 1.0;
    while values.len() > most && stride < 700.0 {
        values = with(&[1.0], stride);
        stride += 1.0;
    }
    values.sort_by(f64::total_cmp);
    Ticks { values, step: 0.0 }
}

/// The axis of values over `lo` to `hi`, widened outwards to its ticks.
///
/// A single value gets the range from zero to twice itself, so that a constant is a flat line in the middle.
pub fn widen(lo: f64, hi: f64, scale: Scale, most: u32) -> (Axis, Ticks) {
    let is_constant = lo.to_bits() == hi.to_bits();
    let axis = if is_constant && scale == Scale::Linear {
        Axis::new((lo * 2.0).min(0.0), (lo * 2.0).max(0.0), scale)
    } else {
        Axis::new(lo, hi, scale)
    };
    let (lo, hi) = (axis.lo(), axis.hi());
    // Powers would take most of an axis of less than a factor of two: 13,000 to 14,000 between 10,000 and 20,000.
    let is_narrow = scale == Scale::Log && lo < hi && hi < 2.0 * lo;
    let wider = match scale {
        Scale::Linear | Scale::Log if scale == Scale::Linear || is_narrow => {
            let most = f64::from(most.max(3));
            let below = |step: f64| (lo / step + SLACK).floor();
            let above = |step: f64| (hi / step - SLACK).ceil();
            let step = step_by(span(lo, hi), most, |step| above(step) - below(step) + 1.0);
            let axis = Axis::new(below(step) * step, above(step) * step, scale);
            let values = multiples(axis.lo(), axis.hi(), step, most);
            return (axis, Ticks { values, step });
        }
        Scale::Linear | Scale::Log => Axis::new(outward(lo, false), outward(hi, true), scale),
        Scale::Symlog { .. } => {
            let side = |bound: f64, up: bool| {
                if bound == 0.0 {
                    0.0
                } else {
                    outward(bound.abs(), up == (bound > 0.0)).copysign(bound)
                }
            };
            Axis::new(side(lo, false), side(hi, true), scale)
        }
    };
    let ticks = of(&wider, most);
    (wider, ticks)
}

/// The next 1, 2 or 5 times a power of ten from a positive value, larger or smaller.
fn outward(value: f64, larger: bool) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let mantissa = value / power;
    let nice = if larger {
        [1.0, 2.0, 5.0]
            .into_iter()
            .find(|nice| mantissa <= nice * (1.0 + SLACK))
            .unwrap_or(10.0)
    } else {
        [5.0, 2.0, 1.0]
            .into_iter()
            .find(|nice| mantissa >= nice * (1.0 - SLACK))
            .unwrap_or(0.5)
    };
    nice * power
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "ticks are exact where they are compared")]
mod tests {
    use super::*;

    fn rounded(ticks: &Ticks) -> Vec<f64> {
        ticks
            .values
            .iter()
            .map(|v| format!("{v:.9e}").parse().unwrap())
            .collect()
    }

    #[test]
    fn linear_ticks_are_multiples_of_1_2_5() {
        assert_eq!(
            rounded(&linear(0.0, 3000.0, 6)),
            [0.0, 1000.0, 2000.0, 3000.0]
        );
        assert_eq!(
            rounded(&linear(0.0, 3000.0, 7)),
            [0.0, 500.0, 1000.0, 1500.0, 2000.0, 2500.0, 3000.0]
        );
        assert_eq!(rounded(&linear(-0.07, 0.11, 6)), [-0.05, 0.0, 0.05, 0.1]);
    }

    #[test]
    fn axes_of_values_end_at_ticks() {
        let (axis, ticks) = widen(1.7, 9.1, Scale::Linear, 6);
        assert_eq!((axis.lo(), axis.hi()), (0.0, 10.0));
        assert_eq!(rounded(&ticks), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        let (axis, ticks) = widen(0.31, 620.0, Scale::Log, 6);
        assert_eq!((axis.lo(), axis.hi()), (0.2, 1000.0));
        assert_eq!(rounded(&ticks), [1.0, 10.0, 100.0, 1000.0]);
        let (axis, ticks) = widen(13_050.0, 13_900.0, Scale::Log, 6);
        assert_eq!((axis.lo(), axis.hi()), (13_000.0, 14_000.0));
        assert_eq!(ticks.step, 200.0);
        let (axis, _) = widen(2.2, 4.9, Scale::Log, 6);
        assert_eq!((axis.lo(), axis.hi()), (2.0, 5.0));
        let (axis, ticks) = widen(1e-3, 1e-3, Scale::Linear, 6);
        assert_eq!((axis.lo(), axis.hi(), ticks.values.len()), (0.0, 2e-3, 5));
        let (axis, _) = widen(-7.0, -7.0, Scale::Linear, 6);
        assert_eq!((axis.lo(), axis.hi()), (-15.0, 0.0));
    }

    #[test]
    fn symmetric_ticks_hold_zero_and_both_signs() {
        let (_, ticks) = widen(-150.0, 30.0, Scale::Symlog { linear: 0.1 }, 6);
        let ticks = rounded(&ticks);
        assert!(ticks.contains(&0.0) && ticks.contains(&-100.0), "{ticks:?}");
        assert!(ticks.len() <= 7, "{ticks:?}");
    }

    #[test]
    fn time_counts_as_clocks_do() {
        assert_eq!(time(0.0, 100.0, 6, 0.0).step, 30.0);
        assert_eq!(time(0.0, 5_000.0, 6, 0.0).step, 900.0);
        // Local midnight, two hours ahead of UTC.
        let ticks = time(0.0, 400_000.0, 6, 7_200.0);
        assert_eq!(ticks.values[0], 86_400.0 - 7_200.0);
    }

    #[test]
    fn extremes_have_ticks_too() {
        for scale in [Scale::Linear, Scale::Log, Scale::Symlog { linear: 1e-3 }] {
            for (lo, hi) in [
                (f64::MIN, f64::MAX),
                (1e-308, 1e308),
                (5e-324, 1e-323),
                (1e15, 1e15 + 1.0),
                (f64::NAN, 1.0),
                (-9.3e18, 9.3e18),
            ] {
                let (_, ticks) = widen(lo, hi, scale, 6);
                assert!(ticks.values.len() <= 7, "{lo} {hi} {scale:?} {ticks:?}");
                assert!(ticks.values.is_sorted(), "{ticks:?}");
            }
        }
    }
}
