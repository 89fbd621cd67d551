//! Notes: text that a person wrote, under one tag.

use trainscope_format::Text;

/// Where notes are.
pub(crate) const TAG: &str = "notes";

/// One text.
pub(crate) fn text(text: String) -> Text {
    Text {
        shape: Vec::new(),
        items: vec![text],
    }
}
