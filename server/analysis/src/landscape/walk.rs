//! The bilinear surface along a straight line, cell by cell: in each cell it is a parabola.

use super::{Point, Surface, place};

/// The surface between two places of a line: `start + slope·s + bend·s²` for `s` from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Distances from the start of the line, 0 to 1 of its length.
    pub(super) span: (f64, f64),
    start: f64,
    slope: f64,
    bend: f64,
}

impl Piece {
    fn is_finite(&self) -> bool {
        self.start.is_finite() && self.slope.is_finite() && self.bend.is_finite()
    }

    /// The maximum loss; infinite if the piece has no surface.
    pub(super) fn greatest(&self) -> f64 {
        if !self.is_finite() {
            return f64::INFINITY;
        }
        let end = self.start + self.slope + self.bend;
        let top = -self.slope / (2.0 * self.bend);
        let inside = (top > 0.0 && top < 1.0)
            .then_some(self.start + self.slope * top + self.bend * top * top);
        self.start.max(end).max(inside.unwrap_or(end))
    }

    /// The first place of the line with a loss above `limit`; the start of the piece if it has no surface.
    pub(super) fn first_above(&self, limit: f64) -> Option<f64> {
        if !self.is_finite() || self.start > limit {
            return Some(self.span.0);
        }
        if self.greatest() <= limit {
            return None;
        }
        // bend·s² + slope·s − gap = 0, without cancellation.
        let gap = limit - self.start;
        let root = (self.slope * self.slope + 4.0 * self.bend * gap)
            .max(0.0)
            .sqrt();
        let half = -0.5 * (self.slope + root.copysign(self.slope));
        let roots = [half / self.bend, -gap / half];
        let first = roots
            .into_iter()
            .filter(|s| (0.0..=1.0).contains(s))
            .fold(1.0, f64::min);
        Some(self.span.0 + (self.span.1 - self.span.0) * first)
    }
}

/// The pieces of a line, in order; parts outside of the grid are left out.
pub(super) fn walk(surface: &Surface, from: Point, to: Point) -> Vec<Piece> {
    let at = |share: f64| {
        let along = |from: f64, to: f64| from + (to - from) * share;
        (along(from.0, to.0), along(from.1, to.1))
    };
    let mut cuts = vec![0.0, 1.0];
    for (axis, from, to) in [(&surface.x, from.0, to.0), (&surface.y, from.1, to.1)] {
        let shares = axis
            .iter()
            .map(|coordinate| (coordinate - from) / (to - from));
        cuts.extend(shares.filter(|share| *share > 0.0 && *share < 1.0));
    }
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let pieces = cuts.windows(2).filter_map(|pair| {
        let span = (pair[0], pair[1]);
        let middle = at(span.0 / 2.0 + span.1 / 2.0);
        let (column, _) = place(&surface.x, middle.0)?;
        let (row, _) = place(&surface.y, middle.1)?;
        // Interpolates in the cell of the middle, also at its border: a neighbouring cell may have no surface.
        let loss = |(x, y): Point| {
            let share = |axis: &[f64], first: usize, at: f64| {
                let width = axis.get(first + 1).map_or(0.0, |next| next - axis[first]);
                let share = (at - axis[first]) / width;
                if share.is_nan() {
                    0.0
                } else {
                    share.clamp(0.0, 1.0)
                }
            };
            let shares = (share(&surface.y, row, y), share(&surface.x, column, x));
            surface.within((row, column), shares)
        };
        let (start, middle, end) = (loss(at(span.0)), loss(middle), loss(at(span.1)));
        let bend = 2.0 * (start + end - 2.0 * middle);
        Some(Piece {
            span,
            start,
            slope: end - start - bend,
            bend,
        })
    });
    pieces.collect()
}
