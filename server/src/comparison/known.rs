//! Cached results: names of runs, differences of tensors by the fingerprint of their files, and the state of viewed
//! comparisons.

use std::hash::Hasher as _;
use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::FxHasher;
use trainscope_api::compare::GraphFacts;

use super::cells::Cells;
use super::pair::Pair;
use super::recorded::{self, RunNames};
use super::scalars::Scalars;
use super::statistics::Statistics;
use super::walk::Walk;
use super::{Side, graph};
use crate::queries::error::Failure;

/// Maximum number of comparisons in memory: a page with eight runs has seven.
const MAX_STATES: usize = 32;
/// Maximum number of runs whose names are in memory.
const MAX_RECORDED: usize = 32;
/// Maximum number of comparisons of graphs in memory.
const MAX_GRAPHS: usize = 64;

/// Cached results of comparisons. Cloning is cheap.
#[derive(Clone, Default)]
pub struct Comparisons(Arc<Results>);

#[derive(Default)]
struct Results {
    cells: Cells,
    states: Mutex<Vec<(u64, Arc<Mutex<State>>)>>,
    recorded: Mutex<Vec<(u64, Arc<RunNames>)>>,
    flows: Mutex<Vec<(u64, Option<Arc<super::graph::Flow>>)>>,
    graphs: Mutex<Vec<(u64, Option<GraphFacts>)>>,
}

/// State of a comparison of two runs.
#[derive(Default)]
pub(super) struct State {
    pub(super) scalars: Scalars,
    pub(super) statistics: Statistics,
    pub(super) walk: Walk,
}

/// The value of a key, which becomes the first entry: the list is in the order of last use.
fn take<T: Clone>(all: &mut Vec<(u64, T)>, key: u64) -> Option<T> {
    let at = all.iter().position(|(known, _)| *known == key)?;
    let found = all.remove(at);
    let value = found.1.clone();
    all.insert(0, found);
    Some(value)
}

fn put<T>(all: &mut Vec<(u64, T)>, key: u64, value: T, most: usize) {
    all.retain(|(known, _)| *known != key);
    all.insert(0, (key, value));
    all.truncate(most);
}

fn hash(parts: impl std::hash::Hash) -> u64 {
    let mut hasher = FxHasher::default();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// Fingerprint of the files of a run: their sizes as read, and the files of tensors.
fn stamp(side: Side<'_>) -> u64 {
    let info = side.index.describe(side.run);
    let files: Vec<(String, u64, u64)> = info
        .iter()
        .flat_map(|run| &run.files)
        .map(|file| (file.path.clone(), file.read_bytes, file.records))
        .collect();
    let status = info.map(|run| run.status);
    let tensors = side.index.recording(side.run).map(|files| files.stamp);
    hash((side.run, files, status, tensors))
}

impl Comparisons {
    pub(super) fn cells(&self) -> &Cells {
        &self.0.cells
    }

    /// Names of a run, read again after its files have changed.
    pub(super) fn recorded(&self, side: Side<'_>) -> Result<Arc<RunNames>, Failure> {
        let key = stamp(side);
        if let Some(known) = take(&mut self.0.recorded.lock(), key) {
            return Ok(known);
        }
        let graphs = side
            .index
            .tags_of(side.run, trainscope_format::Kind::Graphs)?;
        let of_graph = hash((side.run, graphs));
        let flow = take(&mut self.0.flows.lock(), of_graph);
        let flow = flow.unwrap_or_else(|| {
            let flow = recorded::flow(side).map(Arc::new);
            put(
                &mut self.0.flows.lock(),
                of_graph,
                flow.clone(),
                MAX_RECORDED,
            );
            flow
        });
        let read = Arc::new(RunNames::read(side, flow.as_deref())?);
        put(
            &mut self.0.recorded.lock(),
            key,
            Arc::clone(&read),
            MAX_RECORDED,
        );
        Ok(read)
    }

    /// State of a comparison: its runs, the first step and the alignment.
    pub(super) fn state(&self, pair: &Pair<'_>) -> Arc<Mutex<State>> {
        let runs = pair.sides.map(|side| side.run);
        let key = hash((runs, pair.since, format!("{:?}", pair.alignment)));
        let mut states = self.0.states.lock();
        take(&mut states, key).unwrap_or_else(|| {
            let state = Arc::default();
            put(&mut states, key, Arc::clone(&state), MAX_STATES);
            state
        })
    }

    /// Graphs of two runs, compared again after their files have changed.
    pub(crate) fn graphs(
        &self,
        base: Side<'_>,
        other: Side<'_>,
    ) -> Result<Option<GraphFacts>, Failure> {
        let tags = |side: Side<'_>| {
            side.index
                .tags_of(side.run, trainscope_format::Kind::Graphs)
        };
        let (a, b) = (tags(base)?, tags(other)?);
        if a.is_empty() || b.is_empty() {
            return Ok(None);
        }
        let key = hash((base.run, other.run, a, b));
        if let Some(known) = take(&mut self.0.graphs.lock(), key) {
            return Ok(known);
        }
        let facts = graph::facts(base, other)?;
        put(&mut self.0.graphs.lock(), key, facts.clone(), MAX_GRAPHS);
        Ok(facts)
    }
}
