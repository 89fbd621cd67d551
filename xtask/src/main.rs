//! Builds the browser bundle, puts in place what is missing, runs every check.
//!
//! Run as `cargo xtask <command>`. Everything it installs or runs is printed first; nothing here is shipped.

mod bench;
mod bundle;
mod checks;
mod console;
#[path = "../../tests/support/driver.rs"]
mod driver;
#[path = "../../tests/support/event_file.rs"]
mod event_file;
mod packages;
mod process;
mod python;
mod random;
mod samples;
mod server;
mod tensorboard;
mod toolchain;
mod trainings;
mod workspace;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::workspace::Workspace;

const USAGE: &str = "\
usage: cargo xtask <command>

  start [-- flags]   build the bundle and the server in release, run it on sample-runs/ (flags go to `trainscope start`)
  test               put in place what is missing, then run every check and test there is
  web [--dev]        build the browser bundle alone, into web/dist; --dev: quickly, into target/web-dev, for
                     `trainscope start --web-dir target/web-dev`
  wheel              build the Python package with the program in it, into target/wheels
  bench [-- flags]   run the benches, then measure the program as a whole; --peer VENV beside TensorBoard's data server
                     (VENV: python3 -m venv, pip install tensorboard), --rounds N; --part packages, loading, requests
                     or pages measures that alone; --program FILE instead of a build
  samples            make the sample runs again that are made here: the same bytes

XTASK_WASM=debian  builds the bundle with Debian's own compiler even where rustup could
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
    let rest = match rest {
        [first, rest @ ..] if first == "--" => rest,
        rest => rest,
    };
    if !matches!(command, "start" | "bench" | "web") && !rest.is_empty() {
        bail!("`{command}` takes no flags\n\n{USAGE}");
    }
    match command {
        "start" => server::start(&workspace, rest),
        "test" => Ok(checks::run_all(&workspace)),
        "web" => {
            match rest {
                [] => bundle::build(&workspace)?,
                [dev] if dev == "--dev" => bundle::build_quickly(&workspace)?,
                other => bail!("`web` takes no flags but --dev, not {other:?}\n\n{USAGE}"),
            }
            Ok(ExitCode::SUCCESS)
        }
        "bench" => bench::run(&workspace, rest).map(|()| ExitCode::SUCCESS),
        "wheel" => python::wheel(&workspace).map(|()| ExitCode::SUCCESS),
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
