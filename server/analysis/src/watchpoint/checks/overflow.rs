//! NaN and infinities.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use trainscope_api::Sentence;
use trainscope_format::{Severity, digits};

use super::explosion::NORM_FLOW;

use super::{Evidence, FormulaInput, Judgement, Limits, Verdict, by_formula, precision};
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::history::Digest;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::new_hit::NewHit;
use crate::watchpoint::model::run::{Flow, Phase, Run, with_before};
use crate::watchpoint::model::scalars::Meaning;
use crate::watchpoint::model::subject::{Class, Family};
use crate::watchpoint::model::tensor::Tensor;

/// A hit if there is a NaN or infinite element; the evidence is their number.
pub(crate) fn not_finite_count(_: &Limits, seen: &FormulaInput<'_>) -> Verdict {
    let stats = &seen.now.summary.stats;
    match stats.nan + stats.pos_inf + stats.neg_inf {
        0 => Verdict::Pass,
        count => {
            let counted = Evidence::of(Key::Count, count as f64);
            let counted = counted.and(Key::Elements, stats.count as f64);
            Verdict::Hit(counted.and(Key::Nan, stats.nan as f64))
        }
    }
}

/// Unintended overflows. A scaled loss overflows gradients by design, until its scale fits; and −∞ before a softmax is
/// a mask.
pub(crate) fn judge(run: &Run<'_>, index: u32, watchpoint: &Watchpoint) -> Judgement {
    let mut judged = by_formula(run, index, watchpoint);
    let mut masks = Masks::new(run);
    let tensors = run
        .memories(index)
        .flat_map(|(t, episodes, _)| episodes.iter().map(move |_| t));
    for (found, tensor) in judged.found.iter_mut().zip(tensors) {
        let is_meant = if is_gradient(tensor) {
            is_skipped(run, tensor.rank, found.step)
                && precision::thrash(run, tensor.rank).is_none()
        } else {
            masks.holds(tensor, found.step)
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

/// [`judge`], and gradient norms that are NaN or infinite without a recorded gradient that is.
pub(crate) fn gradients(run: &Run<'_>, index: u32, watchpoint: &Watchpoint) -> Judgement {
    let mut judged = judge(run, index, watchpoint);
    for norm in run.scalars(Meaning::GradientNorm) {
        if !watchpoint.covers(&norm.tag) {
            continue;
        }
        let is_shown = |step| {
            let of_rank = run.of_class(norm.rank, Class::Gradient);
            let mut at_step = of_rank.filter_map(|t| t.history.at(step));
            at_step.any(|digest| !digest.is_finite())
        };
        let points = norm.points().filter(|p| !p.1.is_finite() && !is_shown(p.0));
        let points: Vec<(i64, f64)> = points.collect();
        let is_meant =
            |step| is_skipped(run, norm.rank, step) || left_weights(run, norm.rank, step);
        let thrashes = precision::thrash(run, norm.rank).is_some();
        let harmful = points.iter().find(|p| thrashes || !is_meant(p.0));
        let Some(&(step, value)) = harmful.or(points.first()) else {
            continue;
        };
        let severity = match harmful {
            Some(_) => Severity::Error,
            None => Severity::Info,
        };
        let (tag, count) = (&norm.tag, points.len());
        let value = digits::brief(value);
        let hit = NewHit::of_scalar(norm, step, NORM_FLOW, (Key::Count, count as f64));
        judged.found.push(hit.called(severity).saying(
            format!("{tag} is {value}: the gradient overflows"),
            format!("{tag} 为 {value}：梯度溢出"),
        ));
    }
    judged
}

/// Significant digits of a count in a sentence.
const COUNT_DIGITS: usize = 6;

/// Sentence with the kinds and the number of non-finite elements.
pub(crate) fn counted(
    tensor: &Tensor,
    found: &NewHit,
    digest: &Digest,
    is_meant: bool,
) -> Sentence {
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
    let (name, bad, all) = (
        &tensor.name,
        found.evidence.get(Key::Count).unwrap_or(0.0),
        digest.count,
    );
    let is_all = bad >= all as f64;
    let (bad, all) = (digits::number(bad, COUNT_DIGITS), digits::count(all));
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

/// Number of finite losses after an overflow that show a skipped update, if nothing else does. Chosen.
const FINITE_LOSSES: usize = 3;

/// True if the update of a step was skipped because of an overflow: the loss scale came down right after, or the
/// weights did not change, and the loss remains finite. If neither is recorded, a loss that remains finite is enough.
fn is_skipped(run: &Run<'_>, rank: u32, step: i64) -> bool {
    let loss = run.scalar(rank, Meaning::Loss);
    let is_loss_finite = loss.is_none_or(|loss| loss.since(step).all(|(_, v)| v.is_finite()));
    if !is_loss_finite {
        return false;
    }
    let scale = run.scalar(rank, Meaning::LossScale);
    let falls = scale.and_then(|scale| {
        let now = scale.at(step)?;
        let next = scale.after(step).next()?.1;
        let before = scale.before(step).last().map(|p| p.1);
        Some(next < now || before.is_some_and(|before| now < before))
    });
    if let Some(falls) = falls {
        return falls;
    }
    let weights = run
        .of_class(rank, Class::Weight)
        .filter_map(|w| with_before(w, step.saturating_add(1)))
        // Between two looks that are apart, other updates change the weights.
        .filter(|(before, _)| before.step >= step);
    let same: Vec<bool> = weights
        .map(|(before, now)| now.is_identical(before) == Some(true))
        .collect();
    let has_gradients = run.of_class(rank, Class::Gradient).next().is_some();
    if same.is_empty() {
        if run.knowledge.has_scaler {
            return loss.is_some_and(|loss| loss.after(step).next().is_some());
        }
        // A loss that stays finite for some points, and no tensor with more evidence.
        return !has_gradients
            && loss.is_some_and(|loss| loss.after(step).nth(FINITE_LOSSES - 1).is_some());
    }
    same.iter().all(|same| *same)
}

/// True if all weights after an overflow of the gradient norm are finite, and so is the loss: had an infinite gradient
/// been applied, its weight would not be.
fn left_weights(run: &Run<'_>, rank: u32, step: i64) -> bool {
    let loss = run.scalar(rank, Meaning::Loss);
    let is_loss_finite = loss.is_some_and(|loss| {
        let mut later = loss.after(step);
        let first = later.by_ref().take(FINITE_LOSSES);
        first.filter(|(_, value)| value.is_finite()).count() == FINITE_LOSSES
            && later.all(|(_, value)| value.is_finite())
    });
    let weights = run.of_class(rank, Class::Weight);
    let mut later = weights
        .flat_map(|weight| weight.history.iter())
        .filter(|digest| digest.step > step)
        .peekable();
    is_loss_finite && later.peek().is_some() && later.all(Digest::is_finite)
}

fn is_gradient(tensor: &Tensor) -> bool {
    matches!(
        tensor.subject.class,
        Class::Gradient | Class::ActivationGradient
    )
}

/// Masks of −∞: additive masks and masked scores hold −∞ at positions that a softmax must ignore. In a mask −∞ is the
/// only non-finite value, and everything computed later in the step, the loss included, is finite or masked as well.
struct Masks<'a> {
    run: &'a Run<'a>,
    /// By rank and step: data-flow position of the last overflow that is not a mask; `None` without one.
    overflows: HashMap<(u32, i64), Option<Flow>, RandomState>,
    /// By tensor: the largest share of −∞ in a mask.
    shares: HashMap<(u32, Arc<str>), f64, RandomState>,
}

impl<'a> Masks<'a> {
    fn new(run: &'a Run<'a>) -> Self {
        Self {
            run,
            overflows: HashMap::default(),
            shares: HashMap::default(),
        }
    }

    /// True if the non-finite elements of a tensor at a step are a mask. Steps of a tensor must be queried in
    /// ascending order.
    fn holds(&mut self, tensor: &Tensor, step: i64) -> bool {
        let Some(digest) = tensor.history.at(step) else {
            return false;
        };
        if !may_be_mask(self.run, tensor, digest) {
            return false;
        }
        if is_constant_mask(tensor) {
            return true;
        }
        let share = digest.neg_inf_share();
        let known = self.shares.get(&(tensor.rank, Arc::clone(&tensor.name)));
        // A mask at earlier steps remains one if something else overflows.
        if known.is_some_and(|known| share <= *known) {
            return true;
        }
        let flow = self.run.flow(tensor);
        let run = self.run;
        let last = self
            .overflows
            .entry((tensor.rank, step))
            .or_insert_with(|| last_overflow(run, tensor.rank, step));
        let is_followed = || {
            let mut later = run.tensors.iter().filter(|t| t.rank == tensor.rank);
            later.any(|t| run.flow(t) > flow && t.history.at(step).is_some())
        };
        let is_mask = last.is_none_or(|last| last < flow) && is_followed();
        if is_mask {
            self.shares
                .insert((tensor.rank, Arc::clone(&tensor.name)), share);
        }
        is_mask
    }
}

/// Position in a step of the last tensor that is not finite and cannot be a mask; after all tensors if the loss is not
/// finite.
fn last_overflow(run: &Run<'_>, rank: u32, step: i64) -> Option<Flow> {
    let loss = run.scalar(rank, Meaning::Loss).and_then(|l| l.at(step));
    if loss.is_some_and(|loss| !loss.is_finite()) {
        return Some((Phase::Late, i64::MAX));
    }
    let is_left_out = is_skipped(run, rank, step);
    let overflows = run.tensors.iter().filter(|t| {
        t.rank == rank && !(is_left_out && is_gradient(t)) && {
            let digest = t.history.at(step);
            digest.is_some_and(|d| !d.is_finite() && !may_be_mask(run, t, d))
        }
    });
    overflows.map(|t| run.flow(t)).max()
}

/// True if −∞ is the only non-finite value, in a tensor that may hold a mask: neither a weight, a gradient, nor a
/// logarithm.
fn may_be_mask(run: &Run<'_>, tensor: &Tensor, digest: &Digest) -> bool {
    digest.has_neg_inf
        && !digest.has_nan
        && !digest.has_pos_inf
        && tensor.subject.class != Class::Weight
        && !is_gradient(tensor)
        && run.family(tensor) != Family::Logarithm
}

/// True for a buffer or input of 0 and −∞ that never changes: an additive mask.
fn is_constant_mask(tensor: &Tensor) -> bool {
    let is_mask = |d: &Digest| d.has_neg_inf && !d.has_nan && !d.has_pos_inf && d.abs_max() == 0.0;
    matches!(
        tensor.subject.class,
        Class::Buffer | Class::Input | Class::Other
    ) && tensor.history.iter().all(is_mask)
        && tensor
            .history
            .pairs()
            .all(|(a, b)| b.is_identical(a) != Some(false))
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
            let counted = Evidence::of(Key::Count, count);
            Verdict::Hit(counted.and(Key::Elements, of).and(Key::Nan, nan))
        };
        assert_eq!(of(&[1.0, f32::NAN]), counted(1.0, 2.0, 1.0));
        let all = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
        assert_eq!(of(&all), counted(3.0, 3.0, 1.0));
    }
}
