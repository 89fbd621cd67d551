//! Schemas of what the derive macros cannot know.

use utoipa::ToSchema;

/// A number that may be NaN or infinite.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(as = Float)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum Float {
    /// A finite number.
    Number(f64),
    /// One that JSON has no number for.
    NonFinite(crate::scalars::NonFiniteClass),
}

/// An element of a tensor.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(as = Element)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum Element {
    /// What a number of JSON holds.
    Number(f64),
    /// `"NaN"`, `"Infinity"`, `"-Infinity"`, or the digits of an integer beyond 2^53.
    Text(String),
}
