//! `GET /api/live`: server-sent events that say *what* changed, never the data itself, so nothing is lost if one is.
//!
//! Events are named `change` (a [`ChangeNotice`]) and `reload` (the client has missed some: ask for everything again;
//! its data is the current sequence number). Each carries its sequence number as event id; a client that reconnects
//! with `Last-Event-ID` (or `?since=`) gets a `reload` at once if something changed meanwhile.

use serde::{Deserialize, Serialize};

use crate::status::Ingest;

/// Runs that changed since the notice before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChangeNotice {
    /// Ascending by one a notice.
    pub seq: u64,
    /// How far reading is.
    pub ingest: Ingest,
    /// Whether runs or files appeared, vanished or changed their state: ask for the list of runs again.
    pub runs_changed: bool,
    /// Which runs have new points.
    pub runs: Vec<RunChange>,
}

/// What changed in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunChange {
    /// Name of the run.
    pub run: String,
    /// Tags with new points; empty means any of them.
    pub tags: Vec<String>,
    /// Whether tags appeared that were not there before: ask for the list of tags again.
    pub tags_changed: bool,
    /// Highest step of the run.
    pub last_step: Option<i64>,
}
