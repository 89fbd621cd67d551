//! Entries of the queue: scalars and spans as flat entries next to one arena of text, everything else as a payload.

use trainscope_format::encode::Moment;
use trainscope_format::graph::Graph;
use trainscope_format::profile::{LaneKind, SpanKind};
use trainscope_format::statistics::TensorSummary;
use trainscope_format::tensor::DType;
use trainscope_format::{Histogram, Hparams, Landscape, Lineage, ProgramFact, Text};

use crate::dump::DumpTensor;
use crate::media::{Pixels, Sound};

/// A byte range of [`Batch::text`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    start: u32,
    len: u32,
}

/// One record in the queue.
#[derive(Debug)]
pub(crate) enum Entry {
    Scalar {
        tag: Piece,
        at: Moment,
        value: f64,
        /// `true` if the next entry belongs to the same event.
        is_joined: bool,
    },
    Span {
        kind: SpanKind,
        name: Piece,
        lane: Piece,
        step: i64,
        start_nanos: i64,
        duration_nanos: u64,
    },
    /// Kind of a lane, for all its later spans.
    Lane {
        name: Piece,
        kind: LaneKind,
    },
    Flow {
        from_lane: Piece,
        from_nanos: i64,
        to_lane: Piece,
        to_nanos: i64,
    },
    Counter {
        name: Piece,
        time_nanos: i64,
        value: f64,
    },
    Record {
        at: Moment,
        payload: Box<Payload>,
    },
}

/// Content of records that are not one number.
#[derive(Debug)]
pub(crate) enum Payload {
    Histogram(String, Histogram),
    Images(String, Vec<Pixels>),
    Audio(String, Sound),
    Text(String, Text),
    Tensor(String, DType, Vec<u64>, Vec<u8>),
    Hparams(Hparams),
    Statistics(Vec<(String, TensorSummary)>),
    Graph(String, Graph),
    Lineage(Lineage),
    Landscape(String, Box<Landscape>),
    Dump(Vec<DumpTensor>, String),
    Event(Vec<u8>),
    SessionStart,
    Program(Box<ProgramFact>),
    #[cfg(feature = "live")]
    Hit(trainscope_format::WatchHit),
}

impl Payload {
    /// Approximate memory use in bytes.
    pub(crate) fn len_bytes(&self) -> usize {
        let fixed = size_of::<Self>();
        fixed
            + match self {
                Self::Histogram(tag, histogram) => tag.len() + 24 * histogram.counts.len(),
                Self::Images(tag, pictures) => {
                    tag.len() + pictures.iter().map(Pixels::len_bytes).sum::<usize>()
                }
                Self::Audio(tag, sound) => tag.len() + sound.len_bytes(),
                Self::Text(tag, text) => {
                    tag.len() + text.items.iter().map(String::len).sum::<usize>()
                }
                Self::Tensor(tag, _, shape, bytes) => tag.len() + 8 * shape.len() + bytes.len(),
                // A few hundred bytes in general; larger ones are written only once per run.
                Self::Hparams(_) | Self::Lineage(_) => 4 << 10,
                Self::Statistics(tensors) => tensors
                    .iter()
                    .map(|(tag, summary)| tag.len() + len_of_summary(summary))
                    .sum(),
                Self::Graph(_, graph) => graph.nodes.len() * 512,
                Self::Landscape(tag, landscape) => {
                    let points = landscape.surface.as_ref();
                    tag.len() + (4 << 10) + points.map_or(0, |points| 8 * points.z.values.len())
                }
                Self::Dump(tensors, _) => tensors.iter().map(DumpTensor::len_bytes).sum(),
                Self::Event(event) => event.len(),
                Self::SessionStart => 0,
                Self::Program(fact) => {
                    let numbers = fact.numbers.iter().map(|(name, _)| name.len() + 8);
                    let texts = fact
                        .texts
                        .iter()
                        .map(|(name, text)| name.len() + text.len());
                    let source = fact.source.as_ref();
                    let source =
                        source.map_or(0, |source| source.file.len() + source.excerpt.len());
                    numbers.chain(texts).sum::<usize>() + source + fact.subject.len()
                }
                #[cfg(feature = "live")]
                Self::Hit(hit) => hit.condition.len() + hit.tag.len() + hit.detail.len(),
            }
    }

    /// Number of records lost with it.
    pub(crate) fn len_records(&self) -> u64 {
        match self {
            Self::Statistics(tensors) => tensors.len() as u64,
            _ => 1,
        }
    }
}

/// Exponents take two numbers for each non-empty bucket: a few dozen.
fn len_of_summary(summary: &TensorSummary) -> usize {
    let channels = summary
        .channels
        .as_ref()
        .map_or(0, |channels| 48 * channels.len());
    let exponents = if summary.stats.exponents.is_some() {
        1 << 10
    } else {
        0
    };
    size_of::<TensorSummary>() + 8 * summary.shape.len() + channels + exponents
}

/// Entries in order, and the text that they refer to.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) entries: Vec<Entry>,
    text: String,
    payload_bytes: usize,
}

impl Batch {
    /// Allocates capacity for this many bytes of numbers; the system provides pages on first use.
    pub(crate) fn with_room(bytes: usize) -> Self {
        Self {
            entries: Vec::with_capacity(bytes / size_of::<Entry>()),
            text: String::with_capacity(bytes),
            payload_bytes: 0,
        }
    }

    /// Memory use of its content in bytes.
    #[inline]
    pub(crate) fn len_bytes(&self) -> usize {
        self.entries.len() * size_of::<Entry>() + self.text.len() + self.payload_bytes
    }

    /// `true` if this much more text fits: offsets are 32-bit numbers.
    #[inline]
    pub(crate) fn has_room(&self, text_bytes: usize) -> bool {
        u32::try_from(self.text.len() + text_bytes).is_ok()
    }

    /// Stores text; the caller has checked the capacity.
    #[inline]
    pub(crate) fn keep(&mut self, text: &str) -> Piece {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let piece = Piece {
            start: place(self.text.len()),
            len: place(text.len()),
        };
        self.text.push_str(text);
        piece
    }

    /// The text of a piece of this batch.
    #[inline]
    pub(crate) fn text(&self, piece: Piece) -> &str {
        let start = piece.start as usize;
        self.text
            .get(start..start + piece.len as usize)
            .unwrap_or_default()
    }

    pub(crate) fn push_record(&mut self, at: Moment, payload: Box<Payload>) {
        self.payload_bytes += payload.len_bytes();
        self.entries.push(Entry::Record { at, payload });
    }

    /// Removes all entries and keeps the capacity.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.text.clear();
        self.payload_bytes = 0;
    }
}
