//! Drawing of a map.

use plotters::prelude::{DrawResult, DrawingBackend};

use super::labels::Labels;
use super::{Gap, Map, Outline, Path, Point, tone};
use crate::frame::{Anchor, Frame, Rect, Size};
use crate::label;
use crate::pen::{Ink, Pen, paint};
use crate::theme::{Rgb, Theme};

/// Widths of the path and of the halo around it, CSS pixels.
const PATH: f64 = 2.0;
const HALO: f64 = 5.0;
/// Radius of a recorded state.
const DOT: f64 = 3.0;
/// Distance of the lines of a hatching, CSS pixels.
const HATCH: f64 = 6.0;
/// Maximum width of a colour in the key, and its height, CSS pixels.
const SWATCH: (f64, f64) = (30.0, 10.0);

impl Map {
    /// Draws the map. `font_scale` is 1 for a canvas.
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
        let frame = self.frame(pen.size);
        self.areas(pen, &frame);
        for gap in &self.gaps {
            hatched(pen, &frame, gap);
        }
        self.axes(pen, &frame);
        for path in self.paths.iter().rev() {
            line(pen, &frame, path);
        }
        self.texts(pen, &frame);
        if let Some(mark) = self.mark {
            let at = frame.place(mark);
            pen.ring(at, 5.0, 3.0, pen.theme.surface);
            pen.ring(at, 5.0, 1.5, pen.theme.ink);
        }
        self.key(pen, &frame.plot);
    }

    fn areas(&self, pen: &Pen<'_>, frame: &Frame) {
        let bands = self.above.len() + 1;
        filled(pen, frame, &self.area, tone(pen.theme, 0, bands));
        for (index, above) in self.above.iter().enumerate() {
            filled(pen, frame, above, tone(pen.theme, index + 1, bands));
        }
        if self.has_lines {
            let ink = Ink(pen.theme.surface, 0.55);
            for piece in self.lines.iter().flatten() {
                pen.path(&placed(frame, piece), 1.0, ink);
            }
        }
        for piece in self.limit.iter().flat_map(|limit| &limit.1) {
            pen.path(&placed(frame, piece), 1.25, Ink(pen.theme.ink, 0.75));
        }
    }

    fn axes(&self, pen: &Pen<'_>, frame: &Frame) {
        let (plot, theme) = (&frame.plot, pen.theme);
        let [first, second] = &self.names;
        // The name is in the row of the labels, at its end.
        let free = plot.right - label::width(first) - 8.0;
        for (x, text) in frame.x.places() {
            let x = pen.snap(x);
            pen.vertical(x, (plot.bottom, plot.bottom + 4.0), theme.base);
            if first.is_empty() || x + label::width(text) / 2.0 < free {
                pen.below(plot, x, text);
            }
        }
        let at = (plot.right, plot.bottom + 12.0);
        pen.text(at, Anchor::End, first, theme.ink_3);
        for (y, text) in frame.y.places() {
            let at = (plot.left - 7.0, y);
            pen.text(at, Anchor::End, text, theme.ink_3);
        }
        if !second.is_empty() {
            let at = (plot.left + 5.0, plot.top + 9.0);
            pen.over(at, Anchor::Start, second, theme.ink_3);
        }
    }

    fn texts(&self, pen: &Pen<'_>, frame: &Frame) {
        let mut labels = Labels::new(frame);
        labels.name_of_axis(&self.names[1]);
        for path in &self.paths {
            labels.path(path);
        }
        let end = self.paths.first().and_then(|path| path.end);
        if let Some((text, lines)) = &self.limit {
            labels.level(text, lines, end);
        }
        if self.has_lines {
            let levels = self.texts.iter().zip(&self.lines);
            for (text, lines) in levels.skip(1).step_by(3) {
                labels.level(text, lines, end);
            }
        }
        for (at, text) in labels.placed() {
            pen.over(*at, Anchor::Middle, text, pen.theme.ink);
        }
    }

    fn key(&self, pen: &Pen<'_>, plot: &Rect) {
        let Some((least, name)) = &self.key else {
            return;
        };
        let theme = pen.theme;
        let top = pen.size.height - 28.0;
        let at = (plot.left, top + 5.0);
        pen.text(at, Anchor::Start, name, theme.ink_3);
        let named = label::width(name);
        let left = plot.left + if named > 0.0 { named + 10.0 } else { 14.0 };
        let bands = self.above.len() + 1;
        let room = (pen.size.width - left - 8.0).max(1.0);
        let wide = (room / bands as f64).min(SWATCH.0);
        let texts = [least].into_iter().chain(&self.texts);
        let mut free = f64::NEG_INFINITY;
        for (band, text) in texts.enumerate() {
            let x = left + band as f64 * wide;
            let to = (x + (wide - 1.0).max(1.0), top + SWATCH.1);
            pen.rect((x, top), to, tone(theme, band, bands));
            let half = label::width(text) / 2.0;
            if x - half < free {
                continue;
            }
            pen.text((x, top + 19.0), Anchor::Middle, text, theme.ink_3);
            free = x + half + 10.0;
        }
    }
}

fn placed(frame: &Frame, points: &[Point]) -> Vec<(f64, f64)> {
    points.iter().map(|point| frame.place(*point)).collect()
}

/// Fills outlines as one polygon. The way to each further outline is taken back in the end, and has no area: edges of
/// cells are invisible, and holes stay open.
fn filled(pen: &Pen<'_>, frame: &Frame, outlines: &[Outline], colour: Rgb) {
    let mut all = Vec::new();
    let mut firsts = Vec::new();
    for outline in outlines.iter().filter(|outline| outline.len() > 2) {
        let points = placed(frame, outline);
        let first = points.first().copied();
        all.extend(points);
        all.extend(first);
        firsts.extend(first);
    }
    all.extend(firsts.into_iter().rev());
    if all.is_empty() {
        return;
    }
    pen.polygon(&all, colour);
}

/// A cell with lines of the colour of its class.
fn hatched(pen: &Pen<'_>, frame: &Frame, (from, to, is_nan): &Gap) {
    let ((left, bottom), (right, top)) = (frame.place(*from), frame.place(*to));
    let colour = class_colour(pen.theme, *is_nan);
    let part = if right - left < HATCH || bottom - top < HATCH {
        0.5
    } else {
        0.14
    };
    let cell = Rect {
        left,
        top,
        right,
        bottom,
    };
    pen.area(&cell, Ink(colour, part));
    if part > 0.2 {
        return;
    }
    for (from, to) in hatching(&cell) {
        pen.path(&[from, to], 1.0, colour);
    }
}

/// Colour of NaN or of infinities.
pub(crate) fn class_colour(theme: &Theme, is_nan: bool) -> Rgb {
    if is_nan { theme.nan } else { theme.inf }
}

/// Diagonals of a rectangle that meet those of its neighbours.
fn hatching(cell: &Rect) -> Vec<(Point, Point)> {
    let mut lines = Vec::new();
    // Along a diagonal, x + y is constant.
    let mut sum = ((cell.left + cell.top) / HATCH).ceil() * HATCH;
    while sum < cell.right + cell.bottom {
        let from = (sum - cell.bottom).max(cell.left);
        let to = (sum - cell.top).min(cell.right);
        lines.push(((from, sum - from), (to, sum - to)));
        sum += HATCH;
    }
    lines
}

/// The line of a path, its states, its start and its end.
fn line(pen: &Pen<'_>, frame: &Frame, path: &Path) {
    let theme = pen.theme;
    let states: Vec<(f64, f64)> = path
        .states
        .iter()
        .map(|state| state.0)
        .filter(|(x, y)| x.is_finite() && y.is_finite())
        .map(|point| frame.place(point))
        .collect();
    if states.len() > 1 {
        pen.path(&states, HALO, theme.halo());
        pen.path(&states, PATH, path.colour);
    }
    for state in states.iter().skip(1) {
        pen.disc(*state, DOT + 1.25, theme.halo());
        pen.disc(*state, DOT, path.colour);
    }
    if let Some(first) = states.first() {
        pen.disc(*first, 5.0, theme.surface);
        pen.ring(*first, 4.5, 1.75, theme.ink);
    }
    if let Some(end) = path.end {
        let end = frame.place(end);
        pen.disc(end, 9.5, theme.halo());
        pen.disc(end, 5.0, path.colour);
        pen.ring(end, 8.0, 1.5, path.colour);
    }
}
