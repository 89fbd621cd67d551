//! Values of single pixels of a decoded picture.

use web_sys::{CanvasRenderingContext2d, HtmlImageElement};

use trainscope_web_kit::components::blank;
use trainscope_web_kit::format;

/// Maximum number of pixels of a picture that is searched for values: reading it back takes four bytes per pixel.
const MAX_SEARCHED: u32 = 1 << 20;
/// Maximum value of a channel.
const WHITE: f64 = 255.0;

/// A picture in its natural size, to read values from. Cheap to clone.
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

    /// `true` if all pixels are opaque black; `None` for pictures above [`MAX_SEARCHED`].
    pub(super) fn is_black(&self) -> Option<bool> {
        let (width, height) = self.size;
        if width.checked_mul(height)? > MAX_SEARCHED {
            return None;
        }
        let values = self.read((0, 0), self.size)?;
        Some(is_black(&values))
    }

    /// Difference to a picture of the same size; `None` if sizes differ or the browser has no memory for it.
    pub(super) fn minus(&self, other: &Self) -> Option<Difference> {
        if self.size != other.size {
            return None;
        }
        let pixels = self.read((0, 0), self.size)?;
        let other = other.read((0, 0), other.size)?;
        Some(Difference::of(&pixels, &other, self.size.0 as usize))
    }

    fn read(&self, from: (u32, u32), size: (u32, u32)) -> Option<Vec<u8>> {
        let (x, y) = (f64::from(from.0), f64::from(from.1));
        let (width, height) = (f64::from(size.0), f64::from(size.1));
        let data = self.context.get_image_data(x, y, width, height).ok()?;
        Some(data.data().0)
    }
}

/// Two pictures of one size, subtracted pixel by pixel.
pub(super) struct Difference {
    /// Red, green, blue and opacity of each pixel: red if the first picture is brighter, blue if it is darker,
    /// transparent if they are equal. Opacity grows with the difference.
    pub(super) painted: Vec<u8>,
    /// Pixels in a row.
    pub(super) width: usize,
    /// Pixels that differ in any channel.
    pub(super) differing: u64,
    pub(super) pixels: u64,
    /// Maximum difference of a channel, 1 to 255; 0 for equal pictures.
    pub(super) greatest: u8,
}

/// Colour of pixels that are brighter.
const BRIGHTER: [u8; 3] = [0xd6, 0x60, 0x4d];
/// Colour of pixels that are darker.
const DARKER: [u8; 3] = [0x43, 0x93, 0xc3];
/// Opacity of the smallest difference, 0 to 255, which keeps it visible.
const FAINTEST: f64 = 64.0;

impl Difference {
    /// Takes red, green, blue and opacity of each pixel of both pictures.
    fn of(pixels: &[u8], other: &[u8], width: usize) -> Self {
        let strongest: Vec<i16> = pixels
            .chunks_exact(4)
            .zip(other.chunks_exact(4))
            .map(|(pixel, other)| strongest(pixel, other))
            .collect();
        let greatest = strongest.iter().map(|by| by.unsigned_abs()).max();
        let greatest = greatest.and_then(|by| u8::try_from(by).ok()).unwrap_or(0);
        let painted = strongest.iter().flat_map(|by| {
            let [red, green, blue] = if *by > 0 { BRIGHTER } else { DARKER };
            let share = f64::from(by.unsigned_abs()) / f64::from(greatest.max(1));
            let opacity = FAINTEST + (WHITE - FAINTEST) * share;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 0 and 255"
            )]
            let opacity = if *by == 0 { 0 } else { opacity as u8 };
            [red, green, blue, opacity]
        });
        Self {
            painted: painted.collect(),
            width,
            differing: strongest.iter().filter(|by| **by != 0).count() as u64,
            pixels: strongest.len() as u64,
            greatest,
        }
    }
}

/// Difference of the channel that differs most, with its sign.
fn strongest(pixel: &[u8], other: &[u8]) -> i16 {
    let by = pixel
        .iter()
        .zip(other)
        .map(|(a, b)| i16::from(*a) - i16::from(*b));
    by.max_by_key(|by| by.unsigned_abs()).unwrap_or(0)
}

/// `x 12, y 5: 220 − 0 = +220`: the values of two pictures, and the difference of the channel that differs most.
pub(super) fn difference_text((x, y): (u32, u32), pixel: [u8; 4], other: [u8; 4]) -> String {
    let by = strongest(&pixel, &other);
    let sign = match by.signum() {
        1 => "+",
        -1 => "−",
        _ => "",
    };
    let [pixel, other] = [pixel, other].map(values);
    format!(
        "x {x}, y {y}: {sign}{} ({pixel} − {other})",
        by.unsigned_abs()
    )
}

/// One number for grey, three for a colour.
fn values([red, green, blue, _]: [u8; 4]) -> String {
    if red == green && green == blue {
        red.to_string()
    } else {
        format!("{red} {green} {blue}")
    }
}

fn is_black(values: &[u8]) -> bool {
    let black = [0, 0, 0, u8::MAX];
    !values.is_empty() && values.chunks(4).all(|pixel| pixel == black)
}

/// The pixel under the pointer of a picture that is scaled without distortion and begins at the top left of its
/// element. `at` is in CSS pixels from there, `shown` the size of the element, `natural` that of the picture.
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

/// `x 12, y 5: 220 (0.863)`: a grey level also from 0 to 1, colours as red, green and blue, opacity unless it is full.
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
        // Fitted into a wider element: ten CSS pixels per pixel of the picture.
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
    fn every_pixel_that_differs_is_painted_in_the_colour_of_its_sign() {
        let pixels = [9, 9, 9, 255, 100, 0, 0, 255, 0, 0, 0, 255];
        let other = [9, 9, 9, 255, 0, 50, 0, 255, 0, 0, 1, 255];
        let difference = Difference::of(&pixels, &other, 3);
        assert_eq!((difference.differing, difference.pixels), (2, 3));
        assert_eq!(difference.greatest, 100);
        assert_eq!(difference.painted[3], 0);
        assert_eq!(
            difference.painted[4..8],
            [BRIGHTER[0], BRIGHTER[1], BRIGHTER[2], 255]
        );
        assert_eq!(difference.painted[8..11], DARKER);
        assert!(f64::from(difference.painted[11]) >= FAINTEST);
        assert_eq!(Difference::of(&pixels, &pixels, 3).greatest, 0);
        assert_eq!(
            difference_text((1, 0), [0, 0, 0, 255], [220, 220, 220, 255]),
            "x 1, y 0: −220 (0 − 220)"
        );
    }

    #[test]
    fn only_opaque_black_is_black() {
        assert!(is_black(&[0, 0, 0, 255, 0, 0, 0, 255]));
        assert!(!is_black(&[0, 0, 0, 255, 0, 1, 0, 255]));
        assert!(!is_black(&[0, 0, 0, 0]));
        assert!(!is_black(&[]));
    }
}
