//! Texts in the languages of the user interface.

use trainscope_api::Sentence;

/// A text in the languages of the pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// English.
    pub en: &'static str,
    /// Chinese.
    pub zh: &'static str,
}

impl From<Text> for Sentence {
    fn from(text: Text) -> Self {
        Self::new(text.en, text.zh)
    }
}
