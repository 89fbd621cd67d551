//! Texts that the server writes for users.

use serde::{Deserialize, Serialize};

/// Text in the languages of the user interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Words))]
pub struct Sentence {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
}

impl Sentence {
    /// A text in both languages.
    pub fn new(en: impl Into<String>, zh: impl Into<String>) -> Self {
        Self {
            en: en.into(),
            zh: zh.into(),
        }
    }
}
