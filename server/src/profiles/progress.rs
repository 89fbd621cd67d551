//! The part of the files of a session that was read so far.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use trainscope_format::formats::trace_json::TraceReader;
use trainscope_format::trace::Trace;

/// Bytes of the files of a profile that were read, and the trace so far while a single large one is read.
#[derive(Default)]
pub(crate) struct Progress {
    bytes: AtomicU64,
    reader: Mutex<TraceReader>,
}

impl Progress {
    pub(super) fn add(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes of the files as they are, packed or not.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Begins a trace.
    pub(super) fn begin(&self, reader: TraceReader) {
        *self.reader.lock() = reader;
    }

    /// Reads the next bytes of the trace, unpacked.
    pub(super) fn push(&self, bytes: &[u8]) {
        self.reader.lock().push(bytes);
    }

    /// `true` if anything of the trace was read.
    pub(super) fn has_begun(&self) -> bool {
        self.reader.lock().bytes() > 0
    }

    /// The whole trace.
    pub(super) fn finish(&self) -> Trace {
        std::mem::take(&mut *self.reader.lock()).finish()
    }

    /// The trace so far; without slices once it is whole.
    pub(super) fn part(&self) -> Trace {
        self.reader.lock().part()
    }
}
