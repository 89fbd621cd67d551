//! `GraphProto` and `ModelProto` of `MindSpore`: in summary files, and in the `.pb` files next to dumps.

use super::graph_builder::{GraphBuilder, ShortList, short_bytes};
use super::graph_tf::shape_text;
use crate::graph::{Dimension, Graph, Node, NodeKind, NotAGraph, TensorType};
use crate::wire::{Fields, Value, WireError, bytes_of, text, varints};

/// Maximum depth of nested types and values; deeper ones become `…`.
const MAX_DEPTH: usize = 8;

/// A `ModelProto`: its graph is field 4.
pub(crate) fn model(message: &[u8]) -> Result<Graph, NotAGraph> {
    let mut graph = graph(bytes_of(message, 4)?.unwrap_or_default())?;
    graph.producer = text(bytes_of(message, 2)?.unwrap_or_default());
    Ok(graph)
}

/// A `GraphProto`: nodes 1, name 2, parameters 3, outputs 4, constants 5.
pub(crate) fn graph(message: &[u8]) -> Result<Graph, NotAGraph> {
    let mut builder = GraphBuilder::default();
    for field in Fields::of(message) {
        match field? {
            (2, Value::Bytes(name)) => builder.graph.name = text(name),
            (3, Value::Bytes(parameter)) => add_parameter(&mut builder, parameter)?,
            (5, Value::Bytes(constant)) => add_constant(&mut builder, constant)?,
            _ => {}
        }
    }
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(node)) => add_node(&mut builder, node)?,
            (4, Value::Bytes(output)) => {
                let name = text(bytes_of(output, 1)?.unwrap_or_default());
                builder.output(name.clone(), name);
            }
            _ => {}
        }
    }
    Ok(builder.finish())
}

/// A `ParameterProto`: name 1, type 2.
fn add_parameter(builder: &mut GraphBuilder<'_>, message: &[u8]) -> Result<(), WireError> {
    let name = text(bytes_of(message, 1)?.unwrap_or_default());
    let mut outputs = Vec::new();
    add_types(bytes_of(message, 2)?.unwrap_or_default(), &mut outputs, 0)?;
    let node = Node {
        name: name.clone(),
        kind: NodeKind::Parameter,
        op_type: "Parameter".to_owned(),
        outputs,
        ..Node::default()
    };
    if let Some(index) = builder.node(node) {
        builder.define(name, index, 0);
    }
    Ok(())
}

/// A `NamedValueProto`: name 1, value 2, full name 3.
fn add_constant(builder: &mut GraphBuilder<'_>, message: &[u8]) -> Result<(), WireError> {
    let id = text(bytes_of(message, 1)?.unwrap_or_default());
    let full_name = text(bytes_of(message, 3)?.unwrap_or_default());
    let value = short_value(bytes_of(message, 2)?.unwrap_or_default(), 0)?;
    let node = Node {
        name: if full_name.is_empty() {
            id.clone()
        } else {
            full_name
        },
        kind: NodeKind::Constant,
        op_type: "Const".to_owned(),
        attributes: vec![("value".to_owned(), value)],
        ..Node::default()
    };
    if let Some(index) = builder.node(node) {
        builder.define(id, index, 0);
    }
    Ok(())
}

/// A `NodeProto`: inputs 1 (name 1, type 2: 1 is control), number 2, operation 3, scope 4, attributes 5 (name 1, value
/// 2), type 6, full name 8, source 9, instance 10.
fn add_node(builder: &mut GraphBuilder<'_>, message: &[u8]) -> Result<(), WireError> {
    let mut node = Node::default();
    let mut inputs = Vec::new();
    let [mut id, mut scope, mut full_name] = [const { String::new() }; 3];
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(input)) => {
                let mut is_control = false;
                for field in Fields::of(input) {
                    if let (2, Value::Varint(kind)) = field? {
                        is_control = kind == 1;
                    }
                }
                inputs.push((text(bytes_of(input, 1)?.unwrap_or_default()), is_control));
            }
            (2, Value::Bytes(bytes)) => id = text(bytes),
            (3, Value::Bytes(bytes)) => node.op_type = text(bytes),
            (4, Value::Bytes(bytes)) => scope = text(bytes),
            (5, Value::Bytes(attribute)) => {
                let name = text(bytes_of(attribute, 1)?.unwrap_or_default());
                let value = short_value(bytes_of(attribute, 2)?.unwrap_or_default(), 0)?;
                node.attributes.push((name, value));
            }
            (6, Value::Bytes(message)) => add_types(message, &mut node.outputs, 0)?,
            (8, Value::Bytes(bytes)) => full_name = text(bytes),
            (9, Value::Bytes(bytes)) => node.source = text(bytes),
            (10, Value::Bytes(bytes)) if !bytes.is_empty() => {
                node.attributes
                    .push(("instance_name".to_owned(), short_bytes(bytes)));
            }
            _ => {}
        }
    }
    node.name = match (&*full_name, &*scope) {
        ("", "") => format!("{}-op{id}", node.op_type),
        ("", scope) => format!("{scope}/{}-op{id}", node.op_type),
        // Summary operators of MindSpore 2.0: `last_hidden[:Histogram]`.
        (name, scope) if !name.starts_with(scope) => format!("{scope}/{name}"),
        _ => full_name,
    };
    let Some(index) = builder.node(node) else {
        return Ok(());
    };
    builder.define(id, index, 0);
    for (from, is_control) in inputs {
        builder.input(index, from, 0, is_control);
    }
    Ok(())
}

/// A `TypeProto`: type 1, tensor 2 (element type 1, shape 2), sequence 3 (types 1). A sequence is replaced by its
/// elements.
fn add_types(message: &[u8], out: &mut Vec<TensorType>, depth: usize) -> Result<(), WireError> {
    let mut data_type = 0;
    for field in Fields::of(message) {
        match field? {
            (1, Value::Varint(number)) => data_type = number,
            (2, Value::Bytes(tensor)) => {
                let mut found = TensorType::default();
                for field in Fields::of(tensor) {
                    match field? {
                        (1, Value::Varint(number)) => found.dtype = dtype_name(number),
                        (2, Value::Bytes(message)) => found.shape = Some(shape(message)?),
                        _ => {}
                    }
                }
                // A number is a tensor without dimensions: its shape is omitted.
                found.shape.get_or_insert_default();
                out.push(found);
                return Ok(());
            }
            (3, Value::Bytes(sequence)) if depth < MAX_DEPTH => {
                for field in Fields::of(sequence) {
                    if let (1, Value::Bytes(element)) = field? {
                        add_types(element, out, depth + 1)?;
                    }
                }
                return Ok(());
            }
            _ => {}
        }
    }
    if data_type != 0 {
        out.push(TensorType {
            dtype: dtype_name(data_type),
            shape: None,
        });
    }
    Ok(())
}

/// A `TensorShapeProto`: dimensions 1 (size 1).
fn shape(message: &[u8]) -> Result<Vec<Dimension>, WireError> {
    let mut sizes = Vec::new();
    for field in Fields::of(message) {
        if let (1, Value::Bytes(dimension)) = field? {
            let mut size = 0;
            for field in Fields::of(dimension) {
                if let (1, Value::Varint(number)) = field? {
                    size = number;
                }
            }
            sizes.push(Dimension::of(size));
        }
    }
    Ok(sizes)
}

/// A `ValueProto` as text: boolean 2, integers 3 and 4, numbers 5 and 6, text 7, tensor 8, graph 9, lists of them 10 to
/// 17, values 18, names and values 19, type 20.
fn short_value(message: &[u8], depth: usize) -> Result<String, WireError> {
    if depth > MAX_DEPTH {
        return Ok("…".to_owned());
    }
    let mut data_type = 0;
    let mut list = ShortList::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Varint(number)) => data_type = number,
            (2, Value::Varint(bits)) => return Ok((bits != 0).to_string()),
            (3, Value::Varint(bits)) => return Ok(bits.cast_signed().to_string()),
            (4, Value::Varint(bits)) => return Ok(bits.to_string()),
            (5, Value::Fixed32(bits)) => return Ok(f32::from_bits(bits).to_string()),
            (6, Value::Fixed64(bits)) => return Ok(f64::from_bits(bits).to_string()),
            (7, Value::Bytes(bytes)) => return Ok(short_bytes(bytes)),
            (8, Value::Bytes(tensor)) => return tensor_text(tensor),
            (9, Value::Bytes(graph)) => return Ok(format!("graph, {} bytes", graph.len())),
            (11, value) => varints(value, |bits| list.push(&bits.cast_signed().to_string()))?,
            (15, Value::Bytes(bytes)) => list.push(&short_bytes(bytes)),
            (18, Value::Bytes(value)) => list.push(&short_value(value, depth + 1)?),
            (19, Value::Bytes(entry)) => {
                let name = short_bytes(bytes_of(entry, 1)?.unwrap_or_default());
                let value = short_value(bytes_of(entry, 2)?.unwrap_or_default(), depth + 1)?;
                list.push(&format!("{name}: {value}"));
            }
            (20, Value::Bytes(message)) => {
                let mut types = Vec::new();
                add_types(message, &mut types, 0)?;
                let first = types.into_iter().next().unwrap_or_default();
                return Ok(first.dtype);
            }
            _ => {}
        }
    }
    // An empty list, or one without a value: `None`.
    Ok(if list.is_empty() && !matches!(data_type, 16..=33) {
        dtype_name(data_type)
    } else {
        list.finish()
    })
}

/// Shape, type and length of a `TensorProto` of either variant: sizes 1 and type 2 with lists of elements from 3 to 8,
/// or sizes 4 and type 5 with content 3. Graphs often omit the content.
fn tensor_text(message: &[u8]) -> Result<String, WireError> {
    let mut sizes = Vec::new();
    let mut data_type = 0;
    let mut content = None;
    for field in Fields::of(message) {
        match field? {
            (3..=8, Value::Bytes(bytes)) => *content.get_or_insert(0) += bytes.len(),
            (1 | 4, value @ Value::Varint(_)) => {
                varints(value, |size| sizes.push(Dimension::of(size)))?;
            }
            (2 | 5, Value::Varint(number)) => data_type = number,
            _ => {}
        }
    }
    let dtype = dtype_name(data_type);
    let shape = shape_text(&sizes);
    Ok(match content {
        Some(len) => format!("tensor of {dtype} {shape}, {len} bytes"),
        None => format!("tensor of {dtype} {shape}, not recorded"),
    })
}

/// The name of a `DataType`.
fn dtype_name(number: u64) -> String {
    let name = match number {
        0 => "",
        1 => "bool",
        2 => "i8",
        3 => "i16",
        4 => "i32",
        5 => "i64",
        6 => "u8",
        7 => "u16",
        8 => "u32",
        9 => "u64",
        10 => "f16",
        11 => "f32",
        12 => "f64",
        13 => "string",
        14 => "tensor",
        15 => "graph",
        31 => "tuple",
        32 => "list",
        33 => "dict",
        34 => "none",
        39 => "type",
        40 => "anything",
        41 => "refkey",
        42 => "ref",
        // Dumps and summaries of the same network number it differently.
        43 | 49 => "umonad",
        44 => "iomonad",
        _ => return format!("type {number}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::{graph, tensor_text};

    /// A bytes field shorter than 128.
    fn part(field: u8, bytes: &[u8]) -> Vec<u8> {
        let len = u8::try_from(bytes.len()).unwrap();
        [&[field << 3 | 2, len][..], bytes].concat()
    }

    #[test]
    fn a_name_without_its_scope_lies_in_it() {
        let node = |scope: &str, full_name: &str| {
            let fields = [
                part(2, b"1"),
                part(3, b"HistogramSummary"),
                part(4, scope.as_bytes()),
                part(8, full_name.as_bytes()),
            ];
            part(1, &fields.concat())
        };
        let message = [
            node("Default/net-Mlp", "last_hidden[:Histogram]"),
            node("Default/net-Mlp", "Default/net-Mlp/MatMul-op1"),
            node("", "alone"),
            node("Default", ""),
        ];
        let names: Vec<String> = graph(&message.concat())
            .unwrap()
            .nodes
            .into_iter()
            .map(|node| node.name)
            .collect();
        assert_eq!(
            names,
            [
                "Default/net-Mlp/last_hidden[:Histogram]",
                "Default/net-Mlp/MatMul-op1",
                "alone",
                "Default/HistogramSummary-op1",
            ]
        );
    }

    #[test]
    fn a_tensor_without_content_was_not_recorded() {
        // Type 2: f32 is 11. Sizes 1.
        assert_eq!(
            tensor_text(&[0x10, 11]).unwrap(),
            "tensor of f32 [], not recorded"
        );
        assert_eq!(
            tensor_text(&[0x08, 1, 0x10, 4]).unwrap(),
            "tensor of i32 [1], not recorded"
        );
        let content = [&[0x08, 2, 0x10, 11][..], &part(8, &[0; 8])].concat();
        assert_eq!(tensor_text(&content).unwrap(), "tensor of f32 [2], 8 bytes");
    }
}
