//! Where a model comes from: how it was trained, on what, and how it did, as `MindSpore` records it.
//!
//! Text and numbers are as written; text may be `None` in words. What is not in the file is `None`.

use serde::{Deserialize, Serialize};

use crate::float::{self, Float};

/// One of four records of a training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Lineage {
    /// How the model was trained.
    Train(TrainLineage),
    /// How it did.
    Evaluation(EvaluationLineage),
    /// What was done to the data before.
    Dataset(DatasetNode),
    /// What the user wanted to remember.
    UserDefined(UserInfo),
}

/// How a model was trained.
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
    /// Epochs that were asked for.
    pub epochs: Option<i64>,
    /// `stand_alone`, `data_parallel`, …
    pub parallel_mode: Option<String>,
    /// Devices it ran on.
    pub device_count: Option<i64>,
    /// Samples a step.
    pub batch_size: Option<i64>,
    /// Where the training data were.
    pub dataset_path: Option<String>,
    /// How many batches they made, or samples; writers differ.
    pub dataset_size: Option<i64>,
    /// The class of the network.
    pub network: Option<String>,
    /// The last loss, an `f32`, widened.
    #[serde(with = "float::option")]
    pub loss: Option<f64>,
    /// Where the model was stored.
    pub model_path: Option<String>,
    /// Bytes of the stored model.
    pub model_size_bytes: Option<i64>,
}

/// How a model did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EvaluationLineage {
    /// The metrics as JSON text, as written.
    pub metric_json: Option<String>,
    /// Names and numbers found in that text, in its order; text in it that is a number counts. Empty if it is not an
    /// object of numbers.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<(String, f64)>))]
    pub metrics: Vec<(String, Float)>,
    /// Where the data were.
    pub dataset_path: Option<String>,
    /// How many batches they made, or samples; writers differ.
    pub dataset_size: Option<i64>,
}

/// A step of a data pipeline; its inputs are its children.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DatasetNode {
    /// What the step is given; its operation is the parameter `op_type`.
    pub parameters: Vec<(String, LineageValue)>,
    /// What it does to each sample, in order.
    pub operations: Vec<DatasetOperation>,
    /// How it chooses samples.
    pub sampler: Option<DatasetOperation>,
    /// Where its samples come from.
    #[cfg_attr(feature = "openapi", schema(no_recursion))]
    pub children: Vec<DatasetNode>,
}

/// An operation on samples, or a sampler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DatasetOperation {
    /// What it is given.
    pub parameters: Vec<(String, LineageValue)>,
    /// Sizes it makes samples of.
    pub sizes: Vec<i64>,
    /// Weights, as `f32` widened.
    #[serde(with = "float::list")]
    pub weights: Vec<f64>,
}

/// What a parameter is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum LineageValue {
    /// Text.
    Text(String),
    /// Texts.
    Texts(Vec<String>),
    /// Yes or no.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number.
    Number(#[serde(with = "float")] f64),
    /// Values with names.
    Map(UserInfo),
}

/// What the user wanted to remember.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UserInfo {
    /// Names and values in the order of the file, those of nested lists among them.
    #[cfg_attr(feature = "openapi", schema(no_recursion))]
    pub values: Vec<(String, LineageValue)>,
}
