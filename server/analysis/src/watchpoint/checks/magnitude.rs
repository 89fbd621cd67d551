//! Figures above or below a limit: mean |x|, maximum, minimum, mean.

use super::{Limits, Seen, Verdict, any_of, not_finite};

/// Limits: mean |x|, max, min, mean; a hit if any is above its own.
pub(crate) fn too_large(limits: &Limits, seen: &Seen<'_>) -> Verdict {
    compare(seen, |figures| {
        let [a, b, c, d, ..] = *limits;
        any_of([
            (figures[0], figures[0] > a),
            (figures[1], figures[1] > b),
            (figures[2], figures[2] > c),
            (figures[3], figures[3] > d),
        ])
    })
}

/// The same, below.
pub(crate) fn too_small(limits: &Limits, seen: &Seen<'_>) -> Verdict {
    compare(seen, |figures| {
        let [a, b, c, d, ..] = *limits;
        any_of([
            (figures[0], figures[0] < a),
            (figures[1], figures[1] < b),
            (figures[2], figures[2] < c),
            (figures[3], figures[3] < d),
        ])
    })
}

fn compare(seen: &Seen<'_>, judge: impl FnOnce([f64; 4]) -> Verdict) -> Verdict {
    if let Some(missing) = not_finite(seen.digest) {
        return Verdict::Inconclusive(missing);
    }
    let digest = seen.digest;
    judge([digest.mean_abs, digest.max, digest.min, digest.mean])
}

#[cfg(test)]
mod tests {
    use super::super::Evidence;
    use super::super::testing::verdict;
    use super::*;
    use crate::watchpoint::model::finding::Missing;
    use crate::watchpoint::model::parameter::MAX_PARAMETERS;

    const OFF: f64 = f64::NAN;

    #[test]
    fn any_limit_that_is_exceeded_is_a_hit() {
        // Mean |x| 2, max 3, min −2, mean 2/3.
        let values = [1.0, -2.0, 3.0];
        let large = |limits: &[f64]| verdict(too_large, limits, &values);
        assert_eq!(
            large(&[1.9, OFF, OFF, OFF]),
            Verdict::Hit(Evidence::one(0, 2.0))
        );
        assert_eq!(
            large(&[2.0, OFF, OFF, OFF]),
            Verdict::Pass,
            "above is strict"
        );
        assert_eq!(
            large(&[OFF, 2.5, OFF, OFF]),
            Verdict::Hit(Evidence::one(1, 3.0))
        );
        assert_eq!(
            large(&[OFF, OFF, -2.5, OFF]),
            Verdict::Hit(Evidence::one(2, -2.0))
        );
        assert_eq!(large(&[OFF; MAX_PARAMETERS]), Verdict::Pass);
        let mut both = Evidence::one(0, 2.0);
        both.0[1] = 3.0;
        assert_eq!(large(&[1.0, 1.0, 0.0, OFF]), Verdict::Hit(both));
        let small = |limits: &[f64]| verdict(too_small, limits, &values);
        assert_eq!(
            small(&[2.0, OFF, OFF, OFF]),
            Verdict::Pass,
            "below is strict"
        );
        assert_eq!(
            small(&[OFF, OFF, -1.0, OFF]),
            Verdict::Hit(Evidence::one(2, -2.0))
        );
    }

    #[test]
    fn figures_of_the_finite_rest_are_not_judged() {
        let of = |values: &[f32]| verdict(too_large, &[0.0, OFF, OFF, OFF], values);
        assert_eq!(of(&[9.0, f32::NAN]), Verdict::Inconclusive(Missing::Nan));
        assert_eq!(
            of(&[9.0, f32::INFINITY]),
            Verdict::Inconclusive(Missing::Inf)
        );
        assert_eq!(of(&[]), Verdict::Inconclusive(Missing::Empty));
    }
}
