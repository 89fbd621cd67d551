//! `/api/table…`: one table of all runs.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use trainscope_api::error::ErrorCode;
use trainscope_api::table::{
    MAX_COLUMNS, PipelinesQuery, RowQuery, TABLE_MEDIA_TYPE, TableRequest, encode,
};

use tokio::sync::broadcast::error::RecvError;

use super::error::Failure;
use super::headers::NO_STORE;
use super::request::{Body, Params, wants};
use super::{Site, blocking, json};
use crate::people;
use crate::table::{self, RunTable, UnknownColumn};

impl Site {
    /// The table with all changes so far, of the runs that the person who asks may see; blocks.
    pub(super) fn table(&self) -> Result<Arc<RunTable>, Failure> {
        let read = || self.tables.read(&self.notebooks, &self.judgements);
        let table = people::for_everybody(read)?;
        if people::may_see_all() {
            return Ok(table);
        }
        Ok(Arc::new(table.part(people::may_see)))
    }
}

/// Reads the table as soon as all files are read, so that the first page about it need not wait. Blocks until then, or
/// until the server ends.
pub fn prepare(site: &Site) {
    let mut notices = site.index.notices().subscribe();
    while !site.index.ingest().idle {
        if let Err(RecvError::Closed) = notices.blocking_recv() {
            return;
        }
        if *site.ending.borrow() {
            return;
        }
    }
    if let Err(error) = site.tables.read(&site.notebooks, &site.judgements) {
        tracing::debug!(%error, "the table of runs is not read yet");
    }
}

pub(super) fn unknown_column(error: &UnknownColumn) -> Failure {
    Failure::bad_request(error.to_string())
}

/// Columns of the table of runs
#[cfg_attr(test, utoipa::path(
    get, path = "/api/table/columns", operation_id = "table_columns",
    responses((status = 200, description = "All columns with facts about their values", body = trainscope_api::table::TableColumns))
))]
pub(super) async fn columns(State(site): State<Site>) -> Result<Response, Failure> {
    blocking(move || json(&site.table()?.infos()?)).await
}

/// Values of columns of the table of runs
#[cfg_attr(test, utoipa::path(
    post, path = "/api/table", operation_id = "table", request_body = TableRequest,
    responses(
        (
            status = 200,
            description = "Rows as JSON if `Accept` names it, at most 1,000; else all of them as little-endian columns, \
                           see the book.",
            content(
                (trainscope_api::table::TablePage = "application/json"),
                (TableBytes = "application/octet-stream"),
            ),
        )
    )
))]
pub(super) async fn post(
    State(site): State<Site>,
    headers: HeaderMap,
    Body(request): Body<TableRequest>,
) -> Result<Response, Failure> {
    if request.columns.len() > MAX_COLUMNS {
        return Err(Failure::new(
            ErrorCode::TooLarge,
            format!("one request may name {MAX_COLUMNS} columns"),
        ));
    }
    let is_json = wants(&headers, "application/json");
    blocking(move || {
        let table = site.table()?;
        let mut response = if is_json {
            let page = table.page(&request)?;
            json(&page.map_err(|error| unknown_column(&error))?)?
        } else {
            let answer = table.answer(&request)?;
            let answer = answer.map_err(|error| unknown_column(&error))?;
            (
                [(CONTENT_TYPE, TABLE_MEDIA_TYPE), NO_STORE],
                encode(&answer),
            )
                .into_response()
        };
        let vary = HeaderValue::from_static("accept");
        response.headers_mut().append(VARY, vary);
        Ok(response)
    })
    .await
}

/// Little-endian columns
#[cfg(test)]
#[derive(utoipa::ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "only its schema is used")]
struct TableBytes(Vec<u8>);

/// One run with the values of all sources
#[cfg_attr(test, utoipa::path(
    get, path = "/api/table/row", operation_id = "table_row", params(RowQuery),
    responses((status = 200, description = "All values of a run, earlier ones too", body = trainscope_api::table::RunRow))
))]
pub(super) async fn row(
    State(site): State<Site>,
    Params(query): Params<RowQuery>,
) -> Result<Response, Failure> {
    blocking(move || {
        let table = site.table()?;
        let (base_dirs, notes) = (&site.about.base_dirs, site.notebooks.read());
        let row = table::row(&site.index, base_dirs, &notes, &table, &query.run)?;
        json(&row.ok_or_else(|| Failure::unknown_run(&query.run))?)
    })
    .await
}

/// Kinds of data pipelines
#[cfg_attr(test, utoipa::path(
    get, path = "/api/table/pipelines", operation_id = "table_pipelines", params(PipelinesQuery),
    responses((status = 200, description = "Kinds side by side, with their runs and results", body = trainscope_api::table::PipelineKinds))
))]
pub(super) async fn pipelines(
    State(site): State<Site>,
    Params(query): Params<PipelinesQuery>,
) -> Result<Response, Failure> {
    blocking(move || {
        let results = query.results.as_deref().map(|text| {
            let keys = text.split(',').filter(|key| !key.is_empty());
            keys.map(str::to_owned).collect::<Vec<String>>()
        });
        json(&site.table()?.pipelines(results.as_deref())?)
    })
    .await
}
