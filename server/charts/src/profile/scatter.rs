//! Points by two values, with a line through their middle, and cells of a surface behind them.

use super::{Chart, Hit};
use crate::frame::{Frame, Point, Rect, Ruler, Size};
use crate::label;
use crate::pen::{Ink, Pen};
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

impl Across {
    /// The axis over some values, or of a range, with its ticks.
    fn axis(
        &self,
        values: impl Iterator<Item = f64>,
        range: Option<(f64, f64)>,
    ) -> (Axis, Vec<(f64, String)>) {
        let scale = match self {
            Self::Numbers(scale) => *scale,
            Self::Names(names) => {
                let axis = Axis::new(-0.5, names.len().max(1) as f64 - 0.5, Scale::Linear);
                let places = (0..names.len()).map(|index| index as f64);
                return (axis, places.zip(names.iter().cloned()).collect());
            }
        };
        if let Some((lo, hi)) = range {
            let axis = Axis::new(lo, hi, scale);
            return (axis, ticks::of(&axis, TICKS).labelled());
        }
        let shown = values.filter(|value| scale.shows(*value));
        let (lo, hi) = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), value| {
            (lo.min(value), hi.max(value))
        });
        let (lo, hi) = if lo > hi { (0.0, 1.0) } else { (lo, hi) };
        let (axis, found) = ticks::widen(lo, hi, scale, TICKS);
        (axis, found.labelled())
    }
}

impl Scatter {
    fn frame(&self, size: Size) -> Frame {
        let range = |at: usize| self.field.as_ref().map(|field| field.ends[at]);
        let (x, x_ticks) = self
            .across
            .axis(self.dots.iter().map(|dot| dot.x), range(0));
        let (y, y_ticks) = self.up.axis(self.dots.iter().map(|dot| dot.y), range(1));
        let widest = label::widest(y_ticks.iter().map(|(_, text)| text));
        let left = (widest + 10.0).clamp(20.0, (size.width / 3.0).max(20.0));
        let plot = Rect {
            left,
            right: (size.width - 8.0).max(left + 1.0),
            top: 6.0,
            bottom: (size.height - 20.0).max(7.0),
        };
        Frame {
            plot,
            x: Ruler::new(x, (left, plot.right), x_ticks),
            y: Ruler::new(y, (plot.bottom, plot.top), y_ticks),
        }
    }
}

/// Position of values; `None` if an axis cannot show them.
fn place(frame: &Frame, (x, y): (f64, f64)) -> Option<Point> {
    Some((frame.x.px(x)?, frame.y.px(y)?))
}

impl Chart for Scatter {
    fn draw(&self, pen: &Pen<'_>) {
        let frame = self.frame(pen.size);
        let plot = &frame.plot;
        if let Some(field) = &self.field {
            field_cells(pen, plot, field);
        }
        pen.values(plot, &frame.y, self.field.is_none());
        pen.base(plot);
        let mut free = f64::NEG_INFINITY;
        for (x, text) in frame.x.places() {
            let half = label::width(text) / 2.0;
            if x - half >= free {
                pen.below(plot, x, text);
                free = x + half + 6.0;
            }
        }
        let (filled, hollow): (Vec<&Dot>, Vec<&Dot>) =
            self.dots.iter().partition(|dot| dot.is_filled);
        for dot in hollow {
            if let Some(at) = place(&frame, (dot.x, dot.y)) {
                pen.ring(at, RADIUS, 1.0, Ink(pen.theme.ink_3, 0.6));
            }
        }
        for dot in filled {
            if let Some(at) = place(&frame, (dot.x, dot.y)) {
                pen.disc(at, RADIUS + 0.75, pen.theme.surface);
                pen.disc(at, RADIUS, dot.colour);
            }
        }
        for line in &self.lines {
            let points = line.iter().filter_map(|at| place(&frame, *at));
            let points: Vec<Point> = points.collect();
            if points.len() > 1 {
                pen.path(&points, 1.5, pen.theme.ink_2);
            }
        }
    }

    fn hit(&self, size: Size, (x, y): Point) -> Option<Hit> {
        let frame = self.frame(size);
        let far = |dot: &Dot| {
            let at = place(&frame, (dot.x, dot.y))?;
            Some((at.0 - x).hypot(at.1 - y))
        };
        let near = self.dots.iter().enumerate();
        let near = near.filter_map(|(index, dot)| Some((far(dot)?, index)));
        let (distance, index) = near.min_by(|a, b| a.0.total_cmp(&b.0))?;
        (distance <= REACH).then_some(Hit { index, part: None })
    }

    fn outline(&self, size: Size, hit: Hit) -> Option<Rect> {
        let dot = self.dots.get(hit.index)?;
        let at = place(&self.frame(size), (dot.x, dot.y))?;
        Some(Rect::around(at, RADIUS + 2.0))
    }
}

/// Cells by their share of the range of all.
fn field_cells(pen: &Pen<'_>, plot: &Rect, field: &Field) {
    let columns = field.columns.max(1);
    let rows = field.cells.len() / columns;
    let finite = || field.cells.iter().copied().filter(|cell| cell.is_finite());
    let least = finite().fold(f64::INFINITY, f64::min);
    let most = finite().fold(f64::NEG_INFINITY, f64::max);
    let width = plot.width() / columns as f64;
    let height = plot.height() / rows.max(1) as f64;
    let cells = field.cells.iter().enumerate();
    for (index, cell) in cells.filter(|(_, cell)| cell.is_finite()) {
        let (column, row) = (index % columns, index / columns);
        let share = if most > least {
            (cell - least) / (most - least)
        } else {
            0.5
        };
        let left = pen.snap(plot.left + column as f64 * width);
        let right = pen.snap(plot.left + (column + 1) as f64 * width);
        let bottom = pen.snap(plot.bottom - row as f64 * height);
        let top = pen.snap(plot.bottom - (row + 1) as f64 * height);
        let ink = pen.theme.sequence(share * 0.8);
        pen.rect((left, top), (right, bottom), ink);
    }
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
                .outline(SIZE, Hit { index, part: None })
                .map(|rect| (rect.left + 5.0, rect.top + 5.0))
        };
        let (x, y) = at(1).unwrap();
        assert_eq!(
            scatter.hit(SIZE, (x + 2.0, y)).map(|hit| hit.index),
            Some(1)
        );
        assert_eq!((at(2), at(3)), (None, None));
        assert_eq!(scatter.hit(SIZE, (130.0, 80.0)), None);
    }
}
