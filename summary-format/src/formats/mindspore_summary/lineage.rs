//! Lineage: the messages of a `LineageEvent`.

use super::super::event_file::{Fault, detailed};
use super::metrics;
use crate::float::Float;
use crate::lineage::{
    DatasetNode, DatasetOperation, EvaluationLineage, Lineage, LineageValue, TrainLineage, UserInfo,
};
use crate::wire::{Fields, Value, bytes_of, floats, int32, text, varints};

/// Maximum depth: no program nests deeper, and crafted files could overflow the stack.
const MAX_DEPTH: usize = 64;
const TOO_DEEP: Fault = Fault("lineage is nested more than 64 levels deep");

/// A `TrainLineage`: parameters 1, data set 2, algorithm 3, model 4.
pub(super) fn training(message: &[u8]) -> Result<Lineage, Fault> {
    let mut train = TrainLineage::default();
    for field in Fields::of(detailed(message)?) {
        let (part, Value::Bytes(message)) = field? else {
            continue;
        };
        for field in Fields::of(message) {
            match (part, field?) {
                (1, (1, Value::Bytes(name))) => train.optimizer = Some(text(name)),
                (1, (2, Value::Fixed32(bits))) => {
                    train.learning_rate = Some(f32::from_bits(bits).into());
                }
                (1, (3, Value::Bytes(name))) => train.loss_function = Some(text(name)),
                (1, (4, Value::Varint(bits))) => train.epochs = Some(int32(bits).into()),
                (1, (5, Value::Bytes(mode))) => train.parallel_mode = Some(text(mode)),
                (1, (6, Value::Varint(bits))) => train.device_count = Some(int32(bits).into()),
                (1, (8, Value::Varint(bits))) => train.batch_size = Some(int32(bits).into()),
                (2, (1, Value::Bytes(path))) => train.dataset_path = Some(text(path)),
                (2, (2, Value::Varint(bits))) => train.dataset_size = Some(int32(bits).into()),
                (3, (1, Value::Bytes(name))) => train.network = Some(text(name)),
                (3, (2, Value::Fixed32(bits))) => train.loss = Some(f32::from_bits(bits).into()),
                (4, (3, Value::Bytes(path))) => train.model_path = Some(text(path)),
                (4, (4, Value::Varint(bits))) => {
                    train.model_size_bytes = Some(bits.cast_signed());
                }
                _ => {}
            }
        }
    }
    Ok(Lineage::Train(train))
}

/// An `EvaluationLineage`: metrics 2 as JSON, data set 3 (path 1, size 2).
pub(super) fn evaluation(message: &[u8]) -> Result<Lineage, Fault> {
    let mut evaluation = EvaluationLineage::default();
    for field in Fields::of(detailed(message)?) {
        match field? {
            (2, Value::Bytes(json)) => {
                let json = text(json);
                let numbers = metrics::numbers(&json).into_iter();
                evaluation.metrics = numbers.map(|(name, n)| (name, Float(n))).collect();
                evaluation.metric_json = Some(json);
            }
            (3, Value::Bytes(dataset)) => {
                for field in Fields::of(dataset) {
                    match field? {
                        (1, Value::Bytes(path)) => evaluation.dataset_path = Some(text(path)),
                        (2, Value::Varint(bits)) => {
                            evaluation.dataset_size = Some(int32(bits).into());
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    Ok(Lineage::Evaluation(evaluation))
}

/// A `DatasetGraph`.
pub(super) fn dataset(message: &[u8]) -> Result<Lineage, Fault> {
    dataset_node(detailed(message)?, 0).map(Lineage::Dataset)
}

/// Children 1, parameters 2, operations 3, sampler 4.
fn dataset_node(message: &[u8], depth: usize) -> Result<DatasetNode, Fault> {
    if depth > MAX_DEPTH {
        return Err(TOO_DEEP);
    }
    let mut node = DatasetNode::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(child)) => node.children.push(dataset_node(child, depth + 1)?),
            (2, Value::Bytes(message)) => parameters(message, &mut node.parameters)?,
            (3, Value::Bytes(message)) => node.operations.push(operation(message)?),
            (4, Value::Bytes(message)) => node.sampler = Some(operation(message)?),
            _ => {}
        }
    }
    Ok(node)
}

/// An `Operation`: parameters 1, sizes 2, weights 3.
fn operation(message: &[u8]) -> Result<DatasetOperation, Fault> {
    let mut operation = DatasetOperation::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(message)) => parameters(message, &mut operation.parameters)?,
            (2, value) => varints(value, |bits| operation.sizes.push(int32(bits).into()))?,
            (3, value) => floats(value, |number| operation.weights.push(number.into()))?,
            _ => {}
        }
    }
    Ok(operation)
}

/// An `OperationParameter`: maps of text 1, of lists of text 2, of booleans 3, of integers 4, of numbers 5.
fn parameters(message: &[u8], out: &mut Vec<(String, LineageValue)>) -> Result<(), Fault> {
    for field in Fields::of(message) {
        let (map @ 1..=5, Value::Bytes(entry)) = field? else {
            continue;
        };
        let (name, value) = entry_of(entry)?;
        let value = match (map, value) {
            (1, Value::Bytes(value)) => LineageValue::Text(text(value)),
            (1, _) => LineageValue::Text(String::new()),
            (2, Value::Bytes(list)) => {
                let mut texts = Vec::new();
                for field in Fields::of(list) {
                    if let (1, Value::Bytes(item)) = field? {
                        texts.push(text(item));
                    }
                }
                LineageValue::Texts(texts)
            }
            (2, _) => LineageValue::Texts(Vec::new()),
            (3, value) => LineageValue::Bool(value != Value::Varint(0)),
            (4, value) => integer(value),
            (_, value) => double(value),
        };
        out.push((name, value));
    }
    Ok(())
}

/// An entry of a map: name 1, value 2; an omitted value is the default of its type.
fn entry_of(entry: &[u8]) -> Result<(String, Value<'_>), Fault> {
    let name = text(bytes_of(entry, 1)?.unwrap_or_default());
    let mut found = Value::Varint(0);
    for field in Fields::of(entry) {
        if let (2, value) = field? {
            found = value;
        }
    }
    Ok((name, found))
}

fn integer(value: Value<'_>) -> LineageValue {
    LineageValue::Int(match value {
        Value::Varint(bits) => int32(bits).into(),
        _ => 0,
    })
}

fn double(value: Value<'_>) -> LineageValue {
    LineageValue::Number(match value {
        Value::Fixed64(bits) => f64::from_bits(bits),
        _ => 0.0,
    })
}

/// A `UserDefinedInfo`.
pub(super) fn user_defined(message: &[u8]) -> Result<Lineage, Fault> {
    let mut info = UserInfo::default();
    user_info(detailed(message)?, 0, &mut info.values)?;
    Ok(Lineage::UserDefined(info))
}

/// Nested information 1, maps of nested information 2, of integers 3, of text 4, of numbers 5.
fn user_info(
    message: &[u8],
    depth: usize,
    out: &mut Vec<(String, LineageValue)>,
) -> Result<(), Fault> {
    if depth > MAX_DEPTH {
        return Err(TOO_DEEP);
    }
    for field in Fields::of(message) {
        let (number, Value::Bytes(bytes)) = field? else {
            continue;
        };
        if number == 1 {
            user_info(bytes, depth + 1, out)?;
            continue;
        }
        let (2..=5, (name, value)) = (number, entry_of(bytes)?) else {
            continue;
        };
        let value = match (number, value) {
            (2, Value::Bytes(nested)) => {
                let mut info = UserInfo::default();
                user_info(nested, depth + 1, &mut info.values)?;
                LineageValue::Map(info)
            }
            (2, _) => LineageValue::Map(UserInfo::default()),
            (3, value) => integer(value),
            (4, Value::Bytes(value)) => LineageValue::Text(text(value)),
            (4, _) => LineageValue::Text(String::new()),
            (_, value) => double(value),
        };
        out.push((name, value));
    }
    Ok(())
}
