//! The trainscope program as a user starts it, timed from the start of its process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::connection::Connection;
use super::machine::{self, Cores};

/// Polling interval: small compared with the measured times, and cheap for the server.
const PAUSE: Duration = Duration::from_millis(1);
/// Timeout of a measurement.
const DEADLINE: Duration = Duration::from_mins(2);

/// A folder for the index.
pub(super) struct Cache(PathBuf);

impl Cache {
    pub(super) fn empty(scratch: &Path) -> Result<Self> {
        let folder = scratch.join("cache");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }

    /// Bytes of column files of profiles, once no more are written.
    pub(super) fn column_bytes(&self) -> Result<u64> {
        let folder = self.0.join("profiles");
        let begun = Instant::now();
        while begun.elapsed() < DEADLINE {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            let (whole, others): (Vec<_>, Vec<_>) =
                (entries.map(|entry| entry.path())).partition(|path| {
                    path.extension()
                        .is_some_and(|extension| extension == "columns")
                });
            if !whole.is_empty() && others.is_empty() {
                return machine::disk_bytes(&folder);
            }
            sleep(PAUSE);
        }
        anyhow::bail!("no column file is written")
    }

    pub(super) fn len_bytes(&self) -> Result<u64> {
        machine::disk_bytes(&self.0)
    }

    pub(super) fn start(&self, program: &Path, data: &Path) -> Result<Server> {
        self.start_on(Cores::All, program, data)
    }

    pub(super) fn start_on(&self, cores: Cores, program: &Path, data: &Path) -> Result<Server> {
        let port_file = self.0.with_extension("port");
        if port_file.exists() {
            fs::remove_file(&port_file)?;
        }
        let started = Instant::now();
        let child = cores
            .command(program)
            .args(["start", "--quiet", "--port", "0", "--port-file"])
            .arg(&port_file)
            .arg("--cache-dir")
            .arg(&self.0)
            .arg("--summary-base-dir")
            .arg(data)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .context("the server cannot be started")?;
        let mut server = Server {
            child,
            started,
            address: String::new(),
        };
        let port = server.wait_for("a port", || {
            let text = fs::read_to_string(&port_file).unwrap_or_default();
            Ok(text.trim().parse::<u16>().ok())
        })?;
        server.address = format!("http://127.0.0.1:{port}");
        Ok(server)
    }
}

/// A running server, which ends when it is dropped.
pub(super) struct Server {
    child: Child,
    started: Instant,
    address: String,
}

impl Server {
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Milliseconds since the process was started.
    pub(super) fn millis(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1e3
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Seconds from the start until this number of runs is known.
    pub(super) fn wait_for_runs(&self, runs: usize) -> Result<f64> {
        let mut status = Connection::get(&format!("{}/api/status", self.address))?;
        self.wait_for("all runs", || {
            let status: Value = serde_json::from_slice(status.ask()?)?;
            let is_there = status["runs"] == runs;
            Ok(is_there.then(|| self.started.elapsed().as_secs_f64()))
        })
    }

    /// Seconds from the start until every point is available.
    pub(super) fn wait_for_records(&self, records: u64) -> Result<f64> {
        self.wait_for_count("records", records)
    }

    /// Seconds from the start until every point would survive a crash.
    pub(super) fn wait_for_commit(&self, records: u64) -> Result<f64> {
        self.wait_for_count("committed_records", records)
    }

    /// Waits until all files are read.
    pub(super) fn wait_until_idle(&self) -> Result<()> {
        self.wait_for_ingest(|ingest| {
            ingest["idle"] == true && ingest["records"].as_u64().is_some_and(|n| n > 0)
        })?;
        Ok(())
    }

    /// Waits until the watchpoints of a run are evaluated.
    pub(super) fn wait_until_judged(&self, run: &str) -> Result<()> {
        let url = format!("{}/api/findings?run={run}&limit=1", self.address);
        let mut findings = Connection::get(&url)?;
        self.wait_for("what watchpoints find", || {
            // Requests are refused until the run is known, which is not a failure here.
            let Ok(answer) = findings.ask() else {
                return Ok(None);
            };
            let findings: Value = serde_json::from_slice(answer)?;
            Ok((findings["state"] == "done").then_some(()))
        })
    }

    fn wait_for_count(&self, field: &str, wanted: u64) -> Result<f64> {
        self.wait_for_ingest(|ingest| ingest["idle"] == true && ingest[field] == wanted)
    }

    fn wait_for_ingest(&self, is_there: impl Fn(&Value) -> bool) -> Result<f64> {
        let mut status = Connection::get(&format!("{}/api/status", self.address))?;
        self.wait_for("what is to be read", || {
            let status: Value = serde_json::from_slice(status.ask()?)?;
            Ok(is_there(&status["ingest"]).then(|| self.started.elapsed().as_secs_f64()))
        })
    }

    /// Seconds from the start until a series is available with all of its points.
    pub(super) fn wait_for_answer(&self, run: &str, tag: &str, total: u64) -> Result<f64> {
        self.wait_for_series(run, tag, |found| found == total)
    }

    /// Waits until a series has points.
    pub(super) fn wait_for_points(&self, run: &str, tag: &str) -> Result<()> {
        self.wait_for_series(run, tag, |found| found > 0).map(drop)
    }

    fn wait_for_series(&self, run: &str, tag: &str, is_there: impl Fn(u64) -> bool) -> Result<f64> {
        let url = format!("{}/api/scalars?run={run}&tag={tag}", self.address);
        let mut series = Connection::get(&url)?;
        self.wait_for("an answer", || {
            // Requests are refused until the run is known, which is not a failure here.
            let Ok(answer) = series.ask() else {
                return Ok(None);
            };
            let answered = self.started.elapsed().as_secs_f64();
            let series: Value = serde_json::from_slice(answer)?;
            Ok(series["total"]
                .as_u64()
                .filter(|&total| is_there(total))
                .map(|_| answered))
        })
    }

    fn wait_for<T>(&self, what: &str, mut look: impl FnMut() -> Result<Option<T>>) -> Result<T> {
        loop {
            if let Some(found) = look()? {
                return Ok(found);
            }
            ensure!(
                self.started.elapsed() < DEADLINE,
                "waited in vain for {what}"
            );
            sleep(PAUSE);
        }
    }

    /// Stops the server as Ctrl-C does, so that everything is committed.
    pub(super) fn stop(mut self) -> Result<()> {
        let pid = self.child.id().to_string();
        xtask::process::output_of(Command::new("kill").args(["-TERM", &pid]))?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After `stop` the process has ended already.
        if self.child.kill().is_ok() {
            drop(self.child.wait());
        }
    }
}
