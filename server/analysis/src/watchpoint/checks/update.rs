//! Size of updates, and its effect on the loss.

use super::rate::jump_of;
use super::{Evidence, Judgement};
use crate::text::Text;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::new_hit::{NewHit, number, percent, warning_if};
use crate::watchpoint::model::run::{Loss, Run, at_chance};
use crate::watchpoint::model::scalars::{Meaning, median};
use crate::watchpoint::model::subject::Class;
use crate::watchpoint::model::tensor::Tensor;
use trainscope_format::Severity;
use trainscope_format::digits::{Operator, Unit};

/// Factor by which a learning rate must exceed all earlier ones to be a mistake, if weights then change by more than
/// their size. Chosen: schedules with warm-up rise by a factor of 25 (`OneCycleLR` of `PyTorch`).
const RATE_JUMP: f64 = 30.0;
/// Number of points after an update in which the loss shows its effect. Chosen.
const EFFECT_POINTS: usize = 4;
/// Factor by which the loss then exceeds all earlier values: for a matrix in a model that has not learned, and for
/// others. A good model soon recovers, and the update of a bias is small in absolute terms. Chosen.
const HURT: f64 = 2.0;
const HURT_ROBUST: f64 = 10.0;
/// Multiple of the limit that is harmful without a recorded loss. Chosen.
const HARMFUL: f64 = 10.0;

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
                    let factor = if is_robust { HURT_ROBUST } else { HURT };
                    l.is_hurt_after(step.saturating_sub(1), EFFECT_POINTS, factor)
                }
                // Biases start near zero, where any update is relatively large.
                None => !weight.subject.is_vector() && ratio > HARMFUL * limit,
            };
            // The update of a step affects the weight of the next.
            let follows_jump = jump.is_some_and(|(at, _)| at.checked_add(1) == Some(step))
                && !weight.subject.is_vector();
            let severity = warning_if(is_harmful || follows_jump);
            if worst
                .as_ref()
                .is_some_and(|(w, _)| w.severity >= Some(severity))
            {
                continue;
            }
            let hit =
                NewHit::at(run, weight, step, (Key::AbsMeanUpdateRatioGt, ratio)).called(severity);
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

/// Steps of a weight beyond which its mean update counts: gradient accumulation makes most of fewer steps zero. Chosen.
const MEAN_STEPS: usize = 6;

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
        let medians: Vec<(&Tensor, f64)> = steady
            .filter(|(t, _)| t.history.len() > MEAN_STEPS)
            .collect();
        if medians.is_empty() || medians.iter().any(|(_, m)| *m >= limit) {
            continue;
        }
        let severity = warning_if(at_chance(run, rank));
        for (weight, ratio) in medians {
            let Some((step, _)) = ratios(weight).next() else {
                continue;
            };
            let hit =
                NewHit::at(run, weight, step, (Key::AbsMeanUpdateRatioLt, ratio)).called(severity);
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

/// Steps of a weight beyond which its median update counts. Chosen.
const MEDIAN_STEPS: usize = 5;
/// Multiple of the upper limit beyond which updates are too rough to learn, with the number of updates that must be
/// exceeded, and the number of consecutive ones that begin it. Chosen.
const ROUGH: f64 = 3.0;
const ROUGH_UPDATES: usize = 9;
const LASTING: usize = 3;
/// Share of its initial norm to which a weight shrinks by weight decay. Chosen.
const SHRUNK: f64 = 0.1;
/// The same if all weights of the rank shrink while it guesses, and the share that each of them falls below, after how
/// many steps. Chosen.
const SHRUNK_TOGETHER: f64 = 0.5;
const ALL_SHRUNK: f64 = 0.6;
const SHRINKING_STEPS: usize = 9;
/// Share of its steps in which the norm of such a weight falls. Chosen.
const FALLING_SHARE: f64 = 0.9;

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
        let Some(usual) = usual.filter(|_| weight.history.len() > MEDIAN_STEPS) else {
            continue;
        };
        let melts = last.is_finite() && last.l2 < SHRUNK * first.l2 && is_falling(weight)
            || melting.contains(&weight.rank) && last.l2 < SHRUNK_TOGETHER * first.l2;
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
        let is_rough = usual > ROUGH * high && ratios(weight).count() > ROUGH_UPDATES;
        let is_bad = (melts || is_rough) && !learns;
        let severity = warning_if(is_bad);
        // The first step of a lasting excess, not of a single one.
        let all: Vec<(i64, f64)> = ratios(weight).collect();
        let is_late = |step: i64| sound_until.is_none_or(|until| step > until);
        let mut stays = all
            .windows(LASTING)
            .filter(|w| w.iter().all(|r| r.1 > ROUGH * high));
        let begins = if is_rough && is_bad {
            stays.find(|w| is_late(w[0].0))
        } else if is_rough {
            stays.next()
        } else {
            all.windows(LASTING).next()
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
            let quantity = Text {
                en: "norm / initial norm",
                zh: "范数与初始范数之比",
            };
            let hit = hit.measuring(
                (Key::NormLeft, quantity),
                (Operator::Below, Unit::Share),
                last.l2 / first.l2,
                if melting.contains(&weight.rank) {
                    SHRUNK_TOGETHER
                } else {
                    SHRUNK
                },
            );
            let rest = percent(last.l2 / first.l2);
            hit.saying(
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

/// True if all weights of a classifier that does no better than guessing have shrunk: the weight
/// decay has won.
fn all_shrink(run: &Run<'_>, rank: u32) -> bool {
    let weights = run
        .of_class(rank, Class::Weight)
        .filter(|t| !t.subject.is_vector());
    let mut shrunk = weights.filter_map(|t| {
        let (first, last) = (t.history.first()?, t.history.last()?);
        (t.history.len() > SHRINKING_STEPS && last.is_finite())
            .then_some(last.l2 < ALL_SHRUNK * first.l2)
    });
    at_chance(run, rank) && shrunk.next() == Some(true) && shrunk.all(|shrinks| shrinks)
}

fn is_falling(weight: &Tensor) -> bool {
    let falls = weight.history.pairs().filter(|(a, b)| b.l2 < a.l2).count();
    falls as f64 >= FALLING_SHARE * weight.history.len().saturating_sub(1) as f64
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
