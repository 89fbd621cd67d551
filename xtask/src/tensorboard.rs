//! TensorBoard in its own Python environment: the tests open files of trainscope in it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::console;
use crate::packages;
use crate::process::{find_program, run};
use crate::workspace::Workspace;

/// The release that the tests expect.
const TENSORBOARD: &str = "tensorboard==2.21.*";

/// Folder of the environment.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target.join("peer")
}

/// Creates the environment if it is missing.
pub(crate) fn ensure(workspace: &Workspace) -> Result<()> {
    let folder = folder(workspace);
    if folder.join("bin/tensorboard").exists() {
        return Ok(());
    }
    if find_program("python3").is_none() && packages::is_debian() {
        packages::ensure(&["python3", "python3-venv"])?;
    }
    console::step("a Python environment with TensorBoard");
    // `--clear` discards an incomplete environment.
    let make = || {
        run(Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&folder))
    };
    if make().is_err() && packages::is_debian() {
        // Debian packages the `venv` module separately.
        packages::ensure(&["python3-venv"])?;
        make()?;
    }
    let pip = folder.join("bin/pip");
    run(Command::new(pip).args([
        "install",
        "--quiet",
        "--disable-pip-version-check",
        TENSORBOARD,
    ]))
    .context("TensorBoard could not be installed from the Python package index")
}
