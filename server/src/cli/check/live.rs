//! `check --live`: runs a training, follows its recording, and ends it at the first hit.

use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::signal::unix::{SignalKind, signal};
use trainscope_analysis::watchpoint::config::name_of;

use super::super::CommandError;
use super::super::mistake::Mistake;
use super::super::style::QUIET;
use super::outcome::{LiveOutcome, StopReport};
use super::report::Report;
use super::{CheckFlags, OutputFormat, check};

/// Polling interval for the end of the command.
const POLL: Duration = Duration::from_millis(50);
/// Minimum interval between judgements.
const INTERVAL: Duration = Duration::from_secs(1);
/// Minimum interval as a multiple of the duration of a judgement: judging takes at most a fifth of the time.
const INTERVAL_SHARE: u32 = 4;
/// Time that a training with our collector has to stop itself before it gets a signal.
const OWN_STOP: Duration = Duration::from_secs(5);

/// The last signal for this process; 0 before the first one.
#[derive(Clone, Default)]
struct Interrupt(Arc<AtomicI32>);

impl Interrupt {
    /// Starts to listen. A separate thread waits for signals.
    fn listen() -> io::Result<Self> {
        let listener = Self::default();
        let seen = listener.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (mut interrupt, mut terminate) = {
            let _entered = runtime.enter();
            (
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
            )
        };
        std::thread::Builder::new().spawn(move || {
            runtime.block_on(async {
                loop {
                    let number = tokio::select! {
                        _ = interrupt.recv() => Signal::INT,
                        _ = terminate.recv() => Signal::TERM,
                    };
                    seen.0.store(number.as_raw(), Ordering::Release);
                }
            });
        })?;
        Ok(listener)
    }

    fn take(&self) -> Option<Signal> {
        let number = self.0.swap(0, Ordering::AcqRel);
        [Signal::INT, Signal::TERM]
            .into_iter()
            .find(|signal| signal.as_raw() == number)
    }
}

/// Runs the command, or follows the folders, and returns the report with the exit status.
pub(super) fn run(flags: &CheckFlags) -> Result<(Report, u8), CommandError> {
    let follower = Follower::new(flags)?;
    let (report, outcome) = if flags.command.is_empty() {
        follower.follow()?
    } else {
        follower.run()?
    };
    let report_status = report.status();
    let status = if outcome.is_interrupted {
        130
    } else if report.has_failing_hits() {
        1
    } else {
        match outcome.status {
            Some(0) | None => report_status,
            Some(failed) => u8::try_from(failed).unwrap_or(1),
        }
    };
    let report = Report {
        live: Some(outcome),
        ..report
    };
    Ok((report, status))
}

struct Follower<'a> {
    flags: &'a CheckFlags,
    began: Instant,
    interrupt: Interrupt,
    judged: Instant,
    interval: Duration,
}

impl<'a> Follower<'a> {
    fn new(flags: &'a CheckFlags) -> Result<Self, CommandError> {
        let interrupt = Interrupt::listen()
            .map_err(|error| Mistake::new(2, format!("signals cannot be received: {error}")))?;
        Ok(Self {
            flags,
            began: Instant::now(),
            interrupt,
            judged: Instant::now(),
            interval: INTERVAL,
        })
    }

    /// Judges the files recorded so far, if the interval has passed. A folder without a run is an error only at the
    /// end.
    fn look(&mut self) -> Option<Report> {
        if self.judged.elapsed() < self.interval {
            return None;
        }
        let begun = Instant::now();
        let flags = CheckFlags {
            quiet: true,
            ..self.flags.clone()
        };
        let report = check(&flags).ok();
        self.judged = Instant::now();
        self.interval = INTERVAL.max(INTERVAL_SHARE * begun.elapsed());
        report
    }

    /// Follows the folders, without a command, until no file has grown for the time of `--for`.
    fn follow(mut self) -> Result<(Report, LiveOutcome), CommandError> {
        let mut len_bytes = 0;
        let mut grew = Instant::now();
        let mut is_interrupted = false;
        while grew.elapsed() < self.flags.quiet_for() {
            if let Some(report) = self.look() {
                let now: u64 = report.runs.iter().map(|run| run.len_bytes).sum();
                if now != len_bytes {
                    (len_bytes, grew) = (now, Instant::now());
                }
                if report.has_failing_hits() {
                    break;
                }
            }
            if self.interrupt.take().is_some() {
                is_interrupted = true;
                break;
            }
            std::thread::sleep(POLL);
        }
        let outcome = LiveOutcome {
            is_interrupted,
            ..self.outcome(None)
        };
        Ok((check(self.flags)?, outcome))
    }

    fn outcome(&self, status: Option<i32>) -> LiveOutcome {
        LiveOutcome {
            command: self.flags.command.clone(),
            status,
            stopped_at_step: None,
            total_steps: None,
            ran_secs: self.began.elapsed().as_secs_f64(),
            saved_secs: None,
            found_after_secs: None,
            stopped_by: None,
            is_interrupted: false,
        }
    }

    /// Runs the command and follows the folders until it has ended.
    fn run(mut self) -> Result<(Report, LiveOutcome), CommandError> {
        let folder = tempfile::tempdir()
            .map_err(|error| Mistake::new(2, format!("no temporary folder: {error}")))?;
        let stop_file = folder.path().join("stop.json");
        let mut child = self.spawn(&stop_file)?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let send = |signal| {
            if let Some(group) = group {
                // The process may have ended already.
                let _ended = kill_process_group(group, signal);
            }
        };
        let mut is_interrupted = false;
        let mut found: Option<Instant> = None;
        let mut signalled: Option<Instant> = None;
        let mut is_killed = false;
        let status = loop {
            if let Some(status) = wait(&mut child)? {
                break status;
            }
            if let Some(signal) = self.interrupt.take() {
                is_interrupted = true;
                send(signal);
                signalled.get_or_insert_with(Instant::now);
            }
            if found.is_none()
                && let Some(report) = self.look()
                && report.has_failing_hits()
            {
                found = Some(Instant::now());
            }
            if found.is_some_and(|at| at.elapsed() >= OWN_STOP) && signalled.is_none() {
                self.say("there is a hit and the command still runs: it gets the signal TERM");
                send(Signal::TERM);
                signalled = Some(Instant::now());
            }
            if signalled.is_some_and(|at| at.elapsed() >= self.flags.grace()) && !is_killed {
                self.say("the command has not ended within the grace: it gets the signal KILL");
                send(Signal::KILL);
                is_killed = true;
            }
            std::thread::sleep(POLL);
        };
        let report = self.last_report(status)?;
        let code = status.code().or(status.signal().map(|signal| 128 + signal));
        let mut outcome = LiveOutcome {
            is_interrupted,
            ..self.outcome(code)
        };
        if report.has_failing_hits() {
            let stop = StopReport::read(&stop_file);
            outcome.stop(stop, signalled.is_some() && !is_interrupted);
        }
        Ok((report, outcome))
    }

    /// The final judgement. If a command failed before it recorded anything, the error has its exit status.
    fn last_report(&self, status: ExitStatus) -> Result<Report, CommandError> {
        match check(self.flags) {
            Err(CommandError::Mistake(mistake)) if !status.success() => {
                let code = status.code().or(status.signal().map(|signal| 128 + signal));
                let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
                Err(mistake.with_status(code).into())
            }
            other => other,
        }
    }

    fn spawn(&self, stop_file: &Path) -> Result<Child, CommandError> {
        let (program, arguments) = self
            .flags
            .command
            .split_first()
            .ok_or_else(|| Mistake::new(2, "there is no command"))?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("TRAINSCOPE_AT_HIT", "stop")
            .env(
                "TRAINSCOPE_AT_HIT_SEVERITY",
                name_of(self.flags.fail_on.into()),
            )
            .env("TRAINSCOPE_EVERY", self.flags.every.to_string())
            .env("TRAINSCOPE_STOP_REPORT", stop_file)
            .process_group(0);
        if let Some(watchpoints) = &self.flags.watchpoints {
            let absolute =
                std::path::absolute(watchpoints).unwrap_or_else(|_| PathBuf::from(watchpoints));
            command.env("TRAINSCOPE_WATCHPOINTS", absolute);
        }
        let is_for_programs =
            self.flags.format != OutputFormat::Text && self.flags.output.is_none();
        if is_for_programs {
            // Standard output is reserved for the report.
            command.stdout(Stdio::from(io::stderr()));
        }
        command.spawn().map_err(|error| {
            Mistake::new(2, format!("the command cannot be started: {error}"))
                .at(program.clone())
                .attempt("trainscope check DIR --live -- COMMAND ARG…")
                .into()
        })
    }

    fn say(&self, text: &str) {
        if !self.flags.quiet {
            let mut out = anstream::stderr().lock();
            // The message is lost if standard error is closed.
            drop(writeln!(out, "{QUIET}note: {text}{QUIET:#}"));
        }
    }
}

fn wait(child: &mut Child) -> Result<Option<ExitStatus>, CommandError> {
    child.try_wait().map_err(|error| {
        Mistake::new(2, format!("the end of the command is not known: {error}")).into()
    })
}
