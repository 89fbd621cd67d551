//! The command: started as by a shell, with the signals of this process, to its end.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

use crate::cli::mistake::Mistake;
use crate::cli::words;

/// Exit status for a command that exists but cannot be executed.
const NOT_EXECUTABLE: u8 = 126;
/// Exit status for a command that does not exist.
const NOT_FOUND: u8 = 127;
/// Added to the number of the signal that ended a command.
const BY_SIGNAL: u8 = 128;

/// Maximum size of the system's description of a process.
const MAX_STATUS_BYTES: u64 = 1 << 16;

const HANDED_ON: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// The end of the command.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandEnd(ExitStatus);

impl CommandEnd {
    /// Exit status, as a shell reports it.
    pub(super) fn status(self) -> u8 {
        let by_signal = self.signal().map(|signal| signal.wrapping_add(BY_SIGNAL));
        let code = self.0.code().and_then(|code| u8::try_from(code).ok());
        code.or(by_signal).unwrap_or(1)
    }

    /// Number of the signal that ended it.
    pub(super) fn signal(self) -> Option<u8> {
        self.0.signal().and_then(|number| u8::try_from(number).ok())
    }
}

/// Runs a command to its end.
///
/// It is in the process group of this process, so the terminal's signals (Ctrl-C, Ctrl-Z, a change of size) reach it
/// directly. Signals that another process sends to this one are handed on.
pub(super) fn run(command: &mut Command) -> Result<CommandEnd, Mistake> {
    // Signals that are ignored, as by `nohup`, stay ignored, here and in the command. The others wait until it has
    // started.
    let ignored = ignored();
    let handed_on = HANDED_ON
        .iter()
        .filter(|signal| ignored >> (**signal - 1) & 1 == 0);
    let signals = SignalsInfo::<WithOrigin>::new(handed_on)
        .map_err(|error| Mistake::new(2, format!("signals cannot be received: {error}")))?;
    let mut child = command
        .spawn()
        .map_err(|error| not_started(command.get_program(), &error))?;
    let has_ended = Arc::new(AtomicBool::new(false));
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        hand_on(signals, pid, &has_ended)
            .map_err(|error| Mistake::new(2, format!("signals cannot be received: {error}")))?;
    }
    let status = child.wait();
    has_ended.store(true, Ordering::Release);
    status
        .map(CommandEnd)
        .map_err(|error| Mistake::new(2, format!("the end of the command is not known: {error}")))
}

/// Hands signals on, on a separate thread. After the end of the command they end this process.
fn hand_on(
    mut signals: SignalsInfo<WithOrigin>,
    pid: Pid,
    has_ended: &Arc<AtomicBool>,
) -> io::Result<()> {
    let has_ended = Arc::clone(has_ended);
    std::thread::Builder::new().spawn(move || {
        for origin in &mut signals {
            if has_ended.load(Ordering::Acquire) {
                if [SIGHUP, SIGINT, SIGQUIT, SIGTERM].contains(&origin.signal) {
                    std::process::exit(origin.signal.wrapping_add(BY_SIGNAL.into()));
                }
            } else if is_of_process(&origin)
                && let Some(signal) = Signal::from_named_raw(origin.signal)
            {
                // The command may have ended already.
                let _ended = kill_process(pid, signal);
            }
        }
    })?;
    Ok(())
}

/// Signals that this process ignores, as bits: the lowest one is signal 1. 0 if the system does not report them.
fn ignored() -> u64 {
    let status = crate::files::read_text(Path::new("/proc/self/status"), MAX_STATUS_BYTES);
    let status = status.unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

/// False for a signal of the terminal, which the command got itself.
fn is_of_process(origin: &Origin) -> bool {
    matches!(origin.cause, Cause::Sent(_)) && origin.process.as_ref().is_some_and(|by| by.pid != 0)
}

fn not_started(program: &OsStr, error: &io::Error) -> Mistake {
    let name = words::path(Path::new(program));
    match error.kind() {
        ErrorKind::NotFound => Mistake::new(NOT_FOUND, format!("{name} is not found"))
            .at("the search path, or the interpreter in its first line")
            .attempt("trainscope run -- python train.py"),
        _ => Mistake::new(
            NOT_EXECUTABLE,
            format!("{name} cannot be executed: {error}"),
        )
        .attempt(format!("trainscope run -- python {name}")),
    }
}

/// The letter of an argument with which Python ignores `PYTHONPATH` or does not load `sitecustomize`.
pub(super) fn ignores_environment(command: &[OsString]) -> Option<char> {
    let (program, arguments) = command.split_first()?;
    if !is_python(program) {
        return None;
    }
    let mut arguments = arguments.iter().map(|argument| argument.to_string_lossy());
    while let Some(argument) = arguments.next() {
        let letters = argument.strip_prefix('-')?;
        if letters.is_empty() || letters.starts_with('-') {
            return None;
        }
        for (at, letter) in letters.char_indices() {
            match letter {
                'I' | 'E' | 'S' => return Some(letter),
                'c' | 'm' => return None,
                // The rest of this argument, or the next argument, is a value.
                'W' | 'X' => {
                    if at + 1 == letters.len() {
                        arguments.next();
                    }
                    break;
                }
                _ => (),
            }
        }
    }
    None
}

/// True for `python`, `python3.12` and `pypy3`, in any folder.
pub(super) fn is_python(program: &OsStr) -> bool {
    let name = Path::new(program).file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let version = name
        .strip_prefix("python")
        .or_else(|| name.strip_prefix("pypy"));
    version.is_some_and(|rest| {
        rest.chars()
            .all(|letter| letter.is_ascii_digit() || letter == '.')
    })
}

#[cfg(test)]
mod tests {
    use super::ignores_environment;

    fn letter(command: &str) -> Option<char> {
        let words: Vec<_> = command.split(' ').map(Into::into).collect();
        ignores_environment(&words)
    }

    #[test]
    fn arguments_that_hide_the_environment_are_found_before_the_script_only() {
        assert_eq!(letter("python -I train.py"), Some('I'));
        assert_eq!(letter("/usr/bin/python3.12 -uE train.py"), Some('E'));
        assert_eq!(letter("python -W ignore -S train.py"), Some('S'));
        for other in [
            "python train.py -I",
            "python -m train -E",
            "python -c S -S",
            "python -W S train.py",
            "python -WS train.py",
            "python -Xdev train.py",
            "python",
            "perl -I lib train.pl",
            "python-config -I",
        ] {
            assert_eq!(letter(other), None, "{other}");
        }
    }
}
