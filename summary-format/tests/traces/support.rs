//! Files of the tests, and ways to read them.

use std::io::Read;
use std::path::PathBuf;

use trainscope_format::formats::trace_json::TraceReader;
use trainscope_format::trace::Trace;

/// Unpacked bytes of a fixture.
pub(crate) fn fixture(path: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/profile");
    let file = std::fs::read(PathBuf::from(folder).join(path)).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file.as_slice())
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

/// The trace of a file that is read at once.
pub(crate) fn whole(bytes: &[u8]) -> Trace {
    pieces([bytes])
}

/// The trace of a file that is read in pieces.
pub(crate) fn pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Trace {
    let mut reader = TraceReader::new();
    for piece in pieces {
        reader.push(piece);
    }
    reader.finish()
}

/// The trace of events that are a complete file.
pub(crate) fn events(events: &str) -> Trace {
    whole(format!("[{events}]").as_bytes())
}

/// Names of slices in the order of the file.
pub(crate) fn names(trace: &Trace) -> Vec<&str> {
    let names = trace.slices.names.iter();
    names.map(|name| trace.texts.get(*name)).collect()
}

/// Lane of a slice as `process/thread`.
pub(crate) fn lane(trace: &Trace, slice: usize) -> String {
    let lane = &trace.lanes[usize::from(trace.slices.lanes[slice])];
    format!("{}/{}", lane.process, lane.thread)
}
