//! Judgements and summaries over records: pure functions, no files, no threads.
//!
//! Input comes from whoever holds records (the server's index, a check on the command line); nothing here knows where
//! they were stored.

mod blame;
pub mod diagnosis;
pub mod dump;
pub mod graph;
pub mod headline;
pub mod histogram;
pub mod pipeline;
pub mod restart;
pub mod series;
pub mod watchpoint;
