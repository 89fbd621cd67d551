//! The values of recorded tensors: which there are, slices of them, what they come to, and how they went over steps.
//!
//! Elements are exact: what an `f64` cannot hold is written as text. Everything is read where it was recorded, and only
//! as much as the answer needs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use trainscope_format::tensor::{ChangeStats, TensorStats};
use trainscope_format::{Role, float};

mod element;
mod slice;

pub use element::Element;
pub use slice::{Axis, Slice};

/// Tensors of one list unless asked otherwise.
pub const DEFAULT_TENSORS: usize = 500;
/// Tensors of one list at most.
pub const MAX_TENSORS: usize = 5_000;
/// Elements of one answer at most; a larger slice is cut to its first rows and columns.
pub const MAX_ELEMENTS: u64 = 16_384;
/// Bins of a histogram at most.
pub const MAX_BINS: usize = 512;
/// Steps of one history at most.
pub const MAX_HISTORY: usize = 2_000;
/// Bytes that one summary reads at most.
pub const MAX_SUMMARY_BYTES: u64 = 1 << 36;

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is serde's"
)]
fn is_zero(rank: &u32) -> bool {
    *rank == 0
}

/// Where elements were recorded.
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
    /// Nowhere: statistics alone were recorded.
    Statistics,
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
    /// Tensors to leave out at the beginning.
    #[serde(default)]
    pub from: usize,
    /// Most tensors wanted, 1 to [`MAX_TENSORS`]; [`DEFAULT_TENSORS`] if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// The tensors of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorIndex {
    /// Those that are asked for, by name; numbers in names count as such.
    pub tensors: Vec<TensorEntry>,
    /// How many are asked for, however many are sent.
    pub total: u64,
    /// Whether some are missing from `tensors`.
    pub cut: bool,
    /// How many of each role the text and the rank leave, by its name.
    pub roles: BTreeMap<String, u64>,
}

/// One tensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorEntry {
    /// Its name.
    pub tensor: String,
    /// What it is to the training.
    pub role: Role,
    /// Ranks that have recorded it, ascending.
    pub ranks: Vec<u32>,
    /// The type of its elements when it was recorded last, if its file says.
    pub dtype: Option<String>,
    /// Its shape when it was recorded last, outermost first.
    pub shape: Option<Vec<u64>>,
    /// Where it was recorded, and at which steps.
    pub sources: Vec<SourceSteps>,
}

/// Steps of a tensor in one kind of source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SourceSteps {
    /// Which.
    pub source: TensorSource,
    /// How many steps.
    pub steps: u64,
    /// The first.
    pub first_step: i64,
    /// The last.
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
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rank: u32,
    /// A step at which its elements were recorded; the last one if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// Where to read it, if it was recorded twice; the first that has it if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<TensorSource>,
    /// Which elements, as `NumPy` writes it: `17, 3, 48:70, :`. At most two axes may be ranges, but for a summary or
    /// a file, where any may and all do if it is left out. Left out for values: the first indices of all axes but the
    /// last two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<String>,
    /// What to compare with: `previous` (step), `step:12`, `rank:1`, or `run:` and the name of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<String>,
    /// Two elements are alike if they differ by no more than this …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absolute: Option<f64>,
    /// … and this share of the other one; 1e-8 and 1e-5 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative: Option<f64>,
    /// Of a summary: bins of the histogram, 0 to [`MAX_BINS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bins: Option<usize>,
    /// Of a summary: where its first bin begins; the least finite element if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Of a summary: where its last bin ends; the greatest finite element if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Of a file: `npy` or `csv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
}

/// Elements of a tensor. With `Accept: application/octet-stream` they come alone, little-endian in the type of the
/// tensor, row by row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorValues {
    /// Where they were read.
    #[serde(flatten)]
    pub place: TensorPlace,
    /// Which elements these are, as a full slice of the tensor.
    pub slice: String,
    /// Whether more were asked for than an answer holds.
    pub cut: bool,
    /// How many along each axis that is a range: rows, then columns; one axis is a column, none is one element.
    pub extent: Vec<u64>,
    /// The elements, row by row.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::openapi::Element>))]
    pub values: Vec<Element>,
    /// What they were compared with.
    pub compared: Option<Compared>,
    /// Bytes of elements that were read for this answer.
    pub read_bytes: u64,
}

/// Where elements of a tensor were recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorPlace {
    /// At which step.
    pub step: i64,
    /// By which rank.
    pub rank: u32,
    /// Where.
    pub source: Option<TensorSource>,
    /// In which file.
    pub file: String,
    /// The type of the elements.
    pub dtype: String,
    /// The shape of the tensor, outermost first.
    pub shape: Vec<u64>,
    /// Bytes that all elements take.
    pub len_bytes: u64,
    /// The step before, at which its elements were recorded too.
    pub previous_step: Option<i64>,
    /// The step after.
    pub next_step: Option<i64>,
}

/// The same elements elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Compared {
    /// In which run.
    pub run: String,
    /// By which rank.
    pub rank: u32,
    /// At which step.
    pub step: i64,
    /// Its elements.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::openapi::Element>))]
    pub values: Vec<Element>,
    /// These less those. Equal infinities differ by 0.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::openapi::Element>))]
    pub differences: Vec<Element>,
    /// How many differ by more than the tolerance; a NaN differs from everything but a NaN.
    pub beyond: u64,
}

/// What a slice comes to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorSlice {
    /// Where it was read.
    #[serde(flatten)]
    pub place: TensorPlace,
    /// Which elements these are.
    pub slice: String,
    /// Counts by class, moments, extremes.
    pub stats: TensorStats,
    /// Where some of them stand, as indices into the tensor.
    pub positions: Positions,
    /// How many lie where, if that was asked for and there are finite ones.
    pub histogram: Option<Bins>,
    /// How it differs from what it was compared with.
    pub change: Option<ChangeStats>,
    /// Bytes of elements that were read for this answer.
    pub read_bytes: u64,
}

/// Where elements stand: the first of each in the order of the indices, `null` if there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Positions {
    /// The least finite one.
    pub min: Option<Vec<u64>>,
    /// The greatest finite one.
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
    /// Where the first begins.
    #[serde(with = "float")]
    #[cfg_attr(feature = "openapi", schema(value_type = f64))]
    pub low: f64,
    /// Where the last ends.
    #[serde(with = "float")]
    #[cfg_attr(feature = "openapi", schema(value_type = f64))]
    pub high: f64,
    /// How many elements lie in each.
    pub counts: Vec<u64>,
    /// Below the first, −∞ among them.
    pub below: u64,
    /// Above the last, +∞ among them.
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
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rank: u32,
    /// Only steps at which its elements were recorded, which may be none, and without statistics: nothing is read.
    #[serde(default)]
    pub elements: bool,
    /// First step wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<i64>,
    /// Last step wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<i64>,
}

/// A tensor over steps. What has to be read for it is read for a moment and remembered: while `pending_bytes` is not 0,
/// the next request finds more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorHistory {
    /// By step; each step once, its elements before its recorded statistics.
    pub points: Vec<HistoryPoint>,
    /// How many of the wanted steps there are, however many are sent.
    pub total: u64,
    /// Whether some of these are missing from `points`.
    pub cut: bool,
    /// Bytes that are not read yet.
    pub pending_bytes: u64,
    /// Why elements of some steps are not read, as sentences; the first few.
    pub unread: Vec<String>,
}

/// A tensor at a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HistoryPoint {
    /// The step.
    pub step: i64,
    /// Where its elements are; `statistics` if they are nowhere.
    pub source: TensorSource,
    /// What it comes to; `null` if that is not known (yet).
    pub stats: Option<TensorStats>,
}
