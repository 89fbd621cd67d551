//! The measuring machine: cores and their load, the page cache, memory of a process (Linux).

use std::fs::{self, File};
use std::io::{Read, copy, sink};
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use xtask::console;

/// Longest wait for idle cores; after it the measurement starts anyway.
const PATIENCE: Duration = Duration::from_secs(20);
/// Share of busy time below which the cores count as idle.
const IDLE: f64 = 0.12;

/// Cores that a measured program may use.
#[derive(Clone, Copy)]
pub(super) enum Cores {
    All,
    One,
}

impl Cores {
    /// A call of `program` that keeps to these cores.
    pub(super) fn command(self, program: &Path) -> Command {
        match self {
            Self::All => Command::new(program),
            Self::One => {
                // `taskset` replaces itself with the program, so that pid and signals are those of the program.
                let mut command = Command::new("taskset");
                command.args(["--cpu-list", "0"]).arg(program);
                command
            }
        }
    }
}

/// Reads all files below `folder` into the page cache, then waits until the cores are idle.
pub(super) fn settle(folder: &Path) -> Result<()> {
    read_through(folder)?;
    wait_until_idle()
}

/// Waits until the cores are idle.
pub(super) fn wait_until_idle() -> Result<()> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let (idle_before, total_before) = processor_times()?;
        sleep(Duration::from_millis(300));
        let (idle, total) = processor_times()?;
        let busy = 1.0 - (idle - idle_before) / (total - total_before).max(1.0);
        if busy < IDLE {
            return Ok(());
        }
    }
    console::line(
        "    the cores stay busy with something else: what follows is measured beside it",
    );
    Ok(())
}

fn read_through(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_through(&path)?;
        } else {
            copy(&mut File::open(path)?.take(u64::MAX), &mut sink())?;
        }
    }
    Ok(())
}

/// Idle and total time of all cores, in ticks.
fn processor_times() -> Result<(f64, f64)> {
    let stat = fs::read_to_string("/proc/stat")?;
    let times: Vec<f64> = stat
        .lines()
        .next()
        .context("/proc/stat is empty")?
        .split_whitespace()
        .skip(1)
        .take(8)
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    // The fourth and fifth fields are idle and iowait.
    Ok((times.iter().skip(3).take(2).sum(), times.iter().sum()))
}

/// Descendants of a process with their command lines.
fn descendants(pid: u32) -> Result<Vec<(u32, String)>> {
    let mut found = vec![(pid, String::new())];
    let mut at = 0;
    while let Some(&(parent, _)) = found.get(at) {
        at += 1;
        for entry in fs::read_dir(format!("/proc/{parent}/task"))? {
            // A process may end in the meantime.
            let children = fs::read_to_string(entry?.path().join("children")).unwrap_or_default();
            for child in children.split_whitespace() {
                let command = fs::read_to_string(format!("/proc/{child}/cmdline"));
                found.push((child.parse()?, command.unwrap_or_default()));
            }
        }
    }
    Ok(found)
}

/// Processor time of the pages of a browser in seconds, over all threads; `pid` is the process that started it.
pub(super) fn pages_processor_secs(pid: u32) -> Result<f64> {
    let mut secs = 0.0;
    let all = descendants(pid)?;
    for (page, _) in all
        .iter()
        .filter(|(_, command)| command.contains("--type=renderer"))
    {
        secs += processor_secs(*page)?;
    }
    Ok(secs)
}

/// Processor time of a process in seconds, over all threads.
pub(super) fn processor_secs(pid: u32) -> Result<f64> {
    /// Ticks per second, a constant of the Linux ABI.
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name before them may contain spaces.
    let (_, fields) = stat.rsplit_once(')').context("a process without a name")?;
    let mut ticks = 0.0;
    for time in fields.split_whitespace().skip(11).take(2) {
        ticks += time.parse::<f64>()?;
    }
    Ok(ticks / TICKS)
}

/// Resident memory of a process.
pub(super) fn resident_bytes(pid: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .context("the process has no memory")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

/// Disk usage of a folder in bytes.
pub(super) fn disk_bytes(folder: &Path) -> Result<u64> {
    use std::os::unix::fs::MetadataExt;
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        sum += if entry.file_type()?.is_dir() {
            disk_bytes(&entry.path())?
        } else {
            // `st_blocks` is in units of 512 bytes: sparse files count as the space that they occupy.
            entry.metadata()?.blocks() * 512
        };
    }
    Ok(sum)
}
