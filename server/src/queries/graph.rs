//! `/api/graph`: one computation graph of a run, decoded from its source file when it is asked for; `/api/graph/*`: the
//! same as one looks at it, from graphs that are kept while somebody does.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::error::{ApiError, ErrorCode};
use trainscope_api::graphs::{
    DiffQuery, GraphAnswer, GraphDiff, GraphNode, GraphQuery, GraphScene, GraphSearch,
    GraphSummary, GraphTag, MAX_NODES, NodeQuery, SceneQuery, SearchQuery,
};
use trainscope_api::records::{At, RecordsQuery};
use trainscope_format::{Body, Graph, Kind};

use super::error::Failure;
use crate::http::request::Params;
use crate::http::{Site, blocking, json};
use crate::index::{Found, Index, ReadError};

mod compare;
mod health;
mod kept;
mod look;
mod notes;
mod times;

pub use kept::Graphs;

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
pub(crate) async fn get(
    State(site): State<Site>,
    Params(query): Params<GraphQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&answer(&site.index, &query)?)).await
}

fn answer(index: &Index, query: &GraphQuery) -> Result<GraphAnswer, Failure> {
    let chosen = choose(index, query)?;
    let record = chosen.record(index, |found| {
        let Body::Graph(source) = &found.body else {
            return Ok(None);
        };
        Ok(Some((source.format, found.graph(*source)?)))
    })?;
    let (format, graph) = record.body;
    let mut graph = chosen.readable(graph)?;
    let total_nodes = graph.nodes.len();
    graph.nodes.truncate(MAX_NODES);
    Ok(GraphAnswer {
        graphs: chosen.graphs,
        shown: chosen.shown,
        step: record.step,
        wall_time_secs: record.wall_time_secs,
        format,
        cut: total_nodes > graph.nodes.len(),
        total_nodes: total_nodes as u64,
        graph,
    })
}

/// Which graph of a run is asked for.
struct Chosen {
    run: String,
    graphs: Vec<GraphTag>,
    shown: GraphTag,
    step: i64,
}

/// Finds the graph that a query means.
fn choose(index: &Index, query: &GraphQuery) -> Result<Chosen, Failure> {
    let graphs: Vec<GraphTag> = index
        .tags_of(&query.run, Kind::Graphs)?
        .into_iter()
        .map(|(tag, rank)| GraphTag {
            tag: tag.to_string(),
            rank,
        })
        .collect();
    let wanted = |graph: &&GraphTag| {
        query.tag.as_ref().is_none_or(|tag| *tag == graph.tag)
            && query.rank.is_none_or(|rank| rank == graph.rank)
    };
    let none = || {
        let message = format!("run `{}` has no such graph", query.run);
        Failure::new(ErrorCode::UnknownTag, message)
    };
    let shown = graphs.iter().find(wanted).ok_or_else(none)?.clone();
    let step = if let Some(step) = query.step {
        step
    } else {
        let records = RecordsQuery {
            run: query.run.clone(),
            tag: shown.tag.clone(),
            rank: shown.rank,
            points: Some(0),
            ..RecordsQuery::default()
        };
        let found = index.records(Kind::Graphs, &records, |_| Ok(Some(())))?;
        *found.steps.last().ok_or_else(none)?
    };
    Ok(Chosen {
        run: query.run.clone(),
        graphs,
        shown,
        step,
    })
}

impl Chosen {
    /// The record of the graph, as `describe` says.
    fn record<T>(
        &self,
        index: &Index,
        describe: impl Fn(Found) -> Result<Option<T>, ReadError>,
    ) -> Result<At<T>, Failure> {
        let records = RecordsQuery {
            run: self.run.clone(),
            tag: self.shown.tag.clone(),
            rank: self.shown.rank,
            from: Some(self.step),
            to: Some(self.step),
            points: Some(1),
            ..RecordsQuery::default()
        };
        let mut found = index.records(Kind::Graphs, &records, describe)?.records;
        found.pop().ok_or_else(|| {
            let message = format!("run `{}` has no such graph", self.run);
            Failure::new(ErrorCode::UnknownTag, message)
        })
    }

    fn readable(&self, graph: Result<Graph, String>) -> Result<Graph, Failure> {
        graph.map_err(|reason| {
            let message = format!(
                "the graph `{}` of run `{}` cannot be read: {reason}",
                self.shown.tag, self.run
            );
            Failure::new(ErrorCode::SourceUnreadable, message)
        })
    }
}

/// A picture of a graph: what is open, laid out
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
pub(crate) async fn scene(
    State(site): State<Site>,
    Params(query): Params<SceneQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&look::scene(&site, &query)?)).await
}

/// What a graph is made of
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
pub(crate) async fn summary(
    State(site): State<Site>,
    Params(query): Params<GraphQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&look::summary(&site, &query)?)).await
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
pub(crate) async fn node(
    State(site): State<Site>,
    Params(query): Params<NodeQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&look::node(&site, &query)?)).await
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
pub(crate) async fn search(
    State(site): State<Site>,
    Params(query): Params<SearchQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&look::search(&site, &query)?)).await
}

/// What differs between two graphs
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
pub(crate) async fn diff(
    State(site): State<Site>,
    Params(query): Params<DiffQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&compare::diff(&site, &query)?)).await
}
