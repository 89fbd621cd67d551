//! `GET /api/runs`: all runs with their contents and the state of their files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use trainscope_format::float;

use crate::findings::Health;
use crate::profile::Parts;
use trainscope_format::hparams::HparamValue;

/// Maximum number of hyper-parameters of a run in the list of runs; `/api/hparams` has all.
pub const MAX_HPARAMS: usize = 64;
/// Maximum number of runs in one page of the list.
pub const MAX_PAGE: usize = 1_000;
/// Maximum number of runs in one answer without a page: some 500 MB of JSON.
pub const MAX_RUNS: usize = 1_000_000;

/// A part of the list of runs, and its order; without `offset` and `limit` all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct RunsQuery {
    /// Number of runs before the page.
    #[serde(default, skip_serializing_if = "crate::omitted::is_zero")]
    #[cfg_attr(feature = "openapi", param(required = false))]
    pub offset: usize,
    /// Length of the page, at most [`MAX_PAGE`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Terms that a run must match, as in the table of runs: a word is part of its name, note or tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Key of a column of the table that orders the runs, with `-` before it from the greatest value; runs without a value come
    /// last. Without it, and among equal values: by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<String>,
}

/// All runs, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunList {
    /// Sequence number of the last change that is certainly included; later ones follow on the live stream.
    pub seq: u64,
    /// Ordered by `id`, unless requested otherwise.
    pub runs: Vec<Run>,
    /// Number of runs that match, on all pages.
    #[serde(default)]
    pub total: usize,
    /// `true` if further runs follow that are not in this answer.
    pub cut: bool,
}

/// One run: a folder of files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Run {
    /// Name: path relative to the base directory, `.` for the base itself.
    pub id: String,
    /// Default colour of its lines: 1 to 10, with a dash pattern 11 to 20. It does not change when other runs appear
    /// or vanish.
    #[serde(default)]
    pub colour: u8,
    /// State of the run.
    pub status: RunStatus,
    /// Wall time of its first record, seconds since 1970; `null` before the first one.
    #[serde(with = "float::option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::Float>))]
    pub first_wall_time_secs: Option<f64>,
    /// Wall time of its last record, seconds since 1970.
    #[serde(with = "float::option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::Float>))]
    pub last_wall_time_secs: Option<f64>,
    /// Highest step of any record.
    pub last_step: Option<i64>,
    /// Number of tags by kind (`scalars`, `histograms`, …); kinds without tags are absent.
    pub kinds: BTreeMap<String, u64>,
    /// Ranks that wrote records, ascending; usually `[0]`.
    pub ranks: Vec<u32>,
    /// Its files, by path.
    pub files: Vec<File>,
    /// `true` if files were left out of `files`; damaged files are always listed.
    pub files_cut: bool,
    /// Sum of the sizes of its files.
    pub len_bytes: u64,
    /// Hyper-parameters by name: its initial ones, those of its lineage, and of facts of its program where no other has the name; at most [`MAX_HPARAMS`].
    #[serde(default)]
    pub hparams: BTreeMap<String, HparamValue>,
    /// Id of the session that records this run: the newest that is connected, or else the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Health of the run; `null` before it was judged.
    #[serde(default)]
    pub health: Option<Health>,
    /// Its newest profile; `null` without one, or before the run was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<RunProfile>,
    /// The scalar that is most likely the training loss, with its last value.
    pub loss: Option<LastValue>,
    /// The scalar that is most likely the main metric (accuracy, …), with its last value.
    pub metric: Option<LastValue>,
}

/// The newest profile of a run in brief, of its lowest rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunProfile {
    /// Number of ranks with a profile.
    pub ranks: u64,
    /// Number of steps.
    pub steps: u64,
    /// First and last step; `null` without steps.
    pub step_range: Option<(i64, i64)>,
    /// Begin, seconds since 1970; `null` if its clock counts from an unknown moment.
    #[serde(with = "float::option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::Float>))]
    pub started_secs: Option<f64>,
    /// Length in nanoseconds.
    pub extent_nanos: i64,
    /// Mean length of its whole steps.
    pub mean_step_nanos: i64,
    /// Parts of a mean step.
    pub mean_parts_nanos: Parts,
    /// `true` if a device was recorded.
    pub has_device: bool,
}

/// The last value of one scalar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LastValue {
    /// The tag.
    pub tag: String,
    /// The rank it was taken from.
    pub rank: u32,
    /// Step of the value.
    pub step: i64,
    /// The value.
    #[serde(with = "float")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::Float))]
    pub value: f64,
}

/// State of a run.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RunStatus {
    /// One of its files grew a short while ago.
    Live,
    /// No file was written for a while.
    #[default]
    Stopped,
    /// Its files were removed or renamed; the data read before stays.
    Gone,
}

/// One source file of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct File {
    /// Path relative to the base directory.
    pub path: String,
    /// State of the file.
    pub status: FileStatus,
    /// Offset of the first damage or of the truncated record, in bytes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub offset: Option<u64>,
    /// Description of the damage, as a sentence.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// Format it is read as: `tfevents`, `mindspore_summary`, …
    pub format: String,
    /// Size at the last check.
    pub len_bytes: u64,
    /// Bytes decoded, damaged stretches included.
    pub read_bytes: u64,
    /// Records read.
    pub records: u64,
    /// Number of records that are recognised but not decoded, by kind.
    pub unread: BTreeMap<String, u64>,
    /// Intact records of unknown content.
    pub skipped_records: u64,
    /// Records that the program reports as not written.
    #[serde(default)]
    pub lost_records: u64,
    /// Bytes in damaged ranges.
    pub skipped_bytes: u64,
}

/// The state of one source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum FileStatus {
    /// Read to its end and written a short while ago.
    Live,
    /// Read to its end.
    Complete,
    /// Its last record is incomplete; the writer may still complete it.
    Truncated,
    /// Part of it cannot be read; the rest was.
    Damaged,
    /// It cannot be opened or read.
    Unreadable,
    /// It was removed or renamed; the data read before stays.
    Gone,
}

/// Preferred default colour of a run, unless another run has it: a hash of its name, 1 to 10.
///
/// FNV-1a, 32 bits: the same in every version of this program, unlike the hashers of the standard library.
pub fn home_colour(run: &str) -> u8 {
    let hash = run.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    u8::try_from(hash % 10 + 1).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::home_colour;

    #[test]
    fn the_hash_never_changes() {
        // FNV-1a of "a" is 0xe40c292c, of "b" 0xe70c2de5.
        assert_eq!([home_colour("a"), home_colour("b")], [1, 8]);
    }
}
