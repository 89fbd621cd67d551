//! The peer: TensorBoard's data server (`RustBoard`), the part of it that reads event files.
//!
//! It is what `tensorboard --load_fast=true` starts; without TensorBoard's own Python process in front of it, which
//! only makes it look better.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};

use super::machine;
use crate::process::output_of;

/// The data server of one Python environment.
pub(super) struct RustBoard {
    program: PathBuf,
}

/// What loading a folder took.
pub(super) struct Load {
    pub(super) secs: f64,
    pub(super) resident_bytes: u64,
}

impl RustBoard {
    /// `venv`: made by `python3 -m venv`, with `pip install tensorboard` in it.
    pub(super) fn find(venv: &Path) -> Result<Self> {
        let program = output_of(Command::new(venv.join("bin/python")).args([
            "-c",
            "import tensorboard_data_server as s; print(s.server_binary())",
        ]))
        .with_context(|| format!("there is no TensorBoard in {}", venv.display()))?;
        Ok(Self {
            program: program.into(),
        })
    }

    /// Seconds from the start of the process to the end of its first load; `all_points` keeps every point, its
    /// default a sample of 1,000 a series.
    pub(super) fn load(&self, folder: &Path, all_points: bool) -> Result<Load> {
        let mut command = Command::new(&self.program);
        command
            .arg("--logdir")
            .arg(folder)
            .args(["--port", "0", "--reload", "once", "-v"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        if all_points {
            command.args(["--samples-per-plugin", "scalars=all"]);
        }
        let started = Instant::now();
        let mut child = command.spawn()?;
        let errors = child.stderr.take().context("the pipe was just made")?;
        let finished = BufReader::new(errors)
            .lines()
            .map_while(Result::ok)
            .any(|line| line.contains("Finished load cycle"));
        let load = Load {
            secs: started.elapsed().as_secs_f64(),
            resident_bytes: machine::resident_bytes(child.id()).unwrap_or(0),
        };
        child.kill()?;
        child.wait()?;
        anyhow::ensure!(finished, "the peer ended before it had loaded");
        Ok(load)
    }
}
