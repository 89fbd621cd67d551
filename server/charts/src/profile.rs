//! Plots of profiles and of differences: parts of steps as stacked bars, steps as rows of phases, memory by category,
//! ranks as bars and as a map, distributions, curves over steps, points, and differences as a map.
//!
//! A [`Figure`] is plain data. Times are nanoseconds, sizes bytes; axes choose a unit.

mod counts;
mod curves;
mod differences;
mod grid;
mod map;
mod memory;
mod ranks;
mod rows;
mod scatter;
mod stack;

use plotters::prelude::{DrawResult, DrawingBackend};

use crate::frame::Point;
pub use crate::frame::{Rect, Size, Unit};
use crate::pen::{Pen, paint};
use crate::theme::{Rgb, Theme};

pub use counts::Counts;
pub use curves::{Curve, Curves};
pub use differences::{DifferenceCell, Differences, difference_colour};
pub use map::RankMap;
pub use memory::{Layer, Memory};
pub use ranks::{RankBar, RankPart, Ranks};
pub use rows::{Key, Row, Rows, Segment};
pub use scatter::{Across, Dot, Field, Scatter};
pub use stack::{Bar, Stack};

/// A colour of the theme.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Shade {
    /// A kind of time: position in [`Theme::times`].
    Time(usize),
    /// A share of a kind of time, 0 to 1, on the surface.
    Pale(usize, f64),
    /// Position in [`Theme::sequence`].
    Magnitude(usize),
    /// Findings.
    Warning,
    /// Limits.
    Error,
    /// Neutral marks.
    #[default]
    Plain,
}

impl Shade {
    /// Its colour in a theme; that of neutral marks for positions that do not exist.
    pub fn colour(self, theme: &Theme) -> Rgb {
        let time = |kind: usize| theme.times.get(kind).copied().unwrap_or(theme.edge);
        match self {
            Self::Time(kind) => time(kind),
            Self::Pale(kind, part) => theme.surface.mixed(time(kind), part.clamp(0.0, 1.0)),
            Self::Magnitude(at) => theme.sequence.get(at).copied().unwrap_or(theme.edge),
            Self::Warning => theme.warning,
            Self::Error => theme.error,
            Self::Plain => theme.edge,
        }
    }
}

/// Content of a plot.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// Parts of steps.
    Stack(Stack),
    /// Steps as rows of phases.
    Rows(Rows),
    /// Memory over time.
    Memory(Memory),
    /// Ranks side by side.
    Ranks(Ranks),
    /// Ranks × steps.
    Map(RankMap),
    /// Tensors × steps.
    Differences(Differences),
    /// A distribution.
    Counts(Counts),
    /// Curves over steps.
    Curves(Curves),
    /// Points by two values.
    Scatter(Scatter),
}

/// An element of a plot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hit {
    /// Bar, row, point or bin.
    pub index: usize,
    /// Part of the bar, segment of the row, layer at the point, or column of the map.
    pub part: Option<usize>,
}

/// The parts in which the plots differ.
trait Chart {
    fn draw(&self, pen: &Pen<'_>);
    /// The element at a position.
    fn hit(&self, size: Size, at: Point) -> Option<Hit>;
    /// The outline of an element.
    fn outline(&self, size: Size, hit: Hit) -> Option<Rect>;
}

impl Figure {
    fn chart(&self) -> &dyn Chart {
        match self {
            Self::Stack(stack) => stack,
            Self::Rows(rows) => rows,
            Self::Memory(memory) => memory,
            Self::Ranks(ranks) => ranks,
            Self::Map(map) => map,
            Self::Differences(differences) => differences,
            Self::Counts(counts) => counts,
            Self::Curves(curves) => curves,
            Self::Scatter(scatter) => scatter,
        }
    }

    /// Draws the plot. `font_scale` is 1 for a canvas.
    ///
    /// # Errors
    /// Errors of the backend.
    pub fn draw<DB: DrawingBackend>(
        &self,
        backend: DB,
        size: Size,
        theme: &Theme,
        font_scale: f64,
    ) -> DrawResult<(), DB> {
        paint(backend, size, theme, font_scale, |pen| self.paint(pen))
    }

    pub(crate) fn paint(&self, pen: &Pen<'_>) {
        self.chart().draw(pen);
    }

    /// The element at a position.
    pub fn hit(&self, size: Size, at: (f64, f64)) -> Option<Hit> {
        self.chart().hit(size.clamped(), at)
    }

    /// The outline of an element: of a bar, a row, a bin or a cell; of a point a vertical line.
    pub fn outline(&self, size: Size, hit: Hit) -> Option<Rect> {
        self.chart().outline(size.clamped(), hit)
    }
}
