//! Tensors skipped by an export, and their summary at the end.

use std::io::{self, Write as _};

use crate::cli::style::WARNING;
use crate::cli::words;
use crate::tensors::find::TensorError;

/// Maximum number of lines on standard error; the rest is a count.
const MAX_LINES: usize = 20;

#[derive(Default)]
pub(super) struct SkippedTensors {
    lines: Vec<String>,
    count: u64,
    has_unreadable: bool,
}

impl SkippedTensors {
    /// Adds a tensor of a rank and step.
    pub(super) fn add(&mut self, tensor: &str, rank: u32, step: i64, error: &TensorError) {
        self.count += 1;
        self.has_unreadable |= !matches!(error, TensorError::Opaque { .. });
        if self.lines.len() < MAX_LINES {
            let tensor = words::name(tensor, None);
            let reason = words::name(&error.to_string(), None);
            self.lines
                .push(format!("{tensor}, rank {rank}, step {step}: {reason}"));
        }
    }

    /// The first skipped tensor, as a sentence.
    pub(super) fn first(&self) -> Option<&str> {
        self.lines.first().map(String::as_str)
    }

    /// Lists them on standard error. Returns exit status 2 if a file could not be read, and 0 for unsupported element
    /// types.
    pub(super) fn tell(&self) -> io::Result<u8> {
        let mut stderr = anstream::stderr().lock();
        for line in &self.lines {
            writeln!(stderr, "{WARNING}left out{WARNING:#}  {line}")?;
        }
        let more = self.count - self.lines.len() as u64;
        if more > 0 {
            let more = words::plural(more, "more is", "more are");
            writeln!(
                stderr,
                "{WARNING}left out{WARNING:#}  {more} not listed here"
            )?;
        }
        Ok(if self.has_unreadable { 2 } else { 0 })
    }
}
