//! Plots of profiles and of differences: parts of steps as stacked bars, steps as rows of phases, memory by category,
//! ranks as bars and as a map, distributions, curves over steps, points, and differences as a map.
//!
//! A [`Figure`] is plain data. Times are nanoseconds, sizes bytes; axes choose a unit.

pub(crate) mod axes;
mod counts;
mod curves;
mod differences;
mod grid;
mod map;
mod memory;
pub(crate) mod pen;
mod ranks;
mod rows;
mod scatter;
mod stack;

use plotters::prelude::{DrawResult, DrawingBackend};

use crate::theme::{Rgb, Theme};

pub use axes::Unit;
pub use counts::Counts;
pub use curves::{Curve, Curves};
pub use differences::{DifferenceCell, Differences, difference_colour};
pub use map::RankMap;
pub use memory::{Layer, Memory};
pub use ranks::{RankBar, RankPart, Ranks};
pub use rows::{Key, Row, Rows, Segment};
pub use scatter::{Across, Dot, Field, Scatter};
pub use stack::{Bar, Stack};

use pen::Pen;

/// Maximum side of a plot, CSS pixels.
const MAX_SIDE: f64 = 32_768.0;

/// Size of a plot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// Width in CSS pixels.
    pub width: f64,
    /// Height in CSS pixels.
    pub height: f64,
    /// Device pixels for one CSS pixel.
    pub dpr: f64,
}

impl Size {
    /// Limits the size to that of screens; 0 for NaN.
    pub(crate) fn clamped(self) -> Self {
        let side = |side: f64| if side > 0.0 { side.min(MAX_SIDE) } else { 0.0 };
        Self {
            width: side(self.width),
            height: side(self.height),
            ..self
        }
    }
}

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

/// A rectangle in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub left: f64,
    /// Top edge.
    pub top: f64,
    /// Right edge.
    pub right: f64,
    /// Bottom edge.
    pub bottom: f64,
}

impl Rect {
    pub(crate) fn width(&self) -> f64 {
        (self.right - self.left).max(0.0)
    }

    pub(crate) fn height(&self) -> f64 {
        (self.bottom - self.top).max(0.0)
    }

    pub(crate) fn has(&self, x: f64, y: f64) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }
}

impl Figure {
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
        let size = size.clamped();
        let pen = Pen::new(backend, size, theme, font_scale);
        match self {
            Self::Stack(stack) => stack.draw(&pen)?,
            Self::Rows(rows) => rows.draw(&pen)?,
            Self::Memory(memory) => memory.draw(&pen)?,
            Self::Ranks(ranks) => ranks.draw(&pen)?,
            Self::Map(map) => map.draw(&pen)?,
            Self::Differences(differences) => differences.draw(&pen)?,
            Self::Counts(counts) => counts.draw(&pen)?,
            Self::Curves(curves) => curves.draw(&pen)?,
            Self::Scatter(scatter) => scatter.draw(&pen)?,
        }
        pen.present()
    }

    /// The element at a position.
    pub fn hit(&self, size: Size, (x, y): (f64, f64)) -> Option<Hit> {
        let size = size.clamped();
        match self {
            Self::Stack(stack) => stack.hit(size, x, y),
            Self::Rows(rows) => rows.hit(size, x, y),
            Self::Memory(memory) => memory.hit(size, x, y),
            Self::Ranks(ranks) => ranks.hit(size, x, y),
            Self::Map(map) => map.hit(size, x, y),
            Self::Differences(differences) => differences.hit(size, x, y),
            Self::Counts(counts) => counts.hit(size, x, y),
            Self::Curves(curves) => curves.hit(size, x, y),
            Self::Scatter(scatter) => scatter.hit(size, x, y),
        }
    }

    /// The outline of an element: of a bar, a row, a bin or a cell; of a point a vertical line.
    pub fn outline(&self, size: Size, hit: Hit) -> Option<Rect> {
        let size = size.clamped();
        match self {
            Self::Stack(stack) => stack.outline(size, hit.index),
            Self::Rows(rows) => rows.outline(size, hit.index),
            Self::Memory(memory) => memory.outline(size, hit.index),
            Self::Ranks(ranks) => ranks.outline(size, hit.index),
            Self::Map(map) => map.outline(size, hit.index, hit.part?),
            Self::Differences(differences) => differences.outline(size, hit.index, hit.part?),
            Self::Counts(counts) => counts.outline(size, hit.index),
            Self::Curves(curves) => curves.outline(size, hit.index),
            Self::Scatter(scatter) => scatter.outline(size, hit.index),
        }
    }
}

/// Index of the cell at a position, of `count` equal cells that begin at `from`; `None` outside.
fn cell(at: f64, from: f64, pitch: f64, count: usize) -> Option<usize> {
    let index = ((at - from) / pitch).floor();
    if !(0.0..count as f64).contains(&index) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be within the count"
    )]
    let index = index as usize;
    Some(index)
}

/// Distance of labels, in entries, for a minimum distance in pixels: 1, 2 or 5 times a power of ten.
fn stride(pitch: f64, apart: f64) -> usize {
    let least = apart / pitch.max(1e-3);
    let mut power = 1_usize;
    for _ in 0..9 {
        for factor in [1, 2, 5] {
            let stride = power * factor;
            if stride as f64 >= least {
                return stride;
            }
        }
        power *= 10;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_as_far_apart_as_they_must() {
        assert_eq!((stride(20.0, 60.0), stride(1.4, 60.0)), (5, 50));
        assert_eq!(stride(100.0, 60.0), 1);
        assert_eq!(stride(0.0, 60.0), 100_000);
        assert_eq!(stride(f64::NAN, 60.0), 100_000);
    }

    #[test]
    fn cells_end_where_they_end() {
        assert_eq!(cell(10.0, 10.0, 2.0, 3), Some(0));
        assert_eq!(cell(15.9, 10.0, 2.0, 3), Some(2));
        assert_eq!(cell(16.0, 10.0, 2.0, 3), None);
        assert_eq!(cell(9.9, 10.0, 2.0, 3), None);
        assert_eq!(cell(12.0, 10.0, 0.0, 3), None);
    }
}
