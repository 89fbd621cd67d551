//! Shares of elements inside a range, and the distance of minimum and maximum.

use super::{Evidence, FormulaInput, Limits, Verdict, not_finite};
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::missing::Missing;

/// Percentage of elements inside a range, both ends inclusive, and max − min.
///
/// The percentage is exact if the elements were counted ([`Needs::ranges`](crate::watchpoint::Needs::ranges)).
/// Recorded statistics bound it from both sides; a limit between the bounds is inconclusive.
pub(crate) fn range(limits: &Limits, seen: &FormulaInput<'_>) -> Verdict {
    if let Some(missing) = not_finite(seen.digest) {
        return Verdict::Inconclusive(missing);
    }
    let mut evidence = Evidence::NONE;
    let mut is_open = false;
    let [share_below, share_above] =
        [Key::RangePercentageLt, Key::RangePercentageGt].map(|key| limits.get(key));
    if share_below.or(share_above).is_some() {
        let start = limits.value(Key::RangeStartInclusive);
        let end = limits.value(Key::RangeEndInclusive);
        let stats = &seen.now.summary.stats;
        let (least, most) = stats.count_within(start, end);
        let percentage = |count: u64| 100.0 * count as f64 / stats.count as f64;
        let (least, most) = (percentage(least), percentage(most));
        if share_below.is_some_and(|limit| most < limit) {
            evidence = evidence.and(Key::RangePercentageLt, most);
        } else {
            is_open |= share_below.is_some_and(|limit| least < limit);
        }
        if share_above.is_some_and(|limit| least > limit) {
            evidence = evidence.and(Key::RangePercentageGt, least);
        } else {
            is_open |= share_above.is_some_and(|limit| most > limit);
        }
    }
    let spread = seen.digest.max - seen.digest.min;
    if limits.is_below(Key::MaxMinLt, spread) {
        evidence = evidence.and(Key::MaxMinLt, spread);
    }
    if limits.is_above(Key::MaxMinGt, spread) {
        evidence = evidence.and(Key::MaxMinGt, spread);
    }
    if !evidence.is_empty() {
        Verdict::Hit(evidence)
    } else if is_open {
        let has_exponents = seen.now.summary.stats.exponents.is_some();
        Verdict::Inconclusive(if has_exponents {
            Missing::Bounds
        } else {
            Missing::NoExponents
        })
    } else {
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use trainscope_format::tensor::{DType, Select};

    use super::super::testing::{on, summary, verdict};
    use super::*;

    const OFF: f64 = f64::NAN;

    /// Limits in the order of the catalogue.
    fn named(limits: &[f64]) -> Vec<(Key, f64)> {
        let keys = [
            Key::RangeStartInclusive,
            Key::RangeEndInclusive,
            Key::RangePercentageLt,
            Key::RangePercentageGt,
            Key::MaxMinLt,
            Key::MaxMinGt,
        ];
        keys.into_iter().zip(limits.iter().copied()).collect()
    }

    #[test]
    fn a_share_is_judged_as_far_as_the_exponents_tell() {
        // 0.25 and 0.3 share a bucket; 0.5 begins one.
        let values = [0.25, 0.3, 0.5, 2.0];
        let of = |limits: &[f64]| verdict(range, &named(limits), &values);
        assert_eq!(
            of(&[0.25, 1.0, 80.0, OFF]),
            Verdict::Hit(Evidence::of(Key::RangePercentageLt, 75.0))
        );
        assert_eq!(
            of(&[0.25, 1.0, OFF, 70.0]),
            Verdict::Hit(Evidence::of(Key::RangePercentageGt, 75.0))
        );
        assert_eq!(
            of(&[0.25, 1.0, 75.0, 75.0]),
            Verdict::Pass,
            "both are strict"
        );
        let open = Verdict::Inconclusive(Missing::Bounds);
        assert_eq!(of(&[0.28, 1.0, 50.0, OFF]), open, "between 25 and 75 %");
        assert_eq!(of(&[0.28, 1.0, 20.0, OFF]), Verdict::Pass, "at least 25 %");
        let mut bare = summary(&values);
        bare.stats.exponents = None;
        let open = Verdict::Inconclusive(Missing::NoExponents);
        assert_eq!(on(range, &named(&[0.28, 1.0, 50.0]), &bare, None), open);
        assert_eq!(
            on(range, &named(&[3.0, 4.0, 50.0]), &bare, None),
            Verdict::Hit(Evidence::of(Key::RangePercentageLt, 0.0))
        );
    }

    /// The verdict on elements counted in the range.
    fn of_elements(limits: &[f64], values: &[f64]) -> Verdict {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let ranges = [(limits[0], limits[1])];
        let mut counted = summary(&[]);
        counted.dtype = DType::F64;
        counted.stats = Select::new().ranges(&ranges).read(DType::F64, &bytes).stats;
        on(range, &named(limits), &counted, None)
    }

    #[test]
    fn elements_decide_at_limits_that_are_no_powers_of_two() {
        let below = |actual| Verdict::Hit(Evidence::of(Key::RangePercentageLt, actual));
        let above = |actual| Verdict::Hit(Evidence::of(Key::RangePercentageGt, actual));
        let (ulp_above, ulp_below) = (1.0_f64.next_up(), 1.0_f64.next_down());
        let (start, end) = (-1.3_f64, 0.7_f64);
        let [under, over] = [start.next_down(), end.next_up()];
        let not_finite = |missing| Verdict::Inconclusive(missing);
        for (limits, values, wanted) in [
            (
                [-1.0, 1.0, 50.0, OFF],
                &[-1.0, ulp_above, 2.0, 3.0][..],
                below(25.0),
            ),
            (
                [-1.0, 1.0, 50.0, OFF],
                &[-1.0, 1.0, 2.0, 3.0],
                Verdict::Pass,
            ),
            (
                [-1.0, 1.0, 50.0, OFF],
                &[-1.0, ulp_below, 2.0, 3.0],
                Verdict::Pass,
            ),
            (
                [start, end, OFF, 99.0],
                &[start, end, -0.0, 0.5],
                above(100.0),
            ),
            (
                [start, end, OFF, 50.0],
                &[under, over, 0.0, 0.5],
                Verdict::Pass,
            ),
            (
                [start, end, OFF, 49.0],
                &[under, over, 0.0, 0.5],
                above(50.0),
            ),
            (
                [start, end, 51.0, OFF],
                &[under, over, 0.0, 0.5],
                below(50.0),
            ),
            ([end, end, OFF, 50.0], &[end, end, over], above(200.0 / 3.0)),
            ([1e-320, 2e-320, OFF, 0.0], &[1e-320, 3e-320], above(50.0)),
            ([-1e308, 1e308, 100.0, OFF], &[f64::MAX, 0.0], below(50.0)),
            (
                [start, end, 50.0, OFF],
                &[f64::NAN, 2.0],
                not_finite(Missing::Nan),
            ),
            (
                [start, end, 50.0, OFF],
                &[f64::INFINITY, 2.0],
                not_finite(Missing::Inf),
            ),
            (
                [start, end, 50.0, OFF],
                &[f64::NEG_INFINITY, 2.0],
                not_finite(Missing::Inf),
            ),
            ([start, end, 50.0, OFF], &[], not_finite(Missing::Empty)),
        ] {
            assert_eq!(
                of_elements(&limits, values),
                wanted,
                "{limits:?} {values:?}"
            );
        }
    }

    #[test]
    fn extremes_may_lie_too_near_or_too_far() {
        let of = |limits: &[f64]| verdict(range, &named(limits), &[-1.0, 2.0]);
        assert_eq!(
            of(&[OFF, OFF, OFF, OFF, 3.5, OFF]),
            Verdict::Hit(Evidence::of(Key::MaxMinLt, 3.0))
        );
        assert_eq!(
            of(&[OFF, OFF, OFF, OFF, OFF, 2.5]),
            Verdict::Hit(Evidence::of(Key::MaxMinGt, 3.0))
        );
        assert_eq!(of(&[OFF, OFF, OFF, OFF, 3.0, 3.0]), Verdict::Pass);
    }
}
