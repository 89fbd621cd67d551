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
