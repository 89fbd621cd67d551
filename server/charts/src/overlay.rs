//! The layer over a plot that follows the pointer: crosshair, selection.

use plotters::prelude::{DrawResult, DrawingBackend};

use crate::frame::{Anchor, Point};
use crate::geometry::Geometry;
use crate::label;
use crate::pen::{Ink, Pen, paint};
use crate::theme::{Rgb, Theme};

/// The selected position, the same in all plots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Crosshair {
    /// Position on the x axis.
    pub x: f64,
    /// Its label, in a pill on the axis.
    pub text: String,
    /// Value and colour of each line there; non-finite values get no dot.
    pub dots: Vec<(f64, Rgb)>,
}

/// Draws the layer. `selection` is a range of x in pixels during a drag.
///
/// # Errors
/// Errors of the backend.
pub fn draw<DB: DrawingBackend>(
    backend: DB,
    geometry: &Geometry,
    theme: &Theme,
    crosshair: Option<&Crosshair>,
    selection: Option<(f64, f64)>,
) -> DrawResult<(), DB> {
    paint(backend, geometry.size(), theme, 1.0, |pen| {
        if let Some((from, to)) = selection {
            select(pen, geometry, from, to);
        }
        if let Some(crosshair) = crosshair {
            cross(pen, geometry, crosshair);
        }
    })
}

fn select(pen: &Pen<'_>, geometry: &Geometry, from: f64, to: f64) {
    let plot = &geometry.plot;
    let within = |x: f64| pen.snap(x.clamp(plot.left, plot.right.max(plot.left)));
    let (left, right) = (within(from.min(to)), within(from.max(to)));
    let (top, bottom) = (plot.top, geometry.lane_bottom());
    let accent = pen.theme.accent;
    pen.rect((left, top), (right, bottom), Ink(accent, 0.12));
    for edge in [left, right] {
        pen.vertical(edge, (top, bottom), accent);
    }
}

fn cross(pen: &Pen<'_>, geometry: &Geometry, crosshair: &Crosshair) {
    let plot = &geometry.plot;
    let x = geometry.x_px(crosshair.x);
    if !(plot.left - 0.5..=plot.right + 0.5).contains(&x) {
        return;
    }
    let mut y = plot.top;
    while y < geometry.lane_bottom() {
        let end = (y + 2.0).min(geometry.lane_bottom());
        pen.vertical(x - 0.5, (y, end), pen.theme.ink_2);
        y += 4.0;
    }
    for &(value, colour) in &crosshair.dots {
        let Some(y) = geometry.y.px(value) else {
            continue;
        };
        if plot.contains(x.clamp(plot.left, plot.right), y) {
            pen.disc((x, y), 4.5, pen.theme.surface);
            pen.disc((x, y), 3.0, colour);
        }
    }
    pill(pen, geometry, x, &crosshair.text);
}

/// The step in a pill on the axis; labels that it would touch are hidden.
fn pill(pen: &Pen<'_>, geometry: &Geometry, x: f64, text: &str) {
    let half = (label::width(text) / 2.0 + 6.0).max(15.0);
    let middle = x.min(geometry.width - half).max(half);
    let y = geometry.label_y();
    let (top, bottom) = (y - 8.0, y + 8.0);
    for tick in &geometry.x_ticks {
        let (from, to) = tick.extent();
        if from < middle + half + 4.0 && to > middle - half - 4.0 {
            pen.rect((from - 2.0, top), (to + 2.0, bottom), pen.theme.surface);
        }
    }
    let corners = round_rect((middle - half, top), (middle + half, bottom));
    pen.polygon(&corners, pen.theme.solid);
    pen.text((middle, y), Anchor::Middle, text, pen.theme.on_solid);
}

/// The outline of a rectangle with corners of 3 px.
fn round_rect((left, top): Point, (right, bottom): Point) -> Vec<Point> {
    const RADIUS: f64 = 3.0;
    const ARC: usize = 4;
    let corners = [
        (right - RADIUS, top + RADIUS, -90.0_f64),
        (right - RADIUS, bottom - RADIUS, 0.0),
        (left + RADIUS, bottom - RADIUS, 90.0),
        (left + RADIUS, top + RADIUS, 180.0),
    ];
    let corner = |(x, y, from): (f64, f64, f64)| {
        (0..=ARC).map(move |part| {
            let angle = (from + 90.0 * part as f64 / ARC as f64).to_radians();
            (x + RADIUS * angle.cos(), y + RADIUS * angle.sin())
        })
    };
    corners.into_iter().flat_map(corner).collect()
}
