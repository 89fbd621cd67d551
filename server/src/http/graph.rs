//! `/api/graph`: one computation graph of a run; `/api/graph/*`: parts of it, from graphs that are kept while they are
//! looked at.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::error::ApiError;
use trainscope_api::graphs::{
    DiffQuery, GraphAnswer, GraphDiff, GraphNode, GraphQuery, GraphScene, GraphSearch,
    GraphSummary, NodeQuery, SceneQuery, SearchQuery,
};

use super::error::Failure;
use super::request::Params;
use super::{Site, blocking, json};
use crate::queries::graph as queries;

/// One computation graph of a run
#[utoipa::path(
    get,
    path = "/api/graph",
    operation_id = "graph",
    params(GraphQuery),
    responses(
        (status = 200, description = "The graph, and which others the run has", body = GraphAnswer),
        (status = "default", description = "Why not", body = ApiError),
    )
)]
pub(super) async fn get(
    State(site): State<Site>,
    Params(query): Params<GraphQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&queries::answer(&site.index, &query)?)).await
}

/// Layout of the open scopes of a graph
#[utoipa::path(
    get,
    path = "/api/graph/scene",
    operation_id = "graph_scene",
    params(SceneQuery),
    responses(
        (status = 200, description = "Boxes and lines", body = GraphScene),
        (status = "default", description = "Why not", body = ApiError),
    )
)]
pub(super) async fn scene(
    State(site): State<Site>,
    Params(query): Params<SceneQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&queries::scene(&site.graphs, &query)?)).await
}

/// Operation types of a graph
#[utoipa::path(
    get,
    path = "/api/graph/summary",
    operation_id = "graph_summary",
    params(GraphQuery),
    responses(
        (status = 200, description = "Counts by type", body = GraphSummary),
        (status = "default", description = "Why not", body = ApiError),
    )
)]
pub(super) async fn summary(
    State(site): State<Site>,
    Params(query): Params<GraphQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&queries::summary(&site.graphs, &query)?)).await
}

/// One node or scope of a graph
#[utoipa::path(
    get,
    path = "/api/graph/node",
    operation_id = "graph_node",
    params(NodeQuery),
    responses(
        (status = 200, description = "Type, attributes, neighbours, source, tensors, hits", body = GraphNode),
        (status = "default", description = "Why not", body = ApiError),
    )
)]
pub(super) async fn node(
    State(site): State<Site>,
    Params(query): Params<NodeQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&queries::node(&site.graphs, &query)?)).await
}

/// Nodes and scopes of a graph by a part of their name, type or source
#[utoipa::path(
    get,
    path = "/api/graph/search",
    operation_id = "graph_search",
    params(SearchQuery),
    responses(
        (status = 200, description = "Nodes and scopes", body = GraphSearch),
        (status = "default", description = "Why not", body = ApiError),
    )
)]
pub(super) async fn search(
    State(site): State<Site>,
    Params(query): Params<SearchQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&queries::search(&site.graphs, &query)?)).await
}

/// Differences of two graphs
#[utoipa::path(
    get,
    path = "/api/graph/diff",
    operation_id = "graph_diff",
    params(DiffQuery),
    responses(
        (status = 200, description = "Nodes that are added, removed, changed or renamed", body = GraphDiff),
        (status = "default", description = "Why not", body = ApiError),
    )
)]
pub(super) async fn diff(
    State(site): State<Site>,
    Params(query): Params<DiffQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&queries::diff(&site.graphs, &query)?)).await
}
