//! Texts that the server writes for users.

use serde::{Deserialize, Serialize};

/// Text in the languages of the user interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Words {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
}
