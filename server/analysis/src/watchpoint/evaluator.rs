//! The fold: everything that a run recorded goes in, findings come out.

use serde::{Deserialize, Serialize};
use trainscope_format::Role;

use super::config::Watchpoints;
use super::finding::Findings;
use super::observation::{Context, Needs, Observation};

/// Judges one run, all its ranks together. Its state can be stored and gone on from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Evaluator {
    watchpoints: Watchpoints,
}

impl Evaluator {
    /// An evaluator that has seen nothing.
    pub fn new(watchpoints: Watchpoints) -> Self {
        Self { watchpoints }
    }

    /// What it judges by.
    pub fn watchpoints(&self) -> &Watchpoints {
        &self.watchpoints
    }

    /// What has to be computed of a tensor for everything that watches it. A role of [`Role::Other`] is made out from
    /// the name, as in [`Self::observe`].
    pub fn needs(&self, name: &str, role: Role, op: &str) -> Needs {
        let _ = (name, role, op);
        Needs::default()
    }

    /// Looks at a tensor.
    pub fn observe(&mut self, seen: &Observation<'_>) {
        let _ = seen;
    }

    /// Looks at a point of a scalar. Which scalar is the loss, the learning rate, … is made out from the tags.
    pub fn scalar(&mut self, rank: u32, tag: &str, step: i64, wall_time_secs: f64, value: f64) {
        let _ = (rank, tag, step, wall_time_secs, value);
    }

    /// Learns what else is known of the run; the order does not matter, nor whether it comes before or after what it is
    /// about.
    pub fn context(&mut self, rank: u32, context: Context<'_>) {
        let _ = (rank, context);
    }

    /// What is to be said of all it has seen. May be asked at any time, and again.
    pub fn findings(&self) -> Findings {
        Findings::default()
    }
}
