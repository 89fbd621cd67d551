//! Points by two values, with a line through their middle, and cells of a surface behind them.

use plotters::prelude::{DrawResult, DrawingBackend};

use super::pen::Pen;
use super::{Hit, Rect, Size};
use crate::label;
use crate::paint::{Anchor, Ink};
use crate::scale::{Axis, Scale};
use crate::theme::Rgb;
use crate::ticks;

/// Radius of a point, and the distance at which the pointer finds it, CSS pixels.
const RADIUS: f64 = 3.0;
const REACH: f64 = 8.0;
/// Ticks of both axes.
const TICKS: u32 = 4;

/// Places along an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Across {
    /// Numbers.
    Numbers(Scale),
    /// Names; the values of points are their positions.
    Names(Vec<String>),
}

/// A point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    /// Value across.
    pub x: f64,
    /// Value up.
    pub y: f64,
    /// Its colour.
    pub colour: Rgb,
    /// False for a hollow point.
    pub is_filled: bool,
}

/// Cells of equal size on the scales of both axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    /// Cells in a row.
    pub columns: usize,
    /// Values row by row, the lowest row first.
    pub cells: Vec<f64>,
    /// Both ends of the axes of numbers.
    pub ends: [(f64, f64); 2],
}

/// Points by two values; those that an axis cannot show are not drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// Axis across.
    pub across: Across,
    /// Axis up.
    pub up: Across,
    /// The points.
    pub dots: Vec<Dot>,
    /// Lines through points, in the values of the axes.
    pub lines: Vec<Vec<(f64, f64)>>,
    /// Surface behind the points.
    pub field: Option<Field>,
}

struct Layout {
    plot: Rect,
    x: Axis,
    y: Axis,
    x_ticks: Vec<(f64, String)>,
    y_ticks: Vec<(f64, String)>,
}

impl Scatter {
    fn axis(
        &self,
        kind: &Across,
        values: impl Iterator<Item = f64>,
        at: usize,
    ) -> (Axis, Vec<(f64, String)>) {
        match kind {
            Across::Names(names) => {
                let axis = Axis::new(-0.5, names.len().max(1) as f64 - 0.5, Scale::Linear);
                let places = names.iter().enumerate();
                (
                    axis,
                    places
                        .map(|(index, name)| (index as f64, name.clone()))
                        .collect(),
                )
            }
            Across::Numbers(scale) => {
                let shown = values.filter(|value| scale.shows(*value));
                let ends = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), value| {
                    (lo.min(value), hi.max(value))
                });
                if let Some(field) = &self.field {
                    let (lo, hi) = field.ends[at];
                    let axis = Axis::new(lo, hi, *scale);
                    let found = ticks::of(&axis, TICKS);
                    let labels = label::ticks(&found.values, found.step);
                    return (axis, found.values.into_iter().zip(labels).collect());
                }
                let ends = if ends.0 > ends.1 { (0.0, 1.0) } else { ends };
                let (axis, found) = ticks::widen(ends.0, ends.1, *scale, TICKS);
                let labels = label::ticks(&found.values, found.step);
                (axis, found.values.into_iter().zip(labels).collect())
            }
        }
    }

    fn layout(&self, size: Size) -> Layout {
        let (x, x_ticks) = self.axis(&self.across, self.dots.iter().map(|dot| dot.x), 0);
        let (y, y_ticks) = self.axis(&self.up, self.dots.iter().map(|dot| dot.y), 1);
        let widest = y_ticks
            .iter()
            .map(|(_, text)| label::width(text))
            .fold(0.0, f64::max);
        let left = (widest + 10.0).clamp(20.0, (size.width / 3.0).max(20.0));
        let plot = Rect {
            left,
            right: (size.width - 8.0).max(left + 1.0),
            top: 6.0,
            bottom: (size.height - 20.0).max(7.0),
        };
        Layout {
            plot,
            x,
            y,
            x_ticks,
            y_ticks,
        }
    }

    pub(super) fn draw<DB: DrawingBackend>(&self, pen: &Pen<'_, DB>) -> DrawResult<(), DB> {
        let layout = self.layout(pen.size);
        let Layout {
            plot,
            x_ticks,
            y_ticks,
            ..
        } = &layout;
        if let Some(field) = &self.field {
            field_cells(pen, plot, field)?;
        }
        for (value, text) in y_ticks {
            let Some(y) = layout.y_at(*value) else {
                continue;
            };
            if self.field.is_none() {
                pen.painter
                    .horizontal((plot.left, plot.right), y, pen.theme.grid)?;
            }
            pen.painter
                .text((plot.left - 6.0, y), Anchor::End, text, pen.theme.ink_3)?;
        }
        pen.base(plot)?;
        let mut free = f64::NEG_INFINITY;
        for (value, text) in x_ticks {
            let Some(x) = layout.x_at(*value) else {
                continue;
            };
            let half = label::width(text) / 2.0;
            if x - half >= free {
                pen.below(plot, x, text)?;
                free = x + half + 6.0;
            }
        }
        for dot in self.dots.iter().filter(|dot| !dot.is_filled) {
            if let Some(at) = layout.place(*dot) {
                pen.painter
                    .ring(at, RADIUS, 1.0, Ink(pen.theme.ink_3, 0.6))?;
            }
        }
        for dot in self.dots.iter().filter(|dot| dot.is_filled) {
            if let Some(at) = layout.place(*dot) {
                pen.painter.disc(at, RADIUS + 0.75, pen.theme.surface)?;
                pen.painter.disc(at, RADIUS, dot.colour)?;
            }
        }
        for line in &self.lines {
            let points: Vec<_> = line
                .iter()
                .filter_map(|(x, y)| Some((layout.x_at(*x)?, layout.y_at(*y)?)))
                .collect();
            if points.len() > 1 {
                pen.painter.path(&points, 1.5, pen.theme.ink_2)?;
            }
        }
        Ok(())
    }

    pub(super) fn hit(&self, size: Size, x: f64, y: f64) -> Option<Hit> {
        let layout = self.layout(size);
        let far = |dot: &Dot| {
            let (at_x, at_y) = layout.place(*dot)?;
            Some((at_x - x).hypot(at_y - y))
        };
        let near = self.dots.iter().enumerate();
        let near = near.filter_map(|(index, dot)| Some((far(dot)?, index)));
        let (distance, index) = near.min_by(|a, b| a.0.total_cmp(&b.0))?;
        (distance <= REACH).then_some(Hit { index, part: None })
    }

    pub(super) fn outline(&self, size: Size, index: usize) -> Option<Rect> {
        let (x, y) = self.layout(size).place(*self.dots.get(index)?)?;
        let reach = RADIUS + 2.0;
        Some(Rect {
            left: x - reach,
            top: y - reach,
            right: x + reach,
            bottom: y + reach,
        })
    }
}

impl Layout {
    fn x_at(&self, value: f64) -> Option<f64> {
        Some(self.plot.left + self.plot.width() * self.x.fraction(value)?)
    }

    fn y_at(&self, value: f64) -> Option<f64> {
        Some(self.plot.bottom - self.plot.height() * self.y.fraction(value)?)
    }

    fn place(&self, dot: Dot) -> Option<(f64, f64)> {
        Some((self.x_at(dot.x)?, self.y_at(dot.y)?))
    }
}

/// Cells by their share of the range of all.
fn field_cells<DB: DrawingBackend>(
    pen: &Pen<'_, DB>,
    plot: &Rect,
    field: &Field,
) -> DrawResult<(), DB> {
    let columns = field.columns.max(1);
    let rows = field.cells.len() / columns;
    let finite = || field.cells.iter().copied().filter(|cell| cell.is_finite());
    let (least, most) = (
        finite().fold(f64::INFINITY, f64::min),
        finite().fold(f64::NEG_INFINITY, f64::max),
    );
    let (width, height) = (
        plot.width() / columns as f64,
        plot.height() / rows.max(1) as f64,
    );
    for (index, cell) in field
        .cells
        .iter()
        .enumerate()
        .filter(|(_, cell)| cell.is_finite())
    {
        let (column, row) = (index % columns, index / columns);
        let share = if most > least {
            (cell - least) / (most - least)
        } else {
            0.5
        };
        let left = pen.painter.snap(plot.left + column as f64 * width);
        let right = pen.painter.snap(plot.left + (column + 1) as f64 * width);
        let bottom = pen.painter.snap(plot.bottom - row as f64 * height);
        let top = pen.painter.snap(plot.bottom - (row + 1) as f64 * height);
        pen.painter.rect(
            (left, top),
            (right, bottom),
            pen.theme.sequence(share * 0.8),
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size {
        width: 260.0,
        height: 160.0,
        dpr: 1.0,
    };

    #[test]
    fn the_pointer_finds_the_nearest_point_that_is_drawn() {
        let dot = |x, y| Dot {
            x,
            y,
            colour: Rgb(0, 0, 0),
            is_filled: true,
        };
        let scatter = Scatter {
            across: Across::Numbers(Scale::Log),
            up: Across::Numbers(Scale::Linear),
            dots: vec![
                dot(1e-5, 0.1),
                dot(1e-2, 0.7),
                dot(-1.0, 0.4),
                dot(1e-3, f64::NAN),
            ],
            lines: Vec::new(),
            field: None,
        };
        let at = |index| {
            scatter
                .outline(SIZE, index)
                .map(|rect| (rect.left + 5.0, rect.top + 5.0))
        };
        let (x, y) = at(1).unwrap();
        assert_eq!(scatter.hit(SIZE, x + 2.0, y).map(|hit| hit.index), Some(1));
        assert_eq!((at(2), at(3)), (None, None));
        assert_eq!(scatter.hit(SIZE, 130.0, 80.0), None);
    }
}
