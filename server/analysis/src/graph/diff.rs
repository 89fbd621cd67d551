//! Difference of two graphs: by name and type first, then by neighbours.
//!
//! Names of operations often contain numbers that change from run to run. A node without a counterpart of its name is
//! compared with nodes at the same position: same type, and a neighbour that is already matched.

use foldhash::fast::FixedState;
use trainscope_format::Graph;
use trainscope_format::graph::Node;

type Map<K, V> = std::collections::HashMap<K, V, FixedState>;

/// Changes from one graph to another. Nodes are indices into the respective graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Only in the first graph.
    pub removed: Vec<usize>,
    /// Only in the second graph.
    pub added: Vec<usize>,
    /// In both, with differences.
    pub changed: Vec<NodeChange>,
    /// In both, with another name only.
    pub renamed: Vec<(usize, usize)>,
    /// Number of equal nodes.
    pub same: usize,
}

/// A node of both graphs with differences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeChange {
    /// Index in the first graph.
    pub before: usize,
    /// Index in the second graph.
    pub after: usize,
    /// Differences.
    pub what: Vec<Change>,
}

/// Kind of difference of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Its type.
    Type,
    /// Its attributes.
    Attributes,
    /// Types or sizes of its outputs.
    Outputs,
    /// Inputs.
    Inputs,
    /// Device.
    Device,
}

/// Compares two graphs.
pub fn diff(before: &Graph, after: &Graph) -> Difference {
    let mut pairs = Pairs {
        of_before: vec![None; before.nodes.len()],
        of_after: vec![None; after.nodes.len()],
    };
    let mut named: Map<(&str, usize), usize> = Map::default();
    for (key, index) in numbered(after) {
        named.insert(key, index);
    }
    let mut by_name: Vec<(usize, usize)> = Vec::new();
    for (key, index) in numbered(before) {
        if let Some(other) = named.get(&key) {
            by_name.push((index, *other));
        }
    }
    // A name that was reused for something else is not a counterpart if there is a better match.
    for &(one, other) in &by_name {
        if before.nodes[one].op_type == after.nodes[other].op_type {
            pairs.join(one, other);
        }
    }
    pairs.spread(before, after);
    for (one, other) in by_name {
        if pairs.of_before[one].is_none() && pairs.of_after[other].is_none() {
            pairs.join(one, other);
        }
    }
    let mut found = Difference::default();
    for (one, other) in pairs.of_before.iter().enumerate() {
        let Some(other) = *other else {
            found.removed.push(one);
            continue;
        };
        let what = changes(&before.nodes[one], &after.nodes[other], &pairs);
        if !what.is_empty() {
            found.changed.push(NodeChange {
                before: one,
                after: other,
                what,
            });
        } else if before.nodes[one].name != after.nodes[other].name {
            found.renamed.push((one, other));
        } else {
            found.same += 1;
        }
    }
    let only = pairs.of_after.iter().enumerate();
    found.added = only
        .filter(|(_, partner)| partner.is_none())
        .map(|(i, _)| i)
        .collect();
    found
}

/// Names with the number of earlier occurrences, since names may repeat.
fn numbered(graph: &Graph) -> impl Iterator<Item = ((&str, usize), usize)> {
    let mut seen: Map<&str, usize> = Map::default();
    graph.nodes.iter().enumerate().map(move |(index, node)| {
        let count = seen.entry(&node.name).or_insert(0);
        *count += 1;
        ((&*node.name, *count), index)
    })
}

struct Pairs {
    of_before: Vec<Option<usize>>,
    of_after: Vec<Option<usize>>,
}

impl Pairs {
    fn join(&mut self, one: usize, other: usize) {
        self.of_before[one] = Some(other);
        self.of_after[other] = Some(one);
    }

    /// Matches neighbours of matched nodes: users of the same output with the same type, and inputs at the same
    /// position with the same type; repeated for new matches.
    fn spread(&mut self, before: &Graph, after: &Graph) {
        let (users_before, users_after) = (users(before), users(after));
        let joined = self.of_before.iter().enumerate();
        let mut waiting: Vec<(usize, usize)> = joined
            .filter_map(|(one, other)| Some((one, (*other)?)))
            .collect();
        waiting.reverse();
        while let Some((one, other)) = waiting.pop() {
            let inputs = before.nodes[one]
                .inputs
                .iter()
                .zip(&after.nodes[other].inputs);
            let inputs = inputs.filter_map(|(a, b)| Some((a.node? as usize, b.node? as usize)));
            let mut candidates: Vec<(usize, usize)> = inputs.collect();
            let mut free: Vec<usize> = users_after[other].clone();
            for &user in &users_before[one] {
                let same = |at: &usize| {
                    self.of_after[*at].is_none()
                        && before.nodes[user].op_type == after.nodes[*at].op_type
                };
                if self.of_before[user].is_none()
                    && let Some(at) = free.iter().position(same)
                {
                    candidates.push((user, free.remove(at)));
                }
            }
            for (a, b) in candidates {
                let (Some(from), Some(to)) = (before.nodes.get(a), after.nodes.get(b)) else {
                    continue;
                };
                let is_free = self.of_before[a].is_none() && self.of_after[b].is_none();
                if is_free && from.op_type == to.op_type && from.kind == to.kind {
                    self.join(a, b);
                    waiting.push((a, b));
                }
            }
        }
    }
}

/// Users of each node, without duplicates.
fn users(graph: &Graph) -> Vec<Vec<usize>> {
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    for (user, node) in graph.nodes.iter().enumerate() {
        for input in node.inputs.iter().filter_map(|edge| edge.node) {
            if let Some(users) = users.get_mut(input as usize)
                && users.last() != Some(&user)
            {
                users.push(user);
            }
        }
    }
    users
}

fn changes(before: &Node, after: &Node, pairs: &Pairs) -> Vec<Change> {
    let mut what = Vec::new();
    if before.op_type != after.op_type || before.kind != after.kind {
        what.push(Change::Type);
    }
    if before.attributes != after.attributes {
        what.push(Change::Attributes);
    }
    if before.outputs != after.outputs {
        what.push(Change::Outputs);
    }
    let is_same_input = before.inputs.len() == after.inputs.len()
        && before.inputs.iter().zip(&after.inputs).all(|(a, b)| {
            // Edges that leave the graph have no target.
            let from = a
                .node
                .filter(|node| (*node as usize) < pairs.of_before.len());
            let to = b
                .node
                .filter(|node| (*node as usize) < pairs.of_after.len());
            let counterpart = from.and_then(|node| pairs.of_before[node as usize]);
            let is_same = match (from, to) {
                (Some(_), Some(node)) => counterpart == Some(node as usize),
                (None, None) => a.missing == b.missing,
                _ => false,
            };
            is_same && a.slot == b.slot && a.is_control == b.is_control
        });
    if !is_same_input {
        what.push(Change::Inputs);
    }
    if before.device != after.device {
        what.push(Change::Device);
    }
    what
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tree::tests::graph;

    #[test]
    fn nodes_are_the_same_by_name_then_by_where_they_stand() {
        let before = graph(
            "x i Input
             conv-op1 o Conv: x w
             relu-op2 o Relu: conv-op1
             fc-op3 o MatMul: relu-op2
             gone o Print: fc-op3
             w p Parameter",
        );
        let mut after = graph(
            "x i Input
             conv-op7 o Conv: x w
             norm o BatchNorm: conv-op7
             relu-op8 o Relu: norm
             fc-op3 o MatMul: relu-op8
             w p Parameter",
        );
        let found = diff(&before, &after);
        assert_eq!(
            (found.removed.as_slice(), found.added.as_slice()),
            (&[4][..], &[2][..])
        );
        assert_eq!(found.renamed, [(1, 1)]);
        let changed: Vec<_> = found
            .changed
            .iter()
            .map(|c| (c.before, c.after, &*c.what))
            .collect();
        assert_eq!(changed, [(2, 3, &[Change::Inputs][..])]);
        assert_eq!(found.same, 3);
        let same = diff(&after, &after.clone());
        assert_eq!((same.same, same.changed.len()), (6, 0));
        after.nodes[4]
            .attributes
            .push(("bias".to_owned(), "1".to_owned()));
        after.nodes[4].device = "gpu:0".to_owned();
        let changed = diff(&before, &after).changed;
        assert_eq!(changed[1].what, [Change::Attributes, Change::Device]);
    }

    #[test]
    fn empty_graphs_and_cycles_end() {
        let cyclic = graph("a o A: b\nb o B: a\na o A: a");
        assert_eq!(diff(&Graph::default(), &cyclic).added, [0, 1, 2]);
        assert_eq!(diff(&cyclic, &Graph::default()).removed, [0, 1, 2]);
        assert_eq!(diff(&cyclic, &cyclic.clone()).same, 3);
    }
}
