//! The values of recorded tensors: the list of tensors, slices, summaries and history over steps.
//!
//! Elements are exact: values that an `f64` cannot represent are written as text. Elements are read from the recorded
//! files, and only as many as the answer needs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use trainscope_format::tensor::{ChangeStats, TensorStats};
use trainscope_format::{Role, float};

use crate::omitted::is_zero;

mod element;
mod slice;

pub use element::Element;
pub use slice::{Axis, Slice};

/// Tensors of one list by default.
pub const DEFAULT_TENSORS: usize = 500;
/// Maximum number of tensors in one list.
pub const MAX_TENSORS: usize = 5_000;
/// Maximum number of elements in one answer; a larger slice is cut to its first rows and columns.
pub const MAX_ELEMENTS: u64 = 16_384;
/// Maximum number of bins of a histogram.
pub const MAX_BINS: usize = 512;
/// Maximum number of steps in one history.
pub const MAX_HISTORY: usize = 2_000;
/// Maximum number of bytes that one summary reads.
pub const MAX_SUMMARY_BYTES: u64 = 1 << 36;

/// Kind of file that elements are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum TensorSource {
    /// A file of tensors: npy, safetensors, a dump.
    Dump,
    /// A summary file of `MindSpore`.
    Summary,
    /// An event file of `TensorBoard`.
    Tfevents,
    /// No elements: only statistics were recorded.
    Statistics,
    /// The memory of a training that waits.
    Session,
}

/// The query of `GET /api/tensor_index`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct TensorIndexQuery {
    /// Name of the run.
    pub run: String,
    /// Tensors whose name contains this text, in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// Tensors of this role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Tensors that this rank has recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Number of tensors to skip at the beginning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub from: usize,
    /// Maximum number of tensors, 1 to [`MAX_TENSORS`]; [`DEFAULT_TENSORS`] if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// The tensors of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorIndex {
    /// Tensors that match the query, in natural order of their names.
    pub tensors: Vec<TensorEntry>,
    /// Number of tensors that match, including those left out.
    pub total: u64,
    /// `true` if tensors are missing from `tensors`.
    pub cut: bool,
    /// Number of tensors by role that match `search` and `rank`.
    pub roles: BTreeMap<String, u64>,
}

/// One tensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorEntry {
    /// Name of the tensor.
    pub tensor: String,
    /// Role of the tensor in the training.
    pub role: Role,
    /// Ranks that have recorded it, ascending.
    pub ranks: Vec<u32>,
    /// Element type at its last step, if its file records it.
    pub dtype: Option<String>,
    /// Shape at its last step, outermost first.
    pub shape: Option<Vec<u64>>,
    /// Sources with their steps.
    pub sources: Vec<SourceSteps>,
}

/// Steps of a tensor in one kind of source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SourceSteps {
    /// Kind of source.
    pub source: TensorSource,
    /// Number of steps.
    pub steps: u64,
    /// First step.
    pub first_step: i64,
    /// Last step.
    pub last_step: i64,
}

/// The query of `GET /api/tensor`, `/api/tensor_summary` and `/api/tensor_file`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct TensorQuery {
    /// Name of the run.
    pub run: String,
    /// Name of the tensor.
    pub tensor: String,
    /// Rank, 0 if left out.
    #[serde(default)]
    pub rank: u32,
    /// A step with recorded elements; the last one if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// Source to read, if the tensor was recorded twice; the first that has it if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<TensorSource>,
    /// Slice in the notation of `NumPy`: `17, 3, 48:70, :`. At most two axes may be ranges, except for a summary or a
    /// file. If left out: the whole tensor for a summary or a file; for values the last two axes at the first index of
    /// all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<String>,
    /// Tensor to compare with: `previous` (step), `step:12`, `rank:1`, or `run:` and the name of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<String>,
    /// Absolute tolerance of the comparison, 1e-8 if left out. Two elements are equal if they differ by at most this …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absolute: Option<f64>,
    /// … plus this share of the other one: relative tolerance, 1e-5 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative: Option<f64>,
    /// For a summary: number of bins of the histogram, 0 to [`MAX_BINS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bins: Option<usize>,
    /// For a summary: lower edge of the first bin; the least finite element if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// For a summary: upper edge of the last bin; the greatest finite element if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Session to read from the memory of, while it waits, instead of from files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// For a file: `npy` or `csv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
}

/// Elements of a tensor. With `Accept: application/octet-stream` the answer is the bare elements, little-endian in the
/// type of the tensor, in row-major order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorValues {
    /// Source of the elements.
    #[serde(flatten)]
    pub place: TensorPlace,
    /// The returned elements, as a full slice of the tensor.
    pub slice: String,
    /// `true` if more were requested than an answer holds.
    pub cut: bool,
    /// Lengths of the axes that are ranges: rows, then columns. One length is a column, none a single element.
    pub extent: Vec<u64>,
    /// The elements in row-major order.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::openapi::Element>))]
    pub values: Vec<Element>,
    /// Elements that they were compared with.
    pub compared: Option<TensorComparison>,
    /// Bytes of elements read for this answer.
    pub read_bytes: u64,
}

/// Source of the elements of a tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorPlace {
    /// Step.
    pub step: i64,
    /// Rank that recorded it.
    pub rank: u32,
    /// Kind of source.
    pub source: Option<TensorSource>,
    /// Path of the file.
    pub file: String,
    /// Element type.
    pub dtype: String,
    /// The shape of the tensor, outermost first.
    pub shape: Vec<u64>,
    /// Size of all elements in bytes.
    pub len_bytes: u64,
    /// The previous step with recorded elements.
    pub previous_step: Option<i64>,
    /// The next step with recorded elements.
    pub next_step: Option<i64>,
}

/// The same elements of another step, rank or run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorComparison {
    /// Name of the run.
    pub run: String,
    /// Rank that recorded it.
    pub rank: u32,
    /// Step.
    pub step: i64,
    /// Its elements.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::openapi::Element>))]
    pub values: Vec<Element>,
    /// Elements of the tensor minus those of the other one. Equal infinities differ by 0.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::openapi::Element>))]
    pub differences: Vec<Element>,
    /// Number of differences above the tolerance; NaN equals only NaN.
    pub beyond: u64,
}

/// Summary of a slice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorSlice {
    /// Source of the elements.
    #[serde(flatten)]
    pub place: TensorPlace,
    /// The summarised elements.
    pub slice: String,
    /// Counts by class, moments, minimum and maximum.
    pub stats: TensorStats,
    /// Indices of the minimum, the maximum and the first non-finite elements.
    pub positions: Positions,
    /// Histogram, if it was requested and there are finite elements.
    pub histogram: Option<Bins>,
    /// Difference from the tensor compared with.
    pub change: Option<ChangeStats>,
    /// Bytes of elements read for this answer.
    pub read_bytes: u64,
}

/// Indices of the first element of each class in row-major order, `null` if there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Positions {
    /// The least finite element.
    pub min: Option<Vec<u64>>,
    /// The greatest finite element.
    pub max: Option<Vec<u64>>,
    /// The first NaN.
    pub nan: Option<Vec<u64>>,
    /// The first +∞.
    pub pos_inf: Option<Vec<u64>>,
    /// The first −∞.
    pub neg_inf: Option<Vec<u64>>,
}

/// Counts in bins of equal width; the last bin includes `high`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Bins {
    /// Lower edge of the first bin.
    #[serde(with = "float")]
    #[cfg_attr(feature = "openapi", schema(value_type = f64))]
    pub low: f64,
    /// Upper edge of the last bin.
    #[serde(with = "float")]
    #[cfg_attr(feature = "openapi", schema(value_type = f64))]
    pub high: f64,
    /// Number of elements in each bin.
    pub counts: Vec<u64>,
    /// Number of elements below the first bin, including −∞.
    pub below: u64,
    /// Number of elements above the last bin, including +∞.
    pub above: u64,
}

/// The query of `GET /api/tensor_history`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct TensorHistoryQuery {
    /// Name of the run.
    pub run: String,
    /// Name of the tensor.
    pub tensor: String,
    /// Rank, 0 if left out.
    #[serde(default)]
    pub rank: u32,
    /// `true` to get only the steps with recorded elements, without statistics: no element is read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub elements: bool,
    /// Lowest step wanted, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<i64>,
    /// Highest step wanted, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<i64>,
}

/// A tensor over steps. The server reads elements for a limited time per request and caches the results: repeat the
/// request while `pending_bytes` is not 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorHistory {
    /// Points by step, each step once; elements take precedence over recorded statistics.
    pub points: Vec<HistoryPoint>,
    /// Number of steps in the range, including those left out.
    pub total: u64,
    /// `true` if steps are missing from `points`.
    pub cut: bool,
    /// Bytes still to be read.
    pub pending_bytes: u64,
    /// Reasons why elements of some steps could not be read, as sentences; the first few.
    pub unread: Vec<String>,
}

/// A tensor at a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HistoryPoint {
    /// The step.
    pub step: i64,
    /// Source of its elements; `statistics` if they were not recorded.
    pub source: TensorSource,
    /// Statistics; `null` if they are not known (yet).
    pub stats: Option<TensorStats>,
}
