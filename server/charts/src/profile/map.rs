//! Ranks × steps as a map of signed values, with a frame around one cell.

use plotters::prelude::{DrawResult, DrawingBackend};

use super::pen::Pen;
use super::{Hit, Rect, Size, cell};
use crate::label;
use crate::paint::Anchor;

/// Size of a cell from which on a gap is left between two, CSS pixels.
const GAP_FROM: f64 = 4.0;
/// Greatest height of a row, CSS pixels.
const TALLEST: f64 = 32.0;
/// Least distance of the labels of rows, CSS pixels.
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
    fn layout(&self, size: Size) -> (Rect, f64, f64) {
        let texts = self.rows.iter().map(|text| label::width(text));
        let plot = Rect {
            left: texts.fold(30.0, f64::max) + 16.0,
            right: size.width - 16.0,
            top: 4.0,
            bottom: size.height - 22.0,
        };
        let wide = plot.width() / self.columns.len().max(1) as f64;
        let high = plot.height() / self.rows.len().max(1) as f64;
        (plot, wide, high.min(TALLEST))
    }

    fn cell_in((plot, wide, high): &(Rect, f64, f64), row: usize, column: usize) -> Rect {
        let left = plot.left + column as f64 * wide;
        let top = plot.top + row as f64 * high;
        let gap = |size: f64| if size >= GAP_FROM { 1.0 } else { 0.0 };
        Rect {
            left,
            top,
            right: left + wide - gap(*wide),
            bottom: top + high - gap(*high),
        }
    }

    pub(super) fn draw<DB: DrawingBackend>(&self, pen: &Pen<'_, DB>) -> DrawResult<(), DB> {
        let layout = self.layout(pen.size);
        let (plot, _, high) = &layout;
        let stride = super::stride(*high, LABELS);
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
                let cell = Self::cell_in(&layout, row, column);
                let colour = if self.is_size {
                    pen.theme.sequence(*value)
                } else {
                    pen.theme.diverging(*value)
                };
                let to = (cell.right, cell.bottom);
                pen.painter.rect((cell.left, cell.top), to, colour)?;
            }
        }
        let under = Rect {
            bottom: plot.top + high * self.rows.len() as f64,
            ..*plot
        };
        pen.columns(&under, &self.columns)?;
        if let Some((row, column)) = self.frame {
            let cell = Self::cell_in(&layout, row, column);
            let (left, right) = (cell.left - 1.5, cell.right + 1.5);
            let (top, bottom) = (cell.top - 1.5, cell.bottom + 1.5);
            let outline = [
                (left, top),
                (right, top),
                (right, bottom),
                (left, bottom),
                (left, top),
            ];
            pen.painter.path(&outline, 1.75, pen.theme.ink)?;
        }
        Ok(())
    }

    pub(super) fn hit(&self, size: Size, x: f64, y: f64) -> Option<Hit> {
        let (plot, wide, high) = self.layout(size);
        let index = cell(y, plot.top, high, self.rows.len())?;
        let part = cell(x, plot.left, wide, self.columns.len())?;
        Some(Hit {
            index,
            part: Some(part),
        })
    }

    pub(super) fn outline(&self, size: Size, row: usize, column: usize) -> Option<Rect> {
        let is_there = row < self.rows.len() && column < self.columns.len();
        is_there.then(|| Self::cell_in(&self.layout(size), row, column))
    }
}
