//! Scalars that describe the course of a training: points by step, and their statistics.

use std::sync::Arc;

use trainscope_format::SessionStart;

use super::attempts::{Attempts, Curve, Points};
use super::history::HistoryLimit;
use crate::meaning::is_relative;
pub(crate) use crate::meaning::{Meaning, meaning_of, words_of};
use crate::restart::Link;

/// Points of one tag of one rank, by ascending step; if a step was written twice, the newer point.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) rank: u32,
    pub(crate) tag: Arc<str>,
    pub(crate) meaning: Meaning,
    pub(crate) doubt: u8,
    pub(crate) steps: Vec<i64>,
    pub(crate) values: Vec<f64>,
    /// Seconds since 1970, as written.
    pub(crate) wall_times_secs: Vec<f64>,
    /// Points outside of the curve: superseded ones, and those of other writers.
    pub(crate) beside: Vec<(i64, f64)>,
    /// Steps at which another attempt of the training begins.
    pub(crate) begins: Vec<i64>,
    /// Files of the curve, oldest first; empty if there is only one.
    pub(crate) files: Vec<Link>,
    /// File of the points, as long as there is only one.
    file: u32,
    /// All points, if several files have some, or steps go back: then the columns are empty until [`Self::settled`].
    attempts: Option<Attempts>,
    /// `true` after a point that is NaN or infinite.
    has_not_finite: bool,
}

impl Series {
    pub(crate) fn new(rank: u32, tag: &str, (meaning, doubt): (Meaning, u8)) -> Self {
        Self {
            rank,
            tag: tag.into(),
            meaning,
            doubt,
            steps: Vec::new(),
            values: Vec::new(),
            wall_times_secs: Vec::new(),
            beside: Vec::new(),
            begins: Vec::new(),
            files: Vec::new(),
            file: 0,
            attempts: None,
            has_not_finite: false,
        }
    }

    /// `true` if the newest value is the first that is NaN or infinite.
    pub(crate) fn is_first_not_finite(&mut self, newest: f64) -> bool {
        !newest.is_finite() && !std::mem::replace(&mut self.has_not_finite, true)
    }

    /// Removes points that a short history does not keep: those at and after the next step, which a restart supersedes,
    /// and those between the first and the newest ones.
    pub(crate) fn shorten(&mut self, next_step: i64, points: usize, limit: HistoryLimit) {
        let limit = HistoryLimit {
            first: points * limit.first,
            newest: points * limit.newest,
            ..limit
        };
        let before = self.steps.partition_point(|step| *step < next_step);
        self.steps.truncate(before);
        self.values.truncate(before);
        self.wall_times_secs.truncate(before);
        limit.trim(&mut self.steps);
        limit.trim(&mut self.values);
        limit.trim(&mut self.wall_times_secs);
    }

    /// Appends a point of a file.
    pub(crate) fn push(&mut self, file: u32, step: i64, wall_time_secs: f64, value: f64) {
        if self.steps.is_empty() {
            self.file = file;
        }
        let goes_on = self.file == file && self.steps.last().is_none_or(|last| *last < step);
        if self.attempts.is_none() && goes_on {
            self.steps.push(step);
            self.values.push(value);
            self.wall_times_secs.push(wall_time_secs);
            return;
        }
        let points = Points {
            steps: std::mem::take(&mut self.steps),
            values: std::mem::take(&mut self.values),
            wall_times_secs: std::mem::take(&mut self.wall_times_secs),
        };
        let only_file = self.file;
        let attempts = self
            .attempts
            .get_or_insert_with(|| Attempts::of(only_file, points));
        attempts.push(file, step, wall_time_secs, value);
    }

    /// True if the columns are the curve: [`Self::settled`] would change nothing.
    pub(crate) fn is_settled(&self, starts: &[(u32, SessionStart)]) -> bool {
        self.attempts.is_none() && starts.is_empty()
    }

    /// The same series with the curve in its columns. `starts` are the session starts of its rank, by file.
    pub(crate) fn settled(&self, starts: &[(u32, SessionStart)]) -> Self {
        let one;
        let attempts = if let Some(attempts) = &self.attempts {
            attempts
        } else {
            let points = Points {
                steps: self.steps.clone(),
                values: self.values.clone(),
                wall_times_secs: self.wall_times_secs.clone(),
            };
            one = Attempts::of(self.file, points);
            &one
        };
        let Curve {
            points,
            others,
            begins,
            files,
        } = attempts.curve(starts);
        Self {
            rank: self.rank,
            tag: Arc::clone(&self.tag),
            meaning: self.meaning,
            doubt: self.doubt,
            steps: points.steps,
            values: points.values,
            wall_times_secs: points.wall_times_secs,
            beside: others,
            begins,
            files,
            file: self.file,
            attempts: None,
            has_not_finite: self.has_not_finite,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn points(
        &self,
    ) -> impl DoubleEndedIterator<Item = (i64, f64)> + ExactSizeIterator + Clone {
        self.steps.iter().copied().zip(self.values.iter().copied())
    }

    /// True for a loss that may rise in a healthy training, by its tag.
    pub(crate) fn is_relative(&self) -> bool {
        is_relative(&words_of(&self.tag.to_ascii_lowercase()))
    }

    /// True if it was below 0: then its multiples are meaningless.
    pub(crate) fn has_negative(&self) -> bool {
        self.values.iter().any(|v| *v < 0.0 && v.is_finite())
    }

    pub(crate) fn at(&self, step: i64) -> Option<f64> {
        let index = self.steps.binary_search(&step).ok()?;
        self.values.get(index).copied()
    }

    /// Points at and after `from`.
    pub(crate) fn since(&self, from: i64) -> impl Iterator<Item = (i64, f64)> {
        let start = self.steps.partition_point(|s| *s < from);
        self.points().skip(start)
    }

    pub(crate) fn after(&self, from: i64) -> impl Iterator<Item = (i64, f64)> {
        let start = self.steps.partition_point(|s| *s <= from);
        self.points().skip(start)
    }

    /// Points up to and including `to`.
    pub(crate) fn until(
        &self,
        to: i64,
    ) -> impl DoubleEndedIterator<Item = (i64, f64)> + ExactSizeIterator {
        let end = self.steps.partition_point(|s| *s <= to);
        self.points().take(end)
    }

    pub(crate) fn before(&self, to: i64) -> impl Iterator<Item = (i64, f64)> {
        let end = self.steps.partition_point(|s| *s < to);
        self.points().take(end)
    }
}

/// A scalar of unknown meaning: only NaN and infinities are judged.
#[derive(Clone, Debug)]
pub(crate) struct OtherScalar {
    pub(crate) rank: u32,
    pub(crate) tag: Arc<str>,
    pub(crate) points: u64,
    pub(crate) not_finite: Option<NotFinite>,
}

/// Points that are NaN or infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NotFinite {
    pub(crate) first_step: i64,
    pub(crate) last_step: i64,
    /// The value at the first step.
    pub(crate) first: f64,
    pub(crate) points: u64,
}

impl NotFinite {
    /// Collects the non-finite points.
    pub(crate) fn among(points: impl Iterator<Item = (i64, f64)>) -> Option<Self> {
        let mut found = None;
        for (step, value) in points.filter(|point| !point.1.is_finite()) {
            Self::add(&mut found, step, value);
        }
        found
    }

    fn add(found: &mut Option<Self>, step: i64, value: f64) {
        let found = found.get_or_insert(Self {
            first_step: step,
            last_step: step,
            first: value,
            points: 0,
        });
        if step < found.first_step {
            (found.first_step, found.first) = (step, value);
        }
        found.last_step = found.last_step.max(step);
        found.points += 1;
    }
}

impl OtherScalar {
    pub(crate) fn new(rank: u32, tag: &str) -> Self {
        Self {
            rank,
            tag: tag.into(),
            points: 0,
            not_finite: None,
        }
    }

    pub(crate) fn push(&mut self, step: i64, value: f64) {
        self.points += 1;
        if !value.is_finite() {
            NotFinite::add(&mut self.not_finite, step, value);
        }
    }
}

/// Minimum number of values whose median one odd value cannot move.
pub(crate) const FEWEST: usize = 3;
/// Divisor of ratios to a level that may be 0: far below any loss that is not exactly 0.
pub(crate) const TINY: f64 = 1e-12;
/// Standard deviation of a normal distribution divided by its median absolute deviation: 1 / Φ⁻¹(¾) (Rousseeuw and
/// Croux, JASA 88, 1993).
const NORMAL: f64 = 1.4826;
/// Variance of a second difference in units of that of the noise: 1² + 2² + 1².
const BEND_VARIANCE: f64 = 6.0;
/// Minimum number of values for an estimate of their noise: chosen, 6 second differences.
const MIN_NOISE_POINTS: usize = 8;

/// The median of numbers without NaN; `None` without numbers. Of two middle numbers the mean.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.filter(|v| !v.is_nan()).collect();
    let half = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let middle = *values.select_nth_unstable_by(half, f64::total_cmp).1;
    if values.len() % 2 == 1 {
        return Some(middle);
    }
    let lower = values[..half]
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, f64::max);
    Some(f64::midpoint(lower, middle))
}

/// The median distance from the median, in units of a standard deviation.
pub(crate) fn spread(values: &[f64], middle: f64) -> f64 {
    NORMAL * median(values.iter().map(|v| (v - middle).abs())).unwrap_or(0.0)
}

/// The standard deviation of the noise in consecutive values: from second differences, in which a trend cancels and
/// noise has [`BEND_VARIANCE`] times its variance (Gasser, Sroka and Jennen-Steinmetz, Biometrika 73, 1986). 0 for
/// fewer than [`MIN_NOISE_POINTS`] values.
pub(crate) fn noise(values: &[f64]) -> f64 {
    if values.len() < MIN_NOISE_POINTS {
        return 0.0;
    }
    let bends = values.windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]).abs());
    NORMAL * median(bends).unwrap_or(0.0) / BEND_VARIANCE.sqrt()
}

/// Rise from a minimum, in units of the expected reach of a random walk of the same steps. From its minimum a walk
/// exceeds 3 units in one of 90 curves (Rayleigh distribution, exp(−3² / 2)). Nearly twice that, because steps are
/// estimated. Chosen.
const BEYOND_WALK: f64 = 5.5;
/// Number of parts of a rise whose medians are compared: noise around a trend cancels in each. Chosen.
const RISE_PARTS: usize = 12;

/// True if values rise, from their first to their last, by more than a random walk does from its minimum: in one jump,
/// by the usual step, or steadily, by the t statistic of the steps between the medians of their parts.
pub(crate) fn outruns_walk(values: &[f64]) -> bool {
    let steps = |of: &[f64]| of.windows(2).map(|w| w[1] - w[0]).collect::<Vec<f64>>();
    let (Some(first), Some(last)) = (
        values.first(),
        median(values.iter().rev().take(FEWEST).copied()),
    ) else {
        return false;
    };
    let single = steps(values);
    let usual = NORMAL * median(single.iter().map(|step| step.abs())).unwrap_or(0.0);
    if last - first > BEYOND_WALK * usual * (single.len() as f64).sqrt() {
        return true;
    }
    let parts = values.chunks(values.len().div_ceil(RISE_PARTS));
    let levels: Vec<f64> = parts.filter_map(|of| median(of.iter().copied())).collect();
    let steps = steps(&levels);
    let count = steps.len() as f64;
    let mean = steps.iter().sum::<f64>() / count;
    let squares = steps.iter().map(|step| (step - mean).powi(2)).sum::<f64>();
    let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
    mean > 0.0 && mean * count.sqrt() > BEYOND_WALK * deviation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_is_no_noise() {
        let steep: Vec<f64> = (0..20).map(f64::from).collect();
        assert!(noise(&steep) < 1e-9);
        let rough: Vec<f64> = (0..40)
            .map(|i| f64::from(i * i * 7919 % 101) / 5.0)
            .collect();
        assert!((1.5..6.0).contains(&noise(&rough)), "{}", noise(&rough));
    }

    #[test]
    fn a_trend_and_a_jump_outrun_a_walk_and_a_walk_does_not() {
        let trend: Vec<f64> = (0..40)
            .map(|i| f64::from(i) + f64::from(i * 7919 % 11))
            .collect();
        assert!(outruns_walk(&trend));
        let jump: Vec<f64> = (0..40).map(|i| f64::from(i % 3 + i / 20 * 90)).collect();
        assert!(outruns_walk(&jump));
        let there_and_back: Vec<f64> = (0..40)
            .map(|i| f64::from(20 - (i - 20_i32).abs()))
            .collect();
        assert!(!outruns_walk(&there_and_back));
        assert!(!outruns_walk(&[1.0]) && !outruns_walk(&[]));
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), Some(2.5));
        assert_eq!(median([f64::NAN, 7.0].into_iter()), Some(7.0));
        assert_eq!(median(std::iter::empty()), None);
    }

    #[test]
    fn points_of_a_later_file_take_the_place_of_those_of_the_same_steps() {
        let mut series = Series::new(0, "loss", (Meaning::Loss, 1));
        for (file, step, value) in [
            (0, 0, 1.0),
            (0, 1, 2.0),
            (0, 2, 3.0),
            (1, 1, 4.0),
            (1, 2, 5.0),
        ] {
            series.push(file, step, 0.0, value);
        }
        let series = series.settled(&[]);
        assert_eq!(
            series.points().collect::<Vec<_>>(),
            [(0, 1.0), (1, 4.0), (2, 5.0)]
        );
        assert_eq!(series.beside, [(1, 2.0), (2, 3.0)]);
        assert_eq!(series.at(1), Some(4.0));
        assert_eq!(series.since(1).count(), 2);
        assert_eq!(series.before(1).count(), 1);
    }
}
