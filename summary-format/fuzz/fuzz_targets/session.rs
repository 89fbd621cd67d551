//! Messages of live sessions, read by both ends.
#![no_main]

use trainscope_format::session::{ToServer, ToTraining};

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(message) = ToServer::read(text) {
        assert!(ToServer::read(&message.to_text()).is_ok());
    }
    if let Ok(message) = ToTraining::read(text) {
        assert!(ToTraining::read(&message.to_text()).is_ok());
    }
});
