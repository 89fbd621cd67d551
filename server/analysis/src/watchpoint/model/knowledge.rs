//! Context of a run: execution order, types of layers, and graph edges.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;
use trainscope_format::graph::NodeKind;
use trainscope_format::hparams::HparamValue;
use trainscope_format::{Graph, Hparams, Lineage};

use super::course::Course;
use super::subject::{Family, Subject, family_of_name, family_of_op};
use crate::context::Context;
use crate::diagnosis::loss::{Cost, Output, cost_of_name, output_of};

/// Maximum number of graph nodes and printed modules to store.
const MAX_NODES: usize = 200_000;

/// A layer or an operator.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) name: Arc<str>,
    /// The class of the layer or the type of the operator in its framework; empty if unknown.
    pub(crate) op: Arc<str>,
    /// Indices of nodes that feed it.
    pub(crate) inputs: Vec<u32>,
    /// Source location, if known.
    pub(crate) source: Arc<str>,
}

/// An operator that overflowed according to the device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OverflowedOperator {
    pub(crate) rank: u32,
    pub(crate) step: i64,
    /// Name; `None` if the format of the file is not supported.
    pub(crate) operator: Option<Arc<str>>,
    pub(crate) reason: Arc<str>,
}

/// Collected context of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Knowledge {
    /// Names in forward order, from an execution.
    pub(crate) order: Vec<Arc<str>>,
    /// Modules of a printed model, in the order of their definition.
    pub(crate) modules: Vec<Node>,
    /// Operators of a graph in topological order.
    pub(crate) nodes: Vec<Node>,
    pub(crate) overflowed: Vec<OverflowedOperator>,
    /// `Adam`, `SGD`, …
    pub(crate) optimizer: Option<Arc<str>>,
    pub(crate) loss_function: Option<Arc<str>>,
    /// The output, from the first graph with a loss.
    pub(crate) output: Option<Output>,
    /// Name and value of the hyper-parameter.
    pub(crate) learning_rate: Option<(Arc<str>, f64)>,
    /// Layers that pass the input of the model on, in forward order.
    pub(crate) first_layers: Vec<Arc<str>>,
    /// The program scales its loss, and skips an update whose gradients overflow.
    pub(crate) has_scaler: bool,
    /// The course that losses may take.
    pub(crate) course: Course,
    /// Types of layers, by name.
    families: BTreeMap<Arc<str>, Family>,
}

impl Knowledge {
    pub(crate) fn learn(&mut self, rank: u32, context: Context<'_>) {
        match context {
            // A rank or a step that ran more of the model has the better order.
            Context::ExecutionOrder(names) if names.len() > self.order.len() => {
                self.order = names
                    .iter()
                    .take(MAX_NODES)
                    .map(|name| (*name).into())
                    .collect();
                self.note_first_layers();
            }
            Context::Graph(graph) => {
                if self.output.is_none() {
                    self.output = output_of(graph);
                }
                if graph.nodes.len() > self.nodes.len() {
                    self.nodes = nodes_of(graph);
                    self.note_families();
                    self.note_activations(graph);
                }
            }
            Context::Lineage(Lineage::Train(train)) => {
                self.optimizer = train.optimizer.as_deref().map(Into::into);
                self.loss_function = train.loss_function.as_deref().map(Into::into);
                // Writers use 0 for an unknown rate, a schedule for example.
                if let Some(rate) = train.learning_rate.filter(|rate| *rate != 0.0) {
                    self.learning_rate = Some(("learning_rate".into(), rate));
                }
            }
            Context::Hparams(Hparams::SessionStart(session)) => {
                for (name, value) in &session.values {
                    match (name.to_ascii_lowercase().as_str(), value) {
                        ("optimizer" | "optim", HparamValue::Text(text)) => {
                            self.optimizer = Some(text.as_str().into());
                        }
                        (
                            "loss" | "loss_fn" | "loss_function" | "criterion",
                            HparamValue::Text(text),
                        ) => {
                            self.loss_function = Some(text.as_str().into());
                        }
                        ("lr" | "learning_rate" | "learning-rate", HparamValue::Number(rate)) => {
                            self.learning_rate = Some((name.as_str().into(), *rate));
                        }
                        _ => {}
                    }
                }
            }
            Context::Program { fact, .. } => {
                self.course.learn(rank, fact);
                // A scaler that is not enabled has a scale of 1.
                let mut scales = fact
                    .number("scale")
                    .into_iter()
                    .filter(|_| fact.kind == "clipping");
                self.has_scaler |= scales.any(|scale| !(1.0..=1.0).contains(&scale));
            }
            Context::ExecutionOrder(_) | Context::Lineage(_) | Context::Hparams(_) => {}
            Context::Text { text, .. } => {
                let modules = modules_of(text);
                if modules.len() > self.modules.len() {
                    self.modules = modules;
                    self.note_families();
                    self.note_first_layers();
                }
            }
            Context::OperatorOverflow { step, operator } => {
                self.overflowed.push(OverflowedOperator {
                    rank,
                    step,
                    operator: Some(operator.into()),
                    reason: "".into(),
                });
            }
            Context::OperatorOverflowUnread { step, reason } => {
                self.overflowed.push(OverflowedOperator {
                    rank,
                    step,
                    operator: None,
                    reason: reason.into(),
                });
            }
        }
    }

    fn note_families(&mut self) {
        for node in self.nodes.iter().chain(&self.modules) {
            let family = family_of_op(&node.op);
            if family != Family::Other {
                self.families.insert(node.name.clone(), family);
            }
        }
    }

    /// Keras layers that end with an activation have its range.
    fn note_activations(&mut self, graph: &Graph) {
        for node in &graph.nodes {
            let mut attributes = node.attributes.iter();
            let activation = attributes.find(|(name, _)| name == "activation");
            let family = activation.map_or(Family::Other, |(_, value)| family_of_op(value));
            if !matches!(family, Family::Other | Family::Linear) {
                self.families.insert(node.name.as_str().into(), family);
            }
        }
    }

    /// Activation that the loss applies to the output, if known.
    pub(crate) fn cost(&self) -> Option<Cost> {
        let of_output = self.output.as_ref().and_then(|output| output.cost);
        of_output.or_else(|| cost_of_name(self.loss_function.as_deref()?))
    }

    /// The layer that computes the output: from a graph with the loss, otherwise the last in execution order.
    pub(crate) fn last_layer(&self) -> Option<&str> {
        let of_graph = self.output.as_ref().map(|output| &*output.layer);
        of_graph.or_else(|| self.order.last().map(|layer| &**layer))
    }

    /// True if the types of layers are known.
    pub(crate) fn knows_layers(&self) -> bool {
        !self.families.is_empty()
    }

    /// Type of the layer of a tensor: from the tensor itself, from the context, or from its name.
    pub(crate) fn family_of(&self, subject: &Subject) -> Family {
        if subject.family != Family::Other {
            return subject.family;
        }
        match self.families.get(&subject.module) {
            Some(family) => *family,
            None => family_of_name(&subject.module),
        }
    }

    /// Notes the layers at the beginning of the model that pass its input on, in forward order: those before the first
    /// that computes anything. A printed model without an order runs in the order of definition.
    fn note_first_layers(&mut self) {
        let ops: HashMap<&str, &str> = self.modules.iter().map(|m| (&*m.name, &*m.op)).collect();
        let outer = self.modules.iter().filter_map(|m| m.name.rsplit_once('.'));
        let containers: HashSet<&str> = outer.map(|(outer, _)| outer).collect();
        let defined = self.modules.iter().map(|m| &m.name);
        let ran = self.order.iter();
        let order: Vec<&Arc<str>> = if self.order.is_empty() {
            defined.collect()
        } else {
            ran.collect()
        };
        let leaves = order.into_iter();
        let leaves = leaves.filter(|name| !name.is_empty() && !containers.contains(&***name));
        let first = leaves.take_while(|name| ops.get(&***name).is_some_and(|op| hands_on(op)));
        self.first_layers = first.cloned().collect();
    }

    /// True if the output of a layer is the input of the model, by its position.
    pub(crate) fn is_first_layer(&self, module: &str) -> bool {
        self.first_layers.iter().any(|name| **name == *module)
    }

    /// Positions of layers and operators in forward order, by name, with their types.
    pub(crate) fn places(&self) -> Places<'_> {
        let mut places = Places {
            by_name: HashMap::default(),
        };
        // An execution takes precedence over a graph, and that over definitions.
        let drawn = self.nodes.iter().map(|node| &node.name);
        let defined = self.modules.iter().map(|node| &node.name);
        for names in [
            self.order.iter().collect::<Vec<_>>(),
            drawn.collect(),
            defined.collect(),
        ] {
            if places.by_name.is_empty() {
                for (place, name) in (0..).zip(names) {
                    places.by_name.entry(with_slashes(name)).or_insert(place);
                }
            }
        }
        places
    }
}

/// The places of layers and operators in forward order, by name.
pub(crate) struct Places<'a> {
    /// By names with `/` between their parts.
    by_name: HashMap<Cow<'a, str>, u32, RandomState>,
}

impl Places<'_> {
    /// Position of a layer.
    pub(crate) fn of(&self, module: &str) -> Option<u32> {
        // Graphs write `/` for the dots of modules, and add scopes around.
        let tail = module.rsplit('/').next().unwrap_or(module);
        self.by_name
            .get(&with_slashes(module))
            .or_else(|| self.by_name.get(&with_slashes(tail)))
            .copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_name.len()
    }
}

/// A name with `/` for the dots that PyTorch writes.
fn with_slashes(name: &str) -> Cow<'_, str> {
    if name.contains('.') {
        Cow::Owned(name.replace('.', "/"))
    } else {
        Cow::Borrowed(name)
    }
}

/// True if a layer only passes its elements on, in another shape or with some left out.
fn hands_on(op: &str) -> bool {
    let op = op.to_ascii_lowercase();
    let names = [
        "identity",
        "flatten",
        "unflatten",
        "reshape",
        "view",
        "permute",
        "inputlayer",
        "rearrange",
    ];
    names.contains(&&*op) || op.contains("dropout")
}

/// The nodes of a graph in topological order.
fn nodes_of(graph: &Graph) -> Vec<Node> {
    let count = graph.nodes.len().min(MAX_NODES);
    let inputs: Vec<Vec<usize>> = graph.nodes[..count]
        .iter()
        .map(|node| {
            let fed_by = node.inputs.iter().filter_map(|edge| edge.node);
            fed_by.map(|n| n as usize).filter(|n| *n < count).collect()
        })
        .collect();
    // A cycle is broken where it is met; the stack holds a node and the number of inputs already followed.
    let mut order = Vec::with_capacity(count);
    let mut state = vec![0_u8; count];
    for start in 0..count {
        let mut stack = vec![(start, 0)];
        while let Some((node, followed)) = stack.pop() {
            if followed == 0 {
                if state[node] != 0 {
                    continue;
                }
                state[node] = 1;
            }
            if let Some(input) = inputs[node].get(followed) {
                stack.push((node, followed + 1));
                stack.push((*input, 0));
            } else {
                state[node] = 2;
                order.push(node);
            }
        }
    }
    let mut place = vec![0_u32; count];
    for (at, node) in (0..).zip(&order) {
        place[*node] = at;
    }
    order
        .iter()
        .map(|&index| {
            let node = &graph.nodes[index];
            Node {
                name: node.name.as_str().into(),
                op: match node.kind {
                    NodeKind::Parameter => "Parameter".into(),
                    _ => node.op_type.as_str().into(),
                },
                inputs: inputs[index].iter().map(|input| place[*input]).collect(),
                source: node.source.as_str().into(),
            }
        })
        .collect()
}

/// The modules of a model as printed by `PyTorch`: `(name): Type(…)`, children indented; `(0-3): 4 x Type(…)` expands
/// to four. Empty for any other text.
fn modules_of(text: &str) -> Vec<Node> {
    let mut found: Vec<Node> = Vec::new();
    // Names of open modules, with their indentation.
    let mut open: Vec<(usize, Vec<String>)> = Vec::new();
    for line in text.lines() {
        let inner = line.trim_start();
        let indent = line.len() - inner.len();
        let Some((name, rest)) = inner.strip_prefix('(').and_then(|l| l.split_once("): ")) else {
            continue;
        };
        while open.last().is_some_and(|(outer, _)| *outer >= indent) {
            open.pop();
        }
        let kind = rest.split_once(" x ").map_or(rest, |(count, kind)| {
            if count.bytes().all(|b| b.is_ascii_digit()) {
                kind
            } else {
                rest
            }
        });
        let op: String = kind
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        let outer: Vec<String> = open
            .last()
            .map_or_else(|| vec![String::new()], |o| o.1.clone());
        let mut names = Vec::new();
        for outer in &outer {
            for part in parts_of(name) {
                let dot = if outer.is_empty() { "" } else { "." };
                names.push(format!("{outer}{dot}{part}"));
                if found.len() + names.len() > MAX_NODES {
                    return found;
                }
            }
        }
        found.extend(names.iter().map(|name| Node {
            name: name.as_str().into(),
            op: op.as_str().into(),
            inputs: Vec::new(),
            source: "".into(),
        }));
        open.push((indent, names));
    }
    found
}

/// `fc1` is itself; `0-2` is three.
fn parts_of(name: &str) -> Vec<String> {
    let range = name.split_once('-').and_then(|(from, to)| {
        let (from, to): (u32, u32) = (from.parse().ok()?, to.parse().ok()?);
        (from < to && to - from < 10_000).then_some(from..=to)
    });
    match range {
        Some(range) => range.map(|n| n.to_string()).collect(),
        None => vec![name.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use trainscope_format::graph;

    use super::*;

    #[test]
    fn a_printed_model_says_what_its_layers_are() {
        let text = "Experts(\n  (input): Identity()\n  (experts): ModuleList(\n    (0-1): 2 x Linear(in_features=6)\n  )\n  (tanh): Tanh()\n)";
        let modules = modules_of(text);
        let seen: Vec<_> = modules.iter().map(|m| (&*m.name, &*m.op)).collect();
        assert_eq!(
            seen,
            [
                ("input", "Identity"),
                ("experts", "ModuleList"),
                ("experts.0", "Linear"),
                ("experts.1", "Linear"),
                ("tanh", "Tanh"),
            ]
        );
        assert!(modules_of("all is well (really): no model").is_empty());
    }

    #[test]
    fn layers_that_hand_on_the_input_are_known_by_their_place() {
        let first = |text, order: &[&str]| {
            let mut known = Knowledge::default();
            known.learn(0, Context::Text { tag: "model", text });
            known.learn(0, Context::ExecutionOrder(order));
            known
                .first_layers
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        let numbered = "Sequential(\n  (0): Flatten()\n  (1): Dropout(p=0.1)\n  (2): Linear()\n  (3): Identity()\n)";
        assert_eq!(first(numbered, &["0", "1", "2", "3"]), ["0", "1"]);
        assert_eq!(first(numbered, &[]), ["0", "1"]);
        let nested = "Net(\n  (body): Sequential(\n    (0): Identity()\n    (1): ReLU()\n  )\n)";
        assert_eq!(first(nested, &[]), ["body.0"]);
        assert!(first(nested, &["body.1", "body.0"]).is_empty());
        assert!(first("no model", &["0", "1"]).is_empty());
    }

    #[test]
    fn what_feeds_comes_before_what_is_fed_and_a_cycle_ends() {
        let node = |name: &str, inputs: &[u32]| graph::Node {
            name: name.into(),
            inputs: inputs
                .iter()
                .map(|n| graph::Edge {
                    node: Some(*n),
                    ..Default::default()
                })
                .collect(),
            ..Default::default()
        };
        let graph = Graph {
            nodes: vec![node("c", &[1]), node("b", &[2, 0]), node("a", &[9])],
            ..Default::default()
        };
        let nodes = nodes_of(&graph);
        let names: Vec<_> = nodes.iter().map(|n| &*n.name).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(nodes[2].inputs, [1]);
    }

    #[test]
    fn layers_stand_in_the_order_in_which_they_ran() {
        let mut known = Knowledge::default();
        known.learn(
            0,
            Context::Text {
                tag: "model",
                text: "M(\n  (b): ReLU()\n  (a): Linear()\n)",
            },
        );
        assert_eq!(known.places().of("b"), Some(0));
        known.learn(0, Context::ExecutionOrder(&["a", "b"]));
        let places = known.places();
        assert_eq!(places.of("a"), Some(0));
        assert_eq!(places.of("scope/b"), Some(1));
        assert_eq!(places.of("c"), None);
    }

    #[test]
    fn layers_of_a_graph_have_the_names_of_modules() {
        let node = |name: &str| graph::Node {
            name: name.to_owned(),
            ..Default::default()
        };
        let graph = Graph {
            nodes: vec![node("encoder/0/dense"), node("encoder/1/dense")],
            ..Default::default()
        };
        let known = Knowledge {
            nodes: nodes_of(&graph),
            ..Default::default()
        };
        let places = known.places();
        assert_eq!(places.of("encoder.1.dense"), Some(1));
        assert_eq!(places.of("encoder/0/dense"), Some(0));
        assert_eq!(places.of("encoder.2.dense"), None);
    }
}
