//! Lineage of a model, with all numbers at full precision.

use super::super::event_file::{Fault, detailed};
use crate::float::Float;
use crate::lineage::{
    DatasetNode, DatasetOperation, EvaluationLineage, Lineage, LineageValue, TrainLineage, UserInfo,
};
use crate::message::Message;
use crate::wire::{Fields, Value, bytes_of, doubles, text, zigzags};

/// Maximum depth: no program nests deeper, and crafted files could overflow the stack.
const MAX_DEPTH: usize = 64;
const TOO_DEEP: Fault = Fault("lineage is nested more than 64 levels deep");
const NOTHING: Fault = Fault("lineage of an unknown kind");

/// Texts of a training, starting at field 1.
const TRAIN_TEXTS: [fn(&mut TrainLineage) -> &mut Option<String>; 6] = [
    |train| &mut train.optimizer,
    |train| &mut train.loss_function,
    |train| &mut train.parallel_mode,
    |train| &mut train.dataset_path,
    |train| &mut train.network,
    |train| &mut train.model_path,
];

/// Integers of a training, starting at field 7.
const TRAIN_INTEGERS: [fn(&mut TrainLineage) -> &mut Option<i64>; 5] = [
    |train| &mut train.epochs,
    |train| &mut train.device_count,
    |train| &mut train.batch_size,
    |train| &mut train.dataset_size,
    |train| &mut train.model_size_bytes,
];

/// Numbers of a training, starting at field 12.
const TRAIN_NUMBERS: [fn(&mut TrainLineage) -> &mut Option<f64>; 2] =
    [|train| &mut train.learning_rate, |train| &mut train.loss];

/// One of training 1, evaluation 2, data set 3, user-defined information 4.
pub(crate) fn write(lineage: &Lineage) -> Message {
    let (number, content) = match lineage {
        Lineage::Train(train) => (1, write_train(&mut train.clone())),
        Lineage::Evaluation(evaluation) => (2, write_evaluation(evaluation)),
        Lineage::Dataset(node) => (3, write_node(node)),
        Lineage::UserDefined(info) => (4, write_values(&info.values)),
    };
    let mut message = Message::default();
    message.message(number, &content);
    message
}

/// The accessors are shared with the reader, hence `mut`.
fn write_train(train: &mut TrainLineage) -> Message {
    let mut message = Message::default();
    for (number, field) in (1..).zip(TRAIN_TEXTS) {
        if let Some(text) = field(train) {
            message.bytes(number, text.as_bytes());
        }
    }
    for (number, field) in (7..).zip(TRAIN_INTEGERS) {
        message.packed_zigzags(number, *field(train));
    }
    for (number, field) in (12..).zip(TRAIN_NUMBERS) {
        message.packed_doubles(number, *field(train));
    }
    message
}

/// JSON of the metrics 1, metrics 2 (name 1, number 2), path of the data 3, their size 4.
fn write_evaluation(evaluation: &EvaluationLineage) -> Message {
    let mut message = Message::default();
    if let Some(json) = &evaluation.metric_json {
        message.bytes(1, json.as_bytes());
    }
    for (name, Float(number)) in &evaluation.metrics {
        let mut metric = Message::default();
        metric.text(1, name);
        metric.double(2, *number);
        message.message(2, &metric);
    }
    if let Some(path) = &evaluation.dataset_path {
        message.bytes(3, path.as_bytes());
    }
    message.packed_zigzags(4, evaluation.dataset_size);
    message
}

/// Parameters 1, operations 2, sampler 3, children 4.
fn write_node(node: &DatasetNode) -> Message {
    let mut message = Message::default();
    message.part(1, &write_values(&node.parameters));
    for operation in &node.operations {
        message.message(2, &write_operation(operation));
    }
    if let Some(sampler) = &node.sampler {
        message.message(3, &write_operation(sampler));
    }
    for child in &node.children {
        message.message(4, &write_node(child));
    }
    message
}

/// Parameters 1, sizes 2, weights 3.
fn write_operation(operation: &DatasetOperation) -> Message {
    let mut message = Message::default();
    message.part(1, &write_values(&operation.parameters));
    message.packed_zigzags(2, operation.sizes.iter().copied());
    message.packed_doubles(3, operation.weights.iter().copied());
    message
}

/// A list of name 1 followed by one of text 2, a list of text 3 (each 1), a boolean 4, an integer 5, a number 6, named
/// values 7.
fn write_values(values: &[(String, LineageValue)]) -> Message {
    let mut message = Message::default();
    for (name, value) in values {
        let mut entry = Message::default();
        entry.text(1, name);
        match value {
            LineageValue::Text(text) => entry.bytes(2, text.as_bytes()),
            LineageValue::Texts(texts) => {
                let mut list = Message::default();
                for text in texts {
                    list.bytes(1, text.as_bytes());
                }
                entry.message(3, &list);
            }
            LineageValue::Bool(yes) => entry.varint(4, (*yes).into()),
            LineageValue::Int(number) => entry.packed_zigzags(5, [*number]),
            LineageValue::Number(number) => entry.double(6, *number),
            LineageValue::Map(info) => entry.message(7, &write_values(&info.values)),
        }
        message.message(1, &entry);
    }
    message
}

pub(super) fn read(message: &[u8]) -> Result<Lineage, Fault> {
    let mut lineage = Err(NOTHING);
    for field in Fields::of(detailed(message)?) {
        match field? {
            (1, Value::Bytes(train)) => lineage = Ok(Lineage::Train(read_train(train)?)),
            (2, Value::Bytes(evaluation)) => {
                lineage = Ok(Lineage::Evaluation(read_evaluation(evaluation)?));
            }
            (3, Value::Bytes(node)) => lineage = Ok(Lineage::Dataset(read_node(node, 0)?)),
            (4, Value::Bytes(info)) => {
                let values = read_values(info, 0)?;
                lineage = Ok(Lineage::UserDefined(UserInfo { values }));
            }
            _ => {}
        }
    }
    lineage
}

fn read_train(message: &[u8]) -> Result<TrainLineage, Fault> {
    let mut train = TrainLineage::default();
    for field in Fields::of(message) {
        match field? {
            (number @ 1..=6, Value::Bytes(bytes)) => {
                *TRAIN_TEXTS[number as usize - 1](&mut train) = Some(text(bytes));
            }
            (number @ 7..=11, value) => {
                let field = TRAIN_INTEGERS[number as usize - 7](&mut train);
                zigzags(value, |number| *field = Some(number))?;
            }
            (number @ 12..=13, value) => {
                *TRAIN_NUMBERS[number as usize - 12](&mut train) = last_double(value)?;
            }
            _ => {}
        }
    }
    Ok(train)
}

fn last_double(value: Value<'_>) -> Result<Option<f64>, Fault> {
    let mut numbers = Vec::new();
    doubles(value, &mut numbers)?;
    Ok(numbers.pop())
}

fn read_evaluation(message: &[u8]) -> Result<EvaluationLineage, Fault> {
    let mut evaluation = EvaluationLineage::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(json)) => evaluation.metric_json = Some(text(json)),
            (2, Value::Bytes(metric)) => {
                let name = text(bytes_of(metric, 1)?.unwrap_or_default());
                let mut number = 0.0;
                for field in Fields::of(metric) {
                    if let (2, Value::Fixed64(bits)) = field? {
                        number = f64::from_bits(bits);
                    }
                }
                evaluation.metrics.push((name, Float(number)));
            }
            (3, Value::Bytes(path)) => evaluation.dataset_path = Some(text(path)),
            (4, value) => zigzags(value, |size| evaluation.dataset_size = Some(size))?,
            _ => {}
        }
    }
    Ok(evaluation)
}

fn read_node(message: &[u8], depth: usize) -> Result<DatasetNode, Fault> {
    if depth > MAX_DEPTH {
        return Err(TOO_DEEP);
    }
    let mut node = DatasetNode::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(values)) => node.parameters = read_values(values, depth)?,
            (2, Value::Bytes(operation)) => node.operations.push(read_operation(operation)?),
            (3, Value::Bytes(sampler)) => node.sampler = Some(read_operation(sampler)?),
            (4, Value::Bytes(child)) => node.children.push(read_node(child, depth + 1)?),
            _ => {}
        }
    }
    Ok(node)
}

fn read_operation(message: &[u8]) -> Result<DatasetOperation, Fault> {
    let mut operation = DatasetOperation::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(values)) => operation.parameters = read_values(values, 0)?,
            (2, value) => zigzags(value, |size| operation.sizes.push(size))?,
            (3, value) => doubles(value, &mut operation.weights)?,
            _ => {}
        }
    }
    Ok(operation)
}

fn read_values(message: &[u8], depth: usize) -> Result<Vec<(String, LineageValue)>, Fault> {
    if depth > MAX_DEPTH {
        return Err(TOO_DEEP);
    }
    let mut values = Vec::new();
    for field in Fields::of(message) {
        if let (1, Value::Bytes(entry)) = field? {
            values.push(read_entry(entry, depth)?);
        }
    }
    Ok(values)
}

fn read_entry(entry: &[u8], depth: usize) -> Result<(String, LineageValue), Fault> {
    let mut name = String::new();
    let mut found = LineageValue::Text(String::new());
    for field in Fields::of(entry) {
        match field? {
            (1, Value::Bytes(bytes)) => name = text(bytes),
            (2, Value::Bytes(bytes)) => found = LineageValue::Text(text(bytes)),
            (3, Value::Bytes(list)) => {
                let mut texts = Vec::new();
                for field in Fields::of(list) {
                    if let (1, Value::Bytes(item)) = field? {
                        texts.push(text(item));
                    }
                }
                found = LineageValue::Texts(texts);
            }
            (4, Value::Varint(yes)) => found = LineageValue::Bool(yes != 0),
            (5, value) => zigzags(value, |number| found = LineageValue::Int(number))?,
            (6, Value::Fixed64(bits)) => found = LineageValue::Number(f64::from_bits(bits)),
            (7, Value::Bytes(nested)) => {
                let values = read_values(nested, depth + 1)?;
                found = LineageValue::Map(UserInfo { values });
            }
            _ => {}
        }
    }
    Ok((name, found))
}
