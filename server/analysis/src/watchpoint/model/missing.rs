//! Reasons why something was not judged.

use serde::Serialize;

/// Reason why a value could not be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// A NaN in the tensor, or in its previous step, and the condition compares numbers.
    Nan,
    /// An infinity in the tensor, or in its previous step, and the condition compares finite numbers.
    Inf,
    /// There is no previous step, or it had another shape.
    NoPrevious,
    /// The change since the previous step was not recorded.
    NoChange,
    /// The tolerance of the recorded change does not decide it.
    Tolerance,
    /// Exponents were not recorded.
    NoExponents,
    /// The statistics bound the share from both sides, and the limit is between the bounds: it takes the elements to
    /// decide.
    Bounds,
    /// Statistics by channel were not recorded.
    NoChannels,
    /// Content hashes were not recorded.
    NoHash,
    /// There are too few steps.
    TooShort,
    /// Overflows of operators were not recorded.
    NoOverflowFiles,
    /// Overflows of operators were recorded in a format that has to be converted first.
    UnreadOverflowFiles,
    /// It has no elements.
    Empty,
    /// Only a histogram was recorded, which does not decide it.
    OnlyHistogram,
}
