//! `start`: the server in release mode with its bundle, on the sample runs.

use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::bundle;
use crate::console;
use crate::process::{cargo, run};
use crate::workspace::Workspace;

/// Builds everything and is replaced by the server. `flags` are passed to `trainscope start`; the default base
/// directory is `sample-runs/`.
pub(crate) fn start(workspace: &Workspace, flags: &[String]) -> Result<ExitCode> {
    bundle::build(workspace)?;
    console::step("build the server");
    run(cargo()
        .current_dir(&workspace.root)
        .args(["build", "--release", "-p", "trainscope"]))?;

    console::step("start the server");
    let mut server = Command::new(workspace.target.join("release/trainscope"));
    server.arg("start");
    if !flags
        .iter()
        .any(|flag| flag.starts_with("--summary-base-dir"))
    {
        server
            .arg("--summary-base-dir")
            .arg(workspace.root.join("sample-runs"));
    }
    server.args(flags);
    become_program(&mut server)
}

/// Replaces this process, so that signals go directly to the server.
#[cfg(unix)]
fn become_program(program: &mut Command) -> Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(anyhow::Error::new(program.exec()).context("the server cannot be started"))
}

#[cfg(not(unix))]
fn become_program(program: &mut Command) -> Result<ExitCode> {
    run(program).map(|()| ExitCode::SUCCESS)
}
