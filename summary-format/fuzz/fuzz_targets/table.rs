//! The binary answer of the table of runs, as the browser reads it.
#![no_main]

use trainscope_api::table::{decode, encode};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(answer) = decode(bytes) {
        let rows = answer.runs.len();
        assert!(answer.columns.iter().all(|own| own.cells.len() == rows));
        assert!(answer.indices.as_ref().is_none_or(|own| own.len() == rows));
        // Names are written as they were read, whatever the form of the columns.
        assert_eq!(decode(&encode(&answer)), Ok(answer));
    }
});
