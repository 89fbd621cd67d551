//! A line plot: envelopes, lines, and a lane for values that no axis can show.
//!
//! The input is plain data in the units of the axes. Drawing order is: grid, all envelopes, raw points, all lines with
//! the main one last, then the marks of non-finite values. Gaps are not bridged.

use plotters::prelude::{DrawResult, DrawingBackend};

use crate::frame::Point;
use crate::geometry::Geometry;
use crate::path;
use crate::pen::{Ink, Pen, paint};
pub use crate::spec::{Class, LimitLine, Line, Spec, Stretch, Stroke, XKind, YRange};
use crate::theme::Theme;

/// Minimum mean distance of points, in CSS pixels, at which each gets a dot.
const DOT_SPACING: f64 = 3.0;
pub(crate) const DOT_RADIUS: f64 = 1.75;
const RAW_ALPHA: f64 = 0.35;
pub(crate) const CROSS: f64 = 3.5;

/// Draws the plot. `font_scale` is 1 for a canvas; see [`crate::svg`].
///
/// # Errors
/// Errors of the backend.
pub fn draw<DB: DrawingBackend>(
    backend: DB,
    spec: &Spec,
    geometry: &Geometry,
    theme: &Theme,
    font_scale: f64,
) -> DrawResult<(), DB> {
    paint(backend, geometry.size(), theme, font_scale, |pen| {
        Plot::draw(pen, spec, geometry);
    })
}

/// In the order given, the main line last.
fn order(lines: &[Line]) -> Vec<&Line> {
    let (mut main, mut others): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.is_main);
    others.append(&mut main);
    others
}

/// A plot during drawing.
pub(crate) struct Plot<'a> {
    pub(crate) pen: &'a Pen<'a>,
    pub(crate) geometry: &'a Geometry,
    x_kind: XKind,
}

impl<'a> Plot<'a> {
    pub(crate) fn draw(pen: &'a Pen<'a>, spec: &Spec, geometry: &'a Geometry) {
        let plot = Self {
            pen,
            geometry,
            x_kind: spec.x_kind,
        };
        plot.frame();
        let order = order(&spec.lines);
        for &line in &order {
            plot.envelope(line);
        }
        for &line in &order {
            plot.line(line);
        }
        for &line in &order {
            plot.beyond(line);
        }
        plot.limits(&spec.limits);
        plot.lane(&spec.lines);
        plot.infinities(&spec.lines);
        for &line in &order {
            plot.live_end(line);
        }
    }

    /// Grid, base lines and labels.
    fn frame(&self) {
        let (at, pen) = (self.geometry, self.pen);
        let sides = (at.plot.left, at.plot.right);
        pen.values(&at.plot, &at.y, true);
        pen.base(&at.plot);
        pen.horizontal(sides, at.lane_bottom(), pen.theme.grid);
        pen.ticks(&at.plot, &at.x_ticks, at.label_y(), false);
    }

    fn point(&self, line: &Line, index: usize, values: &[f64]) -> Option<f64> {
        let value = *values.get(index)?;
        self.geometry.x.px(*line.x.get(index)?)?;
        self.geometry.y.px(value)
    }

    /// Connected parts of the line; if x is another scalar they may go back.
    pub(crate) fn pixels(&self, line: &Line, values: &[f64]) -> Vec<Vec<Point>> {
        let points = line
            .x
            .iter()
            .enumerate()
            .map(|(index, &x)| (self.geometry.x_px(x), self.point(line, index, values)));
        path::stretches(points, self.x_kind == XKind::Value)
    }

    /// Connected parts of the envelope: x, upper and lower edge.
    pub(crate) fn columns(&self, line: &Line) -> Vec<Vec<(f64, (f64, f64))>> {
        // On a logarithmic axis a column that reaches zero or below is cut at the bottom.
        let floor = self.geometry.plot.bottom;
        let columns = line.x.iter().enumerate().map(|(index, &x)| {
            let edges = self.point(line, index, &line.high).map(|high| {
                let low = self.point(line, index, &line.low).unwrap_or(floor);
                (high, low)
            });
            (self.geometry.x_px(x), edges)
        });
        path::stretches(columns, false)
    }

    fn envelope(&self, line: &Line) {
        for stretch in self.columns(line) {
            let outline = path::band(&stretch, self.geometry.column(), &self.geometry.plot);
            if !outline.is_empty() {
                let ink = Ink(line.colour, self.pen.theme.envelope_alpha);
                self.pen.polygon(&outline, ink);
            }
        }
    }

    fn line(&self, line: &Line) {
        let dots = line.is_raw && self.spacing(line) >= DOT_SPACING;
        if !line.raw.is_empty() {
            let ink = Ink(line.colour, RAW_ALPHA);
            self.strokes(line, &line.raw, 1.0, ink, Stroke::Solid);
        }
        let ink = Ink::from(line.colour);
        self.strokes(line, &line.values, line.width(), ink, line.stroke);
        if dots {
            let values = if line.raw.is_empty() {
                &line.values
            } else {
                &line.raw
            };
            for point in self.pixels(line, values).into_iter().flatten() {
                if self.geometry.plot.contains(point.0, point.1) {
                    self.pen.disc(point, DOT_RADIUS, line.colour);
                }
            }
        }
    }

    fn strokes(&self, line: &Line, values: &[f64], width: f64, ink: Ink, stroke: Stroke) {
        let pen = self.pen;
        for stretch in self.pixels(line, values) {
            let thinned = path::thin(&stretch, self.geometry.column());
            for part in path::clip(&thinned, &self.geometry.plot) {
                if let [only] = part[..] {
                    pen.disc(only, DOT_RADIUS, ink);
                    continue;
                }
                match stroke {
                    Stroke::Solid => pen.path(&part, width, ink),
                    Stroke::Dashed => pen.dashed(&part, (5.0, 4.0, 0.0), width, ink),
                    Stroke::Shared { index, of } => {
                        let (index, of) = (f64::from(index), f64::from(of.max(2)));
                        // The pattern is shifted so that this run's dash is the index-th.
                        let phase = (of - index) * 6.0;
                        pen.dashed(&part, (6.0, 6.0 * (of - 1.0), phase), width, ink);
                    }
                }
            }
        }
    }

    /// Mean distance of the points in view.
    fn spacing(&self, line: &Line) -> f64 {
        let plot = &self.geometry.plot;
        let seen = line
            .x
            .iter()
            .filter(|&&x| (plot.left..=plot.right).contains(&self.geometry.x_px(x)))
            .count();
        plot.width() / (seen.max(1) as f64)
    }

    fn live_end(&self, line: &Line) {
        let pen = self.pen;
        if !line.is_live {
            return;
        }
        let last = (0..line.x.len()).rev().find_map(|index| {
            let y = self.point(line, index, &line.values)?;
            Some((self.geometry.x_px(line.x[index]), y))
        });
        if let Some(end) = last.filter(|end| self.geometry.plot.contains(end.0, end.1)) {
            pen.disc(end, 3.5, line.colour);
            pen.ring(end, 6.5, 1.0, Ink(line.colour, 0.4));
        }
    }
}
