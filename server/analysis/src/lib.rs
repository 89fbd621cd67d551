//! Judgements and summaries over records: pure functions, no files, no threads.
//!
//! The caller provides the records (the server's index, `check` on the command line); nothing here depends on their
//! storage.

mod context;
pub mod diagnosis;
pub mod dump;
pub mod graph;
pub mod guide;
pub mod headline;
pub mod histogram;
pub mod pipeline;
pub mod restart;
pub mod series;
mod text;
pub mod watchpoint;
