//! Plots as SVG text: reports, downloads, tests.

use std::fmt::Write as _;

use plotters::prelude::SVGBackend;

use crate::contour::Map;
use crate::distribution;
use crate::frame::Size;
use crate::geometry::Geometry;
use crate::line::{Plot, Spec};
use crate::parallel;
use crate::pen::{Pen, SUBPIXELS, paint};
use crate::profile;
use crate::sheet::{self, Frame};
use crate::surface::Relief;
use crate::theme::{Rgb, Theme};

/// The SVG backend divides font sizes by this.
const FONT_SCALE: f64 = 1.24;

/// The plot as an SVG document, one unit of its `width` and `height` per CSS pixel. Empty if drawing fails, which
/// cannot happen for text.
pub fn line(spec: &Spec, theme: &Theme) -> String {
    let geometry = Geometry {
        dpr: 1.0,
        ..Geometry::new(spec)
    };
    let size = (geometry.width, geometry.height);
    document(size, theme, |pen| Plot::draw(pen, spec, &geometry))
}

/// Distributions as an SVG document, in the same way.
pub fn distribution(spec: &distribution::Spec, theme: &Theme) -> String {
    let layout = distribution::Layout::new(spec);
    document((spec.width, spec.height), theme, |pen| {
        distribution::paint_chart(pen, spec, &layout);
    })
}

/// A plot of a profile as an SVG document, in the same way.
pub fn profile(figure: &profile::Figure, size: (f64, f64), theme: &Theme) -> String {
    document(size, theme, |pen| figure.paint(pen))
}

/// Parallel coordinates with heads as an SVG document on the background of the theme: bands first, then `below` and
/// `above`, then the axes.
pub fn parallel(
    layout: &parallel::Layout,
    lines: (&[parallel::Stroke], &[parallel::Stroke]),
    names: parallel::LaneNames,
    theme: &Theme,
) -> String {
    document((layout.width, layout.height), theme, |pen| {
        parallel::paint_whole(pen, layout, lines, names);
    })
}

/// A map of a loss landscape as an SVG document, in the same way.
pub fn map(map: &Map, size: (f64, f64), theme: &Theme) -> String {
    document(size, theme, |pen| map.paint(pen))
}

/// A view of a loss landscape as an SVG document, in the same way.
pub fn relief(relief: &Relief, size: (f64, f64), theme: &Theme) -> String {
    document(size, theme, |pen| relief.paint(pen))
}

fn document((width, height): (f64, f64), theme: &Theme, chart: impl FnOnce(&Pen<'_>)) -> String {
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
    let backend = SVGBackend::with_string(&mut text, (wide, high));
    let size = Size::new(width, height, 1.0);
    if paint(backend, size, theme, FONT_SCALE, chart).is_err() {
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
    let mut out = Document::new((width, height), "", theme.surface);
    let text = |out: &mut Document, (x, y): (f64, f64), ink: Rgb, weight: u32, text: &str| {
        out.put(format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-family=\"{font}\" font-size=\"12\" font-weight=\"{weight}\" \
             fill=\"{}\">{}</text>",
            hex(ink),
            escaped(text)
        ));
    };
    for (number, placed) in placed.into_iter().enumerate() {
        let (x, y, title) = placed.title;
        text(&mut out, (x, y), theme.ink, 600, title);
        if let Some((x, y, note)) = placed.note {
            text(&mut out, (x, y), theme.ink_3, 400, note);
        }
        for (x, y, colour, name) in placed.legend {
            text(&mut out, (x, y), theme.ink_2, 400, name);
            out.put(format_args!(
                "<rect x=\"{}\" y=\"{}\" width=\"9\" height=\"9\" rx=\"2\" fill=\"{}\"/>",
                x - sheet::SWATCH,
                y - 9.0,
                hex(colour)
            ));
        }
        let at = format!("<svg x=\"{}\" y=\"{}\"", placed.plot.0, placed.plot.1);
        out.0.push_str(&plot(number).replacen("<svg", &at, 1));
    }
    out.end()
}

/// A document that is written as text, for what plotters cannot draw.
pub(crate) struct Document(String);

impl Document {
    /// Begins a document with further attributes on a ground.
    pub(crate) fn new((width, height): (f64, f64), attributes: &str, ground: Rgb) -> Self {
        Self(format!(
            "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             xmlns=\"http://www.w3.org/2000/svg\"{attributes}>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
            hex(ground)
        ))
    }

    /// Writes a line; writing to a text does not fail.
    pub(crate) fn put(&mut self, line: std::fmt::Arguments<'_>) {
        self.0.write_fmt(line).unwrap_or_default();
        self.0.push('\n');
    }

    pub(crate) fn end(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
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
