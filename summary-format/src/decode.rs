//! Interface between bytes and records, implemented by every format.
//!
//! A decoder never opens a file. The caller feeds the bytes in order, in any cuts, and stores a [`Checkpoint`] to
//! resume after a restart.

use serde::{Deserialize, Serialize};

use crate::body::GraphFormat;
use crate::queues::QueueFormat;
use crate::record::{Damage, RecordBatch, TagInfo};
use crate::trace::TraceFile;

/// Turns the bytes of one file into records. Bytes are fed in order and in any cuts: the records are the same.
pub trait Decoder: Send {
    /// Decodes the bytes that follow those of the last call and appends the completed records to `out`.
    ///
    /// Neither truncation nor damage is an error: an incomplete record at the end is buffered for the next call, and
    /// damage is reported in [`RecordBatch::damages`], with decoding resumed at the next valid record.
    fn push(&mut self, bytes: &[u8], out: &mut RecordBatch);

    /// The offset of the first byte that is not part of a complete record. Equal to the number of bytes fed if no
    /// bytes are buffered.
    fn offset(&self) -> u64;

    /// Description of the damage at the current offset, if the buffered bytes cannot begin a record.
    fn open_damage(&self) -> Option<Damage>;

    /// Skips bytes without reading them, as in a file that is a single object; `false` if the decoder needs them.
    fn skip(&mut self, _len_bytes: u64) -> bool {
        false
    }

    /// State needed to resume at [`Decoder::offset`].
    fn checkpoint(&self) -> Checkpoint;
}

/// State needed to resume reading a file: feed the bytes after `offset` to a decoder made by [`Format::resume`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Number of bytes decoded.
    pub offset: u64,
    /// All tags reported so far, in order of their ids.
    pub tags: Vec<TagInfo>,
    /// Further state of the format; opaque and small.
    pub state: Vec<u8>,
}

/// Error for a checkpoint that this version cannot resume: read the file from its start.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the checkpoint was written by another version")]
pub struct RestoreError;

/// Formats, distinguished by file name and first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// TensorBoard event files of both generations, and those of this crate.
    Tfevents,
    /// MindSpore summary and explain files.
    MindsporeSummary,
    /// MindSpore lineage files: the same frames, but events with other field numbers.
    MindsporeLineage,
    /// A graph file.
    Graph(GraphFormat),
    /// A profiler file of a data pipeline.
    Queues(QueueFormat),
    /// A file of a profiler.
    Trace(TraceFile),
}

impl Format {
    /// `true` if a file is a single object, which is read again when it changes; `false` for a stream of records.
    pub const fn is_whole(self) -> bool {
        matches!(self, Self::Graph(_) | Self::Queues(_) | Self::Trace(_))
    }

    /// The name used in the API and on disk.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tfevents => "tfevents",
            Self::MindsporeSummary => "mindspore_summary",
            Self::MindsporeLineage => "mindspore_lineage",
            Self::Graph(_) => "graph",
            Self::Queues(_) => "input_queues",
            Self::Trace(_) => "trace",
        }
    }
}
