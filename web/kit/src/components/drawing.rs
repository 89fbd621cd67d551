//! Drawing on canvas elements, in turn with all others of the page.

use leptos::html;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use crate::prelude::*;

mod schedule;
mod size;

pub use schedule::Ticket;
pub use size::use_size;

/// Maximum side of a canvas in browsers, pixels.
const MAX_PIXELS: f64 = 32_767.0;

/// Draws whenever the size of `holder`, or anything read by `prepare`, changes; returns width, height and device pixel
/// ratio. `prepare` gets them too, and its result draws in one of the next frames.
pub fn use_drawing<J: FnOnce(&HtmlCanvasElement) + 'static>(
    holder: NodeRef<html::Div>,
    canvas: NodeRef<html::Canvas>,
    prepare: impl Fn((f64, f64, f64)) -> J + 'static,
) -> Signal<(f64, f64, f64)> {
    let size = use_size(holder);
    let ticket = Ticket::unique();
    Effect::new(move || {
        let (width, height, dpr) = size.get();
        if width < 1.0 || height < 1.0 {
            return;
        }
        let job = prepare((width, height, dpr));
        ticket.ask(move || {
            if let Some(canvas) = canvas.try_get_untracked().flatten() {
                job(&canvas);
            }
        });
    });
    on_cleanup(move || ticket.give_up());
    size
}

/// The context of a canvas; `None` if the browser refuses.
pub fn context(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    canvas.get_context("2d").ok()??.dyn_into().ok()
}

/// Clears a canvas, sets its size in device pixels, and scales its unit by `zoom` from `at`.
pub fn clear(
    canvas: &HtmlCanvasElement,
    (width, height): (f64, f64),
    zoom: f64,
    at: (f64, f64),
) -> Option<CanvasRenderingContext2d> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to what browsers draw"
    )]
    let pixels = |side: f64| side.round().clamp(1.0, MAX_PIXELS) as u32;
    let (width, height) = (pixels(width), pixels(height));
    resize(canvas, width, height);
    let context = context(canvas)?;
    context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0).ok()?;
    context.clear_rect(0.0, 0.0, f64::from(width), f64::from(height));
    context
        .set_transform(zoom, 0.0, 0.0, zoom, at.0, at.1)
        .ok()?;
    Some(context)
}

/// Shows pixels of four bytes in rows of `width`, on a canvas of their size; `None` if the browser refuses.
pub fn put_pixels(canvas: &HtmlCanvasElement, width: usize, pixels: &[u8]) -> Option<()> {
    let width = u32::try_from(width).ok()?;
    let image = ImageData::new_with_u8_clamped_array(Clamped(pixels), width).ok()?;
    resize(canvas, width, image.height());
    context(canvas)?.put_image_data(&image, 0.0, 0.0).ok()
}

/// Sets the sides that differ: setting one clears the canvas.
fn resize(canvas: &HtmlCanvasElement, width: u32, height: u32) {
    if canvas.width() != width {
        canvas.set_width(width);
    }
    if canvas.height() != height {
        canvas.set_height(height);
    }
}
