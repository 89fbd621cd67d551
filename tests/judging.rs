//! Watchpoints, verdicts, and what is not judged.

mod event_tensors;
mod findings;
mod other_programs;
mod restarts;
pub(crate) mod verdicts;
