//! Implausible learning rates: jumps, too high, negative, 0, or decayed too early.

use trainscope_format::digits::{Operator, Unit};

use super::{Evidence, Judgement};
use crate::diagnosis::{Remark, Rule, State};
use crate::text::Text;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::new_hit::{NewHit, number, warning_if};
use crate::watchpoint::model::run::{Flow, HIGH_SHARE, PARTS, PROGRAM_FLOW, Phase, Run};
use crate::watchpoint::model::scalars::{FEWEST, Meaning, Series, median};

/// Rate at which no weight survives a step with any optimizer: the steps of Adam are as large as the rate, and
/// gradients of weights with the usual initialization are between 1e-3 and 1. Chosen.
const ABSURD: f64 = 1e3;
/// Factor by which a loss exceeds all earlier values if a rate hurts it. Chosen.
const HURT: f64 = 2.0;
/// Minimum number of rates before a jump: a warm-up may begin at 0.
const RATES_BEFORE: usize = 2;
/// Share of its beginning above which a loss has not moved since the rate decayed. Chosen.
const STAYS: f64 = 0.95;
/// Divisor of a rate that is 0 throughout.
const NO_RATE: f64 = 1e-300;
/// The learning rate of an update is known before its gradients.
const RATE_FLOW: Flow = (Phase::Loss, 1);
/// Share of points, and minimum number, that must follow a rate that has decayed too early. Chosen.
const FADED_SHARE: f64 = 0.5;
const FADED_POINTS: usize = 10;

/// Learning rates that jump, or are NaN or infinite.
pub(crate) fn rate_jump(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let mut found = Vec::new();
    for series in run.scalars(Meaning::LearningRate) {
        let Some((step, times)) = jump_of(series, watchpoint.limits.value(Key::FactorGt)) else {
            continue;
        };
        let hit = NewHit::of_scalar(series, step, RATE_FLOW, (Key::FactorGt, times));
        let tag = &series.tag;
        found.push(if times.is_finite() {
            let times = number(times);
            hit.saying(
                format!("{tag} jumps ×{times} above its previous maximum"),
                format!("{tag} 跃升到此前最大值的 {times} 倍"),
            )
        } else {
            hit.saying(
                format!("{tag} is NaN or Inf"),
                format!("{tag} 为 NaN 或 Inf"),
            )
        });
    }
    found.into()
}

/// First step at which a learning rate exceeds all earlier ones by a factor, and that factor; NaN or infinite if the
/// rate is. A warm-up rises in steps; only rates beyond all earlier ones count.
pub(crate) fn jump_of(series: &Series, factor: f64) -> Option<(i64, f64)> {
    let mut highest: f64 = 0.0;
    for (index, (step, rate)) in series.points().enumerate() {
        if !rate.is_finite() {
            return Some((step, rate));
        }
        if index >= RATES_BEFORE && highest > 0.0 && rate > factor * highest {
            return Some((step, rate / highest));
        }
        highest = highest.max(rate);
    }
    None
}

/// Learning rates outside of any usual range, recorded per step or as a hyper-parameter; and rates that decay to
/// nothing with most of the training ahead and little learned.
pub(crate) fn range(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let most = watchpoint.limits.value(Key::RateGt);
    let gone = watchpoint.limits.value(Key::FadedLt);
    let mut found = Vec::new();
    for series in run.scalars(Meaning::LearningRate) {
        let outside = series.points().find(|p| p.1 < 0.0 || p.1 > most);
        if let Some((step, rate)) = outside.filter(|p| p.1.is_finite()) {
            let hit = NewHit::of_scalar(series, step, RATE_FLOW, (Key::RateGt, rate));
            found.push(implausible(run, hit, rate));
        }
    }
    // The guided diagnosis may have reported the hyper-parameter already.
    let is_known = |r: &Remark| r.rule == Rule::Settings && r.state == State::Fault;
    if found.is_empty()
        && !run.remarks.iter().any(is_known)
        && let Some((name, rate)) = &run.knowledge.learning_rate
        && !(0.0..=most).contains(rate)
    {
        let rank = run.ranks.first().copied().unwrap_or(0);
        let step = run.steps.first().unwrap_or(0);
        let evidence = Evidence::of(Key::RateGt, *rate);
        let setting = NewHit::of_name(name, (rank, step), PROGRAM_FLOW, evidence);
        found.push(implausible(run, setting, *rate));
    }
    for &rank in &run.ranks {
        let mut rates = run
            .scalars(Meaning::LearningRate)
            .filter(|s| s.rank == rank);
        // Of several, one per group of weights, some may be 0 on purpose.
        if let (Some(rate), None) = (rates.next(), rates.next()) {
            found.extend(faded(run, rate, gone));
        }
    }
    found.into()
}

/// A warning if the rate is absurd or negative, or if the loss overflows or gets worse than ever with it.
fn implausible(run: &Run<'_>, hit: NewHit, rate: f64) -> NewHit {
    let hurts = run.loss(hit.rank).is_some_and(|l| {
        l.series.since(hit.step).any(|p| !p.1.is_finite())
            || l.is_hurt_after(hit.step.saturating_sub(1), usize::MAX, HURT)
    });
    let severity = warning_if(!(0.0..=ABSURD).contains(&rate) || hurts);
    let (name, value) = (hit.tensor.clone(), number(rate));
    let hit = hit.called(severity);
    if rate < 0.0 {
        let quantity = Text {
            en: "learning rate",
            zh: "学习率",
        };
        let below = (Operator::Below, Unit::Number);
        let hit = hit.measuring((Key::Rate, quantity), below, rate, 0.0);
        hit.saying(
            format!("{name} is {value}: a negative learning rate makes the loss larger"),
            format!("{name} 为 {value}：负的学习率会使损失变大"),
        )
    } else {
        hit.saying(
            format!("{name} is {value}: far above any usual learning rate"),
            format!("{name} 为 {value}：远高于常见的学习率"),
        )
    }
}

/// A rate below a share of its maximum, from a point in the first half of the training to its end, while the loss
/// stays at its level, closer to its start than to 0.
fn faded(run: &Run<'_>, rate: &Series, share: f64) -> Option<NewHit> {
    let highest = rate.values.iter().copied().fold(0.0, f64::max);
    let is_gone = |rate: f64| rate.abs() <= share * highest;
    let left = rate
        .values
        .iter()
        .rev()
        .take_while(|v| is_gone(**v))
        .count();
    let first = rate.len() - left;
    let is_early = left >= FADED_POINTS && left as f64 >= FADED_SHARE * rate.len() as f64;
    let (step, value) = rate.points().nth(first).filter(|_| is_early)?;
    let loss = run.scalar(rate.rank, Meaning::Loss)?;
    let begun = median(loss.values.iter().copied().take(FEWEST))?;
    let since: Vec<f64> = loss.since(step).map(|p| p.1).collect();
    let level = median(since.iter().copied())?;
    let stays = {
        let third = since.len() / PARTS;
        let first = median(since.iter().copied().take(third))?;
        let last = median(since.iter().rev().copied().take(third))?;
        last > STAYS * first
    };
    let is_fault = stays && level > HIGH_SHARE * begun && begun > 0.0;
    let hit = NewHit::of_scalar(
        rate,
        step,
        RATE_FLOW,
        (Key::FadedLt, value / highest.max(NO_RATE)),
    );
    let severity = warning_if(is_fault);
    let (tag, points, value) = (&rate.tag, rate.len(), number(value));
    let last = rate.steps.last().copied().unwrap_or(step);
    Some(hit.until(last).called(severity).saying(
        format!("{tag} has faded to {value} after {first} of {points} points, before anything was learned: is the schedule stepped per batch instead of per epoch?"),
        format!("{tag} 在 {points} 个点中的第 {first} 个点就降到 {value}，此时尚未学到内容：学习率计划是否按批次而非按轮次更新？"),
    ))
}
