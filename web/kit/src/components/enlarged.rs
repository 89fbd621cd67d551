//! Pictures at other sizes: smooth if reduced, which leaves text legible; with square pixels if enlarged.

use web_sys::HtmlImageElement;

use crate::prelude::*;

/// `true` if a loaded picture is drawn with more pixels of the screen than it has.
pub fn is_enlarged(image: &HtmlImageElement) -> bool {
    let across = f64::from(image.client_width()) / f64::from(image.natural_width());
    let down = f64::from(image.client_height()) / f64::from(image.natural_height());
    across.min(down) * window().device_pixel_ratio() > 1.0
}
