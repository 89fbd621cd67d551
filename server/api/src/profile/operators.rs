//! Operators and kernels of a profile: tables, and one of them in detail.

use serde::{Deserialize, Serialize};

use super::OperatorRow;

/// Groups of operators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum OperatorGroup {
    /// By type: namespaces dropped, overloads joined.
    Type,
    /// By name.
    #[default]
    Name,
    /// By scope: module, or scope of the graph.
    Scope,
    /// By name and shapes of the inputs.
    Shape,
    /// Kernels by short name.
    Kernel,
    /// Kernels by full name, with template arguments and parameters.
    Variant,
}

impl OperatorGroup {
    /// `true` if rows are kernels.
    #[must_use]
    pub const fn is_of_kernels(self) -> bool {
        matches!(self, Self::Kernel | Self::Variant)
    }
}

/// The query of `GET /api/profile/operators`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct OperatorsQuery {
    /// Name of the run.
    pub run: String,
    /// Id of the session; the newest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Rank; the lowest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// First step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_step: Option<i64>,
    /// Last step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_step: Option<i64>,
    /// Group.
    #[serde(default)]
    pub by: OperatorGroup,
    /// Text in the name; `type:TEXT` looks in types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Number of rows to skip.
    #[serde(default)]
    pub from: usize,
    /// Maximum number of rows; [`DEFAULT_OPERATORS`](super::DEFAULT_OPERATORS) if left out, at most [`MAX_OPERATORS`](super::MAX_OPERATORS).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// Operators, the most self time first (kernels: the most device time).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OperatorsAnswer {
    /// Rows.
    pub rows: Vec<OperatorRow>,
    /// Number of rows that match, including those left out.
    pub total: u64,
    /// Self time of all operators in the range.
    pub self_nanos: i64,
    /// Device time of all kernels in the range.
    pub device_nanos: i64,
    /// Number of steps that times a step are divided by.
    pub steps: u64,
    /// `true` if rows were left out.
    pub cut: bool,
}

/// The query of `GET /api/profile/operator`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct OperatorQuery {
    /// Name of the run.
    pub run: String,
    /// Id of the session; the newest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Rank; the lowest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// First step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_step: Option<i64>,
    /// Last step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_step: Option<i64>,
    /// Group of `name`.
    #[serde(default)]
    pub by: OperatorGroup,
    /// Name of the row.
    pub name: String,
    /// Shapes of the row, for groups by shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shapes: Option<String>,
}

/// One operator in detail.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OperatorAnswer {
    /// Its row.
    pub row: OperatorRow,
    /// Edges of the bins of the distribution of its durations, one more than `counts`.
    pub edges_nanos: Vec<i64>,
    /// Number of calls in each bin.
    pub counts: Vec<u64>,
    /// Mean time of a call by step.
    pub by_step: Vec<(i64, i64)>,
    /// Rows by shape.
    pub shapes: Vec<OperatorRow>,
    /// Kernels that it and its children launched; of a kernel by short name its full names, if it has several.
    pub kernels: Vec<OperatorRow>,
    /// Operators that call it, with the number of calls.
    pub callers: Vec<(String, u64)>,
    /// Commonest sequences of kernels of one call, with their number; up to ten.
    pub sequences: Vec<(Vec<String>, u64)>,
    /// Start of its longest call.
    pub longest_at_nanos: i64,
    /// Duration of its longest call.
    pub longest_nanos: i64,
    /// Node of the graph of the run with this name, if there is one.
    pub node: Option<String>,
}
