//! Hyper-parameters as `TensorBoard`'s plugin records them: the ranges of an experiment, and the values of one
//! session.

use serde::{Deserialize, Serialize};

use crate::float;

/// One of three records: the experiment with its ranges, and the start and the end of each session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Hparams {
    /// Settings common to the sessions of an experiment.
    Experiment(Experiment),
    /// A session begins.
    SessionStart(SessionStart),
    /// A session ends.
    SessionEnd(SessionEnd),
}

/// Settings common to the sessions of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Experiment {
    /// Its name.
    pub name: String,
    /// Description.
    pub description: String,
    /// Owner.
    pub user: String,
    /// Time of creation, seconds since 1970; 0 if unknown.
    #[serde(with = "float")]
    pub created_secs: f64,
    /// Hyper-parameters that vary.
    pub hparams: Vec<HparamInfo>,
    /// Metrics.
    pub metrics: Vec<MetricInfo>,
}

/// A hyper-parameter that varies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HparamInfo {
    /// Its name in [`SessionStart::values`].
    pub name: String,
    /// Name to display; empty to use `name`.
    pub display_name: String,
    /// Description.
    pub description: String,
    /// Type of its values.
    pub value_type: HparamType,
    /// Values it may take.
    pub domain: HparamDomain,
}

/// The type of a hyper-parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum HparamType {
    /// Unknown.
    #[default]
    Unset,
    /// Text.
    Text,
    /// A boolean.
    Bool,
    /// A number.
    Number,
}

/// Values a hyper-parameter may take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum HparamDomain {
    /// Unrestricted.
    #[default]
    Any,
    /// A list of values.
    Discrete(Vec<HparamValue>),
    /// Numbers in a closed interval.
    Interval {
        /// The smallest.
        #[serde(with = "float")]
        min: f64,
        /// The largest.
        #[serde(with = "float")]
        max: f64,
    },
}

/// The value of a hyper-parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum HparamValue {
    /// `None` of Python.
    Null,
    /// A number.
    Number(#[serde(with = "float")] f64),
    /// Text.
    Text(String),
    /// A boolean.
    Bool(bool),
}

/// A scalar that measures the success of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MetricInfo {
    /// Folder of the run with the scalar, below the folder of the session; empty for the session itself.
    pub group: String,
    /// The tag of the scalar.
    pub tag: String,
    /// Name to display; empty to use the tag.
    pub display_name: String,
    /// Description.
    pub description: String,
    /// Data set it was measured on.
    pub dataset: MetricDataset,
}

/// Data set of a metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MetricDataset {
    /// Unknown.
    #[default]
    Unset,
    /// The training data.
    Training,
    /// Held-out data.
    Validation,
}

/// Start of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionStart {
    /// Name and value, in the order of the file.
    pub values: Vec<(String, HparamValue)>,
    /// Sessions of one group are repetitions of each other; empty: a group of its own.
    pub group: String,
    /// Storage location of the model, as its writer named it.
    pub model_uri: String,
    /// Address of a monitoring page, as its writer named it.
    pub monitor_url: String,
    /// Start time, seconds since 1970; 0 if unknown.
    #[serde(with = "float")]
    pub start_secs: f64,
}

/// End of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionEnd {
    /// Result.
    pub status: SessionStatus,
    /// End time, seconds since 1970; 0 if unknown.
    #[serde(with = "float")]
    pub end_secs: f64,
}

/// Status of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SessionStatus {
    /// Unknown.
    #[default]
    Unknown,
    /// It ended well.
    Success,
    /// It failed.
    Failure,
    /// It has not ended.
    Running,
}
