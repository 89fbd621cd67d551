//! Builds the browser bundle, installs missing tools, runs every check.
//!
//! Run as `cargo xtask <command>`. Everything it installs or runs is printed first; nothing here is shipped.

mod checks;
#[path = "../../tests/support/event_file.rs"]
mod event_file;
mod pictures;
mod samples;
mod start;
mod trainings;

use std::process::ExitCode;

use anyhow::{Result, bail};

use xtask::bundle::Bundle;
use xtask::process::{cargo, run as run_command};
use xtask::workspace::Workspace;
use xtask::{console, python};

const USAGE: &str = "\
usage: cargo xtask <command>

  start [--release] [-- flags]
                     build page and server quickly, run them on sample-runs/ (flags go to `trainscope start`);
                     --release: build what is shipped
  test [PART]...     run every check and test there is, or these parts of them; `test --help` lists them
  web [--dev]        build the page alone, into web/dist; --dev: quickly, into target/web-dev, for
                     `trainscope start --web-dir target/web-dev`
  wheel              build the Python package with the program in it, into target/wheels
  dist [--tag TAG]   make all files of a release from a clean checkout, in target/dist; with the tag that it is made for
  bench [-- flags]   run the benches, then measure the program as a whole; --peer VENV beside TensorBoard's data server
                     (VENV: python3 -m venv, pip install tensorboard), --rounds N; --part packages, loading, requests
                     or pages measures that alone; --program FILE instead of a build
  pictures           take the pictures of README and the book again, in a browser
  samples            make the sample runs again that are made here: the same bytes

XTASK_WASM=debian  compiles the page with Debian's compiler even where rustup could
XTASK_PYTHON=TIER  tests the Python package with: none, core (default), frameworks (default where CI is set), all";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            console::error(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    let (command, rest) = arguments
        .split_first()
        .map_or(("help", &[][..]), |(first, rest)| (first.as_str(), rest));
    let (is_release, rest) = match rest {
        [first, rest @ ..] if command == "start" && first == "--release" => (true, rest),
        rest => (false, rest),
    };
    let rest = match rest {
        [first, rest @ ..] if first == "--" => rest,
        rest => rest,
    };
    if !matches!(command, "start" | "test" | "bench" | "dist" | "web") && !rest.is_empty() {
        bail!("`{command}` takes no flags\n\n{USAGE}");
    }
    match command {
        "start" => start::start(&workspace, is_release, rest),
        "test" => checks::run_parts(&workspace, rest),
        "web" => {
            let bundle = match rest {
                [] => Bundle::Small,
                [dev] if dev == "--dev" => Bundle::Quick,
                other => bail!("`web` takes no flags but --dev, not {other:?}\n\n{USAGE}"),
            };
            bundle.build(&workspace).map(|()| ExitCode::SUCCESS)
        }
        "bench" => run_package(&workspace, "xtask-bench", rest),
        "dist" => run_package(&workspace, "xtask-dist", rest),
        "wheel" => python::wheel(&workspace).map(|()| ExitCode::SUCCESS),
        "pictures" => pictures::take(&workspace).map(|()| ExitCode::SUCCESS),
        "samples" => {
            samples::write(&workspace)?;
            trainings::write(&workspace)?;
            Ok(ExitCode::SUCCESS)
        }
        "help" | "-h" | "--help" => {
            console::line(USAGE);
            Ok(ExitCode::SUCCESS)
        }
        other => bail!("there is no command `{other}`\n\n{USAGE}"),
    }
}

/// Runs the program of a package of tasks, whose dependencies the other tasks do not wait for.
fn run_package(workspace: &Workspace, package: &str, arguments: &[String]) -> Result<ExitCode> {
    let mut program = cargo();
    program.current_dir(&workspace.root);
    program.args(["run", "--locked", "--package", package, "--"]);
    run_command(program.args(arguments)).map(|()| ExitCode::SUCCESS)
}
