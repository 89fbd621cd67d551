//! Order of tensors and scalars within a step: weights, inputs and activations in the flow of data, other tensors,
//! scalars, gradients from the loss backwards.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use trainscope_format::{Graph, Role};

/// Place of each node of a graph in the flow of data: inputs before their users, otherwise in the order of the file.
/// Nodes on a cycle come last.
pub fn flow(graph: &Graph) -> Vec<i64> {
    let count = graph.nodes.len();
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waiting = vec![0_usize; count];
    for (at, node) in graph.nodes.iter().enumerate() {
        for input in node.inputs.iter().filter_map(|edge| edge.node) {
            if let Some(readers) = users.get_mut(input as usize) {
                readers.push(at);
                waiting[at] += 1;
            }
        }
    }
    let ready = (0..count).filter(|at| waiting[*at] == 0).map(Reverse);
    let mut ready: BinaryHeap<Reverse<usize>> = ready.collect();
    let mut places = vec![i64::try_from(count).unwrap_or(i64::MAX); count];
    let mut place = 0;
    while let Some(Reverse(at)) = ready.pop() {
        places[at] = place;
        place += 1;
        for &user in &users[at] {
            waiting[user] -= 1;
            if waiting[user] == 0 {
                ready.push(Reverse(user));
            }
        }
    }
    places
}

/// Position within a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    phase: u8,
    place: i64,
}

impl Position {
    /// Position of a tensor at a place in the flow of data, counted from the first layer.
    pub fn of_tensor(role: Role, place: i64) -> Self {
        let (phase, place) = match role {
            Role::Weight | Role::FrozenWeight => (0, place),
            Role::Input | Role::Activation | Role::Output => (1, place),
            Role::Other | Role::OptimizerState | Role::Loss => (2, place),
            Role::Gradient => (4, place.saturating_neg()),
        };
        Self { phase, place }
    }

    /// Position of a scalar; scalars of one step are ordered by name.
    pub fn of_scalar() -> Self {
        Self { phase: 3, place: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainscope_format::graph::{Edge, Node};

    #[test]
    fn inputs_come_before_their_users() {
        let node = |inputs: &[u32]| Node {
            inputs: inputs
                .iter()
                .map(|input| Edge {
                    node: Some(*input),
                    ..Edge::default()
                })
                .collect(),
            ..Node::default()
        };
        let graph = Graph {
            // 0 needs 2, 3 and 4 need each other.
            nodes: vec![node(&[2]), node(&[]), node(&[1]), node(&[4]), node(&[3])],
            ..Graph::default()
        };
        assert_eq!(flow(&graph), [2, 0, 1, 5, 5]);
    }

    #[test]
    fn a_step_goes_forward_and_back() {
        let mut all = [
            (Role::Gradient, 1),
            (Role::Gradient, 2),
            (Role::Activation, 2),
            (Role::Input, 0),
            (Role::Weight, 5),
            (Role::Loss, 9),
        ];
        all.sort_by_key(|(role, place)| Position::of_tensor(*role, *place));
        assert_eq!(
            all.map(|(role, place)| (role, place)),
            [
                (Role::Weight, 5),
                (Role::Input, 0),
                (Role::Activation, 2),
                (Role::Loss, 9),
                (Role::Gradient, 2),
                (Role::Gradient, 1),
            ]
        );
        assert!(Position::of_scalar() > Position::of_tensor(Role::Loss, 9));
        assert!(Position::of_scalar() < Position::of_tensor(Role::Gradient, 9));
    }
}
