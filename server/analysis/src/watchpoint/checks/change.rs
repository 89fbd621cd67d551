//! Changes since the previous step.

use super::{Evidence, FormulaInput, Limits, Verdict, any_of, not_finite};
use crate::watchpoint::model::history::Digest;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::missing::Missing;

/// A hit if no element differs by more than the tolerance.
pub(crate) fn not_changed(limits: &Limits, seen: &FormulaInput<'_>) -> Verdict {
    // Bit-identical content has the same NaN.
    let equal_nan = limits.get(Key::EqualNan).is_some_and(|equal| equal > 0.0);
    let hit = Verdict::Hit(Evidence::of(Key::Count, 0.0));
    let is_same = |before: &Digest| {
        seen.digest.is_identical(before) == Some(true) || has_same_nan(seen, before)
    };
    if equal_nan && seen.before.is_some_and(is_same) {
        return hit;
    }
    if let Some(missing) = not_finite_pair(seen) {
        return Verdict::Inconclusive(missing);
    }
    let Some(before) = seen.before else {
        return Verdict::Inconclusive(Missing::NoPrevious);
    };
    // Equal content is within any tolerance.
    if seen.digest.is_identical(before) == Some(true) {
        return hit;
    }
    let (relative, absolute) = (limits.value(Key::Rtol), limits.value(Key::Atol));
    let change = match seen.now.summary.change {
        Some(change) if change.count == seen.digest.count => change,
        _ => return Verdict::Inconclusive(Missing::NoChange),
    };
    let counted = seen.now.tolerance;
    let is_within =
        change.changed == 0 && counted.relative <= relative && counted.absolute <= absolute;
    if is_within || change.max_abs_change <= absolute {
        hit
    } else if change.changed > 0 && counted.relative >= relative && counted.absolute >= absolute {
        Verdict::Pass
    } else {
        Verdict::Inconclusive(Missing::Tolerance)
    }
}

/// True if NaN positions are unchanged and the rest is within the tolerance of the recorded change: the number of
/// non-finite pairs equals the number of NaN in either state, so the positions are the same, and nothing else has
/// changed.
fn has_same_nan(seen: &FormulaInput<'_>, before: &Digest) -> bool {
    let digest = seen.digest;
    let only_nan = |d: &Digest| !d.has_pos_inf && !d.has_neg_inf;
    seen.now.summary.change.is_some_and(|change| {
        let not_finite = change.count.saturating_sub(change.finite);
        change.count == digest.count
            && only_nan(digest)
            && only_nan(before)
            && [before.nan, not_finite, change.changed] == [digest.nan; 3]
    })
}

/// Mean |change| divided by mean |before| + ε, above the limit.
pub(crate) fn too_large(limits: &Limits, seen: &FormulaInput<'_>) -> Verdict {
    compare(limits, seen, Key::AbsMeanUpdateRatioGt, Limits::is_above)
}

/// The same quantity, below the limit.
pub(crate) fn too_small(limits: &Limits, seen: &FormulaInput<'_>) -> Verdict {
    compare(limits, seen, Key::AbsMeanUpdateRatioLt, Limits::is_below)
}

fn compare(
    limits: &Limits,
    seen: &FormulaInput<'_>,
    key: Key,
    is_beyond: fn(&Limits, Key, f64) -> bool,
) -> Verdict {
    match ratio(limits, seen) {
        Ok(ratio) => any_of([(key, ratio, is_beyond(limits, key, ratio))]),
        Err(missing) => Verdict::Inconclusive(missing),
    }
}

fn ratio(limits: &Limits, seen: &FormulaInput<'_>) -> Result<f64, Missing> {
    if let Some(missing) = not_finite_pair(seen) {
        return Err(missing);
    }
    let before = seen.before.ok_or(Missing::NoPrevious)?;
    match seen.now.summary.change {
        Some(change) if change.count == seen.digest.count => change
            .mean_change_ratio(limits.value(Key::Epsilon))
            .ok_or(Missing::NoChange),
        _ if seen.digest.is_identical(before) == Some(true) => Ok(0.0),
        _ => Err(Missing::NoChange),
    }
}

fn not_finite_pair(seen: &FormulaInput<'_>) -> Option<Missing> {
    not_finite(seen.digest).or_else(|| {
        let before = seen.before?;
        if before.count == seen.digest.count {
            not_finite(before)
        } else {
            Some(Missing::NoPrevious)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{on, summary, verdict, verdict_after};
    use super::*;

    fn named<const N: usize>(keys: [Key; N], values: &[f64]) -> Vec<(Key, f64)> {
        keys.into_iter().zip(values.iter().copied()).collect()
    }

    fn tolerance(values: &[f64]) -> Vec<(Key, f64)> {
        named([Key::Rtol, Key::Atol, Key::EqualNan], values)
    }

    fn ratio_above(values: &[f64]) -> Vec<(Key, f64)> {
        named([Key::AbsMeanUpdateRatioGt, Key::Epsilon], values)
    }

    fn ratio_below(values: &[f64]) -> Vec<(Key, f64)> {
        named([Key::AbsMeanUpdateRatioLt, Key::Epsilon], values)
    }

    #[test]
    fn a_weight_is_unchanged_if_every_element_is_close_to_what_it_was() {
        let of = |before: &[f32], now: &[f32]| {
            verdict_after(not_changed, &tolerance(&[1e-5, 1e-8]), before, now)
        };
        let unchanged = Verdict::Hit(Evidence::of(Key::Count, 0.0));
        assert_eq!(of(&[1.0, 2.0], &[1.0, 2.0]), unchanged);
        assert_eq!(of(&[1.0, 2.0], &[1.000_005, 2.0]), unchanged);
        assert_eq!(of(&[1.0, 2.0], &[1.000_02, 2.0]), Verdict::Pass);
        assert_eq!(of(&[0.0], &[1e-9]), unchanged);
        assert_eq!(of(&[0.0], &[1e-7]), Verdict::Pass);
    }

    #[test]
    fn what_was_not_recorded_is_not_judged() {
        let limits = tolerance(&[1e-5, 1e-8]);
        let (a, b) = (summary(&[1.0]), summary(&[2.0]));
        let missing = |m| Verdict::Inconclusive(m);
        assert_eq!(
            verdict(not_changed, &limits, &[1.0]),
            missing(Missing::NoPrevious)
        );
        assert_eq!(
            on(not_changed, &limits, &b, Some(&a)),
            missing(Missing::NoChange)
        );
        assert_eq!(
            on(too_large, &ratio_above(&[0.1, 1e-9]), &b, Some(&a)),
            missing(Missing::NoChange)
        );
        let hit = Verdict::Hit(Evidence::of(Key::Count, 0.0));
        assert_eq!(
            on(not_changed, &limits, &a, Some(&a)),
            hit,
            "equal hashes are enough"
        );
        let longer = summary(&[1.0, 1.0]);
        assert_eq!(
            on(not_changed, &limits, &longer, Some(&a)),
            missing(Missing::NoPrevious)
        );
        let nan = summary(&[f32::NAN]);
        let limits_with_nan = tolerance(&[1e-5, 1e-8, 1.0]);
        assert_eq!(on(not_changed, &limits_with_nan, &nan, Some(&nan)), hit);
        let of = |now: &[f32]| verdict_after(not_changed, &limits_with_nan, &[f32::NAN, 2.0], now);
        assert_eq!(of(&[-f32::NAN, 2.0]), hit, "whatever its bits are");
        assert_eq!(of(&[-f32::NAN, 3.0]), missing(Missing::Nan));
        assert_eq!(of(&[2.0, f32::NAN]), missing(Missing::Nan));
        assert_eq!(
            on(not_changed, &limits_with_nan, &nan, Some(&nan)),
            hit,
            "NaN is what it was"
        );
        assert_eq!(
            on(not_changed, &limits, &nan, Some(&nan)),
            missing(Missing::Nan)
        );
        assert_eq!(
            on(not_changed, &limits_with_nan, &nan, Some(&nan)),
            hit,
            "unless NaN equals NaN"
        );
        assert_eq!(
            on(too_small, &ratio_below(&[0.1, 1e-9]), &a, Some(&nan)),
            missing(Missing::Nan)
        );
    }

    #[test]
    fn another_tolerance_than_the_recorded_one_decides_only_what_it_can() {
        let of =
            |limits: &[f64]| verdict_after(not_changed, &tolerance(limits), &[1.0], &[1.000_1]);
        assert_eq!(
            of(&[1e-6, 1e-9]),
            Verdict::Pass,
            "changed for a wider one, so for this"
        );
        assert_eq!(of(&[1e-3, 1e-8]), Verdict::Inconclusive(Missing::Tolerance));
        assert_eq!(
            of(&[0.0, 1e-3]),
            Verdict::Hit(Evidence::of(Key::Count, 0.0)),
            "no element moved so far"
        );
    }

    #[test]
    fn epsilon_stands_in_the_denominator() {
        let of = |formula, limits: &[(Key, f64)]| {
            verdict_after(formula, limits, &[1.0, -3.0], &[1.5, -3.0])
        };
        // 0.25 / (2 + ε)
        assert_eq!(
            of(too_large, &ratio_above(&[0.1, 0.0])),
            Verdict::Hit(Evidence::of(Key::AbsMeanUpdateRatioGt, 0.125))
        );
        assert_eq!(of(too_large, &ratio_above(&[0.1, 0.5])), Verdict::Pass);
        assert_eq!(
            of(too_small, &ratio_below(&[0.2, 0.5])),
            Verdict::Hit(Evidence::of(Key::AbsMeanUpdateRatioLt, 0.1))
        );
        assert_eq!(of(too_small, &ratio_below(&[0.1, 0.0])), Verdict::Pass);
    }
}
