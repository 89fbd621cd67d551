//! Points of one scalar by event file, and the resulting curve.

use trainscope_format::SessionStart;

use crate::restart::{self, Extent, Link, Rewinds};

/// Points in columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Points {
    pub(crate) steps: Vec<i64>,
    pub(crate) values: Vec<f64>,
    /// Seconds since 1970, as written.
    pub(crate) wall_times_secs: Vec<f64>,
}

impl Points {
    pub(crate) fn push(&mut self, step: i64, wall_time_secs: f64, value: f64) {
        self.steps.push(step);
        self.values.push(value);
        self.wall_times_secs.push(wall_time_secs);
    }

    fn extent(&self, rewinds: &Rewinds) -> Extent {
        let time = |time: Option<&f64>| time.copied().unwrap_or(f64::NAN);
        Extent {
            first_wall_time_secs: time(self.wall_times_secs.first()),
            last_wall_time_secs: time(self.wall_times_secs.last()),
            min_step: rewinds.min_step,
            next_step: rewinds.next_step,
            max_step: rewinds.max_step,
            points: self.steps.len() as u64,
        }
    }
}

/// The curve of a scalar, and the other points.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Curve {
    /// By ascending step; if a step was written twice, the newer point.
    pub(crate) points: Points,
    /// Superseded points, and those of other writers: step and value, in the order of recording.
    pub(crate) others: Vec<(i64, f64)>,
    /// Steps of the curve whose point is in another file than the one before: there another attempt begins.
    pub(crate) begins: Vec<i64>,
    /// Files of the curve, oldest first.
    pub(crate) files: Vec<Link>,
}

/// Points of a scalar by file, in the order of the files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attempts {
    files: Vec<(u32, Points)>,
}

impl Attempts {
    /// Creates attempts from the points of one file.
    pub(crate) fn of(file: u32, points: Points) -> Self {
        Self {
            files: vec![(file, points)],
        }
    }

    pub(crate) fn push(&mut self, file: u32, step: i64, wall_time_secs: f64, value: f64) {
        let known = self.files.iter().rposition(|(other, _)| *other == file);
        let at = known.unwrap_or_else(|| {
            self.files.push((file, Points::default()));
            self.files.len() - 1
        });
        self.files[at].1.push(step, wall_time_secs, value);
    }

    /// Computes the curve by the rules of [`restart`]. `starts` are session starts by file. If steps are counted per
    /// epoch, the curve is the newest epoch.
    pub(crate) fn curve(&self, starts: &[(u32, SessionStart)]) -> Curve {
        let rewinds: Vec<Rewinds> = self
            .files
            .iter()
            .map(|(file, points)| {
                let of_file = starts.iter().filter(|(other, _)| other == file);
                let of_file: Vec<SessionStart> = of_file.map(|(_, start)| *start).collect();
                let starts = restart::starts_within(&points.wall_times_secs, &of_file);
                restart::rewinds(&points.steps, &starts)
            })
            .collect();
        let extents: Vec<Extent> = self
            .files
            .iter()
            .zip(&rewinds)
            .map(|((_, points), rewinds)| points.extent(rewinds))
            .collect();
        let mut live: Vec<(i64, usize, usize)> = Vec::new();
        let mut is_per_epoch = false;
        let writers = restart::writers(&extents);
        let main = writers.first().map_or(&[][..], Vec::as_slice);
        let main_extents: Vec<Extent> = main.iter().map(|at| extents[*at]).collect();
        for (order, (at, hidden)) in main
            .iter()
            .zip(restart::superseded(&main_extents))
            .enumerate()
        {
            let (file, points) = &self.files[*at];
            is_per_epoch |= rewinds[*at].is_per_epoch;
            let last = extents[*at].last_wall_time_secs;
            let is_purged = |step: i64| {
                let mut others = starts.iter().filter(|(other, _)| other != file);
                others.any(|(_, start)| start.wall_time_secs > last && step >= start.step)
            };
            for (point, step) in points.steps.iter().enumerate() {
                let is_live = rewinds[*at].live[point]
                    && !hidden.iter().any(|range| range.contains(step))
                    && !is_purged(*step);
                if is_live {
                    live.push((*step, order, point));
                }
            }
        }
        if is_per_epoch {
            // Points after the last one that goes back.
            let back = live.windows(2).rposition(|pair| pair[1].0 < pair[0].0);
            live.drain(..back.map_or(0, |at| at + 1));
        } else {
            live.sort_by_key(|(step, ..)| *step);
        }
        let numbers = restart::numbers(main_extents.iter().copied());
        let files = main.iter().zip(&main_extents).zip(numbers);
        let files = files.map(|((at, extent), number)| Link {
            file: u64::from(self.files[*at].0),
            number,
            first_wall_time_secs: extent.first_wall_time_secs,
        });
        let mut curve = Curve {
            files: files.collect(),
            ..Curve::default()
        };
        let mut is_part: Vec<Vec<bool>> = self
            .files
            .iter()
            .map(|(_, points)| vec![false; points.steps.len()])
            .collect();
        let mut last_file = None;
        for (number, (step, order, point)) in live.iter().enumerate() {
            // Of equal steps the newest.
            if live.get(number + 1).is_some_and(|next| next.0 == *step) {
                continue;
            }
            let at = main[*order];
            if last_file.replace(at).is_some_and(|last| last != at) {
                curve.begins.push(*step);
            }
            let points = &self.files[at].1;
            is_part[at][*point] = true;
            let (time, value) = (points.wall_times_secs[*point], points.values[*point]);
            curve.points.push(*step, time, value);
        }
        for ((_, points), is_part) in self.files.iter().zip(is_part) {
            let all = points.steps.iter().zip(&points.values).zip(is_part);
            let others = all.filter(|(_, is_part)| !is_part);
            curve
                .others
                .extend(others.map(|((step, value), _)| (*step, *value)));
        }
        curve
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attempts of files, each with its first wall time and its points, a second apart.
    fn attempts(files: &[(f64, &[(i64, f64)])]) -> Attempts {
        let mut all = Attempts::default();
        for (file, (first, points)) in (0..).zip(files) {
            for (number, (step, value)) in (0..).zip(*points) {
                all.push(file, *step, first + f64::from(number), *value);
            }
        }
        all
    }

    fn range(steps: std::ops::Range<i64>, value: f64) -> Vec<(i64, f64)> {
        steps.map(|step| (step, value)).collect()
    }

    #[test]
    fn a_resumed_training_is_one_curve_and_what_it_wrote_again_is_apart() {
        let all = attempts(&[(0.0, &range(0..10, 1.0)), (1e3, &range(5..15, 2.0))]);
        let curve = all.curve(&[]);
        assert!(curve.points.steps.iter().copied().eq(0..15));
        assert_eq!(curve.points.values[4..6], [1.0, 2.0]);
        assert_eq!(curve.begins, [5]);
        assert_eq!(curve.others, range(5..10, 1.0));
    }

    #[test]
    fn of_a_step_that_was_written_twice_the_newer_point_counts() {
        let curve = attempts(&[(0.0, &[(0, 1.0), (8, f64::NAN), (8, 2.0), (9, 3.0)])]).curve(&[]);
        assert_eq!(curve.points.steps, [0, 8, 9]);
        assert_eq!(curve.points.values, [1.0, 2.0, 3.0]);
        assert!(curve.others[0].1.is_nan());
    }

    #[test]
    fn a_late_point_is_an_attempt_and_another_writer_no_part_of_the_curve() {
        let mut files = attempts(&[(0.0, &range(0..10, 1.0)), (1e3, &[(0, f64::NAN)])]);
        let curve = files.curve(&[]);
        assert!(curve.points.values[0].is_nan());
        let numbers: Vec<u64> = curve.files.iter().map(|link| link.number).collect();
        assert_eq!((curve.others, numbers), (vec![(0, 1.0)], vec![1, 2]));
        // At the same time.
        files = attempts(&[(0.0, &range(0..10, 1.0)), (0.5, &range(0..10, 2.0))]);
        assert_eq!(files.curve(&[]).points.values, [1.0; 10]);
    }

    #[test]
    fn of_steps_per_epoch_the_newest_epoch_is_the_curve() {
        let mut points = range(0..10, f64::NAN);
        points.extend(range(0..10, 2.0));
        let curve = attempts(&[(0.0, &points)]).curve(&[]);
        assert_eq!(curve.points.values, [2.0; 10]);
        assert_eq!(curve.others.len(), 10);
    }

    #[test]
    fn a_session_start_ends_what_came_before() {
        let all = attempts(&[(0.0, &range(0..10, 1.0))]);
        let start = |wall_time_secs| SessionStart {
            step: 5,
            wall_time_secs,
        };
        assert_eq!(all.curve(&[(1, start(1e3))]).points.steps.len(), 5);
        assert_eq!(all.curve(&[(1, start(-1.0))]).points.steps.len(), 10);
        // Of the same file, before its seventh point.
        let curve = all.curve(&[(0, start(6.5))]);
        assert_eq!(curve.points.steps, [0, 1, 2, 3, 4, 7, 8, 9]);
        assert_eq!(curve.others, [(5, 1.0), (6, 1.0)]);
    }
}
