//! End-to-end tests that drive the built program as its users do: files in, answers and pages out.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed"
)]

mod api;
mod cli;
mod formats;
mod judging;
mod pages;
mod project;
mod robustness;
mod sessions;
mod support;
