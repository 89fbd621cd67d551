//! The layer over a plot that follows the pointer: crosshair, selection.

use plotters::prelude::{DrawResult, DrawingBackend};

use crate::geometry::Geometry;
use crate::label;
use crate::paint::{Anchor, Ink, Painter};
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
    let painter = Painter::new(backend, geometry.dpr, &theme.font, 1.0);
    if let Some((from, to)) = selection {
        select(&painter, geometry, theme, from, to)?;
    }
    if let Some(crosshair) = crosshair {
        cross(&painter, geometry, theme, crosshair)?;
    }
    painter.present()
}

fn select<DB: DrawingBackend>(
    painter: &Painter<'_, DB>,
    geometry: &Geometry,
    theme: &Theme,
    from: f64,
    to: f64,
) -> DrawResult<(), DB> {
    let plot = &geometry.plot;
    let within = |x: f64| painter.snap(x.clamp(plot.left, plot.right.max(plot.left)));
    let (left, right) = (within(from.min(to)), within(from.max(to)));
    let (top, bottom) = (plot.top, geometry.lane_bottom());
    painter.rect((left, top), (right, bottom), Ink(theme.accent, 0.12))?;
    for edge in [left, right] {
        painter.rect((edge, top), (edge + painter.hair(), bottom), theme.accent)?;
    }
    Ok(())
}

fn cross<DB: DrawingBackend>(
    painter: &Painter<'_, DB>,
    geometry: &Geometry,
    theme: &Theme,
    crosshair: &Crosshair,
) -> DrawResult<(), DB> {
    let plot = &geometry.plot;
    let x = geometry.x_px(crosshair.x);
    if !(plot.left - 0.5..=plot.right + 0.5).contains(&x) {
        return Ok(());
    }
    let (left, hair) = (painter.snap(x - 0.5), painter.hair());
    let mut y = plot.top;
    while y < geometry.lane_bottom() {
        let end = (y + 2.0).min(geometry.lane_bottom());
        painter.rect((left, y), (left + hair, end), theme.ink_2)?;
        y += 4.0;
    }
    for &(value, colour) in &crosshair.dots {
        let Some(y) = geometry.y_px(value) else {
            continue;
        };
        if plot.contains(x.clamp(plot.left, plot.right), y) {
            painter.disc((x, y), 4.5, theme.surface)?;
            painter.disc((x, y), 3.0, colour)?;
        }
    }
    pill(painter, geometry, theme, x, &crosshair.text)
}

/// The step in a pill on the axis; labels that it would touch are hidden.
fn pill<DB: DrawingBackend>(
    painter: &Painter<'_, DB>,
    geometry: &Geometry,
    theme: &Theme,
    x: f64,
    text: &str,
) -> DrawResult<(), DB> {
    let half = (label::width(text) / 2.0 + 6.0).max(15.0);
    let middle = x.min(geometry.width - half).max(half);
    let y = geometry.label_y();
    for tick in &geometry.x_ticks {
        let (from, to) = tick.extent();
        if from < middle + half + 4.0 && to > middle - half - 4.0 {
            let (top, bottom) = (y - 8.0, y + 8.0);
            painter.rect((from - 2.0, top), (to + 2.0, bottom), theme.surface)?;
        }
    }
    round_rect(
        painter,
        (middle - half, y - 8.0),
        (middle + half, y + 8.0),
        theme.solid,
    )?;
    painter.text((middle, y), Anchor::Middle, text, theme.on_solid)
}

/// A rectangle with corners of 3 px.
fn round_rect<DB: DrawingBackend>(
    painter: &Painter<'_, DB>,
    (left, top): (f64, f64),
    (right, bottom): (f64, f64),
    colour: Rgb,
) -> DrawResult<(), DB> {
    const RADIUS: f64 = 3.0;
    const ARC: usize = 4;
    let corners = [
        (right - RADIUS, top + RADIUS, -90.0_f64),
        (right - RADIUS, bottom - RADIUS, 0.0),
        (left + RADIUS, bottom - RADIUS, 90.0),
        (left + RADIUS, top + RADIUS, 180.0),
    ];
    let outline: Vec<_> = corners
        .iter()
        .flat_map(|&(x, y, from)| {
            (0..=ARC).map(move |part| {
                let angle = (from + 90.0 * part as f64 / ARC as f64).to_radians();
                (x + RADIUS * angle.cos(), y + RADIUS * angle.sin())
            })
        })
        .collect();
    painter.polygon(&outline, colour)
}
