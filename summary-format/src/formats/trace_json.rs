//! Chrome JSON of profilers, especially Kineto: slices, flows, counters, memory and names, read into columns.
//!
//! Such a file may have gigabytes, so it is read in pieces, and at most one incomplete event is held. An unreadable
//! event loses nothing else.

mod classes;
mod columns;
mod cursor;
mod event;
mod finish;
mod flows;
mod head;
mod impossible;
mod memory_totals;
mod names;
mod points;
mod structure;
mod words;

use crate::trace::Trace;
use cursor::{Cursor, Stop, Value};
use points::entries;
use structure::Structure;

/// Minimum number of bytes to wait for after an incomplete event. The wait doubles with the bytes held, so an event in
/// many pieces is not read again for each of them.
const MIN_WAIT_LEN: usize = 1 << 10;

/// Reader of a trace from the bytes of its file.
#[derive(Clone, Debug, Default)]
pub struct TraceReader {
    structure: Structure,
    /// Start of an event that is not complete.
    carry: Vec<u8>,
    /// Length of `carry` at which the event is tried again.
    wanted_len: usize,
}

impl TraceReader {
    /// A reader at the start of a file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps up to this number of events, and of values of counters; further events are only counted. A kept event
    /// takes about 40 bytes of memory, but maybe only 20 bytes of the file.
    #[must_use]
    pub fn max_events(mut self, events: u64) -> Self {
        let columns = &mut self.structure.columns;
        columns.max_events = events.min(columns.max_events);
        self
    }

    /// Reads the bytes that follow those of the last call, in any cuts, unpacked.
    pub fn push(&mut self, mut bytes: &[u8]) {
        self.structure.columns.trace.counts.bytes += bytes.len() as u64;
        while !self.carry.is_empty() {
            let held = self.carry.len();
            let more = self.wanted_len.saturating_sub(held).min(bytes.len());
            let (now, later) = bytes.split_at(more);
            self.carry.extend_from_slice(now);
            if self.carry.len() < self.wanted_len {
                return;
            }
            let used = self.structure.read(&self.carry, false);
            if used >= held {
                self.carry.clear();
                bytes = bytes.get(used - held..).unwrap_or_default();
            } else {
                self.carry.drain(..used);
                self.wanted_len = wanted_len(self.carry.len());
                bytes = later;
            }
        }
        let used = self.structure.read(bytes, false);
        let rest = bytes.get(used..).unwrap_or_default();
        self.carry.extend_from_slice(rest);
        self.wanted_len = wanted_len(rest.len());
        self.structure.columns.count_phases();
    }

    /// Number of bytes so far.
    pub fn bytes(&self) -> u64 {
        self.trace().counts.bytes
    }

    /// The trace so far, without flows, and with kinds of lanes that may still change.
    pub fn trace(&self) -> &Trace {
        &self.structure.columns.trace
    }

    /// The trace as if the file ended after the last complete event. Slices, lanes and names have the same numbers as
    /// in the whole trace.
    pub fn part(&self) -> Trace {
        self.structure.clone().finish()
    }

    /// The whole trace.
    pub fn finish(mut self) -> Trace {
        self.structure.read(&self.carry, true);
        drop(self.carry);
        self.structure.finish()
    }
}

const fn wanted_len(held: usize) -> usize {
    if held < MIN_WAIT_LEN / 2 {
        MIN_WAIT_LEN
    } else {
        2 * held
    }
}

/// `true` if the first bytes of a file are those of a trace: an object with the key `traceEvents` or one
/// that only Kineto writes, or an array whose first object has `ph`.
pub fn is_trace_json(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let text = text.trim_ascii_start();
    let is_array = text.first() == Some(&b'[');
    let object = if is_array {
        text.get(1..).unwrap_or_default().trim_ascii_start()
    } else {
        text
    };
    keys(object).any(|key| {
        if is_array {
            key == b"ph"
        } else {
            key == b"traceEvents" || head::is_of_kineto(key)
        }
    })
}

/// `true` if the first bytes of a file are those of an object, and end within a value: its later keys decide the
/// format. Some programs write 26 KiB of metadata before the events.
pub fn is_undecided(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let mut cursor = Cursor::new(text.trim_ascii_start(), 0);
    if cursor.expect(b'{').is_err() {
        return false;
    }
    let mut goes_on = || -> Result<bool, Stop> {
        cursor.key()?;
        cursor.value()?;
        cursor.goes_on()
    };
    loop {
        match goes_on() {
            Ok(true) => {}
            Ok(false) => return false,
            Err(stop) => return matches!(stop, Stop::Incomplete),
        }
    }
}

/// Keys of an object, up to and including the first one with an incomplete value.
fn keys(object: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut cursor = Cursor::new(object, 0);
    let mut goes_on = cursor.expect(b'{').is_ok();
    std::iter::from_fn(move || {
        let (key, _) = goes_on.then(|| cursor.key().ok()).flatten()?;
        goes_on = cursor.value().is_ok() && cursor.goes_on() == Ok(true);
        Some(key)
    })
}

/// Arguments of the event that begins with the first byte: keys and texts of values in their order. Bytes after the
/// event, or a missing end, are ignored.
pub fn arguments(event: &[u8]) -> Vec<(String, String)> {
    let mut cursor = Cursor::new(event, 0);
    if cursor.expect(b'{').is_err() {
        return Vec::new();
    }
    let mut step = || -> Result<Option<usize>, Stop> {
        if cursor.key()?.0 == b"args" {
            cursor.peek()?;
            return Ok(Some(cursor.at));
        }
        cursor.value()?;
        if cursor.goes_on()? {
            Ok(None)
        } else {
            Err(Stop::Incomplete)
        }
    };
    let from = loop {
        match step() {
            Ok(None) => {}
            Ok(Some(from)) => break from,
            Err(_) => return Vec::new(),
        }
    };
    entries(event.get(from..).unwrap_or_default())
        .map(|(key, value)| {
            (
                Value::Text(key).text().into_owned(),
                value.text().into_owned(),
            )
        })
        .collect()
}
