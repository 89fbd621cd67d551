//! Drawing of plots on a canvas element, at device pixels.

use std::sync::Arc;

use leptos::html;
use trainscope_charts::SUBPIXELS;
use trainscope_charts::geometry::Geometry;
use trainscope_charts::line::{self, Spec};
use trainscope_charts::overlay::{self, Crosshair};
use trainscope_charts::profile::Size;
use trainscope_charts::theme::Theme;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::backend::Canvas;
use super::{Ticket, use_palette, use_size};
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
    let measured = use_size(holder);
    let size = Memo::new(move |_| {
        let (width, height, dpr) = measured.get();
        Size { width, height, dpr }
    });
    let ticket = Ticket::unique();
    Effect::new(move || {
        let size = size.get();
        if size.width < 1.0 || size.height < 1.0 {
            return;
        }
        let (figure, palette) = (figure.get(), palette.get());
        ticket.ask(move || {
            let Some(canvas) = canvas.try_get_untracked().flatten() else {
                return;
            };
            if let Some(backend) = prepare(&canvas, (size.width, size.height, size.dpr)) {
                draw(&figure, backend, size, &palette.theme);
            }
        });
    });
    on_cleanup(move || ticket.give_up());
    size
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
    let (width, height) = (device_pixels(width, dpr), device_pixels(height, dpr));
    if canvas.width() != width {
        canvas.set_width(width);
    }
    if canvas.height() != height {
        canvas.set_height(height);
    }
    let context = canvas.get_context("2d").ok()??;
    let context: CanvasRenderingContext2d = context.dyn_into().ok()?;
    let unit = 1.0 / SUBPIXELS;
    context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0).ok()?;
    context.clear_rect(0.0, 0.0, f64::from(width), f64::from(height));
    context.set_transform(unit, 0.0, 0.0, unit, 0.0, 0.0).ok()?;
    // At this line width all corners look the same, and round ones take half as long again.
    context.set_line_join("bevel");
    context.set_line_cap("round");
    Some(Canvas::new(context, (width, height)))
}

/// A backend for a canvas that is prepared and drawn on already.
pub(super) fn resume(canvas: &HtmlCanvasElement) -> Option<Canvas> {
    let context = canvas.get_context("2d").ok()??;
    let context: CanvasRenderingContext2d = context.dyn_into().ok()?;
    Some(Canvas::new(context, (canvas.width(), canvas.height())))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the geometry has clamped sizes to 0 … 32,768 and the ratio to 16"
)]
fn device_pixels(css: f64, dpr: f64) -> u32 {
    (css * dpr).round() as u32
}
