//! `XSpace`, the profiler files of JAX, TensorFlow and `PyTorch`/XLA: planes of lines of events.
//!
//! Names are numbers whose texts follow the lines in the bytes, so each plane is read twice. Times are picoseconds from
//! the start of a line; starts and ends are rounded down to nanoseconds, so that nested events stay nested.

mod plane;

use super::trace_builder::TraceBuilder;
use crate::trace::{DeclaredStep, Trace, TraceFormat};
use crate::wire::{Fields, Value, text};
use plane::{Links, Plane};

/// Begins above this are nanoseconds since 1970, below since the profiler was started.
const UNIX_FROM_NANOS: i64 = 1_000_000_000_000_000_000;

/// Reads a file. Malformed messages are damage; of a truncated file, the events before the end are read, and their
/// names may be missing.
pub fn read(bytes: &[u8]) -> Trace {
    let mut reader = Reader {
        bytes,
        builder: TraceBuilder::new(TraceFormat::Xplane),
        started_nanos: None,
        links: Links::default(),
        steps: Vec::new(),
        device_steps: Vec::new(),
    };
    reader.builder.trace.counts.bytes = bytes.len() as u64;
    reader.each(bytes, true, |reader, number, value, is_cut| {
        match (number, value) {
            (1, Value::Bytes(plane)) => {
                let plane = Plane::new(reader, plane, is_cut);
                plane.read(reader);
            }
            (4, Value::Bytes(host)) if !is_cut => {
                let head = &mut reader.builder.trace.head;
                head.host.get_or_insert_with(|| text(host));
            }
            _ => {}
        }
    });
    let Reader {
        builder,
        started_nanos,
        links,
        mut steps,
        device_steps,
        ..
    } = reader;
    let mut trace = builder.trace;
    links.bind(&mut trace);
    if steps.is_empty() {
        steps = device_steps;
    }
    steps.sort_unstable_by_key(|step| (step.begin, step.number));
    trace.declared_steps = steps;
    let first = trace.slices.begins.iter().min().copied();
    trace.head.unix_offset_nanos = match first {
        Some(first) if first > UNIX_FROM_NANOS => Some(0),
        Some(_) => started_nanos,
        None => None,
    };
    trace
}

/// State while reading.
struct Reader<'a> {
    bytes: &'a [u8],
    builder: TraceBuilder,
    /// Start of the profile since 1970.
    started_nanos: Option<i64>,
    links: Links,
    /// Steps that the program declares by `step_num`.
    steps: Vec<DeclaredStep>,
    /// Steps of a device.
    device_steps: Vec<DeclaredStep>,
}

impl<'a> Reader<'a> {
    /// Place of a part of the file.
    fn offset(&self, part: &[u8]) -> usize {
        let begin = self.bytes.as_ptr().addr();
        part.as_ptr().addr().wrapping_sub(begin)
    }

    /// Calls `take` with each field of a message. If the message is cut off with the file (`is_open`), a last field
    /// of bytes that is too short is taken too, with `true`.
    fn each(
        &mut self,
        message: &'a [u8],
        is_open: bool,
        mut take: impl FnMut(&mut Self, u32, Value<'a>, bool),
    ) {
        let mut fields = Fields::of(message);
        loop {
            let rest = fields.rest();
            match fields.next() {
                None => return,
                Some(Ok((number, value))) => take(self, number, value, false),
                Some(Err(_)) if is_open && is_cut_off(rest) => {
                    self.builder.trace.counts.truncated = true;
                    if let Some((number, value)) = cut_field(rest) {
                        take(self, number, Value::Bytes(value), true);
                    }
                }
                Some(Err(_)) => {
                    let offset = self.offset(rest);
                    self.builder.trace.counts.damage(offset, rest.len());
                }
            }
        }
    }
}

/// Number and available bytes of a field that claims to be longer.
fn cut_field(rest: &[u8]) -> Option<(u32, &[u8])> {
    let mut fields = Fields::of(rest);
    let key = fields.varint()?;
    if key & 7 != 2 {
        return None;
    }
    fields.varint()?;
    Some((u32::try_from(key >> 3).ok()?, fields.rest()))
}

/// `true` if a field is only wrong because its end is missing.
fn is_cut_off(rest: &[u8]) -> bool {
    /// Maximum length of a number of the format, in bytes.
    const MAX_VARINT: usize = 10;
    let mut fields = Fields::of(rest);
    let Some(key) = fields.varint() else {
        return rest.len() < MAX_VARINT;
    };
    if u32::try_from(key).is_err() || key >> 3 == 0 {
        return false;
    }
    match key & 7 {
        0 => fields.rest().len() < MAX_VARINT,
        1 | 5 => true,
        2 => fields.varint().is_some() || fields.rest().len() < MAX_VARINT,
        _ => false,
    }
}
