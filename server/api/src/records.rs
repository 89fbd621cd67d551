//! Lists of records of all kinds but scalars: their query, and the coordinates of each record.

use serde::{Deserialize, Serialize};
use trainscope_format::{ImageEncoding, float};

use crate::omitted::is_zero;

/// Records of one answer by default.
pub const DEFAULT_RECORDS: usize = 50;
/// Maximum number of records in one answer.
pub const MAX_RECORDS: usize = 2_000;
/// Maximum number of steps in one answer.
pub const MAX_STEPS: usize = 1_000_000;

/// The query of `GET /api/histograms`, `/api/images`, `/api/audio`, `/api/text` and `/api/tensors`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
pub struct RecordsQuery {
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
    /// Maximum number of records, 0 to [`MAX_RECORDS`]; [`DEFAULT_RECORDS`] if left out. If there are more, the answer
    /// has as many, evenly spaced, including the first and the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<usize>,
    /// 1 to get the records that a restart has overwritten.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub superseded: u8,
    /// One of several concurrent writers, as [`Tag::writer`](crate::tags::Tag::writer) names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<String>,
}

/// Records of one tag, each with the body of its kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Records<T> {
    /// Number of records in the range, including those left out.
    pub total: u64,
    /// `true` if records in the range are missing from `records`. `steps` has all of them.
    pub cut: bool,
    /// The step of every record in the range, up to [`MAX_STEPS`].
    pub steps: Vec<i64>,
    /// Records by step.
    pub records: Vec<At<T>>,
}

/// A record with its coordinates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct At<T> {
    /// Step as the program counted it.
    pub step: i64,
    /// Seconds since 1970 as written.
    #[serde(with = "float")]
    #[cfg_attr(feature = "openapi", schema(value_type = f64))]
    pub wall_time_secs: f64,
    /// Content of the record.
    #[serde(flatten)]
    pub body: T,
}

/// Bytes with a URL of their own: `GET /api/blob?id=`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Blob {
    /// Opaque; valid as long as the run is read from the same file.
    pub id: String,
    /// Length in bytes.
    pub len_bytes: u64,
}

/// Images of one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Images {
    /// Width in pixels as declared by the writer; the encoded images may differ.
    pub width: u32,
    /// Height in pixels as declared by the writer.
    pub height: u32,
    /// Channels as declared by the writer, 0 if they are not.
    pub channels: u32,
    /// Encoding of the items.
    pub encoding: ImageEncoding,
    /// One or several images, in order.
    pub items: Vec<Blob>,
}

/// Audio clips of one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Audio {
    /// Samples per second, if declared by the writer.
    pub sample_rate_hz: Option<f64>,
    /// Channels, if declared by the writer.
    pub channels: Option<u32>,
    /// Samples per channel, if declared by the writer.
    pub frames: Option<u64>,
    /// Media type, usually `audio/wav`.
    pub content_type: String,
    /// Labels of the clips, if there are any.
    pub labels: Vec<String>,
    /// One or several clips, in order.
    pub items: Vec<Blob>,
}

/// Number of elements sent with a tensor.
pub const PREVIEW_ELEMENTS: usize = 1_000;

/// A tensor recorded in full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Tensor {
    /// Element type as stored, `float32`, …
    pub dtype: String,
    /// Element type in the training, where the writer stored another one.
    pub original_dtype: Option<String>,
    /// Sizes of its dimensions; empty for a scalar.
    pub shape: Vec<u64>,
    /// Number of elements.
    pub len: u64,
    /// The first [`PREVIEW_ELEMENTS`] elements in row-major order; empty if the element type is not supported.
    #[serde(with = "float::list")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<f64>))]
    pub values: Vec<f64>,
    /// All elements as little-endian bytes, if they are contiguous in the file.
    pub data: Option<Blob>,
}

/// The query of `/api/lineage` and `/api/hparams`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
pub struct RunQuery {
    /// Name of the run.
    pub run: String,
}

/// Lineage of the model of a run: every record, the newest of each kind last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Lineages {
    /// Records by file and step.
    pub records: Vec<At<trainscope_format::Lineage>>,
}

/// Hyper-parameters of a run: every record, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HparamsList {
    /// Ranges that the experiment varies, values of this session, and its result.
    pub records: Vec<At<trainscope_format::Hparams>>,
}

/// The query of `/api/blob`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
pub struct BlobQuery {
    /// The id from an earlier answer.
    pub id: String,
}
