//! `/api/neighbours`: layers before and after a tensor, with their health.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::findings::{Neighbours, NeighboursQuery};

use super::error::Failure;
use super::request::Params;
use super::{Site, blocking, json};
use crate::queries::neighbours::answer;

/// Layers before and after a tensor
#[cfg_attr(test, utoipa::path(
    get, path = "/api/neighbours", operation_id = "neighbours", params(NeighboursQuery),
    responses(
        (
            status = 200,
            description = "Nearest recorded layers, by the graph or by the order in which layers run; none for \
                           what is no tensor of a layer",
            body = Neighbours
        )
    )
))]
pub(super) async fn get(
    State(site): State<Site>,
    Params(query): Params<NeighboursQuery>,
) -> Result<Response, Failure> {
    blocking(move || match site.judgements.of(&query.run) {
        Some(judged) => json(&answer(&judged, &query)),
        None if site.index.has_run(&query.run) => json(&Neighbours::default()),
        None => Err(Failure::unknown_run(&query.run)),
    })
    .await
}
