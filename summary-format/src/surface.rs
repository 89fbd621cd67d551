//! Loss landscapes: the loss on a plane through the weights that a training passed, as `MindSpore` and the collector
//! compute them.

use serde::{Deserialize, Serialize};

use crate::float;
use crate::tensor::len_of;

/// Maximum number of points of a surface: a thousand along each direction.
pub const MAX_POINTS: usize = 1 << 20;

/// A loss landscape. With intervals it covers a part of the training, otherwise its end.
///
/// `z` of the surface has the loss at `y[i]`, `x[j]` in row `i` and column `j`. Lists of a decoded record have the sizes
/// that their shapes say.
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
    /// Identity of the plane: two records with the same text have the same origin, directions and units. Empty if it was
    /// not recorded, as by `MindSpore`.
    pub plane: String,
    /// Share of the variance of the saved weights in each direction, 0 to 1. Empty if it was not recorded.
    #[serde(with = "float::list")]
    pub variance: Vec<f64>,
    /// Length of the directions: `filter` (that of each filter of the weights), `orthonormal` (1, at right angles). Empty
    /// if it was not recorded.
    pub normalisation: String,
    /// Number of samples over which each loss is a mean; 0 if it was not recorded.
    pub samples: u64,
}

impl Landscape {
    /// The first error in the sizes, as a sentence.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let sizes = |grid: &Grid| len_of(&grid.shape) == Some(grid.values.len() as u64);
        let all = [&self.surface, &self.path, &self.convergence_point];
        let mut grids = all
            .into_iter()
            .flatten()
            .flat_map(|points| [&points.x, &points.y, &points.z]);
        if !grids.all(sizes) {
            return Some("the shape and the content of a loss landscape disagree");
        }
        if let Some(Points { x, y, z }) = &self.surface {
            let (x, y) = (x.values.len(), y.values.len());
            if z.values.len() > MAX_POINTS {
                return Some("a loss landscape has more than 1,048,576 points");
            }
            if x.checked_mul(y) != Some(z.values.len()) {
                return Some("a loss landscape has another number of losses than of points");
            }
        }
        let mut lists = [&self.path, &self.convergence_point].into_iter().flatten();
        let is_list = |Points { x, y, z }: &Points| {
            x.values.len() == y.values.len() && x.values.len() == z.values.len()
        };
        if !lists.all(is_list) {
            return Some("the coordinates of a path in a loss landscape are not equally many");
        }
        let states = self.path.as_ref().map_or(0, |path| path.x.values.len());
        (states > 0 && !self.intervals.is_empty() && self.intervals.len() != states).then_some(
            "the path of a loss landscape has another number of points than of intervals",
        )
    }
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
    /// Sizes, outermost first.
    pub shape: Vec<u64>,
    /// The numbers; `f32` of `MindSpore` widened.
    #[serde(with = "float::list")]
    pub values: Vec<f64>,
}
