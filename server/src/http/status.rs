//! `GET /api/status`: identity and reading progress of the server.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::status::Status;

use super::error::Failure;
use super::{Site, json};

/// Identity and reading progress of the server
#[cfg_attr(test, utoipa::path(
    get, path = "/api/status", operation_id = "status",
    responses((status = 200, description = "This server", body = Status))
))]
pub(super) async fn get(State(site): State<Site>) -> Result<Response, Failure> {
    let (runs, live_runs) = site.index.run_counts();
    let base_dirs = site.about.base_dirs.iter();
    json(&Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: site.about.pid,
        started_secs: site.about.started_secs,
        base_dirs: base_dirs.map(|dir| dir.display().to_string()).collect(),
        ingest: site.index.ingest(),
        seq: site.index.notices().seq(),
        live_runs: live_runs as u64,
        waiting: site.sessions.waiting(),
        runs: runs as u64,
        notes: site.index.notices().messages(),
    })
}
