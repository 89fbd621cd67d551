//! Two graphs as strips of cells side by side, in the order of the nodes.

use std::collections::BTreeMap;

use trainscope_format::Graph;

use crate::graph::diff::{Difference, diff};

/// Maximum number of cells of a strip.
pub const MAX_CELLS: usize = 52;

/// Consecutive nodes of both graphs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Nodes in both, without a difference.
    pub same: u64,
    /// Nodes in both, with a difference.
    pub changed: u64,
    /// Nodes of the first graph only.
    pub only_base: u64,
    /// Nodes of the second graph only.
    pub only_other: u64,
}

/// Two graphs side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strip {
    /// At most [`MAX_CELLS`] cells of equal size; the last one may be smaller.
    pub cells: Vec<Cell>,
    /// Number of nodes of both graphs in a cell.
    pub nodes_in_cell: u64,
    /// Types of nodes in the first graph only, with their number; the most frequent first.
    pub only_base: Vec<(String, u64)>,
    /// Types of nodes in the second graph only.
    pub only_other: Vec<(String, u64)>,
    /// Number of nodes in both with a difference.
    pub changed: u64,
}

/// Compares two graphs.
pub fn strip(base: &Graph, other: &Graph) -> Strip {
    let found = diff(base, other);
    let rows = merged(base, other, &found);
    let len = rows.len().div_ceil(MAX_CELLS).max(1);
    let cells = rows.chunks(len).map(|chunk| {
        chunk.iter().fold(Cell::default(), |mut cell, row| {
            let count = match row {
                Row::Same => &mut cell.same,
                Row::Changed => &mut cell.changed,
                Row::Base => &mut cell.only_base,
                Row::Other => &mut cell.only_other,
            };
            *count += 1;
            cell
        })
    });
    Strip {
        cells: cells.collect(),
        nodes_in_cell: len as u64,
        only_base: types(base, &found.removed),
        only_other: types(other, &found.added),
        changed: found.changed.len() as u64,
    }
}

#[derive(Clone, Copy)]
enum Row {
    Same,
    Changed,
    Base,
    Other,
}

/// Nodes of both graphs in the order of the first; nodes of the second only come after their predecessor in it.
fn merged(base: &Graph, other: &Graph, found: &Difference) -> Vec<Row> {
    let mut of_base = vec![Row::Same; base.nodes.len()];
    let mut of_other: Vec<Option<usize>> = vec![None; other.nodes.len()];
    let mut set = |at: usize, row: Row| {
        if let Some(slot) = of_base.get_mut(at) {
            *slot = row;
        }
    };
    found.removed.iter().for_each(|at| set(*at, Row::Base));
    for change in &found.changed {
        set(change.before, Row::Changed);
        if let Some(slot) = of_other.get_mut(change.after) {
            *slot = Some(change.before);
        }
    }
    for (before, after) in &found.renamed {
        if let Some(slot) = of_other.get_mut(*after) {
            *slot = Some(*before);
        }
    }
    let names: BTreeMap<&str, usize> = base
        .nodes
        .iter()
        .enumerate()
        .map(|(at, node)| (&*node.name, at))
        .collect();
    let mut added: BTreeMap<usize, u64> = BTreeMap::new();
    let is_added: std::collections::BTreeSet<usize> = found.added.iter().copied().collect();
    let mut last = 0;
    for (at, node) in other.nodes.iter().enumerate() {
        if is_added.contains(&at) {
            *added.entry(last).or_default() += 1;
        } else if let Some(before) = of_other[at].or_else(|| names.get(&*node.name).copied()) {
            last = before + 1;
        }
    }
    let mut rows = Vec::with_capacity(base.nodes.len() + found.added.len());
    for at in 0..=of_base.len() {
        let more = added.get(&at).copied().unwrap_or_default();
        rows.extend((0..more).map(|_| Row::Other));
        rows.extend(of_base.get(at).copied());
    }
    rows
}

fn types(graph: &Graph, nodes: &[usize]) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for node in nodes.iter().filter_map(|at| graph.nodes.get(*at)) {
        *counts.entry(&node.op_type).or_default() += 1;
    }
    let mut all: Vec<(String, u64)> = counts
        .into_iter()
        .map(|(name, count)| (name.to_owned(), count))
        .collect();
    all.sort_by_key(|entry| std::cmp::Reverse(entry.1));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainscope_format::graph::Node;

    fn graph(nodes: &[(&str, &str)]) -> Graph {
        Graph {
            nodes: nodes
                .iter()
                .map(|(name, op_type)| Node {
                    name: (*name).to_owned(),
                    op_type: (*op_type).to_owned(),
                    ..Node::default()
                })
                .collect(),
            ..Graph::default()
        }
    }

    #[test]
    fn nodes_of_one_graph_are_at_their_place() {
        let base = graph(&[("a", "MatMul"), ("b", "Cast"), ("c", "Softmax")]);
        let other = graph(&[("a", "MatMul"), ("c", "Softmax"), ("d", "Relu")]);
        let strip = strip(&base, &other);
        assert_eq!(strip.cells.len(), 4);
        assert_eq!(strip.cells[1].only_base, 1);
        assert_eq!(strip.cells[3].only_other, 1);
        assert_eq!(strip.only_base, [("Cast".to_owned(), 1)]);
        assert_eq!(strip.only_other, [("Relu".to_owned(), 1)]);
    }

    #[test]
    fn large_graphs_have_few_cells() {
        let many: Vec<String> = (0..1_000).map(|at| format!("n{at}")).collect();
        let nodes: Vec<(&str, &str)> = many.iter().map(|name| (&**name, "Add")).collect();
        let strip = strip(&graph(&nodes), &graph(&nodes[..900]));
        assert!(strip.cells.len() <= MAX_CELLS);
        let total: u64 = strip
            .cells
            .iter()
            .map(|cell| cell.same + cell.only_base)
            .sum();
        assert_eq!(total, 1_000);
    }
}
