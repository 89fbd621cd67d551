//! `/api/distributions`: histograms, and exponents among statistics, in bins that runs and steps share.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::distributions::{
    DEFAULT_BINS, DEFAULT_ROWS, DistributionsRequest, MAX_BINS, MAX_ROWS, MAX_SERIES, MIN_BINS,
};
use trainscope_api::error::ErrorCode;

use super::error::Failure;
use super::request::Body;
use super::{Site, blocking, json};
use crate::queries::distributions::answer;

/// Maximum number of counts in one answer.
const MAX_COUNTS: usize = 2_000_000;

/// Distributions of many series in shared bins
#[cfg_attr(test, utoipa::path(
    post, path = "/api/distributions", operation_id = "distributions", request_body = DistributionsRequest,
    responses(
        (
            status = 200,
            description = "One entry for each requested series, in the same order",
            body = trainscope_api::distributions::DistributionsAnswer,
        )
    )
))]
pub(super) async fn post(
    State(site): State<Site>,
    Body(request): Body<DistributionsRequest>,
) -> Result<Response, Failure> {
    let rows = request.rows.unwrap_or(DEFAULT_ROWS);
    let bins = request.bins.unwrap_or(DEFAULT_BINS);
    if !(1..=MAX_ROWS).contains(&rows) {
        let message = format!("`rows` wants 1 to {MAX_ROWS}, not {rows}");
        return Err(Failure::bad_request(message));
    }
    if !(MIN_BINS..=MAX_BINS).contains(&bins) {
        let message = format!("`bins` wants {MIN_BINS} to {MAX_BINS}, not {bins}");
        return Err(Failure::bad_request(message));
    }
    if request
        .from
        .zip(request.to)
        .is_some_and(|(from, to)| from > to)
    {
        return Err(Failure::bad_request("`from` is above `to`"));
    }
    if request.series.len() > MAX_SERIES || request.series.len() * rows * bins > MAX_COUNTS {
        let message = format!(
            "one request may name {MAX_SERIES} series and ask for {MAX_COUNTS} counts in all"
        );
        return Err(Failure::new(ErrorCode::TooLarge, message));
    }
    blocking(move || json(&answer(&site.index, &request, rows, bins)?)).await
}
