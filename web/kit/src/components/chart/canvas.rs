//! Drawing of plots on a canvas element, at device pixels.

use std::sync::Arc;

use leptos::html;
use trainscope_charts::SUBPIXELS;
use trainscope_charts::geometry::Geometry;
use trainscope_charts::line::{self, Spec};
use trainscope_charts::overlay::{self, Crosshair};
use trainscope_charts::profile::Size;
use trainscope_charts::theme::Theme;
use web_sys::HtmlCanvasElement;

use super::backend::Canvas;
use super::use_palette;
use crate::components::drawing::{clear, context, use_drawing};
use crate::prelude::*;

/// Draws the plot, replacing the old one in the same turn.
pub(super) fn draw_plot(
    canvas: &HtmlCanvasElement,
    spec: &Spec,
    geometry: &Geometry,
    theme: &Theme,
) {
    if let Some(backend) = prepare(canvas, (geometry.width, geometry.height, geometry.dpr)) {
        // A canvas rejects only arcs of negative radius, which do not occur.
        let _never = line::draw(backend, spec, geometry, theme, 1.0);
    }
}

/// Draws a figure on the canvas of a plot whenever it, its size or the theme changes; returns the size.
pub(super) fn draw_figure<T>(
    figure: Signal<Arc<T>>,
    (holder, canvas): (NodeRef<html::Div>, NodeRef<html::Canvas>),
    draw: fn(&T, Canvas, Size, &Theme),
) -> Memo<Size>
where
    T: Send + Sync + 'static,
{
    let palette = use_palette();
    let measured = use_drawing(holder, canvas, move |(width, height, dpr)| {
        let (figure, palette) = (figure.get(), palette.get());
        move |canvas| {
            if let Some(backend) = prepare(canvas, (width, height, dpr)) {
                draw(
                    &figure,
                    backend,
                    Size { width, height, dpr },
                    &palette.theme,
                );
            }
        }
    });
    Memo::new(move |_| {
        let (width, height, dpr) = measured.get();
        Size { width, height, dpr }
    })
}

/// Draws crosshair and selection.
pub(super) fn draw_overlay(
    canvas: &HtmlCanvasElement,
    geometry: &Geometry,
    theme: &Theme,
    crosshair: Option<&Crosshair>,
    selection: Option<(f64, f64)>,
) {
    if let Some(backend) = prepare(canvas, (geometry.width, geometry.height, geometry.dpr)) {
        let _never = overlay::draw(backend, geometry, theme, crosshair, selection);
    }
}

/// Clears a canvas and sets its size and its unit to a fraction of a device pixel.
pub(super) fn prepare(
    canvas: &HtmlCanvasElement,
    (width, height, dpr): (f64, f64, f64),
) -> Option<Canvas> {
    let size = (width * dpr, height * dpr);
    let context = clear(canvas, size, 1.0 / SUBPIXELS, (0.0, 0.0))?;
    // At this line width all corners look the same, and round ones take half as long again.
    context.set_line_join("bevel");
    context.set_line_cap("round");
    Some(Canvas::new(context, (canvas.width(), canvas.height())))
}

/// A backend for a canvas that is prepared and drawn on already.
pub(super) fn resume(canvas: &HtmlCanvasElement) -> Option<Canvas> {
    let context = context(canvas)?;
    Some(Canvas::new(context, (canvas.width(), canvas.height())))
}
