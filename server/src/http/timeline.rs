//! `/api/timeline…`: the slices of a profile as far as pixels can show them, and everything about single ones.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::profile::ProfileQuery;
use trainscope_api::timeline::{
    AreaAnswer, AreaQuery, SliceAnswer, SliceQuery, TimelineAnswer, TimelineLanes, TimelineQuery,
    TimelineSearchAnswer, TimelineSearchQuery,
};

use super::error::Failure;
use super::request::Params;
use super::{Site, blocking, json};
use crate::queries::timeline;

/// Cells of rows for a stretch of time
#[utoipa::path(
    get, path = "/api/timeline", operation_id = "timeline", params(TimelineQuery),
    responses((status = 200, description = "Cells; every slice is counted in exactly one", body = TimelineAnswer))
)]
pub(super) async fn get(
    State(site): State<Site>,
    Params(query): Params<TimelineQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&timeline::cells(&site.profiles, &query)?)).await
}

/// Lanes, steps and counters of a session
#[utoipa::path(
    get, path = "/api/timeline/lanes", operation_id = "timeline_lanes", params(ProfileQuery),
    responses((status = 200, description = "Lanes in groups", body = TimelineLanes))
)]
pub(super) async fn lanes(
    State(site): State<Site>,
    Params(query): Params<ProfileQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&timeline::lanes(&site.profiles, &query)?)).await
}

/// One slice with its arguments, parents, flows and launches
#[utoipa::path(
    get, path = "/api/timeline/slice", operation_id = "timeline_slice", params(SliceQuery),
    responses((status = 200, description = "The slice", body = SliceAnswer))
)]
pub(super) async fn slice(
    State(site): State<Site>,
    Params(query): Params<SliceQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&timeline::slice(&site.profiles, &site.graphs, &query)?)).await
}

/// Totals of an area
#[utoipa::path(
    get, path = "/api/timeline/area", operation_id = "timeline_area", params(AreaQuery),
    responses((status = 200, description = "Totals by name and lane", body = AreaAnswer))
)]
pub(super) async fn area(
    State(site): State<Site>,
    Params(query): Params<AreaQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&timeline::area(&site.profiles, &query)?)).await
}

/// Slices that match a search
#[utoipa::path(
    get, path = "/api/timeline/search", operation_id = "timeline_search", params(TimelineSearchQuery),
    responses((status = 200, description = "Matches", body = TimelineSearchAnswer))
)]
pub(super) async fn search(
    State(site): State<Site>,
    Params(query): Params<TimelineSearchQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&timeline::search(&site.profiles, &query)?)).await
}
