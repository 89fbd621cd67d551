//! Computation graphs of a run: a whole one, decoded from its source file, or parts of a cached one with its tree.

use trainscope_api::error::ErrorCode;
use trainscope_api::graphs::{GraphAnswer, GraphQuery, GraphTag, MAX_NODES};
use trainscope_api::records::{At, RecordsQuery};
use trainscope_format::{Body, Graph, GraphFormat, Kind};

use super::error::Failure;
use crate::index::{Index, IndexedRecord, ReadError};

mod cache;
mod compare;
mod health;
mod look;
mod notes;
mod times;

pub use cache::Graphs;
pub(crate) use compare::diff;
pub(crate) use look::{node, scene, search, summary};

/// One computation graph of a run, and a list of its other graphs.
pub(crate) fn answer(index: &Index, query: &GraphQuery) -> Result<GraphAnswer, Failure> {
    let chosen = choose(index, query)?;
    let record = chosen.graph(index)?;
    let (format, mut graph) = record.body;
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

/// The graph of a query with all its nodes; `None` if the run has none, or it cannot be read.
pub(crate) fn whole(index: &Index, query: &GraphQuery) -> Result<Option<Graph>, Failure> {
    match choose(index, query).and_then(|chosen| chosen.graph(index)) {
        Ok(found) => Ok(Some(found.body.1)),
        Err(failure)
            if matches!(
                failure.code(),
                ErrorCode::UnknownTag | ErrorCode::SourceUnreadable
            ) =>
        {
            Ok(None)
        }
        Err(failure) => Err(failure),
    }
}

/// The graph of a run that a query names.
struct GraphChoice {
    run: String,
    graphs: Vec<GraphTag>,
    shown: GraphTag,
    step: i64,
}

/// Finds the graph of a query.
fn choose(index: &Index, query: &GraphQuery) -> Result<GraphChoice, Failure> {
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
    Ok(GraphChoice {
        run: query.run.clone(),
        graphs,
        shown,
        step,
    })
}

impl GraphChoice {
    /// The graph with its format and step.
    fn graph(&self, index: &Index) -> Result<At<(GraphFormat, Graph)>, Failure> {
        let found = self.record(index, |found| {
            let Body::Graph(source) = &found.body else {
                return Ok(None);
            };
            Ok(Some((source.format, found.graph(*source)?)))
        })?;
        let (format, graph) = found.body;
        let graph = graph.map_err(|reason| {
            let message = format!(
                "the graph `{}` of run `{}` cannot be read: {reason}",
                self.shown.tag, self.run
            );
            Failure::new(ErrorCode::SourceUnreadable, message)
        })?;
        Ok(At {
            step: found.step,
            wall_time_secs: found.wall_time_secs,
            body: (format, graph),
        })
    }

    /// The record of the graph, converted by `describe`.
    fn record<T>(
        &self,
        index: &Index,
        describe: impl Fn(IndexedRecord) -> Result<Option<T>, ReadError>,
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
}
