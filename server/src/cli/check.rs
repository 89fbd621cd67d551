//! `trainscope check`: judges what trainings have recorded, without a server.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use trainscope_analysis::watchpoint::Watchpoints;
use trainscope_format::Severity;

use super::mistake::Mistake;
use super::{Failed, words};

mod events;
mod find;
mod judge;
mod names;
mod read;
mod render;
mod report;

use report::Report;

/// The flags of `trainscope check`.
#[derive(Args, Clone, Debug)]
pub(super) struct CheckFlags {
    /// Folders with training runs, or single files of tensors
    #[arg(value_name = "DIR")]
    dirs: Vec<PathBuf>,

    /// Hits of this severity or a worse one make it fail
    #[arg(long, value_name = "SEVERITY", value_enum, default_value_t = FailOn::Warning)]
    fail_on: FailOn,

    /// How to print the result
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Text)]
    format: OutputFormat,

    /// Count what cannot be judged, and a file that is cut, as a failure too
    #[arg(long)]
    strict: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Only what is certainly wrong
    Error,
    /// Also what may be wrong
    Warning,
    /// Everything that was found
    Info,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// For people
    Text,
    /// For programs
    Json,
}

impl From<FailOn> for Severity {
    fn from(fail_on: FailOn) -> Self {
        match fail_on {
            FailOn::Error => Self::Error,
            FailOn::Warning => Self::Warning,
            FailOn::Info => Self::Info,
        }
    }
}

pub(super) fn run(flags: &CheckFlags) -> Result<u8, Failed> {
    let watchpoints = Watchpoints::recommended();
    let mut report = Report {
        runs: Vec::new(),
        watchpoints,
        fail_on: flags.fail_on.into(),
        is_strict: flags.strict,
        unreadable: Vec::new(),
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    for dir in &flags.dirs {
        let found = find::find(dir)
            .map_err(|e| Mistake::new(2, format!("{} cannot be read: {e}", words::path(dir))))?;
        report.unreadable.extend(found.unreadable);
        for run in &found.runs {
            let judged = judge::judge(run, &report.watchpoints, threads, |_| {});
            report.runs.push(judged);
        }
    }
    let mut out = io::BufWriter::new(anstream::stdout().lock());
    match flags.format {
        OutputFormat::Text | OutputFormat::Json => render::json::write(&report, &mut out)?,
    }
    out.flush()?;
    Ok(report.status())
}
