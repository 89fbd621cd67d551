//! Plots as PNG without a browser: an anti-aliased backend, and sheets of plots with titles.
//!
//! The built-in font is a single one: missing letters (Chinese, for example) become a box. SVG keeps every letter.

use std::convert::Infallible;

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};
use plotters_backend::text_anchor::HPos;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};
use tiny_skia::{
    FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, PremultipliedColorU8, Stroke,
    Transform,
};

use crate::distribution;
use crate::geometry::Geometry;
use crate::line;
use crate::paint::SUBPIXELS;
use crate::sheet::{self, Frame};
use crate::theme::{Rgb, Theme};

/// Maximum width and height of a picture in pixels.
const MAX_SIDE: f64 = 16_384.0;
/// Font size in CSS pixels, for any requested size: the font has only one.
const HEIGHT: RasterHeight = RasterHeight::Size24;
const SCALE: f64 = 2.0;

/// The drawing surface, with two pixels per CSS pixel.
pub struct Canvas {
    pixmap: Pixmap,
    /// Upper left corner of the current plot, in pixels.
    origin: (f64, f64),
}

impl Canvas {
    /// Draws a line plot.
    pub fn line(&mut self, spec: &line::Spec, theme: &Theme) {
        let spec = line::Spec {
            dpr: 1.0,
            ..spec.clone()
        };
        let geometry = Geometry::new(&spec);
        // The backend never fails.
        line::draw(Backend(self), &spec, &geometry, theme, 1.0).unwrap_or_default();
    }

    /// Draws a distribution chart.
    pub fn distribution(&mut self, spec: &distribution::Spec, theme: &Theme) {
        let spec = distribution::Spec {
            dpr: 1.0,
            ..spec.clone()
        };
        let layout = distribution::Layout::new(&spec);
        distribution::draw(Backend(self), &spec, &layout, theme, 1.0).unwrap_or_default();
    }

    fn fill_ground(&mut self, Rgb(r, g, b): Rgb) {
        let ground = tiny_skia::Color::from_rgba8(r, g, b, u8::MAX);
        self.pixmap.fill(ground);
    }

    fn at(&self, (x, y): BackendCoord) -> (f32, f32) {
        let scaled =
            |origin: f64, units: i32| narrow(origin + f64::from(units) / SUBPIXELS * SCALE);
        (scaled(self.origin.0, x), scaled(self.origin.1, y))
    }

    fn fill(&mut self, path: Option<Path>, colour: BackendColor) {
        let (Some(path), paint) = (path, paint(colour)) else {
            return;
        };
        self.pixmap.fill_path(
            &path,
            &paint,
            FillRule::Winding,
            Transform::identity(),
            None,
        );
    }

    fn stroke(&mut self, path: Option<Path>, colour: BackendColor, width: u32) {
        let (Some(path), paint) = (path, paint(colour)) else {
            return;
        };
        let stroke = Stroke {
            width: narrow(f64::from(width) / SUBPIXELS * SCALE),
            line_cap: LineCap::Round,
            line_join: LineJoin::Round,
            ..Stroke::default()
        };
        self.pixmap
            .stroke_path(&path, &paint, &stroke, Transform::identity(), None);
    }

    /// Draws text from `x` on, vertically centred at `y`; pixels.
    fn text(&mut self, text: &str, (x, y): (f64, f64), colour: BackendColor) {
        let advance = get_raster_width(FontWeight::Regular, HEIGHT);
        let (x, y) = (x.round(), (y - HEIGHT.val() as f64 / 2.0).round());
        for (number, letter) in text.chars().enumerate() {
            let Some(raster) = letter_of(letter) else {
                continue;
            };
            for (row, line) in raster.iter().enumerate() {
                for (column, alpha) in line.iter().enumerate() {
                    let x = x + (number * advance + column) as f64;
                    self.blend(x, y + row as f64, colour, *alpha);
                }
            }
        }
    }

    fn blend(&mut self, x: f64, y: f64, colour: BackendColor, alpha: u8) {
        let (width, height) = (self.pixmap.width(), self.pixmap.height());
        if alpha == 0
            || !(0.0..f64::from(width)).contains(&x)
            || !(0.0..f64::from(height)).contains(&y)
        {
            return;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "inside of the picture"
        )]
        let at = y as usize * width as usize + x as usize;
        let share = f64::from(alpha) / 255.0 * colour.alpha;
        if let Some(pixel) = self.pixmap.pixels_mut().get_mut(at) {
            let new = colour.rgb;
            let mix = |old: u8, new: u8| {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "between two bytes"
                )]
                let mixed = (f64::from(old) * (1.0 - share) + f64::from(new) * share).round() as u8;
                mixed
            };
            // The background is opaque, and so is everything on it.
            let mixed = (
                mix(pixel.red(), new.0),
                mix(pixel.green(), new.1),
                mix(pixel.blue(), new.2),
            );
            if let Some(mixed) = PremultipliedColorU8::from_rgba(mixed.0, mixed.1, mixed.2, u8::MAX)
            {
                *pixel = mixed;
            }
        }
    }
}

/// Bitmap of a letter; similar letters replace missing ones.
fn letter_of(letter: char) -> Option<&'static [&'static [u8]]> {
    let known = match letter {
        '\u{2212}' | '\u{2013}' | '\u{2014}' => '-',
        '\u{2207}' => 'V',
        '\u{221e}' => '8',
        '\u{2026}' => '.',
        other => other,
    };
    let raster = |letter| get_raster(letter, FontWeight::Regular, HEIGHT);
    Some(raster(known).or_else(|| raster('\u{fffd}'))?.raster())
}

fn paint(colour: BackendColor) -> Paint<'static> {
    let (r, g, b) = colour.rgb;
    let mut paint = Paint {
        anti_alias: true,
        ..Paint::default()
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 to 255"
    )]
    let alpha = (colour.alpha.clamp(0.0, 1.0) * 255.0).round() as u8;
    paint.set_color_rgba8(r, g, b, alpha);
    paint
}

#[expect(clippy::cast_possible_truncation, reason = "pixels")]
const fn narrow(value: f64) -> f32 {
    value as f32
}

fn opaque(Rgb(r, g, b): Rgb) -> BackendColor {
    BackendColor {
        alpha: 1.0,
        rgb: (r, g, b),
    }
}

/// Plots of any kind side by side in a number of columns, on the background of the theme: `plot` draws each. `None` if
/// the picture would be too large.
pub fn sheet_of(
    frames: &[Frame],
    columns: usize,
    theme: &Theme,
    plot: impl Fn(usize, &mut Canvas),
) -> Option<Vec<u8>> {
    let (width, height, placed) = sheet::place(frames, columns);
    let pixels = |css: f64| {
        let pixels = (css * SCALE).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "inside of the range"
        )]
        (1.0..=MAX_SIDE).contains(&pixels).then_some(pixels as u32)
    };
    let mut canvas = Canvas {
        pixmap: Pixmap::new(pixels(width)?, pixels(height)?)?,
        origin: (0.0, 0.0),
    };
    canvas.fill_ground(theme.surface);
    for (number, placed) in placed.into_iter().enumerate() {
        let (x, y, title) = placed.title;
        canvas.text(title, (x * SCALE, (y - 4.0) * SCALE), opaque(theme.ink));
        for (x, y, colour, name) in placed.legend {
            canvas.text(name, (x * SCALE, (y - 4.0) * SCALE), opaque(theme.ink_2));
            let (x, y) = (
                narrow((x - sheet::SWATCH) * SCALE),
                narrow((y - 9.0) * SCALE),
            );
            let swatch = tiny_skia::Rect::from_xywh(x, y, narrow(9.0 * SCALE), narrow(9.0 * SCALE));
            canvas.fill(swatch.map(PathBuilder::from_rect), opaque(colour));
        }
        canvas.origin = (placed.plot.0 * SCALE, placed.plot.1 * SCALE);
        plot(number, &mut canvas);
        canvas.origin = (0.0, 0.0);
    }
    canvas.pixmap.encode_png().ok()
}

/// The canvas as a plotters backend, in [`SUBPIXELS`] of a CSS pixel.
struct Backend<'a>(&'a mut Canvas);

type PngResult = Result<(), DrawingErrorKind<Infallible>>;

impl Backend<'_> {
    fn path(
        &self,
        points: impl IntoIterator<Item = BackendCoord>,
        is_closed: bool,
    ) -> Option<Path> {
        let mut path = PathBuilder::new();
        for (number, point) in points.into_iter().enumerate() {
            let (x, y) = self.0.at(point);
            if number == 0 {
                path.move_to(x, y);
            } else {
                path.line_to(x, y);
            }
        }
        if is_closed {
            path.close();
        }
        path.finish()
    }
}

impl DrawingBackend for Backend<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (self.0.pixmap.width(), self.0.pixmap.height())
    }

    fn ensure_prepared(&mut self) -> PngResult {
        Ok(())
    }

    fn present(&mut self) -> PngResult {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> PngResult {
        let (x, y) = self.0.at(point);
        self.0
            .blend(f64::from(x.floor()), f64::from(y.floor()), color, u8::MAX);
        Ok(())
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> PngResult {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        fill: bool,
    ) -> PngResult {
        let path = self.path([from, (to.0, from.1), to, (from.0, to.1)], true);
        if fill {
            self.0.fill(path, style.color());
        } else {
            self.0.stroke(path, style.color(), style.stroke_width());
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> PngResult {
        let path = self.path(path, false);
        self.0.stroke(path, style.color(), style.stroke_width());
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> PngResult {
        let (x, y) = self.0.at(center);
        let path = PathBuilder::from_circle(x, y, narrow(f64::from(radius) / SUBPIXELS * SCALE));
        if fill {
            self.0.fill(path, style.color());
        } else {
            self.0.stroke(path, style.color(), style.stroke_width());
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vert: I,
        style: &S,
    ) -> PngResult {
        let path = self.path(vert, true);
        self.0.fill(path, style.color());
        Ok(())
    }

    fn draw_text<TStyle: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &TStyle,
        pos: BackendCoord,
    ) -> PngResult {
        let (x, y) = self.0.at(pos);
        let width = (text.chars().count() * get_raster_width(FontWeight::Regular, HEIGHT)) as f64;
        let left = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Center => width / 2.0,
            HPos::Right => width,
        };
        self.0
            .text(text, (f64::from(x) - left, f64::from(y)), style.color());
        Ok(())
    }

    fn estimate_text_size<TStyle: BackendTextStyle>(
        &self,
        text: &str,
        _style: &TStyle,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let letters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        Ok((letters.saturating_mul(12), 24))
    }
}
