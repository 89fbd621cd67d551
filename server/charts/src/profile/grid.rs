//! Cells of equal size: names at the left, labels below, and a frame around one of them.

use super::Hit;
use crate::frame::{Bands, Point, Rect, Size};
use crate::label;
use crate::pen::Pen;

/// Minimum size of a cell for a gap between two, CSS pixels.
const GAP_FROM: f64 = 4.0;
/// Minimum width of the names, CSS pixels.
const NAMES: f64 = 30.0;
/// Space between names and cells, with that before the names, CSS pixels.
const BESIDE: f64 = 16.0;
/// Space below for labels, CSS pixels.
const BELOW: f64 = 22.0;

/// Cells of equal size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub(super) plot: Rect,
    pub(super) rows: Bands,
    columns: Bands,
}

impl Grid {
    /// A grid of columns next to the names of its rows. `widest` is the maximum width of the names, `tallest` the
    /// maximum height of a row.
    pub(super) fn new(
        size: Size,
        (rows, columns): (&[String], &[String]),
        (widest, tallest): (f64, f64),
    ) -> Self {
        let names = label::widest(rows).min(widest).max(NAMES);
        let plot = Rect::within(size, [names + BESIDE, BESIDE, 4.0, BELOW]);
        Self {
            rows: Bands::new((plot.top, plot.bottom), rows.len(), tallest),
            columns: Bands::new((plot.left, plot.right), columns.len(), f64::INFINITY),
            plot,
        }
    }

    pub(super) fn cell(&self, row: usize, column: usize) -> Rect {
        let (left, wide) = (self.columns.begin(column), self.columns.pitch);
        let (top, high) = (self.rows.begin(row), self.rows.pitch);
        let gap = |size: f64| if size >= GAP_FROM { 1.0 } else { 0.0 };
        Rect {
            left,
            top,
            right: left + wide - gap(wide),
            bottom: top + high - gap(high),
        }
    }

    /// Draws the labels of columns.
    pub(super) fn labels(&self, pen: &Pen<'_>, columns: &[String]) {
        let under = Rect {
            bottom: self.rows.end(),
            ..self.plot
        };
        pen.columns(&under, columns);
    }

    /// Draws a frame around a cell.
    pub(super) fn frame(&self, pen: &Pen<'_>, (row, column): (usize, usize)) {
        let cell = self.cell(row, column);
        let around = Rect {
            left: cell.left - 1.5,
            top: cell.top - 1.5,
            right: cell.right + 1.5,
            bottom: cell.bottom + 1.5,
        };
        pen.outline(&around, 1.75, pen.theme.ink);
    }

    pub(super) fn hit(&self, (x, y): Point) -> Option<Hit> {
        Some(Hit {
            index: self.rows.hit(y)?,
            part: Some(self.columns.hit(x)?),
        })
    }

    pub(super) fn outline(&self, hit: Hit) -> Option<Rect> {
        let (row, column) = (hit.index, hit.part?);
        let is_there = row < self.rows.count && column < self.columns.count;
        is_there.then(|| self.cell(row, column))
    }
}
