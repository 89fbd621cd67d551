//! What all event files have in common: frames that hold one event each, and tags that are named once.

use crate::decode::{Checkpoint, Decoder, RestoreError};
use crate::frame::FrameReader;
use crate::record::{Damage, Kind, RecordBatch, Unread};
use crate::tags::TagTable;
use crate::wire::{Fields, Malformed, Value};

/// Appends what one event holds to the batch. After `Malformed` the caller takes back what was appended, except tags.
pub(crate) type ReadEvent = fn(&[u8], &mut TagTable, &mut RecordBatch) -> Result<(), Malformed>;

const NOT_AN_EVENT: &str = "a record is framed well but is not an event";
/// Changes when a checkpoint of an older version would be read wrongly.
const STATE: [u8; 1] = [1];

/// Decoder of a file of framed events.
#[derive(Debug)]
pub(crate) struct EventFile {
    frames: FrameReader,
    tags: TagTable,
    read_event: ReadEvent,
}

impl EventFile {
    /// From the first byte.
    pub(crate) fn new(read_event: ReadEvent) -> Self {
        Self {
            frames: FrameReader::default(),
            tags: TagTable::default(),
            read_event,
        }
    }

    /// From a checkpoint; the empty one is the start of a file.
    pub(crate) fn resume(read_event: ReadEvent, from: Checkpoint) -> Result<Self, RestoreError> {
        if from.state != STATE && from != Checkpoint::default() {
            return Err(RestoreError);
        }
        Ok(Self {
            frames: FrameReader::at(from.offset),
            tags: TagTable::restore(from.tags),
            read_event,
        })
    }
}

impl Decoder for EventFile {
    fn push(&mut self, bytes: &[u8], out: &mut RecordBatch) {
        let mut damages = std::mem::take(&mut out.damages);
        self.frames.push(bytes, &mut damages, |payload| {
            let scalars = out.scalars.len();
            let unread = out.unread.len();
            let skipped_records = out.skipped_records;
            (self.read_event)(payload, &mut self.tags, out).map_err(|Malformed| {
                // It will be read again after a restart from here, and must not count twice.
                out.scalars.truncate(scalars);
                out.unread.truncate(unread);
                out.skipped_records = skipped_records;
                NOT_AN_EVENT
            })
        });
        out.damages = damages;
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
            state: STATE.to_vec(),
        }
    }
}

/// The coordinates of an event; what it does not say is 0.
#[derive(Clone, Copy, Default)]
pub(super) struct At {
    pub(super) step: i64,
    pub(super) wall_time_secs: f64,
}

impl At {
    #[inline]
    pub(super) fn scalar(self, tag: &[u8], value: f64, tags: &mut TagTable, out: &mut RecordBatch) {
        let tag = tags.id(tag, Kind::Scalars, &mut out.new_tags);
        out.scalars.push(tag, self.step, self.wall_time_secs, value);
    }

    pub(super) fn unread(self, tag: &[u8], kind: Kind, tags: &mut TagTable, out: &mut RecordBatch) {
        out.unread.push(Unread {
            tag: tags.id(tag, kind, &mut out.new_tags),
            step: self.step,
            wall_time_secs: self.wall_time_secs,
        });
    }
}

/// A body: its field number and bytes.
pub(super) type Body<'a> = Option<(u32, &'a [u8])>;

/// What all events begin with, wall time 1 and step 2, and their body: one of the fields from 3 to 10, the last of them
/// if there are several.
#[inline]
pub(super) fn coordinates(event: &[u8]) -> Result<(At, Body<'_>), Malformed> {
    let mut at = At::default();
    let mut body = None;
    for field in Fields::of(event) {
        match field? {
            (1, Value::Fixed64(bits)) => at.wall_time_secs = f64::from_bits(bits),
            (2, Value::Varint(step)) => at.step = step.cast_signed(),
            (number @ 3..=10, Value::Bytes(bytes)) => body = Some((number, bytes)),
            _ => {}
        }
    }
    Ok((at, body))
}

/// Reads a `Summary`, of either framework: its values are field 1.
#[inline]
pub(super) fn read_summary(
    summary: &[u8],
    at: At,
    tags: &mut TagTable,
    out: &mut RecordBatch,
    read_value: impl Fn(&[u8], At, &mut TagTable, &mut RecordBatch) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
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
