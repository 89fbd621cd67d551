//! Restarts and concurrent writers: the points of several event files that make one curve.
//!
//! A training that resumes from a checkpoint writes some steps a second time. The older points of these steps are
//! *superseded*: stored, but not part of the curve. Steps that no later file has reached stay:
//!
//! 1. A later file supersedes the steps from its first to its last one, and no others. A first step far before the
//!    second one (a sanity check before resuming) supersedes that step alone.
//! 2. Within one file, going back to a step that the file has already supersedes it and all that followed it, if the
//!    file continues from there. A lone point behind the others (a late evaluation) supersedes no other step. In a file
//!    with more such points at known steps than restarts, they are corrections, and nothing restarts.
//! 3. A tag that goes back to its first step counts its steps per epoch: all points are part of the curve, by time.
//! 4. Of several values of a scalar at one step, the newest counts.
//! 5. A TensorBoard `SessionLog` of status `START` supersedes all earlier points at and after its step (`purge_step`).
//!
//! Two files that overlap in time are two writers, unless one begins above the last step of the other. A file that
//! begins after the other ended is an attempt of the same program, however few points it has. A file with a single step
//! below all others is an evaluation that counts from elsewhere, and a separate writer.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use trainscope_format::SessionStart;

mod files;

pub use files::{Link, numbers_of_files};

/// Number of usual distances to the next step above which a step has no near successor. Two: one missing point is not a
/// gap.
const NEAR: f64 = 2.0;

/// Summary of the points that one file has of one tag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Wall time of the first point, seconds since 1970.
    pub first_wall_time_secs: f64,
    /// Wall time of the last point.
    pub last_wall_time_secs: f64,
    /// Lowest step, without lone points behind the others.
    pub min_step: i64,
    /// Lowest step above [`Self::min_step`]; the same number if there is no other.
    pub next_step: i64,
    /// Highest step.
    pub max_step: i64,
    /// Number of points.
    pub points: u64,
}

impl Extent {
    /// Usual distance between two steps; infinite for a single step.
    fn spacing(&self) -> f64 {
        let points = self.points.saturating_sub(1);
        if points == 0 || self.min_step == self.max_step {
            return f64::INFINITY;
        }
        (self.max_step as f64 - self.min_step as f64) / points as f64
    }

    /// Steps of an earlier file that this one has written again.
    fn supersedes(&self, earlier: &Self) -> [RangeInclusive<i64>; 2] {
        let gap = self.next_step as f64 - self.min_step as f64;
        let is_lone = gap > NEAR * earlier.spacing();
        let from = if is_lone {
            self.next_step
        } else {
            self.min_step
        };
        [self.min_step..=self.min_step, from..=self.max_step]
    }

    /// True if a training that had come this far could have written `resumed` next. A single step is not a training.
    fn leads_to(&self, resumed: &Self) -> bool {
        let spacing = self.spacing();
        let reach = self.max_step as f64 + NEAR * spacing.max(1.0);
        spacing.is_finite() && self.min_step < resumed.min_step && resumed.min_step as f64 <= reach
    }
}

/// Groups the extents of one (rank, tag) into writers: each inner list holds indices of `extents`, oldest attempt
/// first. The first list is the series displayed by default; each further one is a separate series.
///
/// `extents` are in the order of their file names, which decides if wall times cannot (NaN, or no clock at all).
pub fn writers(extents: &[Extent]) -> Vec<Vec<usize>> {
    let mut writers: Vec<Vec<usize>> = Vec::new();
    for (index, is_moved) in by_attempt(extents) {
        let extent = &extents[index];
        let follows = |writer: &&mut Vec<usize>| {
            let reached = writer.iter().map(|i| extents[*i].max_step).max();
            let Some((last, reached)) = writer.last().map(|i| &extents[*i]).zip(reached) else {
                return false;
            };
            // Not `begin > end`: times that cannot be compared, or no clock at all, mean one after the other.
            let is_later = last
                .last_wall_time_secs
                .partial_cmp(&extent.first_wall_time_secs)
                .is_none_or(|order| {
                    order.is_lt() || (order.is_eq() && last.last_wall_time_secs == 0.0)
                });
            let mut firsts = writer.iter().map(|i| extents[*i].min_step);
            let is_evaluation =
                extent.min_step == extent.max_step && firsts.all(|first| extent.min_step < first);
            !is_evaluation && (is_later || is_moved || extent.min_step > reached)
        };
        match writers.iter_mut().find(follows) {
            Some(writer) => writer.push(index),
            None => writers.push(vec![index]),
        }
    }
    writers
}

/// Indices by wall time, oldest first. A file that continues a later one was written by a machine whose clock is
/// behind: it is moved after that one, and marked.
fn by_attempt(extents: &[Extent]) -> Vec<(usize, bool)> {
    let mut order: Vec<usize> = (0..extents.len()).collect();
    // Stable: equal times keep the order of the names. NaN comes last, or first if its sign bit is set.
    order.sort_by(|a, b| {
        let time = |index: &usize| extents[*index].first_wall_time_secs;
        time(a).total_cmp(&time(b))
    });
    let has_origin = |at: usize| {
        let extent = &extents[order[at]];
        let mut earlier = order[..at].iter();
        earlier.any(|i| extents[*i].min_step < extent.min_step)
    };
    let origin = |at: usize| {
        let extent = &extents[order[at]];
        let is_after = |i: &&usize| {
            let later = &extents[**i];
            later
                .first_wall_time_secs
                .partial_cmp(&extent.last_wall_time_secs)
                == Some(Ordering::Greater)
                && later.leads_to(extent)
        };
        order[at + 1..].iter().find(is_after).copied()
    };
    let mut attempts: Vec<(usize, bool)> = Vec::new();
    let mut moved: Vec<(usize, usize)> = Vec::new();
    for (at, index) in order.iter().enumerate() {
        match origin(at).filter(|_| !has_origin(at)) {
            Some(after) => moved.push((*index, after)),
            None => attempts.push((*index, false)),
        }
    }
    for (index, after) in moved {
        let place = attempts.iter().position(|(i, _)| *i == after);
        let place = place.map_or(attempts.len(), |place| place + 1);
        attempts.insert(place, (index, true));
    }
    attempts
}

/// Numbers of the attempts of one writer, given oldest first, counted from 1. A file that goes back to a step that an
/// earlier one had reached begins another attempt; files that continue earlier ones do not.
pub fn numbers(attempts: impl IntoIterator<Item = Extent>) -> impl Iterator<Item = u64> {
    let mut reached = i64::MIN;
    let mut number = 1;
    attempts.into_iter().map(move |attempt| {
        number += u64::from(attempt.min_step <= reached);
        reached = reached.max(attempt.max_step);
        number
    })
}

/// Number of attempts of one writer, given oldest first, that went back to a step that an earlier one had reached.
pub fn went_back(attempts: impl IntoIterator<Item = Extent>) -> u64 {
    numbers(attempts).last().map_or(0, |number| number - 1)
}

/// For the attempts of one writer, oldest first: the ranges of steps that each has written.
pub fn written(attempts: &[Extent]) -> Vec<Vec<RangeInclusive<i64>>> {
    let ranges = |(at, extent): (usize, &Extent)| {
        let before = at.checked_sub(1).and_then(|before| attempts.get(before));
        let [first, rest] = before.map_or(
            [
                extent.min_step..=extent.min_step,
                extent.min_step..=extent.max_step,
            ],
            |before| extent.supersedes(before),
        );
        if rest.contains(first.start()) {
            vec![rest]
        } else {
            vec![first, rest]
        }
    };
    attempts.iter().enumerate().map(ranges).collect()
}

/// For the attempts of one writer, oldest first: the ranges of steps of each that later ones have written again.
pub fn superseded(attempts: &[Extent]) -> Vec<Vec<RangeInclusive<i64>>> {
    let ranges = |(at, earlier): (usize, &Extent)| {
        let later = attempts.iter().skip(at + 1);
        let mut ranges: Vec<_> = later
            .flat_map(|later| later.supersedes(earlier))
            .filter(|range| {
                !range.is_empty()
                    && *range.start() <= earlier.max_step
                    && *range.end() >= earlier.min_step
            })
            .collect();
        ranges.sort_unstable_by_key(|range| (*range.start(), *range.end()));
        ranges
    };
    attempts.iter().enumerate().map(ranges).collect()
}

/// Points of one file superseded by going back within it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rewinds {
    /// For each point, in the order of the file, true if it is part of the curve.
    pub live: Vec<bool>,
    /// True if steps are counted per epoch: then points are in the order of the file, else in that of their steps.
    pub is_per_epoch: bool,
    /// Lowest live step without lone points behind the others; `i64::MAX` without live steps.
    pub min_step: i64,
    /// The next one above it; the same number if there is no other.
    pub next_step: i64,
    /// Highest live step; `i64::MIN` without live steps.
    pub max_step: i64,
}

/// Session starts of a file between its points: the number of points before each, and its step.
///
/// `wall_times_secs` are those of the points, in the order of the file.
pub fn starts_within(wall_times_secs: &[f64], starts: &[SessionStart]) -> Vec<(usize, i64)> {
    let points_before = |start: &SessionStart| {
        let is_later = |time: &f64| *time >= start.wall_time_secs;
        let points = wall_times_secs.iter().position(is_later)?;
        (points > 0).then_some((points, start.step))
    };
    starts.iter().filter_map(points_before).collect()
}

/// Finds the points of one file that are superseded within it. `starts` are session starts: the number of points
/// before each, and its step.
///
/// Costs n log n for the n points after the first one that goes back.
pub fn rewinds(steps: &[i64], starts: &[(usize, i64)]) -> Rewinds {
    let (found, returns) = rewinds_of(steps, starts, true);
    if returns.corrections > returns.restarts {
        return rewinds_of(steps, starts, false).0;
    }
    found
}

/// Of several live values of a scalar at one step, leaves the newest, unless steps are counted per epoch.
pub fn leave_newest(found: &mut Rewinds, steps: &[i64]) {
    if found.is_per_epoch {
        return;
    }
    let mut newest = BTreeMap::new();
    for (at, step) in steps.iter().enumerate() {
        if found.live[at]
            && let Some(before) = newest.insert(*step, at)
        {
            found.live[before] = false;
        }
    }
}

/// Points that go back within a file.
#[derive(Default)]
struct Returns {
    /// Number of returns after which the file continues.
    restarts: u64,
    /// Number of lone points at a step that the file has already.
    corrections: u64,
}

fn rewinds_of(steps: &[i64], starts: &[(usize, i64)], may_restart: bool) -> (Rewinds, Returns) {
    let mut returns = Returns::default();
    let mut found = Rewinds {
        live: vec![true; steps.len()],
        is_per_epoch: false,
        min_step: i64::MAX,
        next_step: i64::MAX,
        max_step: i64::MIN,
    };
    let Some(&first) = steps.first() else {
        return (found, returns);
    };
    // Indices of live points by step.
    let mut live = BTreeMap::<i64, Vec<usize>>::new();
    let mut starts = starts.iter().peekable();
    let mut max_step = i64::MIN;
    // Step of the newest point that is not stray.
    let mut previous = i64::MIN;
    let mut stray = Vec::new();
    for (at, &step) in steps.iter().enumerate() {
        let mut hide_from = None;
        while let Some((_, from)) = starts.next_if(|(points, _)| *points <= at) {
            hide_from = Some(hide_from.map_or(*from, |step: i64| step.min(*from)));
        }
        let mut is_stray = false;
        if step < previous {
            let spacing = (max_step as f64 - first as f64) / at.max(1) as f64;
            let next = steps[at + 1..].iter().find(|next| **next != step);
            let goes_on = next.is_some_and(|next| {
                *next > step && (*next as f64 - step as f64) <= NEAR * spacing.max(1.0)
            });
            let is_known = live.contains_key(&step);
            let restarts = may_restart && goes_on && is_known;
            returns.restarts += u64::from(restarts);
            returns.corrections += u64::from(is_known && !restarts);
            if restarts && step == first {
                found.is_per_epoch = true;
            } else if restarts {
                hide_from = Some(hide_from.map_or(step, |from| from.min(step)));
            } else {
                is_stray = true;
                stray.push(at);
            }
        }
        if let Some(from) = hide_from {
            for index in live.split_off(&from).into_values().flatten() {
                found.live[index] = false;
            }
            max_step = live.last_key_value().map_or(i64::MIN, |(step, _)| *step);
        }
        live.entry(step).or_default().push(at);
        max_step = max_step.max(step);
        if !is_stray {
            previous = step;
        }
    }
    found.max_step = max_step;
    for index in stray {
        if let Some(indices) = live.get_mut(&steps[index]) {
            indices.retain(|i| *i != index);
        }
    }
    let mut lowest = live.iter().filter(|(_, indices)| !indices.is_empty());
    found.min_step = lowest.next().map_or(i64::MAX, |(step, _)| *step);
    found.next_step = lowest.next().map_or(found.min_step, |(step, _)| *step);
    (found, returns)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points at `steps`, one per second, beginning at `first`.
    fn extent(first: f64, steps: &[i64]) -> Extent {
        let min_step = *steps.iter().min().unwrap();
        let next_step = steps.iter().copied().filter(|step| *step > min_step).min();
        Extent {
            first_wall_time_secs: first,
            last_wall_time_secs: first + steps.len() as f64 - 1.0,
            min_step,
            next_step: next_step.unwrap_or(min_step),
            max_step: *steps.iter().max().unwrap(),
            points: steps.len() as u64,
        }
    }

    fn range(steps: std::ops::Range<i64>) -> Vec<i64> {
        steps.collect()
    }

    /// Steps of each attempt that stay live, oldest attempt first, by the rules across files alone.
    fn live(attempts: &[&[i64]]) -> Vec<Vec<i64>> {
        let extents: Vec<Extent> = (0..)
            .zip(attempts)
            .map(|(n, steps)| extent(f64::from(n) * 1e6, steps))
            .collect();
        let hidden = superseded(&extents);
        let of = |(steps, ranges): (&&[i64], Vec<RangeInclusive<i64>>)| {
            let is_live = |step: &i64| ranges.iter().all(|range| !range.contains(step));
            steps.iter().copied().filter(is_live).collect()
        };
        attempts.iter().zip(hidden).map(of).collect()
    }

    #[test]
    fn files_one_after_the_other_are_one_writer_and_overlapping_ones_are_two() {
        let steps = range(0..10);
        let at = |first: f64| extent(first, &steps);
        assert_eq!(writers(&[at(10.0), at(0.0)]), [vec![1, 0]]);
        assert_eq!(writers(&[at(0.0), at(5.0)]), [vec![0], vec![1]]);
        assert_eq!(
            writers(&[at(0.0), at(5.0), at(11.0)]),
            [vec![0, 2], vec![1]]
        );
        let no_clock = Extent {
            first_wall_time_secs: 0.0,
            last_wall_time_secs: 0.0,
            ..at(0.0)
        };
        assert_eq!(writers(&[no_clock, no_clock]), [vec![0, 1]]);
        assert_eq!(writers(&[at(f64::NAN), at(1.0)]), [vec![1, 0]]);
        assert_eq!(writers(&[]), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn a_file_that_begins_above_the_last_step_continues_the_other_in_spite_of_the_time() {
        let first = extent(0.0, &range(0..100));
        assert_eq!(
            writers(&[first, extent(98.5, &range(100..200))]),
            [vec![0, 1]]
        );
        assert_eq!(
            writers(&[first, extent(98.5, &range(99..200))]),
            [vec![0], vec![1]]
        );
    }

    #[test]
    fn a_resumed_file_of_a_clock_that_is_behind_comes_after_what_it_continues() {
        let first = extent(10_000.0, &range(0..100));
        let resumed = extent(6_400.0, &range(50..150));
        assert_eq!(writers(&[resumed, first]), [vec![1, 0]]);
        // Two attempts that begin at the same step: only the clock distinguishes them.
        assert_eq!(
            writers(&[extent(6_400.0, &range(0..10)), first]),
            [vec![0, 1]]
        );
    }

    #[test]
    fn attempts_of_few_points_are_no_other_writer() {
        let whole = extent(0.0, &range(1..101));
        let few = [extent(1e3, &range(1..5)), extent(2e3, &[1])];
        assert_eq!(writers(&[whole, few[0], few[1]]), [vec![0, 1, 2]]);
        for lone in [&[1][..], &[1, 1], &[50], &[100]] {
            assert_eq!(writers(&[whole, extent(1e6, lone)]), [vec![0, 1]]);
        }
        // An evaluation, which counts from another step than the training.
        for lone in [&[0][..], &[0, 0]] {
            assert_eq!(writers(&[whole, extent(1e6, lone)]), [vec![0], vec![1]]);
        }
        // While the other still writes, it is a writer.
        assert_eq!(writers(&[whole, extent(50.0, &[50])]), [vec![0], vec![1]]);
        assert_eq!(went_back([whole, few[0], few[1]]), 2);
        assert_eq!(went_back([whole, extent(1e3, &range(101..200))]), 0);
        assert_eq!(went_back([]), 0);
        let rest = extent(3e3, &range(104..200));
        let all = numbers([whole, few[0], few[1], rest]);
        assert_eq!(all.collect::<Vec<_>>(), [1, 2, 3, 3]);
    }

    #[test]
    fn a_file_has_written_its_steps_without_the_gap_behind_a_sanity_check() {
        let whole = extent(0.0, &(0..10).map(|n| n * 100).collect::<Vec<_>>());
        let resumed = extent(1e3, &[0, 1_000, 1_100]);
        let ranges = written(&[whole, resumed]);
        assert_eq!(ranges, [vec![0..=900], vec![0..=0, 1_000..=1_100]]);
    }

    #[test]
    fn an_attempt_supersedes_the_steps_that_it_has_written_and_no_others() {
        let live = |attempts: &[&[i64]]| live(attempts);
        // Resumed, and further than before.
        assert_eq!(
            live(&[&range(0..100), &range(50..150)]),
            [range(0..50), range(50..150)]
        );
        // From scratch, and ended early.
        assert_eq!(
            live(&[&range(0..1_000), &range(0..2)]),
            [range(2..1_000), range(0..2)]
        );
        // A sanity check at the first step, then resumed.
        let by_hundred: Vec<i64> = (0..10).map(|n| n * 100).collect();
        assert_eq!(
            live(&[&by_hundred, &[0, 1_000]]),
            [by_hundred[1..].to_vec(), vec![0, 1_000]]
        );
        assert_eq!(
            live(&[&range(0..10), &range(5..8), &range(6..7)])[0],
            [0, 1, 2, 3, 4, 8, 9]
        );
    }

    #[test]
    fn a_session_start_supersedes_what_it_purges() {
        let found = rewinds(&[0, 1, 2, 3, 4], &[(3, 1)]);
        assert_eq!(found.live, [true, false, false, true, true]);
    }

    #[test]
    fn a_rewind_in_one_file_supersedes_from_its_step_on_and_an_equal_step_does_not() {
        let found = rewinds(&[0, 1, 2, 1, 2, 2, 3], &[]);
        assert_eq!(found.live, [true, false, false, true, true, true, true]);
        let steps: Vec<i64> = (0..100).chain(50..80).collect();
        let live = rewinds(&steps, &[]).live;
        assert_eq!(live.iter().filter(|live| **live).count(), 80);
    }

    #[test]
    fn lone_points_behind_the_others_supersede_nothing() {
        for steps in [
            &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0][..],
            &[100, 200, 300, 250, 400, 350, 500],
        ] {
            let found = rewinds(steps, &[]);
            assert!(found.live.iter().all(|live| *live), "{steps:?}");
            assert!(!found.is_per_epoch);
            assert_eq!(found.min_step, steps[0]);
        }
        assert_eq!(rewinds(&[50, 51, 52, 0], &[]).min_step, 50);
    }

    #[test]
    fn steps_written_again_in_any_order_are_corrections() {
        for seed in 1..50_u64 {
            let mut again: Vec<i64> = range(0..50);
            again.sort_by_key(|step| {
                (step.unsigned_abs() + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            });
            let steps: Vec<i64> = range(0..50).into_iter().chain(again).collect();
            let mut found = rewinds(&steps, &[]);
            leave_newest(&mut found, &steps);
            let is_newest = |at: usize| at >= 50;
            assert!(
                found
                    .live
                    .iter()
                    .enumerate()
                    .all(|(at, live)| *live == is_newest(at)),
                "{seed}"
            );
            assert_eq!((found.min_step, found.max_step), (0, 49));
        }
    }

    #[test]
    fn of_values_at_one_step_the_newest_is_live() {
        let steps = [0, 1, 1, 2, 3, 0];
        let mut found = rewinds(&steps, &[]);
        leave_newest(&mut found, &steps);
        assert_eq!(found.live, [false, false, true, true, true, true]);
    }

    #[test]
    fn steps_counted_per_epoch_are_all_live() {
        let steps: Vec<i64> = (0..5).flat_map(|_| 0..50).collect();
        let found = rewinds(&steps, &[]);
        assert!(found.is_per_epoch && found.live.iter().all(|live| *live));
        assert!(rewinds(&[], &[]).live.is_empty());
    }
}
