//! `/api/pipeline`: the data pipeline of a run, and the time for which the training waits for its data.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::records::RunQuery;

use super::error::Failure;
use super::request::Params;
use super::{Site, blocking, json};
use crate::queries::pipeline::answer;

/// Data pipelines of a run, and the time that the training waits for them
#[cfg_attr(test, utoipa::path(
    get, path = "/api/pipeline", operation_id = "pipeline", params(RunQuery),
    responses(
        (status = 200, description = "Data pipelines, and waiting by step; empty where neither was recorded", body = trainscope_api::pipeline::PipelineAnswer)
    )
))]
pub(super) async fn get(
    State(site): State<Site>,
    Params(query): Params<RunQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&answer(&site.index, &query.run)?)).await
}
