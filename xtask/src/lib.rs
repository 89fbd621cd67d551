//! Common parts of the tasks: folders, programs that are run, files that are generated, the bundle.

pub mod axe;
pub mod bundle;
pub mod console;
pub mod packages;
pub mod process;
pub mod python;
pub mod random;
pub mod tensorboard;
pub mod toolchain;
pub mod workspace;
