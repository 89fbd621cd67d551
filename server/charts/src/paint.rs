//! Strokes, fills and texts in CSS pixels on a plotters backend; the only place with a conversion to integers.
//!
//! The backend is called directly: a drawing area would clip everything at the backend's size, which for a canvas is
//! in device pixels and not in subpixels. Hairlines are filled rectangles on whole device pixels, because a stroke
//! between two of them is blurred.

use std::cell::RefCell;

use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::{DrawResult, DrawingBackend, FontDesc, FontFamily, FontStyle};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBAColor, ShapeStyle};

use crate::theme::{FONT_SIZE, Rgb};

/// Backend units per device pixel. Backends take integers; a sixteenth of a pixel is below the resolution of the eye.
pub const SUBPIXELS: f64 = 16.0;

/// A point in CSS pixels from the upper left corner.
pub(crate) type Point = (f64, f64);

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

/// Horizontal alignment of a text at its point; vertically it is always centred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A backend with an interface in CSS pixels.
pub(crate) struct Painter<'a, DB: DrawingBackend> {
    backend: RefCell<DB>,
    dpr: f64,
    font: &'a str,
    font_scale: f64,
}

/// Device pixels per CSS pixel: as reported by the screen, or 1 if that is invalid.
pub(crate) fn device_pixels(dpr: f64) -> f64 {
    if dpr.is_finite() && dpr > 0.0 {
        dpr.clamp(0.25, 16.0)
    } else {
        1.0
    }
}

impl<'a, DB: DrawingBackend> Painter<'a, DB> {
    /// `font_scale` undoes the backend's scaling of font sizes (SVG divides them by 1.24).
    pub(crate) fn new(backend: DB, dpr: f64, font: &'a str, font_scale: f64) -> Self {
        Self {
            backend: RefCell::new(backend),
            dpr: device_pixels(dpr),
            font,
            font_scale,
        }
    }

    fn unit(&self) -> f64 {
        SUBPIXELS * self.dpr
    }

    fn at(&self, (x, y): Point) -> (i32, i32) {
        (units(x * self.unit()), units(y * self.unit()))
    }

    fn width(&self, css: f64) -> u32 {
        units(css * self.unit()).unsigned_abs().max(1)
    }

    /// The nearest edge between device pixels.
    pub(crate) fn snap(&self, css: f64) -> f64 {
        (css * self.dpr).round() / self.dpr
    }

    /// Finishes the picture on the backend.
    pub(crate) fn present(&self) -> DrawResult<(), DB> {
        self.backend
            .borrow_mut()
            .present()
            .map_err(DrawingAreaErrorKind::BackendError)
    }

    /// One CSS pixel as a whole number of device pixels.
    pub(crate) fn hair(&self) -> f64 {
        self.dpr.round().max(1.0) / self.dpr
    }

    pub(crate) fn rect(&self, from: Point, to: Point, ink: impl Into<Ink>) -> DrawResult<(), DB> {
        let style = ink.into().colour().filled();
        self.backend
            .borrow_mut()
            .draw_rect(self.at(from), self.at(to), &style, true)
            .map_err(DrawingAreaErrorKind::BackendError)
    }

    /// A horizontal line one pixel high, `y` at its upper edge.
    pub(crate) fn horizontal(
        &self,
        x: (f64, f64),
        y: f64,
        ink: impl Into<Ink>,
    ) -> DrawResult<(), DB> {
        let y = self.snap(y);
        self.rect((x.0, y), (x.1, y + self.hair()), ink)
    }

    pub(crate) fn path(
        &self,
        points: &[Point],
        width: f64,
        ink: impl Into<Ink>,
    ) -> DrawResult<(), DB> {
        let style = self.stroke(width, ink.into());
        let points = points.iter().map(|&point| self.at(point));
        self.backend
            .borrow_mut()
            .draw_path(points, &style)
            .map_err(DrawingAreaErrorKind::BackendError)
    }

    pub(crate) fn polygon(&self, points: &[Point], ink: impl Into<Ink>) -> DrawResult<(), DB> {
        let style = ink.into().colour().filled();
        let points = points.iter().map(|&point| self.at(point));
        self.backend
            .borrow_mut()
            .fill_polygon(points, &style)
            .map_err(DrawingAreaErrorKind::BackendError)
    }

    pub(crate) fn disc(
        &self,
        centre: Point,
        radius: f64,
        ink: impl Into<Ink>,
    ) -> DrawResult<(), DB> {
        let style = ink.into().colour().filled();
        self.backend
            .borrow_mut()
            .draw_circle(self.at(centre), self.width(radius), &style, true)
            .map_err(DrawingAreaErrorKind::BackendError)
    }

    pub(crate) fn ring(
        &self,
        centre: Point,
        radius: f64,
        width: f64,
        ink: impl Into<Ink>,
    ) -> DrawResult<(), DB> {
        let style = self.stroke(width, ink.into());
        self.backend
            .borrow_mut()
            .draw_circle(self.at(centre), self.width(radius), &style, false)
            .map_err(DrawingAreaErrorKind::BackendError)
    }

    /// A text of axis size, its vertical middle at the point.
    pub(crate) fn text(
        &self,
        at: Point,
        anchor: Anchor,
        text: &str,
        ink: impl Into<Ink>,
    ) -> DrawResult<(), DB> {
        self.text_of_size(at, anchor, text, (ink.into(), FONT_SIZE))
    }

    /// A text of a font size in CSS pixels, its vertical middle at the point.
    pub(crate) fn text_of_size(
        &self,
        at: Point,
        anchor: Anchor,
        text: &str,
        (ink, size): (Ink, f64),
    ) -> DrawResult<(), DB> {
        let size = size * self.unit() * self.font_scale;
        let font = FontDesc::new(FontFamily::Name(self.font), size, FontStyle::Normal);
        let hangs = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let style = font.color(&ink.colour()).pos(Pos::new(hangs, VPos::Center));
        self.backend
            .borrow_mut()
            .draw_text(text, &style, self.at(at))
            .map_err(DrawingAreaErrorKind::BackendError)
    }

    fn stroke(&self, width: f64, ink: Ink) -> ShapeStyle {
        ShapeStyle {
            color: ink.colour(),
            filled: false,
            stroke_width: self.width(width),
        }
    }
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
