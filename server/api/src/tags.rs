//! `GET /api/tags?run=`: what one run has recorded; `POST /api/tags`: what several have.

use serde::{Deserialize, Serialize};
use trainscope_format::{Kind, Role};

/// The query of `GET /api/tags`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct TagsQuery {
    /// Name of the run.
    pub run: String,
}

/// Runs in one request at most.
pub const MAX_RUNS: usize = 1_000;
/// Tags of all runs in one answer, about; the run with which they become more is the last one.
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
    /// One for each run asked for, in the same order; `null` where there is no such run, and after the last one if
    /// `cut`.
    pub lists: Vec<Option<TagList>>,
    /// Whether runs at the end were left out because there are more than about [`MAX_TAGS`] tags.
    pub cut: bool,
}

/// The tags of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TagList {
    /// Ordered by tag, kind, rank and writer.
    pub tags: Vec<Tag>,
    /// Whether tags were left out because there are too many for one answer.
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
    /// What it records.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub kind: Kind,
    /// What the tensor is to the training, made out from its name; left out where that is not known, and for what is no
    /// tensor.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub role: Option<Role>,
    /// Points that are shown by default.
    pub points: u64,
    /// Points hidden by default because a restart wrote these steps again; reachable with `superseded=1`.
    pub superseded: u64,
    /// Lowest step shown.
    pub first_step: Option<i64>,
    /// Highest step shown.
    pub last_step: Option<i64>,
    /// Set when several writers wrote this tag at the same time: the file of this one. The first writer has none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub writer: Option<String>,
    /// Set when several writers wrote this tag at the same time: the first file of this one, the first writer's too.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
}
