//! Live sessions: trainings in Rust that are connected to the built server.

mod access;
mod control;
mod losses;
mod page;
mod ranks;
pub(crate) mod training;
