//! Strokes, fills and texts in CSS pixels on a plotters backend; the only place with a conversion to integers.
//!
//! The backend is called directly: a drawing area would clip everything at the backend's size, which for a canvas is
//! in device pixels and not in subpixels. Hairlines are filled rectangles on whole device pixels, because a stroke
//! between two of them is blurred.
//!
//! Charts do not know the backend: they are compiled once, and its first error ends the drawing.

use std::cell::RefCell;

use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::{DrawResult, DrawingBackend, FontDesc, FontFamily, FontStyle};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBAColor, ShapeStyle, TextStyle};

use crate::frame::{Anchor, Point, Rect, Size};
use crate::label;
use crate::path;
use crate::theme::{FONT_SIZE, Rgb, Theme};

/// Backend units per device pixel. Backends take integers; a sixteenth of a pixel is below the resolution of the eye.
pub const SUBPIXELS: f64 = 16.0;

/// Dash, gap and beginning of the usual pattern of lines, CSS pixels.
pub(crate) const DASH: (f64, f64, f64) = (4.0, 3.0, 0.0);
/// Maximum number of dashes of a hairline.
const MAX_DASHES: u32 = 2_000;

/// A colour with its opacity.
#[derive(Clone, Copy)]
pub(crate) struct Ink(pub(crate) Rgb, pub(crate) f64);

impl From<Rgb> for Ink {
    fn from(colour: Rgb) -> Self {
        Self(colour, 1.0)
    }
}

impl Ink {
    fn colour(self) -> RGBAColor {
        let Rgb(r, g, b) = self.0;
        RGBAColor(r, g, b, self.1)
    }
}

/// A call of the backend, in its units.
enum Mark<'a> {
    Rect(Units, Units, ShapeStyle),
    Path(&'a [Units], ShapeStyle),
    Polygon(&'a [Units], ShapeStyle),
    Circle(Units, u32, ShapeStyle),
    Text(&'a str, TextStyle<'a>, Units),
}

type Units = (i32, i32);

/// Draws a chart on a backend. `font_scale` undoes the backend's scaling of font sizes (SVG divides them by 1.24).
pub(crate) fn paint<DB: DrawingBackend>(
    backend: DB,
    size: Size,
    theme: &Theme,
    font_scale: f64,
    chart: impl FnOnce(&Pen<'_>),
) -> DrawResult<(), DB> {
    let state = RefCell::new((backend, Ok(())));
    let put = |mark: Mark<'_>| {
        let (backend, result) = &mut *state.borrow_mut();
        if result.is_ok() {
            *result = put(backend, mark);
        }
    };
    chart(&Pen {
        put: &put,
        theme,
        size: size.clamped(),
        font_scale,
    });
    let (mut backend, result) = state.into_inner();
    result?;
    backend
        .present()
        .map_err(DrawingAreaErrorKind::BackendError)
}

fn put<DB: DrawingBackend>(backend: &mut DB, mark: Mark<'_>) -> DrawResult<(), DB> {
    let result = match mark {
        Mark::Rect(from, to, style) => backend.draw_rect(from, to, &style, true),
        Mark::Path(points, style) => backend.draw_path(points.iter().copied(), &style),
        Mark::Polygon(points, style) => backend.fill_polygon(points.iter().copied(), &style),
        Mark::Circle(at, radius, style) => backend.draw_circle(at, radius, &style, style.filled),
        Mark::Text(text, style, at) => backend.draw_text(text, &style, at),
    };
    result.map_err(DrawingAreaErrorKind::BackendError)
}

/// A surface that charts draw on, with its theme.
pub(crate) struct Pen<'a> {
    put: &'a dyn Fn(Mark<'_>),
    pub(crate) theme: &'a Theme,
    pub(crate) size: Size,
    font_scale: f64,
}

impl Pen<'_> {
    fn put(&self, mark: Mark<'_>) {
        (self.put)(mark);
    }

    fn unit(&self) -> f64 {
        SUBPIXELS * self.size.dpr
    }

    fn at(&self, (x, y): Point) -> Units {
        (units(x * self.unit()), units(y * self.unit()))
    }

    fn all(&self, points: &[Point]) -> Vec<Units> {
        points.iter().map(|point| self.at(*point)).collect()
    }

    fn width(&self, css: f64) -> u32 {
        units(css * self.unit()).unsigned_abs().max(1)
    }

    fn stroke(&self, width: f64, ink: impl Into<Ink>) -> ShapeStyle {
        ink.into().colour().stroke_width(self.width(width))
    }

    /// The nearest edge between device pixels.
    pub(crate) fn snap(&self, css: f64) -> f64 {
        (css * self.size.dpr).round() / self.size.dpr
    }

    /// One CSS pixel as a whole number of device pixels.
    pub(crate) fn hair(&self) -> f64 {
        self.size.dpr.round().max(1.0) / self.size.dpr
    }

    pub(crate) fn rect(&self, from: Point, to: Point, ink: impl Into<Ink>) {
        let style = ink.into().colour().filled();
        self.put(Mark::Rect(self.at(from), self.at(to), style));
    }

    pub(crate) fn area(&self, rect: &Rect, ink: impl Into<Ink>) {
        self.rect((rect.left, rect.top), (rect.right, rect.bottom), ink);
    }

    /// A horizontal line one pixel high, `y` at its upper edge.
    pub(crate) fn horizontal(&self, x: (f64, f64), y: f64, ink: impl Into<Ink>) {
        let y = self.snap(y);
        self.rect((x.0, y), (x.1, y + self.hair()), ink);
    }

    /// A vertical line one pixel wide, `x` at its left edge.
    pub(crate) fn vertical(&self, x: f64, y: (f64, f64), ink: impl Into<Ink>) {
        let x = self.snap(x);
        self.rect((x, y.0), (x + self.hair(), y.1), ink);
    }

    /// A horizontal line of dashes.
    pub(crate) fn dashed_across(&self, x: (f64, f64), y: f64, ink: impl Into<Ink> + Copy) {
        for (from, to) in dashes(x) {
            self.horizontal((from, to), y, ink);
        }
    }

    /// A vertical line of dashes.
    pub(crate) fn dashed_down(&self, x: f64, y: (f64, f64), ink: impl Into<Ink> + Copy) {
        for dash in dashes(y) {
            self.vertical(x, dash, ink);
        }
    }

    pub(crate) fn path(&self, points: &[Point], width: f64, ink: impl Into<Ink>) {
        self.put(Mark::Path(&self.all(points), self.stroke(width, ink)));
    }

    /// A path with a dash and a gap in turns, beginning at a position in their pattern.
    pub(crate) fn dashed(
        &self,
        points: &[Point],
        (on, off, phase): (f64, f64, f64),
        width: f64,
        ink: impl Into<Ink> + Copy,
    ) {
        for dash in path::dash(points, on, off, phase) {
            self.path(&dash, width, ink);
        }
    }

    /// The border of a rectangle.
    pub(crate) fn outline(&self, rect: &Rect, width: f64, ink: impl Into<Ink>) {
        let Rect {
            left,
            top,
            right,
            bottom,
        } = *rect;
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
        self.path(&[&corners[..], &corners[..1]].concat(), width, ink);
    }

    /// Two strokes through a point.
    pub(crate) fn cross(&self, (x, y): Point, size: f64, ink: impl Into<Ink> + Copy) {
        for rise in [size, -size] {
            self.path(&[(x - size, y - rise), (x + size, y + rise)], 1.75, ink);
        }
    }

    pub(crate) fn polygon(&self, points: &[Point], ink: impl Into<Ink>) {
        let style = ink.into().colour().filled();
        self.put(Mark::Polygon(&self.all(points), style));
    }

    pub(crate) fn disc(&self, centre: Point, radius: f64, ink: impl Into<Ink>) {
        let style = ink.into().colour().filled();
        self.put(Mark::Circle(self.at(centre), self.width(radius), style));
    }

    pub(crate) fn ring(&self, centre: Point, radius: f64, width: f64, ink: impl Into<Ink>) {
        let style = self.stroke(width, ink);
        self.put(Mark::Circle(self.at(centre), self.width(radius), style));
    }

    /// A text of axis size, its vertical middle at the point.
    pub(crate) fn text(&self, at: Point, anchor: Anchor, text: &str, ink: impl Into<Ink>) {
        self.text_of_size(at, anchor, text, ink, FONT_SIZE);
    }

    /// A text of a font size in CSS pixels, its vertical middle at the point.
    pub(crate) fn text_of_size(
        &self,
        at: Point,
        anchor: Anchor,
        text: &str,
        ink: impl Into<Ink>,
        size: f64,
    ) {
        let size = size * self.unit() * self.font_scale;
        let font = FontFamily::Name(&self.theme.font);
        let font = FontDesc::new(font, size, FontStyle::Normal);
        let hangs = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let style = font.color(&ink.into().colour());
        let style = style.pos(Pos::new(hangs, VPos::Center));
        self.put(Mark::Text(text, style, self.at(at)));
    }

    /// A text over data: the surface shines through behind it.
    pub(crate) fn over(&self, (x, y): Point, anchor: Anchor, text: &str, ink: impl Into<Ink>) {
        let width = label::width(text);
        let left = anchor.span(x, width).0;
        let (from, to) = ((left - 2.0, y - 7.0), (left + width + 2.0, y + 7.0));
        self.rect(from, to, Ink(self.theme.surface, 0.88));
        self.text((x, y), anchor, text, ink);
    }
}

/// The dashes of a hairline.
fn dashes((from, to): (f64, f64)) -> impl Iterator<Item = (f64, f64)> {
    let begins = (0..MAX_DASHES).map(move |dash| from + f64::from(dash) * (DASH.0 + DASH.1));
    let begins = begins.take_while(move |at| *at < to);
    begins.map(move |at| (at, (at + DASH.0).min(to)))
}

/// Backend units, limited to a range far outside of any screen; NaN is 0.
fn units(value: f64) -> i32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "clamped to the range of i32; NaN becomes 0"
    )]
    let units = value.round().clamp(-1e8, 1e8) as i32;
    units
}
