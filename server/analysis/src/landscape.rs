//! Loss landscapes: the surface as a function, contours, figures about the end of the training, and a sentence.
//!
//! `z[i][j]` of a record is the loss at `y[i]`, `x[j]`. Between the points of the grid the surface is bilinear. Cells with
//! a corner that is not finite have no surface: they are gaps.

mod contour;
mod figures;
mod sentence;
mod walk;

use trainscope_format::Landscape;
use trainscope_format::surface::Points;

pub use contour::{Contours, Gap, LEVELS, LossScale, contours, levels};
pub use figures::{Figures, SavedState, Spot, figures};
pub use sentence::{Conclusion, Tone, conclusion};

/// A point of the plane.
pub type Point = (f64, f64);

/// Reason why a record is not a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnfitSurface {
    /// The record has no surface.
    #[error("the record has no surface")]
    Missing,
    /// The number of losses differs from the number of points of the grid.
    #[error("the numbers of coordinates and losses disagree")]
    Sizes,
    /// Coordinates that are not finite or not ascending.
    #[error("the coordinates of an axis are not finite and ascending")]
    Axes,
}

/// The loss over a grid of points of the plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    x: Vec<f64>,
    y: Vec<f64>,
    /// Rows of constant `y`.
    z: Vec<f64>,
}

impl Surface {
    /// The surface of a record.
    ///
    /// # Errors
    /// Sizes that disagree, and axes that are not finite and strictly ascending.
    pub fn new(landscape: &Landscape) -> Result<Self, UnfitSurface> {
        let Points { x, y, z } = landscape.surface.as_ref().ok_or(UnfitSurface::Missing)?;
        let (x, y, z) = (&x.values, &y.values, &z.values);
        if x.is_empty() || x.len().checked_mul(y.len()) != Some(z.len()) {
            return Err(UnfitSurface::Sizes);
        }
        let is_axis = |axis: &[f64]| {
            axis.iter().all(|at| at.is_finite()) && axis.windows(2).all(|pair| pair[0] < pair[1])
        };
        if !is_axis(x) || !is_axis(y) {
            return Err(UnfitSurface::Axes);
        }
        Ok(Self {
            x: x.clone(),
            y: y.clone(),
            z: z.clone(),
        })
    }

    /// Coordinates along the first direction, ascending.
    pub fn x(&self) -> &[f64] {
        &self.x
    }

    /// Coordinates along the second direction, ascending.
    pub fn y(&self) -> &[f64] {
        &self.y
    }

    /// Losses, rows of constant `y` one after the other.
    pub fn z(&self) -> &[f64] {
        &self.z
    }

    /// The loss at `y[row]`, `x[column]`; NaN outside of the grid.
    pub fn loss(&self, row: usize, column: usize) -> f64 {
        if column >= self.x.len() {
            return f64::NAN;
        }
        let at = row.checked_mul(self.x.len()).map(|first| first + column);
        at.and_then(|at| self.z.get(at))
            .copied()
            .unwrap_or(f64::NAN)
    }

    /// Minimum and maximum finite loss; `None` if no loss is finite.
    pub fn range(&self) -> Option<(f64, f64)> {
        let finite = self.z.iter().copied().filter(|loss| loss.is_finite());
        finite.fold(None, |range, loss| match range {
            None => Some((loss, loss)),
            Some((low, high)) => Some((f64::min(low, loss), f64::max(high, loss))),
        })
    }

    /// Value of the bilinear surface at a point; `None` outside the grid. Not finite if a corner with a weight above 0
    /// is not finite.
    pub fn at(&self, (x, y): Point) -> Option<f64> {
        let (column, right) = place(&self.x, x)?;
        let (row, up) = place(&self.y, y)?;
        Some(self.within((row, column), (up, right)))
    }

    /// Value of the surface in a cell, at shares of its height and width from its first corner.
    fn within(&self, (row, column): (usize, usize), (up, right): (f64, f64)) -> f64 {
        let below = mixed(self.loss(row, column), self.loss(row, column + 1), right);
        if up == 0.0 {
            return below;
        }
        let above = mixed(
            self.loss(row + 1, column),
            self.loss(row + 1, column + 1),
            right,
        );
        mixed(below, above, up)
    }

    /// The surface along the first direction, at the points of the grid and at `x`, for a constant `y`.
    pub fn cut_along_x(&self, (x, y): Point) -> Vec<Point> {
        let all = with(&self.x, x).into_iter();
        all.filter_map(|x| Some((x, self.at((x, y))?))).collect()
    }

    /// The surface along the second direction, at the points of the grid and at `y`, for a constant `x`.
    pub fn cut_along_y(&self, (x, y): Point) -> Vec<Point> {
        let all = with(&self.y, y).into_iter();
        all.filter_map(|y| Some((y, self.at((x, y))?))).collect()
    }
}

/// An axis with one more coordinate, in order.
fn with(axis: &[f64], coordinate: f64) -> Vec<f64> {
    let mut all = axis.to_vec();
    let at = all.partition_point(|other| *other < coordinate);
    if coordinate.is_finite() && all.get(at).is_none_or(|other| *other > coordinate) {
        all.insert(at, coordinate);
    }
    all
}

/// Index of the interval of an axis that contains a coordinate, and the share of the interval before it, 0 to 1.
fn place(axis: &[f64], at: f64) -> Option<(usize, f64)> {
    let (first, last) = (*axis.first()?, *axis.last()?);
    if !(first..=last).contains(&at) {
        return None;
    }
    let before = axis
        .partition_point(|coordinate| *coordinate <= at)
        .saturating_sub(1)
        .min(axis.len().saturating_sub(2));
    let (from, to) = (axis[before], *axis.get(before + 1).unwrap_or(&axis[before]));
    let share = if to > from {
        (at - from) / (to - from)
    } else {
        0.0
    };
    Some((before, share))
}

/// Interpolates linearly. A value with the weight 0 does not count, even if it is not finite.
fn mixed(from: f64, to: f64, share: f64) -> f64 {
    if share == 0.0 {
        from
    } else if share >= 1.0 {
        to
    } else {
        from + (to - from) * share
    }
}

/// End of the training with the recorded loss: the point of convergence, else the last point of the path. `None` without
/// either.
pub fn end_of(landscape: &Landscape) -> Option<(Point, f64)> {
    let last = |points: &Option<Points>| {
        let Points { x, y, z } = points.as_ref()?;
        let point = (*x.values.last()?, *y.values.last()?);
        let is_place = point.0.is_finite() && point.1.is_finite();
        is_place.then_some((point, *z.values.last()?))
    };
    last(&landscape.convergence_point).or_else(|| last(&landscape.path))
}

/// The recorded states in the plane, in order, each with its loss.
pub fn path_of(landscape: &Landscape) -> Vec<(Point, f64)> {
    let Some(Points { x, y, z }) = &landscape.path else {
        return Vec::new();
    };
    let places = x.values.iter().zip(&y.values).zip(&z.values);
    places.map(|((x, y), z)| ((*x, *y), *z)).collect()
}

/// Steps of the recorded states: intervals in epochs are converted by the steps of an epoch. `None` for states whose
/// step was not recorded.
pub fn steps_of(landscape: &Landscape) -> Vec<Option<i64>> {
    let states = landscape
        .path
        .as_ref()
        .map_or(0, |path| path.x.values.len());
    let a_unit = match &*landscape.unit {
        "epoch" => Some(landscape.steps_per_epoch).filter(|steps| *steps > 0),
        _ => Some(1),
    };
    let steps = (0..states).map(|state| landscape.intervals.get(state)?.checked_mul(a_unit?));
    steps.collect()
}

/// Range of intervals in the tag of a landscape: `(1, 4)` for `landscape_[1, 4]`. `None` for a landscape of the end
/// only, and for tags of another form.
pub fn span_of(tag: &str) -> Option<(i64, i64)> {
    let list = tag.rsplit_once('[')?.1.strip_suffix(']')?;
    let (from, to) = list.split_once(',')?;
    Some((from.trim().parse().ok()?, to.trim().parse().ok()?))
}

#[cfg(test)]
mod tests;
