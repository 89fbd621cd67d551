//! Numbers of steps: `ProfilerStep#N` counts calls of the profiler, curves count the steps of the training.

use std::collections::BTreeMap;

use super::Model;

/// Maximum distance of a point of a curve from the end of its step, nanoseconds: logging follows the step at once, and
/// profilers slow it down.
const NEAR_NANOS: i64 = 1_000_000_000;
/// Share of the steps that has to agree on the difference: a step without a point, or one that was logged late, does
/// not spoil the rest.
const AGREE: f64 = 0.8;

impl Model {
    /// Numbers of steps with their ends in nanoseconds since 1970; empty without a clock.
    pub fn step_ends(&self) -> Vec<(i64, i64)> {
        let unix = self.trace.head.unix_offset_nanos;
        let ends = unix.into_iter().flat_map(|unix| {
            let steps = self.steps.list.iter();
            steps.map(move |step| (step.number, step.end.saturating_add(unix)))
        });
        ends.collect()
    }
}

/// The number of the training minus that of the profiler; `None` if the curve does not tell. For at least 80 % of the
/// steps, the point nearest to the end of the step has this difference. `steps` are numbers with ends in nanoseconds
/// since 1970, `curve` has steps with wall times in seconds since 1970.
pub fn offset(steps: &[(i64, i64)], curve: &[(i64, f64)]) -> Option<i64> {
    let mut points: Vec<(i64, i64)> = curve
        .iter()
        .filter(|(_, secs)| secs.is_finite())
        .map(|(step, secs)| (nanos(*secs), *step))
        .collect();
    points.sort_unstable();
    let mut differences: BTreeMap<i64, usize> = BTreeMap::new();
    for (step, end) in steps.iter().copied() {
        let next = points.partition_point(|(time, _)| *time < end);
        let around = points[next.saturating_sub(1)..].iter().take(2);
        let nearest = around.min_by_key(|(time, _)| time.abs_diff(end));
        if let Some((time, number)) = nearest
            && time.abs_diff(end) <= NEAR_NANOS.unsigned_abs()
        {
            let difference = number.saturating_sub(step);
            *differences.entry(difference).or_default() += 1;
        }
    }
    let (difference, count) = differences.into_iter().max_by_key(|(_, count)| *count)?;
    (count as f64 >= AGREE * steps.len() as f64).then_some(difference)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a wall time beyond 2262 is at no step"
)]
fn nanos(secs: f64) -> i64 {
    (secs * 1e9) as i64
}

#[cfg(test)]
mod tests {
    use super::offset;

    /// Ten steps of 10 ms, numbered from 3, that begin at 1,000 s.
    fn steps() -> Vec<(i64, i64)> {
        let steps = (0..10).map(|at| (at + 3, 1_000_000_000_000 + (at + 1) * 10_000_000));
        steps.collect()
    }

    fn curve(first: i64) -> Vec<(i64, f64)> {
        let step = |at: i64| (at + first, 1_000.0 + 0.01 * (at + 1) as f64 + 0.001);
        (0..10).map(step).collect()
    }

    #[test]
    fn the_difference_to_the_steps_of_a_curve_is_found() {
        assert_eq!(offset(&steps(), &curve(2_600)), Some(2_597));
        let mut late = curve(2_600);
        late[4].0 += 1;
        assert_eq!(offset(&steps(), &late), Some(2_597), "nine of ten agree");
    }

    #[test]
    fn without_points_near_the_steps_there_is_none() {
        let mut far = curve(2_600);
        for point in &mut far {
            point.1 += 50.0;
        }
        assert_eq!(offset(&steps(), &far), None);
        assert_eq!(offset(&steps(), &[]), None);
    }

    #[test]
    fn points_that_are_logged_every_fifth_step_do_not_tell() {
        let sparse: Vec<_> = curve(2_600).into_iter().step_by(5).collect();
        assert_eq!(offset(&steps(), &sparse), None);
    }
}
