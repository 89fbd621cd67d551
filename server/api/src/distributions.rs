//! `POST /api/distributions`: histograms over steps, in bins that all steps and runs of one answer share.
//!
//! Values are rebinned: each recorded bin is spread evenly over its width, so that the total count does not change. If
//! there are more records than rows, consecutive records are merged: every record is in exactly one row, and with a
//! narrower range each row is a single record.

use serde::{Deserialize, Serialize};
use trainscope_format::float;

/// Rows of a series by default.
pub const DEFAULT_ROWS: usize = 100;
/// Maximum number of rows of a series.
pub const MAX_ROWS: usize = 2_000;
/// Bins by default.
pub const DEFAULT_BINS: usize = 60;
/// Minimum number of bins.
pub const MIN_BINS: usize = 2;
/// Maximum number of bins.
pub const MAX_BINS: usize = 500;
/// Maximum number of series in one request.
pub const MAX_SERIES: usize = 32;

/// Shares of values at or below the [`percentiles`](Row::percentiles) of a row, from the minimum to the maximum.
pub const SHARES: [f64; 7] = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0];

/// The body of `POST /api/distributions`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DistributionsRequest {
    /// Series to return, at most [`MAX_SERIES`].
    #[cfg_attr(feature = "openapi", schema(max_items = 32))]
    pub series: Vec<DistributionKey>,
    /// Lowest step wanted, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<i64>,
    /// Highest step wanted, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<i64>,
    /// Maximum number of rows of a series, 1 to [`MAX_ROWS`]; [`DEFAULT_ROWS`] if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        schema(minimum = 1, maximum = 2_000, default = 100)
    )]
    pub rows: Option<usize>,
    /// Number of bins, [`MIN_BINS`] to [`MAX_BINS`]; [`DEFAULT_BINS`] if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 2, maximum = 500, default = 60))]
    pub bins: Option<usize>,
    /// Spacing of the bin edges. Ignored if only exponents are recorded: then each bin covers one or several powers of
    /// two.
    #[serde(default)]
    pub spacing: Spacing,
}

/// Spacing of bin edges between the minimum and the maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Spacing {
    /// [`Symlog`](Self::Symlog) where the greatest absolute value is more than a thousand times the median one, else
    /// [`Linear`](Self::Linear).
    #[default]
    Auto,
    /// Equal widths.
    Linear,
    /// Equal ratios in both directions, equal widths around zero.
    Symlog,
}

/// Kind of record that a distribution is counted from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Source {
    /// Recorded histograms.
    #[default]
    Histograms,
    /// Exponents in the statistics of tensors: each bin covers one power of two.
    Statistics,
}

/// A series of distributions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DistributionKey {
    /// Name of the run.
    pub run: String,
    /// Name of the tag.
    pub tag: String,
    /// Rank, 0 if left out.
    #[serde(default)]
    pub rank: u32,
    /// Kind of record under this tag.
    #[serde(default)]
    pub source: Source,
    /// One of several concurrent writers, as [`Tag::writer`](crate::tags::Tag::writer) names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<String>,
}

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DistributionsAnswer {
    /// Edges of the bins, ascending, one more than there are bins; empty if no value was counted.
    #[serde(with = "float::list")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<f64>))]
    pub edges: Vec<f64>,
    /// Spacing of the edges: [`Spacing::Linear`] or [`Spacing::Symlog`].
    pub spacing: Spacing,
    /// True if all series are counted from exponents: every edge is a power of two, and counts are exact.
    pub exponents: bool,
    /// End of the bins of equal width around zero, if the spacing is [`Spacing::Symlog`].
    #[serde(with = "float")]
    #[cfg_attr(feature = "openapi", schema(value_type = f64))]
    pub linear: f64,
    /// One entry for each series requested, in the same order; `null` if it does not exist (any more).
    pub series: Vec<Option<Distribution>>,
}

/// One series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Distribution {
    /// Records in the range.
    pub total: u64,
    /// `true` if a row covers more than one record.
    pub cut: bool,
    /// Rows by step.
    pub rows: Vec<Row>,
}

/// Distribution of the values of one record or of consecutive ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Row {
    /// Step of its first record.
    pub first_step: i64,
    /// Step of its last record.
    pub step: i64,
    /// Records in it.
    pub records: u64,
    /// Time at which its last record was written, in seconds since 1970.
    #[serde(with = "float")]
    #[cfg_attr(feature = "openapi", schema(value_type = f64))]
    pub wall_time_secs: f64,
    /// Values in each bin.
    #[serde(with = "float::list")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<f64>))]
    pub counts: Vec<f64>,
    /// Values in all bins.
    #[serde(with = "float")]
    #[cfg_attr(feature = "openapi", schema(value_type = f64))]
    pub finite: f64,
    /// Number of NaN values.
    pub nan: u64,
    /// Number of +∞ values.
    pub pos_inf: u64,
    /// Number of −∞ values.
    pub neg_inf: u64,
    /// Percentiles at [`SHARES`]; empty if no value was counted.
    #[serde(with = "float::list")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<f64>))]
    pub percentiles: Vec<f64>,
    /// Problems in the recorded data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
}

/// Reason why a histogram cannot be counted as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Fault {
    /// A bin ends before it begins; its edges change places.
    Unsorted,
    /// A bin overlaps the next one; both count.
    Overlapping,
    /// A count is below zero or not a number; the bin is left out.
    BadCount,
    /// An edge is not a number, or infinite where the writer gives no bound; the bin is left out.
    BadEdge,
    /// The statistics hold no exponents: the collector was not configured to record them.
    NoExponents,
}
