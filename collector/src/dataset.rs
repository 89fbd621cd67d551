//! Builder of data pipelines, step by step.

use trainscope_format::Lineage;
use trainscope_format::lineage::{DatasetNode, DatasetOperation, LineageValue};

/// The steps of a data pipeline, starting with its source.
///
/// ```
/// use trainscope_collector::DatasetPipeline;
///
/// let pipeline = DatasetPipeline::source("Mnist")
///     .parameter("path", "data/mnist")
///     .then("Map")
///     .operation("Normalize")
///     .then("Batch")
///     .parameter("size", 32);
/// # let _lineage = pipeline.build();
/// ```
#[derive(Clone, Debug)]
pub struct DatasetPipeline {
    /// The last step; earlier steps are its children.
    node: DatasetNode,
}

/// Value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterValue(LineageValue);

impl From<&str> for ParameterValue {
    fn from(text: &str) -> Self {
        Self(LineageValue::Text(text.to_owned()))
    }
}

impl From<i64> for ParameterValue {
    fn from(number: i64) -> Self {
        Self(LineageValue::Int(number))
    }
}

impl From<f64> for ParameterValue {
    fn from(number: f64) -> Self {
        Self(LineageValue::Number(number))
    }
}

impl From<bool> for ParameterValue {
    fn from(is_set: bool) -> Self {
        Self(LineageValue::Bool(is_set))
    }
}

fn named(op_type: &str) -> Vec<(String, LineageValue)> {
    vec![("op_type".to_owned(), LineageValue::Text(op_type.to_owned()))]
}

impl DatasetPipeline {
    /// Starts with the source of the data.
    pub fn source(op_type: &str) -> Self {
        let node = DatasetNode {
            parameters: named(op_type),
            ..DatasetNode::default()
        };
        Self { node }
    }

    /// Adds the next step.
    #[must_use]
    pub fn then(self, op_type: &str) -> Self {
        let mut next = Self::source(op_type);
        next.node.children.push(self.node);
        next
    }

    /// Adds a parameter to the last step.
    #[must_use]
    pub fn parameter(mut self, name: &str, value: impl Into<ParameterValue>) -> Self {
        let value = value.into().0;
        self.node.parameters.push((name.to_owned(), value));
        self
    }

    /// Adds an operation on each sample to the last step.
    #[must_use]
    pub fn operation(mut self, op_type: &str) -> Self {
        self.node.operations.push(DatasetOperation {
            parameters: named(op_type),
            ..DatasetOperation::default()
        });
        self
    }

    /// Sets the sampler of the last step.
    #[must_use]
    pub fn sampler(mut self, op_type: &str) -> Self {
        self.node.sampler = Some(DatasetOperation {
            parameters: named(op_type),
            ..DatasetOperation::default()
        });
        self
    }

    /// Converts the pipeline to an argument of [`crate::Collector::lineage`].
    pub fn build(self) -> Lineage {
        Lineage::Dataset(self.node)
    }
}
