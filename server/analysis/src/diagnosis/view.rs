//! A graph as rules see it: operations by type, with their users and shapes.

use trainscope_format::Graph;
use trainscope_format::graph::{Dimension, Edge, Node, NodeKind};

use super::operation::{OperationClass, attribute, is_backward, is_parameter, of};

/// Maximum number of operations to follow in a row, through reshapes and the like.
pub(super) const MAX_HOPS: usize = 64;

/// Keras layers that preserve the number of units of their input.
const KEEPS_UNITS: [&str; 6] = [
    "Activation",
    "Softmax",
    "ReLU",
    "Dropout",
    "BatchNormalization",
    "LayerNormalization",
];

/// A graph with the types of its operations and the users of their outputs.
pub(super) struct View<'a> {
    pub(super) nodes: &'a [Node],
    pub(super) does: Vec<OperationClass>,
    pub(super) is_backward: Vec<bool>,
    /// Users of each node, with the index of the input.
    pub(super) users: Vec<Vec<(u32, u32)>>,
}

impl<'a> View<'a> {
    pub(super) fn new(graph: &'a Graph) -> Self {
        let nodes = &graph.nodes[..];
        let mut users = vec![Vec::new(); nodes.len()];
        for (at, node) in (0_u32..).zip(nodes) {
            for (place, edge) in (0_u32..).zip(&node.inputs) {
                let from = edge.node.filter(|_| !edge.is_control);
                if let Some(users) = from.and_then(|from| users.get_mut(from as usize)) {
                    users.push((at, place));
                }
            }
        }
        Self {
            nodes,
            does: nodes.iter().map(of).collect(),
            is_backward: nodes.iter().map(is_backward).collect(),
            users,
        }
    }

    /// Operations of the forward pass.
    pub(super) fn forward(&self) -> impl Iterator<Item = usize> {
        (0..self.nodes.len())
            .filter(|at| self.nodes[*at].kind == NodeKind::Operation && !self.is_backward[*at])
    }

    /// The node that feeds an input.
    pub(super) fn input(&self, at: usize, place: usize) -> Option<usize> {
        let edge = self.nodes[at].inputs.get(place)?;
        let from = edge.node? as usize;
        (from < self.nodes.len() && !edge.is_control).then_some(from)
    }

    /// The operation that an input originates from, through operations that pass it on unchanged.
    pub(super) fn origin(&self, at: usize, place: usize) -> Option<usize> {
        let mut from = self.input(at, place)?;
        for _ in 0..MAX_HOPS {
            // The access to a parameter counts as its origin.
            if self.does[from] != OperationClass::Passes || is_parameter(&self.nodes[from]) {
                return Some(from);
            }
            from = self.input(from, 0)?;
        }
        None
    }

    /// True if an input is a parameter, possibly passed on unchanged.
    pub(super) fn is_parameter(&self, at: usize, place: usize) -> bool {
        self.origin(at, place)
            .is_some_and(|from| is_parameter(&self.nodes[from]))
    }

    /// The shape of an input, if all of its sizes are known.
    pub(super) fn shape(&self, edge: &Edge) -> Option<Vec<u64>> {
        let from = self.nodes.get(edge.node? as usize)?;
        let shape = from.outputs.get(edge.slot as usize)?.shape.as_ref()?;
        let known = shape.iter().map(|size| match size {
            Dimension::Size(size) => Some(*size),
            Dimension::Symbol(_) => None,
        });
        known.collect()
    }

    /// Number of units of a layer, from Keras or from a layer before that preserves it; otherwise the last size of its
    /// output.
    pub(super) fn width(&self, mut at: usize) -> Option<u64> {
        for _ in 0..MAX_HOPS {
            let node = &self.nodes[at];
            let said = attribute(node, "units").or(attribute(node, "filters"));
            if let Some(units) = said {
                let is_last = attribute(node, "data_format") != Some("channels_first");
                return units.parse().ok().filter(|_| is_last);
            }
            let shape = node
                .outputs
                .first()
                .and_then(|output| output.shape.as_ref());
            if let Some([_, .., Dimension::Size(last)]) = shape.map(Vec::as_slice) {
                return Some(*last);
            }
            if !KEEPS_UNITS.contains(&&*node.op_type) {
                return None;
            }
            at = self.input(at, 0)?;
        }
        None
    }

    pub(super) fn name(&self, at: usize) -> &'a str {
        &self.nodes[at].name
    }
}
