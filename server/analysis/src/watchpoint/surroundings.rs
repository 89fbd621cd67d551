//! Inputs and users of a layer, among the layers with recorded tensors.
//!
//! A graph determines them, if recorded; operators without records are skipped. Without a graph, layers are linked in
//! execution order, if that is known.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::model::knowledge::Node;
use super::model::run::Run;
use super::model::subject::Class;

/// Maximum number of nearest upstream layers to follow: a graph may join thousands in one operator.
const MAX_INPUTS: usize = 16;

/// The layers of a run.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    layers: Vec<Layer>,
    by_tensor: HashMap<Arc<str>, usize, RandomState>,
    is_guessed: bool,
}

/// A layer with its tensors.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    /// Its name in the names of its tensors.
    pub name: Arc<str>,
    /// Its tensors in the order of recording, without duplicates of other ranks.
    pub tensors: Vec<Arc<str>>,
    /// True for tensors that flow back.
    gradients: Vec<bool>,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
}

/// Neighbours of a tensor.
#[derive(Clone, Debug, Default)]
pub struct Around<'a> {
    /// Layers that it is computed from.
    pub upstream: Vec<&'a Layer>,
    /// Its layer.
    pub own: Option<&'a Layer>,
    /// Layers that are computed from it.
    pub downstream: Vec<&'a Layer>,
}

impl Surroundings {
    pub(crate) fn of(run: &Run<'_>) -> Self {
        let mut layers: Vec<Layer> = Vec::new();
        let mut places: Vec<i64> = Vec::new();
        let mut by_name: HashMap<Arc<str>, usize, RandomState> = HashMap::default();
        let mut by_tensor: HashMap<Arc<str>, usize, RandomState> = HashMap::default();
        for tensor in run.tensors {
            let name = &tensor.subject.module;
            if name.is_empty() || by_tensor.contains_key(&tensor.name) {
                continue;
            }
            let place = run.place_of(tensor);
            let layer = *by_name.entry(Arc::clone(name)).or_insert_with(|| {
                layers.push(Layer {
                    name: Arc::clone(name),
                    ..Layer::default()
                });
                places.push(place);
                layers.len() - 1
            });
            let class = tensor.subject.class;
            by_tensor.insert(Arc::clone(&tensor.name), layer);
            layers[layer].tensors.push(Arc::clone(&tensor.name));
            layers[layer]
                .gradients
                .push(matches!(class, Class::Gradient | Class::ActivationGradient));
        }
        let mut made = Self {
            layers,
            by_tensor,
            is_guessed: false,
        };
        if !made.follow(&run.knowledge.nodes, &by_name) {
            made.is_guessed = true;
            let mut order: Vec<usize> = (0..made.layers.len()).collect();
            order.sort_by_key(|&layer| places[layer]);
            for two in order.windows(2) {
                made.join(two[0], two[1]);
            }
        }
        made
    }

    /// Links layers along the edges of a graph; returns true if there are any links.
    fn follow(&mut self, nodes: &[Node], by_name: &HashMap<Arc<str>, usize, RandomState>) -> bool {
        // Nearest upstream layers of each node, or the node itself if it is a layer. Inputs come first.
        let mut reach: Vec<Vec<usize>> = Vec::with_capacity(nodes.len());
        let mut has_joined = false;
        for node in nodes {
            let mut upstream: Vec<usize> = Vec::new();
            for input in &node.inputs {
                for layer in reach.get(*input as usize).into_iter().flatten() {
                    if upstream.len() < MAX_INPUTS && !upstream.contains(layer) {
                        upstream.push(*layer);
                    }
                }
            }
            let tail = node.name.rsplit('/').next().unwrap_or(&node.name);
            let this = by_name
                .get(&node.name)
                .or_else(|| by_name.get(tail))
                .copied();
            reach.push(match this {
                Some(this) => {
                    for layer in upstream.into_iter().filter(|layer| *layer != this) {
                        self.join(layer, this);
                        has_joined = true;
                    }
                    vec![this]
                }
                None => upstream,
            });
        }
        has_joined
    }

    fn join(&mut self, from: usize, to: usize) {
        if !self.layers[to].inputs.contains(&from) {
            self.layers[to].inputs.push(from);
            self.layers[from].outputs.push(to);
        }
    }

    /// True if layers are linked in execution order, without a graph.
    pub fn is_guessed(&self) -> bool {
        self.is_guessed
    }

    /// Neighbours of a tensor. Gradients are computed from the layers that its layer feeds.
    pub fn around(&self, tensor: &str) -> Around<'_> {
        let Some(layer) = self
            .by_tensor
            .get(tensor)
            .and_then(|&index| self.layers.get(index))
        else {
            return Around::default();
        };
        let at = layer.tensors.iter().position(|name| **name == *tensor);
        let flows_back = at.is_some_and(|at| layer.gradients[at]);
        let layers = |indices: &[usize]| {
            let layers = indices.iter().filter_map(|&index| self.layers.get(index));
            layers.collect::<Vec<_>>()
        };
        let (mut upstream, mut downstream) = (layers(&layer.inputs), layers(&layer.outputs));
        if flows_back {
            std::mem::swap(&mut upstream, &mut downstream);
        }
        Around {
            upstream,
            own: Some(layer),
            downstream,
        }
    }

    /// True if both tensors flow in the same direction, forward or backward.
    pub fn flow_alike(&self, tensor: &str, other: &str) -> bool {
        let flows_back = |name: &str| {
            let layer = self.layers.get(*self.by_tensor.get(name)?)?;
            let at = layer.tensors.iter().position(|known| **known == *name)?;
            layer.gradients.get(at).copied()
        };
        flows_back(tensor) == flows_back(other)
    }
}
