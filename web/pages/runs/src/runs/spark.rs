//! The small curve in a row, over the steps of its run and with its scale. A cross marks the first NaN.

use std::fmt::Write as _;

use trainscope_api::scalars::{NonFiniteClass, Series};

/// Width, CSS pixels.
pub(super) const WIDTH: f64 = 76.0;
/// Height, CSS pixels.
pub(super) const HEIGHT: f64 = 20.0;
/// Requested points: one per pixel.
pub(super) const POINTS: usize = 76;
/// Fraction of the maximum magnitude. Smaller differences are noise, and the curve is flat.
const FLAT: f64 = 0.05;
/// Weight of the past in the smoothed curve.
const SMOOTHING: f64 = 0.6;
/// Minimum number of points of a smoothed curve.
const SMOOTHED_FROM: usize = 30;

/// A curve ready to be drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Spark {
    /// `d` of the path; empty if no point is finite.
    pub(super) path: String,
    /// Position of the cross at the first NaN, and end of the dotted line after it.
    pub(super) nan: Option<(f64, f64)>,
    /// Position of an isolated point.
    pub(super) dot: Option<(f64, f64)>,
}

impl Spark {
    /// Draws a series up to the last step of its run.
    pub(super) fn new(series: &Series, last_step: i64) -> Self {
        let Some(&first) = series.steps.first() else {
            return Self::default();
        };
        let last = series.steps.last().copied().unwrap_or(first).max(last_step);
        let span = ((last - first) as f64).max(1.0);
        let x = |step: i64| 1.0 + (step - first) as f64 / span * (WIDTH - 2.0);
        let nan_step = series
            .non_finite
            .iter()
            .filter(|stretch| stretch.class == NonFiniteClass::Nan)
            .map(|stretch| stretch.first_step)
            .min();
        let values = smoothed(&series.values);
        let finite = values.iter().copied().filter(|value| value.is_finite());
        let (lowest, highest) = finite
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        let flat = highest - lowest <= FLAT * highest.abs().max(lowest.abs());
        let y = |value: f64| {
            if flat {
                HEIGHT / 2.0
            } else {
                HEIGHT - 3.0 - (value - lowest) / (highest - lowest) * (HEIGHT - 6.0)
            }
        };
        let mut path = String::new();
        let mut pen_down = false;
        let mut points = 0;
        let mut dot = None;
        for (&step, &value) in series.steps.iter().zip(&values) {
            if !value.is_finite() {
                pen_down = false;
                continue;
            }
            let command = if pen_down { 'L' } else { 'M' };
            // Writing to a string does not fail.
            let _ignored = write!(path, "{command}{:.1} {:.1}", x(step), y(value));
            pen_down = true;
            points += 1;
            dot = Some((x(step), y(value)));
        }
        Self {
            path,
            nan: nan_step.map(|step| (x(step).clamp(3.5, WIDTH - 3.5), WIDTH - 3.0)),
            dot: dot.filter(|_| points == 1),
        }
    }
}

/// Debiased exponential mean. Values that are not finite stay unchanged and do not count.
fn smoothed(values: &[f64]) -> Vec<f64> {
    if values.len() < SMOOTHED_FROM {
        return values.to_vec();
    }
    let (mut mean, mut weight) = (0.0, 0.0);
    let step = |&value: &f64| {
        if !value.is_finite() {
            return value;
        }
        mean = mean * SMOOTHING + value * (1.0 - SMOOTHING);
        weight = weight * SMOOTHING + (1.0 - SMOOTHING);
        mean / weight
    };
    values.iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainscope_api::scalars::NonFinite;

    fn series(values: &[f64]) -> Series {
        Series {
            total: values.len() as u64,
            steps: (0..).take(values.len()).collect(),
            values: values.to_vec(),
            ..Series::default()
        }
    }

    #[test]
    fn ends_touch_the_edges_and_extremes_the_margins() {
        let spark = Spark::new(&series(&[4.0, 2.0, 0.0]), 2);
        assert_eq!(spark.path, "M1.0 3.0L38.0 10.0L75.0 17.0");
        assert_eq!(spark.nan, None);
    }

    #[test]
    fn noise_is_flat() {
        let spark = Spark::new(&series(&[2.30, 2.31]), 1);
        assert_eq!(spark.path, "M1.0 10.0L75.0 10.0");
    }

    #[test]
    fn a_nan_breaks_the_line_and_has_a_cross() {
        let mut series = series(&[4.0, f64::NAN, f64::NAN]);
        series.non_finite.push(NonFinite {
            class: NonFiniteClass::Nan,
            first_step: 1,
            last_step: 2,
            count: 2,
        });
        let spark = Spark::new(&series, 2);
        assert_eq!(spark.path, "M1.0 10.0");
        assert_eq!(spark.nan, Some((38.0, 73.0)));
    }

    #[test]
    fn extreme_values_stay_inside() {
        let spark = Spark::new(&series(&[f64::MAX, f64::MIN, 0.0]), i64::MAX);
        assert!(!spark.path.is_empty());
        assert_eq!(Spark::new(&series(&[]), 5), Spark::default());
    }
}
