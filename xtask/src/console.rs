//! What the user sees: one line before each step.
//!
//! Failing to print is no reason to stop, so write errors end here.

use std::io::{Write, stderr, stdout};

/// One line of output.
pub(crate) fn line(text: &str) {
    let mut out = stdout().lock();
    if writeln!(out, "{text}").and_then(|()| out.flush()).is_err() {
        // The reader is gone; the work itself still matters.
    }
}

/// The title of a step that begins.
pub(crate) fn step(title: &str) {
    line(&format!("\n==> {title}"));
}

/// Why the program ends.
pub(crate) fn error(text: &str) {
    if writeln!(stderr().lock(), "\nerror: {text}").is_err() {
        // Nobody listens; the exit status says it too.
    }
}
