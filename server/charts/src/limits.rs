//! Limits set by the user: a dashed line for each, and values beyond them in red.

use crate::frame::{Anchor, Rect};
use crate::label;
use crate::line::{DOT_RADIUS, LimitLine, Line, Plot};
use crate::path;
use crate::pen::{DASH, Ink};

/// Minimum width of the highlighted part of an envelope, and its opacity.
const PEAK_WIDTH: f64 = 1.5;
const PEAK_ALPHA: f64 = 0.6;
/// Distance of a limit's text from its line.
const TEXT_ABOVE: f64 = 8.0;

impl Plot<'_> {
    /// Draws the parts of a line beyond a limit over the line itself, clipped to the range of such values.
    pub(crate) fn beyond(&self, line: &Line) {
        let pen = self.pen;
        for &range in &line.beyond {
            let Some(rect) = self.rows(range) else {
                continue;
            };
            for stretch in self.columns(line) {
                let is_seen = |&(_, (upper, lower)): &(f64, (f64, f64))| {
                    upper < rect.bottom && lower > rect.top
                };
                for part in stretch.chunk_by(|a, b| is_seen(a) == is_seen(b)) {
                    if part.first().is_some_and(is_seen) {
                        self.peaks(part, &rect);
                    }
                }
            }
            let lists = [(&line.raw, 1.0), (&line.values, line.width())];
            for (values, width) in lists {
                for stretch in self.pixels(line, values) {
                    let thinned = path::thin(&stretch, self.geometry.column());
                    for part in path::clip(&thinned, &rect) {
                        match part[..] {
                            [only] => pen.disc(only, DOT_RADIUS, pen.theme.error),
                            _ => pen.path(&part, width, pen.theme.error),
                        }
                    }
                }
            }
        }
    }

    /// The part of an envelope beyond a limit; at least a pixel wide, to be visible.
    fn peaks(&self, part: &[(f64, (f64, f64))], rect: &Rect) {
        let mut part = part.to_vec();
        if let (Some(first), Some(last)) = (part.first().copied(), part.last().copied())
            && last.0 - first.0 < PEAK_WIDTH
        {
            let spare = (PEAK_WIDTH - (last.0 - first.0)) / 2.0;
            part.insert(0, (first.0 - spare, first.1));
            part.push((last.0 + spare, last.1));
        }
        let outline = path::band(&part, self.geometry.column(), rect);
        if outline.is_empty() {
            return;
        }
        let ink = Ink(self.pen.theme.error, PEAK_ALPHA);
        self.pen.polygon(&outline, ink);
    }

    /// The part of the plot that holds a range of values.
    fn rows(&self, (lo, hi): (f64, f64)) -> Option<Rect> {
        let plot = &self.geometry.plot;
        let px = |bound: f64, edge: f64| {
            let at = self.geometry.y.px(bound).unwrap_or(edge);
            at.clamp(plot.top, plot.bottom.max(plot.top))
        };
        let (top, bottom) = (px(hi, plot.top), px(lo, plot.bottom));
        (top < bottom).then_some(Rect {
            top,
            bottom,
            ..*plot
        })
    }

    /// A dashed line with its text above the right end; an arrow instead if it is outside of the plot.
    pub(crate) fn limits(&self, limits: &[LimitLine]) {
        let pen = self.pen;
        let plot = &self.geometry.plot;
        for limit in limits {
            let ink = if limit.is_passed {
                pen.theme.error
            } else {
                pen.theme.ink_2
            };
            let at = self.geometry.y.px(limit.value);
            let (y, arrow) = match at {
                Some(y) if y < plot.top => (plot.top, "↑ "),
                Some(y) if y <= plot.bottom => (y, ""),
                _ => (plot.bottom, "↓ "),
            };
            if arrow.is_empty() {
                let ends = [(plot.left, y), (plot.right, y)];
                pen.dashed(&ends, DASH, 1.0, ink);
            }
            if limit.text.is_empty() {
                continue;
            }
            let text = format!("{arrow}{}", limit.text);
            let above = if y - TEXT_ABOVE - 7.0 < plot.top {
                y + TEXT_ABOVE
            } else {
                y - TEXT_ABOVE
            };
            let left = plot.right - label::width(&text) - 4.0;
            let ground = Ink(pen.theme.surface, 0.8);
            pen.rect((left, above - 7.0), (plot.right, above + 7.0), ground);
            pen.text((plot.right, above), Anchor::End, &text, ink);
        }
    }
}
