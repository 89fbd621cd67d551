//! The peer: TensorBoard's data server (`RustBoard`), the part that reads event files, and the whole of TensorBoard,
//! which serves the browser.
//!
//! `tensorboard` starts the data server; loading is timed without TensorBoard's Python process in front, in favour of
//! the peer.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::machine::{self, Cores};
use xtask::process::output_of;

/// The data server of one Python environment.
pub(super) struct RustBoard {
    program: PathBuf,
    tensorboard: PathBuf,
}

/// Cost of loading a folder.
pub(super) struct Load {
    pub(super) secs: f64,
    pub(super) resident_bytes: u64,
}

impl RustBoard {
    /// Finds the data server in `venv`: made by `python3 -m venv`, with `pip install tensorboard`.
    pub(super) fn find(venv: &Path) -> Result<Self> {
        let program = output_of(Command::new(venv.join("bin/python")).args([
            "-c",
            "import tensorboard_data_server as s; print(s.server_binary())",
        ]))
        .with_context(|| format!("there is no TensorBoard in {}", venv.display()))?;
        Ok(Self {
            program: program.into(),
            tensorboard: venv.join("bin/tensorboard"),
        })
    }

    /// Seconds from the start of the process to the end of its first load; `all_points` keeps every point, the default
    /// is a sample of 1,000 per series.
    pub(super) fn load(&self, folder: &Path, all_points: bool, cores: Cores) -> Result<Load> {
        let mut command = cores.command(&self.program);
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
        ensure!(finished, "the peer ended before it had loaded");
        Ok(load)
    }

    /// Starts the whole of TensorBoard as its users do.
    pub(super) fn serve(&self, folder: &Path) -> Result<TensorBoard> {
        let child = Command::new(&self.tensorboard)
            .arg("--logdir")
            .arg(folder)
            .args(["--host", "127.0.0.1", "--port", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut tensorboard = TensorBoard {
            child,
            address: String::new(),
        };
        let errors = tensorboard.child.stderr.take();
        let mut lines = BufReader::new(errors.context("the pipe was just made")?).lines();
        // `TensorBoard 2.21.0 at http://127.0.0.1:41617/ (Press CTRL+C to quit)`
        tensorboard.address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| {
                let address = line
                    .split_whitespace()
                    .find(|word| word.starts_with("http://127"))?;
                Some(address.trim_end_matches('/').to_owned())
            })
            .context("TensorBoard ended before it listened")?;
        // The pipe must be drained.
        thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Ok(tensorboard)
    }
}

/// A running TensorBoard; dropping it ends it together with its data server, which watches its standard input.
pub(super) struct TensorBoard {
    child: Child,
    address: String,
}

impl TensorBoard {
    /// URL of a series, once all of its points are available.
    pub(super) fn wait_for_series(&self, run: &str, tag: &str, total: u64) -> Result<String> {
        let url = format!(
            "{}/data/plugin/scalars/scalars?run={run}&tag={tag}&format=json",
            self.address
        );
        let begun = Instant::now();
        loop {
            // Requests are refused until the run is loaded, which is not a failure here.
            let answer = ureq::get(&url)
                .call()
                .and_then(|mut answer| answer.body_mut().read_to_string());
            let points: Vec<Value> = answer
                .ok()
                .and_then(|text| serde_json::from_str(&text).ok())
                .unwrap_or_default();
            if points.len() as u64 == total {
                return Ok(url);
            }
            ensure!(
                begun.elapsed() < Duration::from_mins(1),
                "TensorBoard answers {} points of {total}",
                points.len()
            );
            sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for TensorBoard {
    fn drop(&mut self) {
        if self.child.kill().is_ok() {
            drop(self.child.wait());
        }
    }
}
