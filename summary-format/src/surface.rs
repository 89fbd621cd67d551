//! Loss landscapes: the loss on a plane through the weights that a training passed, as `MindSpore` computes them.

use serde::{Deserialize, Serialize};

use crate::float;

/// A loss landscape. With a path of intervals it belongs to a part of the training, otherwise to its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Landscape {
    /// The loss over the plane.
    pub surface: Option<Points>,
    /// Epochs or steps (see `unit`) that the path passes.
    pub intervals: Vec<i64>,
    /// The path that the training took.
    pub path: Option<Points>,
    /// How the plane was chosen: `PCA` or `Random`.
    pub decomposition: String,
    /// What `intervals` count: `epoch` or `step`.
    pub unit: String,
    /// Steps an epoch.
    pub steps_per_epoch: i64,
    /// Where the training ended.
    pub convergence_point: Option<Points>,
}

/// Points of a plane and the loss there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Points {
    /// Coordinates along the first direction.
    pub x: Grid,
    /// Coordinates along the second direction.
    pub y: Grid,
    /// The loss.
    pub z: Grid,
}

/// Numbers with a shape, row by row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Grid {
    /// Sizes, outermost first; as written, and not always the number of values.
    pub shape: Vec<u64>,
    /// The numbers, `f32` widened.
    #[serde(with = "float::list")]
    pub values: Vec<f64>,
}
