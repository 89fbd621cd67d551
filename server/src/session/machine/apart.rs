//! Ranks that never meet at one gate, as stages of a pipeline or actors: each is held at its next gate.

use std::time::Duration;

use trainscope_api::sessions::HoldMode;
use trainscope_format::session::{Gate, HoldReason, StopOrigin, ToTraining};

use super::{Action, CommandError, Machine, RankState, State, Target};

impl Machine {
    /// Sets how ranks are held; refused while some wait at gates of the other mode.
    pub(super) fn set_mode(
        &mut self,
        mode: HoldMode,
        out: &mut Vec<Action>,
    ) -> Result<(), CommandError> {
        let refusal = match self.state {
            State::Running | State::Joining => {
                self.mode = mode;
                self.allow_pausing(out);
                return Ok(());
            }
            State::Stopping => "the training is being stopped",
            _ => "it counts from the next pause on: continue first",
        };
        Err(CommandError::Refused(refusal))
    }

    /// Decides about a gate for the ranks that ask about it, regardless of the others. The first rank that is held
    /// makes all others wait at their next gates.
    pub(super) fn decide_apart(&mut self, now: Duration, at: &Gate, out: &mut Vec<Action>) {
        let asks = |state: &RankState| matches!(state, RankState::Asking(asked) if asked == at);
        let (mut has_stop, mut has_hit, mut is_target) = (false, false, false);
        for rank in self.ranks.values().filter(|rank| asks(&rank.state)) {
            has_stop |= rank.reasons.stops;
            has_hit |= rank.reasons.pauses;
            is_target |= rank.reasons.is_target;
        }
        if has_stop {
            self.state = State::Stopping;
            self.stop_all(StopOrigin::Hit, out);
            return;
        }
        is_target |= self.count_step(at);
        let reason = match &self.state {
            State::Waiting { reason, .. } => Some(*reason),
            _ if has_hit => Some(HoldReason::Hit),
            State::Stepping(Target::Steps { .. }) if is_target => Some(HoldReason::Steps),
            State::Stepping(Target::Node(_)) if is_target => Some(HoldReason::Node),
            _ => self.wanted,
        };
        let is_first = !self.has_hold();
        let asking: Vec<u32> = self
            .connected()
            .filter(|(_, rank)| asks(&rank.state))
            .map(|(rank, _)| rank)
            .collect();
        self.answer(now, at, reason, out);
        let Some(reason) = reason else { return };
        let usual = now + self.limits.hold;
        if is_first {
            self.hold_ends = usual;
        } else if self.hold_ends > usual {
            let secs = self.hold_ends.saturating_sub(now).as_secs_f64();
            for rank in asking {
                out.push(Action::Send(rank, ToTraining::Extend { secs }));
            }
        }
        if !matches!(self.state, State::Waiting { .. }) {
            self.want(reason, out);
        }
    }

    /// Begins to wait once all ranks are held, or one was held for the limit of a gate: the others may wait for it in a
    /// collective operation.
    pub(super) fn settle_apart(&mut self, now: Duration) {
        let gates = self.connected().filter_map(|(_, rank)| match &rank.state {
            RankState::Held(at) => Some((at, rank.since)),
            _ => None,
        });
        let gates: Vec<_> = gates.collect();
        let Some(first) = gates.iter().map(|gate| gate.1).min() else {
            self.is_starting = false;
            if self.wanted.is_none() {
                self.run();
            }
            return;
        };
        let is_late = now.saturating_sub(first) >= self.limits.gate;
        if gates.len() < self.connected().count() && !is_late {
            return;
        }
        let latest = gates
            .iter()
            .max_by_key(|(at, _)| (at.step, at.place.phase()));
        if let Some((at, _)) = latest {
            let at = (*at).clone();
            let reason = self.wanted.unwrap_or_else(|| self.own_reason());
            self.wanted = None;
            self.is_starting = false;
            self.state = State::Waiting { at, reason };
        }
    }

    pub(super) fn has_lost(&self) -> bool {
        self.ranks
            .values()
            .any(|rank| rank.state == RankState::Lost)
    }

    /// `true` if a rank waits at a gate.
    pub(super) fn has_hold(&self) -> bool {
        self.connected()
            .any(|(_, rank)| matches!(rank.state, RankState::Held(_)))
    }
}
