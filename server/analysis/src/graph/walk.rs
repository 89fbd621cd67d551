//! Traversal along the edges of a graph: neighbours, and the shortest path between two items.

use std::collections::VecDeque;

use super::tree::Tree;

/// Edges of a tree by their ends.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    above: Ends,
    below: Ends,
}

/// Neighbours of each item in one direction, concatenated.
#[derive(Clone, Debug, Default)]
struct Ends {
    first: Vec<usize>,
    /// Neighbour, and true for a control edge.
    ends: Vec<(usize, bool)>,
}

impl Ends {
    fn new(items: usize, edges: impl Iterator<Item = (usize, usize, bool)> + Clone) -> Self {
        let mut first = vec![0; items + 1];
        for (at, _, _) in edges.clone() {
            first[at + 1] += 1;
        }
        for at in 0..items {
            first[at + 1] += first[at];
        }
        let mut next = first.clone();
        let mut ends = vec![(0, false); first[items]];
        for (at, other, is_control) in edges {
            ends[next[at]] = (other, is_control);
            next[at] += 1;
        }
        Self { first, ends }
    }

    fn of(&self, item: usize) -> &[(usize, bool)] {
        match (self.first.get(item), self.first.get(item + 1)) {
            (Some(from), Some(to)) => &self.ends[*from..*to],
            _ => &[],
        }
    }
}

impl Walk {
    /// Collects the edges of a tree.
    pub fn new(tree: &Tree) -> Self {
        let edges = tree.edges.iter();
        Self {
            above: Ends::new(
                tree.items.len(),
                edges.clone().map(|(a, b, c)| (*b, *a, *c)),
            ),
            below: Ends::new(tree.items.len(), edges.map(|(a, b, c)| (*a, *b, *c))),
        }
    }

    /// Inputs of a node in order, and true for control edges.
    pub fn above(&self, item: usize) -> &[(usize, bool)] {
        self.above.of(item)
    }

    /// Users of a node.
    pub fn below(&self, item: usize) -> &[(usize, bool)] {
        self.below.of(item)
    }

    /// Items outside of a scope (or node) that feed it, or that it feeds, without duplicates, in the order of the
    /// tree.
    pub fn around(&self, tree: &Tree, item: usize, is_above: bool) -> Vec<usize> {
        let ends = if is_above { &self.above } else { &self.below };
        let inside = item..tree.items[item].end;
        let all = inside.clone().flat_map(|inner| ends.of(inner));
        let outside = all
            .map(|(other, _)| *other)
            .filter(|other| !inside.contains(other));
        let mut found: Vec<usize> = outside.collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The shortest path along the data flow from one scope or node to another, as nodes; empty without a path.
    pub fn path(&self, tree: &Tree, from: usize, to: usize) -> Vec<usize> {
        let mut before = vec![usize::MAX; tree.items.len()];
        let mut waiting = VecDeque::new();
        let inside = from..tree.items[from].end;
        for (item, before) in before.iter_mut().enumerate() {
            if inside.contains(&item) {
                *before = item;
                waiting.push_back(item);
            }
        }
        while let Some(item) = waiting.pop_front() {
            if tree.contains(to, item) && !tree.contains(from, item) || item == to {
                let mut path = vec![item];
                let mut at = item;
                while before[at] != at {
                    at = before[at];
                    path.push(at);
                }
                path.reverse();
                return path;
            }
            for &(next, _) in self.below(item) {
                if before[next] == usize::MAX {
                    before[next] = item;
                    waiting.push_back(next);
                }
            }
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tree::tests::graph;

    #[test]
    fn ways_follow_the_data_and_end_in_cycles_too() {
        let graph = graph(
            "x i
             a/one o A: x a/three
             a/two o B: a/one
             a/three o C: a/two
             b/four o D: a/three
             b/lone o E",
        );
        let tree = Tree::new(&graph);
        let walk = Walk::new(&tree);
        let at = |path: &str| tree.find(path).unwrap();
        let names = |from: &str, to: &str| -> Vec<&str> {
            let path = walk.path(&tree, at(from), at(to));
            path.into_iter()
                .map(|item| &*tree.items[item].path)
                .collect()
        };
        assert_eq!(
            names("x", "b/four"),
            ["x", "a/one", "a/two", "a/three", "b/four"]
        );
        assert_eq!(names("a", "b"), ["a/three", "b/four"]);
        assert!(names("b/four", "x").is_empty());
        assert!(names("x", "b/lone").is_empty());
        assert_eq!(walk.around(&tree, at("a"), true), [at("x")]);
        assert_eq!(walk.around(&tree, at("a"), false), [at("b/four")]);
        assert_eq!(walk.above(at("a/one")).len(), 2);
    }
}
