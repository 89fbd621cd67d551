//! Layout of a map: cells of equal size, names at the left, labels below.

use super::{Hit, Rect, Size, cell};

/// Minimum size of a cell for a gap between two, CSS pixels.
const GAP_FROM: f64 = 4.0;
/// Space between names and cells, with that before the names, CSS pixels.
const BESIDE: f64 = 16.0;
/// Space below for labels, CSS pixels.
const BELOW: f64 = 22.0;

/// Cells of equal size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub(super) plot: Rect,
    wide: f64,
    /// Height of a row, CSS pixels.
    pub(super) high: f64,
    rows: usize,
    columns: usize,
}

impl Grid {
    /// A grid of rows and columns next to names of a width; `tallest` is the maximum height of a row.
    pub(super) fn new(
        size: Size,
        names: f64,
        (rows, columns): (usize, usize),
        tallest: f64,
    ) -> Self {
        let plot = Rect {
            left: names.max(30.0) + BESIDE,
            right: size.width - BESIDE,
            top: 4.0,
            bottom: size.height - BELOW,
        };
        Self {
            wide: plot.width() / columns.max(1) as f64,
            high: (plot.height() / rows.max(1) as f64).min(tallest),
            plot,
            rows,
            columns,
        }
    }

    pub(super) fn cell(&self, row: usize, column: usize) -> Rect {
        let left = self.plot.left + column as f64 * self.wide;
        let top = self.plot.top + row as f64 * self.high;
        let gap = |size: f64| if size >= GAP_FROM { 1.0 } else { 0.0 };
        Rect {
            left,
            top,
            right: left + self.wide - gap(self.wide),
            bottom: top + self.high - gap(self.high),
        }
    }

    /// The part of the plot that has rows.
    pub(super) fn filled(&self) -> Rect {
        Rect {
            bottom: self.plot.top + self.high * self.rows as f64,
            ..self.plot
        }
    }

    pub(super) fn hit(&self, x: f64, y: f64) -> Option<Hit> {
        let index = cell(y, self.plot.top, self.high, self.rows)?;
        let part = cell(x, self.plot.left, self.wide, self.columns)?;
        Some(Hit {
            index,
            part: Some(part),
        })
    }

    pub(super) fn outline(&self, row: usize, column: usize) -> Option<Rect> {
        (row < self.rows && column < self.columns).then(|| self.cell(row, column))
    }
}
