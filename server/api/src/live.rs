//! `GET /api/live`: server-sent events that name the changed runs and tags, never the data itself, so that a missed
//! event loses no data.
//!
//! Events are named `change` (a [`ChangeNotice`]) and `reload` (the client has missed some: request everything again;
//! its data is the current sequence number). Each carries its sequence number as event id; a client that reconnects
//! with `Last-Event-ID` (or `?since=`) gets a `reload` at once if something has changed in the meantime.

use serde::{Deserialize, Serialize};

use crate::status::Ingest;

/// Runs that changed since the notice before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChangeNotice {
    /// Sequence number, ascending by one per notice.
    pub seq: u64,
    /// Progress of reading.
    pub ingest: Ingest,
    /// `true` if runs or files appeared, vanished or changed their state: request the list of runs again.
    pub runs_changed: bool,
    /// `true` if a session began, ended or changed its state: request the list of sessions again.
    #[serde(default)]
    pub sessions_changed: bool,
    /// Runs with new points.
    pub runs: Vec<RunChange>,
}

/// Changes in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunChange {
    /// Name of the run.
    pub run: String,
    /// Tags with new points; empty means any of them.
    pub tags: Vec<String>,
    /// `true` if there are new tags: request the list of tags again.
    pub tags_changed: bool,
    /// Highest step of the run.
    pub last_step: Option<i64>,
}
