//! `--background`: the program starts itself again without the flag, in a separate session, and waits until the child
//! answers.
//!
//! An environment variable marks the child: a child that would start another one is an error.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{CommandError, folders, page_link};
use crate::cli::mistake::Mistake;
use crate::cli::state::{Presence, ServerState, StateDir};
use crate::cli::style::LINK;
use crate::cli::words;
use crate::settings::{Settings, UserDirs};

/// Set for the child; its value is the folder of the log.
const GUARD: &str = "TRAINSCOPE_IN_BACKGROUND";
const FLAG: &str = "--background";
/// Timeout of the child's start.
const PATIENCE: Duration = Duration::from_secs(30);

/// True if this process was started by [`start`].
pub(super) fn is_child() -> bool {
    std::env::var_os(GUARD).is_some()
}

/// Error for a child that would start another one.
pub(super) fn nested() -> Mistake {
    Mistake::new(
        2,
        "a server in the background cannot go to the background again",
    )
    .at(format!("{GUARD} is set, and {FLAG} is given"))
    .attempt(format!("unset {GUARD}, or leave out {FLAG}"))
}

/// Detaches from the parent's terminal, so that closing it does not end the server.
pub(super) fn detach() {
    if let Err(error) = rustix::process::setsid() {
        tracing::debug!(%error, "this process leads a session already");
    }
}

/// Path of this process's log, if it is a child that listens on `port`.
pub(super) fn log_of_child(port: u16) -> Option<PathBuf> {
    let dir = std::env::var_os(GUARD).filter(|dir| !dir.is_empty())?;
    Some(PathBuf::from(dir).join(format!("{port}.log")))
}

/// Starts the child and returns once it answers.
pub(super) fn start(settings: &Settings) -> Result<u8, CommandError> {
    let dirs = UserDirs::find().map_err(Mistake::from)?;
    // With port 0 the port is unknown yet, so the log is renamed afterwards.
    let draft = dirs.state.join(format!("start-{}.log", std::process::id()));
    let cannot = |error: std::io::Error| {
        Mistake::new(2, format!("cannot start in the background: {error}"))
            .at(words::path(&draft))
            .attempt(format!("without {FLAG}"))
    };
    fs::create_dir_all(&dirs.state).map_err(cannot)?;
    let log = File::create(&draft).map_err(cannot)?;
    let child = Command::new(std::env::current_exe().map_err(cannot)?)
        .args(arguments(std::env::args_os()))
        .env(GUARD, &dirs.state)
        .stdin(Stdio::null())
        .stdout(log.try_clone().map_err(cannot)?)
        .stderr(log)
        .spawn()
        .map_err(cannot)?;
    match wait(child) {
        WaitOutcome::Answers(state) => {
            if let Some(log) = &state.log {
                fs::rename(&draft, log).map_err(cannot)?;
            }
            let mut out = anstream::stdout().lock();
            writeln!(
                out,
                "Started: {LINK}{}{LINK:#} (process {})\n",
                page_link(&state),
                state.pid
            )?;
            if let Some(file) = &state.token_file {
                writeln!(out, "  Token    {}", words::path(file))?;
            }
            write!(out, "{}", folders(settings))?;
            if let Some(log) = &state.log {
                writeln!(out, "  Log      {}", words::path(log))?;
            }
            writeln!(out, "  End it   trainscope stop")?;
            out.flush()?;
            Ok(0)
        }
        WaitOutcome::Ended(status) => {
            // Its output is the error message for the user.
            let said = fs::read(&draft).unwrap_or_default();
            let mut stderr = anstream::stderr().lock();
            stderr.write_all(&said)?;
            stderr.flush()?;
            drop(fs::remove_file(&draft));
            Ok(status)
        }
        WaitOutcome::Silent(pid) => Err(Mistake::new(
            3,
            format!(
                "process {pid} does not answer after {}",
                words::span(PATIENCE)
            ),
        )
        .at(words::path(&draft))
        .attempt(format!("the log above; kill {pid}"))
        .into()),
    }
}

/// The arguments for the child: without the program and without the flag.
fn arguments(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    args.skip(1).filter(|arg| arg != FLAG).collect()
}

enum WaitOutcome {
    Answers(Box<ServerState>),
    Ended(u8),
    Silent(u32),
}

fn wait(mut child: Child) -> WaitOutcome {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if let Some(state) = find(child.id()) {
            return WaitOutcome::Answers(Box::new(state));
        }
        if let Ok(Some(status)) = child.try_wait() {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            return WaitOutcome::Ended(code.unwrap_or(3));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    WaitOutcome::Silent(child.id())
}

/// The server with this process id, once it answers.
fn find(pid: u32) -> Option<ServerState> {
    let dir = StateDir::of_user().ok()?;
    let state = dir.all().into_iter().find(|state| state.pid == pid)?;
    matches!(state.presence(), Presence::Answers(_)).then_some(state)
}

#[cfg(test)]
mod tests {
    use super::{GUARD, arguments, nested};
    use std::process::Command;

    #[test]
    fn the_child_does_not_get_the_flag() {
        let args = ["trainscope", "start", "--background", "--port", "0"];
        let child = arguments(args.iter().map(std::convert::Into::into));
        assert_eq!(child, ["start", "--port", "0"]);
    }

    #[test]
    fn a_second_level_is_a_mistake() {
        assert_eq!(nested().status, 2);
    }

    /// Helper process of another test.
    #[test]
    #[ignore = "runs as the child of the_guard_is_seen"]
    fn child_sees_guard() {
        println!("child={}", super::is_child());
    }

    #[test]
    fn the_guard_is_seen() {
        let child = |guard: bool| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args([
                "cli::start::background::tests::child_sees_guard",
                "--exact",
                "--ignored",
                "--nocapture",
            ]);
            if guard {
                command.env(GUARD, "/tmp");
            }
            String::from_utf8(command.output().unwrap().stdout).unwrap()
        };
        assert!(child(true).contains("child=true"));
        assert!(child(false).contains("child=false"));
    }
}
