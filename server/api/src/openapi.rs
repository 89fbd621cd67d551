//! Schemas that the derive macros cannot infer.

use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::table::CellValue;

/// A number that may be NaN or infinite.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(as = Float)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum Float {
    /// A finite number.
    Number(f64),
    /// A number that JSON cannot represent.
    NonFinite(crate::non_finite::NonFiniteClass),
}

/// An element of a tensor.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(as = Element)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum Element {
    /// A number that JSON can represent exactly.
    Number(f64),
    /// `"NaN"`, `"Infinity"`, `"-Infinity"`, or the digits of an integer beyond 2^53.
    Text(String),
}

/// A sentence in every language.
#[derive(ToSchema)]
#[schema(as = Sentence)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct Sentence {
    /// English.
    en: String,
    /// Chinese.
    zh: String,
}

/// A value in JSON; `null` is no value.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Cell {
    /// A finite number.
    Number(f64),
    /// A truth value.
    Truth(bool),
    /// A text, or `"NaN"`, `"Infinity"`, `"-Infinity"`.
    Text(String),
}

impl PartialSchema for CellValue {
    fn schema() -> RefOr<Schema> {
        Option::<Cell>::schema()
    }
}

impl ToSchema for CellValue {}
