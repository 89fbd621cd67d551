//! Configuration files in each notation.
#![no_main]

use trainscope_format::formats::config::{ConfigFormat, MAX_LEAVES, leaves};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for format in [ConfigFormat::Json, ConfigFormat::Toml, ConfigFormat::Yaml] {
        match leaves(bytes, format) {
            Ok(own) => assert!(own.values.len() <= MAX_LEAVES),
            Err(error) => assert!(!error.reason.is_empty()),
        }
    }
});
