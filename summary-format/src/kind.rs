//! Kinds of records, which separate tags of the same name and name their place in the store.

use serde::{Deserialize, Serialize};

/// Kind of the records of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// One number a step.
    Scalars,
    /// Counts of values in bins.
    Histograms,
    /// Encoded images.
    Images,
    /// Encoded audio.
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
    /// Point clouds and meshes: recognised, not displayed.
    Meshes,
    /// Embedding projector: recognised, not displayed.
    Projector,
    /// Training and evaluation data, settings and results of a model.
    Lineage,
    /// Loss around a path of weights.
    Landscapes,
    /// Explanations of single predictions.
    Explanations,
    /// Statistics of tensors that are not stored: counts, moments, changes.
    Statistics,
    /// Spans of time and counters.
    Profile,
    /// References to tensors that were dumped in full.
    Dumps,
    /// Conditions reported by the training program.
    Hits,
    /// Records that the program could not write.
    Losses,
    /// A value of an unknown plugin.
    Unknown,
    /// Measurements of a data pipeline.
    InputQueues,
    /// Files of profilers.
    Traces,
    /// Facts of the training program.
    Program,
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
            Self::Traces => "traces",
            Self::Program => "program",
        }
    }
}
