//! Size of updates, and its effect on the loss.

use super::rate::jump_of;
use super::{Evidence, Judgement};
use crate::text::Text;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::measure::Measure;
use crate::watchpoint::model::new_hit::{NewHit, number, percent};
use crate::watchpoint::model::run::{Loss, Run, at_chance};
use crate::watchpoint::model::scalars::{Meaning, median};
use crate::watchpoint::model::subject::Class;
use crate::watchpoint::model::tensor::Tensor;
use trainscope_format::Severity;
use trainscope_format::digits::{Operator, Unit};

/// Factor by which a learning rate must exceed all before it to be a mistake, if weights then change by more than
/// their size.
const RATE_JUMP: f64 = 30.0;

/// Large updates relative to the weight; a warning if the loss then gets worse than ever before, or if the learning
/// rate has just jumped.
pub(crate) fn too_large(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let limit = watchpoint.limits.value(Key::AbsMeanUpdateRatioGt);
    let mut found = Vec::new();
    for weight in watchpoint.tensors_of(run) {
        let loss = run.loss(weight.rank);
        let rate = run.scalar(weight.rank, Meaning::LearningRate);
        let jump = rate.and_then(|rate| jump_of(rate, RATE_JUMP));
        let mut worst: Option<(NewHit, f64)> = None;
        for (step, ratio) in ratios(weight).filter(|(_, ratio)| *ratio > limit) {
            let is_harmful = match &loss {
                Some(l) => {
                    let is_robust = l.has_learned() || weight.subject.is_vector();
                    let factor = if is_robust { 10.0 } else { 2.0 };
                    l.is_hurt_after(step.saturating_sub(1), 4, factor)
                }
                // Biases start near zero, where any update is relatively large.
                None => !weight.subject.is_vector() && ratio > 10.0 * limit,
            };
            // The update of a step affects the weight of the next.
            let follows_jump = jump.is_some_and(|(at, _)| at.checked_add(1) == Some(step))
                && !weight.subject.is_vector();
            let severity = if is_harmful || follows_jump {
                Severity::Warning
            } else {
                Severity::Info
            };
            if worst
                .as_ref()
                .is_some_and(|(w, _)| w.severity >= Some(severity))
            {
                continue;
            }
            let hit = NewHit::at(
                run,
                weight,
                step,
                Evidence::of(Key::AbsMeanUpdateRatioGt, ratio),
            )
            .called(severity);
            worst = Some((hit, ratio));
        }
        let name = &weight.name;
        found.extend(worst.map(|(hit, ratio)| {
            let times = number(ratio);
            hit.saying(
                format!("one update changes {name} by {times} times its mean |x|"),
                format!("一次更新使 {name} 改变了其 |x| 均值的 {times} 倍"),
            )
        }));
    }
    found.into()
}

/// Small updates relative to all weights, while the loss stays at the level of guessing.
pub(crate) fn too_small(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let limit = watchpoint.limits.value(Key::AbsMeanUpdateRatioLt);
    let mut found = Vec::new();
    for &rank in &run.ranks {
        let of_rank = || {
            let all = watchpoint.tensors_of(run).filter(move |t| t.rank == rank);
            all.filter(|t| !t.subject.is_vector())
        };
        // The mean, not the median: with gradient accumulation, an update may come only every eighth step.
        let mean = |t| {
            let (sum, count) = ratios(t).fold((0.0, 0.0), |(s, n), r| (s + r.1, n + 1.0));
            (count > 0.0).then(|| sum / count)
        };
        let steady = of_rank().filter_map(|t| Some((t, mean(t)?)));
        let medians: Vec<(&Tensor, f64)> = steady.filter(|(t, _)| t.history.len() > 6).collect();
        if medians.is_empty() || medians.iter().any(|(_, m)| *m >= limit) {
            continue;
        }
        let severity = if at_chance(run, rank) {
            Severity::Warning
        } else {
            Severity::Info
        };
        for (weight, ratio) in medians {
            let Some((step, _)) = ratios(weight).next() else {
                continue;
            };
            let hit = NewHit::at(
                run,
                weight,
                step,
                Evidence::of(Key::AbsMeanUpdateRatioLt, ratio),
            )
            .called(severity);
            let (name, share) = (&weight.name, percent(ratio));
            found.push(hit.saying(
                format!(
                    "updates of {name} are only {share} of the weight, and the loss does not fall"
                ),
                format!("{name} 的更新只有权重的 {share}，而损失没有下降"),
            ));
        }
    }
    found.into()
}

/// Weights whose updates stay outside of a band; a warning if the weights also shrink away.
pub(crate) fn band(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let low = watchpoint.limits.value(Key::RatioLt);
    let high = watchpoint.limits.value(Key::RatioGt);
    let mut found = Vec::new();
    let ranks = run.ranks.iter().copied();
    let melting: Vec<u32> = ranks.filter(|rank| all_shrink(run, *rank)).collect();
    for weight in watchpoint
        .tensors_of(run)
        .filter(|t| !t.subject.is_vector())
    {
        let (Some(first), Some(last)) = (weight.history.first(), weight.history.last()) else {
            continue;
        };
        let usual = median(ratios(weight).map(|r| r.1));
        let Some(usual) = usual.filter(|_| weight.history.len() > 5) else {
            continue;
        };
        let melts = last.is_finite() && last.l2 < 0.1 * first.l2 && is_falling(weight)
            || melting.contains(&weight.rank) && last.l2 < 0.5 * first.l2;
        let loss = run.loss(weight.rank);
        let learns = loss.as_ref().is_some_and(Loss::has_learned);
        // As long as a loss falls, the size of updates is fine.
        let sound_until = loss.as_ref().and_then(Loss::learned_until);
        let outside = if usual > high {
            Evidence::of(Key::RatioGt, usual)
        } else if usual < low && usual > 0.0 {
            Evidence::of(Key::RatioLt, usual)
        } else if melts {
            Evidence::NONE
        } else {
            continue;
        };
        let is_rough = usual > 3.0 * high && ratios(weight).count() > 9;
        let is_bad = (melts || is_rough) && !learns;
        let severity = if is_bad {
            Severity::Warning
        } else {
            Severity::Info
        };
        // The first step of a lasting excess, not of a single one.
        let all: Vec<(i64, f64)> = ratios(weight).collect();
        let is_late = |step: i64| sound_until.is_none_or(|until| step > until);
        let mut stays = all
            .windows(3)
            .filter(|w| w.iter().all(|r| r.1 > 3.0 * high));
        let begins = if is_rough && is_bad {
            stays.find(|w| is_late(w[0].0))
        } else if is_rough {
            stays.next()
        } else {
            all.windows(3).next()
        };
        // Large updates only while the loss fell: they did no harm.
        let is_harmless = is_rough && is_bad && begins.is_none() && !melts;
        let severity = if is_harmless {
            Severity::Info
        } else {
            severity
        };
        let step = begins.map_or(first.step, |w| w[0].0);
        let hit = NewHit::at(run, weight, step, outside)
            .until(last.step)
            .called(severity);
        let (name, share) = (&weight.name, percent(usual));
        found.push(if melts {
            let left = Measure::new(
                Key::NormLeft,
                Text {
                    en: "norm / initial norm",
                    zh: "范数与初始范数之比",
                },
                Operator::Below,
                Unit::Share,
                last.l2 / first.l2,
                if melting.contains(&weight.rank) {
                    0.5
                } else {
                    0.1
                },
            );
            let rest = percent(last.l2 / first.l2);
            hit.measuring(left).saying(
                format!("{name} shrinks to {rest} of its norm: weight decay dominates"),
                format!("{name} 的范数缩小到 {rest}：权重衰减占主导"),
            )
        } else {
            hit.saying(
                format!("the typical update of {name} is {share} of the weight"),
                format!("{name} 的更新通常为权重的 {share}"),
            )
        });
    }
    found.into()
}

/// True if all weights of a classifier that does no better than guessing have shrunk to less than half: the weight
/// decay has won.
fn all_shrink(run: &Run<'_>, rank: u32) -> bool {
    let weights = run
        .of_class(rank, Class::Weight)
        .filter(|t| !t.subject.is_vector());
    let mut shrunk = weights.filter_map(|t| {
        let (first, last) = (t.history.first()?, t.history.last()?);
        (t.history.len() > 9 && last.is_finite()).then_some(last.l2 < 0.6 * first.l2)
    });
    at_chance(run, rank) && shrunk.next() == Some(true) && shrunk.all(|shrinks| shrinks)
}

fn is_falling(weight: &Tensor) -> bool {
    let falls = weight.history.pairs().filter(|(a, b)| b.l2 < a.l2).count();
    falls * 10 >= weight.history.len().saturating_sub(1) * 9
}

/// Relative size of each step's update: between consecutive steps, and not from zero, where any update is infinitely
/// large.
fn ratios(weight: &Tensor) -> impl Iterator<Item = (i64, f64)> + '_ {
    let is_weight = weight.subject.class == Class::Weight;
    let pairs = weight.history.pairs().filter(move |_| is_weight);
    pairs.filter_map(|(before, now)| {
        let is_next =
            before.step.checked_add(1) == Some(now.step) && before.is_finite() && now.is_finite();
        let ratio = f64::from(now.change_ratio);
        (is_next && !before.is_zero() && !ratio.is_nan()).then_some((now.step, ratio))
    })
}
