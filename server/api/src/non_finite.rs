//! Classes of numbers that JSON cannot represent.

use serde::{Deserialize, Serialize};

/// Class of a non-finite value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum NonFiniteClass {
    /// NaN.
    #[serde(rename = "NaN")]
    Nan,
    /// Positive infinity.
    #[serde(rename = "Infinity")]
    PosInf,
    /// Negative infinity.
    #[serde(rename = "-Infinity")]
    NegInf,
}
