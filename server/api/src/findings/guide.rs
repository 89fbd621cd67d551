//! The guided diagnosis: findings of a run in rows by topic.

use serde::{Deserialize, Serialize};
use trainscope_format::Severity;

use super::{Hit, Remark};
use crate::Sentence;

/// Topic of a row, in the order in which an expert checks them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Topic {
    /// Recorded kinds, and checks that need more data.
    Recorded,
    /// Learning rate, size of updates, clipping.
    Hyperparameters,
    /// The graph, weights, gradients, activations.
    Model,
    /// Input data.
    Input,
    /// Loss and gradient norm.
    Loss,
    /// Metric and generalisation.
    Metric,
    /// Time of the steps, and memory of the devices.
    Speed,
}

impl Topic {
    /// All topics in order.
    pub const ALL: [Self; 7] = [
        Self::Recorded,
        Self::Hyperparameters,
        Self::Model,
        Self::Input,
        Self::Loss,
        Self::Metric,
        Self::Speed,
    ];
}

/// State of a row, in ascending order of severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RowState {
    /// No data of the topic were recorded.
    Skipped,
    /// Nothing was found, but not everything was judged, or something else is wrong that may be the reason.
    Open,
    /// Nothing was found.
    Passed,
    /// A note.
    Note,
    /// A warning.
    Warning,
    /// An error.
    Error,
}

impl From<Severity> for RowState {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Info => Self::Note,
            Severity::Warning => Self::Warning,
            Severity::Error => Self::Error,
        }
    }
}

/// A row of the guided diagnosis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GuideRow {
    /// Its topic.
    pub topic: Topic,
    /// The worst that was found.
    pub state: RowState,
    /// Number of watchpoints.
    pub watched: u64,
    /// Number of hits.
    pub hits: u64,
    /// The first hit of the worst severity; of those about speed the one with the largest gain.
    pub worst: Option<Hit>,
    /// The first note or fault of the worst state, unless a hit says the same.
    pub remark: Option<Remark>,
    /// Amount of data that was judged without a hit, or the data that are missing; empty if there is a hit or remark.
    pub sentence: Sentence,
}
