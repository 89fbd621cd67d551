//! Figures of a landscape: the end of the training, the lowest loss, the size of the basin, the path.

use std::f64::consts::TAU;

use trainscope_format::Landscape;

use super::walk::{Piece, walk};
use super::{Point, Surface, end_of, path_of, steps_of};

/// Number of rays from the end by which the size of its basin is measured.
const RAYS: u32 = 64;
/// Rise over the loss at the end that bounds its basin, and the rise of a hill on the path, as a share of the loss.
pub(super) const RISE: f64 = 0.1;

/// A point of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// Place in the plane.
    pub at: Point,
    /// Loss.
    pub loss: f64,
    /// `true` if it is on the border of the grid, and no point inside has the same loss.
    pub is_at_border: bool,
}

/// A recorded state of the training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SavedState {
    /// Epoch or step, as recorded.
    pub interval: Option<i64>,
    /// Step of the training.
    pub step: Option<i64>,
    /// Place in the plane.
    pub at: Point,
    /// Loss of the state projected on the plane, as recorded.
    pub loss: f64,
    /// Loss of the training at that step, if it was recorded.
    pub training_loss: Option<f64>,
}

/// A hill between two recorded states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hill {
    /// Index of the state before it.
    pub(super) after: usize,
    /// Greatest loss on the straight line between the two.
    pub(super) loss: f64,
}

/// Figures of a landscape. Lengths are in the units of the axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// End of the training and its recorded loss.
    pub end: Option<(Point, f64)>,
    /// The lowest loss of the grid; `None` if no loss is finite.
    pub least: Option<Spot>,
    /// Length of the path; `None` without one.
    pub path_length: Option<f64>,
    /// Loss that bounds the basin of the end: the loss at the end plus a tenth of its size.
    pub limit: Option<f64>,
    /// Minimum distance from the end at which the bilinear surface exceeds the limit or is not finite, over rays in 64
    /// directions. `None` if no ray reaches the limit within the plane, or if the end is not in the plane.
    pub radius: Option<f64>,
    /// Larger of the second differences across the end along both axes, over the spacing of the grid there: loss per
    /// squared unit. `None` if a neighbour is outside of the plane or not finite.
    pub curvature: Option<f64>,
    /// The recorded states.
    pub saved: Vec<SavedState>,
    /// First hill on the path.
    pub(super) hill: Option<Hill>,
    /// Numbers of points that are NaN and that are infinite.
    pub not_finite: (usize, usize),
}

/// The figures of a landscape. `training_loss` gives the loss of the training at a step.
pub fn figures(
    landscape: &Landscape,
    surface: &Surface,
    training_loss: impl Fn(i64) -> Option<f64>,
) -> Figures {
    let end = end_of(landscape);
    let path = path_of(landscape);
    let steps = steps_of(landscape);
    let saved: Vec<SavedState> = path
        .iter()
        .enumerate()
        .map(|(index, &(at, loss))| {
            let step = steps.get(index).copied().flatten();
            SavedState {
                interval: landscape.intervals.get(index).copied(),
                step,
                at,
                loss,
                training_loss: step.and_then(&training_loss),
            }
        })
        .collect();
    let limit = end.map(|end| end.1).and_then(risen);
    let all = surface.z.iter();
    Figures {
        end,
        least: least(surface),
        path_length: (!path.is_empty()).then(|| length(&path)),
        limit,
        radius: end
            .zip(limit)
            .and_then(|((at, _), limit)| radius(surface, at, limit)),
        curvature: end.and_then(|(at, _)| curvature(surface, at)),
        hill: hill(surface, &path),
        saved,
        not_finite: (
            all.clone().filter(|loss| loss.is_nan()).count(),
            all.filter(|loss| loss.is_infinite()).count(),
        ),
    }
}

/// A loss plus [`RISE`] of its size; `None` for 0, which has no size, and for losses that are not finite.
fn risen(loss: f64) -> Option<f64> {
    (loss.is_finite() && loss != 0.0).then(|| loss + RISE * loss.abs())
}

fn least(surface: &Surface) -> Option<Spot> {
    let (columns, rows) = (surface.x.len(), surface.y.len());
    let mut least: Option<Spot> = None;
    for (row, y) in surface.y.iter().enumerate() {
        for (column, x) in surface.x.iter().enumerate() {
            let loss = surface.loss(row, column);
            // A grid of one or two lines has no inside.
            let is_at_border = columns > 2
                && rows > 2
                && (row == 0 || column == 0 || row == rows - 1 || column == columns - 1);
            let is_less = least.is_none_or(|spot| {
                loss < spot.loss || (loss <= spot.loss && spot.is_at_border && !is_at_border)
            });
            if loss.is_finite() && is_less {
                least = Some(Spot {
                    at: (*x, *y),
                    loss,
                    is_at_border,
                });
            }
        }
    }
    least
}

fn length(path: &[(Point, f64)]) -> f64 {
    let pieces = path.windows(2);
    pieces
        .map(|pair| (pair[1].0.0 - pair[0].0.0).hypot(pair[1].0.1 - pair[0].0.1))
        .sum()
}

fn radius(surface: &Surface, from: Point, limit: f64) -> Option<f64> {
    surface.at(from)?;
    let (x, y) = (&surface.x, &surface.y);
    // A ray of this length leaves the grid in any direction.
    let far = (x.last()? - x.first()?).hypot(y.last()? - y.first()?);
    let rays = (0..RAYS).filter_map(|ray| {
        let (sin, cos) = (TAU * f64::from(ray) / f64::from(RAYS)).sin_cos();
        let to = (from.0 + far * cos, from.1 + far * sin);
        let pieces = walk(surface, from, to);
        let share = pieces.iter().find_map(|piece| piece.first_above(limit))?;
        Some(share * far)
    });
    rays.reduce(f64::min)
}

/// Second differences along both axes.
fn curvature(surface: &Surface, (x, y): Point) -> Option<f64> {
    let here = surface.at((x, y))?;
    let along = |axis: &[f64], at: f64, of: &dyn Fn(f64) -> Option<f64>| {
        let (before, _) = super::place(axis, at)?;
        let spacing = axis.get(before + 1)? - axis[before];
        let bent = (of(at - spacing)? - 2.0 * here + of(at + spacing)?) / (spacing * spacing);
        bent.is_finite().then_some(bent)
    };
    let first = along(&surface.x, x, &|x| surface.at((x, y)));
    let second = along(&surface.y, y, &|y| surface.at((x, y)));
    first.into_iter().chain(second).reduce(f64::max)
}

/// The first place where the straight line between two states is higher than both by [`RISE`].
fn hill(surface: &Surface, path: &[(Point, f64)]) -> Option<Hill> {
    let mut pairs = path.windows(2).enumerate();
    pairs.find_map(|(after, pair)| {
        let (from, to) = (pair[0].0, pair[1].0);
        let limit = risen(surface.at(from)?.max(surface.at(to)?))?;
        let pieces = walk(surface, from, to);
        let loss = pieces.iter().map(Piece::greatest).reduce(f64::max)?;
        (loss > limit).then_some(Hill { after, loss })
    })
}
