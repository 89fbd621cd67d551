//! `/api/importance…`: the parameters that move a result. Each question runs on a separate thread, which ends soon
//! after its client is gone.

use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::response::Response;
use trainscope_api::error::ErrorCode;
use trainscope_api::importance::{ImportanceRequest, PairRequest};
use trainscope_api::table::MAX_NAMED_RUNS;

use super::error::Failure;
use super::request::Body;
use super::table::unknown_column;
use super::{Site, cancellable, json};
use crate::table::{Filter, ImportanceError, RunTable, importance, pair};

/// Importance of parameters for a result
#[cfg_attr(test, utoipa::path(
    post, path = "/api/importance", operation_id = "importance", request_body = ImportanceRequest,
    responses((status = 200, description = "A bar or a reason for each parameter", body = trainscope_api::importance::ImportanceAnswer))
))]
pub(super) async fn post(
    State(site): State<Site>,
    Body(request): Body<ImportanceRequest>,
) -> Result<Response, Failure> {
    check(request.runs.as_deref())?;
    answer(site, move |table, is_cancelled| {
        let rows = rows(table, request.runs.as_deref(), request.filter.as_deref())?;
        let found = importance(table, &rows, &request, is_cancelled);
        json(&found.map_err(failure)?)
    })
    .await
}

/// Mean prediction by two parameters
#[cfg_attr(test, utoipa::path(
    post, path = "/api/importance/pair", operation_id = "importance_pair", request_body = PairRequest,
    responses((status = 200, description = "Cells of the forest's mean prediction", body = trainscope_api::importance::PairAnswer))
))]
pub(super) async fn pair_of(
    State(site): State<Site>,
    Body(request): Body<PairRequest>,
) -> Result<Response, Failure> {
    check(request.runs.as_deref())?;
    answer(site, move |table, is_cancelled| {
        let rows = rows(table, request.runs.as_deref(), request.filter.as_deref())?;
        json(&pair(table, &rows, &request, is_cancelled).map_err(failure)?)
    })
    .await
}

async fn answer(
    site: Site,
    work: impl FnOnce(&RunTable, &dyn Fn() -> bool) -> Result<Response, Failure> + Send + 'static,
) -> Result<Response, Failure> {
    cancellable(move |flag| {
        let table = site.table()?;
        work(&table, &|| flag.load(Ordering::Acquire))
    })
    .await
}

fn check(runs: Option<&[String]>) -> Result<(), Failure> {
    if runs.is_some_and(|runs| runs.len() > MAX_NAMED_RUNS) {
        let message = format!("one request may name {MAX_NAMED_RUNS} runs");
        return Err(Failure::new(ErrorCode::TooLarge, message));
    }
    Ok(())
}

/// Rows of the named runs that match a filter.
fn rows(
    table: &RunTable,
    runs: Option<&[String]>,
    filter: Option<&str>,
) -> Result<Vec<usize>, Failure> {
    let filter = Filter::new(table, filter.unwrap_or_default())?;
    let mut rows = filter.map_err(|error| unknown_column(&error))?.rows(table);
    if let Some(runs) = runs {
        let names: std::collections::BTreeSet<&str> = runs.iter().map(String::as_str).collect();
        rows.retain(|row| {
            table
                .rows
                .get(*row)
                .is_some_and(|row| names.contains(&*row.run))
        });
    }
    Ok(rows)
}

fn failure(error: ImportanceError) -> Failure {
    match error {
        ImportanceError::Read(error) => error.into(),
        error => Failure::bad_request(error.to_string()),
    }
}
