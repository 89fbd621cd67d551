//! Statistics of a tensor at a step, recorded instead of its elements.

use serde::{Deserialize, Serialize};

use crate::tensor::{ChangeStats, ChannelStats, DType, TensorStats};

/// Role of a tensor in the training. New roles are appended: the order is part of the stored form.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Role {
    /// Unknown.
    #[default]
    Other,
    /// A trainable parameter.
    Weight,
    /// The gradient of a weight; its tag is usually that of the weight with `.grad` appended.
    Gradient,
    /// The output of a layer.
    Activation,
    /// Input data.
    Input,
    /// Output of the model.
    Output,
    /// Loss.
    Loss,
    /// State of an optimizer for a weight.
    OptimizerState,
    /// A parameter that is frozen on purpose.
    FrozenWeight,
}

impl Role {
    /// All roles.
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

impl TensorSummary {
    /// Summary of the same tensor with each element multiplied by `factor`, a positive number. Counts and the hash
    /// stay. Exponents are kept if they are exact: if `factor` is a power of two and no value is beyond the range of
    /// the buckets.
    #[must_use]
    pub fn scaled(mut self, factor: f64) -> Self {
        if factor.to_bits() == 1.0_f64.to_bits() {
            return self;
        }
        if let Some(finite) = &mut self.stats.finite {
            for value in [
                &mut finite.min,
                &mut finite.max,
                &mut finite.mean,
                &mut finite.mean_abs,
                &mut finite.l2,
            ] {
                *value *= factor;
            }
            finite.m2 *= factor * factor;
        }
        let exponents = self.stats.exponents.take();
        self.stats.exponents = exponents.and_then(|exponents| exponents.scaled(factor));
        if let Some(channels) = &mut self.channels {
            for values in [
                &mut channels.min,
                &mut channels.max,
                &mut channels.mean,
                &mut channels.mean_abs,
            ] {
                for value in values {
                    *value *= factor;
                }
            }
        }
        // It compares with values of another scale.
        self.change = None;
        self
    }
}

/// A tensor at a step, without its elements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorSummary {
    /// Role in the training.
    pub role: Role,
    /// Element type.
    pub dtype: DType,
    /// Sizes, outermost first; empty for a single number.
    pub shape: Vec<u64>,
    /// Counts and moments, with exponents if requested.
    pub stats: TensorStats,
    /// [`crate::tensor::ContentHasher`] hash of its bytes, if requested.
    pub hash: Option<u64>,
    /// Difference from the previous recorded state, if requested and known.
    pub change: Option<ChangeStats>,
    /// Statistics of each channel, if requested.
    pub channels: Option<ChannelStats>,
}
