//! Outputs of a model compared with its targets: targets that no output can reach, the same output for every sample,
//! and class indices that are not integers.

use trainscope_format::Severity;

use super::Judgement;
use crate::diagnosis::loss::Cost;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::history::{Digest, ROUNDING};
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::new_hit::{NewHit, number, percent};
use crate::watchpoint::model::run::Run;
use crate::watchpoint::model::subject::{Class, Family};
use crate::watchpoint::model::tensor::Tensor;

/// Minimum number of target elements for a share. Chosen.
const MIN_TARGETS: u64 = 8;
/// Minimum number of samples in a batch for comparing their outputs. Chosen.
const MIN_SAMPLES: u64 = 4;
/// Minimum number of steps with recorded outputs. Chosen.
const MIN_RECORDS: usize = 3;

/// Targets outside the range of the last activation, or, for cross-entropies, outside of 0 to 1.
pub(crate) fn unreachable(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let limit = watchpoint.limits.value(Key::PercentageGt);
    let mut found = Vec::new();
    for targets in watchpoint.tensors_of(run) {
        let Some(counts) = &targets.labels else {
            continue;
        };
        let Some((low, high, layer)) = range_of(run, targets) else {
            continue;
        };
        let Some((outside, least, greatest)) = counts.outside(low, high) else {
            continue;
        };
        let percentage = 100.0 * outside as f64 / counts.total.max(1) as f64;
        if counts.total < MIN_TARGETS || percentage <= limit {
            continue;
        }
        let first = targets.history.first().map_or(0, |d| d.step);
        let end = targets.history.last().map_or(first, |d| d.step);
        let hit = NewHit::at(run, targets, first, (Key::PercentageGt, percentage)).until(end);
        let name = &targets.name;
        let (least, greatest) = (number(least), number(greatest));
        let share = percent(percentage / 100.0);
        let (limits, limits_zh) = match high {
            f64::INFINITY => (format!("nothing below {low}"), format!("不会小于 {low}")),
            _ => (
                format!("only numbers from {low} to {high}"),
                format!("仅为 {low} 到 {high}"),
            ),
        };
        found.push(hit.called(Severity::Warning).saying(
            format!(
                "{name} has targets from {least} to {greatest}, and {layer} can give {limits}: at least {share} of the \
                 targets cannot be reached"
            ),
            format!(
                "{name} 的目标值为 {least} 到 {greatest}，而 {layer} 的输出{limits_zh}：至少 {share} 的目标无法达到"
            ),
        ));
    }
    found.into()
}

/// The range of the outputs compared with these targets, and the layer that computes them.
fn range_of(run: &Run<'_>, labels: &Tensor) -> Option<(f64, f64, String)> {
    let output = run.knowledge.output.as_ref();
    match run.knowledge.cost() {
        Some(Cost::ClassNumbers) => return None,
        Some(Cost::Binary | Cost::Classes) => {
            let layer = output.map_or("a cross-entropy", |output| &output.layer);
            // Class indices with a loss whose name does not distinguish them from probabilities.
            let is_alike = answer(run, labels.rank).is_none_or(|a| is_alike(a, labels));
            return is_alike.then(|| (0.0, 1.0, layer.to_owned()));
        }
        Some(Cost::Values) | None => {}
    }
    let answer = answer(run, labels.rank)?;
    let (low, high) = match output {
        Some(output) => (output.low, output.high),
        None => match run.family(answer) {
            Family::Sigmoid | Family::Softmax => (0.0, 1.0),
            Family::Tanh => (-1.0, 1.0),
            Family::Relu => (0.0, f64::INFINITY),
            _ => return None,
        },
    };
    let is_limited = low.is_finite() || high.is_finite();
    (is_limited && is_alike(answer, labels)).then(|| (low, high, answer.subject.module.to_string()))
}

/// True if there is one target for each element of an output, and not one per sample.
fn is_alike(answer: &Tensor, labels: &Tensor) -> bool {
    let sizes = |tensor: &Tensor| -> Vec<u64> {
        let sizes = tensor.shape.iter().copied();
        sizes.filter(|size| *size != 1).collect()
    };
    sizes(answer) == sizes(labels)
}

/// The output of the last layer, if recorded: from a graph, otherwise the last in execution order.
fn answer<'a>(run: &Run<'a>, rank: u32) -> Option<&'a Tensor> {
    let layer = run.knowledge.last_layer()?;
    run.find(rank, Class::Activation, layer, "")
}

/// An output that is the same for every sample of a batch, while targets, or else inputs, differ.
pub(crate) fn constant(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let limit = watchpoint.limits.value(Key::PercentageGte);
    let mut found = Vec::new();
    for &rank in &run.ranks {
        let Some(answer) = answer(run, rank).filter(|t| watchpoint.watches(&t.name, &t.subject))
        else {
            continue;
        };
        let samples = answer.shape.first().copied().unwrap_or(0);
        if samples < MIN_SAMPLES {
            continue;
        }
        let labels = run.of_class(rank, Class::Labels).next();
        let given = labels.or_else(|| run.of_class(rank, Class::Input).next());
        let differs = |step: i64| {
            let given = given.and_then(|t| t.history.at(step));
            given.is_some_and(|d| d.is_finite() && d.max > d.min)
        };
        let records = answer.history.iter().filter(|d| d.is_finite());
        let records: Vec<&Digest> = records.filter(|d| differs(d.step)).collect();
        let is_single = answer.shape.iter().product::<u64>() == samples;
        let is_same = |d: &&&Digest| {
            if is_single {
                d.max - d.min <= ROUNDING * d.abs_max()
            } else {
                d.constant_units >= 1.0
            }
        };
        let alike: Vec<&&Digest> = records.iter().filter(is_same).collect();
        let share = 100.0 * alike.len() as f64 / records.len().max(1) as f64;
        let (Some(first), Some(last)) = (alike.first(), alike.last()) else {
            continue;
        };
        if records.len() < MIN_RECORDS || share < limit {
            continue;
        }
        let hit = NewHit::at(run, answer, first.step, (Key::PercentageGte, share)).until(last.step);
        let (name, count, all) = (&answer.name, alike.len(), records.len());
        found.push(hit.called(Severity::Warning).saying(
            format!(
                "{name} is the same for every sample at {count} of {all} recorded steps, while the {} differ",
                if labels.is_some() { "targets" } else { "inputs" }
            ),
            format!(
                "{all} 个记录的迭代中有 {count} 个，{name} 对所有样本都相同，而{}各不相同",
                if labels.is_some() { "目标" } else { "输入" }
            ),
        ));
    }
    found.into()
}

/// Class indices that are not integers: they are truncated, and labels divided by 255 all become class 0.
pub(crate) fn class_numbers(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let limit = watchpoint.limits.value(Key::PercentageGt);
    let mut found = Vec::new();
    if run.knowledge.cost() != Some(Cost::ClassNumbers) {
        return found.into();
    }
    for targets in watchpoint.tensors_of(run) {
        let Some(counts) = &targets.labels else {
            continue;
        };
        let extremes = [counts.min, counts.max].map(|v| (v - v.round()).abs() > ROUNDING * v.abs());
        let share = 100.0 * counts.fractions as f64 / counts.total.max(1) as f64;
        let is_odd = extremes.contains(&true) || share > limit;
        if !is_odd {
            continue;
        }
        let first = targets.history.first().map_or(0, |d| d.step);
        let end = targets.history.last().map_or(first, |d| d.step);
        let hit = NewHit::at(run, targets, first, (Key::PercentageGt, share)).until(end);
        let (name, least, greatest) = (&targets.name, number(counts.min), number(counts.max));
        found.push(hit.called(Severity::Error).saying(
            format!(
                "{name} should be numbers of classes and has numbers from {least} to {greatest} that are no integers: they are \
                 cut to integers"
            ),
            format!("{name} 应为类别编号，却含有 {least} 到 {greatest} 之间的非整数：会被截断为整数"),
        ));
    }
    found.into()
}
