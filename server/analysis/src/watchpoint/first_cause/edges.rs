//! Edges of a graph between hits: upstream and downstream.
//!
//! A graph covers one step; hits at later steps follow from earlier ones regardless, through the weights.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::watchpoint::model::finding::Hit;
use crate::watchpoint::model::knowledge::{Knowledge, Node};
use crate::watchpoint::model::run::{Flow, Phase};

/// The nodes of a graph in topological order; empty without a graph.
pub(super) struct Edges<'a> {
    nodes: &'a [Node],
    by_name: HashMap<&'a str, usize, RandomState>,
}

impl<'a> Edges<'a> {
    pub(super) fn of(knowledge: &'a Knowledge) -> Self {
        let nodes = &*knowledge.nodes;
        let mut by_name = HashMap::default();
        for (index, node) in nodes.iter().enumerate() {
            by_name.entry(&*node.name).or_insert(index);
        }
        Self { nodes, by_name }
    }

    /// The node of a hit, if the graph has it. As elsewhere, the name of a layer may lack its scopes.
    fn node(&self, hit: &Hit) -> Option<usize> {
        let name = hit.node.as_deref()?;
        let tail = name.rsplit('/').next().unwrap_or(name);
        let known = self.by_name.get(name).or_else(|| self.by_name.get(tail));
        known.copied()
    }

    /// Names of the inputs of a hit's node.
    pub(super) fn inputs(&self, hit: &Hit) -> impl Iterator<Item = &'a str> {
        let node = self.node(hit).and_then(|node| self.nodes.get(node));
        let inputs = node.map(|node| &*node.inputs).unwrap_or_default();
        inputs
            .iter()
            .filter_map(|input| Some(&*self.nodes.get(*input as usize)?.name))
    }

    /// The hit among `others` that feeds this one and is itself fed by no other, of the same step and rank and at
    /// least as severe; `None` if all inputs are healthy.
    pub(super) fn source<'h>(
        &self,
        first: usize,
        others: &[usize],
        hits: &'h [Hit],
        flows: &[Flow],
    ) -> Option<(usize, &'h Hit)> {
        let hit = hits.get(first)?;
        let node = self.node(hit)?;
        if flows.get(first)?.0 != Phase::Forward {
            return None;
        }
        let all = others.iter().map(|&index| (index, &hits[index]));
        let mut feeding = all
            .filter(|(index, other)| {
                *index != first
                    && (other.step, other.rank) == (hit.step, hit.rank)
                    && other.severity >= hit.severity
                    && flows[*index].0 == Phase::Forward
            })
            .peekable();
        feeding.peek()?;
        let upstream = self.upstream(node);
        feeding
            .filter_map(|(index, other)| Some((self.node(other)?, index, other)))
            .filter(|(at, ..)| *at != node && upstream[*at])
            // Nodes come after their inputs: the first of these has no input among them.
            .min_by_key(|(at, ..)| *at)
            .map(|(_, index, other)| (index, other))
    }

    /// Marks the nodes computed from this one, itself included.
    fn downstream(&self, from: usize) -> Vec<bool> {
        let mut reached = vec![false; self.nodes.len()];
        reached[from] = true;
        for (index, node) in self.nodes.iter().enumerate().skip(from + 1) {
            let mut inputs = node.inputs.iter();
            reached[index] = inputs.any(|input| reached.get(*input as usize) == Some(&true));
        }
        reached
    }

    /// Marks the nodes that this one is computed from, itself included.
    fn upstream(&self, from: usize) -> Vec<bool> {
        let mut reached = vec![false; self.nodes.len()];
        reached[from] = true;
        for (index, node) in self.nodes.iter().enumerate().take(from + 1).rev() {
            if !reached[index] {
                continue;
            }
            for input in &node.inputs {
                if let Some(reached) = reached.get_mut(*input as usize) {
                    *reached = true;
                }
            }
        }
        reached
    }
}

/// The hits that may follow from a hit.
pub(super) struct Reach<'a> {
    edges: &'a Edges<'a>,
    cause: &'a Hit,
    flow: Flow,
    /// Nodes whose outputs or gradients are computed from it; `None` if its node is unknown.
    nodes: Option<Vec<bool>>,
}

impl<'a> Reach<'a> {
    pub(super) fn of(edges: &'a Edges<'a>, cause: &'a Hit, flow: Flow) -> Self {
        let nodes = edges.node(cause).and_then(|node| match flow.0 {
            Phase::State | Phase::Inputs | Phase::Forward => Some(edges.downstream(node)),
            Phase::Backward => Some(edges.upstream(node)),
            _ => None,
        });
        Self {
            edges,
            cause,
            flow,
            nodes,
        }
    }

    /// True if another hit may follow.
    pub(super) fn holds(&self, other: &Hit, flow: Flow) -> bool {
        if other.step != self.cause.step {
            return other.step > self.cause.step;
        }
        // Ranks meet when they exchange gradients, not before.
        if other.rank != self.cause.rank && flow.0 < Phase::Backward {
            return false;
        }
        let is_same_phase = match self.flow.0 {
            Phase::State | Phase::Inputs | Phase::Forward => flow.0 <= Phase::Forward,
            phase => flow.0 == phase,
        };
        match (&self.nodes, self.edges.node(other)) {
            (Some(nodes), Some(node)) if is_same_phase => nodes[node] && flow.0 >= self.flow.0,
            _ => flow >= self.flow,
        }
    }
}
