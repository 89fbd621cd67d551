//! `/api/timeline…`: the slices of a profile in the detail that pixels can show, and everything about single ones.

use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use trainscope_api::profile::ProfileQuery;
use trainscope_api::timeline::{
    AreaQuery, CELLS_MEDIA_TYPE, PathQuery, SliceQuery, StepQuery, TimelineQuery,
    TimelineSearchQuery, encode,
};

use super::error::Failure;
use super::headers::NO_STORE;
use super::request::{Params, wants};
use super::{Site, blocking, json};
use crate::queries::timeline;

/// Cells of rows for a stretch of time
#[cfg_attr(test, utoipa::path(
    get, path = "/api/timeline", operation_id = "timeline", params(TimelineQuery),
    responses((
        status = 200,
        description = "Cells; every slice is counted in exactly one. As `application/octet-stream`, if the request \
                       accepts it, in the layout of `trainscope-api`; otherwise as JSON",
        content(
            (trainscope_api::timeline::TimelineAnswer = "application/json"),
            (Cells = "application/octet-stream"),
        ),
    ))
))]
pub(super) async fn get(
    State(site): State<Site>,
    headers: HeaderMap,
    Params(query): Params<TimelineQuery>,
) -> Result<Response, Failure> {
    let is_binary = wants(&headers, CELLS_MEDIA_TYPE);
    blocking(move || {
        let answer = timeline::cells(&site.profiles, &query)?;
        let mut response = if is_binary {
            let head = [(CONTENT_TYPE, CELLS_MEDIA_TYPE), NO_STORE];
            (head, encode(&answer)).into_response()
        } else {
            json(&answer)?
        };
        let vary = HeaderValue::from_static("accept");
        response.headers_mut().append(VARY, vary);
        Ok(response)
    })
    .await
}

/// Cells as bytes, laid out as in the documentation of the `trainscope-api` crate
#[cfg(test)]
#[derive(utoipa::ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "only its schema is used")]
struct Cells(Vec<u8>);

/// Lanes, steps and counters of a session
#[cfg_attr(test, utoipa::path(
    get, path = "/api/timeline/lanes", operation_id = "timeline_lanes", params(ProfileQuery),
    responses((status = 200, description = "Lanes in groups", body = trainscope_api::timeline::TimelineLanes))
))]
pub(super) async fn lanes(
    State(site): State<Site>,
    Params(query): Params<ProfileQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&timeline::lanes(&site.profiles, &site.index, &query)?)).await
}

/// One slice with its arguments, parents, flows and launches
#[cfg_attr(test, utoipa::path(
    get, path = "/api/timeline/slice", operation_id = "timeline_slice", params(SliceQuery),
    responses((status = 200, description = "The slice", body = trainscope_api::timeline::SliceAnswer))
))]
pub(super) async fn slice(
    State(site): State<Site>,
    Params(query): Params<SliceQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&timeline::slice(&site.profiles, &site.graphs, &query)?)).await
}

/// The newest session that has a step of the training
#[cfg_attr(test, utoipa::path(
    get, path = "/api/timeline/step", operation_id = "timeline_step", params(StepQuery),
    responses((status = 200, description = "Its place, if a profile has it", body = trainscope_api::timeline::StepAnswer))
))]
pub(super) async fn step(
    State(site): State<Site>,
    Params(query): Params<StepQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&timeline::step(&site.profiles, &site.index, &query)?)).await
}

/// Totals of an area
#[cfg_attr(test, utoipa::path(
    get, path = "/api/timeline/area", operation_id = "timeline_area", params(AreaQuery),
    responses((status = 200, description = "Totals by name and lane", body = trainscope_api::timeline::AreaAnswer))
))]
pub(super) async fn area(
    State(site): State<Site>,
    Params(query): Params<AreaQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&timeline::area(&site.profiles, &query)?)).await
}

/// Critical paths of the steps in a view
#[cfg_attr(test, utoipa::path(
    get, path = "/api/timeline/path", operation_id = "timeline_path", params(PathQuery),
    responses((status = 200, description = "Segments of the paths", body = trainscope_api::timeline::PathAnswer))
))]
pub(super) async fn path(
    State(site): State<Site>,
    Params(query): Params<PathQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&timeline::path(&site.profiles, &query)?)).await
}

/// Slices that match a search
#[cfg_attr(test, utoipa::path(
    get, path = "/api/timeline/search", operation_id = "timeline_search", params(TimelineSearchQuery),
    responses((status = 200, description = "Matches", body = trainscope_api::timeline::TimelineSearchAnswer))
))]
pub(super) async fn search(
    State(site): State<Site>,
    Params(query): Params<TimelineSearchQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&timeline::search(&site.profiles, &query)?)).await
}
