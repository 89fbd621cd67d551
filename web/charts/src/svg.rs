//! Plots as SVG text: reports, downloads, tests.

use std::fmt::Write as _;

use plotters::prelude::SVGBackend;

use crate::geometry::Geometry;
use crate::label;
use crate::line::{Spec, draw};
use crate::paint::SUBPIXELS;
use crate::theme::{Rgb, Theme};

/// The SVG backend divides font sizes by this.
const FONT_SCALE: f64 = 1.24;

/// The plot as an SVG document, one unit of its `width` and `height` a CSS pixel. Empty if it could not be drawn,
/// which text never is.
pub fn line(spec: &Spec, theme: &Theme) -> String {
    let spec = Spec {
        dpr: 1.0,
        ..spec.clone()
    };
    let geometry = Geometry::new(&spec);
    let units = |css: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the geometry has clamped sizes to 0 … 32,768"
        )]
        let units = (css * SUBPIXELS).round() as u32;
        units
    };
    let (width, height) = (units(geometry.width), units(geometry.height));
    let mut text = String::new();
    let backend = SVGBackend::with_string(&mut text, (width, height));
    if draw(backend, &spec, &geometry, theme, FONT_SCALE).is_err() {
        return String::new();
    }
    // The backend knows whole numbers only; the root element scales them back and rounds all joins.
    let head = format!("<svg width=\"{width}\" height=\"{height}\"");
    let scaled = format!(
        "<svg width=\"{}\" height=\"{}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"",
        geometry.width, geometry.height
    );
    text.replacen(&head, &scaled, 1)
}

/// A plot with its name and the names of its lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// What the plot is of.
    pub title: String,
    /// Colour and name of each line.
    pub legend: Vec<(Rgb, String)>,
    /// The plot.
    pub spec: Spec,
}

/// Space around and between cards.
const GAP: f64 = 16.0;
/// Height of a line of title or legend.
const ROW: f64 = 18.0;

/// Cards side by side in so many columns, as one SVG document with the ground of the theme. Names are text.
pub fn sheet(cards: &[Card], columns: usize, theme: &Theme) -> String {
    let columns = columns.clamp(1, cards.len().max(1));
    let size = |card: &Card| {
        let geometry = Geometry::new(&card.spec);
        (geometry.width, geometry.height)
    };
    let (mut body, mut width, mut top) = (String::new(), 0.0_f64, GAP);
    for row in cards.chunks(columns) {
        let (mut left, mut bottom) = (GAP, top);
        for card in row {
            let (card_width, card_height) = size(card);
            let head = head(&mut body, card, (left, top), card_width, theme);
            let plot = line(&card.spec, theme);
            let at = format!("<svg x=\"{left}\" y=\"{}\"", top + head);
            body.push_str(&plot.replacen("<svg", &at, 1));
            left += card_width + GAP;
            bottom = bottom.max(top + head + card_height);
        }
        width = width.max(left);
        top = bottom + GAP;
    }
    let ground = theme.surface;
    format!(
        "<svg width=\"{width}\" height=\"{top}\" viewBox=\"0 0 {width} {top}\" xmlns=\"http://www.w3.org/2000/svg\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n{body}</svg>\n",
        hex(ground)
    )
}

/// Title and legend; returns their height. Names that have no room in a line begin the next one.
fn head(out: &mut String, card: &Card, (left, top): (f64, f64), width: f64, theme: &Theme) -> f64 {
    let font = escaped(&theme.font);
    let mut text = |x: f64, y: f64, ink: Rgb, weight: u32, text: &str| {
        // Writing to a String does not fail.
        writeln!(
            out,
            "<text x=\"{x}\" y=\"{y}\" font-family=\"{font}\" font-size=\"12\" font-weight=\"{weight}\" \
             fill=\"{}\">{}</text>",
            hex(ink),
            escaped(text)
        )
        .unwrap_or_default();
    };
    text(left, top + 13.0, theme.ink, 600, &card.title);
    let (mut x, mut y) = (left, top + ROW);
    let mut swatches = String::new();
    for (colour, name) in &card.legend {
        let wanted = 14.0 + 1.2 * label::width(name) + 14.0;
        if x > left && x + wanted > left + width {
            (x, y) = (left, y + ROW);
        }
        writeln!(
            swatches,
            "<rect x=\"{x}\" y=\"{}\" width=\"9\" height=\"9\" rx=\"2\" fill=\"{}\"/>",
            y + 4.0,
            hex(*colour)
        )
        .unwrap_or_default();
        text(x + 14.0, y + 13.0, theme.ink_2, 400, name);
        x += wanted;
    }
    out.push_str(&swatches);
    y + ROW - top
}

pub(crate) fn hex(Rgb(r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A text as XML holds it; what XML has no place for is left out.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => {}
            c => out.push(c),
        }
    }
    out
}
