//! Builder of computation graphs, node by node.

use std::collections::HashMap;

use trainscope_format::graph::{Dimension, Edge, Graph, GraphOutput, Node, NodeKind, TensorType};
use trainscope_format::tensor::DType;

/// Builds a graph. Inputs are referenced by name; a name without a node is preserved and displayed as missing. If
/// several nodes have the same name, the last one counts.
///
/// ```
/// use trainscope_collector::{DType, GraphBuilder};
///
/// let graph = GraphBuilder::new("mlp")
///     .input("images", DType::F32, &[32, 784])
///     .parameter("fc1/weight", DType::F32, &[784, 10])
///     .operation("fc1/matmul", "MatMul", &["images", "fc1/weight"])
///     .attribute("transpose", "false")
///     .output("logits", "fc1/matmul")
///     .build();
/// assert_eq!(graph.nodes[2].inputs[1].node, Some(1));
/// ```
#[derive(Clone, Debug)]
pub struct GraphBuilder {
    graph: Graph,
    /// Names of the inputs of each node.
    inputs: Vec<Vec<String>>,
    outputs: Vec<(String, String)>,
}

impl GraphBuilder {
    /// Creates an empty graph.
    pub fn new(name: &str) -> Self {
        let graph = Graph {
            name: name.to_owned(),
            producer: concat!("trainscope ", env!("CARGO_PKG_VERSION")).to_owned(),
            ..Graph::default()
        };
        Self {
            graph,
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Adds input data.
    #[must_use]
    pub fn input(self, name: &str, dtype: DType, shape: &[u64]) -> Self {
        self.node(name, NodeKind::Input, "Input", &[])
            .typed(dtype, shape)
    }

    /// Adds a trainable parameter.
    #[must_use]
    pub fn parameter(self, name: &str, dtype: DType, shape: &[u64]) -> Self {
        self.node(name, NodeKind::Parameter, "Parameter", &[])
            .typed(dtype, shape)
    }

    /// Adds an operation on the nodes of these names.
    #[must_use]
    pub fn operation(self, name: &str, op_type: &str, inputs: &[&str]) -> Self {
        self.node(name, NodeKind::Operation, op_type, inputs)
    }

    fn node(mut self, name: &str, kind: NodeKind, op_type: &str, inputs: &[&str]) -> Self {
        self.graph.nodes.push(Node {
            name: name.to_owned(),
            kind,
            op_type: op_type.to_owned(),
            ..Node::default()
        });
        self.inputs
            .push(inputs.iter().map(|&input| input.to_owned()).collect());
        self
    }

    /// Sets the output type of the last node.
    #[must_use]
    pub fn typed(mut self, dtype: DType, shape: &[u64]) -> Self {
        if let Some(node) = self.graph.nodes.last_mut() {
            node.outputs.push(TensorType {
                dtype: dtype.as_str().to_owned(),
                shape: Some(shape.iter().map(|&size| Dimension::Size(size)).collect()),
            });
        }
        self
    }

    /// Adds an attribute to the last node, as short text.
    #[must_use]
    pub fn attribute(mut self, name: &str, value: &str) -> Self {
        if let Some(node) = self.graph.nodes.last_mut() {
            node.attributes.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Sets the source location of the last node.
    #[must_use]
    pub fn source(mut self, source: &str) -> Self {
        if let Some(node) = self.graph.nodes.last_mut() {
            source.clone_into(&mut node.source);
        }
        self
    }

    /// Adds an output of the graph: its name, and the node that computes it.
    #[must_use]
    pub fn output(mut self, name: &str, from: &str) -> Self {
        self.outputs.push((name.to_owned(), from.to_owned()));
        self
    }

    /// Resolves the names.
    pub fn build(mut self) -> Graph {
        let names: HashMap<&str, usize> = self
            .graph
            .nodes
            .iter()
            .enumerate()
            .map(|(index, node)| (node.name.as_str(), index))
            .collect();
        let edge = |name: &str| match names.get(name).copied().map(u32::try_from) {
            Some(Ok(node)) => Edge {
                node: Some(node),
                ..Edge::default()
            },
            _ => Edge {
                missing: name.to_owned(),
                ..Edge::default()
            },
        };
        let inputs: Vec<Vec<Edge>> = self
            .inputs
            .iter()
            .map(|inputs| inputs.iter().map(|name| edge(name)).collect())
            .collect();
        let outputs = self.outputs.iter().map(|(name, from)| GraphOutput {
            name: name.clone(),
            from: edge(from),
        });
        self.graph.outputs = outputs.collect();
        for (node, inputs) in self.graph.nodes.iter_mut().zip(inputs) {
            node.inputs = inputs;
        }
        self.graph
    }
}
