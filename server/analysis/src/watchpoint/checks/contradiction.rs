//! Contradictory losses: inconsistent with their accuracy, negative, or constant.

use std::f64::consts::LN_2;

use trainscope_format::Severity;

use super::{Evidence, Judgement};
use crate::diagnosis::loss::Cost;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::new_hit::{NewHit, number, percent};
use crate::watchpoint::model::run::{LATE_FLOW, LOSS_FLOW, Run};
use crate::watchpoint::model::scalars::{FEWEST, Meaning, Series, median, words_of};

/// Assumed minimum weight of a class relative to 1: a wrong answer of weight w costs at least w ln 2. Balanced weights
/// of two classes are at least one half. Chosen, with a margin of two.
const MIN_WEIGHT: f64 = 0.25;
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
    // A graph shows the loss of the program, or one that the program composes.
    if cost.is_none() && run.knowledge.nodes.is_empty() {
        found.extend(beside_accuracy(run, watchpoint));
    }
    found.extend(doubled(run));
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

/// Words of losses that are negative on purpose, even with a recorded accuracy.
const NEGATIVE: [&str; 10] = [
    "dice",
    "iou",
    "tversky",
    "jaccard",
    "elbo",
    "likelihood",
    "similarity",
    "cosine",
    "sim",
    "objective",
];
/// Minimum of a loss that is the negative of a cosine.
const MIN_COSINE: f64 = -1.0;
/// First level above which a loss is not a negative cosine, which begins near 0. Chosen.
const POSITIVE: f64 = 0.1;

/// Negative losses of an unknown formula in a run with an accuracy: a classifier minimises a cross-entropy or a
/// divergence, which are not negative.
fn beside_accuracy(run: &Run<'_>, watchpoint: &Watchpoint) -> Vec<NewHit> {
    let mut found = Vec::new();
    for loss in run
        .scalars(Meaning::Loss)
        .filter(|series| !series.is_relative())
    {
        let lower = loss.tag.to_ascii_lowercase();
        let is_meant = words_of(&lower).iter().any(|word| NEGATIVE.contains(word));
        let accuracy = run
            .scalar(loss.rank, Meaning::Accuracy)
            .filter(|series| series.rank == loss.rank && !is_meant);
        let is_below = |point: &(i64, f64)| watchpoint.limits.is_below(Key::LossLt, point.1);
        let (Some(accuracy), Some((step, value))) = (accuracy, loss.points().find(is_below)) else {
            continue;
        };
        let lowest = loss.values.iter().copied().fold(value, f64::min);
        let first = median(loss.values.iter().copied().take(FEWEST)).unwrap_or(0.0);
        let (below, all) = (loss.points().filter(is_below).count(), loss.len());
        // A cosine, and a single odd point.
        if lowest >= MIN_COSINE && first < POSITIVE
            || below < MIN_POINTS
            || run.scalar(loss.rank, Meaning::Return).is_some()
        {
            continue;
        }
        let last = loss.steps.last().copied().unwrap_or(step);
        let hit = NewHit::of_scalar(loss, step, LOSS_FLOW, (Key::LossLt, value)).until(last);
        let (tag, accuracy, lowest) = (&loss.tag, &accuracy.tag, number(lowest));
        found.push(hit.called(Severity::Warning).saying(
            format!(
                "{tag} is negative at {below} of {all} points (minimum {lowest}) beside {accuracy}, and no cross-entropy and no KL \
                 divergence is: targets are outside of 0 to 1, or probabilities are given where log-probabilities are expected"
            ),
            format!(
                "{tag} 在 {all} 个点中有 {below} 个为负（最小 {lowest}），并记录了 {accuracy}，而交叉熵与 KL 散度都不可能为负：目标值超出 0 到 1，\
                 或在需要对数概率处传入了概率"
            ),
        ));
    }
    found
}

/// Minimum number of points of a loss that ends at the floor of a double softmax. Chosen.
const MIN_FLOOR_POINTS: usize = 50;
/// Numbers of classes that a first loss shows: with two, a floor of 0.31 is like any other loss.
const CLASSES: std::ops::RangeInclusive<f64> = 3.0..=1000.0;
/// Relative distance of the first loss from the logarithm of the number of classes. Chosen: outputs are nearly equal.
const AT_CHANCE: f64 = 0.02;
/// Distances of a loss from the floor: below it by rounding alone, above it at the end. Chosen.
const BELOW_FLOOR: f64 = 0.01;
const ABOVE_FLOOR: f64 = 0.35;
/// Minimum accuracy at which a cross-entropy is far below that floor. Chosen.
const GOOD: f64 = 0.8;
/// Parts of a loss whose levels are compared: fifths. Chosen.
const LEVELS: usize = 5;
/// Share of the largest fall from a fifth to the next, up to which the last one has slowed down. Chosen.
const SLOWED: f64 = 0.6;

/// Losses that end at the floor of softmax(softmax(x)), ln(C - 1 + e) - 1, while the accuracy is high. A calibrated
/// model has a cross-entropy of at most h(a) + (1 - a) ln(C - 1) at the accuracy a (Fano's inequality).
fn doubled(run: &Run<'_>) -> Vec<NewHit> {
    let mut found = Vec::new();
    for loss in run
        .scalars(Meaning::Loss)
        .filter(|series| series.len() >= MIN_FLOOR_POINTS)
    {
        let accuracy = run
            .scalar(loss.rank, Meaning::Accuracy)
            .filter(|series| series.rank == loss.rank);
        let first = median(loss.values.iter().copied().take(FEWEST)).unwrap_or(0.0);
        let classes = first.exp().round();
        let is_at_chance = (first / classes.ln() - 1.0).abs() < AT_CHANCE;
        let Some(accuracy) = accuracy.filter(|_| CLASSES.contains(&classes) && is_at_chance) else {
            continue;
        };
        let floor = (classes - 1.0 + std::f64::consts::E).ln() - 1.0;
        let part = loss.len().div_ceil(LEVELS);
        let levels: Vec<f64> = loss
            .values
            .chunks(part)
            .filter_map(|of| median(of.iter().copied()))
            .collect();
        let falls: Vec<f64> = levels.windows(2).map(|w| w[0] - w[1]).collect();
        let (Some(last), Some(fall)) = (levels.last(), falls.last()) else {
            continue;
        };
        let steepest = falls.iter().copied().fold(0.0, f64::max);
        let from = loss.steps[loss.len() - loss.len().min(part)];
        let right = median(accuracy.since(from).map(|point| point.1)).unwrap_or(0.0);
        let wrong = 1.0 - right;
        let most = -right * right.ln() - wrong * wrong.max(f64::MIN_POSITIVE).ln()
            + wrong * (classes - 1.0).ln();
        let is_floor = loss
            .values
            .iter()
            .all(|value| *value >= floor - BELOW_FLOOR)
            && *last < floor + ABOVE_FLOOR
            && *fall <= SLOWED * steepest;
        if !is_floor || !(GOOD..=1.0).contains(&right) || most > floor - ABOVE_FLOOR {
            continue;
        }
        let (Some(begun), Some(end)) = (loss.steps.first(), loss.steps.last()) else {
            continue;
        };
        let hit = NewHit::of_scalar(loss, *begun, LOSS_FLOW, Evidence::NONE).until(*end);
        let (tag, last, floor, right) = (&loss.tag, number(*last), number(floor), percent(right));
        found.push(hit.called(Severity::Warning).saying(
            format!(
                "{tag} ends at {last} although {right} of the answers are right: it stays above {floor} = ln(C - 1 + e) - 1 for \
                 C = {classes} classes, the floor of a softmax of a softmax. Does the model end in softmax before a loss that \
                 applies it?"
            ),
            format!(
                "{tag} 结束时为 {last}，而 {right} 的预测正确：它始终高于 {floor} = ln(C - 1 + e) - 1（C = {classes} 个类别），即两次 softmax 的下界。\
                 模型是否以 softmax 结尾，而损失又做了一次？"
            ),
        ));
    }
    found
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
        |&(_, loss, accuracy): &(i64, f64, f64)| 1.0 - accuracy - loss / (MIN_WEIGHT * LN_2);
    let beyond = pairs.iter().filter(|pair| excess(pair) > limit);
    let beyond: Vec<&(i64, f64, f64)> = beyond.collect();
    let (first, last) = (beyond.first()?, pairs.last()?);
    if beyond.len() < MIN_POINTS || 2 * beyond.len() < pairs.len() || excess(last) <= limit {
        return None;
    }
    let &(step, value, share) = last;
    let hit = NewHit::of_scalar(loss, first.0, LOSS_FLOW, (Key::ExcessGt, excess(last)));
    let (tag, accuracy) = (&loss.tag, &accuracy.tag);
    let [wrong, most] = [1.0 - share, value / (MIN_WEIGHT * LN_2)].map(percent);
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
