//! Runs the benches of the Python package: `cargo bench -p trainscope-python [-- [--peer VENV] [PART…]]`.
//!
//! Installs the wheel of `cargo xtask wheel` into an environment with torch, tensorboard and tensorboardX. The default
//! is the environment of the tests with frameworks.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "a program of the command line")]
            {
                eprintln!("{error}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = package.join("../../target");
    let mut environment = target.join("python-frameworks");
    let mut parts = Vec::new();
    // Cargo adds `--bench`.
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        if argument == "--peer" {
            environment = PathBuf::from(arguments.next().ok_or("--peer needs a folder")?);
        } else {
            parts.push(argument);
        }
    }
    let python = environment.join("bin/python");
    if !python.exists() {
        return Err(format!(
            "{}: no environment: `XTASK_PYTHON=frameworks cargo xtask test` makes one",
            environment.display()
        ));
    }
    let wheels =
        std::fs::read_dir(target.join("wheels")).map_err(|_| "run `cargo xtask wheel` first")?;
    let wheel = wheels
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .ok_or("run `cargo xtask wheel` first")?;
    succeed(
        Command::new(&python)
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--force-reinstall",
            ])
            .arg(wheel),
    )?;
    succeed(
        Command::new(&python)
            .arg(package.join("benches/bench.py"))
            .args(parts),
    )
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let status = command
        .status()
        .map_err(|error| format!("{command:?}: {error}"))?;
    status
        .success()
        .then_some(())
        .ok_or_else(|| format!("{command:?}: {status}"))
}
