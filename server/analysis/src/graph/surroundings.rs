//! The neighbourhood of one node: its inputs and users, a few steps in each direction.

use std::collections::BTreeSet;

use trainscope_format::Graph;

use super::scene::{self, Scene};
use super::tree::Tree;
use super::walk::Walk;

/// Scene of the boxes at most `steps` edges from a node or a closed scope, at most `limit`, the nearest first; the
/// flag is true if some were left out.
pub fn around(
    graph: &Graph,
    tree: &Tree,
    walk: &Walk,
    centre: usize,
    steps: usize,
    limit: usize,
) -> (Scene, bool) {
    let mut shown = BTreeSet::from([centre]);
    let mut is_cut = false;
    for is_above in [true, false] {
        let mut edge = vec![centre];
        for _ in 0..steps {
            let mut next = Vec::new();
            for item in edge {
                for other in walk.around(tree, item, is_above) {
                    if tree.contains(centre, other) || shown.contains(&other) {
                        continue;
                    }
                    // Half of the limit is for each direction.
                    if shown.len() >= if is_above { limit / 2 } else { limit } {
                        is_cut = true;
                        continue;
                    }
                    shown.insert(other);
                    next.push(other);
                }
            }
            edge = next;
        }
    }
    (scene::flat(graph, tree, &shown, centre), is_cut)
}
