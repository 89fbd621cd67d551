//! Hyper-parameters as `TensorBoard`'s plugin records them: what an experiment varies, and what one session had.

use serde::{Deserialize, Serialize};

use crate::float;

/// One of three records: an experiment says what varies, each session says with what it began and how it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Hparams {
    /// What the sessions of an experiment have in common.
    Experiment(Experiment),
    /// A session begins.
    SessionStart(SessionStart),
    /// A session ends.
    SessionEnd(SessionEnd),
}

/// What the sessions of an experiment have in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Experiment {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// Whose it is.
    pub user: String,
    /// Seconds since 1970 when it was made; 0 if not said.
    #[serde(with = "float")]
    pub created_secs: f64,
    /// What varies.
    pub hparams: Vec<HparamInfo>,
    /// What is measured.
    pub metrics: Vec<MetricInfo>,
}

/// A hyper-parameter that varies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HparamInfo {
    /// Its name in [`SessionStart::values`].
    pub name: String,
    /// How to show it; empty: by its name.
    pub display_name: String,
    /// What it is.
    pub description: String,
    /// Which type its values have.
    pub value_type: HparamType,
    /// Which values it may take.
    pub domain: HparamDomain,
}

/// The type of a hyper-parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum HparamType {
    /// Not said.
    #[default]
    Unset,
    /// Text.
    Text,
    /// Yes or no.
    Bool,
    /// A number.
    Number,
}

/// Which values a hyper-parameter may take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum HparamDomain {
    /// Not said.
    #[default]
    Any,
    /// These.
    Discrete(Vec<HparamValue>),
    /// Numbers between two, both included.
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
    /// Nothing: `None` of Python.
    Null,
    /// A number.
    Number(#[serde(with = "float")] f64),
    /// Text.
    Text(String),
    /// Yes or no.
    Bool(bool),
}

/// A scalar that judges a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MetricInfo {
    /// Below the folder of the session, the folder of the run that has it; empty: the session's own.
    pub group: String,
    /// The tag of the scalar.
    pub tag: String,
    /// How to show it; empty: by its tag.
    pub display_name: String,
    /// What it is.
    pub description: String,
    /// What it was measured on.
    pub dataset: MetricDataset,
}

/// What a metric was measured on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MetricDataset {
    /// Not said.
    #[default]
    Unset,
    /// What the model was trained on.
    Training,
    /// What it was not trained on.
    Validation,
}

/// With what a session began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionStart {
    /// Name and value, in the order of the file.
    pub values: Vec<(String, HparamValue)>,
    /// Sessions of one group are repetitions of each other; empty: a group of its own.
    pub group: String,
    /// Where the model is stored, as its writer named it.
    pub model_uri: String,
    /// Where the session can be watched, as its writer named it.
    pub monitor_url: String,
    /// Seconds since 1970 when it began; 0 if not said.
    #[serde(with = "float")]
    pub start_secs: f64,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionEnd {
    /// How.
    pub status: SessionStatus,
    /// Seconds since 1970 when it ended; 0 if not said.
    #[serde(with = "float")]
    pub end_secs: f64,
}

/// How a session stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SessionStatus {
    /// Not said.
    #[default]
    Unknown,
    /// It ended well.
    Success,
    /// It failed.
    Failure,
    /// It has not ended.
    Running,
}
