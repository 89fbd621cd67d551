//! The first difference beyond the noise between two runs that differ from the start, by their seed or their settings.
//!
//! Differences are compared by their odds d / (1 − d): a tensor that is ten times the other one differs by 0.9, one
//! that is a hundred times it by 0.99.

use super::course::{Course, Stair};
use super::measure::is_worse;

/// Number of compared points that show the noise, and distance in points between a difference and that noise: the
/// beginning of a growing difference does not hide it.
const POINTS: u64 = 8;
/// Minimum odds of a difference beyond the noise, relative to those of the noise. Pairs of seeds and of precisions stay
/// below 3 in the sample runs; a spike of the learning rate and an overflow exceed 7.
const BEYOND: f64 = 4.0;
/// Minimum odds of the steps before that difference that belong to it.
const BEGINS: f64 = 2.0;

/// A difference beyond the noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Onset {
    /// First difference that belongs to it.
    pub stair: Stair,
    /// Worst difference of the same tensor or scalar before.
    pub noise: f64,
}

/// The noise of several courses: the median of the worst early difference of each. `None` if all are too short.
pub fn level<'a>(courses: impl Iterator<Item = &'a Course>) -> Option<f64> {
    let mut worst: Vec<f64> = courses.filter_map(Course::early_noise).collect();
    worst.sort_by(f64::total_cmp);
    worst.get(worst.len() / 2).copied()
}

fn odds(difference: f64) -> f64 {
    if difference < 1.0 {
        difference / (1.0 - difference)
    } else {
        // NaN too.
        f64::INFINITY
    }
}

impl Course {
    /// Worst difference among the first points; `None` without later ones, or if it is not finite.
    fn early_noise(&self) -> Option<f64> {
        let before = self.before(POINTS)?;
        (self.compared > POINTS && before.is_finite()).then_some(before)
    }

    /// Worst difference before a point, if there are points before it.
    fn before(&self, point: u64) -> Option<f64> {
        let first = self.points().take_while(|(at, _)| *at < point);
        let worst = first.last().map_or(0.0, |(_, stair)| stair.difference);
        (point > 0).then_some(worst)
    }

    /// First difference beyond the noise, which is at least `level`.
    pub fn beyond(&self, level: f64) -> Option<Onset> {
        let early = self.early_noise()?;
        for (point, stair) in self.points().filter(|(point, _)| *point >= POINTS) {
            let noise = self.before(point - POINTS + 1)?;
            let noise = if is_worse(early, noise) { early } else { noise };
            if !noise.is_finite() {
                return None;
            }
            let limit = odds(noise.max(level));
            if !is_worse(odds(stair.difference), BEYOND * limit) {
                continue;
            }
            let mut since = self.points().filter(|(at, _)| *at > point - POINTS);
            let begins = |candidate: &Stair| is_worse(odds(candidate.difference), BEGINS * limit);
            let first = since
                .find(|(_, candidate)| begins(candidate))
                .map(|found| found.1);
            let stair = *first.unwrap_or(stair);
            return Some(Onset { stair, noise });
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::measure::of_numbers;

    fn course(differences: impl IntoIterator<Item = f64>) -> Course {
        differences.into_iter().collect()
    }

    /// Differences of two curves with independent noise of a relative size.
    fn noise(size: f64, points: usize) -> impl Iterator<Item = f64> {
        let mut state = 7_u64;
        let mut next = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            1.0 + size * ((state >> 40) as f64 / f64::from(1 << 24) - 0.5)
        };
        (0..points).map(move |_| of_numbers(next(), next()))
    }

    fn beyond(differences: impl IntoIterator<Item = f64>) -> Option<i64> {
        let course = course(differences);
        course.beyond(0.0).map(|onset| onset.stair.step)
    }

    #[test]
    fn noise_alone_has_no_onset() {
        for size in [0.01, 0.3, 0.9] {
            assert_eq!(beyond(noise(size, 2_000)), None, "{size}");
        }
        assert_eq!(beyond([0.1; 3]), None, "too short");
        assert_eq!(beyond([]), None);
    }

    #[test]
    fn a_difference_that_grows_begins_where_it_leaves_the_noise() {
        // The norm of the gradients of two precisions before one of them overflows.
        let growth = [
            0.38,
            0.75,
            0.905,
            0.925,
            0.974,
            0.99,
            f64::INFINITY,
            f64::NAN,
        ];
        assert_eq!(beyond(noise(0.5, 400).chain(growth)), Some(401));
        // A jump, at once.
        assert_eq!(beyond(noise(0.1, 40).chain([0.9, 0.1])), Some(40));
        let nan = noise(0.1, 40).chain([f64::NAN]);
        assert_eq!(beyond(nan), Some(40));
        // Equal until then.
        assert_eq!(beyond([0.0; 40].into_iter().chain([0.9; 9])), Some(40));
        // NaN at the first points is not a noise level.
        assert_eq!(beyond([f64::NAN; 40]), None);
    }

    #[test]
    fn a_quiet_curve_is_measured_by_the_others() {
        let accuracy = course([0.0; 20].into_iter().chain([0.03; 9]));
        let loud = course(noise(0.5, 40));
        let level = level([&accuracy, &loud, &loud].into_iter()).unwrap();
        assert!(level > 0.1, "{level}");
        assert_eq!(accuracy.beyond(level), None);
        assert!(accuracy.beyond(0.0).is_some());
        assert_eq!(super::level([].into_iter()), None);
    }
}
