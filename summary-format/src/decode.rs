//! The seam between bytes and records: what every format implements.
//!
//! A decoder never opens a file. Whoever reads one feeds its bytes in order, in any cuts, and keeps a [`Checkpoint`]
//! to go on from after a restart.

use serde::{Deserialize, Serialize};

use crate::body::GraphFormat;
use crate::queues::QueueFormat;
use crate::record::{Damage, RecordBatch, TagInfo};

/// Turns the bytes of one file into records. Bytes are fed in order and in any cuts: the records are the same.
pub trait Decoder: Send {
    /// Decodes the bytes that follow those of the last call and appends what they complete to `out`.
    ///
    /// Wanting more bytes is not an error: an incomplete record at the end is kept for the next call. Damage is not
    /// one either: it is reported in [`RecordBatch::damages`] and decoding goes on at the next valid record.
    fn push(&mut self, bytes: &[u8], out: &mut RecordBatch);

    /// The offset of the first byte that is not part of a complete record: fed so far, but waiting for more.
    /// Equal to the number of bytes fed when nothing waits.
    fn offset(&self) -> u64;

    /// If the last bytes fed cannot begin a record (damage whose end has not been seen yet): what is wrong there.
    fn open_damage(&self) -> Option<Damage>;

    /// What must be remembered to go on at [`Decoder::offset`].
    fn checkpoint(&self) -> Checkpoint;
}

/// What must be remembered of a file to go on reading it: feed the bytes from `offset` on to a decoder made by
/// [`Format::resume`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Bytes before this one are decoded.
    pub offset: u64,
    /// All tags reported so far, in order of their ids.
    pub tags: Vec<TagInfo>,
    /// What else the format remembers; opaque and small.
    pub state: Vec<u8>,
}

/// A checkpoint that this version cannot go on from: read the file from its start.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the checkpoint was written by another version")]
pub struct RestoreError;

/// The formats that can be told apart by name and first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// TensorBoard event files, of both generations, and our own.
    Tfevents,
    /// MindSpore summary and explain files.
    MindsporeSummary,
    /// MindSpore lineage files: framed alike, but their event numbers its fields differently.
    MindsporeLineage,
    /// A file that is a graph.
    Graph(GraphFormat),
    /// A file that says how a data pipeline ran.
    Queues(QueueFormat),
}

impl Format {
    /// The name used in the API and on disk.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tfevents => "tfevents",
            Self::MindsporeSummary => "mindspore_summary",
            Self::MindsporeLineage => "mindspore_lineage",
            Self::Graph(_) => "graph",
            Self::Queues(_) => "input_queues",
        }
    }
}
