//! `GET /api/tags?run=`: the tags of one run; `POST /api/tags`: the tags of several.

use serde::{Deserialize, Serialize};
use trainscope_format::{Kind, Role};

/// The query of `GET /api/tags`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct TagsQuery {
    /// Name of the run.
    pub run: String,
}

/// Maximum number of runs in one request.
pub const MAX_RUNS: usize = 1_000;
/// Approximate maximum number of tags in one answer; the run that exceeds it is the last one.
pub const MAX_TAGS: usize = 100_000;

/// The body of `POST /api/tags`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TagsRequest {
    /// Names of runs, at most [`MAX_RUNS`].
    pub runs: Vec<String>,
}

/// The tags of several runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TagLists {
    /// One list for each run requested, in the same order; `null` if the run does not exist, and for the runs cut off
    /// at the end.
    pub lists: Vec<Option<TagList>>,
    /// `true` if runs at the end were left out because there are more than about [`MAX_TAGS`] tags.
    pub cut: bool,
}

/// The tags of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TagList {
    /// Ordered by tag, kind, rank and writer.
    pub tags: Vec<Tag>,
    /// `true` if tags were left out because there are too many for one answer.
    pub cut: bool,
}

/// One series: a tag of one rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Tag {
    /// Name.
    pub tag: String,
    /// Rank that recorded it.
    pub rank: u32,
    /// Kind of its records.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub kind: Kind,
    /// Role of the tensor in the training, inferred from its name; left out if unknown or not a tensor.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub role: Option<Role>,
    /// Points visible by default.
    pub points: u64,
    /// Points hidden by default because a restart wrote these steps again; returned with `superseded=1`.
    pub superseded: u64,
    /// Lowest visible step.
    pub first_step: Option<i64>,
    /// Highest visible step.
    pub last_step: Option<i64>,
    /// File of this writer, if several wrote this tag at the same time. The first writer has none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub writer: Option<String>,
    /// First file of this writer, if several wrote this tag at the same time. The first writer has one too.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
}
