//! Databases of Nsight Systems: no panic, whole JSON, and a trace whose columns refer to nothing that is not there. Bytes
//! that are not a database choose the tables and cells of one.
#![no_main]

use std::path::PathBuf;

use trainscope_format::formats::trace_json::TraceReader;

#[path = "../../../server/sql/src/nsight/tests/made.rs"]
mod made;

/// First bytes of a database.
const MAGIC: &[u8] = b"SQLite format 3\0";

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let name = format!("trainscope-fuzz-{}.sqlite", std::process::id());
    let path: PathBuf = std::env::temp_dir().join(name);
    drop(std::fs::remove_file(&path));
    if bytes.starts_with(MAGIC) {
        std::fs::write(&path, bytes).expect("the folder for temporary files is writable");
    } else {
        made::write(&path, bytes).expect("any choices make a database");
    }
    let mut json = Vec::new();
    let mut reader = TraceReader::new();
    let read = trainscope_sql::nsight::read(&path, &mut |block| {
        json.extend_from_slice(block);
        reader.push(block);
    });
    let trace = reader.finish();
    if read.is_ok() {
        let parsed: Result<serde::de::IgnoredAny, _> = serde_json::from_slice(&json);
        assert!(parsed.is_ok(), "{parsed:?}");
    }
    for index in 0..trace.slices.len() {
        let slice = trace.slices.get(index).expect("columns have one length");
        assert!(usize::from(slice.lane) < trace.lanes.len());
        assert!((slice.name.0 as usize) < trace.texts.len());
    }
});
