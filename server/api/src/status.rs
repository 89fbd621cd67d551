//! `GET /api/status`: which server this is and how far it has read.

use serde::{Deserialize, Serialize};

/// Who answers, what it watches and how far it is.
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
    /// How far reading is.
    pub ingest: Ingest,
    /// Sequence number of the last change; see [`live`](crate::live).
    pub seq: u64,
    /// Number of runs known.
    pub runs: u64,
    /// Number of runs that grow.
    pub live_runs: u64,
    /// What the user should know of the server itself: an index that was rebuilt, a folder that cannot be read, …
    pub notes: Vec<String>,
}

/// How far reading is. While `idle` is false, `bytes` of `total_bytes` are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Ingest {
    /// Whether everything that was on disk at the last look is answerable.
    pub idle: bool,
    /// Records that are answerable, of any kind.
    pub records: u64,
    /// Bytes of the source files that are read.
    pub bytes: u64,
    /// Bytes of the source files as last seen.
    pub total_bytes: u64,
    /// Source files that are known.
    pub files: u64,
    /// Records that would survive a crash now: the index holds them and the offset behind them.
    pub committed_records: u64,
}
