//! Sessions and commands in the types of the API, in both directions.

use std::time::Duration;

use trainscope_api::sessions::{
    MAX_RANKS, Session, SessionCommand, SessionNote, SessionNoteKind, SessionRank,
    SessionRankState, SessionState,
};
use trainscope_format::session::Place;

use super::entry::{Entry, now_secs};
use super::machine::{Command, Note, RankState, State, Target};

pub(super) fn session(entry: &Entry) -> Session {
    let machine = &entry.machine;
    let now = entry.began.elapsed();
    let since = |then: Duration| now.saturating_sub(then).as_secs_f64();
    let (place, reason, goes_on) = match &machine.state {
        State::Waiting { at, reason } => (
            Some(at.place.to_string()),
            Some(*reason),
            Some(machine.hold_ends.saturating_sub(now).as_secs_f64()),
        ),
        _ => (None, None, None),
    };
    let step = match &machine.state {
        State::Waiting { at, .. } => at.step,
        _ => machine.newest_step(),
    };
    let ranks = machine.ranks.iter().take(MAX_RANKS).map(|(number, rank)| {
        let peer = entry.peers.get(number);
        let (state, place) = match &rank.state {
            RankState::Running => (SessionRankState::Running, None),
            RankState::Asking(at) => (SessionRankState::Asking, Some(&at.place)),
            RankState::Held(at) => (SessionRankState::Held, Some(&at.place)),
            RankState::Lost => (SessionRankState::Lost, None),
            RankState::Ended(_) => (SessionRankState::Ended, None),
        };
        SessionRank {
            rank: *number,
            state,
            step: rank.step,
            place: place.map(Place::to_string),
            host: peer.map_or_else(String::new, |peer| peer.host.clone()),
            pid: peer.map_or(0, |peer| peer.pid),
            seen_secs: since(rank.heard),
            unaligned: rank.unaligned,
            error: rank.error.clone(),
        }
    });
    let hello = &entry.hello;
    let name = entry
        .run
        .clone()
        .unwrap_or_else(|| format!("{} on {}", hello.program, hello.host));
    Session {
        id: entry.name.clone(),
        run: entry.run.clone(),
        name,
        state: match machine.state {
            State::Joining => SessionState::Joining,
            State::Running => SessionState::Running,
            State::Pausing => SessionState::Pausing,
            State::Waiting { .. } => SessionState::Waiting,
            State::Stepping(_) => SessionState::Stepping,
            State::Stopping => SessionState::Stopping,
            State::Finished(_) => SessionState::Finished,
            State::Lost => SessionState::Lost,
        },
        turn: machine.turn,
        step,
        total_steps: hello.total_steps,
        place,
        reason,
        steps: match &machine.state {
            State::Stepping(Target::Steps { done, total, .. }) => Some([*done, *total]),
            _ => None,
        },
        end: match machine.state {
            State::Finished(reason) => Some(reason),
            _ => None,
        },
        hits: entry.hits.clone(),
        hits_total: machine.hits_total,
        since_secs: since(machine.since),
        goes_on_secs: goes_on,
        world_size: machine.world_size,
        ranks: ranks.collect(),
        framework: hello.framework.clone(),
        level: machine.level,
        is_armed: machine.is_armed(),
        is_pausing_off: machine.is_auto_off,
        hold: machine.mode,
        places: hello.places.iter().map(Place::to_string).collect(),
        can: hello.can.clone(),
        keep: machine.keep.clone(),
        notes: machine
            .notes
            .iter()
            .map(|(at, entry)| note(*entry, since(*at)))
            .collect(),
        last_command: entry.last_command.clone(),
    }
}

fn note(note: Note, since_secs: f64) -> SessionNote {
    let (kind, rank, step) = match note {
        Note::Unaligned { rank, step } => (SessionNoteKind::Unaligned, Some(rank), Some(step)),
        Note::PausingOff => (SessionNoteKind::PausingOff, None, None),
        Note::HoldOver { step } => (SessionNoteKind::HoldOver, None, Some(step)),
        Note::RankLost { rank } => (SessionNoteKind::RankLost, Some(rank), None),
        Note::Interrupted { rank } => (SessionNoteKind::Interrupted, Some(rank), None),
        Note::NotAllJoined { .. } => (SessionNoteKind::NotAllJoined, None, None),
        Note::RuleHit { step } => (SessionNoteKind::RuleHit, None, Some(step)),
    };
    SessionNote {
        kind,
        since_secs,
        rank,
        step,
    }
}

/// A command of a client.
pub(super) fn command(command: &SessionCommand, has_pausing_watchpoint: bool) -> Command {
    match command {
        SessionCommand::Pause { partial } => Command::Pause { partial: *partial },
        SessionCommand::Continue => Command::Continue,
        SessionCommand::Step { n } => Command::Step(*n),
        SessionCommand::ToNode { node } => Command::ToNode(node.clone()),
        SessionCommand::Stop => Command::Stop,
        SessionCommand::Extend { secs } => Command::Extend(Duration::from_secs(*secs)),
        SessionCommand::Pausing { level } => Command::Pausing {
            level: *level,
            has_pausing_watchpoint,
        },
        SessionCommand::Keep { patterns } => Command::Keep(patterns.clone()),
        SessionCommand::Hold { mode } => Command::Hold(*mode),
    }
}

/// The message of a command that came too late.
pub(super) fn conflict(entry: &Entry) -> String {
    let before = entry.last_command.as_ref().map(|last| {
        let ago = (now_secs() - last.at_secs).max(0.0);
        format!(
            "another command came first, {} s ago: {}",
            ago.round(),
            last.command
        )
    });
    before.unwrap_or_else(|| "the session has changed since this command was given".to_owned())
}
