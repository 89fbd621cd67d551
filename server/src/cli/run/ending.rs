//! The final screen: verdict, first cause with file and line, folder of the run, and the command for the page.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::process::Signal;

use super::command::CommandEnd;
use super::launcher::{Launcher, RunRecord};
use super::page;
use crate::cli::check;
use crate::cli::style::{QUIET, STRONG};
use crate::cli::{CommandError, words};

/// Prints a summary of the recording. `ended` is the end of the command, if this process has run it.
pub(super) fn say(launcher: &Launcher, out: &Path, ended: Option<&CommandEnd>) {
    let recorded = launcher.recorded();
    let folders: BTreeSet<PathBuf> = recorded.iter().map(|run| shown(&run.folder)).collect();
    let folders: Vec<PathBuf> = folders
        .into_iter()
        .filter(|folder| folder.is_dir())
        .collect();
    super::say(|screen| {
        writeln!(screen)?;
        if folders.is_empty() {
            nothing(launcher, out, screen)?;
        } else {
            judged(&folders, screen)?;
        }
        if let Some(signal) = ended.and_then(|end| end.signal()) {
            let name = name_of(signal);
            writeln!(screen, "  {QUIET}The command was ended by {name}.{QUIET:#}")?;
        }
        let alive: Vec<&RunRecord> = recorded.iter().filter(|run| run.is_alive()).collect();
        // In `python -m trainscope run` the recording process is the one that calls this.
        if let (Some(first), Some(_)) = (alive.first(), ended) {
            writeln!(
                screen,
                "  {QUIET}Process {} still records: the run is not at its end.{QUIET:#}",
                first.process
            )?;
        }
        Ok(())
    });
}

/// A path relative to the working folder, as a person would write it.
fn shown(path: &Path) -> PathBuf {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    below
        .filter(|path| !path.as_os_str().is_empty())
        .unwrap_or_else(|| path.to_owned())
}

/// Verdict, first cause, and folders of the runs.
fn judged(folders: &[PathBuf], out: &mut dyn Write) -> io::Result<()> {
    match check::write_answer(folders.to_vec(), out) {
        Ok(()) => (),
        Err(CommandError::Mistake(mistake)) => mistake.write(&mut &mut *out)?,
        Err(CommandError::Output(error)) => return Err(error),
    }
    for (number, folder) in folders.iter().enumerate() {
        let head = if number == 0 { "Run" } else { "" };
        let folder = words::name(&folder.display().to_string(), None);
        writeln!(out, "  {STRONG}{head:<11}{STRONG:#}  {folder}")?;
    }
    page(common(folders), out)
}

/// The folder that shows all of these on one page.
fn common(folders: &[PathBuf]) -> &Path {
    match folders {
        [only] => only,
        [first, ..] => first
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new(".")),
        [] => Path::new("."),
    }
}

/// Writes the reason why nothing was recorded.
fn nothing(launcher: &Launcher, folder: &Path, out: &mut dyn Write) -> io::Result<()> {
    let imported = launcher.imported();
    let why = if launcher.has("missing") {
        "the Python of the command has no package `trainscope`. Install it there."
    } else if !launcher.has("python") {
        "no Python of the command could be reached. It is no Python program, it was started with -I, -S or -E, \
         or it runs where this machine's files are not."
    } else if imported.is_empty() {
        "the program imported no framework that is known: PyTorch, Keras, Lightning, transformers, MindSpore."
    } else if imported.iter().all(|name| name == "jax") {
        "JAX does not show its trainings. `trainscope.start` and `trainscope.jax` record them."
    } else {
        "no training was seen: no optimizer has made an update."
    };
    let text = format!("Nothing was recorded: {why}");
    for line in check::Screen::of_stderr().wrap(&text, 0) {
        writeln!(out, "{line}")?;
    }
    let is_there = folder
        .read_dir()
        .is_ok_and(|mut entries| entries.next().is_some());
    if is_there {
        let folder = words::path(folder);
        writeln!(out, "  {QUIET}{folder} is as it was.{QUIET:#}")?;
    }
    Ok(())
}

/// `signal 9 (KILL)`.
fn name_of(number: u8) -> String {
    let name = Signal::from_named_raw(number.into()).map(|signal| format!("{signal:?}"));
    let name = name
        .as_deref()
        .map(|text| text.trim_matches('"').trim_start_matches("Signal::"));
    match name {
        Some(name) => format!("signal {number} ({name})"),
        None => format!("signal {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn signals_have_names() {
        assert_eq!(name_of(9), "signal 9 (KILL)");
        assert_eq!(name_of(60), "signal 60");
    }
}
