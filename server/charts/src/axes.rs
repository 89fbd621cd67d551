//! Axes around a plot: grids, base lines and labels, the same for all charts.

use crate::frame::{Anchor, Bands, Frame, Rect, Ruler, Tick};
use crate::label;
use crate::pen::Pen;

/// Minimum distance of the labels of columns, CSS pixels.
const COLUMN_LABELS: f64 = 72.0;
/// Distance of labels from the left and from the bottom of a plot, CSS pixels.
const BESIDE: f64 = 6.0;
pub(crate) const BELOW: f64 = 12.0;

impl Pen<'_> {
    /// The horizontal grid of a frame with its labels.
    pub(crate) fn frame(&self, frame: &Frame) {
        self.values(&frame.plot, &frame.y, true);
        self.base(&frame.plot);
        self.along(&frame.plot, &frame.x, false);
    }

    /// Labels at the left, with or without a horizontal grid.
    pub(crate) fn values(&self, plot: &Rect, ruler: &Ruler, has_grid: bool) {
        for (y, text) in ruler.places() {
            if has_grid {
                self.horizontal((plot.left, plot.right), y, self.theme.grid);
            }
            let at = (plot.left - BESIDE, y);
            self.text(at, Anchor::End, text, self.theme.ink_3);
        }
    }

    pub(crate) fn base(&self, plot: &Rect) {
        self.horizontal((plot.left, plot.right), plot.bottom, self.theme.base);
    }

    /// Labels below, with or without a vertical grid.
    pub(crate) fn along(&self, plot: &Rect, ruler: &Ruler, has_grid: bool) {
        for (x, text) in ruler.places() {
            let x = if has_grid { self.snap(x) } else { x };
            if has_grid {
                self.vertical(x, (plot.top, plot.bottom), self.theme.grid);
            }
            self.below(plot, x, text);
        }
    }

    /// A label below the plot, that stays within the picture.
    pub(crate) fn below(&self, plot: &Rect, x: f64, text: &str) {
        let half = label::width(text) / 2.0;
        let (anchor, x) = if x + half > self.size.width {
            (Anchor::End, self.size.width - 1.0)
        } else if x < half {
            (Anchor::Start, 1.0)
        } else {
            (Anchor::Middle, x)
        };
        let at = (x, plot.bottom + BELOW);
        self.text(at, anchor, text, self.theme.ink_3);
    }

    /// Labels of columns of equal width below the plot, as many as there is room for.
    pub(crate) fn columns(&self, plot: &Rect, labels: &[String]) {
        let columns = Bands::new((plot.left, plot.right), labels.len(), f64::INFINITY);
        let stride = columns.stride(COLUMN_LABELS);
        for (index, text) in labels.iter().enumerate().step_by(stride) {
            self.below(plot, columns.middle(index), text);
        }
    }

    /// Labels at places of their choice in a row, with or without a vertical grid.
    pub(crate) fn ticks(&self, plot: &Rect, ticks: &[Tick], y: f64, has_grid: bool) {
        for tick in ticks {
            if has_grid {
                self.vertical(tick.at, (plot.top, plot.bottom), self.theme.grid);
            }
            self.text((tick.at, y), tick.anchor, &tick.text, self.theme.ink_3);
        }
    }
}
