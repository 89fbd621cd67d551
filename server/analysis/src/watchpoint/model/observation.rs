//! Input of an evaluator, and the data that it needs.

use trainscope_format::TensorSummary;
use trainscope_format::tensor::Tolerance;

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
    /// Statistics. A role of [`Role::Other`](trainscope_format::Role::Other) is inferred from the name.
    pub summary: &'a TensorSummary,
    /// Tolerance used for [`ChangeStats::changed`](trainscope_format::tensor::ChangeStats::changed).
    pub tolerance: Tolerance,
}

/// Data that the watchpoints need of a tensor in addition to counts and moments, which are always needed.
#[derive(Clone, Debug, Default, PartialEq)]
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
