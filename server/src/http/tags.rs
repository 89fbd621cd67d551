//! `/api/tags`: the tags of one run, or of several.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::error::ErrorCode;
use trainscope_api::tags::{MAX_RUNS, MAX_TAGS, TagLists, TagsQuery, TagsRequest};

use super::error::Failure;
use super::request::{Body, Params};
use super::{Site, blocking, json};

/// The tags of one run
#[cfg_attr(test, utoipa::path(
    get, path = "/api/tags", operation_id = "tags", params(TagsQuery),
    responses((status = 200, description = "The tags, by name", body = trainscope_api::tags::TagList))
))]
pub(super) async fn get(
    State(site): State<Site>,
    Params(query): Params<TagsQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&site.index.tags(&query.run)?)).await
}

/// The tags of several runs
#[cfg_attr(test, utoipa::path(
    post, path = "/api/tags", operation_id = "many_tags", request_body = TagsRequest,
    responses((status = 200, description = "The tags of each run, in the requested order", body = TagLists))
))]
pub(super) async fn post(
    State(site): State<Site>,
    Body(request): Body<TagsRequest>,
) -> Result<Response, Failure> {
    if request.runs.len() > MAX_RUNS {
        let message = format!("tags of at most {MAX_RUNS} runs can be requested at once");
        return Err(Failure::new(ErrorCode::TooLarge, message));
    }
    blocking(move || {
        let mut answer = TagLists::default();
        let mut tags = 0;
        for run in &request.runs {
            answer.cut = tags > MAX_TAGS;
            // A run may have been removed since it was listed.
            let list = (!answer.cut).then(|| site.index.tags(run).ok()).flatten();
            tags += list.as_ref().map_or(0, |list| list.tags.len());
            answer.lists.push(list);
        }
        json(&answer)
    })
    .await
}
