//! Figures above or below a limit: mean |x|, maximum, minimum, mean.

use super::{FormulaInput, Limits, Verdict, any_of, not_finite};
use crate::watchpoint::model::key::Key;

/// A hit if any figure is above its limit.
pub(crate) fn too_large(limits: &Limits, seen: &FormulaInput<'_>) -> Verdict {
    let keys = [Key::AbsMeanGt, Key::MaxGt, Key::MinGt, Key::MeanGt];
    compare(seen, keys, |key, figure| limits.is_above(key, figure))
}

/// A hit if any figure is below its limit.
pub(crate) fn too_small(limits: &Limits, seen: &FormulaInput<'_>) -> Verdict {
    let keys = [Key::AbsMeanLt, Key::MaxLt, Key::MinLt, Key::MeanLt];
    compare(seen, keys, |key, figure| limits.is_below(key, figure))
}

/// Compares mean |x|, maximum, minimum and mean, each by its key.
fn compare(
    seen: &FormulaInput<'_>,
    keys: [Key; 4],
    is_beyond: impl Fn(Key, f64) -> bool,
) -> Verdict {
    if let Some(missing) = not_finite(seen.digest) {
        return Verdict::Inconclusive(missing);
    }
    let digest = seen.digest;
    let [a, b, c, d] = keys;
    let figures = [
        (a, digest.mean_abs),
        (b, digest.max),
        (c, digest.min),
        (d, digest.mean),
    ];
    any_of(figures.map(|(key, figure)| (key, figure, is_beyond(key, figure))))
}

#[cfg(test)]
mod tests {
    use super::super::Evidence;
    use super::super::testing::verdict;
    use super::*;
    use crate::watchpoint::model::missing::Missing;

    const OFF: f64 = f64::NAN;

    #[test]
    fn any_limit_that_is_exceeded_is_a_hit() {
        // Mean |x| 2, max 3, min −2, mean 2/3.
        let values = [1.0, -2.0, 3.0];
        let large = |limits: [f64; 4]| {
            let keys = [Key::AbsMeanGt, Key::MaxGt, Key::MinGt, Key::MeanGt];
            verdict(
                too_large,
                &keys.into_iter().zip(limits).collect::<Vec<_>>(),
                &values,
            )
        };
        assert_eq!(
            large([1.9, OFF, OFF, OFF]),
            Verdict::Hit(Evidence::of(Key::AbsMeanGt, 2.0))
        );
        assert_eq!(
            large([2.0, OFF, OFF, OFF]),
            Verdict::Pass,
            "above is strict"
        );
        assert_eq!(
            large([OFF, 2.5, OFF, OFF]),
            Verdict::Hit(Evidence::of(Key::MaxGt, 3.0))
        );
        assert_eq!(
            large([OFF, OFF, -2.5, OFF]),
            Verdict::Hit(Evidence::of(Key::MinGt, -2.0))
        );
        assert_eq!(large([OFF; 4]), Verdict::Pass);
        let both = Evidence::of(Key::AbsMeanGt, 2.0).and(Key::MaxGt, 3.0);
        assert_eq!(large([1.0, 1.0, 0.0, OFF]), Verdict::Hit(both));
        let small = |limits: [f64; 4]| {
            let keys = [Key::AbsMeanLt, Key::MaxLt, Key::MinLt, Key::MeanLt];
            verdict(
                too_small,
                &keys.into_iter().zip(limits).collect::<Vec<_>>(),
                &values,
            )
        };
        assert_eq!(
            small([2.0, OFF, OFF, OFF]),
            Verdict::Pass,
            "below is strict"
        );
        assert_eq!(
            small([OFF, OFF, -1.0, OFF]),
            Verdict::Hit(Evidence::of(Key::MinLt, -2.0))
        );
    }

    #[test]
    fn figures_of_the_finite_rest_are_not_judged() {
        let of = |values: &[f32]| verdict(too_large, &[(Key::AbsMeanGt, 0.0)], values);
        assert_eq!(of(&[9.0, f32::NAN]), Verdict::Inconclusive(Missing::Nan));
        assert_eq!(
            of(&[9.0, f32::INFINITY]),
            Verdict::Inconclusive(Missing::Inf)
        );
        assert_eq!(of(&[]), Verdict::Inconclusive(Missing::Empty));
    }
}
