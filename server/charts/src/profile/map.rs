//! Ranks × steps as a map of signed values, with a frame around one cell.

use super::grid::Grid;
use super::{Chart, Hit};
use crate::frame::{Anchor, Point, Rect, Size};
use crate::pen::Pen;

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
        let texts = (&self.rows[..], &self.columns[..]);
        Grid::new(size, texts, (f64::INFINITY, TALLEST))
    }
}

impl Chart for RankMap {
    fn draw(&self, pen: &Pen<'_>) {
        let grid = self.grid(pen.size);
        let stride = grid.rows.stride(LABELS);
        for (row, text) in self.rows.iter().enumerate() {
            if row % stride == 0 {
                let at = (grid.plot.left - 8.0, grid.rows.middle(row));
                let is_framed = self.frame.is_some_and(|frame| frame.0 == row);
                let ink = if is_framed {
                    pen.theme.ink
                } else {
                    pen.theme.ink_2
                };
                pen.text(at, Anchor::End, text, ink);
            }
            let values = self.values.get(row).into_iter().flatten();
            let values = values.take(self.columns.len()).enumerate();
            for (column, value) in values.filter(|(_, value)| !value.is_nan()) {
                let colour = if self.is_size {
                    pen.theme.sequence(*value)
                } else {
                    pen.theme.diverging(*value)
                };
                pen.area(&grid.cell(row, column), colour);
            }
        }
        grid.labels(pen, &self.columns);
        if let Some(at) = self.frame {
            grid.frame(pen, at);
        }
    }

    fn hit(&self, size: Size, at: Point) -> Option<Hit> {
        self.grid(size).hit(at)
    }

    fn outline(&self, size: Size, hit: Hit) -> Option<Rect> {
        self.grid(size).outline(hit)
    }
}
