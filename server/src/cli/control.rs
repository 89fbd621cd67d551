//! `trainscope control`: commands for a connected training, without a browser.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use trainscope_api::paths;
use trainscope_api::sessions::{
    CommandConflict, CommandRequest, HoldMode, Session, SessionCommand, SessionRankState,
    SessionState,
};
use trainscope_format::session::ByeReason;

use super::mistake::Mistake;
use super::remote::{Remote, RequestError};
use super::table::{Column, Table};
use super::{CommandError, words};

/// Seconds that `extend` adds by default: 10 minutes.
const EXTEND_SECS: u64 = 600;

/// The flags of `trainscope control`.
#[derive(Args, Debug)]
pub(super) struct ControlFlags {
    /// Folder of the run, or its name on the page
    #[arg(value_name = "RUN")]
    run: String,

    /// Server [default: the one on this machine that serves the run]
    #[arg(long, value_name = "URL", global = true)]
    server: Option<String>,

    #[command(subcommand)]
    order: Order,
}

/// A command for a training.
#[derive(Subcommand, Debug)]
enum Order {
    /// Pause all ranks at the next gate
    Pause {
        /// Also if not all ranks are connected: those may wait for the paused ones in vain
        #[arg(long)]
        partial: bool,
    },
    /// Let all ranks go on
    Continue,
    /// Go on for some steps
    Step {
        /// Number of steps
        #[arg(value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
        n: u64,
    },
    /// Go on to a node, in this step or a later one
    To {
        /// Name of the node
        #[arg(value_name = "NODE")]
        node: String,
    },
    /// Keep activations from the next forward pass on, to be looked at during a pause; without a pattern, none
    Keep {
        /// Part of their names, or a pattern with `*`
        #[arg(value_name = "PATTERN")]
        patterns: Vec<String>,
    },
    /// Hold ranks together, or each by itself from the next pause on
    Hold {
        /// `together`: all at one gate; `each`: each at its own next gate, for pipelines and actors
        #[arg(value_name = "MODE", value_enum)]
        mode: Mode,
    },
    /// End the training
    Stop,
    /// Restart the time limit of the pause
    Extend {
        /// Seconds from now
        #[arg(value_name = "S", default_value_t = EXTEND_SECS)]
        secs: u64,
    },
    /// Print the state of all ranks
    Status {
        /// Print the session as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Mode in which ranks are held.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Mode {
    Together,
    Each,
}

impl From<Mode> for HoldMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Together => Self::Together,
            Mode::Each => Self::Each,
        }
    }
}

impl Order {
    fn command(&self) -> Option<SessionCommand> {
        Some(match self {
            Self::Pause { partial } => SessionCommand::Pause { partial: *partial },
            Self::Continue => SessionCommand::Continue,
            Self::Step { n } => SessionCommand::Step { n: *n },
            Self::To { node } => SessionCommand::ToNode { node: node.clone() },
            Self::Keep { patterns } => SessionCommand::Keep {
                patterns: patterns.clone(),
            },
            Self::Hold { mode } => SessionCommand::Hold {
                mode: (*mode).into(),
            },
            Self::Stop => SessionCommand::Stop,
            Self::Extend { secs } => SessionCommand::Extend { secs: *secs },
            Self::Status { .. } => return None,
        })
    }
}

pub(super) fn run(flags: &ControlFlags) -> Result<u8, CommandError> {
    let remote = Remote::find(&flags.run, flags.server.as_deref())?;
    let Some(mut session) = remote.session()? else {
        let mistake = Mistake::new(1, format!("{} is not connected", remote.run))
            .at(remote.address.clone())
            .attempt(format!("trainscope attach {}", flags.run));
        return Err(mistake.into());
    };
    if let Some(command) = flags.order.command() {
        let request = CommandRequest {
            session: session.id.clone(),
            turn: session.turn,
            command,
        };
        session = match remote.post(paths::SESSION_COMMAND, &request) {
            Ok(session) => session,
            Err(RequestError::Refused(_, body)) if is_conflict(&body) => {
                let conflict: Option<CommandConflict> = serde_json::from_slice(&body).ok();
                let message = conflict.map_or_else(String::new, |conflict| conflict.message);
                let mistake = Mistake::new(1, message)
                    .at(remote.address.clone())
                    .attempt(format!("trainscope control {} status", flags.run));
                return Err(mistake.into());
            }
            Err(error) => return Err(error.into_mistake(&remote.address).into()),
        };
    }
    let mut out = anstream::stdout().lock();
    if matches!(flags.order, Order::Status { json: true }) {
        serde_json::to_writer_pretty(&mut out, &session).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        write(
            &mut out,
            &session,
            matches!(flags.order, Order::Status { .. }),
        )?;
    }
    out.flush()?;
    Ok(0)
}

fn is_conflict(body: &[u8]) -> bool {
    serde_json::from_slice::<CommandConflict>(body).is_ok()
}

pub(super) fn sentence(session: &Session) -> String {
    let step = words::count(session.step.max(0).unsigned_abs());
    let place = match session.place.as_deref() {
        Some("before_update") => format!("before the update of step {step}"),
        Some("after_step") => format!("after step {step}"),
        Some(node) => format!("at {} in step {step}", node.trim_start_matches("node:")),
        None => format!("at step {step}"),
    };
    let ranks = |state| {
        session
            .ranks
            .iter()
            .filter(|rank| rank.state == state)
            .count()
    };
    match session.state {
        SessionState::Joining => {
            let connected = session.ranks.len();
            format!("connecting: {connected} of {} ranks", session.world_size)
        }
        SessionState::Running => match session.total_steps {
            Some(total) => {
                let total = words::count(total.max(0).unsigned_abs());
                format!("running, step {step} of {total}")
            }
            None => format!("running, step {step}"),
        },
        SessionState::Pausing => format!(
            "pausing at the next gate: {} of {} ranks wait",
            ranks(SessionRankState::Held),
            session.world_size
        ),
        SessionState::Waiting => {
            let place = if session.waits_apart() {
                let (held, all) = (ranks(SessionRankState::Held), session.world_size);
                format!(", each rank at its own step: {held} of {all}")
            } else {
                format!(" {place}")
            };
            let secs = session.goes_on_secs.unwrap_or(0.0);
            let rest = std::time::Duration::try_from_secs_f64(secs).unwrap_or_default();
            format!("waiting{place}; goes on by itself in {}", words::span(rest))
        }
        SessionState::Stepping => match session.steps {
            Some([done, total]) => format!("stepping, {done} of {total}"),
            None => "running to a node".to_owned(),
        },
        SessionState::Stopping => "stopping".to_owned(),
        SessionState::Finished => {
            let how = match session.end {
                Some(ByeReason::Stopped) => "stopped",
                Some(ByeReason::Failed) => "failed",
                Some(ByeReason::Interrupted) => "interrupted",
                Some(ByeReason::Finished) | None => "ended",
            };
            format!("{how} {place}")
        }
        SessionState::Lost => format!("no word from the training, last {place}"),
    }
}

fn write(out: &mut impl Write, session: &Session, with_ranks: bool) -> io::Result<()> {
    writeln!(out, "{}: {}", session.name, sentence(session))?;
    // Hits of an earlier pause do not concern a training that runs.
    let hits = match session.state {
        SessionState::Running | SessionState::Stepping => &[],
        _ => session.hits.as_slice(),
    };
    for hit in hits {
        writeln!(
            out,
            "  {} step {}: {}",
            hit.condition, hit.step, hit.sentence.en
        )?;
    }
    if !with_ranks {
        return Ok(());
    }
    let mut table = Table::new([
        Column::right("RANK"),
        Column::left("STATE"),
        Column::right("STEP"),
        Column::left("HOST"),
        Column::right("PROCESS"),
        Column::right("MISSED"),
    ]);
    for rank in &session.ranks {
        let state = match rank.state {
            SessionRankState::Running => "running",
            SessionRankState::Asking => "asking",
            SessionRankState::Held => "waiting",
            SessionRankState::Lost => "lost",
            SessionRankState::Ended => "ended",
        };
        table.row([
            rank.rank.to_string().into(),
            state.into(),
            rank.step.to_string().into(),
            rank.host.clone().into(),
            rank.pid.to_string().into(),
            rank.unaligned.to_string().into(),
        ]);
    }
    table.write(out)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use trainscope_api::sessions::{
        HoldMode, Session, SessionRank, SessionRankState, SessionState,
    };
    use trainscope_format::Severity;
    use trainscope_format::session::{HitSentence, SessionHit};

    use super::write;

    #[test]
    fn states_are_sentences() {
        let rank = |rank, state| SessionRank {
            rank,
            state,
            step: 412,
            host: "node1".to_owned(),
            pid: 4_711,
            ..SessionRank::default()
        };
        let base = Session {
            name: "a/b".to_owned(),
            step: 412,
            total_steps: Some(5_000),
            world_size: 2,
            hits: vec![SessionHit {
                condition: "tensor_overflow".to_owned(),
                watchpoint: 0,
                severity: Severity::Error,
                tensor: "fc1.weight.grad".to_owned(),
                step: 412,
                sentence: HitSentence {
                    en: "fc1.weight.grad has NaN".to_owned(),
                    ..HitSentence::default()
                },
                values: BTreeMap::new(),
                pauses: true,
            }],
            ranks: vec![
                rank(0, SessionRankState::Held),
                rank(1, SessionRankState::Running),
            ],
            ..Session::default()
        };
        let mut out = anstream::StripStream::new(Vec::new());
        for state in [
            SessionState::Joining,
            SessionState::Running,
            SessionState::Pausing,
            SessionState::Waiting,
            SessionState::Stepping,
            SessionState::Stopping,
            SessionState::Finished,
            SessionState::Lost,
        ] {
            let session = Session {
                state,
                place: (state == SessionState::Waiting).then(|| "before_update".to_owned()),
                goes_on_secs: Some(581.0),
                steps: Some([2, 5]),
                ..base.clone()
            };
            write(&mut out, &session, state == SessionState::Running).unwrap();
        }
        let apart = Session {
            state: SessionState::Waiting,
            hold: HoldMode::Each,
            goes_on_secs: Some(581.0),
            ..base
        };
        write(&mut out, &apart, false).unwrap();
        insta::assert_snapshot!(String::from_utf8(out.into_inner()).unwrap());
    }
}
