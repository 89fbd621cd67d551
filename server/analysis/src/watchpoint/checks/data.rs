//! Input data: inputs outside of any usual range, and labels that are almost all the same.

use trainscope_format::Severity;
use trainscope_format::digits::{Operator, Unit};

use super::{Evidence, Judgement, design};
use crate::text::Text;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::history::{Digest, ROUNDING};
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::new_hit::{NewHit, number, percent, warning_if};
use crate::watchpoint::model::run::{Run, chance, is_float};
use crate::watchpoint::model::scalars::{FEWEST, median};
use crate::watchpoint::model::subject::Class;
use crate::watchpoint::model::tensor::Tensor;

/// Root mean square of inputs above which they are suspicious. Chosen: normalized ones have 1, pixels up to 255.
const WIDE: f64 = 10.0;
/// Root mean square above which they are a fault at any loss: a layer with the usual initialization amplifies them
/// to a thousand times the range of the next one, and no rate suits both its weights and its bias. Chosen.
const FAR: f64 = 1e3;
/// Root mean square of a batch, relative to earlier ones, above which it is another kind of data. Chosen.
const JUMP: f64 = 8.0;
/// Minimum number of batches up to and including that of a jump. Chosen.
const JUMP_BATCHES: usize = 3;
/// Number of first batches whose median is the usual size of inputs. Chosen.
const FIRST_BATCHES: usize = 5;
/// Minimum number of constant batches: a single one may be padding.
const CONSTANT_BATCHES: usize = 2;
/// Multiples of the loss of guessing above which a first loss, and a last one, show that nothing is learned. Chosen.
const BAD_START: f64 = 2.0;
const BAD_END: f64 = 0.9;

const SPREAD: Text = Text {
    en: "max − min",
    zh: "最大值 − 最小值",
};
const RMS: Text = Text {
    en: "RMS",
    zh: "均方根",
};
const GROWTH: Text = Text {
    en: "RMS / previous RMS",
    zh: "均方根与此前之比",
};

/// Inputs far from the range that layers are made for: all inputs, if the loss shows it; single batches compared with
/// earlier ones; and constant inputs.
pub(crate) fn input_range(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let range = watchpoint.limits.value(Key::AbsMaxGt);
    let mut found = Vec::new();
    let inputs = run.tensors.iter();
    let inputs = inputs.filter(|t| run.class(t) == Class::Input && watchpoint.covers(&t.name));
    for input in inputs.filter(|t| is_float(t)) {
        let finite: Vec<&Digest> = input.history.iter().filter(|d| d.is_finite()).collect();
        let Some(first) = finite.first() else {
            continue;
        };
        let size = |d: &Digest| d.l2 / (d.count.max(1) as f64).sqrt();
        let name = &input.name;
        // A single sample may be all zeros; several equal ones are significant.
        let samples = input.shape.first().copied().unwrap_or(1);
        let is_batch = input.shape.len() < 2 || samples > 1;
        let is_constant =
            |d: &&&Digest| is_batch && d.count > 1 && d.max - d.min <= ROUNDING * d.max.abs();
        let constant = finite.iter().filter(is_constant).count();
        if let Some(first) = finite.iter().find(is_constant)
            && constant >= CONSTANT_BATCHES
            && constant * 2 > finite.len()
        {
            let value = number(first.max);
            let hit = NewHit::at(run, input, first.step, Evidence::NONE);
            let hit = hit.measuring(
                (Key::Spread, SPREAD),
                (Operator::AtMost, Unit::Number),
                first.max - first.min,
                ROUNDING * first.max.abs(),
            );
            found.push(hit.called(Severity::Warning).saying(
                format!("{name} is constant: all elements are {value}"),
                format!("{name} 为常数：所有元素都是 {value}"),
            ));
            continue;
        }
        let usual = median(finite.iter().take(FIRST_BATCHES).map(|d| size(d))).unwrap_or(0.0);
        let mut sizes: Vec<f64> = Vec::new();
        let jump = finite.iter().find_map(|d| {
            let now = size(d);
            let middle = median(sizes.iter().copied());
            sizes.push(now);
            let middle =
                middle.filter(|m| sizes.len() >= JUMP_BATCHES && *m > 0.0 && now > JUMP * m)?;
            Some((d, middle))
        });
        if usual > WIDE && !is_normalised(run, input) {
            let is_bad = usual > FAR || is_far_from_guessing(run, input.rank);
            let severity = warning_if(is_bad);
            let hit = NewHit::at(run, input, first.step, Evidence::NONE);
            let above = (Operator::Above, Unit::Number);
            let hit = hit.measuring((Key::Rms, RMS), above, usual, WIDE);
            let usual = number(usual);
            found.push(hit.called(severity).saying(
                format!("{name} is not normalized: RMS {usual}"),
                format!("{name} 未归一化：均方根 {usual}"),
            ));
        } else if let Some((jump, before)) = jump {
            let hit = NewHit::at(run, input, jump.step, Evidence::NONE);
            let times = size(jump) / before;
            let above = (Operator::Above, Unit::Times);
            let hit = hit.measuring((Key::Factor, GROWTH), above, times, JUMP);
            let (now, usual) = (number(size(jump)), number(before));
            found.push(hit.called(Severity::Warning).saying(
                format!("{name} jumps from {usual} to {now} (RMS)"),
                format!("{name} 从 {usual} 跃升到 {now}（均方根）"),
            ));
        } else if let Some(wide) = finite.iter().find(|d| d.abs_max() > range) {
            let hit = NewHit::at(run, input, wide.step, (Key::AbsMaxGt, wide.abs_max()));
            found.push(hit.called(Severity::Info));
        }
    }
    found.into()
}

/// Minimum number of steps with the same batch. Chosen.
const SAME_STEPS: usize = 5;

/// Inputs that are bit-identical at every step: all of the data, or one batch repeated. The program compares all
/// batches that it looks at, and not only the inputs that it records.
pub(crate) fn repeated(run: &Run<'_>, index: u32, watchpoint: &Watchpoint) -> Judgement {
    let of_facts = design::remarked(run, index, watchpoint);
    if !of_facts.found.is_empty() {
        return of_facts;
    }
    let mut found = Vec::new();
    let inputs = run.tensors.iter();
    let inputs = inputs.filter(|t| run.class(t) == Class::Input && watchpoint.covers(&t.name));
    for input in inputs.filter(|t| t.history.len() >= SAME_STEPS) {
        let mut pairs = input.history.pairs();
        let is_same = pairs.all(|(a, b)| b.is_identical(a) == Some(true));
        // A constant input is reported by another rule.
        let first = input.history.first().filter(|d| is_same && d.max > d.min);
        let (Some(first), Some(last)) = (first, input.history.last()) else {
            continue;
        };
        let steps = input.history.len();
        let hit = NewHit::at(run, input, first.step, (Key::Count, steps as f64));
        let name = &input.name;
        found.push(hit.until(last.step).called(Severity::Info).saying(
            format!("{name} is the same batch at all {steps} recorded steps"),
            format!("{name} 在全部 {steps} 个记录的迭代中是同一批数据"),
        ));
    }
    found.into()
}

/// True if the model normalises its inputs itself.
fn is_normalised(run: &Run<'_>, input: &Tensor) -> bool {
    design::normalises_inputs(run, input.rank)
}

fn is_far_from_guessing(run: &Run<'_>, rank: u32) -> bool {
    let Some(loss) = run.loss(rank) else {
        return false;
    };
    let chance = chance(run, rank);
    let is_far = chance
        .is_some_and(|chance| loss.initial > BAD_START * chance || loss.last > BAD_END * chance);
    // Otherwise the loss alone shows learning.
    let is_unknown = chance.is_none() || !run.has_accuracy(rank) || run.classes(rank).is_none();
    is_far || is_unknown && !loss.has_learned()
}

/// Minimum number of recorded labels for a share. Chosen.
const MIN_LABELS: u64 = 50;
/// Minimum number of samples in a batch for an estimate from the gradient of a bias: fewer may be of one class by
/// chance. Chosen.
const ESTIMATE_SAMPLES: u64 = 8;
/// Distance of the loss from guessing, as a share, up to which all classes are about equally likely to the model.
/// Chosen.
const UNDECIDED: f64 = 0.35;
/// Error of such an estimate of a share of labels, by which it may be below the limit, and above 1. Chosen.
const ESTIMATE_BELOW: f64 = 0.07;
const ESTIMATE_MOST: f64 = 1.2;

/// Labels of which nearly all are the same, counted from recorded labels.
pub(crate) fn imbalance(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let limit = watchpoint.limits.value(Key::ShareGt);
    let mut found = Vec::new();
    for labels in watchpoint.tensors_of(run) {
        let Some(counts) = labels.labels.as_ref().filter(|_| !is_float(labels)) else {
            continue;
        };
        let buckets = counts.buckets.iter();
        let total = buckets.fold(0, |sum: u64, n| sum.saturating_add(*n));
        let most = counts.buckets.iter().copied().max().unwrap_or(0);
        let share = most as f64 / total.max(1) as f64;
        let step = labels.history.first().map_or(0, |d| d.step);
        if total >= MIN_LABELS && share > limit {
            let hit = NewHit::at(run, labels, step, (Key::ShareGt, share));
            let (name, share) = (&labels.name, percent(share));
            found.push(hit.called(Severity::Warning).saying(
                format!("{share} of the labels in {name} are the same class"),
                format!("{name} 中 {share} 的类别标签属于同一类"),
            ));
        }
    }
    if found.is_empty() {
        found.extend(
            run.ranks
                .iter()
                .filter_map(|rank| from_the_bias(run, *rank, limit)),
        );
    }
    found.into()
}

/// Without recorded labels, estimates them from the last bias: as long as all classes are equally likely to the model,
/// its gradient is that probability minus the share of the labels.
fn from_the_bias(run: &Run<'_>, rank: u32, limit: f64) -> Option<NewHit> {
    let classes = run.classes(rank)?;
    let guess = chance(run, rank)?;
    let loss = run.loss(rank)?;
    let bias = run
        .of_class(rank, Class::Gradient)
        .filter(|t| &*t.subject.leaf == "bias" && *t.shape == [classes])
        .min_by_key(|t| run.flow(t))?;
    let inputs = run
        .of_class(rank, Class::Input)
        .find_map(|t| t.shape.first().copied());
    inputs.filter(|samples| *samples >= ESTIMATE_SAMPLES)?;
    let limit = limit - ESTIMATE_BELOW;
    let mut digests = bias.history.iter().filter(|d| {
        let at = loss.series.at(d.step);
        at.is_some_and(|l| (l / guess - 1.0).abs() < UNDECIDED)
    });
    let shares: Vec<(i64, f64)> = digests
        .by_ref()
        .take(FEWEST)
        .map(|d| (d.step, 1.0 / classes as f64 - d.min))
        .collect();
    let is_share = |s: &(i64, f64)| s.1 > limit && s.1 < ESTIMATE_MOST;
    let all = shares.len() >= FEWEST && shares.iter().all(is_share);
    let (step, share) = shares.first().copied().filter(|_| all)?;
    let hit = NewHit::at(run, bias, step, (Key::ShareGt, share)).against(limit);
    // It is an estimate, and a share cannot exceed 1.
    let (name, share) = (&bias.name, percent(share.min(1.0)));
    Some(hit.called(Severity::Warning).saying(
        format!("about {share} of the labels are the same class (from the gradient of {name})"),
        format!("约 {share} 的类别标签属于同一类（由 {name} 的梯度推断）"),
    ))
}
