//! Graph builder: nodes refer to each other by name; names are resolved at the end and oddities noted.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::graph::{Edge, Graph, GraphNote, GraphNoteKind, GraphOutput, Node};

/// Limit above which a graph is cut: larger ones cannot be displayed, and crafted files could exhaust the memory.
pub(super) const MAX_NODES: usize = 1 << 20;
pub(super) const MAX_EDGES: usize = 1 << 23;
/// Maximum length of an attribute value; of longer ones only the length is stored.
const MAX_TEXT_BYTES: usize = 256;

/// A graph under construction. Names may be borrowed from the source bytes, since large graphs have many.
#[derive(Default)]
pub(super) struct GraphBuilder<'a> {
    pub(super) graph: Graph,
    /// Node and output slot by name.
    values: HashMap<Cow<'a, str>, (u32, u32), foldhash::fast::RandomState>,
    edges: Vec<UnresolvedEdge<'a>>,
    outputs: Vec<(String, UnresolvedEdge<'a>)>,
    left_out: usize,
}

/// An edge with an unresolved origin.
struct UnresolvedEdge<'a> {
    to: u32,
    from: Cow<'a, str>,
    slot: u32,
    is_control: bool,
}

impl<'a> GraphBuilder<'a> {
    /// Adds a node; `None` if there are too many.
    pub(super) fn node(&mut self, node: Node) -> Option<u32> {
        if self.graph.nodes.len() >= MAX_NODES {
            self.left_out += 1;
            return None;
        }
        let index = u32::try_from(self.graph.nodes.len()).ok()?;
        self.graph.nodes.push(node);
        Some(index)
    }

    /// Defines the name of a node's output. The first definition of a name wins.
    pub(super) fn define(&mut self, name: impl Into<Cow<'a, str>>, node: u32, slot: u32) {
        self.values.entry(name.into()).or_insert((node, slot));
    }

    /// `true` if the name is defined.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Adds an input to a node: output `slot` of the named value, relative to the output of that name.
    pub(super) fn input(
        &mut self,
        to: u32,
        from: impl Into<Cow<'a, str>>,
        slot: u32,
        is_control: bool,
    ) {
        if self.edges.len() >= MAX_EDGES {
            self.left_out += 1;
            return;
        }
        self.edges.push(UnresolvedEdge {
            to,
            from: from.into(),
            slot,
            is_control,
        });
    }

    /// Adds an output of the graph under the given name.
    pub(super) fn output(&mut self, name: String, from: String) {
        if self.outputs.len() >= MAX_EDGES {
            self.left_out += 1;
            return;
        }
        let wanted = UnresolvedEdge {
            to: 0,
            from: from.into(),
            slot: 0,
            is_control: false,
        };
        self.outputs.push((name, wanted));
    }

    /// Notes an oddity.
    pub(super) fn note(&mut self, kind: GraphNoteKind, example: String) {
        self.graph.notes.push(note(kind, 1, example));
    }

    /// Resolves all names.
    pub(super) fn finish(mut self) -> Graph {
        let values = self.values;
        let find = |wanted: UnresolvedEdge<'_>| match values.get(&wanted.from) {
            Some(&(node, slot)) => Edge {
                node: Some(node),
                slot: slot.saturating_add(wanted.slot),
                is_control: wanted.is_control,
                missing: String::new(),
            },
            None => Edge {
                node: None,
                slot: wanted.slot,
                is_control: wanted.is_control,
                missing: wanted.from.into_owned(),
            },
        };
        let mut inputs = vec![0; self.graph.nodes.len()];
        for wanted in &self.edges {
            if let Some(count) = inputs.get_mut(wanted.to as usize) {
                *count += 1;
            }
        }
        for (node, count) in self.graph.nodes.iter_mut().zip(inputs) {
            node.inputs.reserve_exact(count);
        }
        for wanted in self.edges {
            if let Some(node) = self.graph.nodes.get_mut(wanted.to as usize) {
                node.inputs.push(find(wanted));
            }
        }
        for (name, wanted) in self.outputs {
            let from = find(wanted);
            self.graph.outputs.push(GraphOutput { name, from });
        }
        for node in &mut self.graph.nodes {
            node.inputs.sort_by_key(|edge| edge.is_control);
        }
        note_what_is_odd(&mut self.graph, self.left_out);
        self.graph
    }
}

/// Notes the oddities of a graph, including the number of nodes and edges left out.
pub(super) fn note_what_is_odd(graph: &mut Graph, left_out: usize) {
    if left_out > 0 {
        let left_out = note(GraphNoteKind::LeftOut, left_out, String::new());
        graph.notes.push(left_out);
    }
    let notes = notes_on(graph);
    graph.notes.extend(notes);
}

fn note(kind: GraphNoteKind, count: usize, example: String) -> GraphNote {
    let count = count as u64;
    GraphNote {
        kind,
        count,
        example,
    }
}

/// Oddities in the structure of a graph.
fn notes_on(graph: &Graph) -> Vec<GraphNote> {
    if graph.nodes.is_empty() {
        return vec![note(GraphNoteKind::Empty, 0, String::new())];
    }
    let hasher = foldhash::fast::RandomState::default();
    let mut seen = HashSet::with_capacity_and_hasher(graph.nodes.len(), hasher);
    let nodes = graph.nodes.iter();
    let repeated: Vec<&str> = nodes
        .map(|node| &*node.name)
        .filter(|name| !seen.insert(*name))
        .collect();
    let edges = graph.nodes.iter().flat_map(|node| &node.inputs);
    let edges = edges.chain(graph.outputs.iter().map(|output| &output.from));
    let nowhere: Vec<&str> = edges
        .filter(|edge| edge.node.is_none())
        .map(|edge| &*edge.missing)
        .collect();
    let named = [
        (GraphNoteKind::RepeatedNames, repeated),
        (GraphNoteKind::LeadNowhere, nowhere),
    ];
    let named = named
        .into_iter()
        .filter_map(|(kind, names)| Some(note(kind, names.len(), short(names.first()?))));
    let in_cycles = count_in_cycles(graph);
    let cycles = (in_cycles > 0).then(|| note(GraphNoteKind::Cycle, in_cycles, String::new()));
    named.chain(cycles).collect()
}

fn origins(node: &Node) -> impl Iterator<Item = u32> {
    node.inputs.iter().filter_map(|edge| edge.node)
}

/// Number of nodes that cannot be ordered after their inputs.
fn count_in_cycles(graph: &Graph) -> usize {
    let mut waiting_for: Vec<usize> = graph.nodes.iter().map(|n| origins(n).count()).collect();
    // Followers of each node, concatenated.
    let mut begins = vec![0_usize; graph.nodes.len() + 1];
    for node in &graph.nodes {
        for origin in origins(node) {
            begins[origin as usize + 1] += 1;
        }
    }
    for index in 1..begins.len() {
        begins[index] += begins[index - 1];
    }
    let mut ends = begins.clone();
    let mut followers = vec![0_usize; begins.last().copied().unwrap_or(0)];
    for (index, node) in graph.nodes.iter().enumerate() {
        for origin in origins(node) {
            let end = &mut ends[origin as usize];
            followers[*end] = index;
            *end += 1;
        }
    }
    let mut ready: Vec<usize> = (0..waiting_for.len())
        .filter(|&index| waiting_for[index] == 0)
        .collect();
    let mut placed = 0;
    while let Some(index) = ready.pop() {
        placed += 1;
        for &follower in &followers[begins[index]..begins[index + 1]] {
            waiting_for[follower] -= 1;
            if waiting_for[follower] == 0 {
                ready.push(follower);
            }
        }
    }
    graph.nodes.len() - placed
}

/// Attribute value of raw bytes: the text if it is short and UTF-8, otherwise its length.
pub(super) fn short_bytes(bytes: &[u8]) -> String {
    match str::from_utf8(bytes) {
        Ok(text) if bytes.len() <= MAX_TEXT_BYTES => text.to_owned(),
        _ => format!("… {} bytes", bytes.len()),
    }
}

fn short(text: &str) -> String {
    short_bytes(text.as_bytes())
}

/// Formats a list of values as `[a, b, …]`; of a long one only the length.
#[derive(Default)]
pub(super) struct ShortList {
    text: String,
    len: usize,
}

impl ShortList {
    pub(super) fn push(&mut self, value: &str) {
        self.len += 1;
        if self.text.len() <= MAX_TEXT_BYTES {
            let separator = if self.len > 1 { ", " } else { "" };
            self.text.push_str(separator);
            self.text.push_str(value);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn finish(self) -> String {
        if self.text.len() <= MAX_TEXT_BYTES {
            format!("[{}]", self.text)
        } else {
            format!("[… {} values]", self.len)
        }
    }
}
