//! Contradictory losses: inconsistent with their accuracy, negative, or constant.

use std::f64::consts::LN_2;

use trainscope_format::Severity;

use super::Judgement;
use crate::diagnosis::loss::Cost;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::new_hit::{NewHit, number, percent};
use crate::watchpoint::model::run::{LATE_FLOW, LOSS_FLOW, Run};
use crate::watchpoint::model::scalars::{Meaning, Series};

/// Assumed least weight of a class relative to 1: a wrong answer of weight w costs at least w ln 2. Balanced weights
/// of two classes are at least one half. Chosen, with a margin of two.
const LEAST_WEIGHT: f64 = 0.25;
/// Minimum number of contradictory points: one may be of another epoch.
const MIN_POINTS: usize = 2;
/// Minimum number of constant points of a loss: of whole epochs, and of single batches. Chosen.
const MIN_EPOCHS: usize = 3;
const MIN_BATCHES: usize = 20;

/// A cross-entropy that is negative, or below the bound of its accuracy: a wrong answer gives the right class a
/// probability of at most one half, which costs at least ln 2, so the share of wrong answers is at most loss / ln 2,
/// or for class weights of at least w, loss / (w ln 2).
pub(crate) fn contradiction(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let limit = watchpoint.limits.value(Key::ExcessGt);
    let mut found = Vec::new();
    let cost = run.knowledge.cost();
    if !matches!(
        cost,
        Some(Cost::Binary | Cost::Classes | Cost::ClassNumbers)
    ) {
        return found.into();
    }
    let is_bound = run.knowledge.output.as_ref().is_some_and(|output| {
        output.is_plain && (cost != Some(Cost::Binary) || output.units == Some(1))
    });
    let training = run.scalars(Meaning::Loss);
    let training = training.map(|s| (s, Meaning::Accuracy, LOSS_FLOW));
    let held_out = run.scalars(Meaning::HeldOutLoss);
    let held_out = held_out.map(|s| (s, Meaning::HeldOutAccuracy, LATE_FLOW));
    for (loss, of_accuracy, flow) in training.chain(held_out) {
        if let Some((step, value)) = loss
            .points()
            .find(|p| watchpoint.limits.is_below(Key::LossLt, p.1))
        {
            let hit = NewHit::of_scalar(loss, step, flow, (Key::LossLt, value));
            let last = loss.steps.last().copied().unwrap_or(step);
            let (tag, lowest) = (&loss.tag, loss.values.iter().copied().fold(value, f64::min));
            let lowest = number(lowest);
            found.push(hit.until(last).called(Severity::Error).saying(
                format!(
                    "{tag} falls to {lowest}, and no cross-entropy is below 0: targets are outside of 0 to 1"
                ),
                format!("{tag} 降到 {lowest}，而交叉熵不可能小于 0：目标值超出 0 到 1"),
            ));
            continue;
        }
        let mut accuracies = run.scalars(of_accuracy).filter(|s| s.rank == loss.rank);
        let of_same = accuracies.find(|accuracy| is_beside(&loss.tag, &accuracy.tag));
        if let Some(accuracy) = of_same.filter(|_| is_bound) {
            found.extend(too_low(loss, accuracy, limit).map(|hit| NewHit { flow, ..hit }));
        }
    }
    found.into()
}

/// A loss below the bound of its accuracy by more than `limit`, at most points and at the last.
fn too_low(loss: &Series, accuracy: &Series, limit: f64) -> Option<NewHit> {
    let pairs = loss.points().filter_map(|(step, loss)| {
        let accuracy = accuracy.at(step)?;
        let is_share = loss.is_finite() && (0.0..=1.0).contains(&accuracy);
        is_share.then_some((step, loss, accuracy))
    });
    let pairs: Vec<(i64, f64, f64)> = pairs.collect();
    let excess =
        |&(_, loss, accuracy): &(i64, f64, f64)| 1.0 - accuracy - loss / (LEAST_WEIGHT * LN_2);
    let beyond = pairs.iter().filter(|pair| excess(pair) > limit);
    let beyond: Vec<&(i64, f64, f64)> = beyond.collect();
    let (first, last) = (beyond.first()?, pairs.last()?);
    if beyond.len() < MIN_POINTS || 2 * beyond.len() < pairs.len() || excess(last) <= limit {
        return None;
    }
    let &(step, value, share) = last;
    let hit = NewHit::of_scalar(loss, first.0, LOSS_FLOW, (Key::ExcessGt, excess(last)));
    let (tag, accuracy) = (&loss.tag, &accuracy.tag);
    let [wrong, most] = [1.0 - share, value / (LEAST_WEIGHT * LN_2)].map(percent);
    let value = number(value);
    Some(hit.until(step).called(Severity::Warning).saying(
        format!(
            "{tag} is {value}, with which at most {most} of the answers can be wrong, and by {accuracy} {wrong} are: loss \
             and accuracy are not of the same targets or outputs"
        ),
        format!(
            "{tag} 为 {value}，最多只能有 {most} 的预测错误，而按 {accuracy} 有 {wrong} 错误：损失与准确率所用的目标或输出不一致"
        ),
    ))
}

/// True if two tags differ only in the word for the quantity: `epoch_loss` and `epoch_accuracy`.
fn is_beside(loss: &str, accuracy: &str) -> bool {
    let without = |tag: &str, words: &[&str]| {
        let found = words.iter().find_map(|word| {
            let at = tag.find(word)?;
            Some(format!("{}{}", &tag[..at], &tag[at + word.len()..]))
        });
        found.unwrap_or_default()
    };
    let (loss, accuracy) = (loss.to_ascii_lowercase(), accuracy.to_ascii_lowercase());
    without(&loss, &["loss"]) == without(&accuracy, &["accuracy", "acc"])
}

/// A loss that is constant up to rounding.
pub(crate) fn still(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let limit = watchpoint.limits.value(Key::ChangeLte);
    let mut found = Vec::new();
    for &rank in &run.ranks {
        let Some(best) = run.scalar(rank, Meaning::Loss).filter(|s| s.rank == rank) else {
            continue;
        };
        // Parts of a loss have more words than the whole, and may well be constant.
        let whole = run.scalars(Meaning::Loss);
        for series in whole.filter(|s| s.rank == rank && s.doubt == best.doubt) {
            let needed = if series.tag.contains("epoch") {
                MIN_EPOCHS
            } else {
                MIN_BATCHES
            };
            let (Some(first), Some(last)) = (series.steps.first(), series.steps.last()) else {
                continue;
            };
            let lowest = series.values.iter().copied().fold(f64::INFINITY, f64::min);
            let values = series.values.iter().copied();
            let highest = values.fold(f64::NEG_INFINITY, f64::max);
            let is_finite = series.values.iter().all(|v| v.is_finite());
            let spread = (highest - lowest) / highest.abs().max(lowest.abs());
            // A hinge loss may stay 0.
            if series.len() < needed || !is_finite || highest == 0.0 || spread > limit {
                continue;
            }
            let hit = NewHit::of_scalar(series, *first, LOSS_FLOW, (Key::ChangeLte, spread));
            let (tag, value, count) = (&series.tag, number(highest), series.len());
            found.push(hit.until(*last).called(Severity::Warning).saying(
                format!("{tag} is {value} at all {count} points: nothing is learned"),
                format!("{tag} 在全部 {count} 个点上都为 {value}：没有学到任何东西"),
            ));
        }
    }
    found.into()
}
