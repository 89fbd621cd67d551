//! `GraphDef` of `TensorFlow`, which torch's `add_graph` writes too, and the messages that contain it.

use std::borrow::Cow;

use super::graph_builder::{GraphBuilder, ShortList, short_bytes};
use crate::graph::{Dimension, Graph, Node, NodeKind, NotAGraph, TensorType};
use crate::wire::{Fields, Value, WireError, bytes_of, text};

/// A `MetaGraphDef`: its graph is field 2.
pub(crate) fn meta_graph_def(message: &[u8]) -> Result<Graph, NotAGraph> {
    graph_def(bytes_of(message, 2)?.unwrap_or_default())
}

/// A `RunMetadata`: graphs of the functions that ran 4 (in each, before optimization 2, partitions 1), or partitions 3.
pub(crate) fn run_metadata(message: &[u8]) -> Result<Graph, NotAGraph> {
    let mut functions = Vec::new();
    let mut partitions = Vec::new();
    for field in Fields::of(message) {
        match field? {
            (3, Value::Bytes(graph)) => partitions.push(graph),
            (4, Value::Bytes(function)) => {
                functions.extend(bytes_of(function, 2)?.or(bytes_of(function, 1)?));
            }
            _ => {}
        }
    }
    let graphs = if functions.is_empty() {
        partitions
    } else {
        functions
    };
    let mut builder = GraphBuilder::default();
    for (index, graph) in graphs.iter().enumerate() {
        // Programs trace small functions as well as the main one.
        let scope = if graphs.len() > 1 {
            format!("function_{index}/")
        } else {
            String::new()
        };
        add_graph(&mut builder, graph, &scope)?;
    }
    Ok(builder.finish())
}

/// A `GraphDef`.
pub(crate) fn graph_def(message: &[u8]) -> Result<Graph, NotAGraph> {
    let mut builder = GraphBuilder::default();
    add_graph(&mut builder, message, "")?;
    Ok(builder.finish())
}

/// Nodes 1, functions 2 (list 1), versions 4 (producer 1).
fn add_graph<'a>(
    builder: &mut GraphBuilder<'a>,
    message: &'a [u8],
    scope: &str,
) -> Result<(), WireError> {
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(node)) => add_node(builder, node, scope)?,
            (2, Value::Bytes(library)) => {
                for field in Fields::of(library) {
                    if let (1, Value::Bytes(function)) = field? {
                        add_function(builder, function, scope)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// A `FunctionDef`: signature 1 (name 1, arguments 2 with name 1 and type 3), nodes 3, results 4 (name 1, value 2).
fn add_function<'a>(
    builder: &mut GraphBuilder<'a>,
    message: &'a [u8],
    scope: &str,
) -> Result<(), WireError> {
    let signature = bytes_of(message, 1)?.unwrap_or_default();
    let scope = format!(
        "{scope}{}/",
        text(bytes_of(signature, 1)?.unwrap_or_default())
    );
    for field in Fields::of(signature) {
        let (2, Value::Bytes(argument)) = field? else {
            continue;
        };
        let mut output = TensorType::default();
        let mut name = scope.clone();
        for field in Fields::of(argument) {
            match field? {
                (1, Value::Bytes(bytes)) => name.push_str(&text(bytes)),
                (3, Value::Varint(number)) => output.dtype = dtype_name(number),
                _ => {}
            }
        }
        let node = Node {
            name: name.clone(),
            kind: NodeKind::Input,
            op_type: "Argument".to_owned(),
            outputs: vec![output],
            ..Node::default()
        };
        if let Some(index) = builder.node(node) {
            builder.define(name, index, 0);
        }
    }
    for field in Fields::of(message) {
        match field? {
            (3, Value::Bytes(node)) => add_node(builder, node, &scope)?,
            (4, Value::Bytes(entry)) => {
                let result = text(bytes_of(entry, 1)?.unwrap_or_default());
                let value = text(bytes_of(entry, 2)?.unwrap_or_default());
                let (from, _) = split_slot(&value);
                builder.output(format!("{scope}{result}"), format!("{scope}{from}"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// A `NodeDef`: name 1, operation 2, inputs 3, device 4, attributes 5 (name 1, value 2).
fn add_node<'a>(
    builder: &mut GraphBuilder<'a>,
    message: &'a [u8],
    scope: &str,
) -> Result<(), WireError> {
    let mut node = Node::default();
    let mut name = Cow::Borrowed("");
    let mut has_inputs = false;
    let mut dtype = None;
    let mut shapes = Vec::new();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(bytes)) => name = in_scope(scope, bytes, |name| name),
            (2, Value::Bytes(bytes)) => node.op_type = text(bytes),
            (3, Value::Bytes(_)) => has_inputs = true,
            (4, Value::Bytes(bytes)) => node.device = text(bytes),
            (5, Value::Bytes(entry)) => {
                let name = text(bytes_of(entry, 1)?.unwrap_or_default());
                let value = bytes_of(entry, 2)?.unwrap_or_default();
                match &*name {
                    "_output_shapes" => shapes = output_shapes(value)?,
                    "dtype" => dtype = type_of(value)?,
                    "T" if dtype.is_none() => dtype = type_of(value)?,
                    _ => {}
                }
                // torch writes all further information into one attribute of this name, usually none.
                let value = short_value(value)?;
                if !matches!(
                    (&*name, &*value),
                    ("attr", "" | "{}") | ("_output_shapes", _)
                ) {
                    node.attributes.push((name, value));
                }
            }
            _ => {}
        }
    }
    node.kind = kind_of(&node.op_type, !has_inputs);
    let dtype = dtype.map(dtype_name).unwrap_or_default();
    node.outputs = shapes;
    if node.outputs.is_empty() && !dtype.is_empty() {
        node.outputs.push(TensorType::default());
    }
    for output in &mut node.outputs {
        output.dtype.clone_from(&dtype);
    }
    (*name).clone_into(&mut node.name);
    let Some(index) = builder.node(node) else {
        return Ok(());
    };
    builder.define(name, index, 0);
    for field in Fields::of(message) {
        if let (3, Value::Bytes(bytes)) = field? {
            let (_, slot) = split_slot(&String::from_utf8_lossy(bytes));
            let is_control = bytes.starts_with(b"^");
            let from = in_scope(scope, bytes, |input| split_slot(input).0);
            builder.input(index, from, slot, is_control);
        }
    }
    Ok(())
}

/// A part of a name with its scope prefixed.
fn in_scope<'a>(scope: &str, bytes: &'a [u8], part: fn(&str) -> &str) -> Cow<'a, str> {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(name) if scope.is_empty() => Cow::Borrowed(part(name)),
        name => Cow::Owned(format!("{scope}{}", part(&name))),
    }
}

/// Splits `node`, `node:slot`, or in functions `node:output:slot`, each with an optional `^` for control inputs.
fn split_slot(input: &str) -> (&str, u32) {
    let input = input.strip_prefix('^').unwrap_or(input);
    match input.rsplit_once(':') {
        Some((from, slot)) => match slot.parse() {
            // The name of an output is not part of the node name.
            Ok(slot) => (from.split_once(':').map_or(from, |(node, _)| node), slot),
            Err(_) => (input, 0),
        },
        None => (input, 0),
    }
}

fn kind_of(op_type: &str, has_no_inputs: bool) -> NodeKind {
    match op_type {
        "Placeholder" | "PlaceholderWithDefault" | "_Arg" => NodeKind::Input,
        // torch uses the same type for inputs and outputs.
        "IO Node" if has_no_inputs => NodeKind::Input,
        "Const" | "prim::Constant" => NodeKind::Constant,
        "Variable" | "VariableV2" | "VarHandleOp" | "Parameter" => NodeKind::Parameter,
        _ => NodeKind::Operation,
    }
}

/// The type 6 of an `AttrValue`.
fn type_of(value: &[u8]) -> Result<Option<u64>, WireError> {
    let mut found = None;
    for field in Fields::of(value) {
        if let (6, Value::Varint(number)) = field? {
            found = Some(number);
        }
    }
    Ok(found)
}

/// The shapes 7 in the list 1 of an `AttrValue`.
fn output_shapes(value: &[u8]) -> Result<Vec<TensorType>, WireError> {
    let mut shapes = Vec::new();
    for field in Fields::of(bytes_of(value, 1)?.unwrap_or_default()) {
        if let (7, Value::Bytes(message)) = field? {
            shapes.push(TensorType {
                dtype: String::new(),
                shape: shape(message)?,
            });
        }
    }
    Ok(shapes)
}

/// A `TensorShapeProto`: dimensions 2 (size 1), unknown rank 3.
fn shape(message: &[u8]) -> Result<Option<Vec<Dimension>>, WireError> {
    let mut sizes = Vec::new();
    for field in Fields::of(message) {
        match field? {
            (2, Value::Bytes(dimension)) => {
                let mut size = 0;
                for field in Fields::of(dimension) {
                    if let (1, Value::Varint(number)) = field? {
                        size = number;
                    }
                }
                sizes.push(Dimension::of(size));
            }
            (3, Value::Varint(1)) => return Ok(None),
            _ => {}
        }
    }
    Ok(Some(sizes))
}

/// An `AttrValue` as text: list 1, text 2, integer 3, number 4, boolean 5, type 6, shape 7, tensor 8, placeholder 9,
/// function 10 (name 1).
fn short_value(value: &[u8]) -> Result<String, WireError> {
    let Some(field) = Fields::of(value).next().transpose()? else {
        return Ok(String::new());
    };
    let (1, Value::Bytes(list)) = field else {
        return Ok(short_field(field)?.unwrap_or_default());
    };
    let mut values = ShortList::default();
    for field in Fields::of(list) {
        match field? {
            // Packed: integers 3, booleans 5, types 6; and numbers 4.
            (number @ (3 | 5 | 6), Value::Bytes(packed)) => {
                let mut packed = Fields::of(packed);
                while !packed.rest().is_empty() {
                    let bits = packed.varint().ok_or(WireError)?;
                    if let Some(value) = short_field((number, Value::Varint(bits)))? {
                        values.push(&value);
                    }
                }
            }
            (4, Value::Bytes(packed)) => {
                for bytes in packed.as_chunks().0 {
                    values.push(&f32::from_le_bytes(*bytes).to_string());
                }
            }
            field => {
                if let Some(value) = short_field(field)? {
                    values.push(&value);
                }
            }
        }
    }
    Ok(values.finish())
}

fn short_field(field: (u32, Value<'_>)) -> Result<Option<String>, WireError> {
    Ok(Some(match field {
        (2 | 9, Value::Bytes(bytes)) => short_bytes(bytes),
        (3, Value::Varint(bits)) => bits.cast_signed().to_string(),
        (4, Value::Fixed32(bits)) => f32::from_bits(bits).to_string(),
        (5, Value::Varint(bits)) => (bits != 0).to_string(),
        (6, Value::Varint(number)) => dtype_name(number),
        (7, Value::Bytes(message)) => match shape(message)? {
            Some(sizes) => shape_text(&sizes),
            None => "?".to_owned(),
        },
        (8, Value::Bytes(tensor)) => {
            let mut dtype = String::new();
            let mut sizes = Vec::new();
            for field in Fields::of(tensor) {
                match field? {
                    (1, Value::Varint(number)) => dtype = dtype_name(number),
                    (2, Value::Bytes(message)) => sizes = shape(message)?.unwrap_or_default(),
                    _ => {}
                }
            }
            format!(
                "tensor of {dtype} {}, {} bytes",
                shape_text(&sizes),
                tensor.len()
            )
        }
        (10, Value::Bytes(function)) => short_bytes(bytes_of(function, 1)?.unwrap_or_default()),
        _ => return Ok(None),
    }))
}

/// A shape as `[2, 3, batch]`.
pub(super) fn shape_text(sizes: &[Dimension]) -> String {
    let mut list = ShortList::default();
    for size in sizes {
        match size {
            Dimension::Size(size) => list.push(&size.to_string()),
            Dimension::Symbol(name) => list.push(name),
        }
    }
    list.finish()
}

/// The name of a `DataType`; for a reference type, that of the referenced type.
pub(in crate::formats) fn dtype_name(number: u64) -> String {
    let name = match number % 100 {
        1 => "f32",
        2 => "f64",
        3 => "i32",
        4 => "u8",
        5 => "i16",
        6 => "i8",
        7 => "string",
        8 => "complex64",
        9 => "i64",
        10 => "bool",
        11 => "qint8",
        12 => "quint8",
        13 => "qint32",
        14 => "bf16",
        15 => "qint16",
        16 => "quint16",
        17 => "u16",
        18 => "complex128",
        19 => "f16",
        20 => "resource",
        21 => "variant",
        22 => "u32",
        23 => "u64",
        24 => "f8_e5m2",
        25 => "f8_e4m3",
        26 => "f8_e4m3fnuz",
        27 => "f8_e4m3b11fnuz",
        28 => "f8_e5m2fnuz",
        29 => "i4",
        30 => "u4",
        0 => "",
        _ => return format!("type {number}"),
    };
    name.to_owned()
}
