//! Graphs of two runs: their places in the flow of data, and the strip of their differences.

use rustc_hash::FxHashMap;
use trainscope_analysis::comparison::order;
use trainscope_analysis::comparison::strip::{self, Strip};
use trainscope_analysis::graph::names::Names;
use trainscope_analysis::graph::tree::{Tree, What};
use trainscope_api::compare::{GraphCell, GraphFacts};
use trainscope_api::graphs::GraphQuery;
use trainscope_format::Graph;

use super::Side;
use crate::queries::error::Failure;
use crate::queries::graph::whole;

/// Maximum number of node types in one answer, per graph.
const MAX_TYPES: usize = 20;
/// Maximum number of nodes of a compared graph: larger ones take seconds.
const MAX_NODES: usize = 200_000;

/// Places of the nodes of a graph, found by names of tensors.
pub(super) struct Flow {
    names: Names,
    places: FxHashMap<usize, i64>,
}

impl Flow {
    pub(super) fn new(graph: &Graph) -> Self {
        let tree = Tree::new(graph);
        let of_node = order::flow(graph);
        let mut places = FxHashMap::default();
        // Items are in tree order, a scope before its nodes. The place of a scope is the minimum of those of its nodes.
        for (at, item) in tree.items.iter().enumerate().rev() {
            let place = match item.what {
                What::Node(node) => of_node.get(node).copied(),
                What::Scope | What::Fold(_) => (at + 1..item.end)
                    .filter_map(|inner| places.get(&inner).copied())
                    .min(),
            };
            if let Some(place) = place {
                places.insert(at, place);
            }
        }
        Self {
            names: Names::new(graph, &tree),
            places,
        }
    }

    /// Place of a tensor.
    pub(super) fn place(&self, name: &str) -> Option<i64> {
        self.places.get(&self.names.find(name)?).copied()
    }
}

/// The graph of a run, of any size; `None` if it has none.
pub(super) fn read(side: Side<'_>) -> Result<Option<Graph>, Failure> {
    let query = GraphQuery {
        run: side.run.to_owned(),
        ..GraphQuery::default()
    };
    whole(side.index, &query)
}

/// True if a graph is too large to be compared.
pub(super) const fn is_too_large(graph: &Graph) -> bool {
    graph.nodes.len() > MAX_NODES
}

/// Compares the graphs of two runs; `None` unless both have one.
pub(super) fn facts(base: Side<'_>, other: Side<'_>) -> Result<Option<GraphFacts>, Failure> {
    let (Some(a), Some(b)) = (read(base)?, read(other)?) else {
        return Ok(None);
    };
    Ok(Some(compare(&a, &b)))
}

fn compare(a: &Graph, b: &Graph) -> GraphFacts {
    let nodes = [a.nodes.len() as u64, b.nodes.len() as u64];
    if is_too_large(a) || is_too_large(b) {
        return GraphFacts {
            nodes,
            limit: Some(MAX_NODES as u64),
            ..GraphFacts::default()
        };
    }
    let Strip {
        cells,
        nodes_in_cell,
        mut only_base,
        mut only_other,
        changed,
    } = strip::strip(a, b);
    only_base.truncate(MAX_TYPES);
    only_other.truncate(MAX_TYPES);
    let cells = cells.into_iter().map(|cell| GraphCell {
        same: cell.same,
        changed: cell.changed,
        only_base: cell.only_base,
        only_other: cell.only_other,
    });
    GraphFacts {
        nodes,
        limit: None,
        cells: cells.collect(),
        nodes_in_cell,
        only_base,
        only_other,
        changed,
    }
}

#[cfg(test)]
mod tests {
    use trainscope_format::graph::Node;

    use super::*;

    #[test]
    fn a_graph_beyond_the_limit_is_counted_and_not_compared() {
        let graph = |nodes: usize| Graph {
            nodes: vec![Node::default(); nodes],
            ..Graph::default()
        };
        let facts = compare(&graph(1), &graph(MAX_NODES + 1));
        assert_eq!(facts.nodes, [1, 200_001]);
        assert_eq!(facts.limit, Some(200_000));
        assert!(facts.cells.is_empty());
        assert_eq!(compare(&graph(1), &graph(2)).limit, None);
    }
}
