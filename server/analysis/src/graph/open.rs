//! Open scopes of a view.

use std::collections::BTreeSet;

use super::tree::{Tree, What};

/// Approximate number of boxes of the first view.
const BOXES: usize = 22;

/// Settings of a scene.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Open scopes; `None` for a first view.
    pub open: Option<BTreeSet<usize>>,
    /// Consecutive nodes of a path to highlight.
    pub path: Vec<usize>,
}

/// Scopes to open for an informative but uncluttered first view, in this order: the largest that fit, outer ones
/// first.
pub(super) fn first_open(tree: &Tree) -> Vec<usize> {
    let mut open = Vec::new();
    let mut shown = tree.children(0).take(BOXES + 1).count();
    let mut waiting: Vec<usize> = tree.children(0).take(BOXES).collect();
    while !waiting.is_empty() {
        waiting.sort_by_key(|item| (std::cmp::Reverse(tree.items[*item].nodes), *item));
        let mut inner = Vec::new();
        for item in waiting {
            let inside = tree.children(item).take(BOXES + 1).count();
            // A nearly empty scope shows no more when it is open.
            let may_open = tree.items[item].what == What::Scope && tree.items[item].nodes > 2;
            if may_open && shown + inside <= BOXES + 1 {
                shown += inside - 1;
                open.push(item);
                inner.extend(tree.children(item));
            }
        }
        waiting = inner;
    }
    open
}

/// Requested scopes whose outer scopes are open too.
pub fn opened(tree: &Tree, view: &View) -> BTreeSet<usize> {
    let wanted = view
        .open
        .clone()
        .unwrap_or_else(|| first_open(tree).into_iter().collect());
    let mut open = BTreeSet::new();
    // In the order of the tree, a scope comes before its content.
    for item in wanted {
        let Some(known) = tree.items.get(item).filter(|_| item != 0) else {
            continue;
        };
        let is_scope = !matches!(known.what, What::Node(_));
        if is_scope && (known.parent == 0 || open.contains(&known.parent)) {
            open.insert(item);
        }
    }
    open
}
