//! The rules of axe for accessible pages: a script that the tests run in each page.

use std::path::PathBuf;

use anyhow::Result;

use crate::python;
use crate::workspace::Workspace;

/// The release whose script the tests expect. The program around it is not installed.
const AXE: &str = "axe-playwright-python==0.1.*";

/// Folder of the environment that holds it.
pub fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target.join("axe")
}

/// Creates the environment if it is missing.
pub fn ensure(workspace: &Workspace) -> Result<()> {
    python::ensure(&folder(workspace), AXE, &["--no-deps", AXE])
}
