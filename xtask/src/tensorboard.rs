//! TensorBoard in a separate Python environment: the tests open files of trainscope in it.

use std::path::PathBuf;

use anyhow::Result;

use crate::python;
use crate::workspace::Workspace;

/// The release that the tests expect.
const TENSORBOARD: &str = "tensorboard==2.21.*";

/// Folder of the environment.
pub fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target.join("peer")
}

/// Creates the environment if it is missing.
pub fn ensure(workspace: &Workspace) -> Result<()> {
    python::ensure(&folder(workspace), TENSORBOARD, &[TENSORBOARD])
}
