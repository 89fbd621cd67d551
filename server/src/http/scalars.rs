//! `/api/scalars`: points of one series (`GET`) or of many in one answer (`POST`).

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_TYPE, VARY};
use axum::response::{IntoResponse, Response};
use trainscope_api::error::ErrorCode;
use trainscope_api::scalars::{
    COLUMNS_MEDIA_TYPE, MAX_POINTS, MAX_SERIES, ScalarsQuery, ScalarsRequest, encode,
};

use super::error::Failure;
use super::headers::NO_STORE;
use super::request::{Body, Params, wants};
use super::{Site, blocking, json_text};

mod text;

/// Points of one series
#[cfg_attr(test, utoipa::path(
    get, path = "/api/scalars", operation_id = "scalars", params(ScalarsQuery),
    responses((status = 200, description = "Points, or buckets of them", body = trainscope_api::scalars::Series))
))]
pub(super) async fn get(
    State(site): State<Site>,
    Params(query): Params<ScalarsQuery>,
) -> Result<Response, Failure> {
    check_range(query.from, query.to, query.points)?;
    if query.superseded > 1 {
        return Err(Failure::bad_request("`superseded` wants 0 or 1"));
    }
    let selection = site.index.series(&query)?;
    let is_short = selection.is_short();
    let answer = move || json_text(text::series(&selection.read()?));
    if is_short {
        answer()
    } else {
        blocking(answer).await
    }
}

/// Points of many series
#[cfg_attr(test, utoipa::path(
    post, path = "/api/scalars", operation_id = "many_scalars", request_body = ScalarsRequest,
    responses(
        (
            status = 200,
            description = "One entry for each requested series, in the same order. As `application/octet-stream`, if \
                           `Accept` names it: the same as little-endian columns.",
            content(
                (trainscope_api::scalars::ScalarsAnswer = "application/json"),
                (Columns = "application/octet-stream"),
            ),
        )
    )
))]
pub(super) async fn post(
    State(site): State<Site>,
    headers: HeaderMap,
    Body(request): Body<ScalarsRequest>,
) -> Result<Response, Failure> {
    check_range(request.from, request.to, request.points)?;
    if request.series.len() > MAX_SERIES {
        return Err(Failure::new(
            ErrorCode::TooLarge,
            format!("one request may name {MAX_SERIES} series"),
        ));
    }
    let columns = wants(&headers, COLUMNS_MEDIA_TYPE);
    blocking(move || {
        let answer = site.index.many_series(&request)?;
        let mut response = if columns {
            (
                [(CONTENT_TYPE, COLUMNS_MEDIA_TYPE), NO_STORE],
                encode(&answer),
            )
                .into_response()
        } else {
            json_text(text::answer(&answer))?
        };
        response
            .headers_mut()
            .append(VARY, axum::http::HeaderValue::from_static("accept"));
        Ok(response)
    })
    .await
}

/// Little-endian columns, laid out as in the documentation of the `trainscope-api` crate
#[cfg(test)]
#[derive(utoipa::ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "only its schema is used")]
struct Columns(Vec<u8>);

fn check_range(from: Option<i64>, to: Option<i64>, points: Option<usize>) -> Result<(), Failure> {
    if let Some(points) = points
        && !(1..=MAX_POINTS).contains(&points)
    {
        return Err(Failure::bad_request(format!(
            "`points` wants 1 to {MAX_POINTS}, not {points}"
        )));
    }
    if let (Some(from), Some(to)) = (from, to)
        && from > to
    {
        return Err(Failure::bad_request(format!(
            "`from` ({from}) is above `to` ({to})"
        )));
    }
    Ok(())
}
