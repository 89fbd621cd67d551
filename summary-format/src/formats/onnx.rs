//! `ModelProto` of ONNX. Weights are never read: a parameter is its name, type and shape, even if its values are in
//! another file.

use super::graph_builder::{GraphBuilder, ShortList, short_bytes};
use super::graph_tf::shape_text;
use crate::graph::{Dimension, Graph, GraphNoteKind, Node, NodeKind, NotAGraph, TensorType};
use crate::wire::{Fields, Value, WireError, bytes_of, floats, text, varints};

/// Maximum depth of graphs within nodes (branches, loops).
const MAX_DEPTH: usize = 16;

/// Producer 2 and its version 3, graph 7, functions 25.
pub(crate) fn model(message: &[u8]) -> Result<Graph, NotAGraph> {
    let mut builder = GraphBuilder::default();
    let [mut producer, mut version] = [const { String::new() }; 2];
    for field in Fields::of(message) {
        match field? {
            (2, Value::Bytes(bytes)) => producer = text(bytes),
            (3, Value::Bytes(bytes)) => version = text(bytes),
            (7, Value::Bytes(graph)) => {
                builder.graph.name = text(bytes_of(graph, 2)?.unwrap_or_default());
                add_graph(&mut builder, graph, "", 0)?;
            }
            (25, Value::Bytes(function)) => add_function(&mut builder, function)?,
            _ => {}
        }
    }
    format!("{producer} {version}")
        .trim()
        .clone_into(&mut builder.graph.producer);
    Ok(builder.finish())
}

/// A `GraphProto`: nodes 1, initializers 5, inputs 11, outputs 12, types of values 13, sparse initializers 15.
///
/// Names of values are unique within a model, including graphs within nodes, so one table of them is enough; only
/// functions have a separate namespace.
fn add_graph(
    builder: &mut GraphBuilder<'_>,
    message: &[u8],
    scope: &str,
    depth: usize,
) -> Result<(), WireError> {
    // Older writers list parameters among the inputs too: initializers come first and win.
    for field in Fields::of(message) {
        match field? {
            (5, Value::Bytes(tensor)) => add_initializer(builder, tensor, scope)?,
            (15, Value::Bytes(sparse)) => {
                add_initializer(builder, bytes_of(sparse, 1)?.unwrap_or_default(), scope)?;
            }
            _ => {}
        }
    }
    for field in Fields::of(message) {
        if let (11, Value::Bytes(value)) = field? {
            let name = text(bytes_of(value, 1)?.unwrap_or_default());
            if !builder.knows(&name) {
                let output = type_of(bytes_of(value, 2)?.unwrap_or_default())?;
                add_source(builder, scope, name, NodeKind::Input, "Input", Some(output));
            }
        }
    }
    let mut types = std::collections::HashMap::new();
    for field in Fields::of(message) {
        if let (12 | 13, Value::Bytes(value)) = field? {
            let name = bytes_of(value, 1)?.unwrap_or_default();
            types.insert(name, type_of(bytes_of(value, 2)?.unwrap_or_default())?);
        }
    }
    let type_of_value = |name: &[u8]| types.get(name).cloned().unwrap_or_default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(node)) => add_node(builder, node, scope, "", &type_of_value, depth)?,
            (12, Value::Bytes(value)) if depth == 0 => {
                let name = text(bytes_of(value, 1)?.unwrap_or_default());
                builder.output(name.clone(), name);
            }
            _ => {}
        }
    }
    Ok(())
}

/// A `FunctionProto`: name 1, inputs 4, nodes 7.
fn add_function(builder: &mut GraphBuilder<'_>, message: &[u8]) -> Result<(), WireError> {
    let scope = format!("{}/", text(bytes_of(message, 1)?.unwrap_or_default()));
    for field in Fields::of(message) {
        if let (4, Value::Bytes(name)) = field? {
            let name = format!("{scope}{}", text(name));
            add_source(builder, "", name, NodeKind::Input, "Input", None);
        }
    }
    for field in Fields::of(message) {
        if let (7, Value::Bytes(node)) = field? {
            add_node(builder, node, &scope, &scope, &|_| TensorType::default(), 1)?;
        }
    }
    Ok(())
}

/// A node without inputs, named after its value.
fn add_source(
    builder: &mut GraphBuilder<'_>,
    scope: &str,
    value: String,
    kind: NodeKind,
    op_type: &str,
    output: Option<TensorType>,
) -> Option<u32> {
    let index = builder.node(Node {
        name: format!("{scope}{}", value.trim_start_matches('/')),
        kind,
        op_type: op_type.to_owned(),
        outputs: output.into_iter().collect(),
        ..Node::default()
    })?;
    builder.define(value, index, 0);
    Some(index)
}

/// A `TensorProto` that is a parameter.
fn add_initializer(
    builder: &mut GraphBuilder<'_>,
    message: &[u8],
    scope: &str,
) -> Result<(), WireError> {
    let tensor = TensorHead::of(message)?;
    let index = add_source(
        builder,
        scope,
        tensor.name,
        NodeKind::Parameter,
        "Parameter",
        Some(tensor.tensor_type),
    );
    if let Some(node) = index.and_then(|index| builder.graph.nodes.get_mut(index as usize)) {
        node.attributes = tensor.external;
    }
    Ok(())
}

/// Head of a `TensorProto` without its content: sizes 1, type 2, name 8, location of external content 13 (name 1,
/// value 2).
struct TensorHead {
    name: String,
    tensor_type: TensorType,
    external: Vec<(String, String)>,
}

impl TensorHead {
    fn of(message: &[u8]) -> Result<Self, WireError> {
        let mut sizes = Vec::new();
        let mut head = Self {
            name: String::new(),
            tensor_type: TensorType::default(),
            external: Vec::new(),
        };
        for field in Fields::of(message) {
            match field? {
                (1, value) => varints(value, |size| sizes.push(Dimension::of(size)))?,
                (2, Value::Varint(number)) => head.tensor_type.dtype = dtype_name(number),
                (8, Value::Bytes(name)) => head.name = text(name),
                (13, Value::Bytes(entry)) => head.external.push((
                    format!(
                        "external {}",
                        short_bytes(bytes_of(entry, 1)?.unwrap_or_default())
                    ),
                    short_bytes(bytes_of(entry, 2)?.unwrap_or_default()),
                )),
                _ => {}
            }
        }
        head.tensor_type.shape = Some(sizes);
        Ok(head)
    }
}

/// A `NodeProto`: inputs 1, outputs 2, name 3, operation 4, attributes 5, documentation 6, domain 7, metadata 9. An
/// input without a name is an omitted one.
fn add_node(
    builder: &mut GraphBuilder<'_>,
    message: &[u8],
    scope: &str,
    values: &str,
    type_of_value: &dyn Fn(&[u8]) -> TensorType,
    depth: usize,
) -> Result<(), WireError> {
    let mut node = Node::default();
    let mut inputs = Vec::new();
    let mut outputs: Vec<&[u8]> = Vec::new();
    let mut attributes = Vec::new();
    let mut name = String::new();
    let mut module = String::new();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(value)) => inputs.push(text(value)),
            (2, Value::Bytes(value)) => outputs.push(value),
            (3, Value::Bytes(bytes)) => name = text(bytes),
            (4, Value::Bytes(bytes)) => node.op_type = text(bytes),
            (5, Value::Bytes(attribute)) => attributes.push(attribute),
            (6, Value::Bytes(bytes)) if node.source.is_empty() => node.source = text(bytes),
            (7, Value::Bytes(bytes)) if !bytes.is_empty() => {
                node.attributes
                    .push(("domain".to_owned(), short_bytes(bytes)));
            }
            (9, Value::Bytes(entry)) => {
                let value = bytes_of(entry, 2)?.unwrap_or_default();
                match bytes_of(entry, 1)?.unwrap_or_default() {
                    b"pkg.torch.onnx.stack_trace" => node.source = text(value),
                    b"pkg.torch.onnx.name_scopes" => module = module_of(&text(value)),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    if name.is_empty() {
        name = outputs
            .first()
            .map_or_else(|| node.op_type.clone(), |value| text(value));
    }
    let name = name.trim_start_matches('/');
    node.name = format!("{scope}{module}{name}");
    node.kind = if node.op_type == "Constant" {
        NodeKind::Constant
    } else {
        NodeKind::Operation
    };
    node.outputs = outputs.iter().map(|value| type_of_value(value)).collect();
    let mut graphs = Vec::new();
    for attribute in attributes {
        add_attribute(attribute, &mut node.attributes, &mut graphs)?;
    }
    let inner_scope = format!("{}/", node.name);
    let Some(index) = builder.node(node) else {
        return Ok(());
    };
    for (slot, value) in (0..).zip(outputs) {
        if !value.is_empty() {
            builder.define(format!("{values}{}", text(value)), index, slot);
        }
    }
    for input in inputs {
        if !input.is_empty() {
            builder.input(index, format!("{values}{input}"), 0, false);
        }
    }
    for graph in graphs {
        if depth < MAX_DEPTH {
            add_graph(builder, graph, &inner_scope, depth + 1)?;
        } else {
            builder.note(GraphNoteKind::TooDeep, inner_scope.clone());
        }
    }
    Ok(())
}

/// The module of the program that a node belongs to, from its scopes: in `['', 'enc.layers.0', 'linear']`, outermost
/// first, the last but one.
fn module_of(scopes: &str) -> String {
    let mut scopes: Vec<_> = scopes.trim_matches(['[', ']']).split(", ").collect();
    scopes.pop();
    match scopes.pop().map(|scope| scope.trim_matches('\'')) {
        None | Some("") => String::new(),
        Some(module) => format!("{}/", module.replace('.', "/")),
    }
}

/// An `AttributeProto`: name 1, number 2, integer 3, text 4, tensor 5, graph 6, lists of them 7 to 11, reference 21.
fn add_attribute<'a>(
    message: &'a [u8],
    out: &mut Vec<(String, String)>,
    graphs: &mut Vec<&'a [u8]>,
) -> Result<(), WireError> {
    let mut name = String::new();
    let mut single = None;
    let mut list = ShortList::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(bytes)) => name = text(bytes),
            (2, Value::Fixed32(bits)) => single = Some(f32::from_bits(bits).to_string()),
            (3, Value::Varint(bits)) => single = Some(bits.cast_signed().to_string()),
            (4, Value::Bytes(bytes)) => single = Some(short_bytes(bytes)),
            (5, Value::Bytes(tensor)) => {
                let TensorType { dtype, shape } = TensorHead::of(tensor)?.tensor_type;
                let shape = shape_text(&shape.unwrap_or_default());
                single = Some(format!("tensor of {dtype} {shape}, {} bytes", tensor.len()));
            }
            (6 | 11, Value::Bytes(graph)) => {
                graphs.push(graph);
                single = Some(format!("graph, {} bytes", graph.len()));
            }
            (7, value) => floats(value, |number| list.push(&number.to_string()))?,
            (8, value) => varints(value, |bits| list.push(&bits.cast_signed().to_string()))?,
            (9, Value::Bytes(bytes)) => list.push(&short_bytes(bytes)),
            (10, Value::Bytes(tensor)) => list.push(&format!("tensor, {} bytes", tensor.len())),
            (21, Value::Bytes(bytes)) => single = Some(format!("@{}", short_bytes(bytes))),
            _ => {}
        }
    }
    out.push((name, single.unwrap_or_else(|| list.finish())));
    Ok(())
}

/// A `TypeProto`: tensor 1 (element type 1, shape 2 with dimensions 1: size 1 or name 2); other types are skipped.
fn type_of(message: &[u8]) -> Result<TensorType, WireError> {
    let mut found = TensorType::default();
    let Some(tensor) = bytes_of(message, 1)? else {
        return Ok(found);
    };
    for field in Fields::of(tensor) {
        match field? {
            (1, Value::Varint(number)) => found.dtype = dtype_name(number),
            (2, Value::Bytes(shape)) => {
                let mut sizes = Vec::new();
                for field in Fields::of(shape) {
                    if let (1, Value::Bytes(dimension)) = field? {
                        sizes.push(dimension_of(dimension)?);
                    }
                }
                found.shape = Some(sizes);
            }
            _ => {}
        }
    }
    Ok(found)
}

fn dimension_of(message: &[u8]) -> Result<Dimension, WireError> {
    let mut found = Dimension::Symbol("?".to_owned());
    for field in Fields::of(message) {
        match field? {
            (1, Value::Varint(size)) => found = Dimension::of(size),
            (2, Value::Bytes(name)) => found = Dimension::Symbol(short_bytes(name)),
            _ => {}
        }
    }
    Ok(found)
}

/// The name of a `TensorProto.DataType`.
fn dtype_name(number: u64) -> String {
    let name = match number {
        0 => "",
        1 => "f32",
        2 => "u8",
        3 => "i8",
        4 => "u16",
        5 => "i16",
        6 => "i32",
        7 => "i64",
        8 => "string",
        9 => "bool",
        10 => "f16",
        11 => "f64",
        12 => "u32",
        13 => "u64",
        14 => "complex64",
        15 => "complex128",
        16 => "bf16",
        17 => "f8_e4m3",
        18 => "f8_e4m3_fnuz",
        19 => "f8_e5m2",
        20 => "f8_e5m2_fnuz",
        21 => "u4",
        22 => "i4",
        23 => "f4_e2m1",
        _ => return format!("type {number}"),
    };
    name.to_owned()
}
