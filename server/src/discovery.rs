//! One walk over folders: the runs they hold, the files of each run, and the rank, step and tensor in their names.

pub(crate) mod base;
pub(crate) mod claims;
mod evaluations;
pub(crate) mod file;
pub(crate) mod find;
pub(crate) mod names;
#[cfg(feature = "stores")]
mod objects;
pub(crate) mod runs;
pub(crate) mod scan;
pub(crate) mod stamp;
mod steps;
pub(crate) mod walk;
pub(crate) mod watch;
