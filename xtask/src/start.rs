//! `start`: the page and the server, built and run on the sample runs.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::thread;

use anyhow::{Result, anyhow};
use xtask::bundle::{BUNDLER, Bundle};
use xtask::console;
use xtask::process::{cargo, run};
use xtask::toolchain::WasmCompiler;
use xtask::workspace::{WEB_DIR, Workspace};

/// Time, memory and disk of a first build on two idle cores; `docs/src/performance.md` has the figures.
const QUICK_BOUND: &str = "5 to 8 minutes, 3 GB of memory and 3 GB of disk";
/// The same for a release build, without a measurement of a first build.
const RELEASE_BOUND: &str = "several times as long as without --release, and 4 GB of memory";

/// Builds everything and is replaced by the server. `flags` are passed to `trainscope start`; the default base
/// directory is `sample-runs/`.
pub(crate) fn start(workspace: &Workspace, is_release: bool, flags: &[String]) -> Result<ExitCode> {
    announce(is_release)?;
    let mut server = if is_release {
        Command::new(build_release(workspace)?)
    } else {
        let program = build_quickly(workspace)?;
        let mut server = Command::new(program);
        server.env(WEB_DIR, Bundle::Quick.folder(workspace));
        server
    };
    console::step("4 of 4: start the server");
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

/// Announces installations and builds before they begin.
fn announce(is_release: bool) -> Result<()> {
    let (what, bound) = if is_release {
        ("what is shipped", RELEASE_BOUND)
    } else {
        ("a quick build", QUICK_BOUND)
    };
    console::line(&format!(
        "{what}; the first time, on two idle cores: {bound}\n\
        1. install: {}\n\
        2. compile the page for the browser, and the server\n\
        3. assemble the page\n\
        4. start the server",
        WasmCompiler::installation()?.map_or_else(
            || "nothing is missing".to_owned(),
            |command| format!("$ {command}"),
        ),
    ));
    Ok(())
}

/// Compiles page and server at the same time: each of them alone leaves a core idle at its end.
fn build_quickly(workspace: &Workspace) -> Result<PathBuf> {
    console::step("1 and 2 of 4: install, compile");
    let mut native = cargo();
    native
        .current_dir(&workspace.root)
        .args(["build", "--locked", "--quiet", "--profile", "start"])
        // Pictures as PNG, Parquet and TLS are crates that the page does not need.
        .arg("--no-default-features")
        .args(["--package", "trainscope", "--package", BUNDLER]);
    thread::scope(|scope| {
        let native = scope.spawn(|| run(&mut native));
        let page = Bundle::Quick.compile(workspace);
        let native = native.join();
        page?;
        native.map_err(|_| anyhow!("the thread that compiled the server panicked"))?
    })?;
    console::step("3 of 4: assemble the page");
    Bundle::Quick.assemble(workspace, "start")?;
    Ok(workspace.target.join("start/trainscope"))
}

fn build_release(workspace: &Workspace) -> Result<PathBuf> {
    console::step("1 to 3 of 4: install, compile and assemble the page, compile the server");
    Bundle::Small.build(workspace)?;
    run(cargo().current_dir(&workspace.root).args([
        "build",
        "--locked",
        "--release",
        "--package",
        "trainscope",
    ]))?;
    Ok(workspace.target.join("release/trainscope"))
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
