//! What the lists of all kinds but scalars have in common: which records are asked for, and what stands around them.

use serde::{Deserialize, Serialize};
use trainscope_format::{ImageEncoding, float};

use crate::scalars::is_zero;

/// Records of one answer unless asked otherwise.
pub const DEFAULT_RECORDS: usize = 50;
/// Records of one answer at most.
pub const MAX_RECORDS: usize = 2_000;
/// Steps of one answer at most.
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
    /// Most records wanted, 0 to [`MAX_RECORDS`]; [`DEFAULT_RECORDS`] if left out. If there are more, the answer has
    /// as many, evenly spaced with the first and the last among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<usize>,
    /// 1 to get the records that a restart has written again.
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
    /// Records in the range, however many are sent.
    pub total: u64,
    /// Whether records in the range are missing from `records`. `steps` has all of them.
    pub cut: bool,
    /// The step of every record in the range, up to [`MAX_STEPS`].
    pub steps: Vec<i64>,
    /// In the order of their steps.
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
    /// What was recorded.
    #[serde(flatten)]
    pub body: T,
}

/// Bytes that are fetched on their own: `GET /api/blob?id=`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Blob {
    /// Opaque; valid as long as the run is read from the same file.
    pub id: String,
    /// Length.
    pub len_bytes: u64,
}

/// Pictures of one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Images {
    /// Pixels, as the writer says; the pictures themselves decide.
    pub width: u32,
    /// Pixels, as the writer says.
    pub height: u32,
    /// Channels as the writer says, 0 if it does not.
    pub channels: u32,
    /// How they are encoded.
    pub encoding: ImageEncoding,
    /// One or several pictures, in order.
    pub items: Vec<Blob>,
}

/// Sound of one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Audio {
    /// Samples a second, if the writer says.
    pub sample_rate_hz: Option<f64>,
    /// Channels, if the writer says.
    pub channels: Option<u32>,
    /// Samples a channel, if the writer says.
    pub frames: Option<u64>,
    /// Media type, `audio/wav` as a rule.
    pub content_type: String,
    /// A label for each clip, as far as there are any.
    pub labels: Vec<String>,
    /// One or several clips, in order.
    pub items: Vec<Blob>,
}

/// Elements of a tensor sent with it.
pub const PREVIEW_ELEMENTS: usize = 1_000;

/// A tensor recorded in full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Tensor {
    /// Element type as stored, `float32`, …
    pub dtype: String,
    /// Element type in the training, where the writer stored another one.
    pub original_dtype: Option<String>,
    /// Sizes of its dimensions; none for a scalar.
    pub shape: Vec<u64>,
    /// Number of elements.
    pub len: u64,
    /// The first [`PREVIEW_ELEMENTS`] elements, in row-major order; none of a type that is not computed with.
    #[serde(with = "float::list")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<f64>))]
    pub values: Vec<f64>,
    /// All elements as little-endian bytes, if the file has them in one stretch.
    pub data: Option<Blob>,
}

/// The query of `/api/lineage` and `/api/hparams`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
pub struct RunQuery {
    /// Name of the run.
    pub run: String,
}

/// Where the model of a run comes from: every record, the newest of each kind last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Lineages {
    /// In the order of their files and steps.
    pub records: Vec<At<trainscope_format::Lineage>>,
}

/// Hyper-parameters of a run: every record, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HparamsList {
    /// What the experiment varies, what this session had, how it ended.
    pub records: Vec<At<trainscope_format::Hparams>>,
}

/// The query of `/api/blob`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
pub struct BlobQuery {
    /// The id that an answer gave.
    pub id: String,
}
