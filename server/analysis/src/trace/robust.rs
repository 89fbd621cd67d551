//! Estimates that a few odd values do not change: medians, slopes, ratios of medians with their intervals.

use std::cmp::Ordering;

/// Half width of the 95 % interval of a normal distribution, in standard deviations.
const NORMAL_95: f64 = 1.96;
/// Number of resamples of a bootstrap: chosen, the ends of a 95 % interval are then within 1 % of its width.
const RESAMPLES: usize = 2_000;
/// Seed of the bootstrap: any number, the same for each judgement.
const SEED: u64 = 0x5eed;

/// A slope with its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slope {
    /// Median of the slopes of all pairs of points.
    pub slope: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Distance of Kendall's rank correlation from 0, in standard deviations.
    pub deviations: f64,
}

/// Slope of points (Theil 1950, Sen 1968); `None` with fewer than three. Costs the square of the number of points.
pub fn slope(points: &[(f64, f64)]) -> Option<Slope> {
    let mut slopes = Vec::new();
    let mut score = 0_i64;
    for (index, (x, y)) in points.iter().enumerate() {
        for (later_x, later_y) in points.iter().skip(index + 1) {
            let slope = (later_y - y) / (later_x - x);
            if slope.is_finite() {
                slopes.push(slope);
                score += match slope.partial_cmp(&0.0) {
                    Some(Ordering::Greater) => 1,
                    Some(Ordering::Less) => -1,
                    _ => 0,
                };
            }
        }
    }
    if points.len() < 3 || slopes.is_empty() {
        return None;
    }
    slopes.sort_unstable_by(f64::total_cmp);
    let spread = score_variance(points).sqrt();
    let pairs = slopes.len() as f64;
    let half = NORMAL_95 * spread;
    let at = |rank: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast of floats saturates; ranks are below the number of pairs"
        )]
        let index = (rank.max(0.0) as usize).min(slopes.len() - 1);
        slopes.get(index).copied().unwrap_or_default()
    };
    // Continuity correction for a score that is a whole number (Kendall 1970).
    let score = score as f64;
    let deviations = if spread > 0.0 {
        score.signum() * (score.abs() - 1.0).max(0.0) / spread
    } else {
        0.0
    };
    Some(Slope {
        slope: middle(&slopes),
        low: at(((pairs - half) / 2.0).floor() - 1.0),
        high: at(f64::midpoint(pairs, half).ceil()),
        deviations,
    })
}

/// Variance of the score of Kendall's rank correlation if there is no trend, less that of ties.
fn score_variance(points: &[(f64, f64)]) -> f64 {
    let of = |count: f64| count * (count - 1.0) * (2.0 * count + 5.0);
    let mut values: Vec<f64> = points.iter().map(|point| point.1).collect();
    values.sort_unstable_by(f64::total_cmp);
    let equal = values.chunk_by(|a, b| a.total_cmp(b) == Ordering::Equal);
    let ties: f64 = equal.map(|group| of(group.len() as f64)).sum();
    (of(points.len() as f64) - ties) / 18.0
}

/// Probability that a normal number is this number of standard deviations or more away from 0, with an error below
/// 1.5e−7 (Abramowitz and Stegun, 7.1.26).
pub fn probability(deviations: f64) -> f64 {
    let x = deviations.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let factors = [
        1.061_405_429,
        -1.453_152_027,
        1.421_413_741,
        -0.284_496_736,
        0.254_829_592,
    ];
    let sum = factors.iter().fold(0.0, |sum, factor| (sum + factor) * t);
    (sum * (-x * x).exp()).clamp(0.0, 1.0)
}

/// Median of sorted values; 0 without any.
fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    match (
        sorted.get(half),
        half.checked_sub(1).and_then(|i| sorted.get(i)),
    ) {
        (Some(upper), Some(lower)) if sorted.len().is_multiple_of(2) => {
            f64::midpoint(*lower, *upper)
        }
        (Some(upper), _) => *upper,
        (None, _) => 0.0,
    }
}

/// Median of integers, of two middle ones their mean; 0 without any.
pub fn median(values: &[i64]) -> f64 {
    let mut values: Vec<f64> = values.iter().map(|value| *value as f64).collect();
    values.sort_unstable_by(f64::total_cmp);
    middle(&values)
}

/// Ratio of the medians of two samples with its 95 % interval, from resamples of both; `None` if one is empty or the
/// second median is 0.
pub fn ratio(now: &[i64], before: &[i64]) -> Option<(f64, f64, f64)> {
    let divide = |a: f64, b: f64| (b > 0.0).then(|| a / b);
    let ratio = divide(median(now), median(before))?;
    let mut random = Random(SEED);
    let mut ratios: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            let (a, b) = (random.resample(now), random.resample(before));
            divide(median(&a), median(&b))
        })
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let low = ratios.get(ratios.len() * 25 / 1_000)?;
    let high = ratios.get((ratios.len() * 975 / 1_000).min(ratios.len() - 1))?;
    Some((ratio, *low, *high))
}

/// Numbers that look random, the same ones for the same seed (`SplitMix64`, Steele et al. 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn resample(&mut self, values: &[i64]) -> Vec<i64> {
        let count = values.len() as u64;
        let index = |random: u64| usize::try_from(random % count.max(1)).unwrap_or_default();
        let one = |_| values.get(index(self.next())).copied();
        (0..values.len()).filter_map(one).collect()
    }
}

/// Quotient to the nearest integer.
pub(super) fn rounded(sum: i64, count: i64) -> i64 {
    let half = (count / 2) * sum.signum();
    sum.saturating_add(half) / count.max(1)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "differences of small integers are exact")]
mod tests {
    use super::*;

    fn points(values: &[f64]) -> Vec<(f64, f64)> {
        (0..).zip(values).map(|(x, y)| (f64::from(x), *y)).collect()
    }

    #[test]
    fn a_line_with_odd_values_has_the_slope_of_the_line() {
        let mut values: Vec<f64> = (0..30).map(|x| 5.0 + 2.0 * f64::from(x)).collect();
        (values[3], values[20]) = (1e6, -1e6);
        let estimate = slope(&points(&values)).unwrap();
        assert_eq!(estimate.slope, 2.0);
        assert!(estimate.low <= 2.0 && 2.0 <= estimate.high && estimate.low > 0.0);
        assert!(estimate.deviations > 2.6);
    }

    #[test]
    fn values_without_a_trend_have_0_in_their_interval() {
        let values: Vec<f64> = (0..30).map(|x| f64::from(x * 7919 % 31)).collect();
        let estimate = slope(&points(&values)).unwrap();
        assert!(estimate.low < 0.0 && 0.0 < estimate.high, "{estimate:?}");
        assert_eq!(slope(&points(&[4.0; 9])).unwrap().low, 0.0);
        assert_eq!(slope(&points(&[1.0, 2.0])), None);
    }

    #[test]
    fn probabilities_are_those_of_tables() {
        for (deviations, known) in [(0.0, 1.0), (1.96, 0.049_996), (-2.575_829, 0.01)] {
            assert!((probability(deviations) - known).abs() < 1e-6);
        }
    }

    #[test]
    fn medians_of_an_even_number_of_values() {
        assert_eq!((median(&[4, 1, 3, 2]), median(&[])), (2.5, 0.0));
    }

    #[test]
    fn a_ratio_holds_the_true_one_in_its_interval_and_is_the_same_each_time() {
        let before: Vec<i64> = (0..40).map(|i| 1_000 + i * 37 % 50).collect();
        let now: Vec<i64> = before.iter().map(|v| v * 6 / 5).collect();
        let (ratio, low, high) = super::ratio(&now, &before).unwrap();
        assert!((ratio - 1.2).abs() < 0.01 && low > 1.15 && high < 1.25);
        assert_eq!(super::ratio(&now, &before), Some((ratio, low, high)));
        assert_eq!(super::ratio(&now, &[0, 0]), None);
    }
}
