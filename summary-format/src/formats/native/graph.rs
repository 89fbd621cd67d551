//! A graph of any framework, in the model of this crate.

use crate::graph::{Dimension, Edge, Graph, GraphOutput, Node, NodeKind, NotAGraph, TensorType};
use crate::message::Message;
use crate::wire::{Fields, Value, WireError, text};

use super::super::graph_builder::{MAX_EDGES, MAX_NODES, note_what_is_odd};

/// Name 1, producer 2, nodes 3, outputs 4 (name 1, edge 2).
pub(crate) fn write(graph: &Graph) -> Message {
    let mut message = Message::default();
    message.text(1, &graph.name);
    message.text(2, &graph.producer);
    for node in &graph.nodes {
        message.message(3, &write_node(node));
    }
    for output in &graph.outputs {
        let mut part = Message::default();
        part.text(1, &output.name);
        part.message(2, &write_edge(&output.from));
        message.message(4, &part);
    }
    message
}

/// Name 1, kind 2 (0 operation, 1 input, 2 parameter, 3 constant), operation 3, inputs 4, attributes 5 (name 1, value
/// 2), types of outputs 6, device 7, source 8.
fn write_node(node: &Node) -> Message {
    let mut message = Message::default();
    message.text(1, &node.name);
    message.count(2, node.kind as u64);
    message.text(3, &node.op_type);
    for edge in &node.inputs {
        message.message(4, &write_edge(edge));
    }
    for (name, value) in &node.attributes {
        let mut attribute = Message::default();
        attribute.text(1, name);
        attribute.text(2, value);
        message.message(5, &attribute);
    }
    for output in &node.outputs {
        message.message(6, &write_type(output));
    }
    message.text(7, &node.device);
    message.text(8, &node.source);
    message
}

/// Node 1, counted from 1, slot 2, control input 3, unresolved name 4.
fn write_edge(edge: &Edge) -> Message {
    let mut message = Message::default();
    message.count(1, edge.node.map_or(0, |node| u64::from(node) + 1));
    message.count(2, edge.slot.into());
    message.count(3, edge.is_control.into());
    message.text(4, &edge.missing);
    message
}

/// Element type 1, shape 2: its dimensions 1, each a size 1 or a symbol 2.
fn write_type(tensor: &TensorType) -> Message {
    let mut message = Message::default();
    message.text(1, &tensor.dtype);
    if let Some(sizes) = &tensor.shape {
        let mut shape = Message::default();
        for size in sizes {
            let mut dimension = Message::default();
            match size {
                Dimension::Size(size) => dimension.varint(1, *size),
                Dimension::Symbol(symbol) => dimension.bytes(2, symbol.as_bytes()),
            }
            shape.message(1, &dimension);
        }
        message.message(2, &shape);
    }
    message
}

/// Oddities of the graph are derived again.
pub(crate) fn read(message: &[u8]) -> Result<Graph, NotAGraph> {
    let mut graph = Graph::default();
    let mut left_out = 0;
    // Decoded nodes take more memory than encoded ones: each part counts as an edge.
    let mut parts = 0;
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(name)) => graph.name = text(name),
            (2, Value::Bytes(producer)) => graph.producer = text(producer),
            (3, Value::Bytes(_)) if graph.nodes.len() >= MAX_NODES || parts >= MAX_EDGES => {
                left_out += 1;
            }
            (4, Value::Bytes(_)) if graph.outputs.len() >= MAX_NODES => left_out += 1,
            (3, Value::Bytes(node)) => {
                parts += Fields::of(node).count();
                graph.nodes.push(read_node(node)?);
            }
            (4, Value::Bytes(output)) => graph.outputs.push(read_output(output)?),
            _ => {}
        }
    }
    let len = graph.nodes.len();
    let edges = graph.nodes.iter_mut().flat_map(|node| &mut node.inputs);
    for edge in edges.chain(graph.outputs.iter_mut().map(|output| &mut output.from)) {
        edge.node = edge.node.filter(|&node| (node as usize) < len);
    }
    note_what_is_odd(&mut graph, left_out);
    Ok(graph)
}

fn read_node(message: &[u8]) -> Result<Node, WireError> {
    let mut node = Node::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(name)) => node.name = text(name),
            (2, Value::Varint(kind)) => {
                node.kind = match kind {
                    1 => NodeKind::Input,
                    2 => NodeKind::Parameter,
                    3 => NodeKind::Constant,
                    _ => NodeKind::Operation,
                };
            }
            (3, Value::Bytes(op_type)) => node.op_type = text(op_type),
            (4, Value::Bytes(edge)) => node.inputs.push(read_edge(edge)?),
            (5, Value::Bytes(attribute)) => node.attributes.push(read_attribute(attribute)?),
            (6, Value::Bytes(output)) => node.outputs.push(read_type(output)?),
            (7, Value::Bytes(device)) => node.device = text(device),
            (8, Value::Bytes(source)) => node.source = text(source),
            _ => {}
        }
    }
    Ok(node)
}

fn read_attribute(message: &[u8]) -> Result<(String, String), WireError> {
    let mut attribute = (String::new(), String::new());
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(name)) => attribute.0 = text(name),
            (2, Value::Bytes(value)) => attribute.1 = text(value),
            _ => {}
        }
    }
    Ok(attribute)
}

fn read_edge(message: &[u8]) -> Result<Edge, WireError> {
    let mut edge = Edge::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Varint(node)) => {
                edge.node = node
                    .checked_sub(1)
                    .and_then(|node| u32::try_from(node).ok());
            }
            (2, Value::Varint(slot)) => edge.slot = u32::try_from(slot).unwrap_or(u32::MAX),
            (3, Value::Varint(is_control)) => edge.is_control = is_control != 0,
            (4, Value::Bytes(missing)) => edge.missing = text(missing),
            _ => {}
        }
    }
    Ok(edge)
}

fn read_output(message: &[u8]) -> Result<GraphOutput, WireError> {
    let mut output = GraphOutput::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(name)) => output.name = text(name),
            (2, Value::Bytes(edge)) => output.from = read_edge(edge)?,
            _ => {}
        }
    }
    Ok(output)
}

fn read_type(message: &[u8]) -> Result<TensorType, WireError> {
    let mut tensor = TensorType::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(dtype)) => tensor.dtype = text(dtype),
            (2, Value::Bytes(shape)) => {
                let sizes = tensor.shape.get_or_insert_default();
                for field in Fields::of(shape) {
                    if let (1, Value::Bytes(dimension)) = field? {
                        sizes.push(read_dimension(dimension)?);
                    }
                }
            }
            _ => {}
        }
    }
    Ok(tensor)
}

fn read_dimension(message: &[u8]) -> Result<Dimension, WireError> {
    let mut dimension = Dimension::Symbol("?".to_owned());
    for field in Fields::of(message) {
        match field? {
            (1, Value::Varint(size)) => dimension = Dimension::Size(size),
            (2, Value::Bytes(symbol)) => dimension = Dimension::Symbol(text(symbol)),
            _ => {}
        }
    }
    Ok(dimension)
}
