//! Ranks × steps as a map of signed values, with a frame around one cell.

use plotters::prelude::{DrawResult, DrawingBackend};

use super::grid::Grid;
use super::pen::Pen;
use super::{Hit, Rect, Size};
use crate::label;
use crate::paint::Anchor;

/// Maximum height of a row, CSS pixels.
const TALLEST: f64 = 32.0;
/// Minimum distance of the labels of rows, CSS pixels.
const LABELS: f64 = 13.0;

/// A map of ranks × steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankMap {
    /// Texts of the rows.
    pub rows: Vec<String>,
    /// Texts of the columns.
    pub columns: Vec<String>,
    /// By row and column, −1 to 1; NaN for nothing.
    pub values: Vec<Vec<f64>>,
    /// True for sizes from 0 to 1 instead of signed values.
    pub is_size: bool,
    /// Row and column of the frame.
    pub frame: Option<(usize, usize)>,
}

impl RankMap {
    fn grid(&self, size: Size) -> Grid {
        let texts = self.rows.iter().map(|text| label::width(text));
        let names = texts.fold(30.0, f64::max);
        Grid::new(size, names, (self.rows.len(), self.columns.len()), TALLEST)
    }

    pub(super) fn draw<DB: DrawingBackend>(&self, pen: &Pen<'_, DB>) -> DrawResult<(), DB> {
        let grid = self.grid(pen.size);
        let Grid { plot, high, .. } = grid;
        let stride = super::stride(high, LABELS);
        for (row, text) in self.rows.iter().enumerate() {
            if row % stride == 0 {
                let at = (plot.left - 8.0, plot.top + (row as f64 + 0.5) * high);
                let is_framed = self.frame.is_some_and(|frame| frame.0 == row);
                let ink = if is_framed {
                    pen.theme.ink
                } else {
                    pen.theme.ink_2
                };
                pen.painter.text(at, Anchor::End, text, ink)?;
            }
            let values = self.values.get(row).into_iter().flatten();
            let values = values.take(self.columns.len()).enumerate();
            for (column, value) in values.filter(|(_, value)| !value.is_nan()) {
                let cell = grid.cell(row, column);
                let colour = if self.is_size {
                    pen.theme.sequence(*value)
                } else {
                    pen.theme.diverging(*value)
                };
                let to = (cell.right, cell.bottom);
                pen.painter.rect((cell.left, cell.top), to, colour)?;
            }
        }
        let under = grid.filled();
        pen.columns(&under, &self.columns)?;
        if let Some((row, column)) = self.frame {
            let cell = grid.cell(row, column);
            pen.frame(cell)?;
        }
        Ok(())
    }

    pub(super) fn hit(&self, size: Size, x: f64, y: f64) -> Option<Hit> {
        self.grid(size).hit(x, y)
    }

    pub(super) fn outline(&self, size: Size, row: usize, column: usize) -> Option<Rect> {
        self.grid(size).outline(row, column)
    }
}
