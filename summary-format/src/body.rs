//! Contents of records that are not one number.
//!
//! The index stores bodies byte for byte in a form that is not self-describing, so no field is skipped, and numbers are
//! plain `f64`. Content that may be large (pictures, sound, tensors, graphs) stays in the file: a [`Stretch`] is its
//! place.

use serde::{Deserialize, Serialize};

use crate::collection::{CollectorLoss, DumpRef, WatchHit};
use crate::explanation::Explanation;
use crate::float;
use crate::histogram::Histogram;
use crate::hparams::Hparams;
use crate::kind::Kind;
use crate::layout::ChartLayout;
use crate::lineage::Lineage;
use crate::media::{Audio, Images};
use crate::profile::ProfileSource;
use crate::program::ProgramFact;
use crate::queues::QueueSource;
use crate::statistics::TensorSummary;
use crate::stretch::Stretch;
use crate::surface::Landscape;
use crate::trace::TraceSource;
use crate::values::{OpaqueTensor, Tensor, Text};

/// The content of a record. New kinds are appended: the order is part of the stored form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// Counts of values in bins.
    Histogram(Histogram),
    /// Encoded images.
    Images(Images),
    /// Encoded audio.
    Audio(Audio),
    /// Text, usually markdown.
    Text(Text),
    /// The values of a tensor.
    Tensor(Tensor),
    /// A computation graph, as a reference.
    Graph(GraphSource),
    /// Hyper-parameters.
    Hparams(Hparams),
    /// Precision and recall over thresholds.
    PrCurve(PrCurve),
    /// A layout of scalar charts.
    CustomScalars(ChartLayout),
    /// Training and evaluation data, settings and results of a model.
    Lineage(Box<Lineage>),
    /// Loss around a path of weights.
    Landscape(Box<Landscape>),
    /// Explanations of a prediction.
    Explanation(Box<Explanation>),
    /// Statistics of a tensor that is not stored.
    Statistics(Box<TensorSummary>),
    /// Spans and counters, as a reference.
    Profile(ProfileSource),
    /// Location of a tensor dump.
    Dump(DumpRef),
    /// A condition that the training program reported.
    Hit(WatchHit),
    /// Records that the program could not write.
    Loss(CollectorLoss),
    /// Measurements of a data pipeline, as a reference.
    Queues(QueueSource),
    /// A file of a profiler.
    Trace(TraceSource),
    /// Shape of a tensor with unsupported elements.
    Opaque(OpaqueTensor),
    /// A fact of the training program.
    Program(Box<ProgramFact>),
}

impl Body {
    /// The kind of tag for such bodies.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Histogram(_) => Kind::Histograms,
            Self::Images(_) => Kind::Images,
            Self::Audio(_) => Kind::Audio,
            Self::Text(_) => Kind::Text,
            Self::Tensor(_) | Self::Opaque(_) => Kind::Tensors,
            Self::Graph(_) => Kind::Graphs,
            Self::Hparams(_) => Kind::Hparams,
            Self::PrCurve(_) => Kind::PrCurves,
            Self::CustomScalars(_) => Kind::CustomScalars,
            Self::Lineage(_) => Kind::Lineage,
            Self::Landscape(_) => Kind::Landscapes,
            Self::Explanation(_) => Kind::Explanations,
            Self::Statistics(_) => Kind::Statistics,
            Self::Profile(_) => Kind::Profile,
            Self::Dump(_) => Kind::Dumps,
            Self::Hit(_) => Kind::Hits,
            Self::Loss(_) => Kind::Losses,
            Self::Queues(_) => Kind::InputQueues,
            Self::Trace(_) => Kind::Traces,
            Self::Program(_) => Kind::Program,
        }
    }
}

/// Encoding of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum GraphFormat {
    /// A `GraphDef` of `TensorFlow`; torch's traced models too.
    TfGraphDef,
    /// A `MetaGraphDef` of `TensorFlow`, which holds a `GraphDef`.
    TfMetaGraphDef,
    /// A `RunMetadata` of `TensorFlow`: graphs as executed, with devices.
    TfRunMetadata,
    /// The JSON text of a Keras model.
    KerasJson,
    /// A `GraphProto` of `MindSpore`.
    MindsporeGraph,
    /// A `ModelProto` of `MindSpore`, as in its `.pb` files.
    MindsporeModel,
    /// A `ModelProto` of ONNX.
    Onnx,
    /// Native format, as the collector writes it.
    Native,
}

impl GraphFormat {
    /// Detects a graph file by its name and first bytes; 16 are enough.
    ///
    /// `.onnx` is ONNX. A `.pb` of `MindSpore` begins with a version (field 1) followed by the graph (field 4), a
    /// `GraphDef` begins with a node (field 1); other files with that extension are not graphs.
    pub fn sniff(file_name: &str, head: &[u8]) -> Option<Self> {
        let (_, extension) = file_name.rsplit_once('.')?;
        match (&*extension.to_ascii_lowercase(), head) {
            ("onnx", _) => Some(Self::Onnx),
            ("pb", [0x08, version, 0x22, ..]) if *version < 0x80 => Some(Self::MindsporeModel),
            ("pb", [0x0a, ..]) => Some(Self::TfGraphDef),
            _ => None,
        }
    }
}

/// Reference to a computation graph in its file; the decoders in [`crate::formats`] read it on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphSource {
    /// Encoding.
    pub format: GraphFormat,
    /// Byte range of the graph.
    pub data: Stretch,
}

/// Precision and recall of a binary classifier over thresholds. All lists are equally long and in the order of the
/// thresholds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PrCurve {
    /// Thresholds from 0 to 1 in equal steps: a prediction above counts as positive.
    #[serde(with = "float::list")]
    pub thresholds: Vec<f64>,
    /// True positives, weighted.
    #[serde(with = "float::list")]
    pub true_positives: Vec<f64>,
    /// False positives, weighted.
    #[serde(with = "float::list")]
    pub false_positives: Vec<f64>,
    /// True negatives, weighted.
    #[serde(with = "float::list")]
    pub true_negatives: Vec<f64>,
    /// False negatives, weighted.
    #[serde(with = "float::list")]
    pub false_negatives: Vec<f64>,
    /// Precision from 0 to 1, as written.
    #[serde(with = "float::list")]
    pub precision: Vec<f64>,
    /// Recall from 0 to 1, as written.
    #[serde(with = "float::list")]
    pub recall: Vec<f64>,
}
