//! PNG of the canvases of a card, with title and legend.

use trainscope_charts::label;
use trainscope_charts::theme::Rgb;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Blob, CanvasRenderingContext2d, HtmlCanvasElement};

use super::palette::Palette;
use crate::prelude::*;

/// Height of the title and the legend, CSS pixels.
const HEAD: f64 = 48.0;
/// Left margin of texts, CSS pixels.
const INDENT: f64 = 12.0;

/// One of the pictures of a card.
pub struct Panel {
    /// Canvas to copy.
    pub canvas: HtmlCanvasElement,
    /// Legend: colour and name of each line.
    pub names: Vec<(Rgb, String)>,
}

/// The panels side by side on the background of their card, below a title; `done` gets `None` if the browser fails.
pub fn to_png(title: &str, panels: &[Panel], palette: &Palette, done: impl FnOnce(Blob) + 'static) {
    let dpr = window().device_pixel_ratio().max(0.25);
    let width = panels.iter().map(|panel| panel.canvas.width()).sum();
    let height = panels.iter().map(|panel| panel.canvas.height()).max();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few dozen pixels"
    )]
    let head = (HEAD * dpr) as u32;
    let Some((canvas, context)) = blank(width, height.unwrap_or(0).saturating_add(head)) else {
        return;
    };
    context.set_fill_style_str(&palette.surface);
    context.fill_rect(0.0, 0.0, f64::from(width), f64::from(canvas.height()));
    let font = &palette.theme.font;
    let write = |text: &str, (x, y): (f64, f64), style: &str, colour: Rgb| {
        context.set_font(&format!("{style} {}px {font}", 12.0 * dpr));
        context.set_fill_style_str(&css(colour));
        // A missing text does not prevent the picture.
        let _ignored = context.fill_text(text, x, y * dpr);
    };
    write(title, (INDENT * dpr, 20.0), "600", palette.theme.ink);
    let mut left = 0.0;
    for panel in panels {
        if context
            .draw_image_with_html_canvas_element(&panel.canvas, left, f64::from(head))
            .is_err()
        {
            return;
        }
        let mut at = left + INDENT * dpr;
        for (colour, name) in &panel.names {
            write("■", (at, 40.0), "", *colour);
            write(name, (at + 14.0 * dpr, 40.0), "", palette.theme.ink_2);
            at += (32.0 + 1.1 * label::width(name)) * dpr;
        }
        left += f64::from(panel.canvas.width());
    }
    encode(&canvas, done);
}

/// An empty canvas with its context.
pub fn blank(width: u32, height: u32) -> Option<(HtmlCanvasElement, CanvasRenderingContext2d)> {
    let canvas = document().create_element("canvas").ok()?;
    let canvas: HtmlCanvasElement = canvas.dyn_into().ok()?;
    canvas.set_width(width);
    canvas.set_height(height);
    let context = canvas.get_context("2d").ok()??;
    Some((canvas, context.dyn_into().ok()?))
}

/// Encodes a canvas as PNG; `done` gets `None` if the browser fails.
pub fn encode(canvas: &HtmlCanvasElement, done: impl FnOnce(Blob) + 'static) {
    let callback = Closure::once_into_js(move |blob: Option<Blob>| {
        if let Some(blob) = blob {
            done(blob);
        }
    });
    // An error means a missing picture; there is nothing to clean up.
    let _ignored = canvas.to_blob(callback.unchecked_ref());
}

/// A colour as CSS.
pub fn css(Rgb(r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}
