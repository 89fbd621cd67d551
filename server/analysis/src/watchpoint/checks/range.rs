//! Shares of elements inside a range, and how far extremes lie apart.

use super::{Evidence, Limits, Seen, Verdict, not_finite};
use crate::watchpoint::finding::Missing;

/// Limits: start and end of the range (both inclusive), percentage inside below, above, max − min below, above.
///
/// Statistics bound the percentage from both sides; where the limit lies between, only the elements tell.
pub(crate) fn range(limits: &Limits, seen: &Seen<'_>) -> Verdict {
    if let Some(missing) = not_finite(seen.digest) {
        return Verdict::Inconclusive(missing);
    }
    let [start, end, share_below, share_above, narrower, wider, ..] = *limits;
    let mut evidence = Evidence::NONE;
    let mut is_hit = false;
    let mut is_open = false;
    if !(share_below.is_nan() && share_above.is_nan()) {
        let stats = &seen.now.summary.stats;
        let (least, most) = stats.count_within(start, end);
        let percentage = |count: u64| 100.0 * count as f64 / stats.count as f64;
        let (least, most) = (percentage(least), percentage(most));
        if most < share_below {
            evidence.0[2] = most;
            is_hit = true;
        } else {
            is_open |= least < share_below;
        }
        if least > share_above {
            evidence.0[3] = least;
            is_hit = true;
        } else {
            is_open |= most > share_above;
        }
    }
    let spread = seen.digest.max - seen.digest.min;
    for (index, is_beyond) in [(4, spread < narrower), (5, spread > wider)] {
        if is_beyond {
            evidence.0[index] = spread;
            is_hit = true;
        }
    }
    if is_hit {
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
    use super::super::testing::{on, summary, verdict};
    use super::*;

    const OFF: f64 = f64::NAN;

    #[test]
    fn a_share_is_judged_as_far_as_the_exponents_tell() {
        // 0.25 and 0.3 share a bucket; 0.5 begins one.
        let values = [0.25, 0.3, 0.5, 2.0];
        let of = |limits: &[f64]| verdict(range, limits, &values);
        assert_eq!(
            of(&[0.25, 1.0, 80.0, OFF]),
            Verdict::Hit(Evidence::one(2, 75.0))
        );
        assert_eq!(
            of(&[0.25, 1.0, OFF, 70.0]),
            Verdict::Hit(Evidence::one(3, 75.0))
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
        assert_eq!(on(range, &[0.28, 1.0, 50.0], &bare, None), open);
        assert_eq!(
            on(range, &[3.0, 4.0, 50.0], &bare, None),
            Verdict::Hit(Evidence::one(2, 0.0))
        );
    }

    #[test]
    fn extremes_may_lie_too_near_or_too_far() {
        let of = |limits: &[f64]| verdict(range, limits, &[-1.0, 2.0]);
        assert_eq!(
            of(&[OFF, OFF, OFF, OFF, 3.5, OFF]),
            Verdict::Hit(Evidence::one(4, 3.0))
        );
        assert_eq!(
            of(&[OFF, OFF, OFF, OFF, OFF, 2.5]),
            Verdict::Hit(Evidence::one(5, 3.0))
        );
        assert_eq!(of(&[OFF, OFF, OFF, OFF, 3.0, 3.0]), Verdict::Pass);
    }
}
