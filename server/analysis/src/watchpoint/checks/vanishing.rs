//! Gradients that get lost on their way back.

use std::collections::BTreeMap;

use super::{Evidence, Judgement};
use crate::watchpoint::config::Watchpoint;
use crate::watchpoint::evaluator::Tensor;
use crate::watchpoint::history::Digest;
use crate::watchpoint::report::{Found, number};
use crate::watchpoint::run::{Run, at_chance};
use crate::watchpoint::scalars::Meaning;
use crate::watchpoint::target::{Class, Family};
use trainscope_format::Severity;

/// A gradient this small, mean of |x|, is as good as none (`SageMaker` and `DeepDiagnosis` agree on it).
const NEXT_TO_NOTHING: f64 = 1e-7;
/// The first layer's norm by the last one's, and the first one's itself (AUTOTRAINER).
const RATIO: f64 = 1e-3;
const NORM: f64 = 1e-4;

/// Gradients below the limit, or that are next to nothing in the first layers and not in the last, at so many steps in
/// a row. Where the loss has become small, all gradients are.
pub(crate) fn judge(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let limit = watchpoint.limits[0];
    let mut found = Vec::new();
    for &rank in &run.ranks {
        let of_rank = run.watched(watchpoint).filter(|t| t.rank == rank);
        let mut gradients: Vec<&Tensor> = of_rank
            .filter(|t| t.subject.class == Class::Gradient && !t.subject.is_vector())
            .collect();
        gradients.sort_by_key(|t| run.flow(t));
        let guesses = at_chance(run, rank);
        let learns = run.loss(rank).is_some_and(|l| l.has_learned());
        let severity = if learns {
            Severity::Info
        } else {
            Severity::Warning
        };
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
                let is_small = mean < limit || is_lost && mean < NEXT_TO_NOTHING;
                let vanishes = digest.is_finite() && !digest.is_zero() && is_small;
                let streak = streaks.entry(index).or_default();
                streak.note(step, mean, vanishes);
            }
        }
        for (index, streak) in streaks {
            let Some(tensor) = gradients.get(index) else {
                continue;
            };
            let Some((first, last, mean)) =
                streak.longest((watchpoint.patience as usize).min(tensor.history.len()))
            else {
                continue;
            };
            let name = &tensor.name;
            let mean_text = number(mean);
            let hit = Found::at(run, tensor, first, Evidence::one(0, mean));
            found.push(hit.until(last).called(severity).saying(
                format!("{name} vanishes: mean |x| = {mean_text}"),
                format!("{name} 消失：|x| 的均值为 {mean_text}"),
            ));
        }
    }
    found.into()
}

/// Whether the layers nearest to the input get a thousandth of what the layers nearest to the loss get.
fn is_lost_on_the_way(run: &Run<'_>, gradients: &[&Tensor], at: &[Option<&Digest>]) -> bool {
    // Gradients come back from the loss: the last layer is first.
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

fn steps_of(tensors: &[&Tensor]) -> Vec<i64> {
    let mut steps: Vec<i64> = tensors
        .iter()
        .flat_map(|t| t.history.iter().map(|d| d.step))
        .collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}

/// Steps in a row.
#[derive(Default)]
struct Streak {
    open: Option<(i64, i64, f64, usize)>,
    closed: Vec<(i64, i64, f64, usize)>,
}

impl Streak {
    fn note(&mut self, step: i64, mean: f64, holds: bool) {
        match (&mut self.open, holds) {
            (Some(open), true) => {
                open.1 = step;
                open.3 += 1;
            }
            (None, true) => self.open = Some((step, step, mean, 1)),
            (open, false) => self.closed.extend(open.take()),
        }
    }

    /// The first that is long enough.
    fn longest(self, patience: usize) -> Option<(i64, i64, f64)> {
        let mut all = self.closed.into_iter().chain(self.open);
        all.find(|s| s.3 >= patience).map(|s| (s.0, s.1, s.2))
    }
}
