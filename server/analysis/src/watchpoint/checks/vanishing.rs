//! Gradients that vanish on their way back.

use std::collections::BTreeMap;

use super::Judgement;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::history::Digest;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::new_hit::{NewHit, number, warning_if};
use crate::watchpoint::model::run::{Run, at_chance};
use crate::watchpoint::model::scalars::{Meaning, median};
use crate::watchpoint::model::subject::{Class, Family};
use crate::watchpoint::model::tensor::Tensor;

/// Mean |x| of a gradient that counts as none (`SageMaker` and `DeepDiagnosis` agree on it).
const NEXT_TO_NOTHING: f64 = 1e-7;
/// Limits for the norm of the first layer relative to the last one, and for itself (AUTOTRAINER).
const RATIO: f64 = 1e-3;
const NORM: f64 = 1e-4;

/// Gradients below the limit, or next to nothing in the first layers and not in the last, at a number of consecutive
/// steps. If the loss has become small, all gradients are.
pub(crate) fn judge(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let limits = &watchpoint.limits;
    let mut found = Vec::new();
    for &rank in &run.ranks {
        let of_rank = watchpoint.tensors_of(run).filter(|t| t.rank == rank);
        let mut gradients: Vec<&Tensor> = of_rank
            .filter(|t| t.subject.class == Class::Gradient && !t.subject.is_vector())
            .collect();
        gradients.sort_by_key(|t| run.flow(t));
        let guesses = at_chance(run, rank);
        let learns = run.loss(rank).is_some_and(|l| l.has_learned());
        let mut streaks: BTreeMap<usize, Streak> = BTreeMap::new();
        for step in steps_of(&gradients) {
            let scale = run
                .scalar(rank, Meaning::LossScale)
                .and_then(|s| s.at(step))
                .unwrap_or(1.0);
            let at_step = gradients.iter().map(|t| t.history.at(step));
            let at_step: Vec<Option<&Digest>> = at_step.collect();
            let is_lost = guesses || is_lost_on_the_way(run, &gradients, &at_step);
            for (index, digest) in at_step.iter().enumerate() {
                let Some(digest) = digest else { continue };
                let mean = digest.mean_abs / if scale > 0.0 { scale } else { 1.0 };
                let is_below = limits.is_below(Key::AbsMeanLt, mean);
                let is_small = is_below || is_lost && mean < NEXT_TO_NOTHING;
                let vanishes = digest.is_finite() && !digest.is_zero() && is_small;
                let streak = streaks.entry(index).or_default();
                let limit = limits.get(Key::AbsMeanLt).filter(|_| is_below);
                let used = limit.unwrap_or(NEXT_TO_NOTHING);
                streak.note((step, mean, used), vanishes);
            }
        }
        for (index, streak) in streaks {
            let Some(tensor) = gradients.get(index) else {
                continue;
            };
            let Some(((first, mean, used), last)) =
                streak.longest((watchpoint.patience as usize).min(tensor.history.len()))
            else {
                continue;
            };
            // After a matrix of zeros, and in attention, gradients begin near 0 and grow.
            if grows(tensor, first) {
                continue;
            }
            let severity = warning_if(!learns || is_cut_off(&gradients, tensor));
            let name = &tensor.name;
            let mean_text = number(mean);
            let hit = NewHit::at(run, tensor, first, (Key::AbsMeanLt, mean)).against(used);
            let (en, zh) = beside_last(&gradients, tensor, first);
            found.push(hit.until(last).called(severity).saying(
                format!("{name} vanishes: mean |x| = {mean_text}{en}"),
                format!("{name} 消失：|x| 的均值为 {mean_text}{zh}"),
            ));
        }
    }
    found.into()
}

/// True if the layers nearest to the input get a thousandth of the gradient of the layers nearest to the loss.
fn is_lost_on_the_way(run: &Run<'_>, gradients: &[&Tensor], at: &[Option<&Digest>]) -> bool {
    // Gradients flow back from the loss: the last layer is first.
    let mut norms = gradients.iter().zip(at).filter_map(|(tensor, digest)| {
        let digest = (*digest)?;
        let counts = digest.is_finite() && !digest.is_zero();
        (counts && run.family(tensor) != Family::Embedding).then_some(digest.l2)
    });
    let Some(last_layer) = norms.next() else {
        return false;
    };
    norms
        .next_back()
        .is_some_and(|first_layer| first_layer < RATIO * last_layer && first_layer < NORM)
}

/// Factor by which a growing gradient exceeds the earlier one that was too small. Chosen: several updates of a usual
/// rate.
const GROWTH: f64 = 10.0;

/// True if the gradient becomes much larger than at a step, and stays so: by the median of later steps.
fn grows(tensor: &Tensor, from: i64) -> bool {
    let start = tensor.history.at(from).map(|digest| digest.mean_abs);
    let later = tensor.history.iter().filter(|digest| digest.step > from);
    let later = median(later.map(|digest| digest.mean_abs));
    start
        .zip(later)
        .is_some_and(|(start, later)| later > GROWTH * start)
}

/// Share of the mean gradient of the other layers at which a layer gets nothing, regardless of the others: below the
/// rounding of single precision. Source: `f32::EPSILON`.
const NOTHING_BESIDE: f64 = f32::EPSILON as f64;
/// Minimum number of gradients for such a judgement. Chosen.
const CUT_OFF_STEPS: usize = 5;

/// True if at each step the gradient is negligible relative to the median of all.
fn is_cut_off(gradients: &[&Tensor], tensor: &Tensor) -> bool {
    let is_nothing = |digest: &Digest| {
        let at_step = gradients.iter().filter_map(|t| t.history.at(digest.step));
        let usual = median(at_step.map(|digest| digest.mean_abs));
        usual.is_some_and(|usual| digest.mean_abs < NOTHING_BESIDE * usual)
    };
    tensor.history.len() >= CUT_OFF_STEPS && tensor.history.iter().all(is_nothing)
}

/// Minimum ratio of norms that a sentence names.
const NAMED_RATIO: f64 = 2.0;

/// The norm of a gradient relative to that of the layer nearest to the loss, if it is less than half.
fn beside_last(gradients: &[&Tensor], tensor: &Tensor, step: i64) -> (String, String) {
    let l2 = tensor.history.at(step).map(|digest| digest.l2);
    let mut others = gradients.iter().filter_map(|other| {
        let digest = other.history.at(step)?;
        (digest.is_finite() && !digest.is_zero()).then_some((other, digest.l2))
    });
    match (l2, others.next()) {
        (Some(l2), Some((last, norm))) if l2 > 0.0 && norm >= NAMED_RATIO * l2 => {
            let (times, last) = (number((norm / l2).round()), &last.name);
            (
                format!(", its norm 1/{times} of {last}"),
                format!("，范数为 {last} 的 1/{times}"),
            )
        }
        _ => (String::new(), String::new()),
    }
}

fn steps_of(tensors: &[&Tensor]) -> Vec<i64> {
    let mut steps: Vec<i64> = tensors
        .iter()
        .flat_map(|t| t.history.iter().map(|d| d.step))
        .collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}

/// Consecutive steps.
#[derive(Default)]
struct Streak {
    open: Option<Stretch>,
    closed: Vec<Stretch>,
}

/// First step with its mean |x| and the limit that it is below, last step, and number of steps.
type Stretch = ((i64, f64, f64), i64, usize);

impl Streak {
    fn note(&mut self, first: (i64, f64, f64), holds: bool) {
        match (&mut self.open, holds) {
            (Some(open), true) => {
                open.1 = first.0;
                open.2 += 1;
            }
            (None, true) => self.open = Some((first, first.0, 1)),
            (open, false) => self.closed.extend(open.take()),
        }
    }

    /// The first streak that is long enough.
    fn longest(self, patience: usize) -> Option<((i64, f64, f64), i64)> {
        let mut all = self.closed.into_iter().chain(self.open);
        all.find(|s| s.2 >= patience).map(|s| (s.0, s.1))
    }
}
