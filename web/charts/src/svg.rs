//! A plot as SVG text: reports, downloads, tests.

use plotters::prelude::SVGBackend;

use crate::geometry::Geometry;
use crate::line::{Spec, draw};
use crate::paint::SUBPIXELS;
use crate::theme::Theme;

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
