//! Smoothing for the eye: an exponential moving average without the bias of its start.

/// The debiased exponential moving average of `values` at `x`, `weight` 0 (nothing) to below 1.
///
/// A value loses the share `1 − weight` of its influence over each `unit` of x, so that dense and sparse lines are
/// smoothed alike: with `d = weight^(Δx / unit)`, `sᵢ = d·sᵢ₋₁ + (1 − d)·vᵢ` and `nᵢ = d·nᵢ₋₁ + (1 − d)`, the result
/// is `sᵢ / nᵢ` and begins at the first value. Where x goes back (a restart), it begins anew.
///
/// A value that is not finite stays as it is in its place and leaves the average untouched: the gap is seen, and what
/// follows is not poisoned by it. Without a usable `unit` each point counts as one.
pub fn smooth(x: &[f64], values: &[f64], weight: f64, unit: f64) -> Vec<f64> {
    let weight = if weight.is_finite() {
        weight.clamp(0.0, 0.999)
    } else {
        0.0
    };
    if weight == 0.0 {
        return values.to_vec();
    }
    let (mut sum, mut share) = (0.0, 0.0);
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
        }
        let units = if distance.is_finite() && distance > 0.0 {
            distance
        } else {
            1.0
        };
        let decay = weight.powf(units);
        sum = decay * sum + (1.0 - decay) * value;
        share = decay * share + (1.0 - decay);
        before = at;
        out.push(sum / share);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::smooth;

    fn at(values: &[f64], weight: f64) -> Vec<f64> {
        let x: Vec<f64> = (0_u32..).take(values.len()).map(f64::from).collect();
        smooth(&x, values, weight, 1.0)
    }

    #[test]
    fn a_constant_stays_what_it_is() {
        for value in at(&[3.0; 50], 0.99) {
            assert!((value - 3.0).abs() < 1e-9);
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
        // A ramp is followed at the same distance, but for the coarseness of its points.
        assert!((ramp(1) - ramp(5)).abs() < 5.0, "{} {}", ramp(1), ramp(5));
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
