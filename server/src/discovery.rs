//! One walk over folders: the runs they hold, the files of each run, and what their names say of rank, step and tensor.

mod evaluations;
pub(crate) mod file;
pub(crate) mod find;
pub(crate) mod names;
pub(crate) mod runs;
pub(crate) mod stamp;
mod steps;
pub(crate) mod watch;
