//! Smoothing for the eye: an exponential moving average without the bias of its start.

/// The debiased exponential moving average of `values`, `weight` 0 (nothing) to below 1.
///
/// With `s₀ = 0`, `sᵢ = w·sᵢ₋₁ + (1 − w)·xᵢ` and the result is `sᵢ / (1 − wⁱ)`, so that it begins at the first value.
/// A value that is not finite stays as it is in its place and leaves the average untouched: the gap is seen, and what
/// follows is not poisoned by it.
pub fn smooth(values: &[f64], weight: f64) -> Vec<f64> {
    let weight = if weight.is_finite() {
        weight.clamp(0.0, 0.999)
    } else {
        0.0
    };
    if weight == 0.0 {
        return values.to_vec();
    }
    let (mut average, mut remains) = (0.0, 1.0);
    values
        .iter()
        .map(|&value| {
            if !value.is_finite() {
                return value;
            }
            remains *= weight;
            average = weight * average + (1.0 - weight) * value;
            average / (1.0 - remains)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::smooth;

    #[test]
    fn a_constant_stays_what_it_is() {
        for value in smooth(&[3.0; 50], 0.99) {
            assert!((value - 3.0).abs() < 1e-9);
        }
    }

    #[test]
    fn it_is_the_defined_average() {
        let out = smooth(&[1.0, 2.0, 4.0], 0.5);
        // 0.5/0.5; (0.25 + 1)/0.75; (0.125 + 0.5 + 2)/0.875
        assert!((out[0] - 1.0).abs() < 1e-12);
        assert!((out[1] - 5.0 / 3.0).abs() < 1e-12);
        assert!((out[2] - 3.0).abs() < 1e-12);
    }

    #[test]
    fn gaps_stay_and_do_not_spread() {
        let out = smooth(&[1.0, f64::NAN, f64::INFINITY, 1.0], 0.9);
        assert!(out[1].is_nan());
        assert!(out[2].is_infinite());
        assert!((out[3] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn no_weight_is_no_change() {
        assert_eq!(smooth(&[1.0, 5.0], 0.0), [1.0, 5.0]);
        assert_eq!(smooth(&[1.0, 5.0], f64::NAN), [1.0, 5.0]);
        assert!(smooth(&[], 0.5).is_empty());
    }
}
