//! Steps of a tensor for navigation: those with elements, if there are any.

use trainscope_api::tensors::{HistoryPoint, TensorSource};

/// Step `by` places after `now`, or before it if `by` is negative. `now` need not be a recorded step. Counts only steps
/// with elements, if any exist.
pub(super) fn step_from(points: &[HistoryPoint], now: i64, by: isize) -> Option<i64> {
    let has_elements = |point: &&HistoryPoint| point.source != TensorSource::Statistics;
    let some = points.iter().any(|point| has_elements(&point));
    let all = points.iter().filter(|point| !some || has_elements(point));
    let steps: Vec<i64> = all.map(|point| point.step).collect();
    let at = steps.partition_point(|step| *step < now);
    // From a missing step, the next recorded one is already one place further.
    let is_between = steps.get(at) != Some(&now);
    let by = if is_between && by > 0 { by - 1 } else { by };
    steps.get(at.checked_add_signed(by)?).copied()
}

/// The last step with elements, else the last.
pub(super) fn last_step(points: &[HistoryPoint]) -> Option<i64> {
    let mut newest = points.iter().rev();
    let with_elements = newest
        .clone()
        .find(|p| p.source != TensorSource::Statistics);
    with_elements
        .or_else(|| newest.next())
        .map(|point| point.step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_with_elements_are_what_is_gone_through() {
        let point = |step: i64, source| HistoryPoint {
            step,
            source,
            stats: None,
        };
        let of = |dumped: &[i64]| {
            let source = |step| {
                if dumped.contains(&step) {
                    TensorSource::Dump
                } else {
                    TensorSource::Statistics
                }
            };
            let all = [0, 50, 60, 100, 150].map(|step| point(step, source(step)));
            move |now, by| step_from(&all, now, by)
        };
        let some = of(&[0, 100]);
        assert_eq!((some(60, -1), some(60, 1)), (Some(0), Some(100)));
        assert_eq!((some(0, 1), some(100, -1)), (Some(100), Some(0)));
        assert_eq!(
            (some(0, -1), some(100, 1), some(150, 1)),
            (None, None, None)
        );
        assert_eq!((some(105, -1), some(105, 1)), (Some(100), None));
        let none = of(&[]);
        assert_eq!(
            (none(60, -1), none(60, 1), none(61, 1)),
            (Some(50), Some(100), Some(100))
        );
    }
}
