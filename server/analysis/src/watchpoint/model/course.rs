//! Facts that say how the loss of a sound training may run: targets that the training makes itself, losses of policies,
//! and models that are trained against each other.

use std::collections::{BTreeMap, VecDeque};

use trainscope_format::program::ProgramFact;

use super::scalars::{FEWEST, median};

/// Maximum number of losses whose targets are followed: the collector keeps eight of a run.
const MAX_LOSSES: usize = 64;
/// Growth of the size of the targets above which losses at different steps are not comparable. Chosen: batches of one
/// data set differ by less in the median of three.
const MIN_GROWTH: f64 = 2.0;
/// Minimum number of models, and of optimizers, that are trained against each other or that follow each other.
const SEVERAL: f64 = 2.0;

/// Sizes of the targets of a loss: the first and the newest ones.
#[derive(Clone, Debug, Default)]
struct Sizes {
    first: Vec<f64>,
    newest: VecDeque<f64>,
}

/// The facts about the losses of a run, by rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct Course {
    targets: BTreeMap<(u32, String), Sizes>,
    /// Ranks whose losses are of chosen actions.
    of_actions: Vec<u32>,
    /// Ranks with several models, each with an optimizer.
    of_several: Vec<u32>,
}

impl Course {
    pub(crate) fn learn(&mut self, rank: u32, fact: &ProgramFact) {
        let is = |name: &str, least: f64| fact.number(name).is_some_and(|value| value >= least);
        match &*fact.kind {
            "loss_function" => {
                let function = fact.subject.split('#').next().unwrap_or_default();
                if function == "policy_gradient" || is("chosen", 1.0) {
                    note(&mut self.of_actions, rank);
                }
                let size = fact
                    .number("targets_rms")
                    .filter(|size| size.is_finite() && *size > 0.0);
                if let Some(size) = size {
                    self.learn_size(rank, &fact.subject, size);
                }
            }
            "gradients_kept" if is("models", SEVERAL) && is("optimizers", SEVERAL) => {
                note(&mut self.of_several, rank);
            }
            _ => {}
        }
    }

    fn learn_size(&mut self, rank: u32, subject: &str, size: f64) {
        let key = (rank, subject.to_owned());
        if self.targets.len() >= MAX_LOSSES && !self.targets.contains_key(&key) {
            return;
        }
        let sizes = self.targets.entry(key).or_default();
        if sizes.first.len() < FEWEST {
            sizes.first.push(size);
            return;
        }
        if sizes.newest.len() == FEWEST {
            sizes.newest.pop_front();
        }
        sizes.newest.push_back(size);
    }

    /// True for losses of reinforcement learning, or with targets that have grown since the beginning: a higher loss may
    /// be the same relative error.
    pub(crate) fn moves(&self, rank: u32) -> bool {
        let has_grown = |sizes: &Sizes| {
            let level = |of: &mut dyn Iterator<Item = f64>| median(of);
            let first = level(&mut sizes.first.iter().copied());
            let newest = level(&mut sizes.newest.iter().copied());
            sizes.newest.len() == FEWEST
                && first
                    .zip(newest)
                    .is_some_and(|(first, newest)| newest > MIN_GROWTH * first)
        };
        let mut targets = self.targets.iter().filter(|(key, _)| key.0 == rank);
        self.of_actions.contains(&rank) || targets.any(|(_, sizes)| has_grown(sizes))
    }

    /// True if several models are trained, each by an optimizer.
    pub(crate) fn has_several(&self, rank: u32) -> bool {
        self.of_several.contains(&rank)
    }
}

fn note(ranks: &mut Vec<u32>, rank: u32) {
    if !ranks.contains(&rank) {
        ranks.push(rank);
    }
}
