//! `/api/graph`: one computation graph of a run, decoded from its source file when it is asked for.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::error::{ApiError, ErrorCode};
use trainscope_api::graphs::{GraphAnswer, GraphQuery, GraphTag, MAX_NODES};
use trainscope_api::records::RecordsQuery;
use trainscope_format::{Body, Graph, Kind};

use super::error::Failure;
use super::request::Params;
use super::{Site, blocking, json};
use crate::index::{Found, Index, ReadError};

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
    blocking(move || json(&answer(&site.index, &query)?)).await
}

fn answer(index: &Index, query: &GraphQuery) -> Result<GraphAnswer, Failure> {
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
    let mut records = RecordsQuery {
        run: query.run.clone(),
        tag: shown.tag.clone(),
        rank: shown.rank,
        from: query.step,
        to: query.step,
        points: Some(0),
        ..RecordsQuery::default()
    };
    if query.step.is_none() {
        let steps = index
            .records(Kind::Graphs, &records, |_| Ok(Some(())))?
            .steps;
        records.from = steps.last().copied();
        records.to = records.from;
    }
    records.points = Some(1);
    let mut found = index
        .records(Kind::Graphs, &records, |found| read(&found))?
        .records;
    let record = found.pop().ok_or_else(none)?;
    let (format, graph) = record.body;
    let mut graph = graph.map_err(|reason| {
        let message = format!(
            "the graph `{}` of run `{}` cannot be read: {reason}",
            shown.tag, query.run
        );
        Failure::new(ErrorCode::SourceUnreadable, message)
    })?;
    let total_nodes = graph.nodes.len();
    graph.nodes.truncate(MAX_NODES);
    Ok(GraphAnswer {
        graphs,
        shown,
        step: record.step,
        wall_time_secs: record.wall_time_secs,
        format,
        cut: total_nodes > graph.nodes.len(),
        total_nodes: total_nodes as u64,
        graph,
    })
}

type Read = (trainscope_format::GraphFormat, Result<Graph, String>);

fn read(found: &Found) -> Result<Option<Read>, ReadError> {
    let Body::Graph(source) = &found.body else {
        return Ok(None);
    };
    Ok(Some((source.format, found.graph(*source)?)))
}
