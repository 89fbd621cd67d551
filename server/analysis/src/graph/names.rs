//! Graph items by names of tensors, parameters and modules: names differ between the programs that record them.
//!
//! All separators are equal, `name:0` equals `name`, `conv1-Conv2d` equals `conv1`, and a graph may add scopes around
//! the program's model. A tensor without a node belongs to the node of its module.

use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;
use trainscope_format::Graph;

use super::tree::{Tree, What};

type Map<K, V> = std::collections::HashMap<K, V, FixedState>;

/// Index from names to items.
#[derive(Debug)]
pub struct Names {
    /// Parts of each name with its item.
    all: Vec<(Vec<String>, usize)>,
    /// Index into `all` of the first name with these parts, by their hash.
    whole: Map<u64, usize>,
    /// Index into `all` of the first name that ends with these parts, by their hash.
    endings: Map<u64, usize>,
}

impl Names {
    /// The names of a graph, including attached parameters, which map to their first user.
    pub fn new(graph: &Graph, tree: &Tree) -> Self {
        let mut names = Self {
            all: Vec::new(),
            whole: Map::default(),
            endings: Map::default(),
        };
        let carriers = carriers(graph, tree);
        for (index, item) in tree.items.iter().enumerate().skip(1) {
            match item.what {
                What::Node(node) => names.add(&graph.nodes[node].name, index),
                What::Scope | What::Fold(_) => names.add(&tree_name(tree, index), index),
            }
            let What::Node(node) = item.what else {
                continue;
            };
            for input in graph.nodes[node].inputs.iter().filter_map(|edge| edge.node) {
                if tree.of_node.get(input as usize) == Some(&None) {
                    let shown = carriers.get(&index).copied().unwrap_or(index);
                    names.add(&graph.nodes[input as usize].name, shown);
                }
            }
        }
        names
    }

    fn add(&mut self, name: &str, item: usize) {
        let parts = parts(name);
        let place = self.all.len();
        for from in 0..parts.len() {
            self.endings.entry(hash(&parts[from..])).or_insert(place);
        }
        if !parts.is_empty() {
            self.whole.entry(hash(&parts)).or_insert(place);
            self.all.push((parts, item));
        }
    }

    /// The best match of a name: the whole name, then a name that ends with it, then its module.
    pub fn find(&self, name: &str) -> Option<usize> {
        let mut wanted = parts(name);
        while let Some(last) = wanted.last() {
            let key = hash(&wanted);
            let named = |places: &Map<u64, usize>| self.all.get(*places.get(&key)?);
            let whole = named(&self.whole).filter(|(parts, _)| *parts == wanted);
            let ending = || named(&self.endings).filter(|(parts, _)| parts.ends_with(&wanted));
            // A single generic part is not accepted as a module name.
            let found = whole.or_else(|| (wanted.len() > 1 || !is_vague(last)).then(ending)?);
            if let Some((_, item)) = found {
                return Some(*item);
            }
            wanted.pop();
        }
        None
    }
}

fn hash(parts: &[String]) -> u64 {
    FixedState::default().hash_one(parts)
}

/// Operations that only pass a parameter on, with the first operation that computes with it.
fn carriers(graph: &Graph, tree: &Tree) -> Map<usize, usize> {
    let op_type = |item: usize| match tree.items[item].what {
        What::Node(node) => &*graph.nodes[node].op_type,
        What::Scope | What::Fold(_) => "",
    };
    let mut carriers = Map::default();
    for &(from, to, is_control) in &tree.edges {
        let hands_on = matches!(op_type(from), "Load" | "ReadVariableOp" | "Identity");
        let computes = !matches!(op_type(to), "UpdateState" | "Depend" | "MakeTuple");
        if hands_on && computes && !is_control {
            carriers.entry(from).or_insert(to);
        }
    }
    carriers
}

/// Name of a scope without the folds around it.
fn tree_name(tree: &Tree, item: usize) -> String {
    let mut around: Vec<usize> = tree.scopes_of(item).collect();
    around.reverse();
    around.push(item);
    let labels = around.into_iter().filter_map(|at| {
        let label = &*tree.items[at].label;
        (!label.contains('…')).then_some(label)
    });
    labels.collect::<Vec<_>>().join("/")
}

fn is_vague(part: &str) -> bool {
    matches!(part, "weight" | "bias" | "grad" | "input" | "output")
        || part.chars().all(|c| c.is_ascii_digit())
}

fn parts(name: &str) -> Vec<String> {
    let name = name.split_once(':').map_or(name, |(name, slot)| {
        if slot.chars().all(|c| c.is_ascii_digit()) {
            name
        } else {
            slot
        }
    });
    name.split(['/', '.'])
        .filter(|part| !part.is_empty())
        .map(|part| match part.split_once('-') {
            // `conv1-Conv2d` is a cell and its class, `Conv2D-op3` an operator and its number.
            Some((cell, class)) if !class.starts_with("op") && !cell.is_empty() => cell,
            _ => part,
        })
        .map(|part| part.trim_start_matches('_').to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tree::tests::graph;

    #[test]
    fn names_of_frameworks_lead_to_the_graph() {
        let graph = graph(
            "Default/network-Loss/_backbone-Net/conv1-Conv2d/Conv2D-op3 o Conv2D: conv1.weight
             Default/network-Loss/_backbone-Net/relu-ReLU/ReLU-op1 o ReLU
             conv1.weight p Parameter
             fc.weight p Parameter
             Default/Load-op1 o Load: fc.weight
             Default/UpdateState-op1 o UpdateState: Default/Load-op1
             Default/fc-Dense/MatMul-op1 o MatMul: Default/Load-op1
             enc/layers/0/attn/softmax o Softmax
             enc/layers/1/attn/softmax o Softmax
             enc/layers/2/attn/softmax o Softmax",
        );
        let tree = Tree::new(&graph);
        let names = Names::new(&graph, &tree);
        let found = |name: &str| names.find(name).map(|item| &*tree.items[item].label);
        for (name, label) in [
            ("conv1.weight", "Conv2D-op3"),
            ("fc.weight", "MatMul-op1"),
            ("conv1.weight:0", "Conv2D-op3"),
            ("conv1", "conv1-Conv2d"),
            ("backbone.relu.output", "relu-ReLU"),
            (
                "Default/network-Loss/_backbone-Net/relu-ReLU/ReLU-op1:0",
                "ReLU-op1",
            ),
            ("enc.layers.1.attn.softmax", "softmax"),
            ("enc.layers.1.attn.unknown", "attn"),
        ] {
            assert_eq!(found(name), Some(label), "{name}");
        }
        assert_eq!(found("loss"), None);
        assert_eq!(found("weight"), None);
        assert_eq!(found(""), None);
        let second = names.find("enc.layers.1.attn.softmax").unwrap();
        assert!(
            tree.items[second].path.contains("/1/attn"),
            "{}",
            tree.items[second].path
        );
    }
}
