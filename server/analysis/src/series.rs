//! Summaries of consecutive points for a zoomed-out view, which preserve everything that could be a finding.
//!
//! A [`Summary`] covers consecutive points of one series; adjacent summaries merge exactly, so they can be stored per
//! block and combined to the width of a plot by [`Buckets`].

/// Summary of consecutive points of one series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of points.
    pub count: u64,
    /// Step of the last point.
    pub last_step: i64,
    /// Wall time of the last point, seconds since 1970.
    pub last_wall_time_secs: f64,
    /// Value of the last point.
    pub last_value: f64,
    /// Minimum finite value; `+Infinity` without finite values.
    pub min: f64,
    /// Maximum finite value; `-Infinity` without finite values.
    pub max: f64,
    /// Number of NaN, +∞ and −∞ values, as in [`CLASSES`].
    pub non_finite: [u64; 3],
}

/// The order of [`Summary::non_finite`]: a predicate for each class.
pub const CLASSES: [fn(f64) -> bool; 3] = [
    f64::is_nan,
    |v| v == f64::INFINITY,
    |v| v == f64::NEG_INFINITY,
];

impl Summary {
    /// Summary of no points; the neutral element of [`Summary::merge`].
    pub const EMPTY: Self = Self {
        count: 0,
        last_step: 0,
        last_wall_time_secs: 0.0,
        last_value: 0.0,
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
        non_finite: [0; 3],
    };

    /// Summarises points in order; the slices have equal length. Records without values have an empty last slice.
    pub fn of(steps: &[i64], wall_times_secs: &[f64], values: &[f64]) -> Self {
        let Some(&last_step) = steps.last() else {
            return Self::EMPTY;
        };
        let (mut min, mut max, mut finite) = (f64::INFINITY, f64::NEG_INFINITY, 0_u64);
        for &v in values {
            // Comparisons with NaN are false, and `is_finite` excludes ±∞: no branch, so it vectorises.
            let ok = v.is_finite();
            finite += u64::from(ok);
            min = if ok && v < min { v } else { min };
            max = if ok && v > max { v } else { max };
        }
        let mut non_finite = [0; 3];
        if finite < values.len() as u64 {
            for (n, class) in non_finite.iter_mut().zip(CLASSES) {
                *n = values.iter().filter(|v| class(**v)).count() as u64;
            }
        }
        Self {
            count: steps.len() as u64,
            last_step,
            last_wall_time_secs: wall_times_secs.last().copied().unwrap_or(f64::NAN),
            last_value: values.last().copied().unwrap_or(f64::NAN),
            min,
            max,
            non_finite,
        }
    }

    /// Summarises one point.
    pub fn of_point(step: i64, wall_time_secs: f64, value: f64) -> Self {
        Self::of(&[step], &[wall_time_secs], &[value])
    }

    /// Extends this summary by the points of `next`, which follow.
    pub fn merge(&mut self, next: &Self) {
        if next.count == 0 {
            return;
        }
        self.count += next.count;
        self.last_step = next.last_step;
        self.last_wall_time_secs = next.last_wall_time_secs;
        self.last_value = next.last_value;
        self.min = self.min.min(next.min);
        self.max = self.max.max(next.max);
        for (mine, theirs) in self.non_finite.iter_mut().zip(next.non_finite) {
            *mine += theirs;
        }
    }
}

/// Combines summaries in order into at most a given number of buckets of about equal count.
///
/// Bucket borders are between the pushed summaries, so each point is in exactly one bucket.
#[derive(Debug)]
pub struct Buckets {
    total: u64,
    wanted: u64,
    seen: u64,
    current: u64,
    merged: Vec<Summary>,
}

impl Buckets {
    /// Creates at most `wanted` buckets (at least one) for `total` points.
    pub fn new(total: u64, wanted: usize) -> Self {
        let wanted = wanted.max(1) as u64;
        Self {
            total: total.max(1),
            wanted,
            seen: 0,
            current: u64::MAX,
            merged: Vec::new(),
        }
    }

    /// Adds the points that follow and returns the index of their bucket.
    pub fn push(&mut self, part: &Summary) -> usize {
        if part.count == 0 {
            return self.merged.len().saturating_sub(1);
        }
        // The bucket is that of the part's first point.
        let bucket =
            u64::try_from(u128::from(self.seen) * u128::from(self.wanted) / u128::from(self.total))
                .map_or(self.wanted - 1, |b| b.min(self.wanted - 1));
        self.seen += part.count;
        if bucket == self.current
            && let Some(last) = self.merged.last_mut()
        {
            last.merge(part);
        } else {
            self.current = bucket;
            self.merged.push(*part);
        }
        self.merged.len() - 1
    }

    /// The buckets, in order; none is empty.
    pub fn finish(self) -> Vec<Summary> {
        self.merged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn naive(values: &[f64]) -> (f64, f64, [u64; 3]) {
        let finite = || values.iter().copied().filter(|v| v.is_finite());
        (
            finite().fold(f64::INFINITY, f64::min),
            finite().fold(f64::NEG_INFINITY, f64::max),
            CLASSES.map(|class| values.iter().filter(|v| class(**v)).count() as u64),
        )
    }

    proptest::proptest! {
        #[test]
        fn buckets_hold_every_point_once_and_lose_no_extreme(
            values in proptest::collection::vec(proptest::num::f64::ANY, 1..300),
            wanted in 1_usize..40,
            cut in 1_usize..17,
        ) {
            let steps: Vec<i64> = (0_i64..).take(values.len()).collect();
            let walls = vec![1.0; values.len()];
            let mut buckets = Buckets::new(values.len() as u64, wanted);
            for (i, part) in values.chunks(cut).enumerate() {
                let at = i * cut;
                buckets.push(&Summary::of(&steps[at..at + part.len()], &walls[at..at + part.len()], part));
            }
            let buckets = buckets.finish();
            assert!(buckets.len() <= wanted);
            let mut at = 0;
            for bucket in &buckets {
                let end = at + usize::try_from(bucket.count).unwrap();
                let (min, max, non_finite) = naive(&values[at..end]);
                assert_eq!((bucket.min, bucket.max, bucket.non_finite), (min, max, non_finite));
                assert_eq!(bucket.last_step, steps[end - 1]);
                assert_eq!(bucket.last_value.to_bits(), values[end - 1].to_bits());
                at = end;
            }
            assert_eq!(at, values.len());
        }
    }
}
