//! `/api/findings`: findings of watchpoints in one run.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::findings::{DEFAULT_HITS, Findings, FindingsQuery, JudgementState, MAX_HITS};

use super::error::Failure;
use super::request::Params;
use super::{Site, blocking, json};
use crate::queries::findings::answer;

/// Findings of watchpoints in a run
#[cfg_attr(test, utoipa::path(
    get, path = "/api/findings", operation_id = "findings", params(FindingsQuery),
    responses((status = 200, description = "Hits and their first cause", body = Findings))
))]
pub(super) async fn get(
    State(site): State<Site>,
    Params(query): Params<FindingsQuery>,
) -> Result<Response, Failure> {
    let limit = query.limit.unwrap_or(DEFAULT_HITS);
    if !(1..=MAX_HITS).contains(&limit) {
        let message = format!("`limit` wants 1 to {MAX_HITS}, not {limit}");
        return Err(Failure::bad_request(message));
    }
    blocking(move || match site.judgements.of(&query.run) {
        Some(judged) => json(&Findings {
            state: if site.judgements.is_behind(&query.run) {
                JudgementState::Behind
            } else {
                JudgementState::Done
            },
            progress: site.judgements.progress(&query.run),
            ..answer(&judged, &query, limit)
        }),
        None if site.index.has_run(&query.run) => json(&Findings {
            progress: site.judgements.progress(&query.run),
            ..Findings::default()
        }),
        None => Err(Failure::unknown_run(&query.run)),
    })
    .await
}
