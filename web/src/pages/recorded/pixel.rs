//! Values of single pixels of a decoded picture.

use web_sys::{CanvasRenderingContext2d, HtmlImageElement};

use crate::components::blank;
use crate::format;

/// Pictures with more pixels are not searched for values: reading them back takes memory four times that.
const MAX_SEARCHED: u32 = 1 << 20;
/// Greatest value of a channel.
const WHITE: f64 = 255.0;

/// A picture in its own size, to read values from. Cheap to clone.
#[derive(Clone)]
pub(super) struct Pixels {
    context: CanvasRenderingContext2d,
    size: (u32, u32),
}

impl Pixels {
    /// Copies a loaded picture; `None` if the browser has no memory for it.
    pub(super) fn of(image: &HtmlImageElement) -> Option<Self> {
        let size = (image.natural_width(), image.natural_height());
        let (_, context) = blank(size.0, size.1)?;
        context
            .draw_image_with_html_image_element(image, 0.0, 0.0)
            .ok()?;
        Some(Self { context, size })
    }

    /// Red, green, blue and opacity, 0 to 255, of a column and row from the top left.
    pub(super) fn at(&self, (x, y): (u32, u32)) -> Option<[u8; 4]> {
        if x >= self.size.0 || y >= self.size.1 {
            return None;
        }
        self.read((x, y), (1, 1))?.try_into().ok()
    }

    /// True if all pixels are opaque black; `None` for pictures above [`MAX_SEARCHED`].
    pub(super) fn is_black(&self) -> Option<bool> {
        let (width, height) = self.size;
        if width.checked_mul(height)? > MAX_SEARCHED {
            return None;
        }
        let values = self.read((0, 0), self.size)?;
        Some(is_black(&values))
    }

    fn read(&self, from: (u32, u32), size: (u32, u32)) -> Option<Vec<u8>> {
        let (x, y) = (f64::from(from.0), f64::from(from.1));
        let (width, height) = (f64::from(size.0), f64::from(size.1));
        let data = self.context.get_image_data(x, y, width, height).ok()?;
        Some(data.data().0)
    }
}

fn is_black(values: &[u8]) -> bool {
    let black = [0, 0, 0, u8::MAX];
    !values.is_empty() && values.chunks(4).all(|pixel| pixel == black)
}

/// The pixel under the pointer of a picture that is scaled without distortion and begins at the top left of its element.
/// `at` is in CSS pixels from there, `shown` the size of the element, `natural` that of the picture.
pub(super) fn under(at: (f64, f64), shown: (f64, f64), natural: (u32, u32)) -> Option<(u32, u32)> {
    let (width, height) = (f64::from(natural.0), f64::from(natural.1));
    let scale = (shown.0 / width).min(shown.1 / height);
    if !(scale.is_finite() && scale > 0.0 && at.0 >= 0.0 && at.1 >= 0.0) {
        return None;
    }
    let (x, y) = (at.0 / scale, at.1 / scale);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within the picture, whose sides are u32"
    )]
    (x < width && y < height).then_some((x as u32, y as u32))
}

/// `x 12, y 5: 220 (0.863)`: a grey level also from 0 to 1, colours as red, green and blue, opacity where it is not full.
pub(super) fn text((x, y): (u32, u32), [red, green, blue, opacity]: [u8; 4]) -> String {
    let value = if red == green && green == blue {
        format!("{red} ({})", format::number(f64::from(red) / WHITE, 3))
    } else {
        format!("{red} {green} {blue}")
    };
    let opacity = if opacity == u8::MAX {
        String::new()
    } else {
        format!(" · α {opacity}")
    };
    format!("x {x}, y {y}: {value}{opacity}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pointer_is_over_a_pixel_of_the_picture_or_beside_it() {
        // Fitted into a wider element: ten CSS pixels for each of its own.
        let natural = (4, 2);
        let shown = (100.0, 20.0);
        assert_eq!(under((0.0, 0.0), shown, natural), Some((0, 0)));
        assert_eq!(under((39.9, 19.9), shown, natural), Some((3, 1)));
        assert_eq!(under((40.1, 5.0), shown, natural), None);
        assert_eq!(under((-1.0, 5.0), shown, natural), None);
        assert_eq!(under((1.0, 1.0), shown, (0, 0)), None);
    }

    #[test]
    fn a_grey_level_is_also_a_share() {
        assert_eq!(text((12, 5), [51, 51, 51, 255]), "x 12, y 5: 51 (0.200)");
        assert_eq!(text((0, 0), [1, 2, 3, 7]), "x 0, y 0: 1 2 3 · α 7");
    }

    #[test]
    fn only_opaque_black_is_black() {
        assert!(is_black(&[0, 0, 0, 255, 0, 0, 0, 255]));
        assert!(!is_black(&[0, 0, 0, 255, 0, 1, 0, 255]));
        assert!(!is_black(&[0, 0, 0, 0]));
        assert!(!is_black(&[]));
    }
}
