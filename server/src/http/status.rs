//! `GET /api/status`: identity and reading progress of the server.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::runs::RunStatus;
use trainscope_api::status::{AccessRole, Status};

use super::error::Failure;
use super::{Site, json};
use crate::people;

/// Identity and reading progress of the server
#[cfg_attr(test, utoipa::path(
    get, path = "/api/status", operation_id = "status",
    responses((status = 200, description = "This server", body = Status))
))]
pub(super) async fn get(State(site): State<Site>) -> Result<Response, Failure> {
    let viewer = people::current();
    let sees_all = viewer.role_in_all().is_some();
    let highest = viewer.highest_role().unwrap_or(AccessRole::See);
    let may = if site.is_read_only {
        AccessRole::See
    } else {
        highest
    };
    let (runs, live_runs) = if sees_all {
        site.index.run_counts()
    } else {
        let runs = site.index.runs().runs;
        let live = runs.iter().filter(|run| run.status == RunStatus::Live);
        (runs.len(), live.count())
    };
    let mut notes = if sees_all {
        site.index.notices().messages()
    } else {
        Vec::new()
    };
    notes.extend(
        site.login
            .problem()
            .filter(|_| highest == AccessRole::Manage),
    );
    let base_dirs = site.about.base_dirs.iter();
    json(&Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: site.about.pid,
        started_secs: site.about.started_secs,
        base_dirs: base_dirs.map(|dir| dir.display().to_string()).collect(),
        ingest: people::seen_part(site.index.ingest()),
        seq: site.index.notices().seq(),
        live_runs: live_runs as u64,
        waiting: site.sessions.waiting(),
        runs: runs as u64,
        notes,
        may,
    })
}
