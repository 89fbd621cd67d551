//! `trainscope upload`: brings recordings to an object store, once or as they grow.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use clap::Args;
use rustix::process::{Pid, test_kill_process};

use super::mistake::Mistake;
use super::style::QUIET;
use super::{CommandError, words};
use crate::discovery::find::{find, recorded};
use crate::files;

/// Pause between two walks over the folder.
const PAUSE: Duration = Duration::from_secs(2);
/// Pause of a look at the end of the process or a signal.
const LOOK_PAUSE: Duration = Duration::from_millis(100);
/// Minimum time between two uploads of a file that grows, unless another one is set: each is of the whole file.
const EVERY: &str = "30";

/// The flags of `trainscope upload`.
#[derive(Args, Debug)]
pub(super) struct UploadFlags {
    /// Folder with recordings
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// Address to bring them to, such as `s3://bucket/runs/a`
    #[arg(value_name = "ADDRESS")]
    address: PathBuf,

    /// Go on as files grow, until a signal
    #[arg(long)]
    follow: bool,

    /// Go on until this process has ended
    #[arg(long, value_name = "PID")]
    until_exit: Option<u32>,

    /// Minimum seconds between two uploads of a file that grows
    #[arg(long, value_name = "SECONDS", default_value = EVERY, value_parser = crate::settings::seconds)]
    every: Duration,
}

/// A file as it was uploaded last.
struct LastUpload {
    len_bytes: u64,
    modified: SystemTime,
    at: Instant,
}

pub(super) fn run(flags: &UploadFlags) -> Result<u8, CommandError> {
    if !files::is_address(&flags.address) {
        let what = format!("{} is no address", words::path(&flags.address));
        return Err(Mistake::new(2, what)
            .attempt("s3://bucket/folder, gs://bucket/folder, az://container/folder")
            .into());
    }
    let to = files::canonical(&flags.address)
        .map_err(|error| Mistake::new(2, error.to_string()).at(words::path(&flags.address)))?;
    if !flags.dir.is_dir() {
        return Err(Mistake::missing_dir(&flags.dir, "trainscope upload").into());
    }
    // Objects that are there already are not uploaded again. Without an answer everything is.
    drop(find(&to, 1));
    let ends = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&ends)).map_err(CommandError::Output)?;
    }
    let mut upload = Upload {
        from: &flags.dir,
        to: &to,
        every: flags.every,
        done: BTreeMap::new(),
        bytes: 0,
        failure: None,
    };
    let goes_on = || {
        let is_watched = flags.until_exit.is_some_and(lives);
        !ends.load(Ordering::Relaxed) && (is_watched || flags.follow && flags.until_exit.is_none())
    };
    while goes_on() {
        upload.round(false);
        let began = Instant::now();
        while goes_on() && began.elapsed() < PAUSE {
            std::thread::sleep(LOOK_PAUSE);
        }
    }
    upload.round(true);
    upload.say()
}

/// True while a process with this id exists.
fn lives(process: u32) -> bool {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    process.is_some_and(|process| test_kill_process(process) != Err(rustix::io::Errno::SRCH))
}

/// An upload on its way.
struct Upload<'a> {
    from: &'a Path,
    to: &'a Path,
    every: Duration,
    done: BTreeMap<PathBuf, LastUpload>,
    bytes: u64,
    /// The last error, until a round without one.
    failure: Option<String>,
}

impl Upload<'_> {
    /// Uploads what has changed, in the order of the changes; in the last round also what was uploaded just now.
    fn round(&mut self, is_last: bool) {
        let mut changed: Vec<(SystemTime, PathBuf, u64)> = Vec::new();
        for path in recorded(self.from) {
            let Ok(metadata) = path.metadata() else {
                continue;
            };
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let is_due = self.done.get(&path).is_none_or(|done| {
                let is_same = done.len_bytes == metadata.len() && done.modified == modified;
                !is_same && (is_last || done.at.elapsed() >= self.every)
            });
            if is_due {
                changed.push((modified, path, metadata.len()));
            }
        }
        changed.sort();
        let mut failure = None;
        for (modified, path, len_bytes) in changed {
            match self.file(&path, len_bytes) {
                Ok(()) => {
                    self.bytes += len_bytes;
                    let at = Instant::now();
                    let uploaded = LastUpload {
                        len_bytes,
                        modified,
                        at,
                    };
                    self.done.insert(path, uploaded);
                }
                // Each further one would fail after as long a time.
                Err(error) => {
                    failure = Some(error.to_string());
                    break;
                }
            }
        }
        if failure != self.failure
            && let Some(reason) = &failure
            && !is_last
        {
            // Without a terminal the message is lost.
            let again = PAUSE.as_secs();
            drop(writeln!(
                anstream::stderr(),
                "{QUIET}note: {reason}; tried again every {again} seconds{QUIET:#}"
            ));
        }
        self.failure = failure;
    }

    fn file(&self, path: &Path, len_bytes: u64) -> io::Result<()> {
        let below = path.strip_prefix(self.from).unwrap_or(path);
        let address = self.to.join(below);
        if let Some(there) = files::listed(&address)
            && there.len_bytes == len_bytes
            && there.modified >= path.metadata()?.modified().ok()
            && !self.done.contains_key(path)
        {
            return Ok(());
        }
        files::upload(&address, &mut files::open(path)?, len_bytes)
    }

    fn say(&self) -> Result<u8, CommandError> {
        let to = words::path(self.to);
        if let Some(reason) = &self.failure {
            let mistake = Mistake::new(1, reason.clone()).at(to);
            return Err(mistake
                .attempt("the same command again: what is there already is left alone")
                .into());
        }
        let mut out = anstream::stdout().lock();
        let count = words::plural(self.done.len() as u64, "file is", "files are");
        writeln!(out, "{count} at {to}")?;
        out.flush()?;
        Ok(0)
    }
}
