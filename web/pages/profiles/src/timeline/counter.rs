//! Counters and curves over time: lines between their edges, places of values that are not finite, texts of values.

use trainscope_api::scalars::{NonFiniteClass, Series};
use trainscope_api::timeline::TimelineCounter;

use super::view::View;
use trainscope_web_kit::format;

/// Unit of a curve of the run; a curve is drawn between its minimum and its maximum.
pub(super) const CURVE: &str = "curve";

/// Lines of a counter in view, split at gaps: x and height of each bucket. Height 0 is the minimum, for counters at
/// most zero; height 1 is the maximum.
pub(super) fn counter_lines(
    counter: &TimelineCounter,
    view: View,
    width: f64,
) -> Vec<Vec<(f64, f64)>> {
    let finite = |values: &[f64], pick: fn(f64, f64) -> f64| {
        let values = values.iter().copied().filter(|value| value.is_finite());
        values.reduce(pick)
    };
    let most = finite(&counter.greatest, f64::max).unwrap_or(1.0);
    let least = finite(&counter.least, f64::min).unwrap_or(0.0);
    // A spike of a curve may be small compared to its distance from zero.
    let least = if counter.unit == CURVE {
        least
    } else {
        least.min(0.0)
    };
    let range = (most - least).max(f64::MIN_POSITIVE);
    let times = &counter.times_nanos;
    // One bucket at either side, so that lines reach the edges.
    let first = times.partition_point(|time| (*time as f64) < view.from);
    let end = times.partition_point(|time| (*time as f64) <= view.to);
    let first = first.saturating_sub(1);
    let end = (end + 1).min(times.len());
    let mut lines: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    for index in first..end {
        let value = counter.greatest.get(index).copied().unwrap_or(f64::NAN);
        let Some(time) = times.get(index) else { break };
        let (x, height) = (view.x(*time as f64, width), (value - least) / range);
        if let Some(line) = lines.last_mut() {
            // A value holds until the next one.
            if let Some((_, before)) = line.last().copied() {
                line.push((x, before));
            }
            if value.is_finite() {
                line.push((x, height));
            }
        }
        if !value.is_finite() {
            lines.push(Vec::new());
        }
    }
    // The last value holds until the end.
    if end == times.len()
        && let Some(line) = lines.last_mut()
        && let Some((x, height)) = line.last().copied()
        && x < width
    {
        line.push((width, height));
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Value of a counter at a time: the last of its bucket; `None` before the first bucket.
pub(super) fn counter_at(counter: &TimelineCounter, time: f64) -> Option<f64> {
    let after = counter
        .times_nanos
        .partition_point(|nanos| (*nanos as f64) <= time);
    counter.last.get(after.checked_sub(1)?).copied()
}

/// Places in view, CSS pixels, of buckets with values that are not finite.
pub(super) fn bad_places(counter: &TimelineCounter, view: View, width: f64) -> Vec<f64> {
    let values = counter
        .least
        .iter()
        .zip(&counter.greatest)
        .zip(&counter.last);
    let all = counter.times_nanos.iter().zip(values);
    let bad = all.filter(|(_, ((least, greatest), last))| {
        ![least, greatest, last]
            .iter()
            .all(|value| value.is_finite())
    });
    let places = bad.map(|(time, _)| view.x(*time as f64, width));
    places.filter(|x| (0.0..=width).contains(x)).collect()
}

/// The steps of a series around a stretch of wall time, from the last point before it to the first one after it; `None`
/// at an end means all points there.
pub(super) fn steps_between(
    series: &Series,
    from_secs: f64,
    to_secs: f64,
) -> (Option<i64>, Option<i64>) {
    let times = &series.wall_times_secs;
    let first = times.iter().position(|time| *time >= from_secs);
    let first = first.unwrap_or(times.len()).checked_sub(1);
    let last = times.iter().rposition(|time| *time <= to_secs);
    let last = last.map_or(0, |last| last + 1);
    let from = first.and_then(|at| series.steps.get(at)).copied();
    let to = series.steps.get(last).copied();
    match (from, to) {
        // Steps that start again.
        (Some(from), Some(to)) if from > to => (None, None),
        ends => ends,
    }
}

/// A series on the clock of a session that began `unix_nanos` after 1970, up to its end at `extent`, ns.
pub(super) fn of_series(
    name: String,
    series: &Series,
    unix_nanos: i128,
    extent: i64,
) -> TimelineCounter {
    let mut counter = TimelineCounter {
        name,
        unit: CURVE.to_owned(),
        ..TimelineCounter::default()
    };
    let mut points: Vec<(i64, usize)> = series
        .wall_times_secs
        .iter()
        .enumerate()
        .filter_map(|(index, secs)| Some((since(*secs, unix_nanos)?, index)))
        .filter(|(time, _)| *time <= extent)
        .collect();
    points.sort_unstable();
    for (time, index) in points {
        let Some(value) = series.values.get(index).copied() else {
            continue;
        };
        let bound = |bounds: &[f64]| bounds.get(index).copied().unwrap_or(value);
        let (mut least, greatest) = (bound(&series.min), bound(&series.max));
        if let Some(class) = class_in(series, index) {
            least = class;
        }
        counter.times_nanos.push(time);
        counter.least.push(least);
        counter.greatest.push(greatest);
        counter.last.push(value);
    }
    counter
}

/// Nanoseconds from the start of a session to a wall time; `None` if it is not finite or out of range.
fn since(secs: f64, unix_nanos: i128) -> Option<i64> {
    // Whole seconds are converted separately: an `f64` cannot hold all nanoseconds since 1970.
    let (whole, part) = (secs.floor(), secs - secs.floor());
    #[expect(
        clippy::cast_possible_truncation,
        reason = "seconds since 1970; `as` saturates"
    )]
    let nanos = (whole as i128) * 1_000_000_000 + (part * 1e9).round() as i128 - unix_nanos;
    if secs.is_finite() {
        i64::try_from(nanos).ok()
    } else {
        None
    }
}

/// The first value of a bucket that is not finite; the bucket may end with a finite one.
fn class_in(series: &Series, index: usize) -> Option<f64> {
    let last = *series.steps.get(index)?;
    let before = index.checked_sub(1).and_then(|at| series.steps.get(at));
    let first = before.map_or(i64::MIN, |before| before.saturating_add(1));
    let mut all = series.non_finite.iter();
    let entry = all.find(|entry| entry.first_step <= last && entry.last_step >= first.min(last))?;
    Some(match entry.class {
        NonFiniteClass::Nan => f64::NAN,
        NonFiniteClass::PosInf => f64::INFINITY,
        NonFiniteClass::NegInf => f64::NEG_INFINITY,
    })
}

/// Value of a counter in its unit.
pub(super) fn counter_text(value: f64, unit: &str) -> String {
    match unit {
        "bytes" if value >= 0.0 => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "bytes of a device; `as` saturates"
            )]
            let bytes = value as u64;
            format::bytes(bytes)
        }
        "share" => format::percent(value),
        _ => format::brief(value),
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "places are sums of whole numbers")]
mod tests {
    use trainscope_api::scalars::NonFinite;

    use super::*;

    const ALL: View = View {
        from: 0.0,
        to: 500.0,
    };

    #[test]
    fn counters_are_steps_with_gaps_at_nan() {
        let values = vec![1.0, f64::NAN, 3.0, 4.0];
        let counter = TimelineCounter {
            times_nanos: vec![0, 100, 200, 300],
            least: values.clone(),
            greatest: values.clone(),
            last: values,
            ..TimelineCounter::default()
        };
        let lines = counter_lines(&counter, ALL, 500.0);
        assert_eq!(
            lines,
            [
                vec![(0.0, 0.25), (100.0, 0.25)],
                vec![(200.0, 0.75), (300.0, 0.75), (300.0, 1.0), (500.0, 1.0)]
            ]
        );
        assert_eq!(counter_at(&counter, 250.0), Some(3.0));
        assert_eq!(counter_at(&counter, -1.0), None);
        let none = TimelineCounter::default();
        assert!(counter_lines(&none, ALL, 500.0).is_empty());
    }

    #[test]
    fn counters_have_their_unit() {
        assert_eq!(counter_text(0.94, "share"), "94 %");
        assert_eq!(counter_text(2.0, ""), "2");
        assert_eq!(counter_text(f64::NAN, ""), "NaN");
        assert!(counter_text(21.4e9, "bytes").contains("GB"));
    }

    /// Steps 100 to 109 at 1,000 s and each 10 ms after it.
    fn series() -> Series {
        Series {
            steps: (100..110).collect(),
            values: (0..10).map(|at| 2.0 + f64::from(at)).collect(),
            wall_times_secs: (0..10).map(|at| 1_000.0 + 0.01 * f64::from(at)).collect(),
            ..Series::default()
        }
    }

    #[test]
    fn a_curve_is_on_the_clock_of_the_session() {
        let curve = of_series("loss".to_owned(), &series(), 1_000_020_000_000, 50_000_000);
        let millis: Vec<i64> = curve
            .times_nanos
            .iter()
            .map(|time| time / 1_000_000)
            .collect();
        assert_eq!(
            millis,
            [-20, -10, 0, 10, 20, 30, 40, 50],
            "later ones are cut"
        );
        assert_eq!(curve.last[0], 2.0);
        // Drawn between 2 and 9, not from zero.
        let view = View {
            from: 0.0,
            to: 50_000_000.0,
        };
        let lines = counter_lines(&curve, view, 500.0);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0][0], (-100.0, 1.0 / 7.0));
        assert_eq!(since(f64::NAN, 0), None);
        assert_eq!(
            since(1_790_857_026.25, 1_790_857_026_000_000_000),
            Some(250_000_000)
        );
    }

    #[test]
    fn values_that_are_not_finite_are_marked_in_buckets_too() {
        let mut series = series();
        series.values[3] = f64::NAN;
        series.non_finite = vec![NonFinite {
            class: NonFiniteClass::PosInf,
            first_step: 106,
            last_step: 106,
            count: 1,
        }];
        let view = View {
            from: 0.0,
            to: 90_000_000.0,
        };
        let curve = of_series("loss".to_owned(), &series, 1_000_000_000_000, 90_000_000);
        assert_eq!(curve.least[6], f64::INFINITY);
        let places = bad_places(&curve, view, 900.0);
        let rounded: Vec<f64> = places.iter().map(|x| x.round()).collect();
        assert_eq!(rounded, [300.0, 600.0]);
    }

    #[test]
    fn the_steps_around_a_stretch_of_time_are_asked_for() {
        let series = series();
        assert_eq!(
            steps_between(&series, 1_000.025, 1_000.045),
            (Some(102), Some(105))
        );
        assert_eq!(steps_between(&series, 900.0, 1_000.045), (None, Some(105)));
        assert_eq!(
            steps_between(&series, 1_000.085, 2_000.0),
            (Some(108), None)
        );
        assert_eq!(steps_between(&series, 2_000.0, 2_001.0), (Some(109), None));
        assert_eq!(steps_between(&series, 10.0, 20.0), (None, Some(100)));
        let mut again = series;
        again.steps.reverse();
        assert_eq!(steps_between(&again, 1_000.025, 1_000.045), (None, None));
    }
}
