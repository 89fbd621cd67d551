//! `GET /api/status`: version, base directories and reading progress of the server.

use serde::{Deserialize, Serialize};

/// Status of the server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Status {
    /// Version of the program.
    pub version: String,
    /// Process id of the server.
    pub pid: u32,
    /// Seconds since 1970 at which the server started.
    pub started_secs: f64,
    /// Canonical paths of the base directories.
    pub base_dirs: Vec<String>,
    /// Progress of reading.
    pub ingest: Ingest,
    /// Sequence number of the last change; see [`live`](crate::live).
    pub seq: u64,
    /// Number of runs.
    pub runs: u64,
    /// Number of live runs.
    pub live_runs: u64,
    /// Number of connected trainings that wait.
    #[serde(default)]
    pub waiting: u64,
    /// Messages about the server itself: a rebuilt index, an unreadable folder, …
    pub notes: Vec<String>,
    /// The most that the client may do with any run; pages show no controls for more.
    #[serde(default)]
    pub may: AccessRole,
}

/// Permission of a person in a run; each includes the ones before it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum AccessRole {
    /// To see it.
    See,
    /// To change its notes and tags.
    Annotate,
    /// To change its watchpoints, to judge it again, and to command its sessions.
    #[default]
    Manage,
}

/// Progress of reading. While `idle` is `false`, `bytes` of `total_bytes` are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Ingest {
    /// `true` if everything on disk at the last check is available.
    pub idle: bool,
    /// Number of available records of any kind.
    pub records: u64,
    /// Bytes read from the source files.
    pub bytes: u64,
    /// Total size of the source files at the last check.
    pub total_bytes: u64,
    /// Number of source files.
    pub files: u64,
    /// Records that would survive a crash: they and the offset behind them are in the index.
    pub committed_records: u64,
}
