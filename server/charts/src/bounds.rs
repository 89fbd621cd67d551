//! Ranges of axes: over everything drawn, or without outliers.

use crate::scale::{Axis, Scale};
use crate::spec::{LimitLine, Line, YRange};

/// Distance of an outlier from the middle half of all values, in widths of that half; outliers do not widen the axis.
const FAR: f64 = 3.0;
/// Distance up to which a limit widens the axis, as a share of the range of values.
const NEAR_LIMIT: f64 = 0.5;

/// Minimum and maximum of the values drawn in the range of x, including neighbours just outside: lines that leave the
/// plot influence the scale. Limits that are not too far away are included.
pub(crate) fn of(
    lines: &[Line],
    x: &Axis,
    scale: Scale,
    range: YRange,
    limits: &[LimitLine],
) -> Option<(f64, f64)> {
    if range == YRange::Unit {
        return Some((0.0, 1.0));
    }
    let seen = || {
        lines.iter().flat_map(move |line| {
            let seen = move |index: usize| line.x.get(index).is_some_and(|&at| x.contains(at));
            let lists = [&line.values, &line.raw, &line.low, &line.high];
            lists.into_iter().flat_map(move |values| {
                let shown = values.iter().enumerate().filter(move |&(index, _)| {
                    seen(index) || seen(index + 1) || index.checked_sub(1).is_some_and(seen)
                });
                shown.map(|(_, &value)| value)
            })
        })
    };
    let shown = || seen().filter(|&value| scale.shows(value));
    let fence = match range {
        YRange::All | YRange::Unit => (f64::NEG_INFINITY, f64::INFINITY),
        YRange::Robust => fence(shown().filter_map(|value| scale.forward(value)).collect()),
    };
    let within = shown().filter(|&value| {
        let at = scale.forward(value).unwrap_or_default();
        fence.0 <= at && at <= fence.1
    });
    let found = within.fold(None, |found: Option<(f64, f64)>, value| {
        let (lo, hi) = found.unwrap_or((value, value));
        Some((lo.min(value), hi.max(value)))
    });
    let (lo, hi) = found?;
    let values = (scale.forward(lo)?, scale.forward(hi)?);
    let margin = (values.1 / 2.0 - values.0 / 2.0) * 2.0 * NEAR_LIMIT;
    let near = limits.iter().filter(|limit| {
        let at = scale.forward(limit.value);
        at.is_some_and(|at| values.0 - margin <= at && at <= values.1 + margin)
    });
    Some(near.fold((lo, hi), |(lo, hi), limit| {
        (lo.min(limit.value), hi.max(limit.value))
    }))
}

/// Bounds outside of which values are outliers.
fn fence(mut values: Vec<f64>) -> (f64, f64) {
    if values.is_empty() {
        return (f64::NEG_INFINITY, f64::INFINITY);
    }
    let quarter = values.len() / 4;
    let end = values.len() - 1;
    let (_, &mut low, _) = values.select_nth_unstable_by(quarter, f64::total_cmp);
    let (_, &mut high, _) = values.select_nth_unstable_by(end - quarter, f64::total_cmp);
    let reach = FAR * (high - low);
    (low - reach, high + reach)
}

/// The range of x on its scale: a logarithmic axis begins at the first x that it can show.
pub(crate) fn of_x((lo, hi): (f64, f64), scale: Scale, lines: &[Line]) -> (f64, f64) {
    if scale != Scale::Log || lo > 0.0 {
        return (lo, hi);
    }
    let all = lines.iter().flat_map(|line| &line.x);
    let first = all
        .copied()
        .filter(|&x| x > 0.0 && x <= hi)
        .fold(f64::INFINITY, f64::min);
    if first.is_finite() {
        (first, hi.max(first))
    } else {
        (1.0, hi.max(1.0))
    }
}

/// A symmetric scale without a linear part gets one from the data: its smallest magnitude, four powers at most below
/// the largest, unless a tenth of the data is smaller than that.
pub(crate) fn with_linear_part(scale: Scale, values: impl Iterator<Item = f64>) -> Scale {
    let Scale::Symlog { linear } = scale else {
        return scale;
    };
    if linear > 0.0 && linear.is_finite() {
        return scale;
    }
    let magnitudes = values
        .map(f64::abs)
        .filter(|value| value.is_finite() && *value > 0.0);
    let mut magnitudes: Vec<f64> = magnitudes.collect();
    magnitudes.sort_unstable_by(f64::total_cmp);
    let (Some(least), Some(most)) = (magnitudes.first(), magnitudes.last()) else {
        return Scale::Symlog { linear: 1.0 };
    };
    let tenth = magnitudes[magnitudes.len() / 10];
    let [least, tenth, most] = [*least, tenth, *most].map(|size| size.log10().floor());
    let exponent = least.max(tenth.min(most - 4.0));
    Scale::Symlog {
        linear: 10_f64.powf(exponent).max(f64::MIN_POSITIVE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(values: &[f64]) -> Line {
        Line {
            x: (0_u32..).take(values.len()).map(f64::from).collect(),
            values: values.to_vec(),
            ..Line::default()
        }
    }

    fn bounds(values: &[f64], range: YRange, limits: &[LimitLine]) -> Option<(f64, f64)> {
        let x = Axis::new(0.0, 100.0, Scale::Linear);
        of(&[line(values)], &x, Scale::Linear, range, limits)
    }

    #[test]
    fn a_spike_does_not_decide_a_robust_range() {
        let mut values: Vec<f64> = (0_u32..40).map(|i| f64::from(i % 5)).collect();
        assert_eq!(bounds(&values, YRange::Robust, &[]), Some((0.0, 4.0)));
        values[20] = 1e30;
        assert_eq!(bounds(&values, YRange::Robust, &[]), Some((0.0, 4.0)));
        assert_eq!(bounds(&values, YRange::All, &[]), Some((0.0, 1e30)));
        assert_eq!(bounds(&[f64::NAN], YRange::Robust, &[]), None);
        assert_eq!(bounds(&[0.3, 0.6], YRange::Unit, &[]), Some((0.0, 1.0)));
    }

    #[test]
    fn limits_get_room_unless_they_are_far_away() {
        let limit = |value| LimitLine {
            value,
            text: String::new(),
            is_passed: false,
        };
        let limits = [limit(4.5), limit(1e9)];
        assert_eq!(bounds(&[0.0, 4.0], YRange::All, &limits), Some((0.0, 4.5)));
    }

    fn near(left: f64, right: f64) {
        assert!((left - right).abs() < 1e-9, "{left} is not {right}");
    }

    #[test]
    fn the_linear_part_follows_the_data_and_not_its_smallest_value() {
        let linear_of = |values: &[f64]| {
            let scale = Scale::Symlog { linear: 0.0 };
            match with_linear_part(scale, values.iter().copied()) {
                Scale::Symlog { linear } => linear.log10().round(),
                _ => f64::NAN,
            }
        };
        let mut values: Vec<f64> = (1..=99).map(f64::from).collect();
        values.push(1e-300);
        near(linear_of(&values), -3.0);
        // If magnitudes are spread over hundreds of powers, nine tenths are distinguishable.
        let wide: Vec<f64> = (-300..290).map(|power| -(10_f64.powi(power))).collect();
        near(linear_of(&wide), -241.0);
        near(linear_of(&[0.0, f64::NAN]), 0.0);
    }

    #[test]
    fn a_logarithmic_axis_begins_where_it_can() {
        let lines = [line(&[1.0; 9])];
        assert_eq!(of_x((0.0, 8.0), Scale::Log, &lines), (1.0, 8.0));
        assert_eq!(of_x((0.0, 8.0), Scale::Linear, &lines), (0.0, 8.0));
        assert_eq!(of_x((-3.0, -1.0), Scale::Log, &lines), (1.0, 1.0));
    }
}
