//! Which scopes are open at first.

use std::collections::BTreeSet;

use super::tree::{Tree, What};

/// Boxes of the first picture, about.
const BOXES: usize = 22;

/// Scopes to open so that the first picture says something and is no crowd: the largest that leave room.
pub(super) fn first_open(tree: &Tree) -> BTreeSet<usize> {
    let mut open = BTreeSet::new();
    let mut shown = tree.children(0).take(BOXES + 1).count();
    let mut waiting: Vec<usize> = tree.children(0).take(BOXES).collect();
    while !waiting.is_empty() {
        waiting.sort_by_key(|item| (std::cmp::Reverse(tree.items[*item].nodes), *item));
        let mut inner = Vec::new();
        for item in waiting {
            let inside = tree.children(item).take(BOXES + 1).count();
            // What holds next to nothing says no more when it is open.
            let may_open = tree.items[item].what == What::Scope && tree.items[item].nodes > 2;
            if may_open && shown + inside <= BOXES + 1 {
                shown += inside - 1;
                open.insert(item);
                inner.extend(tree.children(item));
            }
        }
        waiting = inner;
    }
    open
}
