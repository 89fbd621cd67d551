//! The seam between bytes and records: what every format implements.
//!
//! A decoder never opens a file. Whoever reads one feeds its bytes in order, in any cuts, and keeps a [`Checkpoint`]
//! to go on from after a restart.

use serde::{Deserialize, Serialize};

use crate::body::{Body, GraphFormat, GraphSource, Stretch};
use crate::formats;
use crate::formats::event_file::{EventFile, ReadEvent};
use crate::formats::whole_file::WholeFile;
use crate::queues::{QueueFormat, QueueSource};
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

    /// A decoder for a file of this format from its first byte. The name of the file, without folders, is for names
    /// only: what fills a file is called as the file is.
    pub fn decoder(self, file_name: &str) -> Box<dyn Decoder> {
        match self.content() {
            Content::Events(read_event) => Box::new(EventFile::new(read_event)),
            Content::Whole(body) => Box::new(WholeFile::at(body, file_name, 0)),
        }
    }

    /// A decoder that goes on from a checkpoint of the same file.
    pub fn resume(
        self,
        file_name: &str,
        from: Checkpoint,
    ) -> Result<Box<dyn Decoder>, RestoreError> {
        Ok(match self.content() {
            Content::Events(read_event) => Box::new(EventFile::resume(read_event, from)?),
            Content::Whole(body) => Box::new(WholeFile::at(body, file_name, from.offset)),
        })
    }

    fn content(self) -> Content {
        let data = Stretch::WHOLE_FILE;
        match self {
            Self::Tfevents => Content::Events(formats::tfevents::read_event),
            Self::MindsporeSummary => Content::Events(formats::mindspore_summary::read_event),
            Self::MindsporeLineage => {
                Content::Events(formats::mindspore_summary::read_lineage_event)
            }
            Self::Graph(format) => Content::Whole(Body::Graph(GraphSource { format, data })),
            Self::Queues(format) => Content::Whole(Body::Queues(QueueSource { format, data })),
        }
    }
}

/// What a file is made of.
enum Content {
    /// Events, and how one is read.
    Events(ReadEvent),
    /// One thing.
    Whole(Body),
}

/// Recognises a file by its name (the last part of its path) and, if that is not enough, its first bytes, which `head`
/// is asked for; 16 are enough. Names decide for streams, because a file that has just been created has no bytes yet.
pub fn sniff(file_name: &str, head: impl FnOnce() -> Vec<u8>) -> Option<Format> {
    let queues = QueueFormat::sniff(file_name).map(Format::Queues);
    queues.or_else(|| formats::sniff(file_name)).or_else(|| {
        let (_, extension) = file_name.rsplit_once('.')?;
        let is_graph = ["onnx", "pb"]
            .iter()
            .any(|known| extension.eq_ignore_ascii_case(known));
        let head = is_graph.then(head)?;
        GraphFormat::sniff(file_name, &head).map(Format::Graph)
    })
}

/// The rank (or device) that a file name carries: `<prefix>.out.events.summary.<seconds>.<rank>.<host>…` of MindSpore.
/// `MindSpore` ends what it profiles of a data pipeline with it. TensorBoard's names have none.
pub fn rank_hint(file_name: &str) -> Option<u32> {
    let queues = formats::minddata::claims(file_name).map(|(_, rank)| rank);
    queues.or_else(|| formats::mindspore_summary::rank_hint(file_name))
}
