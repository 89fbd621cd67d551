//! What an evaluator is shown, and what it needs to be shown.

use serde::{Deserialize, Serialize};
use trainscope_format::tensor::Tolerance;
use trainscope_format::{Graph, Hparams, Lineage, TensorSummary};

/// A tensor at a step of a rank.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a> {
    /// Whose it is; 0 if there is one rank only.
    pub rank: u32,
    /// The step as the program counted it. Steps of one tensor of one rank ascend; one that is seen again, or goes
    /// back, begins anew.
    pub step: i64,
    /// The name as its file has it (`weight/fc1.bias`, `Parameter.fc1.bias`, …). It is text and nothing else.
    pub name: &'a str,
    /// The operation that made it as its framework calls it (`ReLU`, `Conv2D`, `Parameter`); empty if it is not known.
    pub op: &'a str,
    /// What is known of it. A role of [`Role::Other`] is made out from the name.
    pub summary: &'a TensorSummary,
    /// What [`ChangeStats::changed`](trainscope_format::tensor::ChangeStats::changed) was counted with.
    pub tolerance: Tolerance,
}

/// What else is known of a run.
#[derive(Clone, Copy, Debug)]
pub enum Context<'a> {
    /// Names of modules, operators or tensors in the order they ran forward.
    ExecutionOrder(&'a [&'a str]),
    /// What the model computes.
    Graph(&'a Graph),
    /// How it was trained.
    Lineage(&'a Lineage),
    /// With what it was trained.
    Hparams(&'a Hparams),
    /// A text that the run recorded: a model's printed form tells what its modules are.
    Text {
        /// Its tag.
        tag: &'a str,
        /// The text itself.
        text: &'a str,
    },
    /// The device has said that an operator overflowed.
    OperatorOverflow {
        /// At this step.
        step: i64,
        /// The operator's full name.
        operator: &'a str,
    },
    /// Overflows of operators were recorded, in a form that is not read: why, and what reads it, as a sentence.
    OperatorOverflowUnread {
        /// At this step.
        step: i64,
        /// Why.
        reason: &'a str,
    },
}

/// What has to be computed of a tensor beside counts and moments, which always are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Needs {
    /// [`TensorStats::exponents`](trainscope_format::tensor::TensorStats::exponents).
    pub exponents: bool,
    /// [`TensorStats::ranges`](trainscope_format::tensor::TensorStats::ranges): start and end of each, no range twice.
    pub ranges: Vec<(f64, f64)>,
    /// [`TensorSummary::hash`].
    pub hash: bool,
    /// [`TensorSummary::change`], with this tolerance.
    pub change: Option<Tolerance>,
    /// [`TensorSummary::channels`] along [`channel_axis`].
    pub channels: bool,
}

impl Needs {
    /// What either needs. Of two tolerances the first is kept: a change can be counted with one only.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        for range in other.ranges {
            if !self.ranges.contains(&range) {
                self.ranges.push(range);
            }
        }
        Self {
            exponents: self.exponents || other.exponents,
            ranges: self.ranges,
            hash: self.hash || other.hash,
            change: self.change.or(other.change),
            channels: self.channels || other.channels,
        }
    }
}

/// The axis that numbers the units of an activation: the last of a matrix or a sequence, the second of images. `None`
/// if it has no units.
pub fn channel_axis(shape: &[u64]) -> Option<usize> {
    match shape.len() {
        2 | 4 | 5 => Some(1),
        3 => Some(2),
        _ => None,
    }
}
