//! Ranks that connect, hold without a decision, go on, and are lost.

use std::time::Duration;

use trainscope_format::session::{
    Gate, GoingReason, Hello, HoldReason, MAX_HOLD_SECS, StopOrigin, ToTraining,
};

use super::{Action, GateReasons, Machine, Note, Rank, RankState, State};

impl Machine {
    pub(super) fn hello(&mut self, now: Duration, hello: &Hello, out: &mut Vec<Action>) {
        self.begun.get_or_insert(now);
        self.world_size = self.world_size.max(hello.world_size).max(1);
        let state = match &hello.held {
            Some(hold) => RankState::Held(hold.at.clone()),
            None => RankState::Running,
        };
        let before = self.ranks.get(&hello.rank);
        let unaligned = before.map_or(0, |known| known.unaligned);
        let rank = Rank {
            state,
            from: hello.armed.then(|| hello.next_gate.clone()),
            is_arming: false,
            step: hello.step,
            heard: now,
            since: now,
            unaligned,
            stepped: 0,
            error: None,
            reasons: GateReasons::default(),
        };
        self.ranks.insert(hello.rank, rank);
        if self.is_finished() {
            return;
        }
        if !self.keep.is_empty() {
            let patterns = self.keep.clone();
            out.push(Action::Send(hello.rank, ToTraining::Keep { patterns }));
        }
        if let Some(hold) = &hello.held {
            let rest = hold.goes_on_secs.and_then(rest_of_hold);
            self.hold_by_itself(now, hold.reason, rest);
        }
        match self.state {
            State::Lost => {
                self.state = State::Joining;
                self.begun = Some(now);
            }
            State::Stopping => {
                let by = StopOrigin::Person;
                let hits = Vec::new();
                out.push(Action::Send(hello.rank, ToTraining::Stop { by, hits }));
            }
            State::Waiting { .. } if self.holds_each() => self.arm(Some(hello.rank), out),
            // The others are held: this one has to come to the same gate, or they go on.
            State::Waiting { ref at, .. } if self.common_hold().as_ref() != Some(at) => {
                self.state = State::Pausing;
                self.arm(Some(hello.rank), out);
            }
            State::Joining => {}
            // A rank that comes later, or comes back, is armed like the others.
            State::Pausing => self.arm(Some(hello.rank), out),
            _ if self.needs_arming() || self.wanted.is_some() => self.arm(Some(hello.rank), out),
            _ => {}
        }
    }

    pub(super) fn going(
        &mut self,
        now: Duration,
        rank: u32,
        at: &Gate,
        why: GoingReason,
        out: &mut Vec<Action>,
    ) {
        let Some(sender) = self.heard(now, rank) else {
            return;
        };
        let was_held = matches!(&sender.state, RankState::Held(held) if held == at);
        if was_held {
            sender.state = RankState::Running;
        }
        if why == GoingReason::Limit {
            sender.from = None;
        }
        if !was_held {
            return;
        }
        match why {
            GoingReason::Limit => {
                self.note(now, Note::HoldOver { step: at.step });
                self.resume_all(None, out);
                self.run();
            }
            GoingReason::Interrupted => {
                self.note(now, Note::Interrupted { rank });
                self.resume_all(None, out);
                self.run();
            }
            GoingReason::Lost | GoingReason::Resumed => {}
        }
    }

    pub(super) fn gone(&mut self, now: Duration, rank: u32, out: &mut Vec<Action>) {
        let Some(gone) = self.ranks.get_mut(&rank) else {
            return;
        };
        if !gone.is_connected() {
            return;
        }
        gone.state = RankState::Lost;
        gone.from = None;
        gone.is_arming = false;
        gone.since = now;
        if matches!(self.state, State::Waiting { .. } | State::Pausing) {
            self.note(now, Note::RankLost { rank });
        }
        self.decide_open(now, out);
    }

    /// Notes a hold that a rank has begun without a decision: all wait at their first gate, each with its limit.
    pub(super) fn hold_by_itself(
        &mut self,
        now: Duration,
        reason: HoldReason,
        goes_on: Option<Duration>,
    ) {
        if let Some(rest) = goes_on {
            self.hold_ends = now + rest;
        }
        if reason == HoldReason::Start {
            self.is_starting = true;
            if matches!(self.state, State::Running | State::Stepping(_)) {
                self.state = State::Pausing;
            }
        }
    }
}

/// A time that a training has sent; `None` for an invalid one.
pub(in crate::session) fn rest_of_hold(secs: f64) -> Option<Duration> {
    let rest = Duration::try_from_secs_f64(secs).ok()?;
    Some(rest.min(Duration::from_secs(MAX_HOLD_SECS)))
}
