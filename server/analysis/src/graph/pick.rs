//! Scopes to open in the first view.

use std::collections::BTreeSet;

use foldhash::fast::FixedState;
use trainscope_format::Graph;

use super::open::{View, first_open, opened};
use super::scene::{scene_of, shown_as};
use super::tree::Tree;

/// Minimum number of boxes that is informative, in any viewport.
const MIN_BOXES: usize = 3;

/// Scopes to open first in a viewport of `(width, height)` pixels: those of `first_open`, without the last ones if the
/// layout would be larger. At least three boxes are left.
pub fn first_open_within(graph: &Graph, tree: &Tree, room: (f64, f64)) -> BTreeSet<usize> {
    let all = first_open(tree);
    let view = |count: usize| View {
        open: Some(all.iter().take(count).copied().collect()),
        ..View::default()
    };
    // Edges between boxes with everything open, without duplicates: a thousand times fewer than those of a large
    // graph, and the size of the layout does not depend on their number.
    let shown_as = shown_as(tree, &opened(tree, &view(all.len())));
    let mut between: std::collections::HashSet<_, FixedState> =
        std::collections::HashSet::default();
    between.extend(
        tree.edges
            .iter()
            .map(|&(from, to, is_control)| (shown_as[from], shown_as[to], is_control)),
    );
    let mut edges: Vec<(usize, usize, bool)> = between.into_iter().collect();
    edges.sort_unstable();
    let fits = |count: usize| {
        let scene = scene_of(graph, tree, &edges, &view(count));
        scene.width <= room.0 && scene.height <= room.1
    };
    if fits(all.len()) {
        return all.into_iter().collect();
    }
    // More open scopes usually need more room: bisection finds approximately the maximum number that fits.
    let mut boxes = tree.children(0).take(MIN_BOXES).count();
    let mut least = 0;
    while boxes < MIN_BOXES && least < all.len() {
        boxes += tree.children(all[least]).count().max(1) - 1;
        least += 1;
    }
    let mut most = all.len();
    while most - least > 1 {
        let middle = usize::midpoint(least, most);
        if fits(middle) {
            least = middle;
        } else {
            most = middle;
        }
    }
    all.into_iter().take(least).collect()
}

#[cfg(test)]
mod tests {
    use trainscope_format::graph::{Edge, Node};

    use super::*;
    use crate::graph::scene::scene;

    /// Two consecutive blocks of many parallel layers.
    fn graph() -> Graph {
        let mut graph = Graph::default();
        for block in 0..2 {
            for layer in 0..5 {
                let inputs = match block {
                    0 => Vec::new(),
                    _ => vec![Edge {
                        node: Some(u32::try_from(layer).unwrap()),
                        ..Edge::default()
                    }],
                };
                graph.nodes.push(Node {
                    name: format!("net/block{block}/layer{layer}"),
                    op_type: format!("Op{layer}"),
                    inputs,
                    ..Node::default()
                });
            }
        }
        graph
    }

    #[test]
    fn fewer_scopes_are_open_where_the_picture_would_be_too_large() {
        let graph = graph();
        let tree = Tree::new(&graph);
        let size = |open: &BTreeSet<usize>| {
            let view = View {
                open: Some(open.clone()),
                ..View::default()
            };
            let scene = scene(&graph, &tree, &view);
            (scene.width, scene.height)
        };
        let all: BTreeSet<usize> = first_open(&tree).into_iter().collect();
        assert_eq!(all.len(), 3);
        assert_eq!(first_open_within(&graph, &tree, (1e6, 1e6)), all);
        let (width, height) = size(&all);
        let some = first_open_within(&graph, &tree, (width, height - 1.0));
        assert!(some.len() < all.len(), "{some:?}");
        assert!(size(&some).1 < height);
        // A single box would not be informative.
        let least = first_open_within(&graph, &tree, (1.0, 1.0));
        assert!(!least.is_empty() && least.len() < all.len(), "{least:?}");
    }
}
