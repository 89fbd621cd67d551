//! The records of a training run and the formats they are written in.
//!
//! Bytes go in, [`RecordBatch`]es come out; no function here opens a file, starts a thread or waits. A [`Decoder`] is
//! fed the bytes of one file in any cuts and keeps its state between calls.

pub mod body;
pub mod collection;
pub mod decode;
pub mod digits;
pub mod encode;
pub mod explanation;
pub mod float;
pub mod formats;
pub mod frame;
pub mod graph;
pub mod histogram;
pub mod hparams;
pub mod kind;
pub mod layout;
pub mod lineage;
pub mod media;
mod message;
pub mod profile;
pub mod queues;
pub mod record;
pub mod statistics;
pub mod stretch;
pub mod surface;
mod tags;
pub mod tensor;
pub mod values;
mod wire;

pub use body::{Body, GraphFormat, GraphSource, PrCurve};
pub use collection::{CollectorLoss, DumpRef, Severity, WatchHit};
pub use decode::{Checkpoint, Decoder, Format, RestoreError};
pub use encode::RecordWriter;
pub use explanation::Explanation;
pub use formats::{rank_hint, sniff};
pub use graph::Graph;
pub use histogram::Histogram;
pub use hparams::Hparams;
pub use kind::Kind;
pub use layout::ChartLayout;
pub use lineage::Lineage;
pub use media::{Audio, ImageEncoding, Images};
pub use profile::{Profile, ProfileSource};
pub use queues::{QueueFormat, QueueSource};
pub use record::{
    Damage, Record, RecordBatch, ScalarColumns, SessionStart, TagId, TagInfo, Unread,
};
pub use statistics::{Role, TensorSummary};
pub use stretch::Stretch;
pub use surface::Landscape;
pub use values::{OpaqueTensor, Tensor, TensorData, Text};
