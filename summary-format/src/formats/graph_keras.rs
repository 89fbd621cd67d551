//! The JSON text of a Keras model: its layers as nodes, nested models as scopes, and its compilation: a node for the
//! loss of each output, and one for the optimizer.

use serde_json::Value;

use super::graph_builder::{GraphBuilder, short_bytes};
use crate::graph::{Dimension, Graph, Node, NodeKind, NotAGraph, TensorType};

/// Maximum depth of nested models; the parser itself stops at 128 levels of JSON.
const MAX_DEPTH: usize = 16;
/// Maximum number of outputs with losses.
const MAX_OUTPUTS: usize = 256;

/// The name of the loss node, or of the scope of several.
const LOSS: &str = "loss";

/// `{"class_name", "config": {"name", "layers": [{"class_name", "name", "config", "inbound_nodes"}], "output_layers"},
/// "compile_config": {"optimizer", "loss"}}`.
pub(crate) fn model(json: &[u8]) -> Result<Graph, NotAGraph> {
    let model: Value = serde_json::from_slice(json).map_err(|_| NotAGraph)?;
    let mut builder = GraphBuilder::default();
    name_of(&model).clone_into(&mut builder.graph.name);
    let version = model["keras_version"].as_str().unwrap_or_default();
    format!("keras {version}")
        .trim()
        .clone_into(&mut builder.graph.producer);
    add_layers(&mut builder, &model, "", 0);
    add_training(&mut builder, &model);
    Ok(builder.finish())
}

/// Adds losses and the optimizer, if the model was compiled.
fn add_training(builder: &mut GraphBuilder<'_>, model: &Value) {
    let compiled = &model["compile_config"];
    let outputs = outputs_of(model);
    let mut losses = Vec::new();
    for (place, (key, layer)) in outputs.iter().enumerate() {
        let Some((op_type, attributes)) = compiled_as(loss_of(&compiled["loss"], key, place))
        else {
            continue;
        };
        let name = match outputs.len() {
            1 => LOSS.to_owned(),
            _ => format!("{LOSS}/{key}"),
        };
        let node = Node {
            name: name.clone(),
            op_type,
            attributes,
            ..Node::default()
        };
        let Some(index) = builder.node(node) else {
            return;
        };
        builder.define(name.clone(), index, 0);
        builder.input(index, layer.clone(), 0, false);
        losses.push(name);
    }
    let Some((op_type, attributes)) = compiled_as(&compiled["optimizer"]) else {
        return;
    };
    let node = Node {
        name: "optimizer".to_owned(),
        op_type,
        attributes,
        ..Node::default()
    };
    if let Some(index) = builder.node(node) {
        for loss in losses {
            builder.input(index, loss, 0, true);
        }
    }
}

/// The loss of one output: a common one, an entry of a list in the order of the outputs, or of a map by their names.
fn loss_of<'a>(loss: &'a Value, key: &str, place: usize) -> &'a Value {
    match loss {
        Value::Array(_) => &loss[place],
        Value::Object(object) if !object.contains_key("class_name") => &loss[key],
        _ => loss,
    }
}

/// The type and the settings of a loss or an optimizer: a name, a function, or an object with its configuration.
fn compiled_as(value: &Value) -> Option<(String, Vec<(String, String)>)> {
    let named = |name: &str| Some((name.to_owned(), Vec::new()));
    if let Some(name) = value.as_str() {
        return named(name);
    }
    let class = value["class_name"].as_str()?;
    match &value["config"] {
        Value::String(function) => named(function),
        config => {
            let mut attributes = attributes_of(config);
            // A schedule is a nested object.
            let begins = &config["learning_rate"]["config"]["initial_learning_rate"];
            if begins.is_number() {
                attributes.push(("initial_learning_rate".to_owned(), begins.to_string()));
            }
            Some((class.to_owned(), attributes))
        }
    }
}

/// Outputs of a model: the name of each and the layer that computes it.
fn outputs_of(model: &Value) -> Vec<(&str, String)> {
    let tensors = output_tensors(model);
    let tensors = tensors.into_iter().take(MAX_OUTPUTS);
    let made = tensors.filter_map(|(key, tensor)| {
        let layer = layer_of(model, tensor, "", 0)?;
        Some((key.or(tensor[0].as_str()).unwrap_or(LOSS), layer))
    });
    made.collect()
}

/// `[layer, call, output]` for each output, with its name if it has one. A sequential model lists none: its last layer
/// is its output.
fn output_tensors(model: &Value) -> Vec<(Option<&str>, &Value)> {
    match &model["config"]["output_layers"] {
        one @ Value::Array(items) if items.first().is_some_and(Value::is_string) => {
            vec![(None, one)]
        }
        Value::Array(items) => items.iter().map(|item| (None, item)).collect(),
        Value::Object(items) => {
            let named = items.iter();
            named
                .map(|(key, item)| (Some(key.as_str()), item))
                .collect()
        }
        _ => vec![(None, &Value::Null)],
    }
}

/// Full name of the layer that computes an output, resolved through nested models.
fn layer_of(model: &Value, tensor: &Value, scope: &str, depth: usize) -> Option<String> {
    let layers = model["config"]["layers"].as_array()?;
    let layer = match tensor[0].as_str() {
        Some(name) => layers.iter().find(|layer| name_of(layer) == name)?,
        None => layers.last()?,
    };
    let name = format!("{scope}{}", name_of(layer));
    if !layer["config"]["layers"].is_array() || depth >= MAX_DEPTH {
        return Some(name);
    }
    let slot = tensor[2].as_u64().unwrap_or(0);
    let inner = output_tensors(layer);
    let (_, tensor) = inner.get(usize::try_from(slot).ok()?)?;
    layer_of(layer, tensor, &format!("{name}/"), depth + 1)
}

fn name_of(layer: &Value) -> &str {
    let name = layer["config"]["name"].as_str();
    name.or(layer["name"].as_str()).unwrap_or_default()
}

fn add_layers(builder: &mut GraphBuilder<'_>, model: &Value, scope: &str, depth: usize) {
    // A sequential model lists no edges: each layer follows the one before.
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
            attributes: attributes_of_layer(config),
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

/// Attributes of a layer, and of the layer that it wraps (`TimeDistributed`) for names that it lacks.
fn attributes_of_layer(config: &Value) -> Vec<(String, String)> {
    let mut attributes = attributes_of(config);
    for (name, value) in attributes_of(&config["layer"]["config"]) {
        if attributes.iter().all(|(known, _)| *known != name) {
            attributes.push((name, value));
        }
    }
    attributes
}

/// Scalar settings of a layer.
fn attributes_of(config: &Value) -> Vec<(String, String)> {
    let entries = config.as_object().into_iter().flatten();
    entries
        .filter(|(name, _)| *name != "name" && *name != "layers")
        .filter_map(|(name, value)| {
            let value = match value {
                Value::Null => return None,
                Value::String(text) => short_bytes(text.as_bytes()),
                // Lambdas have no name.
                Value::Object(object) if object.contains_key("value") => "lambda".to_owned(),
                Value::Object(object) => {
                    let class = object.get("class_name")?.as_str()?;
                    let function = object.get("config").and_then(Value::as_str);
                    function
                        .filter(|_| class == "function")
                        .unwrap_or(class)
                        .to_owned()
                }
                value => short_bytes(value.to_string().as_bytes()),
            };
            Some((name.clone(), value))
        })
        .collect()
}

/// Shape of an input layer; `null` is an unknown size.
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
