//! `GET /api/tags`: what one run has recorded.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::error::ApiError;
use trainscope_api::tags::{TagList, TagsQuery};

use super::error::Failure;
use super::request::Params;
use super::{Site, blocking, json};

/// The tags of one run
#[utoipa::path(
    get,
    path = "/api/tags",
    operation_id = "tags",
    params(TagsQuery),
    responses(
        (status = 200, description = "The tags, by name", body = TagList),
        (status = "default", description = "Why not", body = ApiError),
    )
)]
pub(super) async fn get(
    State(site): State<Site>,
    Params(query): Params<TagsQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&site.index.tags(&query.run)?)).await
}
