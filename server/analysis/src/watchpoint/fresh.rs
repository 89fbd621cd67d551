//! Fresh hits: conditions that a formula has met since the last call, for judging inside of a training.
//!
//! A fresh hit comes before the context of the run is weighed: only [`Findings::confirms`] says that it is a hit.

use std::sync::Arc;

use trainscope_format::Severity;

use super::catalogue::gradients::GRADIENT_EXPLODING;
use super::catalogue::scalars::{LOSS_NAN, SCALAR_NOT_FINITE};
use super::config::Watchpoints;
use super::model::condition::{Condition, Watchpoint};
use super::model::finding::{Findings, Hit};
use super::model::scalars::Meaning;
use super::model::subject::Target;

/// A condition that has just been met, before the context of the run is weighed.
#[derive(Clone, Debug, PartialEq)]
pub struct FreshHit {
    /// The condition.
    pub condition: &'static Condition,
    /// Index of the watchpoint in [`Watchpoints::all`].
    pub watchpoint: u32,
    /// Rank.
    pub rank: u32,
    /// Step at which it was met, or the last of the consecutive ones that the watchpoint waits for.
    pub step: i64,
    /// Name of the tensor, or tag of the scalar.
    pub tensor: Arc<str>,
}

impl Watchpoint {
    /// `true` if a single step can meet its condition: formulas over one tensor, and scalars that are not finite. Only
    /// these are among the fresh hits; all others are judged over several steps, tensors or ranks.
    pub fn is_instant(&self) -> bool {
        let condition = self.condition;
        let by_formula =
            condition.formula.is_some() && !(self.context && condition.compares_layers);
        by_formula || (condition.finds_not_finite && condition.target == Target::Scalar)
    }

    /// `true` if it checks that scalars of this meaning are finite.
    fn is_about_not_finite(&self, meaning: Option<Meaning>) -> bool {
        let condition = self.condition;
        if condition.is_of_any_scalar() {
            return true;
        }
        match meaning {
            Some(Meaning::Loss | Meaning::HeldOutLoss) => *condition == LOSS_NAN,
            Some(Meaning::GradientNorm) => *condition == GRADIENT_EXPLODING,
            _ => false,
        }
    }
}

impl Condition {
    /// `true` if it judges scalars of unknown meaning too.
    pub(crate) fn is_of_any_scalar(&self) -> bool {
        *self == SCALAR_NOT_FINITE
    }
}

impl Findings {
    /// The hit that a fresh hit has become by the context of the run, if it is at least that severe.
    pub fn confirms(&self, fresh: &FreshHit, at_least: Severity) -> Option<&Hit> {
        self.hits.iter().find(|hit| {
            hit.condition == fresh.condition
                && hit.rank == fresh.rank
                && hit.tensor == fresh.tensor
                && (hit.step..=hit.last_step).contains(&fresh.step)
                && hit.severity >= at_least
        })
    }
}

/// Fresh hits since the last call, if they are collected.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreshHits(Option<Vec<FreshHit>>);

impl FreshHits {
    pub(crate) fn collect(&mut self) {
        self.0.get_or_insert_default();
    }

    pub(crate) fn take(&mut self) -> Vec<FreshHit> {
        self.0.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Adds a hit of a tensor.
    pub(crate) fn push(
        &mut self,
        watchpoint: (u32, &Watchpoint),
        rank: u32,
        step: i64,
        tensor: &Arc<str>,
    ) {
        if let Some(all) = &mut self.0 {
            all.push(FreshHit {
                condition: watchpoint.1.condition,
                watchpoint: watchpoint.0,
                rank,
                step,
                tensor: Arc::clone(tensor),
            });
        }
    }

    /// Adds the hits of a scalar that is not finite for the first time.
    pub(crate) fn push_scalar(
        &mut self,
        watchpoints: &Watchpoints,
        meaning: Option<Meaning>,
        (rank, step, tag): (u32, i64, &Arc<str>),
    ) {
        let all = (0..).zip(watchpoints.all());
        let about = all.filter(|(_, watchpoint)| {
            let is_covered = !watchpoint.condition.is_of_any_scalar() || watchpoint.covers(tag);
            watchpoint.on
                && watchpoint.is_about_not_finite(meaning)
                && is_covered
                && watchpoint.from_step.is_none_or(|from| step >= from)
        });
        for watchpoint in about {
            self.push(watchpoint, rank, step, tag);
        }
    }
}
