//! TensorBoard event files.
#![no_main]

use trainscope_format::Format;
use trainscope_format_fuzz::{File, check};

libfuzzer_sys::fuzz_target!(|file: File| check(Format::Tfevents, &file));
