//! `/api/scalars`: points of scalar series, raw if they fit into the limit, otherwise in buckets.
//!
//! A bucket covers consecutive points. Its `step`, `wall_time_secs` and `value` are those of its last point; `min` and
//! `max` are over the finite values of *all* its points (NaN if there is none), so that zooming out hides no spike.
//! Every recorded point is in exactly one bucket, and a narrow enough range returns raw points.

use serde::{Deserialize, Serialize};
use trainscope_format::float;

mod attempt;
mod columns;

pub use crate::non_finite::NonFiniteClass;
pub use attempt::Attempt;
pub use columns::{ColumnsError, decode, encode};

/// Points of one answer by default.
pub const DEFAULT_POINTS: usize = 1_000;
/// Maximum number of points of a series in one answer.
pub const MAX_POINTS: usize = 1_000_000;
/// Maximum number of series in one `POST`.
pub const MAX_SERIES: usize = 20_000;
/// Media type of the binary answer of `POST`.
pub const COLUMNS_MEDIA_TYPE: &str = "application/octet-stream";

/// The query of `GET /api/scalars`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct ScalarsQuery {
    /// Name of the run.
    pub run: String,
    /// Name of the tag.
    pub tag: String,
    /// Rank, 0 if left out.
    #[serde(default)]
    pub rank: u32,
    /// Lowest step wanted, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<i64>,
    /// Highest step wanted, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<i64>,
    /// Maximum number of points or buckets, 1 to [`MAX_POINTS`]; [`DEFAULT_POINTS`] if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        param(minimum = 1, maximum = 1_000_000, default = 1_000)
    )]
    pub points: Option<usize>,
    /// 1 to get superseded points too, after the others: see [`Series::live`].
    #[serde(default, skip_serializing_if = "crate::omitted::is_zero")]
    #[cfg_attr(feature = "openapi", param(maximum = 1))]
    pub superseded: u8,
    /// One of several concurrent writers, as [`Tag::writer`](crate::tags::Tag::writer) names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<String>,
}

/// The body of `POST /api/scalars`: many series in one answer. With `Accept: application/octet-stream` the answer is
/// [binary columns](encode), otherwise [`ScalarsAnswer`] as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScalarsRequest {
    /// Series to return, at most [`MAX_SERIES`].
    #[cfg_attr(feature = "openapi", schema(max_items = 20_000))]
    pub series: Vec<SeriesKey>,
    /// Lowest step wanted, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<i64>,
    /// Highest step wanted, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<i64>,
    /// Maximum number of points or buckets of a series, 1 to [`MAX_POINTS`]; [`DEFAULT_POINTS`] if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        schema(minimum = 1, maximum = 1_000_000, default = 1_000)
    )]
    pub points: Option<usize>,
    /// `true` to get superseded points too.
    #[serde(default)]
    pub superseded: bool,
    /// Columns to return beside steps and values; `min` and `max` if empty.
    #[serde(default)]
    pub fields: Vec<Field>,
}

/// A column of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Field {
    /// Steps; always sent, may be named.
    Steps,
    /// Values; always sent, may be named.
    Values,
    /// Least finite value of each bucket.
    Min,
    /// Greatest finite value of each bucket.
    Max,
    /// Wall times.
    WallTimesSecs,
}

/// Coordinates of a series.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SeriesKey {
    /// Name of the run.
    pub run: String,
    /// Rank, 0 if left out.
    #[serde(default)]
    pub rank: u32,
    /// Name of the tag.
    pub tag: String,
    /// One of several concurrent writers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<String>,
}

/// The answer of `POST /api/scalars`: one entry for each series requested, in the same order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScalarsAnswer {
    /// Sequence number of a change that is certainly included.
    pub seq: u64,
    /// `null` for a series that does not exist (any more).
    pub series: Vec<Option<Series>>,
}

/// Points of one series in a range of steps. `steps`, `values`, and each other list that is not empty, have equal
/// length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Series {
    /// Number of points in the range, including those left out.
    pub total: u64,
    /// `true` if the entries are buckets instead of raw points.
    pub cut: bool,
    /// Step of each point, or of the last point of each bucket. Steps of live points never decrease, unless the tag
    /// counts them [per epoch](Self::per_epoch).
    pub steps: Vec<i64>,
    /// Wall time of each, seconds since 1970. Empty if not requested.
    #[serde(with = "float::list", default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::openapi::Float>))]
    pub wall_times_secs: Vec<f64>,
    /// Value of each.
    #[serde(with = "float::list")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::openapi::Float>))]
    pub values: Vec<f64>,
    /// Least finite value of each bucket; of raw points the value itself. NaN where no value is finite.
    #[serde(with = "float::list", default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::openapi::Float>))]
    pub min: Vec<f64>,
    /// Greatest finite value of each bucket.
    #[serde(with = "float::list", default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::openapi::Float>))]
    pub max: Vec<f64>,
    /// Runs of buckets or points that hold NaN or ±∞, ascending; empty when everything is finite.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub non_finite: Vec<NonFinite>,
    /// Number of live entries at the beginning, if superseded points are included. The rest were superseded by a
    /// restart, in the order in which they were recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<u64>,
    /// `true` if steps begin again with each epoch. Then points are in the order in which they were recorded, and only
    /// the wall time is unique.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub per_epoch: bool,
    /// Attempts of the training, oldest first, if one went back to a step of an earlier one; otherwise empty. A live point
    /// is from the last one that has its step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
}

/// Consecutive entries of one answer (raw points or buckets) that hold at least one value of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NonFinite {
    /// Class of the values.
    pub class: NonFiniteClass,
    /// Exact step of the first such value.
    pub first_step: i64,
    /// Step of the last entry that holds one.
    pub last_step: i64,
    /// Number of such values.
    pub count: u64,
}
