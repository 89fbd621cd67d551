//! Notes: texts of the user under one tag.

use trainscope_format::Text;

pub(crate) const TAG: &str = "notes";

/// A single text.
pub(crate) fn text(text: String) -> Text {
    Text {
        shape: Vec::new(),
        items: vec![text],
    }
}
