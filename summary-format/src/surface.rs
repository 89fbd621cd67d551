//! Loss landscapes: the loss on a plane through the weights that a training passed, as `MindSpore` computes them.

use serde::{Deserialize, Serialize};

use crate::float;

/// A loss landscape. With intervals it covers a part of the training, otherwise its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Landscape {
    /// The loss over the plane.
    pub surface: Option<Points>,
    /// Epochs or steps (see `unit`) along the path.
    pub intervals: Vec<i64>,
    /// The path of the training.
    pub path: Option<Points>,
    /// Method of choosing the plane: `PCA` or `Random`.
    pub decomposition: String,
    /// Unit of `intervals`: `epoch` or `step`.
    pub unit: String,
    /// Steps per epoch.
    pub steps_per_epoch: i64,
    /// End point of the training.
    pub convergence_point: Option<Points>,
}

/// Points of a plane with their loss.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Points {
    /// Coordinates along the first direction.
    pub x: Grid,
    /// Coordinates along the second direction.
    pub y: Grid,
    /// Loss.
    pub z: Grid,
}

/// Numbers with a shape, in row-major order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Grid {
    /// Sizes, outermost first; as written, may not match the number of values.
    pub shape: Vec<u64>,
    /// The numbers, `f32` widened.
    #[serde(with = "float::list")]
    pub values: Vec<f64>,
}
