//! Differences of two profiles.

use serde::{Deserialize, Serialize};

use super::Parts;
use crate::Sentence;

/// The query of `GET /api/profile/diff`: the profile of a run, and another one to compare it with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct ProfileDiffQuery {
    /// Name of the run.
    pub run: String,
    /// Id of the session; the newest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Rank; the lowest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Name of the run to compare with; the same run if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// Session to compare with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_session: Option<String>,
    /// Rank to compare with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_rank: Option<u32>,
}

/// Differences of two profiles: the first one against the second, its baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProfileDiff {
    /// Median steps of both.
    pub median_step_nanos: (i64, i64),
    /// Ratio of the medians with its 95 % interval; `None` with fewer than five steps in one of them.
    pub ratio: Option<(f64, f64, f64)>,
    /// Mean parts of both.
    pub parts_nanos: (Parts, Parts),
    /// Peaks of memory of both, bytes; `None` where memory was not recorded.
    pub peak_len_bytes: (Option<u64>, Option<u64>),
    /// Operators, those that cost a step the most first.
    pub operators: Vec<OperatorDifference>,
    /// Kernels, likewise.
    pub kernels: Vec<OperatorDifference>,
    /// Sentence for the head of the page.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::Sentence))]
    pub sentence: Sentence,
    /// `true` if rows were left out.
    pub cut: bool,
}

/// Difference of one operator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OperatorDifference {
    /// Name.
    pub name: String,
    /// Calls a step.
    pub calls_step: (f64, f64),
    /// Self time a step.
    pub self_step_nanos: (i64, i64),
    /// Mean time of a call.
    pub mean_nanos: (i64, i64),
}
