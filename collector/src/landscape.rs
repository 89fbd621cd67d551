//! Loss landscapes: the loss of a model on a plane through the weights that a training has passed.
//!
//! A [`Plane`] has the last weights as its origin and two directions: the principal ones of several [`Snapshot`]s, or
//! random ones. [`Plane::record`] evaluates a loss over a grid of the plane and at the saved weights.

mod eigen;
mod plane;
mod vectors;

use trainscope_format::Landscape;
use trainscope_format::surface::{Grid, MAX_POINTS, Points};

use crate::collector::Collector;

pub use plane::{Normalisation, Plane};

/// Maximum number of snapshots: the matrix of their products has the square of this number of values.
pub const MAX_SNAPSHOTS: usize = 1_024;
/// Room around the path, as a share of its longer side; `MindSpore` leaves as much.
const MARGIN: f64 = 0.2;

/// Weights of a model at a step.
///
/// ```
/// use trainscope_collector::Snapshot;
///
/// let weights = vec![0.5_f32; 6];
/// let saved = Snapshot::new(100).parameter(&[2, 3], weights).parameter(&[2], vec![0.0, 0.1]);
/// assert_eq!(saved.len(), 8);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    step: i64,
    shapes: Vec<Vec<usize>>,
    values: Vec<Vec<f32>>,
}

impl Snapshot {
    /// A snapshot without parameters.
    pub fn new(step: i64) -> Self {
        Self {
            step,
            ..Self::default()
        }
    }

    /// Adds a parameter: its values in row-major order. The first axis is that of the filters, the outputs of a layer.
    #[must_use]
    pub fn parameter(mut self, shape: &[usize], values: Vec<f32>) -> Self {
        self.shapes.push(shape.to_vec());
        self.values.push(values);
        self
    }

    /// Number of values in all parameters.
    pub fn len(&self) -> usize {
        self.values.iter().map(Vec::len).sum()
    }

    /// `true` without any value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Reason why there is no plane, or why it cannot be recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaneError {
    /// A plane needs at least three snapshots.
    #[error("a plane needs at least 3 snapshots, not {0}: save the weights more often")]
    TooFew(usize),
    /// More snapshots than [`MAX_SNAPSHOTS`].
    #[error("{0} snapshots are more than {MAX_SNAPSHOTS}: leave some of them out")]
    TooMany(usize),
    /// Parameters of other numbers or shapes.
    #[error("the snapshot of step {step} has other parameters than the last one")]
    OtherModel {
        /// Step of the snapshot.
        step: i64,
    },
    /// A parameter whose shape is not that of its values.
    #[error(
        "parameter {parameter} of the snapshot of step {step} has {len} values, which its shape does not say"
    )]
    Shape {
        /// Step of the snapshot.
        step: i64,
        /// Index of the parameter.
        parameter: usize,
        /// Number of values.
        len: usize,
    },
    /// NaN or infinity among the weights.
    #[error("the snapshot of step {step} has weights that are NaN or infinite: leave it out")]
    NotFinite {
        /// Step of the snapshot.
        step: i64,
    },
    /// The snapshots are on one line, or all directions have no length.
    #[error("the weights span no plane: they are equal, or on one line")]
    NoPlane,
    /// A grid of less than 2 points along an axis, or of more than 1,024.
    #[error("a landscape has 2 to 1,024 points along each axis, not {0}")]
    Size(usize),
}

/// Grid of a landscape, and the data of its losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LandscapeGrid {
    /// Points along each axis, 2 to 1,024. The loss is evaluated at `size²` points.
    pub size: usize,
    /// Number of samples over which each loss is a mean; 0 if it is not known.
    pub samples: u64,
}

impl Plane {
    /// Evaluates a loss over a grid of the plane and at the saved weights, and records the surface, the path and the
    /// origin of the plane, at the step of the last snapshot.
    ///
    /// `loss` gets the parameters in the order of the snapshot, and is called `size² + m` times for `m` snapshots, on
    /// this thread. NaN and infinite losses are recorded. Memory: one more copy of the weights.
    ///
    /// # Errors
    /// [`PlaneError::Size`].
    pub fn record(
        &self,
        collector: &Collector,
        tag: &str,
        grid: LandscapeGrid,
        loss: impl FnMut(&[Vec<f32>]) -> f64,
    ) -> Result<(), PlaneError> {
        let landscape = self.evaluate(grid, loss)?;
        let step = self.steps().last().copied().unwrap_or(0);
        collector.landscape(tag, step, landscape);
        Ok(())
    }

    /// The landscape that [`Self::record`] records.
    ///
    /// # Errors
    /// [`PlaneError::Size`].
    pub fn evaluate(
        &self,
        grid: LandscapeGrid,
        mut loss: impl FnMut(&[Vec<f32>]) -> f64,
    ) -> Result<Landscape, PlaneError> {
        let LandscapeGrid { size, samples } = grid;
        if size < 2 || size.saturating_mul(size) > MAX_POINTS {
            return Err(PlaneError::Size(size));
        }
        let ((left, below), side) = self.extent();
        let axis = |from: f64| -> Vec<f64> {
            let last = (size - 1) as f64;
            (0..size).map(|at| from + side * at as f64 / last).collect()
        };
        let (x, y) = (axis(left), axis(below));
        let mut weights = self.origin().clone();
        let mut at = |x: f64, y: f64| {
            self.weights_at(x, y, &mut weights);
            loss(&weights)
        };
        let mut z = Vec::with_capacity(size * size);
        for y in &y {
            z.extend(x.iter().map(|x| at(*x, *y)));
        }
        let path = self.path();
        let losses: Vec<f64> = path.iter().map(|(x, y)| at(*x, *y)).collect();
        let end = path.last().copied().zip(losses.last().copied());
        let end = end.map(|((x, y), loss)| Points {
            x: list(vec![x]),
            y: list(vec![y]),
            z: list(vec![loss]),
        });
        let sizes = [size as u64; 2];
        let has_path = path.len() > 1;
        Ok(Landscape {
            surface: Some(Points {
                x: list(x),
                y: list(y),
                z: Grid {
                    shape: sizes.to_vec(),
                    values: z,
                },
            }),
            intervals: if has_path {
                self.steps().to_vec()
            } else {
                Vec::new()
            },
            path: has_path.then(|| Points {
                x: list(path.iter().map(|point| point.0).collect()),
                y: list(path.iter().map(|point| point.1).collect()),
                z: list(losses),
            }),
            decomposition: self.decomposition().to_owned(),
            unit: "step".to_owned(),
            steps_per_epoch: 0,
            convergence_point: end,
            plane: self.id(),
            variance: self.variance().to_vec(),
            normalisation: self.normalisation().as_str().to_owned(),
            samples,
        })
    }

    /// Lower left corner and side of the recorded square: the path and the origin with a margin, or the square of
    /// [`Self::reach`].
    fn extent(&self) -> ((f64, f64), f64) {
        if let Some(reach) = self.own_reach() {
            return ((-reach, -reach), 2.0 * reach);
        }
        let origin = [(0.0, 0.0)];
        let points = self.path().iter().chain(&origin);
        let (low, high) = points.fold(
            ((f64::MAX, f64::MAX), (f64::MIN, f64::MIN)),
            |(low, high), (x, y)| {
                (
                    (f64::min(low.0, *x), f64::min(low.1, *y)),
                    (f64::max(high.0, *x), f64::max(high.1, *y)),
                )
            },
        );
        let side = (high.0 - low.0).max(high.1 - low.1) * (1.0 + 2.0 * MARGIN);
        let middle = (f64::midpoint(low.0, high.0), f64::midpoint(low.1, high.1));
        ((middle.0 - side / 2.0, middle.1 - side / 2.0), side)
    }
}

fn list(values: Vec<f64>) -> Grid {
    Grid {
        shape: vec![values.len() as u64],
        values,
    }
}
