//! The one way from the bytes of event files to records, for the index, the judgement and the command line alike.
//!
//! A [`Tail`] decodes a file block by block from any checkpoint on. The ingest loop drives one for each file of the
//! index; a [`Follower`] drives one for everybody else.

mod follow;
mod tail;

pub(crate) use follow::{Buffers, Follower};
pub(crate) use tail::{Block, Tail};
