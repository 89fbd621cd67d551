//! `trainscope check`: judges recorded trainings without a server and without an index.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::{Args, ValueEnum};
use trainscope_analysis::watchpoint::Watchpoints;
use trainscope_format::Severity;

use super::mistake::Mistake;
use super::style::QUIET;
use super::{CommandError, unless_closed, words};
use crate::discovery::find::{self, Contents};
use crate::files;
use crate::judging::judge::{self, Sources};
use crate::profiles::unread::unread;
use crate::watchpoints::Sets;

mod against;
mod baseline;
mod explain;
mod listing;
mod live;
mod outcome;
mod plan;
mod progress;
mod render;
mod report;
mod shards;
mod watchpoint_file;

use baseline::Baseline;
use listing::Listing;
use progress::Progress;
pub(super) use render::hits::number;
pub(super) use render::screen::Screen;
use render::text::TextOptions;
use report::Report;
use shards::{Folder, ShardFlags};

/// The flags of `trainscope check`.
#[derive(Args, Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
pub(super) struct CheckFlags {
    /// Folders with training runs, or single files of them
    #[arg(value_name = "DIR", required_unless_present_any = ["explain", "list_conditions"])]
    dirs: Vec<PathBuf>,

    /// File of watchpoints [default: the recommended watchpoints]
    #[arg(long, value_name = "FILE")]
    watchpoints: Option<PathBuf>,

    /// Fail on hits of this severity or a higher one
    #[arg(long, value_name = "SEVERITY", value_enum, default_value_t = FailOn::Warning)]
    fail_on: FailOn,

    /// Report only hits that last until this step or later; earlier steps are still evaluated
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    since_step: Option<i64>,

    /// Leave out the hits of an earlier check: its output as JSON
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// Judge profiles against a good one: another run, or the output of `export --kind profile --format json`
    #[arg(long, value_name = "RUN_OR_FILE")]
    against: Option<PathBuf>,

    /// Compare with a profile of another device too
    #[arg(long, requires = "against")]
    any_device: bool,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Text)]
    format: OutputFormat,

    /// Write the result to a file; `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also fail if something cannot be judged or a file is truncated
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    shards: ShardFlags,

    /// Cores to use [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,

    /// List every hit
    #[arg(long)]
    all: bool,

    /// Print the last line only
    #[arg(long, short, conflicts_with = "verbose")]
    quiet: bool,

    /// Print details of every run
    #[arg(long, short)]
    verbose: bool,

    /// Explain a condition: its check, the reason and the advice
    #[arg(long, value_name = "CONDITION")]
    explain: Option<String>,

    /// List all conditions
    #[arg(long)]
    list_conditions: bool,

    /// Run a training, follow its recording, and end it at the first hit; without a command, follow the folder
    #[arg(long, conflicts_with_all = ["explain", "list_conditions"])]
    live: bool,

    /// With --live: record every N-th step
    #[arg(long, value_name = "N", default_value_t = 1, requires = "live", value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,

    /// With --live and without a command: seconds without growth after which the training has ended
    #[arg(
        long = "for",
        value_name = "S",
        default_value_t = 600,
        requires = "live"
    )]
    quiet_secs: u64,

    /// With --live: seconds from the signal TERM to KILL
    #[arg(long, value_name = "S", default_value_t = 30, requires = "live")]
    grace: u64,

    /// With --live: the training and its arguments
    #[arg(last = true, value_name = "COMMAND", requires = "live")]
    command: Vec<String>,
}

impl CheckFlags {
    fn quiet_for(&self) -> std::time::Duration {
        std::time::Duration::from_secs(self.quiet_secs)
    }

    fn threads(&self) -> usize {
        let dirs = self.dirs.iter().map(PathBuf::as_path);
        let threads = || files::threads(dirs);
        self.threads.map_or_else(threads, usize::from)
    }

    fn sets(&self) -> Result<Sets, Mistake> {
        match &self.watchpoints {
            Some(path) => watchpoint_file::read(path),
            None => Ok(Sets::default()),
        }
    }

    fn grace(&self) -> std::time::Duration {
        std::time::Duration::from_secs(self.grace)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Errors only
    Error,
    /// Errors and warnings
    #[default]
    Warning,
    /// All findings
    Info,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
    /// For the test pages of CI systems
    Junit,
    /// For code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
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

pub(super) fn run(flags: &CheckFlags) -> Result<u8, CommandError> {
    let is_stdout = flags
        .output
        .as_deref()
        .is_none_or(|path| path == Path::new("-"));
    let screen = if is_stdout {
        Screen::of_stdout()
    } else {
        Screen::of_file()
    };
    if flags.list_conditions || flags.explain.is_some() {
        let condition = flags.explain.as_deref().map(explain::find).transpose()?;
        write_out(flags.output.as_deref(), |out| match condition {
            Some(condition) => explain::explain(condition, screen, out),
            None => explain::list(screen, out),
        })?;
        return Ok(0);
    }
    if let Some(line) = part(flags)? {
        writeln!(anstream::stdout().lock(), "{line}")?;
        return Ok(0);
    }
    let (report, status) = if flags.live {
        live::run(flags)?
    } else {
        let report = check(flags)?;
        let status = report.status();
        (report, status)
    };
    let options = TextOptions {
        screen,
        is_quiet: flags.quiet,
        is_verbose: flags.verbose,
        shows_all: flags.all,
    };
    let written = write_out(flags.output.as_deref(), |out| match flags.format {
        OutputFormat::Text => {
            render::text::write(&report, options, out)?;
            let hit = report.hit_of_stop();
            match report.live.as_ref().and_then(|live| live.sentence(hit)) {
                Some(sentence) => writeln!(out, "{sentence}"),
                None => Ok(()),
            }
        }
        OutputFormat::Json => render::json::write(&report, out),
        OutputFormat::Junit => render::junit::write(&report, out),
        OutputFormat::Sarif => render::sarif::write(&report, out),
        OutputFormat::Github => render::github::write(&report, out),
    });
    unless_closed(written)?;
    Ok(status)
}

/// Judges folders by the recommended watchpoints. Writes the verdict and the first cause for standard error; of several
/// runs, a line for each.
pub(super) fn write_answer(dirs: Vec<PathBuf>, out: &mut dyn Write) -> Result<(), CommandError> {
    let report = check(&CheckFlags {
        dirs,
        quiet: true,
        ..CheckFlags::default()
    })?;
    render::text::write_answer(&report, Screen::of_stderr(), out)?;
    Ok(())
}

/// Makes a plan or computes a shard, and returns a line about it; `None` if the command judges.
fn part(flags: &CheckFlags) -> Result<Option<String>, CommandError> {
    let shard = flags.shards.number()?;
    let threads = flags.threads();
    if let Some(path) = flags
        .shards
        .plan
        .as_ref()
        .filter(|_| flags.shards.only_plans())
    {
        let listing = Listing::of(flags, None, threads)?;
        return Ok(Some(shards::describe(&listing, path)));
    }
    let Some(shard) = shard else {
        return Ok(None);
    };
    let Some(folder) = Folder::open(&flags.shards, &flags.dirs)? else {
        return Ok(None);
    };
    let listing = Listing::of(flags, Some(shard), threads)?;
    let sets = flags.sets()?;
    let watchpoints = listing.runs.iter().map(|listed| {
        let dir = &flags.dirs[listed.source];
        let name = name_in_file(flags, dir, &listed.run.name);
        sets.of(&name).0.clone()
    });
    let watchpoints: Vec<Watchpoints> = watchpoints.collect();
    let line = shards::run(
        shard,
        &folder,
        &listing,
        &watchpoints,
        (threads, flags.quiet),
    )?;
    Ok(Some(line))
}

fn check(flags: &CheckFlags) -> Result<Report, CommandError> {
    let began = Instant::now();
    let sets = flags.sets()?;
    let baseline = match &flags.baseline {
        Some(path) => Baseline::read(path)?,
        None => Baseline::default(),
    };
    let threads = flags.threads();
    let against = flags.against.as_deref();
    let good = against.map(|path| against::read(path, flags.any_device, threads).map(Arc::new));
    let good = good.transpose()?;
    let watchpoints_of = |name: &str| match good {
        Some(_) => sets.of(name).0.with_baseline(),
        None => sets.of(name).0.clone(),
    };
    let folder = Folder::open(&flags.shards, &flags.dirs)?;
    let mut listing = Listing::of(flags, None, threads)?;
    let mut report = Report {
        title: titles(&flags.dirs),
        runs: Vec::new(),
        watchpoints: watchpoints_of(""),
        fail_on: flags.fail_on.into(),
        is_strict: flags.strict,
        since_step: flags.since_step,
        known: 0,
        live: None,
        unreadable: std::mem::take(&mut listing.unreadable),
        special: std::mem::take(&mut listing.special),
        took: began.elapsed(),
    };
    for dir in &flags.dirs {
        hint(flags, dir)?;
    }
    let runs = listing.runs.iter().map(|listed| &listed.run);
    let total_bytes = runs.map(|run| run.len_bytes).sum();
    let mut progress = Progress::new(total_bytes, listing.runs.len(), flags.quiet);
    let mut done = 0;
    for listed in &mut listing.runs {
        let (dir, run) = (&flags.dirs[listed.source], &mut listed.run);
        let watchpoints = watchpoints_of(&name_in_file(flags, dir, &run.name));
        if flags.dirs.len() > 1 {
            run.name.clone_from(&run.title);
        }
        let sources = Sources {
            good: good.clone(),
            summaries: folder
                .as_ref()
                .map(|folder| folder.of_run(run, listed.source)),
        };
        let read = |bytes| progress.read(bytes);
        let mut judged = judge::judge_with(sources, run, &watchpoints, threads, read);
        if let Some(step) = flags.since_step {
            baseline::retain(&mut judged.findings, |hit| hit.last_step >= step);
        }
        let is_new = |hit: &_| !baseline.knows(&run.name, hit);
        report.known += baseline::retain(&mut judged.findings, is_new);
        report.runs.push(judged);
        done += run.len_bytes;
        progress.finish_run(done);
    }
    drop(progress);
    if let Some(folder) = &folder {
        folder.end(&listing, flags.quiet)?;
    }
    report.sort();
    report.took = began.elapsed();
    Ok(report)
}

/// Name of a run in the watchpoints file: relative to the base directory, if the file is where pages write it.
fn name_in_file(flags: &CheckFlags, dir: &Path, name: &str) -> String {
    let below_base = || {
        let folder = flags.watchpoints.as_ref()?.canonicalize().ok()?;
        let folder = folder
            .parent()
            .filter(|folder| folder.ends_with(".trainscope"))?;
        let dir = files::canonical(dir).ok()?;
        let below = dir.strip_prefix(folder.parent()?).ok()?;
        let parts = below.iter().map(|part| part.to_string_lossy().into_owned());
        let parts: Vec<String> = parts
            .chain((name != ".").then(|| name.to_owned()))
            .collect();
        Some(parts.join("/")).filter(|name| !name.is_empty())
    };
    below_base().unwrap_or_else(|| name.to_owned())
}

/// Walks a folder on `threads` threads.
pub(super) fn look(dir: &Path, threads: usize) -> Result<Contents, Mistake> {
    find::find(dir, threads).map_err(|error| match error.kind() {
        _ if files::is_address(dir) => Mistake::new(2, error.to_string()).at(words::path(dir)),
        ErrorKind::NotFound => Mistake::missing_dir(dir, "trainscope check"),
        _ => Mistake::new(2, format!("{} cannot be read: {error}", words::path(dir)))
            .at(words::path(dir))
            .attempt("ask its owner for read access (chmod -R g+rX), or name another folder"),
    })
}

/// Reports on standard error the files of a folder that are never read: pipes, sockets and devices.
pub(super) fn note_special(found: &Contents) {
    let mut out = anstream::stderr().lock();
    for (path, what) in &found.special {
        let path = words::name(path, None);
        // The message is lost if standard error is closed.
        drop(writeln!(
            out,
            "{QUIET}note: {path} is {what} and was not read{QUIET:#}"
        ));
    }
}

/// Maximum number of profiler files that the error about a folder without runs names.
const MAX_UNREAD: usize = 5;

/// Error for a folder without runs, with its other contents.
pub(super) fn nothing_in(dir: &Path, found: &Contents) -> Mistake {
    let files: u64 = found.other.values().sum();
    let mut kinds: Vec<_> = found.other.iter().collect();
    kinds.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
    let most: Vec<String> = kinds
        .iter()
        .take(3)
        .map(|(extension, count)| match &***extension {
            "" => format!("{} without extension", words::count(**count)),
            extension => format!(
                "{} .{}",
                words::count(**count),
                words::name(extension, Some(16))
            ),
        })
        .collect();
    let most = if most.is_empty() {
        String::new()
    } else {
        format!(" (most: {})", most.join(", "))
    };
    let special = found.special.first().map(|(path, what)| {
        let path = words::name(path, None);
        format!("{path} is {what}; only regular files are read")
    });
    let mistake = Mistake::new(2, format!("no runs found in {}", words::path(dir)));
    let unread = unread(dir, "").into_iter().take(MAX_UNREAD);
    let unread = unread.map(|file| format!("{}: {}", words::name(&file.path, None), file.reason));
    special
        .into_iter()
        .chain(unread)
        .fold(mistake, Mistake::at)
        .at(format!(
            "{} in {}, none in a known format{most}",
            words::plural(files, "file", "files"),
            words::plural(found.folders, "folder", "folders"),
        ))
        .at("known: event files, MindSpore summaries and dumps, safetensors, npy, ONNX, profiles")
        .attempt("give the folder the training writes to, or record one")
}

/// Hint for a watchpoints file in the folder, which is used only on request.
fn hint(flags: &CheckFlags, dir: &Path) -> io::Result<()> {
    let file = dir.join(".trainscope").join("watchpoints.toml");
    if flags.watchpoints.is_some() || flags.quiet || !files::is_listed(&file) {
        return Ok(());
    }
    let file = words::path(&file);
    let mut out = anstream::stderr().lock();
    writeln!(
        out,
        "{QUIET}note: the recommended watchpoints are used; for those of the page: --watchpoints {file}{QUIET:#}"
    )
}

/// Path of a run as typed on the command line.
pub(super) fn title(dir: &Path, name: &str) -> String {
    let typed = dir.display().to_string();
    let typed = typed.trim_end_matches('/');
    let typed = typed.strip_prefix("./").unwrap_or(typed);
    match (typed, name) {
        ("" | ".", ".") => dir
            .canonicalize()
            .ok()
            .and_then(|dir| Some(dir.file_name()?.to_string_lossy().into_owned()))
            .unwrap_or_else(|| ".".to_owned()),
        (typed, ".") => typed.to_owned(),
        ("" | ".", name) => name.to_owned(),
        (typed, name) => format!("{typed}/{name}"),
    }
}

fn titles(dirs: &[PathBuf]) -> String {
    let all: Vec<String> = dirs.iter().map(|dir| title(dir, ".")).collect();
    words::name(&all.join(", "), None)
}

/// Writes a result to a file, or to standard output for `-` and without a path. Files get no colours.
pub(super) fn write_out(
    output: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CommandError> {
    match output {
        Some(path) if path != Path::new("-") => {
            let failed = |error: io::Error| {
                Mistake::new(2, format!("the result cannot be written: {error}"))
                    .at(format!("--output {}", words::path(path)))
                    .attempt("--output FILE in a folder that is there and may be written to")
            };
            if files::is_address(path) {
                let mut out = anstream::StripStream::new(Vec::new());
                write(&mut out).map_err(failed)?;
                let bytes = out.into_inner();
                let len = bytes.len() as u64;
                return Ok(files::upload(path, &mut &*bytes, len).map_err(failed)?);
            }
            let file = File::create(path).map_err(failed)?;
            let mut out = BufWriter::new(anstream::StripStream::new(file));
            write(&mut out).and_then(|()| out.flush()).map_err(failed)?;
        }
        _ => {
            let mut out = BufWriter::new(anstream::stdout().lock());
            write(&mut out)?;
            out.flush()?;
        }
    }
    Ok(())
}
