//! Lineage of a model as `MindSpore` records it: training settings, data and evaluation.
//!
//! Text and numbers are as written; text may be the word `None`. Missing fields are `None`.

use serde::{Deserialize, Serialize};

use crate::float::{self, Float};

/// One of four records of a training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Lineage {
    /// Settings of the training.
    Train(TrainLineage),
    /// Results of an evaluation.
    Evaluation(EvaluationLineage),
    /// Data pipeline.
    Dataset(DatasetNode),
    /// User-defined information.
    UserDefined(UserInfo),
}

/// Settings of a training.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TrainLineage {
    /// The class of the optimizer.
    pub optimizer: Option<String>,
    /// An `f32`, widened.
    #[serde(with = "float::option")]
    pub learning_rate: Option<f64>,
    /// The class of the loss function.
    pub loss_function: Option<String>,
    /// Requested epochs.
    pub epochs: Option<i64>,
    /// `stand_alone`, `data_parallel`, …
    pub parallel_mode: Option<String>,
    /// Devices it ran on.
    pub device_count: Option<i64>,
    /// Samples per step.
    pub batch_size: Option<i64>,
    /// Path of the training data.
    pub dataset_path: Option<String>,
    /// Size of the data set, in batches or samples depending on the writer.
    pub dataset_size: Option<i64>,
    /// The class of the network.
    pub network: Option<String>,
    /// The last loss, an `f32`, widened.
    #[serde(with = "float::option")]
    pub loss: Option<f64>,
    /// Path of the stored model.
    pub model_path: Option<String>,
    /// Size of the stored model in bytes.
    pub model_size_bytes: Option<i64>,
}

/// Results of an evaluation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EvaluationLineage {
    /// The metrics as JSON text, as written.
    pub metric_json: Option<String>,
    /// Names and numbers of that text, in its order; text that is a number counts. Empty if it is not an object of
    /// numbers.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<(String, f64)>))]
    pub metrics: Vec<(String, Float)>,
    /// Path of the data.
    pub dataset_path: Option<String>,
    /// Size of the data set, in batches or samples depending on the writer.
    pub dataset_size: Option<i64>,
}

/// A step of a data pipeline; its inputs are its children.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DatasetNode {
    /// Parameters of the step; its operation is the parameter `op_type`.
    pub parameters: Vec<(String, LineageValue)>,
    /// Operations on each sample, in order.
    pub operations: Vec<DatasetOperation>,
    /// Sampler.
    pub sampler: Option<DatasetOperation>,
    /// Input steps.
    #[cfg_attr(feature = "openapi", schema(no_recursion))]
    pub children: Vec<DatasetNode>,
}

/// An operation on samples, or a sampler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DatasetOperation {
    /// Parameters.
    pub parameters: Vec<(String, LineageValue)>,
    /// Sizes of the resulting samples.
    pub sizes: Vec<i64>,
    /// Weights, as `f32` widened.
    #[serde(with = "float::list")]
    pub weights: Vec<f64>,
}

/// Value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum LineageValue {
    /// Text.
    Text(String),
    /// Texts.
    Texts(Vec<String>),
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number.
    Number(#[serde(with = "float")] f64),
    /// Named values.
    Map(UserInfo),
}

/// User-defined information.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UserInfo {
    /// Names and values in the order of the file, including those of nested lists.
    #[cfg_attr(feature = "openapi", schema(no_recursion))]
    pub values: Vec<(String, LineageValue)>,
}
