//! The one way from the bytes of event files to records, for the index, the judgement and the command line alike.
//!
//! A `Tail` decodes a file block by block from any checkpoint. The ingest loop drives one for each file of the index
//! and hands the decoded blocks on through [`Feeds`]. A `Follower` takes them from there. It drives a separate tail for
//! the parts of the file that were read before it began, and for those that it was too slow for.

mod feed;
mod follow;
mod tail;
#[cfg(test)]
mod tests;

pub use feed::Feeds;
pub(crate) use follow::{Buffers, Follower};
pub(crate) use tail::{Block, Tail};
