//! Tensors × steps as a map of relative differences on a logarithmic scale, with marks for NaN and ∞.

use super::grid::Grid;
use super::{Chart, Hit};
use crate::frame::{Anchor, Point, Rect, Size};
use crate::label;
use crate::pen::{Ink, Pen};
use crate::theme::{FONT_SIZE, Rgb, Theme};

/// Decades below the tolerance that have a colour.
const DECADES_BELOW: f64 = 2.0;
/// Decades above the tolerance until the colour is the strongest.
const DECADES_ABOVE: f64 = 1.0;
/// Minimum width and height of a cell with a mark, CSS pixels.
const MARK_FROM: f64 = 9.0;
/// Maximum height of a row, CSS pixels.
const TALLEST: f64 = 24.0;
/// Minimum height of a row, CSS pixels, that has room for its name.
const LABELS: f64 = 9.0;
/// Maximum width of the names, as a share of the plot.
const NAMES: f64 = 0.36;
/// Part of the strongest sequential colour at the tolerance.
const BELOW_SHARE: f64 = 0.42;

/// A cell of the map.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum DifferenceCell {
    /// A relative difference; NaN or infinite if only one of both has such elements.
    Difference(f64),
    /// The shapes differ.
    OtherShape,
    /// It was not read yet.
    Unread,
    /// It cannot be read.
    Fault,
    /// Nothing was recorded.
    #[default]
    Absent,
}

/// A map of differences.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Differences {
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Texts of the columns.
    pub columns: Vec<String>,
    /// By row and column.
    pub cells: Vec<Vec<DifferenceCell>>,
    /// Largest relative difference that counts as equal.
    pub tolerance: f64,
    /// Row and column of the frame.
    pub frame: Option<(usize, usize)>,
}

/// The colour of a difference: paler below the tolerance, of another hue above it.
pub fn difference_colour(theme: &Theme, difference: f64, tolerance: f64) -> Rgb {
    if difference.is_nan() {
        return theme.nan;
    }
    if difference.is_infinite() {
        return theme.inf;
    }
    if difference == 0.0 {
        return theme.sequence(0.0);
    }
    // Without a tolerance every difference is beyond it.
    let limit = if tolerance > 0.0 {
        tolerance
    } else {
        f64::MIN_POSITIVE
    };
    let decades = (difference / limit).log10();
    if decades <= 0.0 {
        theme.sequence((1.0 + decades / DECADES_BELOW).max(0.0) * BELOW_SHARE)
    } else {
        theme.diverging(0.25 + 0.75 * (decades / DECADES_ABOVE).min(1.0))
    }
}

impl Differences {
    fn grid(&self, size: Size) -> Grid {
        let texts = (&self.rows[..], &self.columns[..]);
        Grid::new(size, texts, (size.width * NAMES, TALLEST))
    }

    fn draw_cell(&self, pen: &Pen<'_>, cell: &Rect, content: DifferenceCell) {
        let theme = pen.theme;
        let middle = cell.middle();
        let mark = |text: &str| {
            if cell.width() >= MARK_FROM && cell.height() >= MARK_FROM {
                pen.text(middle, Anchor::Middle, text, theme.surface);
            }
        };
        match content {
            DifferenceCell::Difference(value) => {
                pen.area(cell, difference_colour(theme, value, self.tolerance));
                if !value.is_finite() {
                    mark(if value.is_nan() { "×" } else { "∞" });
                }
            }
            DifferenceCell::OtherShape => {
                pen.area(cell, theme.inf);
                mark("≠");
            }
            DifferenceCell::Unread => pen.area(cell, Ink(theme.grid, 0.7)),
            DifferenceCell::Fault => {
                let (from, to) = ((cell.left, middle.1 - 0.5), (cell.right, middle.1 + 0.5));
                pen.rect(from, to, theme.error);
            }
            DifferenceCell::Absent => {}
        }
    }
}

impl Chart for Differences {
    fn draw(&self, pen: &Pen<'_>) {
        let grid = self.grid(pen.size);
        let (left, high) = (grid.plot.left, grid.rows.pitch);
        let stride = grid.rows.stride(LABELS);
        for (row, text) in self.rows.iter().enumerate() {
            // The name of the framed row always has its place, and its neighbours give way.
            let beside = self.frame.map(|frame| frame.0.abs_diff(row));
            let is_framed = beside == Some(0);
            if is_framed || row % stride == 0 && beside.is_none_or(|rows| rows >= stride) {
                let at = (left - 8.0, grid.rows.middle(row));
                let ink = if is_framed {
                    pen.theme.ink
                } else {
                    pen.theme.ink_2
                };
                let text = shortened(text, left - 12.0);
                let size = FONT_SIZE.min(high.max(LABELS));
                pen.text_of_size(at, Anchor::End, &text, ink, size);
            }
            let cells = self.cells.get(row).into_iter().flatten();
            for (column, cell) in cells.take(self.columns.len()).enumerate() {
                self.draw_cell(pen, &grid.cell(row, column), *cell);
            }
        }
        grid.labels(pen, &self.columns);
        if let Some((row, column)) = self.frame {
            let x = grid.cell(row, column).middle().0;
            pen.dashed_down(x, (grid.plot.top, grid.rows.end()), pen.theme.ink_2);
            grid.frame(pen, (row, column));
        }
    }

    fn hit(&self, size: Size, at: Point) -> Option<Hit> {
        self.grid(size).hit(at)
    }

    fn outline(&self, size: Size, hit: Hit) -> Option<Rect> {
        self.grid(size).outline(hit)
    }
}

/// A name whose beginning is left out if it does not fit.
fn shortened(text: &str, width: f64) -> String {
    if label::width(text) <= width {
        return text.to_owned();
    }
    let ends = text
        .char_indices()
        .map(|(at, _)| format!("…{}", &text[at..]));
    let mut fitting = ends.filter(|end| label::width(end) <= width);
    fitting.next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_change_at_the_tolerance() {
        let theme = Theme::light();
        let colour = |difference| difference_colour(&theme, difference, 0.01);
        assert_eq!(colour(0.0), theme.sequence(0.0));
        assert_eq!(colour(0.1), theme.diverging(1.0));
        assert_eq!(colour(f64::NAN), theme.nan);
        assert_eq!(colour(f64::INFINITY), theme.inf);
        assert_ne!(colour(0.0099), colour(0.0101));
    }

    #[test]
    fn rows_of_nine_pixels_have_names_and_the_framed_one_always() {
        let names = |rows: usize, height: f64| {
            let figure = Differences {
                rows: (0..rows).map(|row| format!("row{row}.")).collect(),
                columns: vec!["0".to_owned()],
                cells: vec![vec![DifferenceCell::Absent]; rows],
                tolerance: 0.01,
                frame: Some((7, 0)),
            };
            let figure = crate::profile::Figure::Differences(figure);
            let text = crate::svg::profile(&figure, (600.0, height), &Theme::light());
            let has = |row: &usize| text.contains(&format!("row{row}."));
            (0..rows).filter(has).collect::<Vec<usize>>()
        };
        assert_eq!(names(22, 22.0 * 9.0 + 26.0).len(), 22);
        let few = names(400, 400.0);
        assert!(
            few.contains(&7) && !few.contains(&0) && few.len() > 10,
            "{few:?}"
        );
    }

    #[test]
    fn long_names_keep_their_end() {
        assert_eq!(shortened("a/b", 200.0), "a/b");
        let short = shortened("decoder/layer3/attn/query/weight", 80.0);
        assert!(
            short.starts_with('…') && short.ends_with("weight"),
            "{short}"
        );
    }
}
