//! What a program says of a tensor at a step instead of writing it in full.

use serde::{Deserialize, Serialize};

use crate::tensor::{ChangeStats, ChannelStats, DType, TensorStats};

/// What a tensor is to the training. New roles are appended: the order is part of the stored form.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Role {
    /// Not said.
    #[default]
    Other,
    /// A parameter that is meant to be trained.
    Weight,
    /// The gradient of a weight, whose tag is most often the weight's with `.grad` after it.
    Gradient,
    /// The output of a layer.
    Activation,
    /// Data that are fed.
    Input,
    /// What the model answers.
    Output,
    /// What is minimized.
    Loss,
    /// What an optimizer keeps for a weight.
    OptimizerState,
    /// A parameter that is kept as it is on purpose.
    FrozenWeight,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Other,
        Self::Weight,
        Self::Gradient,
        Self::Activation,
        Self::Input,
        Self::Output,
        Self::Loss,
        Self::OptimizerState,
        Self::FrozenWeight,
    ];
}

/// A tensor at a step, without its elements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorSummary {
    /// What it is to the training.
    pub role: Role,
    /// The type of its elements.
    pub dtype: DType,
    /// Sizes, outermost first; none at all is a single number.
    pub shape: Vec<u64>,
    /// Counts and moments, exponents if they were asked for.
    pub stats: TensorStats,
    /// What [`crate::tensor::ContentHasher`] makes of its bytes, if that was asked for.
    pub hash: Option<u64>,
    /// How it differs from its state when it was last looked at, if that was asked for and is known.
    pub change: Option<ChangeStats>,
    /// Each unit by itself, if that was asked for.
    pub channels: Option<ChannelStats>,
}
