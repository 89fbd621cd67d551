//! The curve of one run in a table cell as SVG path data: line, first NaN and end.

use std::fmt::Write as _;

/// Layout of a cell's curve; all positions in pixels of the cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spark {
    /// Path data of the line (`M…L…`), 1.25 px in the run's colour; empty without finite values.
    pub line: String,
    /// Centre of the cross at the first NaN; a dotted line goes from there to the right edge.
    pub nan: Option<(f64, f64)>,
}

/// Distance of the line from the cell's edges.
const PAD: (f64, f64) = (1.0, 3.0);

/// Lays out `values` over `steps` in a cell of `width` × `height` pixels, on a separate scale. A curve that changes by
/// less than 5 % is drawn flat, so that noise is not amplified. Lists of unequal length are cut to the shorter one.
pub fn spark(steps: &[i64], values: &[f64], width: f64, height: f64) -> Spark {
    let points: Vec<(f64, f64)> = steps
        .iter()
        .map(|&step| step as f64)
        .zip(values.iter().copied())
        .collect();
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Spark::default();
    };
    let (from, to) = (first.0, last.0);
    let finite = || points.iter().map(|p| p.1).filter(|v| v.is_finite());
    let (lo, hi) = finite().fold((f64::MAX, f64::MIN), |(lo, hi), v| (lo.min(v), hi.max(v)));
    let x_of = |x: f64| {
        let share = if to > from {
            (x / 2.0 - from / 2.0) / (to / 2.0 - from / 2.0)
        } else {
            0.0
        };
        PAD.0 + share.clamp(0.0, 1.0) * (width - 2.0 * PAD.0)
    };
    // Halves of subnormal values may be equal.
    let half = hi / 2.0 - lo / 2.0;
    let flat = !(half >= 0.025 * hi.abs().max(lo.abs()) && half > 0.0);
    let y_of = |y: f64| {
        let share = if flat {
            0.65
        } else {
            (y / 2.0 - lo / 2.0) / half
        };
        height - PAD.1 - share * (height - 2.0 * PAD.1)
    };
    let mut line = String::new();
    let mut pen = false;
    for &(x, y) in &points {
        if y.is_finite() {
            let command = if pen { 'L' } else { 'M' };
            // Writing to a String does not fail.
            write!(line, "{command}{:.1} {:.1}", x_of(x), y_of(y)).unwrap_or_default();
        }
        pen = y.is_finite();
    }
    let nan = points
        .iter()
        .find(|p| p.1.is_nan())
        .map(|p| (x_of(p.0).min(width - 4.0), height / 2.0));
    Spark { line, nan }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_falling_curve_goes_down_and_nan_has_a_place() {
        let out = spark(
            &[0, 10, 20, 30],
            &[4.0, 2.0, f64::NAN, f64::NAN],
            76.0,
            20.0,
        );
        assert_eq!(out.line, "M1.0 3.0L25.7 17.0");
        let (x, y) = out.nan.unwrap();
        assert!((x - 50.333).abs() < 1e-3 && (y - 10.0).abs() < 1e-9);
    }

    #[test]
    fn noise_is_flat_and_nothing_is_nothing() {
        let out = spark(&[0, 1], &[1.0, 1.01], 76.0, 20.0);
        assert_eq!(out.line, "M1.0 7.9L75.0 7.9");
        assert_eq!(spark(&[], &[], 76.0, 20.0), Spark::default());
        let out = spark(&[i64::MIN, i64::MAX], &[f64::MIN, f64::MAX], 76.0, 20.0);
        assert_eq!(out.line, "M1.0 17.0L75.0 3.0");
    }
}
