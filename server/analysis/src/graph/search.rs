//! Search for nodes and scopes by part of a name, type, parameter or source location.

use trainscope_format::Graph;

use super::tree::{Tree, What};

/// Search results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResults {
    /// Items, best first: exact names, then names that contain the text, then other matches.
    pub items: Vec<usize>,
    /// Number of matches.
    pub total: usize,
}

/// Searches for `text`, ignoring case, and returns `limit` items at most.
pub fn search(graph: &Graph, tree: &Tree, text: &str, limit: usize) -> SearchResults {
    let wanted = text.trim().to_lowercase();
    if wanted.is_empty() {
        return SearchResults::default();
    }
    let has = |text: &str| contains(text, &wanted);
    let score = |index: usize| {
        let item = &tree.items[index];
        if has(&item.label) {
            let same = item.label.len() == wanted.len();
            return Some(i32::from(!same));
        }
        let What::Node(node) = item.what else {
            return wanted
                .contains('/')
                .then(|| has(&item.path))
                .and_then(|is| is.then_some(2));
        };
        let node = &graph.nodes[node];
        let uses = || {
            let mut inputs = node.inputs.iter().filter_map(|edge| edge.node);
            inputs.any(|input| {
                let attached = tree.of_node.get(input as usize) == Some(&None);
                attached
                    && graph
                        .nodes
                        .get(input as usize)
                        .is_some_and(|used| has(&used.name))
            })
        };
        if has(&node.op_type) || has(&node.name) {
            Some(2)
        } else if has(&node.source) || uses() {
            Some(3)
        } else {
            None
        }
    };
    let mut found: Vec<(i32, usize)> = (1..tree.items.len())
        .filter_map(|index| Some((score(index)?, index)))
        .collect();
    found.sort_unstable();
    SearchResults {
        total: found.len(),
        items: found
            .into_iter()
            .map(|(_, item)| item)
            .take(limit)
            .collect(),
    }
}

/// True if a text contains `wanted`, which is in lower case.
fn contains(text: &str, wanted: &str) -> bool {
    if text.is_ascii() && wanted.is_ascii() {
        let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
        return text
            .windows(wanted.len())
            .any(|part| part.eq_ignore_ascii_case(wanted));
    }
    text.to_lowercase().contains(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tree::tests::graph;

    #[test]
    fn names_come_before_types_and_sources() {
        let mut graph = graph(
            "net/mul/out o MatMul: w
             net/relu o Relu: net/mul/out
             net/Mul o Add
             w p Parameter
             层/块 o Relu",
        );
        graph.nodes[1].source = "model.py:12 mul".to_owned();
        let tree = Tree::new(&graph);
        let names = |text: &str| -> Vec<&str> {
            let found = search(&graph, &tree, text, 10);
            assert_eq!(found.total, found.items.len());
            found
                .items
                .into_iter()
                .map(|item| &*tree.items[item].path)
                .collect()
        };
        assert_eq!(
            names("mul"),
            ["net/mul", "net/Mul", "net/mul/out", "net/relu"]
        );
        assert_eq!(names("PY:12"), ["net/relu"]);
        assert_eq!(names("块"), ["层/块"]);
        assert!(names(" ").is_empty() && names("nothing").is_empty());
        assert_eq!(search(&graph, &tree, "e", 1).items.len(), 1);
    }
}
