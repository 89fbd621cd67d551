//! Marks at the ends of half precision (fp16).

use plotters::prelude::{DrawResult, DrawingBackend};

use super::super::View;
use super::Pen;
use crate::label;
use crate::paint::Anchor;

/// Range of half precision: values outside become infinite.
const HALF: [(f64, &str); 2] = [(65_504.0, "fp16 65,504"), (-65_504.0, "fp16 −65,504")];
/// Height of a line of text and its distance from a line, pixels.
const TEXT_HEIGHT: f64 = 14.0;

impl<DB: DrawingBackend> Pen<'_, DB> {
    /// Marks the limits of half precision, if values come close. Labels are outside of both limits, away from each
    /// other, unless there is no room for them.
    pub(super) fn half(&self) -> DrawResult<(), DB> {
        let plot = &self.at.plot;
        let is_across = matches!(self.spec.view, View::Offset | View::Overlay);
        let mut first: Option<(f64, f64, f64)> = None;
        for (value, text) in HALF {
            let (line, mut at, anchor) = if is_across {
                let x = self.at.value_x(value);
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
                let y = self.at.value_y(value);
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
            for dash in crate::path::dash(&line, 4.0, 3.0, 0.0) {
                self.painter.path(&dash, 1.0, self.theme.inf)?;
            }
            let width = label::width(text);
            let left = if anchor == Anchor::End {
                at.0 - width
            } else {
                at.0
            };
            // At one edge of the plot both are on the same side: the second is moved.
            let meets = |(from, to, y): (f64, f64, f64)| {
                left < to && from < left + width && (at.1 - y).abs() < TEXT_HEIGHT
            };
            if let Some((_, _, y)) = first.filter(|first| meets(*first)) {
                let is_low = at.1 > f64::midpoint(plot.top, plot.bottom);
                at.1 = y + if is_low { -TEXT_HEIGHT } else { TEXT_HEIGHT };
            }
            first = Some((left, left + width, at.1));
            self.painter.text(at, anchor, text, self.theme.inf)?;
        }
        Ok(())
    }
}
