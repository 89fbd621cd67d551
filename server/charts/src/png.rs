//! PNG pictures of SVG documents, without a browser.
//!
//! Letters come from an embedded font; those that it lacks (Chinese, for example) come from the fonts of the system.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

/// Maximum width and height of a picture in pixels.
const MAX_SIDE: u32 = 16_384;
/// Pixels per CSS pixel.
const SCALE: f32 = 2.0;
const FONT: &str = "DejaVu Sans";

/// The picture of an SVG document, at two pixels per CSS pixel; `None` if it would be too large or is not SVG.
pub fn picture(svg: &str) -> Option<Vec<u8>> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    if !svg.is_ascii() {
        fonts.load_system_fonts();
    }
    // After the settings of the system, which may name a font that is not installed.
    fonts.set_sans_serif_family(FONT);
    let options = Options {
        font_family: FONT.to_owned(),
        fontdb: Arc::new(fonts),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options).ok()?;
    let size = tree.size().to_int_size().scale_by(SCALE)?;
    if size.width().max(size.height()) > MAX_SIDE {
        return None;
    }
    let mut pixmap = Pixmap::new(size.width(), size.height())?;
    let scale = Transform::from_scale(SCALE, SCALE);
    resvg::render(&tree, scale, &mut pixmap.as_mut());
    pixmap.encode_png().ok()
}

#[cfg(test)]
mod tests {
    use super::picture;

    fn of_text(text: &str) -> Vec<u8> {
        let svg = format!(
            "<svg width=\"60\" height=\"20\" xmlns=\"http://www.w3.org/2000/svg\">\
             <text x=\"4\" y=\"14\" font-family=\"sans-serif\" font-size=\"12\">{text}</text></svg>"
        );
        picture(&svg).unwrap()
    }

    #[test]
    fn signs_of_mathematics_have_letters_of_their_own() {
        let empty = of_text("");
        let all = ["8", "∞", "∇", "V", "−", "…", "×"].map(of_text);
        for (at, one) in all.iter().enumerate() {
            assert_ne!(*one, empty);
            assert!(!all[..at].contains(one), "{at}");
        }
    }

    #[test]
    fn pictures_are_bounded() {
        assert_eq!(
            picture("<svg width=\"9000\" height=\"1\" xmlns=\"http://www.w3.org/2000/svg\"/>"),
            None
        );
        assert_eq!(picture("no picture"), None);
    }
}
