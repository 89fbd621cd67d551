//! Data pipelines: operations in the order of the data, and the time that the training waits.
//!
//! The input is data-set graphs and profiles of a run. An operation comes after its inputs.

use trainscope_format::lineage::{DatasetNode, DatasetOperation, LineageValue};

mod help;
mod kinds;
mod queues;
mod waiting;

pub use help::{Estimate, more_workers};
pub use kinds::{PlaceCells, side_by_side};
pub use queues::OperationStats;
pub use waiting::{Clock, InputTimes, QueueState, StepTime, Waiting};
pub(crate) use waiting::{INPUT_NAMES, is_input};

/// Maximum number of operations of one pipeline.
pub const MAX_OPERATIONS: usize = 500;
/// Minimum number of queue samples, batches or steps to judge: of fewer, one odd sample is more than a fifth.
pub const MIN_SAMPLES: usize = 5;
/// Maximum length of one value in characters.
const MAX_CHARS: usize = 2_000;

/// Names of the parameter that holds the name of an operation.
const NAMES: [&str; 3] = ["op_type", "tensor_op_name", "sampler_name"];

/// A data pipeline, sources first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pipeline {
    /// Up to [`MAX_OPERATIONS`] operations.
    pub operations: Vec<Operation>,
    /// Number of operations in the source.
    pub total: usize,
    /// Time between two samples of its queues; 0 if they were not sampled.
    pub interval_millis: u64,
    /// Processors of the machine that it ran on; 0 if unknown.
    pub processors: u64,
}

/// An operation of a data pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operation {
    /// Name; empty if it is missing in the file.
    pub name: String,
    /// Parameters without its name, values as short text.
    pub parameters: Vec<(String, String)>,
    /// Transforms of each sample, in order.
    pub transforms: Vec<Part>,
    /// Sampler, if it has one.
    pub sampler: Option<Part>,
    /// Indices of the operations that feed it.
    pub inputs: Vec<usize>,
    /// Number of operations before it on the longest path from a source.
    pub column: usize,
    /// Row of its first source.
    pub row: usize,
    /// Measurements, if they were recorded.
    pub running: Option<OperationStats>,
}

/// A part of an operation: a transform of each sample, or a sampler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Name of the part.
    pub name: String,
    /// Parameters, values as short text.
    pub parameters: Vec<(String, String)>,
}

impl Pipeline {
    /// Builds the pipeline whose last operation is `last`.
    pub fn new(last: &DatasetNode) -> Self {
        let mut pipeline = Self::default();
        let mut rows = 0;
        pipeline.add(last, &mut rows);
        pipeline
    }

    /// Adds a node after its inputs; `None` at the limit. Decoders bound the depth.
    fn add(&mut self, node: &DatasetNode, rows: &mut usize) -> Option<usize> {
        let row = *rows;
        let children = node.children.iter();
        let inputs: Vec<usize> = children.filter_map(|child| self.add(child, rows)).collect();
        self.total += 1;
        if node.children.is_empty() {
            *rows += 1;
        }
        if self.operations.len() >= MAX_OPERATIONS {
            return None;
        }
        let before = inputs
            .iter()
            .map(|input| self.operations[*input].column + 1);
        let Part { name, parameters } = part(&node.parameters, Vec::new());
        self.operations.push(Operation {
            name,
            parameters,
            transforms: node.operations.iter().map(operation).collect(),
            sampler: node.sampler.as_ref().map(operation),
            column: before.max().unwrap_or(0),
            inputs,
            row,
            running: None,
        });
        Some(self.operations.len() - 1)
    }
}

fn operation(operation: &DatasetOperation) -> Part {
    let list = |name: &str, values: Vec<String>| {
        (!values.is_empty()).then(|| (name.to_owned(), shortened(&values.join(", "))))
    };
    let sizes = list(
        "size",
        operation.sizes.iter().map(ToString::to_string).collect(),
    );
    let weights = list(
        "weights",
        operation.weights.iter().map(ToString::to_string).collect(),
    );
    part(
        &operation.parameters,
        sizes.into_iter().chain(weights).collect(),
    )
}

fn part(parameters: &[(String, LineageValue)], more: Vec<(String, String)>) -> Part {
    let is_name = |name: &str| NAMES.contains(&name);
    let name = parameters.iter().find(|(name, _)| is_name(name));
    let others = parameters.iter().filter(|(name, _)| !is_name(name));
    Part {
        name: name.map_or_else(String::new, |(_, value)| text(value)),
        parameters: others
            .map(|(name, value)| (name.clone(), text(value)))
            .chain(more)
            .collect(),
    }
}

/// A value as short text. `MindSpore` writes texts in lists with their quotes.
fn text(value: &LineageValue) -> String {
    let bare = |text: &str| {
        let inner = text.strip_prefix('"');
        let inner = inner.and_then(|text| text.strip_suffix('"'));
        inner.unwrap_or(text).to_owned()
    };
    let whole = match value {
        LineageValue::Text(text) => bare(text),
        LineageValue::Texts(texts) => texts
            .iter()
            .map(|text| bare(text))
            .collect::<Vec<_>>()
            .join(", "),
        LineageValue::Bool(yes) => yes.to_string(),
        LineageValue::Int(number) => number.to_string(),
        LineageValue::Number(number) => number.to_string(),
        LineageValue::Map(map) => map
            .values
            .iter()
            .map(|(name, value)| format!("{name}: {}", text(value)))
            .collect::<Vec<_>>()
            .join(", "),
    };
    shortened(&whole)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, children: Vec<DatasetNode>) -> DatasetNode {
        let name = LineageValue::Text(name.to_owned());
        DatasetNode {
            parameters: vec![("op_type".to_owned(), name)],
            children,
            ..DatasetNode::default()
        }
    }

    #[test]
    fn operations_stand_after_what_feeds_them() {
        let images = node("Map", vec![node("Images", Vec::new())]);
        let zip = node("Zip", vec![images, node("Labels", Vec::new())]);
        let Pipeline {
            operations, total, ..
        } = Pipeline::new(&node("Batch", vec![zip]));
        let names: Vec<&str> = operations
            .iter()
            .map(|operation| &*operation.name)
            .collect();
        assert_eq!(names, ["Images", "Map", "Labels", "Zip", "Batch"]);
        let places: Vec<_> = operations
            .iter()
            .map(|operation| (operation.column, operation.row))
            .collect();
        assert_eq!(places, [(0, 0), (1, 0), (0, 1), (2, 0), (3, 0)]);
        assert_eq!(operations[3].inputs, [1, 2]);
        assert_eq!(total, 5);
    }

    #[test]
    fn more_than_there_is_room_for_is_counted() {
        let many = (0..MAX_OPERATIONS + 7).map(|_| node("Source", Vec::new()));
        let pipeline = Pipeline::new(&node("Concat", many.collect()));
        assert_eq!(pipeline.operations.len(), MAX_OPERATIONS);
        assert_eq!(pipeline.total, MAX_OPERATIONS + 8);
    }

    #[test]
    fn values_are_text() {
        let texts = LineageValue::Texts(vec!["\"image\"".to_owned(), "label".to_owned()]);
        assert_eq!(text(&texts), "image, label");
        assert_eq!(text(&LineageValue::Number(f64::NAN)), "NaN");
        assert_eq!(text(&LineageValue::Text("<b>".to_owned())), "<b>");
        let long = text(&LineageValue::Text("é".repeat(MAX_CHARS + 1)));
        assert_eq!(long.chars().count(), MAX_CHARS + 1);
        let sampler = operation(&DatasetOperation {
            sizes: vec![16, 8],
            ..DatasetOperation::default()
        });
        assert_eq!(
            sampler.parameters,
            [("size".to_owned(), "16, 8".to_owned())]
        );
    }
}
