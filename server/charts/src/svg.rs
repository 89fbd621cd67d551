//! Plots as SVG text: reports, downloads, tests.

use std::fmt::Write as _;

use plotters::prelude::SVGBackend;

use crate::contour::Map;
use crate::distribution;
use crate::geometry::Geometry;
use crate::line::{Spec, draw};
use crate::paint::SUBPIXELS;
use crate::parallel;
use crate::profile;
use crate::sheet::{self, Frame};
use crate::surface::Relief;
use crate::theme::{Rgb, Theme};

/// The SVG backend divides font sizes by this.
const FONT_SCALE: f64 = 1.24;

/// The plot as an SVG document, one unit of its `width` and `height` per CSS pixel. Empty if drawing fails, which
/// cannot happen for text.
pub fn line(spec: &Spec, theme: &Theme) -> String {
    let spec = Spec {
        dpr: 1.0,
        ..spec.clone()
    };
    let geometry = Geometry::new(&spec);
    document(geometry.width, geometry.height, |backend| {
        draw(backend, &spec, &geometry, theme, FONT_SCALE).is_ok()
    })
}

/// Distributions as an SVG document, in the same way.
pub fn distribution(spec: &distribution::Spec, theme: &Theme) -> String {
    let spec = distribution::Spec {
        dpr: 1.0,
        ..spec.clone()
    };
    let layout = distribution::Layout::new(&spec);
    document(spec.width, spec.height, |backend| {
        distribution::draw(backend, &spec, &layout, theme, FONT_SCALE).is_ok()
    })
}

/// A plot of a profile as an SVG document, in the same way.
pub fn profile(figure: &profile::Figure, (width, height): (f64, f64), theme: &Theme) -> String {
    let size = profile::Size {
        width,
        height,
        dpr: 1.0,
    };
    document(width, height, |backend| {
        figure.draw(backend, size, theme, FONT_SCALE).is_ok()
    })
}

/// Parallel coordinates with heads as an SVG document on the background of the theme: bands first, then `below` and
/// `above`, then the axes.
pub fn parallel(
    layout: &parallel::Layout,
    (below, above): (&[parallel::Stroke], &[parallel::Stroke]),
    names: parallel::LaneNames,
    theme: &Theme,
) -> String {
    let layout = parallel::Layout {
        dpr: 1.0,
        ..layout.clone()
    };
    document(layout.width, layout.height, |backend| {
        parallel::draw_whole(backend, &layout, (below, above), names, theme, FONT_SCALE).is_ok()
    })
}

/// A map of a loss landscape as an SVG document, in the same way.
pub fn map(map: &Map, (width, height): (f64, f64), theme: &Theme) -> String {
    let size = profile::Size {
        width,
        height,
        dpr: 1.0,
    };
    document(width, height, |backend| {
        map.draw(backend, size, theme, FONT_SCALE).is_ok()
    })
}

/// A view of a loss landscape as an SVG document, in the same way.
pub fn relief(relief: &Relief, (width, height): (f64, f64), theme: &Theme) -> String {
    let size = profile::Size {
        width,
        height,
        dpr: 1.0,
    };
    document(width, height, |backend| {
        relief.draw(backend, size, theme, FONT_SCALE).is_ok()
    })
}

fn document(width: f64, height: f64, draw: impl FnOnce(SVGBackend<'_>) -> bool) -> String {
    let units = |css: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "sizes are clamped to 0 … 32,768"
        )]
        let units = (css.clamp(0.0, 32_768.0) * SUBPIXELS).round() as u32;
        units
    };
    let (wide, high) = (units(width), units(height));
    let mut text = String::new();
    if !draw(SVGBackend::with_string(&mut text, (wide, high))) {
        return String::new();
    }
    // The backend knows integers only; the root element scales them back and rounds all joins.
    let head = format!("<svg width=\"{wide}\" height=\"{high}\"");
    let scaled = format!(
        "<svg width=\"{width}\" height=\"{height}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"",
    );
    text.replacen(&head, &scaled, 1)
}

/// A plot with title and legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// Title.
    pub title: String,
    /// Names of the axes, in a line below the title; empty for none.
    pub note: String,
    /// Colour and name of each line.
    pub legend: Vec<(Rgb, String)>,
    /// The plot.
    pub spec: Spec,
}

/// Cards side by side in a number of columns, as one SVG document on the background of the theme. Names are escaped.
pub fn sheet(cards: &[Card], columns: usize, theme: &Theme) -> String {
    let frames = cards.iter().map(|card| {
        let geometry = Geometry::new(&card.spec);
        Frame {
            title: card.title.clone(),
            note: card.note.clone(),
            legend: card.legend.clone(),
            width: geometry.width,
            height: geometry.height,
        }
    });
    let frames: Vec<Frame> = frames.collect();
    sheet_of(&frames, columns, theme, |at| line(&cards[at].spec, theme))
}

/// Plots of any kind side by side: `plot` returns the SVG document of each.
pub fn sheet_of(
    frames: &[Frame],
    columns: usize,
    theme: &Theme,
    plot: impl Fn(usize) -> String,
) -> String {
    let (width, height, placed) = sheet::place(frames, columns);
    let font = escaped(&theme.font);
    let mut out = format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
        hex(theme.surface)
    );
    // Writing to a String does not fail.
    let text = |out: &mut String, (x, y): (f64, f64), ink: Rgb, weight: u32, text: &str| {
        writeln!(
            out,
            "<text x=\"{x}\" y=\"{y}\" font-family=\"{font}\" font-size=\"12\" font-weight=\"{weight}\" \
             fill=\"{}\">{}</text>",
            hex(ink),
            escaped(text)
        )
        .unwrap_or_default();
    };
    for (number, placed) in placed.into_iter().enumerate() {
        let (x, y, title) = placed.title;
        text(&mut out, (x, y), theme.ink, 600, title);
        if let Some((x, y, note)) = placed.note {
            text(&mut out, (x, y), theme.ink_3, 400, note);
        }
        for (x, y, colour, name) in placed.legend {
            text(&mut out, (x, y), theme.ink_2, 400, name);
            writeln!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"9\" height=\"9\" rx=\"2\" fill=\"{}\"/>",
                x - sheet::SWATCH,
                y - 9.0,
                hex(colour)
            )
            .unwrap_or_default();
        }
        let at = format!("<svg x=\"{}\" y=\"{}\"", placed.plot.0, placed.plot.1);
        out.push_str(&plot(number).replacen("<svg", &at, 1));
    }
    out.push_str("</svg>\n");
    out
}

pub(crate) fn hex(Rgb(r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Escapes a text for XML; characters that XML does not allow are left out.
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
