//! The JSON text of a Keras model: its layers as nodes, those of models within it in their scope.

use serde_json::Value;

use super::graph_builder::{GraphBuilder, short_bytes};
use crate::graph::{Dimension, Graph, Node, NodeKind, NotAGraph, TensorType};

/// Deeper models within models are not read; the parser itself stops at 128 levels of JSON.
const MAX_DEPTH: usize = 16;

/// `{"class_name", "config": {"name", "layers": [{"class_name", "name", "config", "inbound_nodes"}]}}`.
pub(crate) fn model(json: &[u8]) -> Result<Graph, NotAGraph> {
    let model: Value = serde_json::from_slice(json).map_err(|_| NotAGraph)?;
    let mut builder = GraphBuilder::default();
    name_of(&model).clone_into(&mut builder.graph.name);
    let version = model["keras_version"].as_str().unwrap_or_default();
    format!("keras {version}")
        .trim()
        .clone_into(&mut builder.graph.producer);
    add_layers(&mut builder, &model, "", 0);
    Ok(builder.finish())
}

fn name_of(layer: &Value) -> &str {
    let name = layer["config"]["name"].as_str();
    name.or(layer["name"].as_str()).unwrap_or_default()
}

fn add_layers(builder: &mut GraphBuilder<'_>, model: &Value, scope: &str, depth: usize) {
    // A sequential model says nothing of edges: each layer follows the one before.
    let is_sequential = model["class_name"] == "Sequential";
    let mut before: Option<String> = None;
    for layer in model["config"]["layers"].as_array().into_iter().flatten() {
        let config = &layer["config"];
        let name = format!("{scope}{}", name_of(layer));
        let op_type = layer["class_name"].as_str().unwrap_or_default();
        let node = Node {
            name: name.clone(),
            kind: if op_type == "InputLayer" {
                NodeKind::Input
            } else {
                NodeKind::Operation
            },
            op_type: op_type.to_owned(),
            attributes: attributes_of(config),
            outputs: shape_of(config).into_iter().collect(),
            ..Node::default()
        };
        let Some(index) = builder.node(node) else {
            return;
        };
        builder.define(name.clone(), index, 0);
        if is_sequential {
            if let Some(before) = before.take() {
                builder.input(index, before, 0, false);
            }
            before = Some(name.clone());
        } else {
            add_inputs(builder, index, &layer["inbound_nodes"], scope, 0);
        }
        if config["layers"].is_array() && depth < MAX_DEPTH {
            add_layers(builder, layer, &format!("{name}/"), depth + 1);
        }
    }
}

/// Keras 2: lists of `[layer, call, output, arguments]`. Keras 3: tensors with `keras_history: [layer, call, output]`.
fn add_inputs(
    builder: &mut GraphBuilder<'_>,
    index: u32,
    inputs: &Value,
    scope: &str,
    depth: usize,
) {
    let mut add = |layer: &str, slot: &Value| {
        let slot = slot
            .as_u64()
            .and_then(|slot| u32::try_from(slot).ok())
            .unwrap_or(0);
        builder.input(index, format!("{scope}{layer}"), slot, false);
    };
    match inputs {
        Value::Array(items) => {
            if let [Value::String(layer), Value::Number(_), slot, ..] = &items[..] {
                add(layer, slot);
                return;
            }
            if depth < MAX_DEPTH {
                for item in items {
                    add_inputs(builder, index, item, scope, depth + 1);
                }
            }
        }
        Value::Object(object) => {
            if let Some(Value::Array(history)) = object.get("keras_history") {
                if let [Value::String(layer), _, slot, ..] = &history[..] {
                    add(layer, slot);
                }
                return;
            }
            if depth < MAX_DEPTH {
                for item in object.values() {
                    add_inputs(builder, index, item, scope, depth + 1);
                }
            }
        }
        _ => {}
    }
}

/// What is said of a layer in one word or number.
fn attributes_of(config: &Value) -> Vec<(String, String)> {
    let entries = config.as_object().into_iter().flatten();
    entries
        .filter(|(name, _)| *name != "name" && *name != "layers")
        .filter_map(|(name, value)| {
            let value = match value {
                Value::Null => return None,
                Value::String(text) => short_bytes(text.as_bytes()),
                Value::Object(object) => object.get("class_name")?.as_str()?.to_owned(),
                value => short_bytes(value.to_string().as_bytes()),
            };
            Some((name.clone(), value))
        })
        .collect()
}

/// The shape that an input layer is fed with; `null` is a size that is not known.
fn shape_of(config: &Value) -> Option<TensorType> {
    let shape = config["batch_shape"]
        .as_array()
        .or(config["batch_input_shape"].as_array())?;
    let sizes = shape.iter().map(|size| match size.as_u64() {
        Some(size) => Dimension::Size(size),
        None => Dimension::Symbol("?".to_owned()),
    });
    Some(TensorType {
        dtype: config["dtype"].as_str().map(dtype_name).unwrap_or_default(),
        shape: Some(sizes.collect()),
    })
}

fn dtype_name(keras: &str) -> String {
    for (prefix, short) in [
        ("bfloat", "bf"),
        ("float", "f"),
        ("uint", "u"),
        ("int", "i"),
    ] {
        if let Some(bits) = keras.strip_prefix(prefix) {
            return format!("{short}{bits}");
        }
    }
    keras.to_owned()
}
