//! Limits noted with runs, as drawn on a card: lines, ranges beyond them, and the number of points there.

use trainscope_api::notebook::{Limit, Threshold};
use trainscope_charts::label;
use trainscope_charts::line::LimitLine;

use super::choices::Range;
use super::data::{CardLines, Curve};

/// Ranges of values beyond the limits.
pub(super) fn beyond(threshold: &Threshold) -> Vec<(f64, f64)> {
    let range = |limit: Limit| {
        if limit.above {
            (limit.value, f64::INFINITY)
        } else {
            (f64::NEG_INFINITY, limit.value)
        }
    };
    let first = range(threshold.first);
    match threshold.second.map(range) {
        None => vec![first],
        Some(second) if threshold.both => {
            let both = (first.0.max(second.0), first.1.min(second.1));
            (both.0 < both.1).then_some(both).into_iter().collect()
        }
        Some(second) => vec![first, second],
    }
}

/// Number of points beyond the limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Beyond {
    /// Number of points; a bucket counts once.
    pub(super) points: u64,
    /// `true` if the number is a lower bound.
    pub(super) is_least: bool,
}

/// Counts the points beyond the limit of each curve in a range of x, or in all of it; `x_of` returns the x of the
/// points.
pub(super) fn count(
    loaded: &CardLines,
    range: Option<Range>,
    x_of: &dyn Fn(&Curve) -> Vec<f64>,
    threshold_of: &dyn Fn(&str) -> Option<Threshold>,
) -> Beyond {
    let mut out = Beyond::default();
    for curve in &loaded.curves {
        let Some(threshold) = threshold_of(&curve.id.run) else {
            continue;
        };
        let series = &curve.series;
        let x = x_of(curve);
        let at = |index: usize| x.get(index).copied().unwrap_or(f64::NAN);
        for index in 0..series.values.len() {
            let passes = |list: &[f64]| {
                let value = list.get(index).copied().unwrap_or(f64::NAN);
                threshold.is_passed_by(value)
            };
            let (from, to) = (
                index.checked_sub(1).map_or(f64::NEG_INFINITY, at),
                at(index),
            );
            // Only the last point of a bucket that begins before the range may be known to be in it, and no point of
            // one that ends after it.
            let (is_in, is_whole, is_touched) = range.map_or((true, true, true), |(lo, hi)| {
                let is_in = lo <= to && to <= hi;
                (is_in, is_in && lo <= from, lo <= to && from < hi)
            });
            let is_peak = series.cut && (passes(&series.min) || passes(&series.max));
            let is_beyond = (is_in && passes(&series.values)) || (is_whole && is_peak);
            out.points += u64::from(is_beyond);
            out.is_least |= series.cut && (is_beyond || (is_touched && is_peak));
        }
    }
    out
}

/// `> 10`, `> 10 or < 1`.
pub(super) fn words(threshold: &Threshold, and: &str, or: &str) -> String {
    let one = |limit: Limit| {
        let sign = if limit.above { ">" } else { "<" };
        format!("{sign} {}", label::exact(limit.value))
    };
    match threshold.second {
        None => one(threshold.first),
        Some(second) => {
            let joint = if threshold.both { and } else { or };
            format!("{} {joint} {}", one(threshold.first), one(second))
        }
    }
}

/// The lines of a card: one per value, the first of each threshold with its text.
pub(super) fn lines(
    thresholds: &[Threshold],
    is_passed: bool,
    text: &dyn Fn(&Threshold) -> String,
) -> Vec<LimitLine> {
    let mut out: Vec<LimitLine> = Vec::new();
    for threshold in thresholds {
        let mut line = |value: f64, text: String| {
            if !out
                .iter()
                .any(|line| line.value.to_bits() == value.to_bits())
            {
                out.push(LimitLine {
                    value,
                    text,
                    is_passed,
                });
            }
        };
        line(threshold.first.value, text(threshold));
        if let Some(second) = threshold.second {
            line(second.value, String::new());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use trainscope_api::scalars::Series;

    use super::*;

    fn threshold(second: Option<f64>, both: bool) -> Threshold {
        Threshold {
            first: Limit {
                above: true,
                value: 1.0,
            },
            second: second.map(|value| Limit {
                above: false,
                value,
            }),
            both,
        }
    }

    #[test]
    fn ranges_follow_the_limits() {
        let (up, down) = (f64::INFINITY, f64::NEG_INFINITY);
        assert_eq!(beyond(&threshold(None, false)), [(1.0, up)]);
        assert_eq!(
            beyond(&threshold(Some(-1.0), false)),
            [(1.0, up), (down, -1.0)]
        );
        assert_eq!(beyond(&threshold(Some(3.0), true)), [(1.0, 3.0)]);
        assert!(beyond(&threshold(Some(-1.0), true)).is_empty());
        assert_eq!(
            words(&threshold(Some(3.0), true), "and", "or"),
            "> 1 and < 3"
        );
    }

    #[test]
    fn points_are_counted_and_of_buckets_the_least() {
        let series = |cut: bool| Series {
            steps: vec![1, 2, 3],
            values: vec![0.0, f64::INFINITY, f64::NAN],
            min: vec![0.0, 0.0, f64::NAN],
            max: vec![5.0, 0.0, f64::NAN],
            cut,
            ..Series::default()
        };
        let loaded = |cut| CardLines {
            curves: vec![Curve {
                series: series(cut),
                ..Curve::default()
            }],
        };
        let of = |_: &str| Some(threshold(None, false));
        let steps = |curve: &Curve| curve.series.steps.iter().map(|&step| step as f64).collect();
        let counted = |cut, range| {
            let found = count(&loaded(cut), range, &steps, &of);
            (found.points, found.is_least)
        };
        assert_eq!(counted(false, None), (1, false));
        assert_eq!(counted(true, None), (2, true));
        // Points before the range are requested for smoothing only and do not count.
        assert_eq!(counted(false, Some((2.0, 3.0))), (1, false));
        assert_eq!(counted(false, Some((3.0, 9.0))), (0, false));
        // The first bucket may be beyond the limit before the range.
        assert_eq!(counted(true, Some((1.0, 1.0))), (0, true));
        assert_eq!(counted(true, Some((0.2, 0.8))), (0, true));
        assert_eq!(counted(true, Some((2.5, 3.0))), (0, false));
        assert_eq!(counted(true, Some((0.5, 3.0))), (1, true));
        let none = count(&loaded(true), None, &steps, &|_| None);
        assert_eq!(none, Beyond::default());
    }
}
