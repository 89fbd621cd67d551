//! Parts of a cached graph: scenes, summaries, nodes, matches of a search.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use trainscope_analysis::graph::scene::{self, MAX_CHIPS, View, chip_label};
use trainscope_analysis::graph::source::places;
use trainscope_analysis::graph::tree::What;
use trainscope_analysis::graph::{around, first_open_within, opened, search as find};
use trainscope_api::error::ErrorCode;
use trainscope_api::graphs::{
    BoxKind, GraphBox, GraphChip, GraphLine, GraphMatch, GraphNode, GraphQuery, GraphScene,
    GraphSearch, GraphSummary, MAX_AROUND, MAX_LISTED, Neighbour, NodeQuery, NodeTensor, Precision,
    SceneQuery, SearchQuery, SourceLine, TypeCount,
};
use trainscope_format::graph::{Edge, Node, NodeKind};
use trainscope_format::{Graph, Kind};

use super::cache::{CachedGraph, Graphs};
use super::health::Health;
use super::notes::words;
use super::times::Times;
use crate::queries::error::Failure;
use crate::queries::findings;

/// Default and maximum radius of a neighbourhood in edges.
const STEPS: usize = 2;
const MAX_STEPS: usize = 8;
/// Kinds of tags about single tensors.
const OF_TENSORS: [Kind; 3] = [Kind::Statistics, Kind::Tensors, Kind::Histograms];

macro_rules! graph_query {
    ($query:expr) => {
        GraphQuery {
            run: $query.run.clone(),
            tag: $query.tag.clone(),
            rank: $query.rank,
            step: $query.step,
        }
    };
}

/// The open part of a graph, laid out.
pub(crate) fn scene(graphs: &Graphs, query: &SceneQuery) -> Result<GraphScene, Failure> {
    let (chosen, kept) = match graphs.get(&graph_query!(query)) {
        // Most runs have no graph: that is not an error for a neighbourhood of a tensor.
        Err(failure) if query.tensor.is_some() && failure.code() == ErrorCode::UnknownTag => {
            return Ok(GraphScene::default());
        }
        found => found?,
    };
    let health = kept.health(graphs.judged(&query.run));
    let times = kept.times(graphs, &query.run, chosen.shown.rank)?;
    let tree = &kept.tree;
    let item = |path: &Option<String>| path.as_ref().map(|path| kept.item(path)).transpose();
    let mut view = View::default();
    if let Some(open) = &query.open {
        view.open = Some(open.lines().filter_map(|path| tree.find(path)).collect());
    }
    let room = query.fit_width.zip(query.fit_height);
    if let (None, Some((width, height))) = (&query.open, room) {
        let room = (f64::from(width), f64::from(height));
        view.open = Some(first_open_within(&kept.graph, tree, room));
    }
    let mut way = Vec::new();
    if let (Some(from), Some(to)) = (item(&query.from)?, item(&query.to)?) {
        way = kept.walk.path(tree, from, to);
    }
    let centre = match (&query.around, &query.tensor) {
        (Some(_), _) => item(&query.around)?,
        (None, Some(tensor)) => match kept.names().find(tensor) {
            None => return Ok(GraphScene::default()),
            found => found,
        },
        (None, None) => None,
    };
    let steps = query.steps.unwrap_or(STEPS);
    if !(1..=MAX_STEPS).contains(&steps) {
        let message = format!("`steps` wants 1 to {MAX_STEPS}, not {steps}");
        return Err(Failure::bad_request(message));
    }
    let mut open = BTreeSet::new();
    let (drawn, cut) = if let Some(centre) = centre {
        around(&kept.graph, tree, &kept.walk, centre, steps, MAX_AROUND)
    } else {
        // A link may name a node of another graph: then it is ignored.
        let shown = query.show.as_ref().and_then(|path| tree.find(path));
        let around = shown.into_iter().flat_map(|item| tree.scopes_of(item));
        open = opened(tree, &view);
        open.extend(around);
        view.open = Some(open.clone());
        view.path.clone_from(&way);
        open = opened(tree, &view);
        (scene::scene(&kept.graph, tree, &view), false)
    };
    let path_of = |item: usize| tree.items[item].path.clone();
    Ok(GraphScene {
        graphs: chosen.graphs,
        shown: chosen.shown,
        step: chosen.step,
        format: Some(kept.format),
        producer: kept.graph.producer.clone(),
        notes: kept
            .graph
            .notes
            .iter()
            .take(MAX_LISTED)
            .map(words)
            .collect(),
        total_nodes: kept.graph.nodes.len() as u64,
        total_edges: edges(&kept.graph),
        width: pixels(drawn.width),
        height: pixels(drawn.height),
        open: open.into_iter().map(path_of).collect(),
        way: way.into_iter().map(path_of).collect(),
        centre: centre.map(path_of),
        cut,
        boxes: drawn
            .boxes
            .iter()
            .map(|drawn| kept.drawn(drawn, &health, &times))
            .collect(),
        lines: drawn.lines.iter().map(line).collect(),
    })
}

/// Number of edges: inputs of all nodes.
fn edges(graph: &Graph) -> u64 {
    graph
        .nodes
        .iter()
        .map(|node| node.inputs.len() as u64)
        .sum()
}

/// Counts of nodes by type.
pub(crate) fn summary(graphs: &Graphs, query: &GraphQuery) -> Result<GraphSummary, Failure> {
    let (chosen, kept) = graphs.get(query)?;
    let types = types(kept.graph.nodes.iter());
    Ok(GraphSummary {
        graphs: chosen.graphs,
        shown: chosen.shown,
        total_nodes: kept.graph.nodes.len() as u64,
        total_edges: edges(&kept.graph),
        total_types: types.len() as u64,
        types: types.into_iter().take(MAX_LISTED).collect(),
    })
}

/// Nodes and scopes by a part of their name, type or source.
pub(crate) fn search(graphs: &Graphs, query: &SearchQuery) -> Result<GraphSearch, Failure> {
    let (_, kept) = graphs.get(&graph_query!(query))?;
    let health = kept.health(graphs.judged(&query.run));
    let found = find::search(&kept.graph, &kept.tree, &query.q, MAX_LISTED);
    let listed = found.items.iter().map(|&item| {
        let entry = &kept.tree.items[item];
        GraphMatch {
            path: entry.path.clone(),
            label: entry.label.clone(),
            kind: kept.kind(item),
            op_type: kept
                .node(item)
                .map_or_else(String::new, |node| node.op_type.clone()),
            severity: health.worst(item..entry.end),
        }
    });
    Ok(GraphSearch {
        found: listed.collect(),
        total: found.total as u64,
        cut: found.total > found.items.len(),
    })
}

/// One node or scope: attributes, neighbours, source, tensors, hits.
pub(crate) fn node(graphs: &Graphs, query: &NodeQuery) -> Result<GraphNode, Failure> {
    let (chosen, kept) = graphs.get(&graph_query!(query))?;
    let item = kept.item(&query.node)?;
    let times = kept.times(graphs, &query.run, chosen.shown.rank)?;
    let judged = graphs.judged(&query.run);
    let health = kept.health(judged.clone());
    let entry = &kept.tree.items[item];
    let inside = item..entry.end;
    let node = kept.node(item);
    let inputs = kept.inputs(item, &health);
    let users = kept.walk.around(&kept.tree, item, false);
    let hits = health.hits(inside.clone());
    let all_hits = judged.iter().flat_map(|judged| {
        let hits = hits.iter().filter_map(|hit| judged.findings.hits.get(*hit));
        hits.take(MAX_LISTED).map(|hit| findings::hit(judged, hit))
    });
    let types = types(inside.clone().filter_map(|inner| kept.node(inner)));
    let source = node
        .map(|node| places(&node.source, MAX_LISTED))
        .unwrap_or_default();
    let listed = users
        .iter()
        .take(MAX_LISTED)
        .map(|user| kept.neighbour(*user, false, &health));
    Ok(GraphNode {
        path: entry.path.clone(),
        label: entry.label.clone(),
        kind: kept.kind(item),
        name: node.map_or_else(String::new, |node| node.name.clone()),
        op_type: node.map_or_else(String::new, |node| node.op_type.clone()),
        device: kept.device(&inside),
        precision: kept.precision(&inside),
        mean_nanos: times.mean(&kept.tree, &inside),
        operator: times.operator(item).map(str::to_owned),
        nodes: entry.nodes as u64,
        types: types.into_iter().take(MAX_LISTED).collect(),
        attributes: node.map(|node| node.attributes.clone()).unwrap_or_default(),
        outputs: node.map(|node| node.outputs.clone()).unwrap_or_default(),
        total_inputs: inputs.len() as u64,
        inputs: inputs.into_iter().take(MAX_LISTED).collect(),
        total_users: users.len() as u64,
        users: listed.collect(),
        source: source
            .into_iter()
            .map(|place| SourceLine {
                file: place.file.to_owned(),
                line: place.line,
                text: place.text.to_owned(),
                is_library: place.is_library,
            })
            .collect(),
        tensors: tensors(graphs, &query.run, &kept, &inside)?,
        total_hits: hits.len() as u64,
        hits: all_hits.collect(),
    })
}

/// Tensors of files and tags about a node, or about anything in a scope.
fn tensors(
    graphs: &Graphs,
    run: &str,
    kept: &CachedGraph,
    inside: &Range<usize>,
) -> Result<Vec<NodeTensor>, Failure> {
    let is_meant = |tag: &str| {
        let item = kept.names().find(tag);
        item.is_some_and(|item| inside.contains(&item))
    };
    let mut found = Vec::new();
    if let Some(recorded) = graphs.index().recording(run) {
        let catalog = recorded.catalog();
        let meant = catalog
            .tensors
            .iter()
            .filter(|tensor| is_meant(&tensor.name));
        let by_rank =
            meant.flat_map(|tensor| tensor.steps.iter().map(move |steps| (tensor, steps)));
        let listed = by_rank.map(|(tensor, (rank, steps))| NodeTensor {
            kind: if steps.iter().any(|(_, has_elements)| *has_elements) {
                Kind::Tensors
            } else {
                Kind::Statistics
            },
            tag: tensor.name.to_string(),
            rank: *rank,
        });
        found.extend(listed.take(MAX_LISTED));
    }
    for kind in OF_TENSORS {
        for (tag, rank) in graphs.index().tags_of(run, kind)? {
            if found.len() >= MAX_LISTED {
                return Ok(found);
            }
            if is_meant(&tag) {
                let tensor = NodeTensor {
                    kind,
                    tag: tag.to_string(),
                    rank,
                };
                if !found.contains(&tensor) {
                    found.push(tensor);
                }
            }
        }
    }
    Ok(found)
}

/// Operation types by frequency.
fn types<'a>(nodes: impl Iterator<Item = &'a Node>) -> Vec<TypeCount> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for node in nodes {
        *counts.entry(&node.op_type).or_default() += 1;
    }
    let mut types: Vec<(&str, u64)> = counts.into_iter().collect();
    types.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let types = types.into_iter().map(|(op_type, nodes)| TypeCount {
        op_type: op_type.to_owned(),
        nodes,
    });
    types.collect()
}

fn no_node(path: &str) -> Failure {
    Failure::new(ErrorCode::UnknownNode, format!("the graph has no `{path}`"))
}

fn line(line: &scene::Line) -> GraphLine {
    let index = |index: Option<usize>| index.and_then(|index| u32::try_from(index).ok());
    GraphLine {
        at: line.at.map(pixels),
        from: index(line.from),
        to: index(line.to),
        via: index(line.via),
        edges: line.edges as u64,
        control: line.is_control,
        on_way: line.is_on_path,
        arrow: line.is_last,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast of floats saturates, and no picture is two billion pixels wide"
)]
fn pixels(at: f64) -> i32 {
    at.round() as i32
}

impl CachedGraph {
    /// Finds an item by path.
    pub(crate) fn item(&self, path: &str) -> Result<usize, Failure> {
        let found = self.tree.find(path).filter(|item| *item != 0);
        found.ok_or_else(|| no_node(path))
    }

    /// The graph node of an item, if it is one.
    pub(crate) fn node(&self, item: usize) -> Option<&Node> {
        match self.tree.items[item].what {
            What::Node(node) => self.graph.nodes.get(node),
            What::Scope | What::Fold(_) => None,
        }
    }

    fn kind(&self, item: usize) -> BoxKind {
        match (
            self.tree.items[item].what,
            self.node(item).map(|node| node.kind),
        ) {
            (What::Fold(_), _) => BoxKind::Fold,
            (_, Some(NodeKind::Input)) => BoxKind::Input,
            (_, Some(NodeKind::Parameter)) => BoxKind::Parameter,
            (_, Some(NodeKind::Constant)) => BoxKind::Constant,
            (_, Some(NodeKind::Operation)) => BoxKind::Operation,
            (_, None) => BoxKind::Scope,
        }
    }

    /// Common device of all nodes in it, if any.
    fn device(&self, inside: &Range<usize>) -> String {
        let mut devices = inside
            .clone()
            .filter_map(|item| Some(&*self.node(item)?.device));
        let mut devices = devices.by_ref().filter(|device| !device.is_empty());
        let first = devices.next().unwrap_or_default();
        let is_one = devices.all(|device| device == first);
        if is_one {
            first.to_owned()
        } else {
            String::new()
        }
    }

    fn precision(&self, inside: &Range<usize>) -> Option<Precision> {
        let mut found = None;
        for node in inside.clone().filter_map(|item| self.node(item)) {
            let flags = node
                .attributes
                .iter()
                .filter(|(name, _)| name == "precision_flag");
            for (_, flag) in flags {
                let flag = flag.trim_matches('"');
                if flag.contains("reduce") {
                    return Some(Precision::Reduced);
                } else if !flag.is_empty() {
                    found = Some(Precision::Raised);
                }
            }
        }
        found
    }

    fn drawn(&self, drawn: &scene::SceneBox, health: &Health, times: &Times) -> GraphBox {
        let item = &self.tree.items[drawn.item];
        let inside = drawn.item..item.end;
        let chips = drawn.attached.iter().take(MAX_CHIPS).map(|&node| {
            let node = &self.graph.nodes[node];
            GraphChip {
                label: chip_label(&node.name).to_owned(),
                is_constant: node.kind == NodeKind::Constant,
            }
        });
        GraphBox {
            path: item.path.clone(),
            label: item.label.clone(),
            kind: self.kind(drawn.item),
            op_type: self
                .node(drawn.item)
                .map_or_else(String::new, |node| node.op_type.clone()),
            nodes: item.nodes as u64,
            times: if let What::Fold(times) = item.what {
                times as u64
            } else {
                0
            },
            open: drawn.is_open,
            parent: drawn.parent.and_then(|parent| u32::try_from(parent).ok()),
            x: pixels(drawn.x),
            y: pixels(drawn.y),
            w: pixels(drawn.width),
            h: pixels(drawn.height),
            chips: chips.collect(),
            attached: drawn.attached.len() as u64,
            device: self.device(&inside),
            precision: self.precision(&inside),
            severity: health.worst(inside.clone()),
            is_first_cause: health.is_first_cause_in(&inside),
            mean_nanos: times.mean(&self.tree, &inside),
        }
    }

    /// Inputs of a node, in their order; of a scope the nodes outside that feed it.
    fn inputs(&self, item: usize, health: &Health) -> Vec<Neighbour> {
        let Some(node) = self.node(item) else {
            let above = self.walk.around(&self.tree, item, true);
            return above
                .into_iter()
                .map(|other| self.neighbour(other, false, health))
                .collect();
        };
        node.inputs
            .iter()
            .map(|edge| self.input(edge, health))
            .collect()
    }

    fn input(&self, edge: &Edge, health: &Health) -> Neighbour {
        let index = edge.node.map_or(usize::MAX, |node| node as usize);
        let Some(node) = self.graph.nodes.get(index) else {
            return Neighbour {
                name: edge.missing.clone(),
                control: edge.is_control,
                ..Neighbour::default()
            };
        };
        let mut neighbour = match self.tree.of_node[index] {
            Some(item) => self.neighbour(item, edge.is_control, health),
            None => Neighbour {
                name: node.name.clone(),
                op_type: node.op_type.clone(),
                kind: Some(node.kind),
                ..Neighbour::default()
            },
        };
        neighbour.tensor = node.outputs.get(edge.slot as usize).cloned();
        neighbour
    }

    fn neighbour(&self, item: usize, control: bool, health: &Health) -> Neighbour {
        let entry = &self.tree.items[item];
        let node = self.node(item);
        Neighbour {
            path: Some(entry.path.clone()),
            name: node.map_or_else(|| entry.path.clone(), |node| node.name.clone()),
            op_type: node.map_or_else(String::new, |node| node.op_type.clone()),
            kind: node.map(|node| node.kind),
            tensor: node.and_then(|node| node.outputs.first().cloned()),
            control,
            severity: health.worst(item..entry.end),
        }
    }
}
