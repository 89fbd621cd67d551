//! `/api/graph`: one computation graph of a run; `/api/graph/*`: parts of it, from graphs that are cached while they
//! are viewed.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::graphs::{DiffQuery, GraphQuery, NodeQuery, SceneQuery, SearchQuery};

use super::error::Failure;
use super::request::Params;
use super::{Site, blocking, json};
use crate::queries::graph as queries;

/// Defines the handlers: name, path, id, parameters, answer, and the part of the site that is asked.
macro_rules! graphs {
    ($($name:ident $path:literal $id:literal $query:ident => $answer:ty, $asked:ident.$of:ident, $doc:literal, $says:literal;)+) => { $(
        #[doc = $doc]
        #[cfg_attr(test, utoipa::path(
            get, path = $path, operation_id = $id, params($query),
            responses((status = 200, description = $says, body = $answer))
        ))]
        pub(super) async fn $name(
            State(site): State<Site>,
            Params(query): Params<$query>,
        ) -> Result<Response, Failure> {
            blocking(move || json(&queries::$of(&site.$asked, &query)?)).await
        }
    )+ };
}

graphs! {
    get "/api/graph" "graph" GraphQuery => trainscope_api::graphs::GraphAnswer, index.answer,
        "One computation graph of a run", "The graph, and the list of the run's graphs";
    scene "/api/graph/scene" "graph_scene" SceneQuery => trainscope_api::graphs::GraphScene, graphs.scene,
        "Layout of the open scopes of a graph", "Boxes and lines";
    summary "/api/graph/summary" "graph_summary" GraphQuery => trainscope_api::graphs::GraphSummary, graphs.summary,
        "Operation types of a graph", "Counts by type";
    node "/api/graph/node" "graph_node" NodeQuery => trainscope_api::graphs::GraphNode, graphs.node,
        "One node or scope of a graph", "Type, attributes, neighbours, source, tensors, hits";
    search "/api/graph/search" "graph_search" SearchQuery => trainscope_api::graphs::GraphSearch, graphs.search,
        "Nodes and scopes of a graph by a part of their name, type or source", "Nodes and scopes";
    diff "/api/graph/diff" "graph_diff" DiffQuery => trainscope_api::graphs::GraphDiff, graphs.diff,
        "Differences of two graphs", "Nodes that are added, removed, changed or renamed";
}
