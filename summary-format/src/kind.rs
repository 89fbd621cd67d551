//! Kinds of records, by which tags are told apart and stored.

use serde::{Deserialize, Serialize};

/// What a tag records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// One number a step.
    Scalars,
    /// Counts of values in bins.
    Histograms,
    /// Encoded pictures.
    Images,
    /// Encoded sound.
    Audio,
    /// Text, usually markdown.
    Text,
    /// Values of a tensor in full.
    Tensors,
    /// A computation graph.
    Graphs,
    /// Hyper-parameters and the metrics they led to.
    Hparams,
    /// Precision and recall over thresholds.
    PrCurves,
    /// A layout of scalar charts.
    CustomScalars,
    /// Point clouds and meshes: recognised, not shown.
    Meshes,
    /// Embedding projector: recognised, not shown.
    Projector,
    /// What a model was trained from and evaluated on.
    Lineage,
    /// Loss around a path of weights.
    Landscapes,
    /// Explanations of single predictions.
    Explanations,
    /// What is known of tensors that are not kept: counts, moments, changes.
    Statistics,
    /// Spans of time and counters.
    Profile,
    /// References to tensors that were dumped in full.
    Dumps,
    /// Conditions that held while the program was running.
    Hits,
    /// Records that the program could not write.
    Losses,
    /// A value whose plugin is not known to this version.
    Unknown,
    /// How a data pipeline ran.
    InputQueues,
}

impl Kind {
    /// The name used in the API and on disk, `scalars`, `pr_curves`, …
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scalars => "scalars",
            Self::Histograms => "histograms",
            Self::Images => "images",
            Self::Audio => "audio",
            Self::Text => "text",
            Self::Tensors => "tensors",
            Self::Graphs => "graphs",
            Self::Hparams => "hparams",
            Self::PrCurves => "pr_curves",
            Self::CustomScalars => "custom_scalars",
            Self::Meshes => "meshes",
            Self::Projector => "projector",
            Self::Lineage => "lineage",
            Self::Landscapes => "landscapes",
            Self::Explanations => "explanations",
            Self::Statistics => "statistics",
            Self::Profile => "profile",
            Self::Dumps => "dumps",
            Self::Hits => "hits",
            Self::Losses => "losses",
            Self::Unknown => "unknown",
            Self::InputQueues => "input_queues",
        }
    }
}
