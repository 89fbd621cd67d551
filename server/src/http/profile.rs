//! `/api/profile…`: the profiles of a run, with their steps, operators, memory and ranks.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::profile::{
    FlameQuery, MemoryQuery, OperatorQuery, OperatorsQuery, ProfileDiffQuery, ProfileQuery,
    SqlRequest,
};
use trainscope_api::records::RunQuery;

use super::error::Failure;
use super::request::{Body, Params};
use super::{Site, blocking, cancellable, json};
use crate::queries::profile;

/// Sessions of profilers of a run
#[cfg_attr(test, utoipa::path(
    get, path = "/api/profile", operation_id = "profile", params(RunQuery),
    responses((status = 200, description = "Sessions and ranks, the newest first", body = trainscope_api::profile::ProfileList))
))]
pub(super) async fn get(
    State(site): State<Site>,
    Params(query): Params<RunQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&site.profiles.list(&query.run)?)).await
}

/// Steps, device figures, idle time, critical path and advice of a session of one rank
#[cfg_attr(test, utoipa::path(
    get, path = "/api/profile/overview", operation_id = "profile_overview", params(ProfileQuery),
    responses((status = 200, description = "One session", body = trainscope_api::profile::ProfileOverview))
))]
pub(super) async fn overview(
    State(site): State<Site>,
    Params(query): Params<ProfileQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&profile::overview(&site.profiles, &site.index, &query)?)).await
}

/// Operators or kernels, the most time first
#[cfg_attr(test, utoipa::path(
    get, path = "/api/profile/operators", operation_id = "profile_operators", params(OperatorsQuery),
    responses((status = 200, description = "Rows, and the total", body = trainscope_api::profile::OperatorsAnswer))
))]
pub(super) async fn operators(
    State(site): State<Site>,
    Params(query): Params<OperatorsQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&profile::operators(&site.profiles, &query)?)).await
}

/// One operator: distribution, steps, shapes, kernels, callers
#[cfg_attr(test, utoipa::path(
    get, path = "/api/profile/operator", operation_id = "profile_operator", params(OperatorQuery),
    responses((status = 200, description = "The operator", body = trainscope_api::profile::OperatorAnswer))
))]
pub(super) async fn operator(
    State(site): State<Site>,
    Params(query): Params<OperatorQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&profile::operator(&site.profiles, &site.graphs, &query)?)).await
}

/// Memory of a device over time, and what holds it at a moment
#[cfg_attr(test, utoipa::path(
    get, path = "/api/profile/memory", operation_id = "profile_memory", params(MemoryQuery),
    responses((status = 200, description = "Memory; without devices if it was not recorded", body = trainscope_api::profile::MemoryAnswer))
))]
pub(super) async fn memory(
    State(site): State<Site>,
    Params(query): Params<MemoryQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&profile::memory(&site.profiles, &query)?)).await
}

/// The ranks of a session side by side
#[cfg_attr(test, utoipa::path(
    get, path = "/api/profile/ranks", operation_id = "profile_ranks", params(ProfileQuery),
    responses((status = 200, description = "Ranks, collectives and slow ranks", body = trainscope_api::profile::RanksAnswer))
))]
pub(super) async fn ranks(
    State(site): State<Site>,
    Params(query): Params<ProfileQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&profile::ranks(&site.profiles, &query)?)).await
}

/// Stacks of an area added up
#[cfg_attr(test, utoipa::path(
    get, path = "/api/profile/flame", operation_id = "profile_flame", params(FlameQuery),
    responses((status = 200, description = "Frames, parents before children", body = trainscope_api::profile::FlameAnswer))
))]
pub(super) async fn flame(
    State(site): State<Site>,
    Params(query): Params<FlameQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&profile::flame(&site.profiles, &query)?)).await
}

/// Differences of two profiles
#[cfg_attr(test, utoipa::path(
    get, path = "/api/profile/diff", operation_id = "profile_diff", params(ProfileDiffQuery),
    responses((status = 200, description = "The first profile against the second, its baseline", body = trainscope_api::profile::ProfileDiff))
))]
pub(super) async fn diff(
    State(site): State<Site>,
    Params(query): Params<ProfileDiffQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&profile::diff(&site.profiles, &query)?)).await
}

/// Rows of an SQL statement over the profiles of a session
#[cfg_attr(test, utoipa::path(
    post, path = "/api/profile/sql", operation_id = "profile_sql", request_body = SqlRequest,
    responses((status = 200, description = "Rows, at most 10,000", body = trainscope_api::profile::SqlAnswer))
))]
pub(super) async fn sql(
    State(site): State<Site>,
    Body(request): Body<SqlRequest>,
) -> Result<Response, Failure> {
    cancellable(move |flag| json(&profile::sql(&site.profiles, &request, flag)?)).await
}
