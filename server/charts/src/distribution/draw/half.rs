//! Marks at the ends of half precision (fp16).

use super::Chart;
use crate::frame::Anchor;
use crate::label;
use crate::pen::DASH;

/// Range of half precision: values outside become infinite.
const HALF: [(f64, &str); 2] = [(65_504.0, "fp16 65,504"), (-65_504.0, "fp16 −65,504")];
/// Height of a line of text and its distance from a line, pixels.
const TEXT_HEIGHT: f64 = 14.0;

impl Chart<'_> {
    /// Marks the limits of half precision, if values come close. Labels are outside of both limits, away from each
    /// other, unless there is no room for them.
    pub(super) fn half(&self) {
        let plot = &self.at.plot;
        let is_across = self.spec.view.has_values_across();
        let mut first: Option<(f64, f64, f64)> = None;
        for (value, text) in HALF {
            let (line, mut at, anchor) = if is_across {
                let x = self.at.x.px(value);
                let Some(x) = x.filter(|x| *x > plot.left && *x < plot.right) else {
                    continue;
                };
                let width = label::width(text) + 4.0;
                let is_left = if value < 0.0 {
                    x - width > plot.left
                } else {
                    x + width > plot.right
                };
                let (x_text, anchor) = if is_left {
                    (x - 4.0, Anchor::End)
                } else {
                    (x + 4.0, Anchor::Start)
                };
                (
                    [(x, plot.top), (x, plot.bottom)],
                    (x_text, plot.top + 6.0),
                    anchor,
                )
            } else {
                let y = self.at.y.px(value);
                let Some(y) = y.filter(|y| *y > plot.top && *y < plot.bottom) else {
                    continue;
                };
                let is_below = if value < 0.0 {
                    y + TEXT_HEIGHT < plot.bottom
                } else {
                    y - TEXT_HEIGHT < plot.top
                };
                let y_text = if is_below { y + 8.0 } else { y - 8.0 };
                (
                    [(plot.left, y), (plot.right, y)],
                    (plot.left + 4.0, y_text),
                    Anchor::Start,
                )
            };
            self.pen.dashed(&line, DASH, 1.0, self.pen.theme.inf);
            let width = label::width(text);
            let left = anchor.span(at.0, width).0;
            // At one edge of the plot both are on the same side: the second is moved.
            let meets = |(from, to, y): (f64, f64, f64)| {
                left < to && from < left + width && (at.1 - y).abs() < TEXT_HEIGHT
            };
            if let Some((_, _, y)) = first.filter(|first| meets(*first)) {
                let is_low = at.1 > f64::midpoint(plot.top, plot.bottom);
                at.1 = y + if is_low { -TEXT_HEIGHT } else { TEXT_HEIGHT };
            }
            first = Some((left, left + width, at.1));
            self.pen.text(at, anchor, text, self.pen.theme.inf);
        }
    }
}
