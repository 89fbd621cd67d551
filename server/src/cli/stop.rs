//! `trainscope stop`: stops servers of this user.

use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use rustix::process::{Pid, Signal, kill_process};

use super::mistake::Mistake;
use super::remote::Remote;
use super::state::{Presence, ServerState, StateDir, process_lives};
use super::status::up;
use super::{CommandError, words};

/// Timeout of a stop.
const PATIENCE: Duration = Duration::from_secs(10);
/// Exit status if a server does not stop.
const RUNS_ON: u8 = 1;
/// Exit status if several servers are running.
const UNCLEAR: u8 = 2;

/// The flags of `trainscope stop`.
#[derive(Args, Debug)]
pub(super) struct StopFlags {
    /// Server on this port
    #[arg(long, value_name = "PORT", conflicts_with = "all")]
    port: Option<u16>,

    /// All servers of this user
    #[arg(long)]
    all: bool,
}

pub(super) fn run(flags: &StopFlags) -> Result<u8, CommandError> {
    let dir = StateDir::of_user().map_err(Mistake::from)?;
    let mut servers = dir.servers();
    if let Some(port) = flags.port {
        servers.retain(|(state, _)| state.port == port);
    }
    if servers.is_empty() {
        let mut out = anstream::stdout().lock();
        match flags.port {
            Some(port) => writeln!(out, "No trainscope of this user is running on port {port}.")?,
            None => writeln!(
                out,
                "No trainscope is running on this machine for this user."
            )?,
        }
        out.flush()?;
        return Ok(0);
    }
    if servers.len() > 1 && !flags.all {
        return Err(unclear(&servers).into());
    }
    let mut failed = None;
    for (state, presence) in &servers {
        let waiting = match presence {
            Presence::Answers(status) if status.waiting > 0 => Remote::waiting_at(state),
            _ => Vec::new(),
        };
        match stop(&dir, state, presence) {
            Ok(()) => {
                let mut out = anstream::stdout().lock();
                let now = SystemTime::now()
                    .duration_since(UNIX_EPOCH)
                    .unwrap_or_default();
                writeln!(
                    out,
                    "Stopped the trainscope on port {} (process {}) after {}.",
                    state.port,
                    state.pid,
                    up(state.started_secs, now.as_secs_f64())
                )?;
                for name in waiting {
                    writeln!(
                        out,
                        "{} was waiting, and goes on.",
                        words::name(&name, None)
                    )?;
                }
                out.flush()?;
            }
            // The others are still stopped.
            Err(mistake) => failed = Some(mistake),
        }
    }
    failed.map_or(Ok(0), |mistake| Err(mistake.into()))
}

fn unclear(servers: &[(ServerState, Presence)]) -> Mistake {
    let number = match servers.len() {
        2 => "two".to_owned(),
        3 => "three".to_owned(),
        more => words::count(more as u64),
    };
    let mut mistake = Mistake::new(
        UNCLEAR,
        format!("{number} are running, so which one to stop is not clear"),
    );
    for (state, _) in servers {
        let folders: Vec<String> = state.base_dirs.iter().map(|dir| words::path(dir)).collect();
        mistake = mistake.at(format!("{}  {}", state.port, folders.join(", ")));
    }
    let last = servers.last().map_or(0, |(state, _)| state.port);
    mistake.attempt(format!(
        "trainscope stop --port {last}, or trainscope stop --all"
    ))
}

/// Signals a server and waits until it has ended. Only a server that has identified itself gets a signal: its process
/// id alone may have been reused.
fn stop(dir: &StateDir, state: &ServerState, presence: &Presence) -> Result<(), Mistake> {
    let runs_on = |what: String| {
        let place = match &state.log {
            Some(log) => words::path(log),
            None => format!("port {}", state.port),
        };
        Mistake::new(RUNS_ON, what)
            .at(place)
            .attempt(format!("kill {}, if that is the trainscope", state.pid))
    };
    if !matches!(presence, Presence::Answers(_)) {
        return Err(runs_on(format!(
            "process {} does not answer on port {}, so it gets no signal",
            state.pid, state.port
        )));
    }
    let pid = i32::try_from(state.pid).ok().and_then(Pid::from_raw);
    let sent = pid.map_or(Err(rustix::io::Errno::SRCH), |pid| {
        kill_process(pid, Signal::TERM)
    });
    match sent {
        // The server has ended in the meantime.
        Err(rustix::io::Errno::SRCH) => return Ok(()),
        Err(error) => {
            return Err(runs_on(format!(
                "process {} cannot be ended: {error}",
                state.pid
            )));
        }
        Ok(()) => {}
    }
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if !process_lives(state.pid) {
            // A killed server leaves its file.
            if let Err(error) = dir.remove(state) {
                tracing::warn!(%error, "an old state file stays");
            }
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err(runs_on(format!(
        "process {} does not end within {}",
        state.pid,
        words::span(PATIENCE)
    )))
}
