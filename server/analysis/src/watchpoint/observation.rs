//! Input of an evaluator, and the data that it needs.

use serde::{Deserialize, Serialize};
use trainscope_format::tensor::Tolerance;
use trainscope_format::{Graph, Hparams, Lineage, TensorSummary};

/// A tensor at a step of a rank.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a> {
    /// Rank; 0 if there is only one.
    pub rank: u32,
    /// The step as counted by the program. Steps of one tensor of one rank ascend; a repeated or earlier step is a
    /// restart.
    pub step: i64,
    /// Name in the file (`weight/fc1.bias`, `Parameter.fc1.bias`, …), uninterpreted.
    pub name: &'a str,
    /// Type of the operation that computed it in its framework (`ReLU`, `Conv2D`, `Parameter`); empty if unknown.
    pub op: &'a str,
    /// Statistics. A role of [`Role::Other`] is inferred from the name.
    pub summary: &'a TensorSummary,
    /// Tolerance used for [`ChangeStats::changed`](trainscope_format::tensor::ChangeStats::changed).
    pub tolerance: Tolerance,
}

/// Context of a run.
#[derive(Clone, Copy, Debug)]
pub enum Context<'a> {
    /// Names of modules, operators or tensors in forward execution order.
    ExecutionOrder(&'a [&'a str]),
    /// Computation graph.
    Graph(&'a Graph),
    /// Lineage of the model.
    Lineage(&'a Lineage),
    /// Hyper-parameters.
    Hparams(&'a Hparams),
    /// A recorded text: the printed form of a model lists its modules.
    Text {
        /// Its tag.
        tag: &'a str,
        /// The text itself.
        text: &'a str,
    },
    /// An operator overflowed according to the device.
    OperatorOverflow {
        /// Step of the overflow.
        step: i64,
        /// The operator's full name.
        operator: &'a str,
    },
    /// Overflows of operators in an unsupported format.
    OperatorOverflowUnread {
        /// Step of the record.
        step: i64,
        /// Reason, and a converter, as a sentence.
        reason: &'a str,
    },
}

/// Data that the watchpoints need of a tensor beside counts and moments, which are always needed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Needs {
    /// [`TensorStats::exponents`](trainscope_format::tensor::TensorStats::exponents).
    pub exponents: bool,
    /// [`TensorStats::ranges`](trainscope_format::tensor::TensorStats::ranges): start and end of each, without
    /// duplicates.
    pub ranges: Vec<(f64, f64)>,
    /// [`TensorSummary::hash`].
    pub hash: bool,
    /// [`TensorSummary::change`], with this tolerance.
    pub change: Option<Tolerance>,
    /// [`TensorSummary::channels`] along [`channel_axis`].
    pub channels: bool,
}

impl Needs {
    /// The union of both. Of two tolerances the first is used: a change can be counted with one only.
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

/// The channel axis of an activation: the last of a matrix or a sequence, the second of images. `None` if it has no
/// channels.
pub fn channel_axis(shape: &[u64]) -> Option<usize> {
    match shape.len() {
        2 | 4 | 5 => Some(1),
        3 => Some(2),
        _ => None,
    }
}
