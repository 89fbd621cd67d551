//! Recomputation: operators of the forward pass that run again within the backward pass (activation checkpointing).
//!
//! `CheckpointFunctionBackward` runs them itself (`use_reentrant=True`). Otherwise the first node of the backward pass
//! that needs a value that was not kept runs them before its operators. Autograd numbers the operators that it records:
//! the recomputed ones, not those of the backward pass. In a backward pass that is itself recorded
//! (`create_graph=True`) it numbers all.

use std::collections::HashMap;

use trainscope_api::profile::PhaseKind;
use trainscope_format::trace::{NONE, SliceClass};

use super::Model;

/// Start of the name of the slice around a node of the backward pass.
const ENGINE: &str = "autograd::engine::evaluate_function";
/// Node of a checkpoint with `use_reentrant=True`.
const CHECKPOINT: &str = "CheckpointFunctionBackward";

/// Operators that a node of the backward pass runs itself.
#[derive(Clone, Copy, Default)]
struct Node {
    is_checkpoint: bool,
    /// Some operator has a number.
    has_numbered: bool,
    /// Some operator has none.
    has_others: bool,
}

impl Node {
    /// `true` if the node recomputes.
    fn recomputes(self) -> bool {
        self.is_checkpoint || self.has_numbered && self.has_others
    }
}

/// Gives recomputed operators, and the slices within them, their phase. Slices are in order: parents come first.
pub(super) fn mark(model: &Model, phases: &mut [PhaseKind]) {
    let is_operator = |slice: u32| model.class(slice) == SliceClass::Operator;
    let is_engine = |slice: u32| model.name(slice).starts_with(ENGINE);
    let is_numbered = |slice: u32| {
        let number = model.trace.slices.links.get(slice as usize);
        number.is_some_and(|number| *number != NONE)
    };
    let parent = |slice: u32| {
        let parent = model.parents.get(slice as usize).copied();
        parent.filter(|parent| *parent != NONE)
    };
    let mut nodes: HashMap<u32, Node, foldhash::fast::RandomState> = HashMap::default();
    for slice in model.slices().filter(|slice| is_operator(*slice)) {
        let Some(parent) = parent(slice) else {
            continue;
        };
        if is_engine(slice) {
            continue;
        }
        if is_engine(parent) {
            let is_checkpoint = model.name(slice) == CHECKPOINT;
            let node = Node {
                is_checkpoint,
                ..Node::default()
            };
            nodes.insert(slice, node);
        } else if let Some(node) = nodes.get_mut(&parent) {
            node.has_numbered |= is_numbered(slice);
            node.has_others |= !is_numbered(slice);
        }
    }
    nodes.retain(|_, node| node.recomputes());
    if nodes.is_empty() {
        return;
    }
    for slice in model.slices().filter(|slice| !is_engine(*slice)) {
        let Some(parent) = parent(slice) else {
            continue;
        };
        let node = nodes.get(&parent);
        let begins = node.is_some_and(|node| node.is_checkpoint || is_numbered(slice));
        let goes_on = phases.get(parent as usize) == Some(&PhaseKind::Recomputation);
        if (begins && is_operator(slice) || goes_on)
            && let Some(phase) = phases.get_mut(slice as usize)
        {
            *phase = PhaseKind::Recomputation;
        }
    }
}
