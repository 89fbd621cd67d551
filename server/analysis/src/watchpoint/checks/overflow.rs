//! NaN and infinities.

use trainscope_format::{Severity, digits};

use super::{Evidence, Judgement, Limits, Seen, Verdict, by_formula, precision};
use crate::watchpoint::config::Watchpoint;
use crate::watchpoint::evaluator::Tensor;
use crate::watchpoint::finding::Sentence;
use crate::watchpoint::history::Digest;
use crate::watchpoint::report::Found;
use crate::watchpoint::run::{Run, with_before};
use crate::watchpoint::scalars::Meaning;
use crate::watchpoint::target::{Class, Family};

/// Whether there is an element that is NaN or infinite; how many is what was found.
pub(crate) fn not_finite_count(_: &Limits, seen: &Seen<'_>) -> Verdict {
    let stats = &seen.now.summary.stats;
    match stats.nan + stats.pos_inf + stats.neg_inf {
        0 => Verdict::Pass,
        count => {
            let mut evidence = Evidence::one(0, count as f64);
            evidence.0[1] = stats.count as f64;
            evidence.0[2] = stats.nan as f64;
            Verdict::Hit(evidence)
        }
    }
}

/// Overflows that were not meant. A scaled loss overflows gradients by design, until its scale fits; and −∞ in what a
/// softmax is given means *do not look there*.
pub(crate) fn judge(run: &Run<'_>, index: u32, watchpoint: &Watchpoint) -> Judgement {
    let mut judged = by_formula(run, index, watchpoint);
    let tensors = run
        .memories(index)
        .flat_map(|(t, episodes, _)| episodes.iter().map(move |_| t));
    for (found, tensor) in judged.found.iter_mut().zip(tensors) {
        let is_gradient = matches!(
            tensor.subject.class,
            Class::Gradient | Class::ActivationGradient
        );
        let is_meant = if is_gradient {
            is_skipped(run, tensor, found) && precision::thrash(run, tensor.rank).is_none()
        } else {
            is_mask(run, tensor, found.step)
        };
        if is_meant {
            found.severity = Some(Severity::Info);
        }
        found.sentence = tensor
            .history
            .at(found.step)
            .map(|d| counted(tensor, found, d, is_meant));
    }
    judged
}

/// What there is, and how much of it.
fn counted(tensor: &Tensor, found: &Found, digest: &Digest, is_meant: bool) -> Sentence {
    let infinity = match (digest.has_pos_inf, digest.has_neg_inf) {
        (true, true) => Some("±∞"),
        (true, false) => Some("+∞"),
        (false, true) => Some("−∞"),
        (false, false) => None,
    };
    let kinds: Vec<&str> = digest
        .has_nan
        .then_some("NaN")
        .into_iter()
        .chain(infinity)
        .collect();
    let (name, bad, all) = (&tensor.name, found.evidence.0[0], digest.count);
    let is_all = bad >= all as f64;
    let (bad, all) = (digits::number(bad, 6), digits::count(all));
    let (en, zh) = if is_meant {
        (" (expected)", "（属于预期）")
    } else {
        ("", "")
    };
    let (which_en, which_zh) = match &*all {
        "1" => ("its only element is".to_owned(), "唯一的元素".to_owned()),
        _ if is_all => (
            format!("all {all} elements are"),
            format!("全部 {all} 个元素"),
        ),
        _ if bad == "1" => (
            format!("1 of {all} elements is"),
            format!("{all} 个元素中有 1 个"),
        ),
        _ => (
            format!("{bad} of {all} elements are"),
            format!("{all} 个元素中有 {bad} 个"),
        ),
    };
    Sentence {
        en: format!("{name}: {which_en} {}{en}", kinds.join(" or ")),
        zh: format!("{name}：{which_zh}为 {}{zh}", kinds.join(" 或 ")),
    }
}

/// Whether the step was not taken because of it: the loss scale came down right after, or the weights stood still, and
/// what follows is finite.
fn is_skipped(run: &Run<'_>, tensor: &Tensor, found: &Found) -> bool {
    let step = found.step;
    let is_loss_finite = run
        .scalar(tensor.rank, Meaning::Loss)
        .is_none_or(|loss| loss.since(step).all(|(_, v)| v.is_finite()));
    if !is_loss_finite {
        return false;
    }
    let scale = run.scalar(tensor.rank, Meaning::LossScale);
    let falls = scale.and_then(|scale| {
        let now = scale.at(step)?;
        let next = scale.after(step).next()?.1;
        let before = scale.before(step).last().map(|p| p.1);
        Some(next < now || before.is_some_and(|before| now < before))
    });
    let stands = || {
        let mut weights = run
            .of_class(tensor.rank, Class::Weight)
            .filter_map(|w| with_before(w, step.saturating_add(1)));
        let (mut seen, mut still) = (0, 0);
        for (before, now) in &mut weights {
            seen += 1;
            still += u32::from(now.is_identical(before) == Some(true));
        }
        seen > 0 && seen == still
    };
    falls.unwrap_or_else(stands)
}

/// Whether it is only −∞, in front of a softmax or of nothing that minds: all that runs after it in the same step, the
/// loss too, is finite.
fn is_mask(run: &Run<'_>, tensor: &Tensor, step: i64) -> bool {
    let Some(digest) = tensor.history.at(step) else {
        return false;
    };
    let only_below = digest.has_neg_inf && !digest.has_nan && !digest.has_pos_inf;
    if !only_below || tensor.subject.class == Class::Weight {
        return false;
    }
    if run.family(tensor) == Family::Logarithm {
        return false;
    }
    let flow = run.flow(tensor);
    let mut later = run
        .tensors
        .iter()
        .filter(|t| t.rank == tensor.rank && run.flow(t) > flow);
    let (mut followers, mut finite) = (0, 0);
    for digest in later.by_ref().filter_map(|t| t.history.at(step)) {
        followers += 1;
        finite += u32::from(digest.is_finite());
    }
    let loss = run
        .scalar(tensor.rank, Meaning::Loss)
        .and_then(|l| l.at(step));
    followers > 0 && followers == finite && loss.is_none_or(f64::is_finite)
}

#[cfg(test)]
mod tests {
    use super::super::testing::verdict;
    use super::*;

    #[test]
    fn each_element_that_is_not_finite_counts() {
        let of = |values: &[f32]| verdict(not_finite_count, &[], values);
        assert_eq!(of(&[1.0, -2.0, 0.0]), Verdict::Pass);
        assert_eq!(of(&[]), Verdict::Pass);
        assert_eq!(of(&[f32::MAX, f32::MIN_POSITIVE]), Verdict::Pass);
        let counted = |count, of, nan| {
            let mut evidence = Evidence::NONE;
            evidence.0[..3].copy_from_slice(&[count, of, nan]);
            Verdict::Hit(evidence)
        };
        assert_eq!(of(&[1.0, f32::NAN]), counted(1.0, 2.0, 1.0));
        let all = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
        assert_eq!(of(&all), counted(3.0, 3.0, 1.0));
    }
}
