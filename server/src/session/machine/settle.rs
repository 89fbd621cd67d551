//! Changes of the state that follow from the ranks and from the time, after each event.

use std::time::Duration;

use trainscope_format::session::{ByeReason, Gate, HoldReason, StopOrigin, ToTraining};

use super::{Action, Machine, Note, Rank, RankState, State};

/// Time, in limits of a gate, in which ranks have to meet at one gate to stop there together.
const STOP_TOGETHER_GATES: u32 = 5;

impl Machine {
    /// Changes of the state that follow from the ranks and from the time.
    pub(super) fn settle(&mut self, now: Duration, out: &mut Vec<Action>) {
        match &self.state {
            State::Finished(_) | State::Lost => {
                if now.saturating_sub(self.since) >= self.limits.kept {
                    out.push(Action::Forget);
                }
                return;
            }
            _ => {}
        }
        if let Some(reason) = self.end() {
            self.state = State::Finished(reason);
            return;
        }
        let grace_is_over = |rank: &Rank| {
            rank.state == RankState::Lost && now.saturating_sub(rank.since) >= self.limits.grace
        };
        let is_lost = !self.ranks.is_empty() && !self.ranks.values().any(Rank::is_connected);
        match &self.state {
            State::Joining => self.settle_joining(now, out),
            State::Stopping => {
                // Ranks that never meet at a gate each stop at their next one.
                let together_until = self.since + STOP_TOGETHER_GATES * self.limits.gate;
                if self.stops_together && now >= together_until {
                    self.stop_all(StopOrigin::Person, out);
                }
                if now.saturating_sub(self.since) >= self.limits.ending {
                    self.state = State::Finished(ByeReason::Stopped);
                }
                return;
            }
            State::Waiting { .. } => {
                if is_lost && self.ranks.values().any(grace_is_over) {
                    self.state = State::Lost;
                } else if self.ranks.values().any(grace_is_over) {
                    self.resume_all(None, out);
                    self.run();
                } else if self.holds_each() && !self.has_hold() && !self.has_lost() {
                    // Those that waited have ended, and the others compute.
                    self.run();
                }
                return;
            }
            State::Pausing if self.holds_each() => self.settle_apart(now),
            State::Pausing => self.settle_pausing(now, out),
            _ => {}
        }
        if is_lost && !matches!(self.state, State::Waiting { .. }) {
            self.state = State::Lost;
            self.wanted = None;
        }
    }

    fn settle_joining(&mut self, now: Duration, out: &mut Vec<Action>) {
        let Some(begun) = self.begun else { return };
        let connected = self.connected().count();
        let is_late = now.saturating_sub(begun) >= self.limits.join;
        if connected < self.world_size as usize && !is_late {
            return;
        }
        if connected < self.world_size as usize {
            let connected = u32::try_from(connected).unwrap_or(u32::MAX);
            self.note(now, Note::NotAllJoined { connected });
        }
        self.state = State::Running;
        if let Some(at) = self.common_hold() {
            if self.hold_ends <= now {
                self.hold_ends = now + self.limits.hold;
            }
            let reason = self.own_reason();
            self.is_starting = false;
            self.state = State::Waiting { at, reason };
        } else if (self.is_starting && !is_late) || (self.holds_each() && self.has_hold()) {
            self.state = State::Pausing;
        } else if self.has_hold() {
            // The others have gone on: none waits alone.
            self.resume_all(None, out);
        }
        if self.needs_arming() {
            self.arm(None, out);
        }
    }

    fn settle_pausing(&mut self, now: Duration, out: &mut Vec<Action>) {
        self.resume_behind(now, out);
        if let Some(at) = self.common_hold() {
            let decided = self.decided.iter().rev().find(|decision| decision.0 == at);
            let reason = decided
                .and_then(|decision| decision.1)
                .unwrap_or_else(|| self.own_reason());
            self.wanted = None;
            self.is_starting = false;
            self.state = State::Waiting { at, reason };
            return;
        }
        if self.has_hold() {
            return;
        }
        // Ranks that waited are lost or have ended, unless they were sent their holds within the limit of a gate.
        let is_over = now + self.limits.hold >= self.hold_ends + self.limits.gate;
        if self.wanted.is_none() && (self.is_starting || is_over) {
            self.run();
        }
        self.is_starting = false;
    }

    /// Reason of a hold that no decision of this session began.
    pub(super) fn own_reason(&self) -> HoldReason {
        if self.is_starting {
            HoldReason::Start
        } else {
            HoldReason::Asked
        }
    }

    /// Lets ranks go on that are held at an earlier gate than others, once no rank computes: one that comes back may
    /// still be held at a gate that the others have passed.
    fn resume_behind(&mut self, now: Duration, out: &mut Vec<Action>) {
        let mut latest: Option<&Gate> = None;
        for (_, rank) in self.connected() {
            let RankState::Held(at) = &rank.state else {
                return;
            };
            latest = latest.filter(|latest| at.is_not_after(latest)).or(Some(at));
        }
        let Some(latest) = latest.cloned() else {
            return;
        };
        for (number, rank) in &mut self.ranks {
            if matches!(&rank.state, RankState::Held(at) if *at != latest) {
                rank.state = RankState::Running;
                rank.since = now;
                let (steps, node) = (None, None);
                out.push(Action::Send(*number, ToTraining::Resume { steps, node }));
            }
        }
    }

    /// The gate at which all connected ranks are held.
    pub(super) fn common_hold(&self) -> Option<Gate> {
        let mut gates = self.connected().map(|(_, rank)| match &rank.state {
            RankState::Held(at) => Some(at),
            _ => None,
        });
        let first = gates.next()??.clone();
        gates.all(|at| at == Some(&first)).then_some(first)
    }

    /// The common end of all ranks, once each has said goodbye and none is missing.
    pub(super) fn end(&self) -> Option<ByeReason> {
        let mut worst = None;
        for rank in self.ranks.values() {
            let RankState::Ended(reason) = rank.state else {
                return None;
            };
            let order = |reason: &ByeReason| match reason {
                ByeReason::Finished => 0,
                ByeReason::Stopped => 1,
                ByeReason::Interrupted => 2,
                ByeReason::Failed => 3,
            };
            worst = worst.into_iter().chain([reason]).max_by_key(order);
        }
        worst
    }
}
