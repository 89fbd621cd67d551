//! Console output: one line before each step.
//!
//! Write errors are ignored, because they are not a reason to stop.

use std::io::{Write, stderr, stdout};

/// Prints one line.
pub fn line(text: &str) {
    let mut out = stdout().lock();
    if writeln!(out, "{text}").and_then(|()| out.flush()).is_err() {
        // A closed output does not stop the work.
    }
}

/// Prints the title of a step.
pub fn step(title: &str) {
    line(&format!("\n==> {title}"));
}

/// Prints the error that ends the program.
pub fn error(text: &str) {
    if writeln!(stderr().lock(), "\nerror: {text}").is_err() {
        // The exit status reports the error too.
    }
}
