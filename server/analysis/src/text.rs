//! Texts in the languages of the user interface.

use serde::Serialize;

/// A text in the languages of the pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// English.
    pub en: &'static str,
    /// Chinese.
    pub zh: &'static str,
}

/// A sentence in the languages of the user interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sentence {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
}

impl From<Text> for Sentence {
    fn from(text: Text) -> Self {
        Self {
            en: text.en.to_owned(),
            zh: text.zh.to_owned(),
        }
    }
}
