//! `GET /api/runs`: the runs, what they hold and what is wrong with their files.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::error::ApiError;
use trainscope_api::runs::RunList;

use super::error::Failure;
use super::findings;
use super::{Site, blocking, json};

/// All runs and the state of their files
#[utoipa::path(
    get,
    path = "/api/runs",
    operation_id = "runs",
    responses(
        (status = 200, description = "The runs, by name", body = RunList),
        (status = "default", description = "Why not", body = ApiError),
    )
)]
pub(super) async fn get(State(site): State<Site>) -> Result<Response, Failure> {
    blocking(move || {
        let mut list = site.index.runs();
        for run in &mut list.runs {
            run.health = site
                .diagnosis
                .of(&run.id)
                .map(|judged| findings::health(&judged));
        }
        json(&list)
    })
    .await
}
