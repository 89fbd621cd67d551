//! A line plot: envelopes, lines, and a lane for values that no axis can show.
//!
//! The input is plain data in the units of the axes. Drawing order is: grid, all envelopes, raw points, all lines with
//! the main one last, then the marks of non-finite values. Gaps are not bridged.

use plotters::prelude::{DrawResult, DrawingBackend};

use crate::geometry::Geometry;
use crate::paint::{Anchor, Ink, Painter, Point};
use crate::path;
use crate::scale::Scale;
pub use crate::spec::{Class, LimitLine, Line, Spec, Stretch, Stroke, XKind, YRange};
use crate::theme::Theme;

/// Minimum mean distance of points, in CSS pixels, at which each gets a dot.
const DOT_SPACING: f64 = 3.0;
pub(crate) const DOT_RADIUS: f64 = 1.75;
const RAW_ALPHA: f64 = 0.35;
pub(crate) const CROSS: f64 = 3.5;
pub(crate) const MARK_WIDTH: f64 = 1.75;

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
    let painter = Painter::new(backend, spec.dpr, &theme.font, font_scale);
    let plot = Plot {
        painter,
        geometry,
        theme,
        scale: geometry.y.scale(),
        x_kind: spec.x_kind,
    };
    plot.frame()?;
    let order = order(&spec.lines);
    for &line in &order {
        plot.envelope(line)?;
    }
    for &line in &order {
        plot.line(line)?;
    }
    for &line in &order {
        plot.beyond(line)?;
    }
    plot.limits(&spec.limits)?;
    plot.lane(&spec.lines)?;
    plot.infinities(&spec.lines)?;
    for &line in &order {
        plot.live_end(line)?;
    }
    plot.painter.present()
}

/// In the order given, the main line last.
fn order(lines: &[Line]) -> Vec<&Line> {
    let (mut main, mut others): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.is_main);
    others.append(&mut main);
    others
}

/// A plot during drawing.
pub(crate) struct Plot<'a, DB: DrawingBackend> {
    pub(crate) painter: Painter<'a, DB>,
    pub(crate) geometry: &'a Geometry,
    pub(crate) theme: &'a Theme,
    pub(crate) scale: Scale,
    x_kind: XKind,
}

impl<DB: DrawingBackend> Plot<'_, DB> {
    /// Grid, base lines and labels.
    fn frame(&self) -> DrawResult<(), DB> {
        let (at, theme) = (self.geometry, self.theme);
        let sides = (at.plot.left, at.plot.right);
        for tick in &at.y_ticks {
            self.painter.horizontal(sides, tick.at, theme.grid)?;
            let point = (at.plot.left - 6.0, tick.at);
            self.painter
                .text(point, Anchor::End, &tick.text, theme.ink_3)?;
        }
        self.painter.horizontal(sides, at.plot.bottom, theme.base)?;
        self.painter
            .horizontal(sides, at.lane_bottom(), theme.grid)?;
        for tick in &at.x_ticks {
            let anchor = if tick.ends_at {
                Anchor::End
            } else if tick.starts_at {
                Anchor::Start
            } else {
                Anchor::Middle
            };
            self.painter
                .text((tick.at, at.label_y()), anchor, &tick.text, theme.ink_3)?;
        }
        Ok(())
    }

    fn point(&self, line: &Line, index: usize, values: &[f64]) -> Option<f64> {
        let value = *values.get(index)?;
        self.geometry.x.fraction(*line.x.get(index)?)?;
        self.geometry.y_px(value)
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

    fn envelope(&self, line: &Line) -> DrawResult<(), DB> {
        for stretch in self.columns(line) {
            let outline = path::band(&stretch, self.geometry.column(), &self.geometry.plot);
            if !outline.is_empty() {
                let ink = Ink(line.colour, self.theme.envelope_alpha);
                self.painter.polygon(&outline, ink)?;
            }
        }
        Ok(())
    }

    fn line(&self, line: &Line) -> DrawResult<(), DB> {
        let dots = line.is_raw && self.spacing(line) >= DOT_SPACING;
        if !line.raw.is_empty() {
            let ink = Ink(line.colour, RAW_ALPHA);
            self.strokes(line, &line.raw, 1.0, ink, Stroke::Solid)?;
        }
        let ink = Ink::from(line.colour);
        self.strokes(line, &line.values, line.width(), ink, line.stroke)?;
        if dots {
            let values = if line.raw.is_empty() {
                &line.values
            } else {
                &line.raw
            };
            for point in self.pixels(line, values).into_iter().flatten() {
                if self.geometry.plot.contains(point.0, point.1) {
                    self.painter.disc(point, DOT_RADIUS, line.colour)?;
                }
            }
        }
        Ok(())
    }

    fn strokes(
        &self,
        line: &Line,
        values: &[f64],
        width: f64,
        ink: Ink,
        stroke: Stroke,
    ) -> DrawResult<(), DB> {
        for stretch in self.pixels(line, values) {
            let thinned = path::thin(&stretch, self.geometry.column());
            for part in path::clip(&thinned, &self.geometry.plot) {
                if let [only] = part[..] {
                    self.painter.disc(only, DOT_RADIUS, ink)?;
                    continue;
                }
                match stroke {
                    Stroke::Solid => self.painter.path(&part, width, ink)?,
                    Stroke::Dashed => self.dashes(&part, (5.0, 4.0, 0.0), width, ink)?,
                    Stroke::Shared { index, of } => {
                        let (index, of) = (f64::from(index), f64::from(of.max(2)));
                        // The pattern is shifted so that this run's dash is the index-th.
                        let phase = (of - index) * 6.0;
                        self.dashes(&part, (6.0, 6.0 * (of - 1.0), phase), width, ink)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn dashes(
        &self,
        part: &[Point],
        (on, off, phase): (f64, f64, f64),
        width: f64,
        ink: Ink,
    ) -> DrawResult<(), DB> {
        for dash in path::dash(part, on, off, phase) {
            self.painter.path(&dash, width, ink)?;
        }
        Ok(())
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

    fn live_end(&self, line: &Line) -> DrawResult<(), DB> {
        if !line.is_live {
            return Ok(());
        }
        let last = (0..line.x.len()).rev().find_map(|index| {
            let y = self.point(line, index, &line.values)?;
            Some((self.geometry.x_px(line.x[index]), y))
        });
        if let Some(end) = last.filter(|end| self.geometry.plot.contains(end.0, end.1)) {
            self.painter.disc(end, 3.5, line.colour)?;
            self.painter.ring(end, 6.5, 1.0, Ink(line.colour, 0.4))?;
        }
        Ok(())
    }
}
