//! Beginning of a training: unsuitable initial weights, and a first loss unlike that of guessing.

use trainscope_format::Severity;

use super::Judgement;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::history::{Digest, ROUNDING};
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::new_hit::{NewHit, number, warning_if};
use crate::watchpoint::model::run::{LOSS_FLOW, Run, chance};
use crate::watchpoint::model::scalars::Meaning;
use crate::watchpoint::model::subject::{Class, Family};
use crate::watchpoint::model::tensor::Tensor;

/// Minimum number of steps with weights of zeros. Chosen.
const ZERO_STEPS: usize = 3;
/// Number of first losses, and the multiple of guessing that most of them exceed if the model is confidently wrong: at
/// least this number, and this share. Chosen.
const FIRST_LOSSES: usize = 4;
const FAR: f64 = 3.0;
const FAR_POINTS: usize = 2;
const FAR_SHARE: f64 = 0.75;

/// A recording from the beginning starts at step 0 or 1.
fn is_beginning(step: i64) -> bool {
    (0..=1).contains(&step)
}

/// Weights that are all zero without a gradient, constant, or of a variance far from preserving the size of signals:
/// variance times the number of inputs is about 1 (Glorot), 2 (He) or ⅓ (the default of `PyTorch`).
pub(crate) fn weights(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let low = watchpoint.limits.value(Key::VarianceLt);
    let high = watchpoint.limits.value(Key::VarianceGt);
    let mut found = Vec::new();
    for weight in watchpoint.tensors_of(run) {
        let Some(first) = weight.history.first().filter(|d| is_beginning(d.step)) else {
            continue;
        };
        // A `Parameter` of a dump has been updated already.
        let is_initial = &*weight.op != "Parameter";
        let is_matrix = is_initial && is_of_layer(weight) && first.is_finite() && first.count > 1;
        if !is_matrix || run.family(weight) == Family::Embedding || weight.subject.is_vector() {
            continue;
        }
        let rows = weight.shape.first().copied().unwrap_or(1).max(1);
        let columns = (first.count / rows).max(1);
        let variance = first.variance();
        let name = &weight.name;
        let found_with = |value: f64, en: String, zh: String| {
            let beyond = if value > high {
                Key::VarianceGt
            } else {
                Key::VarianceLt
            };
            NewHit::at(run, weight, first.step, (beyond, value))
                .called(Severity::Warning)
                .saying(en, zh)
        };
        if first.is_zero() {
            if gets_nothing(run, weight, first) {
                let en = format!("{name} is initialized to zeros and gets no gradient");
                let zh = format!("{name} 以全零初始化且没有梯度");
                found.push(found_with(0.0, en, zh));
            }
        } else if is_constant(first) {
            let en = format!("{name} is initialized to a constant; its units stay identical");
            let zh = format!("{name} 以常数初始化，各单元将始终相同");
            found.push(found_with(0.0, en, zh));
        } else if variance * rows.min(columns) as f64 > high {
            let value = variance * rows.min(columns) as f64;
            let times = number(value);
            let en = format!(
                "{name} is initialized too large: fan_in × variance = {times}, expected ≈ 1"
            );
            let zh = format!("{name} 的初值过大：fan_in × 方差 = {times}，应约为 1");
            found.push(found_with(value, en, zh));
        } else if (variance + first.mean * first.mean) * (rows.max(columns) as f64) < low {
            let value = variance * rows.max(columns) as f64;
            let times = number(value);
            let en = format!(
                "{name} is initialized too small: fan_in × variance = {times}, expected ≈ 1"
            );
            let zh = format!("{name} 的初值过小：fan_in × 方差 = {times}，应约为 1");
            found.push(found_with(value, en, zh));
        }
    }
    found.into()
}

/// Names of matrices and kernels of layers, which may have one input or one output.
const OF_LAYERS: [&str; 5] = ["weight", "kernel", "w", "weight_ih", "weight_hh"];

/// True for a matrix of a layer, by its shape: tokens, gains, temperatures and other single rows are not matrices,
/// unless they have the name of one.
fn is_of_layer(weight: &Tensor) -> bool {
    let wide = weight.shape.iter().filter(|size| **size > 1).count();
    wide >= 2 || weight.shape.len() == 2 && OF_LAYERS.contains(&&*weight.subject.leaf)
}

/// True if the first gradient is zero too: other layers of zeros block it.
fn gets_nothing(run: &Run<'_>, weight: &Tensor, first: &Digest) -> bool {
    let gradient = run.partner(weight, Class::Gradient);
    let at_first = gradient.and_then(|g| g.history.at(first.step));
    let stays = weight
        .history
        .iter()
        .take(ZERO_STEPS)
        .filter(|d| d.is_zero())
        .count()
        == ZERO_STEPS;
    at_first.is_none_or(Digest::is_zero) && stays
}

fn is_constant(digest: &Digest) -> bool {
    digest.max - digest.min <= ROUNDING * digest.max.abs()
}

/// The initial-weight check of `MindInsight`, if it is significant: biases start at zero.
pub(crate) fn incumbent(run: &Run<'_>, index: u32, watchpoint: &Watchpoint) -> Judgement {
    let mut judged = super::by_formula(run, index, watchpoint);
    let tensors = run
        .memories(index)
        .flat_map(|(t, episodes, _)| episodes.iter().map(move |_| t));
    let meant: Vec<bool> = tensors
        .map(|t| t.subject.is_vector() || t.shape.len() < 2)
        .collect();
    let mut meant = meant.into_iter();
    judged.found.retain(|_| !meant.next().unwrap_or(false));
    judged.missing.clear();
    judged
}

/// The first loss of a classifier, compared with that of guessing. A resumed training starts lower; one that starts
/// several times higher is confidently wrong.
pub(crate) fn loss(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let limit = watchpoint.limits.value(Key::DistanceGt);
    let mut found = Vec::new();
    for &rank in &run.ranks {
        let Some(loss) = run.scalars(Meaning::Loss).find(|s| s.rank == rank) else {
            continue;
        };
        let (Some(chance), Some((step, first))) = (chance(run, rank), loss.points().next()) else {
            continue;
        };
        let distance = (first - chance).abs() / chance;
        if !is_beginning(step) || !first.is_finite() || distance <= limit {
            continue;
        }
        let first_points = loss
            .values
            .iter()
            .take(FIRST_LOSSES)
            .filter(|v| v.is_finite());
        let high = first_points.clone().filter(|v| **v > FAR * chance).count();
        let is_far = high >= FAR_POINTS && high as f64 >= FAR_SHARE * first_points.count() as f64;
        let severity = warning_if(is_far);
        let hit = NewHit::of_scalar(loss, step, LOSS_FLOW, (Key::DistanceGt, distance));
        let (tag, first, chance) = (&loss.tag, number(first), number(chance));
        found.push(hit.called(severity).saying(
            format!("{tag} starts at {first}; chance level is {chance}"),
            format!("{tag} 起始为 {first}，而随机猜测水平为 {chance}"),
        ));
    }
    found.into()
}
