//! Pictures at other sizes than their own: smooth where they are made smaller, which leaves text legible; with square pixels
//! where they are made larger.

use web_sys::HtmlImageElement;

use crate::prelude::*;

/// `true` if a loaded picture is drawn with more pixels of the screen than it has.
pub fn is_enlarged(image: &HtmlImageElement) -> bool {
    let across = f64::from(image.client_width()) / f64::from(image.natural_width());
    let down = f64::from(image.client_height()) / f64::from(image.natural_height());
    across.min(down) * window().device_pixel_ratio() > 1.0
}
