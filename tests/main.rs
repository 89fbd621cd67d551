//! End-to-end tests that drive the built program as its users do: files in, answers and pages out.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed"
)]

mod api;
mod boundaries;
mod browser;
mod check;
mod check_input;
mod debugger;
mod diff;
mod docs;
mod event_tensors;
mod export;
mod findings;
mod formats;
mod graph_page;
mod graphs;
mod hits;
mod hostile;
mod live;
mod odd_pages;
mod overview;
mod pipeline;
mod recorded;
mod records;
mod recovery;
mod report;
mod restarts;
mod run_controls;
mod runs;
mod samples;
mod scalar_controls;
mod scalars;
mod support;
mod tensor_files;
mod tensorboard;
mod tensors;
mod truth;
mod verdicts;
mod words;
