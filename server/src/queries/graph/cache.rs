//! Graphs with their trees, cached while they are viewed: reading a large one takes longer than drawing it.
//!
//! A general cache would refuse a graph above its bound of nodes and decode it again for each request; this one keeps
//! at least the last. An entry belongs to one content of a source file: a replaced file is read again.

use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;
use trainscope_analysis::graph::names::Names;
use trainscope_analysis::graph::tree::Tree;
use trainscope_analysis::graph::walk::Walk;
use trainscope_api::graphs::GraphQuery;
use trainscope_format::{Body, Graph, GraphFormat};

use super::health::Health;
use super::times::{self, Times};
use super::{GraphChoice, choose};
use crate::index::Index;
use crate::judging::{JudgedRun, Judgements};
use crate::profiles::{LoadedProfile, Profiles};
use crate::queries::error::Failure;

/// Maximum number of cached graphs.
const MAX_GRAPHS: usize = 4;
/// Maximum number of cached nodes, unless a single graph has more.
const MAX_KEPT_NODES: usize = 1_000_000;

/// Cached graphs, the last used one first. Cloning is cheap.
#[derive(Clone)]
pub struct Graphs {
    index: Index,
    judgements: Judgements,
    profiles: Profiles,
    entries: Arc<Mutex<Vec<Entry>>>,
}

/// Name of the content of a source file, and its graph.
type Entry = (String, Arc<CachedGraph>);

pub(crate) struct CachedGraph {
    pub(super) format: GraphFormat,
    pub(super) graph: Graph,
    pub(super) tree: Tree,
    pub(super) walk: Walk,
    names: OnceLock<Names>,
    health: Mutex<Option<(Arc<JudgedRun>, Arc<Health>)>>,
    /// Number of profiles, and the times from them.
    times: Mutex<(u64, Arc<Times>)>,
    /// The trace of the newest profile, and the times from it.
    traced: Mutex<(Weak<LoadedProfile>, Arc<Times>)>,
}

impl CachedGraph {
    fn new(format: GraphFormat, graph: Graph) -> Self {
        let tree = Tree::new(&graph);
        Self {
            format,
            walk: Walk::new(&tree),
            graph,
            tree,
            names: OnceLock::new(),
            health: Mutex::new(None),
            times: Mutex::default(),
            traced: Mutex::default(),
        }
    }

    pub(crate) fn names(&self) -> &Names {
        self.names
            .get_or_init(|| Names::new(&self.graph, &self.tree))
    }

    /// Hits in each part of the graph.
    pub(crate) fn health(&self, judged: Option<Arc<JudgedRun>>) -> Arc<Health> {
        let Some(judged) = judged.filter(|judged| !judged.findings.hits.is_empty()) else {
            return Arc::default();
        };
        let mut known = self.health.lock();
        if let Some((of, health)) = &*known
            && Arc::ptr_eq(of, &judged)
        {
            return Arc::clone(health);
        }
        let health = Arc::new(Health::new(&judged.findings, self.names()));
        *known = Some((judged, Arc::clone(&health)));
        health
    }

    /// Times of each part of the graph, where the run has profiles of that rank: spans of trainings, else operators
    /// of the newest trace.
    pub(crate) fn times(&self, of: &Graphs, run: &str, rank: u32) -> Result<Arc<Times>, Failure> {
        let index = &of.index;
        let profiles = times::profiles(index, run, rank)?;
        if profiles == 0 {
            return Ok(self.traced(of, run, rank));
        }
        let mut known = self.times.lock();
        if known.0 != profiles {
            Arc::make_mut(&mut known.1).read_on(index, run, rank, self.names())?;
            known.0 = profiles;
        }
        Ok(Arc::clone(&known.1))
    }

    /// Times by the operators of the newest trace; empty without a trace of that rank.
    fn traced(&self, of: &Graphs, run: &str, rank: u32) -> Arc<Times> {
        let Ok(loaded) = of.profiles.get(run, None, Some(rank)) else {
            return Arc::default();
        };
        let mut known = self.traced.lock();
        if !Weak::ptr_eq(&known.0, &Arc::downgrade(&loaded)) {
            let times = Times::of_operators(&loaded.model, &self.tree, self.names());
            *known = (Arc::downgrade(&loaded), Arc::new(times));
        }
        Arc::clone(&known.1)
    }
}

impl Graphs {
    /// An empty cache for the runs of an index.
    pub fn new(index: &Index, judgements: &Judgements, profiles: &Profiles) -> Self {
        Self {
            index: index.clone(),
            judgements: judgements.clone(),
            profiles: profiles.clone(),
            entries: Arc::default(),
        }
    }

    pub(super) fn index(&self) -> &Index {
        &self.index
    }

    pub(super) fn judged(&self, run: &str) -> Option<Arc<JudgedRun>> {
        self.judgements.of(run)
    }

    /// The graph of a query, read unless it is cached.
    pub(super) fn get(
        &self,
        query: &GraphQuery,
    ) -> Result<(GraphChoice, Arc<CachedGraph>), Failure> {
        let index = &self.index;
        let chosen = choose(index, query)?;
        let at = chosen.record(index, |found| {
            let Body::Graph(source) = &found.body else {
                return Ok(None);
            };
            Ok(Some(found.blob_id(source.data)))
        })?;
        let key = format!("{}@{}", at.body, at.wall_time_secs.to_bits());
        if let Some(kept) = self.known(&key) {
            return Ok((chosen, kept));
        }
        let (format, graph) = chosen.graph(index)?.body;
        let kept = Arc::new(CachedGraph::new(format, graph));
        self.keep(key, &kept);
        Ok((chosen, kept))
    }

    /// Path of the node of an operator in the first graph of a run: the same full name, or for names with scopes one
    /// that ends with it.
    pub(crate) fn node_named(&self, run: &str, name: &str) -> Option<String> {
        let query = GraphQuery {
            run: run.to_owned(),
            ..GraphQuery::default()
        };
        let (_, kept) = self.get(&query).ok()?;
        let by_ending = || name.contains(['/', '.']).then(|| kept.names().find(name))?;
        let item = kept.tree.find(name).or_else(by_ending)?;
        kept.tree.items.get(item).map(|item| item.path.clone())
    }

    fn known(&self, key: &str) -> Option<Arc<CachedGraph>> {
        let mut all = self.entries.lock();
        let at = all.iter().position(|(known, _)| known == key)?;
        let found = all.remove(at);
        let kept = Arc::clone(&found.1);
        all.insert(0, found);
        Some(kept)
    }

    fn keep(&self, key: String, kept: &Arc<CachedGraph>) {
        let mut all = self.entries.lock();
        all.retain(|(known, _)| *known != key);
        all.insert(0, (key, Arc::clone(kept)));
        let mut nodes = 0;
        let mut position = 0;
        all.retain(|(_, kept)| {
            nodes += kept.graph.nodes.len();
            position += 1;
            position == 1 || position <= MAX_GRAPHS && nodes <= MAX_KEPT_NODES
        });
    }
}
