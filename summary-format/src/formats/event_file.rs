//! Event files of all formats: frames that hold one event each, and tags whose kind is named once.

use super::step_counter::{Ends, StepCounter};
use crate::body::Body;
use crate::decode::{Checkpoint, Decoder, RestoreError};
use crate::frame::FrameReader;
use crate::kind::Kind;
use crate::record::{Damage, Record, RecordBatch, UnreadRecord};
use crate::stretch::Stretch;
use crate::tags::TagTable;
use crate::wire::{Fields, Value, WireError};

/// Appends the content of one event to the batch. After `WireError` the caller removes the appended records, but not
/// the tags.
pub(crate) type ReadEvent =
    fn(Source<'_>, &mut TagTable, &mut RecordBatch) -> Result<(), WireError>;

const NOT_AN_EVENT: &str = "the frame of a record is intact, but its content is not an event";
/// Version of the state in checkpoints, before the step counter; changes when older ones would be misread.
const STATE: u8 = 2;

/// Decoder of a file of framed events.
#[derive(Debug)]
pub(crate) struct EventFile {
    frames: FrameReader,
    tags: TagTable,
    steps: StepCounter,
    read_event: ReadEvent,
}

impl EventFile {
    /// Decoder that starts at the first byte.
    pub(crate) fn new(read_event: ReadEvent) -> Self {
        Self {
            frames: FrameReader::default(),
            tags: TagTable::default(),
            steps: StepCounter::default(),
            read_event,
        }
    }

    /// Decoder that starts at a checkpoint; the empty checkpoint is the start of a file.
    pub(crate) fn resume(read_event: ReadEvent, from: Checkpoint) -> Result<Self, RestoreError> {
        if from == Checkpoint::default() {
            return Ok(Self::new(read_event));
        }
        // A longer state is one of a later version, too.
        let steps = match from.state.split_first() {
            Some((&STATE, steps)) => steps.try_into().map_err(|_| RestoreError)?,
            _ => return Err(RestoreError),
        };
        Ok(Self {
            steps: StepCounter::from_bytes(steps),
            frames: FrameReader::at(from.offset),
            tags: TagTable::restore(from.tags),
            read_event,
        })
    }
}

impl Decoder for EventFile {
    fn push(&mut self, bytes: &[u8], out: &mut RecordBatch) {
        // Damage between frames is collected here, damaged values within them in the batch.
        let mut damages = Vec::new();
        let old_damages = out.damages.len();
        self.frames.push(bytes, &mut damages, |payload, offset| {
            let ends = Ends::of(out);
            let damages = out.damages.len();
            let skipped_records = out.skipped_records;
            let source = Source { payload, offset };
            let read = (self.read_event)(source, &mut self.tags, out);
            if read.is_err() {
                // The event is read again after a restart at this offset and must not count twice.
                ends.truncate(out);
                out.damages.truncate(damages);
                out.skipped_records = skipped_records;
            }
            self.steps.correct(out, ends);
            read.map_err(|WireError| NOT_AN_EVENT)
        });
        if !damages.is_empty() {
            out.damages.append(&mut damages);
            out.damages[old_damages..].sort_by_key(|damage| damage.offset);
        }
    }

    fn offset(&self) -> u64 {
        self.frames.offset()
    }

    fn open_damage(&self) -> Option<Damage> {
        self.frames.open_damage()
    }

    fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            offset: self.offset(),
            tags: self.tags.to_vec(),
            state: [&[STATE], &self.steps.to_bytes()[..]].concat(),
        }
    }
}

/// The bytes of one event with their offset in the file.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(super) payload: &'a [u8],
    pub(super) offset: u64,
}

impl Source<'_> {
    /// Byte range of a part of the payload in the file.
    pub(super) fn stretch(self, part: &[u8]) -> Stretch {
        let within = part
            .as_ptr()
            .addr()
            .wrapping_sub(self.payload.as_ptr().addr());
        debug_assert!(within <= self.payload.len(), "not a part of the payload");
        Stretch {
            offset: self.offset + within as u64,
            len_bytes: part.len() as u64,
        }
    }
}

/// Error for an unreadable value in a readable event, as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault(pub(super) &'static str);

/// A picture or sound that its writer left empty: counted as unread, because nothing is damaged.
pub(super) const NO_CONTENT: Fault = Fault("a picture or sound has no content");

impl From<WireError> for Fault {
    fn from(_: WireError) -> Self {
        Self("a value is not a message of its kind")
    }
}

/// Messages of many small parts take many times their length when decoded. No writer makes large ones.
const MAX_DETAILED_BYTES: usize = 4 << 20;

/// Checks the length of a message that is decoded part by part.
pub(super) fn detailed(message: &[u8]) -> Result<&[u8], Fault> {
    if message.len() > MAX_DETAILED_BYTES {
        return Err(Fault("a value of many parts exceeds 4 MiB"));
    }
    Ok(message)
}

/// The coordinates of an event; missing ones are 0.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) step: i64,
    pub(super) wall_time_secs: f64,
    pub(super) source: Source<'a>,
}

impl At<'_> {
    #[inline]
    pub(super) fn scalar(self, tag: &[u8], value: f64, tags: &mut TagTable, out: &mut RecordBatch) {
        let tag = tags.id(tag, Kind::Scalars, &mut out.new_tags);
        out.scalars.push(tag, self.step, self.wall_time_secs, value);
    }

    pub(super) fn unread(self, tag: &[u8], kind: Kind, tags: &mut TagTable, out: &mut RecordBatch) {
        out.unread.push(UnreadRecord {
            tag: tags.id(tag, kind, &mut out.new_tags),
            step: self.step,
            wall_time_secs: self.wall_time_secs,
        });
    }

    /// Adds the record with the body in `value`, or counts it as damaged or empty. The tag is registered in all cases,
    /// because later values may omit its kind.
    pub(super) fn record(
        self,
        (tag, kind): (&[u8], Kind),
        body: Result<Body, Fault>,
        value: &[u8],
        tags: &mut TagTable,
        out: &mut RecordBatch,
    ) {
        if matches!(&body, Err(fault) if *fault == NO_CONTENT) {
            return self.unread(tag, kind, tags, out);
        }
        let tag = tags.id(tag, kind, &mut out.new_tags);
        match body {
            Ok(body) => {
                debug_assert_eq!(body.kind(), kind);
                out.records.push(Record {
                    tag,
                    step: self.step,
                    wall_time_secs: self.wall_time_secs,
                    body,
                });
            }
            Err(Fault(reason)) => {
                let Stretch { offset, len_bytes } = self.source.stretch(value);
                out.damages.push(Damage {
                    offset,
                    len_bytes,
                    reason: reason.to_owned(),
                });
            }
        }
    }
}

/// Content of an event: field number and bytes.
pub(super) type Content<'a> = Option<(u32, &'a [u8])>;

/// Common fields of all events, wall time 1 and step 2, and the content: one of the fields from 3 to 10, the last one
/// if there are several.
#[inline]
pub(super) fn coordinates(source: Source<'_>) -> Result<(At<'_>, Content<'_>), WireError> {
    let mut at = At {
        step: 0,
        wall_time_secs: 0.0,
        source,
    };
    let mut content = None;
    for field in Fields::of(source.payload) {
        match field? {
            (1, Value::Fixed64(bits)) => at.wall_time_secs = f64::from_bits(bits),
            (2, Value::Varint(step)) => at.step = step.cast_signed(),
            (number @ 3..=10, Value::Bytes(bytes)) => content = Some((number, bytes)),
            _ => {}
        }
    }
    Ok((at, content))
}

/// Reads a `Summary`, of either framework: its values are field 1.
#[inline]
pub(super) fn read_summary(
    summary: &[u8],
    at: At<'_>,
    tags: &mut TagTable,
    out: &mut RecordBatch,
    read_value: impl Fn(&[u8], At<'_>, &mut TagTable, &mut RecordBatch) -> Result<(), WireError>,
) -> Result<(), WireError> {
    let mut is_empty = true;
    for field in Fields::of(summary) {
        if let (1, Value::Bytes(value)) = field? {
            read_value(value, at, tags, out)?;
            is_empty = false;
        }
    }
    out.skipped_records += u64::from(is_empty);
    Ok(())
}
