//! What trainings have recorded in a folder, read without an index and judged: events, dumps and graphs alike.
//!
//! `check`, `diff` and the server's own diagnosis see the same runs and say the same of them, because they ask here.

pub(crate) mod dumps;
mod evaluations;
pub(crate) mod events;
pub(crate) mod find;
pub(crate) mod judge;
pub(crate) mod listing;
pub(crate) mod names;
pub(crate) mod ongoing;
pub(crate) mod read;
pub(crate) mod shared;
mod shown;
mod stamp;
pub(crate) mod steps;
