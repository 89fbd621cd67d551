//! `/api/conditions`, `/api/watchpoints`, `/api/recheck`: the catalogue, the watchpoints of a run, and judging again.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::error::ErrorCode;
use trainscope_api::status::AccessRole;
use trainscope_api::watchpoints::{Recheck, WatchpointsChange, WatchpointsQuery};

use super::error::Failure;
use super::request::{Body, Params};
use super::{Site, audit, blocking, json};
use crate::watchpoints::{ChangeError, catalogue};

/// The catalogue of conditions
#[cfg_attr(test, utoipa::path(
    get, path = "/api/conditions", operation_id = "conditions",
    responses((status = 200, description = "The catalogue, with texts, parameters and presets", body = trainscope_api::watchpoints::Catalogue))
))]
pub(super) async fn conditions() -> Result<Response, Failure> {
    json(catalogue())
}

/// The watchpoints of a run
#[cfg_attr(test, utoipa::path(
    get, path = "/api/watchpoints", operation_id = "watchpoints", params(WatchpointsQuery),
    responses(
        (status = 200, description = "The watchpoints, the file they are from, and its version for a change", body = trainscope_api::watchpoints::WatchpointList)
    )
))]
pub(super) async fn get(
    State(site): State<Site>,
    Params(query): Params<WatchpointsQuery>,
) -> Result<Response, Failure> {
    blocking(move || {
        check_run(&site, &query.run)?;
        let list = site.judgements.watchpoints(&query.run);
        json(&list.ok_or_else(|| Failure::unknown_run(&query.run))?)
    })
    .await
}

/// Change watchpoints
#[cfg_attr(test, utoipa::path(
    put, path = "/api/watchpoints", operation_id = "change_watchpoints", request_body = WatchpointsChange,
    responses(
        (status = 200, description = "The watchpoints after the change", body = trainscope_api::watchpoints::WatchpointList),
        (
            status = "default",
            description = "Error: `conflict` if the file has changed since `version`, `bad_request` with entry and \
                           key if a watchpoint cannot be used, `unwritable` if the file is not understood",
            body = trainscope_api::error::ApiError
        )
    )
))]
pub(super) async fn put(
    State(site): State<Site>,
    Body(change): Body<WatchpointsChange>,
) -> Result<Response, Failure> {
    blocking(move || {
        check_run(&site, &change.run)?;
        let whose = change.only_this_run.then_some(&*change.run);
        site.permit(AccessRole::Manage, whose)?;
        let before = site.judgements.watchpoints(&change.run);
        let changed = site.judgements.change_watchpoints(
            &change.run,
            change.only_this_run,
            &change.version,
            change.watchpoints.as_deref(),
        );
        let changed = changed.ok_or_else(|| Failure::unknown_run(&change.run))?;
        let list = changed.map_err(|error| {
            let code = match &error {
                ChangeError::Conflict => ErrorCode::Conflict,
                ChangeError::Mistake(_) => ErrorCode::BadRequest,
                ChangeError::Unwritable { .. } => ErrorCode::Unwritable,
            };
            Failure::new(code, error.to_string())
        })?;
        site.sessions.set_watchpoints(&change.run);
        // Other pages show the same list.
        site.index.notices().announce_runs();
        let what = audit::differences("watchpoints", &before, &list);
        Ok(audit::changed(json(&list)?, Some(&change.run), what))
    })
    .await
}

/// Judge a run again from its first record
#[cfg_attr(test, utoipa::path(
    post, path = "/api/recheck", operation_id = "recheck", request_body = Recheck,
    responses(
        (
            status = 200,
            description = "Judging has begun; `progress` of the findings is its progress, and a change notice follows",
            body = trainscope_api::findings::Progress
        )
    )
))]
pub(super) async fn recheck(
    State(site): State<Site>,
    Body(wish): Body<Recheck>,
) -> Result<Response, Failure> {
    blocking(move || {
        check_run(&site, &wish.run)?;
        site.permit(AccessRole::Manage, Some(&wish.run))?;
        let response = json(&site.judgements.recheck(&wish.run))?;
        let what = vec!["judged again".to_owned()];
        Ok(audit::changed(response, Some(&wish.run), what))
    })
    .await
}

/// Names are compared with discovered and judged runs.
fn check_run(site: &Site, run: &str) -> Result<(), Failure> {
    if site.index.has_run(run) || site.judgements.of(run).is_some() {
        Ok(())
    } else {
        Err(Failure::unknown_run(run))
    }
}
