//! The strokes that plots of profiles share: axes, labels of steps, dashed lines, texts over data.

use plotters::prelude::{DrawResult, DrawingBackend};

use super::axes::Ruler;
use super::{Rect, Size, stride};
use crate::label;
use crate::paint::{Anchor, Ink, Painter};
use crate::theme::Theme;

/// Dash and gap of a line, CSS pixels.
const DASH: (f64, f64) = (4.0, 3.0);
/// Maximum number of dashes of a line.
const MAX_DASHES: u32 = 2_000;
/// Distance of the labels of steps, CSS pixels.
const STEP_LABELS: f64 = 72.0;

pub(crate) struct Pen<'a, DB: DrawingBackend> {
    pub(crate) painter: Painter<'a, DB>,
    pub(crate) theme: &'a Theme,
    pub(crate) size: Size,
}

impl<'a, DB: DrawingBackend> Pen<'a, DB> {
    pub(crate) fn new(backend: DB, size: Size, theme: &'a Theme, font_scale: f64) -> Self {
        Self {
            painter: Painter::new(backend, size.dpr, &theme.font, font_scale),
            theme,
            size,
        }
    }

    pub(crate) fn present(&self) -> DrawResult<(), DB> {
        self.painter.present()
    }

    /// Horizontal grid with labels at the left, and the base line.
    pub(super) fn values(&self, plot: &Rect, ruler: &Ruler) -> DrawResult<(), DB> {
        for (value, text) in &ruler.ticks {
            let y = ruler.at(*value);
            let across = (plot.left, plot.right);
            self.painter.horizontal(across, y, self.theme.grid)?;
            let at = (plot.left - 6.0, y);
            self.painter.text(at, Anchor::End, text, self.theme.ink_3)?;
        }
        self.base(plot)
    }

    pub(super) fn base(&self, plot: &Rect) -> DrawResult<(), DB> {
        let across = (plot.left, plot.right);
        self.painter
            .horizontal(across, plot.bottom, self.theme.base)
    }

    /// Vertical grid with labels below.
    pub(super) fn times(&self, plot: &Rect, ruler: &Ruler) -> DrawResult<(), DB> {
        for (value, text) in &ruler.ticks {
            let x = self.painter.snap(ruler.at(*value));
            let to = (x + self.painter.hair(), plot.bottom);
            self.painter.rect((x, plot.top), to, self.theme.grid)?;
            self.below(plot, x, text)?;
        }
        Ok(())
    }

    /// A label below the plot, that stays within the picture.
    pub(crate) fn below(&self, plot: &Rect, x: f64, text: &str) -> DrawResult<(), DB> {
        let half = label::width(text) / 2.0;
        let (anchor, x) = if x + half > self.size.width {
            (Anchor::End, self.size.width - 1.0)
        } else if x < half {
            (Anchor::Start, 1.0)
        } else {
            (Anchor::Middle, x)
        };
        let at = (x, plot.bottom + 12.0);
        self.painter.text(at, anchor, text, self.theme.ink_3)
    }

    /// Labels of columns of equal width, as many as there is room for.
    pub(super) fn columns(&self, plot: &Rect, labels: &[String]) -> DrawResult<(), DB> {
        let pitch = plot.width() / (labels.len().max(1)) as f64;
        let stride = stride(pitch, STEP_LABELS);
        for (index, text) in labels.iter().enumerate().step_by(stride) {
            let x = plot.left + (index as f64 + 0.5) * pitch;
            self.below(plot, x, text)?;
        }
        Ok(())
    }

    pub(super) fn dashed_across(
        &self,
        (from, to): (f64, f64),
        y: f64,
        ink: impl Into<Ink> + Copy,
    ) -> DrawResult<(), DB> {
        for at in dashes(from, to) {
            self.painter
                .horizontal((at, (at + DASH.0).min(to)), y, ink)?;
        }
        Ok(())
    }

    pub(super) fn dashed_down(
        &self,
        x: f64,
        (from, to): (f64, f64),
        ink: impl Into<Ink> + Copy,
    ) -> DrawResult<(), DB> {
        let x = self.painter.snap(x);
        for at in dashes(from, to) {
            let end = (x + self.painter.hair(), (at + DASH.0).min(to));
            self.painter.rect((x, at), end, ink)?;
        }
        Ok(())
    }

    /// A frame around a cell.
    pub(super) fn frame(&self, cell: Rect) -> DrawResult<(), DB> {
        let (left, right) = (cell.left - 1.5, cell.right + 1.5);
        let (top, bottom) = (cell.top - 1.5, cell.bottom + 1.5);
        let outline = [
            (left, top),
            (right, top),
            (right, bottom),
            (left, bottom),
            (left, top),
        ];
        self.painter.path(&outline, 1.75, self.theme.ink)
    }

    /// A text over data: the surface shines through behind it.
    pub(crate) fn over(
        &self,
        (x, y): (f64, f64),
        anchor: Anchor,
        text: &str,
        ink: impl Into<Ink>,
    ) -> DrawResult<(), DB> {
        let width = label::width(text);
        let left = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width / 2.0,
            Anchor::End => x - width,
        };
        let (from, to) = ((left - 2.0, y - 7.0), (left + width + 2.0, y + 7.0));
        self.painter.rect(from, to, Ink(self.theme.surface, 0.88))?;
        self.painter.text((x, y), anchor, text, ink)
    }
}

/// Starts of the dashes of a line.
fn dashes(from: f64, to: f64) -> impl Iterator<Item = f64> {
    let dashes = (0..MAX_DASHES).map(move |dash| from + f64::from(dash) * (DASH.0 + DASH.1));
    dashes.take_while(move |at| *at < to)
}
