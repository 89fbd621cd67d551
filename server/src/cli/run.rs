//! `trainscope run`: runs a training, records it without changing it, and reports the findings at its end.
//!
//! The command gets the terminal, the streams and the signals of this process. Its Python loads `sitecustomize.py`,
//! which waits for a framework; the package `trainscope` of that Python records.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Args, ValueEnum};

use super::style::{STRONG, WARNING};
use super::{CommandError, words};

mod command;
mod ending;
mod folder;
mod launcher;

use folder::Folder;
use launcher::Launcher;

/// The flags of `trainscope run`.
#[derive(Args, Clone, Debug)]
pub(super) struct RunFlags {
    /// Folder to record into [default: runs/NAME-DATE-TIME, where NAME is that of the script]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Look at the tensors of every N-th step [default: 10, and the first 3 steps]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    every: Option<u64>,

    /// Probe the model with its first batch; nothing of the training is changed
    #[arg(long)]
    preflight: bool,

    /// Keep what is needed to repeat the step of the first hit
    #[arg(long)]
    capsule: bool,

    /// Behaviour of the training at the first error that is found
    #[arg(long, value_name = "WHAT", value_enum)]
    at_hit: Option<AtHit>,

    /// Server that may pause the training and look at its tensors
    #[arg(long, value_name = "URL")]
    live: Option<String>,

    /// Open the page of the run on this machine, in the background; `trainscope stop` ends it
    #[arg(long)]
    page: bool,

    /// For `python -m trainscope run`: only say what the processes of this folder have recorded
    #[arg(long, value_name = "DIR", hide = true, requires = "out")]
    ended: Option<PathBuf>,

    /// The training and its arguments, as in `python train.py`
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "ended")]
    command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AtHit {
    /// Go on
    Record,
    /// Wait, if a server is connected
    Pause,
    /// End, before the update
    Stop,
}

/// Runs the command and returns its exit status, as a shell would.
pub(super) fn run(flags: &RunFlags) -> Result<u8, CommandError> {
    if let (Some(launcher), Some(out)) = (&flags.ended, &flags.out) {
        ending::say(&Launcher::of(launcher), out, None);
        return Ok(0);
    }
    let folder = Folder::make(flags.out.as_deref(), &flags.command)?;
    let launcher = Launcher::make()?;
    if let Some(letter) = command::ignores_environment(&flags.command) {
        note(&format!(
            "-{letter} makes Python ignore what would record it: nothing is recorded"
        ));
    }
    if flags.page {
        open_page(folder.path());
    }
    let ended = match command::run(&mut child(flags, &folder, &launcher)) {
        Ok(ended) => ended,
        Err(mistake) => {
            folder.remove_if_empty();
            return Err(mistake.into());
        }
    };
    ending::say(&launcher, folder.path(), Some(&ended));
    folder.remove_if_empty();
    launcher.leave();
    Ok(ended.status())
}

/// The command with the environment variables for its recording.
fn child(flags: &RunFlags, folder: &Folder, launcher: &Launcher) -> Command {
    let mut words = flags.command.iter();
    let mut child = Command::new(words.next().map_or(OsStr::new(""), OsString::as_os_str));
    child
        .args(words)
        .env("PYTHONPATH", launcher.python_path())
        .env("TRAINSCOPE_LAUNCHER", launcher.path())
        .env("TRAINSCOPE_OUT", folder.absolute());
    if let Some(every) = flags.every {
        child.env("TRAINSCOPE_EVERY", every.to_string());
    }
    if flags.preflight {
        child.env("TRAINSCOPE_PREFLIGHT", "1");
    }
    if flags.capsule {
        child.env("TRAINSCOPE_CAPSULE", "1");
    }
    if let Some(at_hit) = flags.at_hit.as_ref().and_then(ValueEnum::to_possible_value) {
        child.env("TRAINSCOPE_AT_HIT", at_hit.get_name());
    }
    if let Some(live) = &flags.live {
        child.env("TRAINSCOPE_SERVER", live);
    }
    child
}

/// Opens the page of the folder with the run. The training runs even if that fails.
fn open_page(folder: &Path) {
    let started = std::env::current_exe().and_then(|program| {
        Command::new(program)
            .args(["start", "--background", "--port", "0", "--summary-base-dir"])
            .arg(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::from(io::stderr()))
            .status()
    });
    match started {
        Ok(status) if status.success() => (),
        Ok(_) => note("the page has not started; the training goes on without it"),
        Err(error) => note(&format!("the page has not started: {error}")),
    }
}

/// Prints a message about the recording, not about the training.
fn note(text: &str) {
    say(|out| writeln!(out, "{WARNING}trainscope:{WARNING:#} {text}"));
}

/// Writes to standard error. The text is lost if it is closed.
fn say(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let mut out = io::BufWriter::new(anstream::stderr().lock());
    drop(write(&mut out).and_then(|()| out.flush()));
}

/// Writes the command that shows a run on a page.
fn page(folder: &Path, out: &mut dyn Write) -> io::Result<()> {
    let shown = folder.display().to_string();
    let quoted = shlex::try_quote(&shown).unwrap_or(Cow::Borrowed(&*shown));
    let quoted = words::name(&quoted, None);
    writeln!(
        out,
        "  {STRONG}Page{STRONG:#}         trainscope start --summary-base-dir {quoted}"
    )
}
