//! Smoothing: averages without initial bias, which preserve gaps and constants.

use std::collections::VecDeque;

/// Type of smoothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Exponential moving average: only earlier values count.
    #[default]
    Ema,
    /// Mean of a centred window.
    Mean,
    /// Mean weighted by a centred bell curve.
    Gaussian,
}

/// `values` at `x`, smoothed by a weight of 0 (none) to below 1. All types are equally smooth at equal weight: a
/// window is as wide as the effective memory of the exponential average, (1 + weight) / (1 − weight) units of x.
///
/// A non-finite value is copied and does not affect the average: the gap is visible, and later values are not
/// affected. If x goes back (a restart), smoothing begins again. Without a valid `unit` the exponential average counts
/// each point as one, and windows hold a single one.
pub fn by(kind: Kind, x: &[f64], values: &[f64], weight: f64, unit: f64) -> Vec<f64> {
    let weight = usable(weight);
    if weight == 0.0 {
        return values.to_vec();
    }
    let half = unit * (1.0 + weight) / (1.0 - weight) / 2.0;
    match kind {
        Kind::Ema => smooth(x, values, weight, unit),
        Kind::Mean => windows(x, values, half),
        // A bell curve of the variance of that window, as three consecutive running means: off by at most 3 %, and at
        // a cost independent of its width.
        Kind::Gaussian => {
            let half = half / 3.0_f64.sqrt();
            let once = windows(x, values, half);
            let twice = windows(x, &once, half);
            windows(x, &twice, half)
        }
    }
}

fn usable(weight: f64) -> f64 {
    if weight.is_finite() {
        weight.clamp(0.0, 0.999)
    } else {
        0.0
    }
}

/// The debiased exponential moving average of `values` at `x`, `weight` 0 (none) to below 1.
///
/// A value loses the share `1 − weight` of its influence over each `unit` of x: dense and sparse lines are smoothed
/// equally. With `d = weight^(Δx / unit)`, `sᵢ = d·sᵢ₋₁ + (1 − d)·vᵢ` and `nᵢ = d·nᵢ₋₁ + (1 − d)`, the result
/// `sᵢ / nᵢ` begins at the first value. It never leaves the range of the averaged values, so a constant is exact.
pub fn smooth(x: &[f64], values: &[f64], weight: f64, unit: f64) -> Vec<f64> {
    let weight = usable(weight);
    if weight == 0.0 {
        return values.to_vec();
    }
    let (mut sum, mut share) = (0.0, 0.0);
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut before = None::<f64>;
    let mut out = Vec::with_capacity(values.len());
    for (index, &value) in values.iter().enumerate() {
        if !value.is_finite() {
            out.push(value);
            continue;
        }
        let at = x.get(index).copied();
        let distance = before
            .zip(at)
            .map_or(1.0, |(before, at)| (at - before) / unit);
        if distance < 0.0 {
            (sum, share) = (0.0, 0.0);
            (least, most) = (f64::INFINITY, f64::NEG_INFINITY);
        }
        let units = if distance.is_finite() && distance > 0.0 {
            distance
        } else {
            1.0
        };
        let decay = weight.powf(units);
        sum = decay * sum + (1.0 - decay) * value;
        share = decay * share + (1.0 - decay);
        (least, most) = (least.min(value), most.max(value));
        before = at;
        let mean = sum / share;
        // Points so close that nothing was forgotten between them leave no share to divide by.
        out.push(if mean.is_finite() {
            mean.clamp(least, most)
        } else {
            value
        });
    }
    out
}

/// Mean of all values within `half` of each point, restart by restart.
fn windows(x: &[f64], values: &[f64], half: f64) -> Vec<f64> {
    let mut out = values.to_vec();
    let finite: Vec<usize> = (0..values.len())
        .filter(|&index| values[index].is_finite() && x.get(index).is_some_and(|x| x.is_finite()))
        .collect();
    for stretch in finite.chunk_by(|&a, &b| x[a] <= x[b]) {
        window(x, values, half, stretch, &mut out);
    }
    out
}

/// Windows of one part with ascending x.
fn window(x: &[f64], values: &[f64], half: f64, stretch: &[usize], out: &mut [f64]) {
    let (mut from, mut to) = (0, 0);
    let mut sum = 0.0;
    // Minimum and maximum of the window are in front: a mean outside of them is a rounding error.
    let (mut least, mut most) = (VecDeque::<usize>::new(), VecDeque::<usize>::new());
    for &index in stretch {
        let reach = (x[index] - half, x[index] + half);
        while let Some(&next) = stretch
            .get(to)
            .filter(|&&next| next <= index || x[next] <= reach.1)
        {
            let value = values[next];
            sum += value;
            while least.back().is_some_and(|&last| values[last] >= value) {
                least.pop_back();
            }
            while most.back().is_some_and(|&last| values[last] <= value) {
                most.pop_back();
            }
            least.push_back(next);
            most.push_back(next);
            to += 1;
        }
        while let Some(&old) = stretch
            .get(from)
            .filter(|&&old| old < index && x[old] < reach.0)
        {
            sum -= values[old];
            from += 1;
            for ends in [&mut least, &mut most] {
                if ends.front() == Some(&old) {
                    ends.pop_front();
                }
            }
        }
        let mean = sum / (to - from).max(1) as f64;
        if let (Some(&low), Some(&high)) = (least.front(), most.front()) {
            out[index] = mean.max(values[low]).min(values[high]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, by, smooth};

    fn at(values: &[f64], weight: f64) -> Vec<f64> {
        let x: Vec<f64> = (0_u32..).take(values.len()).map(f64::from).collect();
        smooth(&x, values, weight, 1.0)
    }

    #[test]
    fn a_constant_stays_what_it_is() {
        for kind in [Kind::Ema, Kind::Mean, Kind::Gaussian] {
            let x: Vec<f64> = (0_u32..50).map(f64::from).collect();
            for value in by(kind, &x, &[0.1; 50], 0.97, 1.3) {
                assert_eq!(value.to_bits(), 0.1_f64.to_bits(), "{kind:?}");
            }
        }
    }

    #[test]
    fn it_is_the_defined_average() {
        let out = at(&[1.0, 2.0, 4.0], 0.5);
        // 0.5/0.5; (0.25 + 1)/0.75; (0.125 + 0.5 + 2)/0.875
        assert!((out[0] - 1.0).abs() < 1e-12);
        assert!((out[1] - 5.0 / 3.0).abs() < 1e-12);
        assert!((out[2] - 3.0).abs() < 1e-12);
    }

    #[test]
    fn sparse_lines_are_smoothed_as_dense_ones() {
        let ramp = |step: u32| -> f64 {
            let x: Vec<f64> = (0..=1_000 / step).map(|i| f64::from(i * step)).collect();
            smooth(&x, &x, 0.9, 10.0)
                .last()
                .copied()
                .unwrap_or_default()
        };
        // A ramp is followed at the same distance, except for the spacing of its points.
        assert!((ramp(1) - ramp(5)).abs() < 5.0, "{} {}", ramp(1), ramp(5));
    }

    #[test]
    fn windows_reach_to_both_sides() {
        let x: Vec<f64> = (0_u32..9).map(f64::from).collect();
        let mut step = [0.0; 9];
        step[4..].fill(1.0);
        // (1 + 0.5) / (1 − 0.5) units: one to each side, and a half.
        let mean = by(Kind::Mean, &x, &step, 0.5, 1.0);
        assert!((mean[3] - 1.0 / 3.0).abs() < 1e-12 && (mean[4] - 2.0 / 3.0).abs() < 1e-12);
        assert!(mean[2].abs() < 1e-12 && (mean[6] - 1.0).abs() < 1e-12);
        let bell = by(Kind::Gaussian, &x, &step, 0.6, 1.0);
        assert!(
            bell.is_sorted() && (bell[3] + bell[4] - 1.0).abs() < 1e-12,
            "{bell:?}"
        );
    }

    #[test]
    fn windows_leave_gaps_and_begin_anew() {
        for kind in [Kind::Mean, Kind::Gaussian] {
            let x = [0.0, 1.0, 2.0, 0.0, 1.0];
            let out = by(kind, &x, &[1.0, f64::NAN, 1.0, 9.0, 9.0], 0.9, 1.0);
            assert!(out[1].is_nan());
            assert!(
                (out[2] - 1.0).abs() < 1e-12 && (out[3] - 9.0).abs() < 1e-12,
                "{out:?}"
            );
        }
    }

    #[test]
    fn gaps_stay_and_do_not_spread() {
        let out = at(&[1.0, f64::NAN, f64::INFINITY, 1.0], 0.9);
        assert!(out[1].is_nan());
        assert!(out[2].is_infinite());
        assert!((out[3] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_restart_begins_anew() {
        let out = smooth(&[0.0, 1.0, 0.0], &[1.0, 1.0, 9.0], 0.9, 1.0);
        assert!((out[2] - 9.0).abs() < 1e-12);
    }

    #[test]
    fn no_weight_is_no_change() {
        assert_eq!(at(&[1.0, 5.0], 0.0), [1.0, 5.0]);
        assert_eq!(at(&[1.0, 5.0], f64::NAN), [1.0, 5.0]);
        assert!(at(&[], 0.5).is_empty());
    }
}
