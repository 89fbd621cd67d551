//! Decisions about gates: go on or hold, for all ranks that reach a gate at once.

use std::time::Duration;

use trainscope_format::session::{Gate, HoldReason, Place, StopOrigin, ToTraining};

use super::{
    Action, GateReasons, MAX_DECIDED, MAX_UNALIGNED, Machine, Note, RankState, State, Target,
};

impl Machine {
    pub(super) fn gate(
        &mut self,
        now: Duration,
        rank: u32,
        at: &Gate,
        reasons: GateReasons,
        out: &mut Vec<Action>,
    ) {
        let may_pause = self.pauses_automatically();
        let Some(own) = self.heard(now, rank) else {
            return;
        };
        own.step = own.step.max(at.step);
        own.state = RankState::Asking(at.clone());
        own.since = now;
        let own_pauses = reasons.pauses && may_pause;
        own.reasons = GateReasons {
            pauses: own_pauses,
            ..reasons
        };
        let is_ending = self.state == State::Stopping && !self.stops_together;
        if self.state == State::Joining || is_ending {
            self.answer(now, at, None, out);
            return;
        }
        if self.holds_each() {
            self.decide_apart(now, at, out);
            return;
        }
        let decided = self.decided.iter().rev().find(|own| own.0 == *at);
        if let Some((_, reason)) = decided {
            // A hold that has ended meanwhile holds no one who comes late.
            let is_open = match &self.state {
                State::Pausing => true,
                State::Waiting { at: held, .. } => held == at,
                _ => false,
            };
            let reason = reason.filter(|_| is_open);
            self.answer(now, at, reason, out);
            if own_pauses && reason.is_none() {
                self.want(HoldReason::Hit, out);
            }
            return;
        }
        self.decide_if_all_ask(now, at, out);
    }

    /// Decides the gates that all ranks have reached by now.
    pub(super) fn decide_open(&mut self, now: Duration, out: &mut Vec<Action>) {
        for at in self.open_gates() {
            if self.holds_each() {
                self.decide_apart(now, &at, out);
            } else {
                self.decide_if_all_ask(now, &at, out);
            }
        }
    }

    fn open_gates(&self) -> Vec<Gate> {
        let mut gates: Vec<Gate> = Vec::new();
        for (_, own) in self.connected() {
            if let RankState::Asking(at) = &own.state
                && !gates.contains(at)
            {
                gates.push(at.clone());
            }
        }
        gates.sort_by_key(|at| (at.step, at.place.phase()));
        gates
    }

    fn decide_if_all_ask(&mut self, now: Duration, at: &Gate, out: &mut Vec<Action>) {
        let is_missing = |own: &super::Rank| match &own.state {
            RankState::Asking(other) => other != at && other.is_not_after(at),
            RankState::Held(_) => false,
            _ => own.is_arming || own.from.as_ref().is_some_and(|from| from.is_not_after(at)),
        };
        if self.connected().any(|(_, own)| is_missing(own)) {
            return;
        }
        self.decide(now, at, out);
    }

    /// Decides a gate for all ranks that ask about it.
    fn decide(&mut self, now: Duration, at: &Gate, out: &mut Vec<Action>) {
        let asks = |own: &super::Rank| matches!(&own.state, RankState::Asking(own) if own == at);
        let is_common = self.connected().all(|(_, own)| asks(own));
        // The gates of a rank that is behind the others say nothing of whether they meet.
        if is_common {
            self.missed = 0;
        }
        let has_stop = self
            .connected()
            .any(|(_, own)| asks(own) && own.reasons.stops);
        if self.stops_together || has_stop {
            if is_common {
                let by = if has_stop {
                    StopOrigin::Hit
                } else {
                    StopOrigin::Person
                };
                self.state = State::Stopping;
                self.stop_all(by, out);
            } else {
                self.remember(at, None);
                self.answer(now, at, None, out);
            }
            return;
        }
        let (mut has_hit, mut is_target) = (false, false);
        for (_, own) in self.connected().filter(|(_, own)| asks(own)) {
            has_hit |= own.reasons.pauses;
            is_target |= own.reasons.is_target;
        }
        is_target |= self.count_step(at);
        let reason = if has_hit {
            Some(HoldReason::Hit)
        } else if let Some(reason) = self.wanted {
            Some(reason)
        } else if let State::Stepping(target) = &self.state
            && is_target
        {
            Some(match target {
                Target::Steps { .. } => HoldReason::Steps,
                Target::Node(_) => HoldReason::Node,
            })
        } else {
            None
        };
        if let Some(reason) = reason.filter(|_| !is_common) {
            // Not all ranks reach this gate: they are held at the first one that all reach.
            self.answer(now, at, None, out);
            self.remember(at, None);
            self.want(reason, out);
            return;
        }
        self.remember(at, reason);
        self.answer(now, at, reason, out);
        if reason.is_some() {
            self.state = State::Pausing;
            self.wanted = None;
            self.hold_ends = now + self.limits.hold;
        }
    }

    /// Counts a gate of a stepping session for the ranks that ask about it; `true` if one has made the wanted number.
    pub(super) fn count_step(&mut self, at: &Gate) -> bool {
        let State::Stepping(target) = &mut self.state else {
            return false;
        };
        match target {
            Target::Steps { done, total, place } => {
                let place = place.get_or_insert_with(|| at.place.clone());
                let is_counted =
                    |own: &super::Rank| matches!(&own.state, RankState::Asking(own) if own == at);
                if *place == at.place {
                    for own in self.ranks.values_mut().filter(|own| is_counted(own)) {
                        own.stepped += 1;
                        *done = own.stepped.max(*done);
                    }
                }
                *done >= *total
            }
            Target::Node(name) => matches!(&at.place, Place::Node(own) if own == name),
        }
    }

    fn remember(&mut self, at: &Gate, reason: Option<HoldReason>) {
        self.decided.retain(|own| own.0 != *at);
        if self.decided.len() >= MAX_DECIDED {
            self.decided.pop_front();
        }
        self.decided.push_back((at.clone(), reason));
    }

    /// Answers all ranks that ask about a gate.
    pub(super) fn answer(
        &mut self,
        now: Duration,
        at: &Gate,
        reason: Option<HoldReason>,
        out: &mut Vec<Action>,
    ) {
        for (rank, own) in &mut self.ranks {
            if !matches!(&own.state, RankState::Asking(asked) if asked == at) {
                continue;
            }
            own.state = RankState::Running;
            own.reasons = GateReasons::default();
            own.since = now;
            let at = at.clone();
            out.push(Action::Send(
                *rank,
                match reason {
                    Some(reason) => ToTraining::Hold { at, reason },
                    None => ToTraining::Go { at },
                },
            ));
        }
    }

    /// Lets ranks go on that wait too long for others, and ends holds that are not complete in time.
    pub(super) fn expire_gates(&mut self, now: Duration, out: &mut Vec<Action>) {
        if self.holds_each() {
            return;
        }
        // Before the ranks themselves go on.
        let limit = self.limits.gate.mul_f64(0.9);
        for at in self.open_gates() {
            let is_late = self.connected().any(|(_, own)| {
                matches!(&own.state, RankState::Asking(asked) if *asked == at)
                    && now.saturating_sub(own.since) >= limit
            });
            if is_late {
                let missing = self.connected().find(|(_, own)| {
                    !matches!(own.state, RankState::Asking(_) | RankState::Held(_))
                });
                let missing = missing.map(|(rank, _)| rank);
                self.remember(&at, None);
                self.answer(now, &at, None, out);
                self.miss(now, missing, at.step, out);
            }
        }
        // The first steps of ranks may end at different times: they wait at the start as long as they have said.
        let is_holding = self.state == State::Pausing && !self.is_starting && self.has_hold();
        if is_holding {
            let late = self.connected().find(|(_, own)| {
                !matches!(own.state, RankState::Held(_))
                    && now.saturating_sub(own.since) >= self.limits.gate
            });
            if let Some((rank, own)) = late {
                let step = own.step;
                self.resume_all(None, out);
                self.miss(now, Some(rank), step, out);
            }
        }
    }

    fn miss(&mut self, now: Duration, rank: Option<u32>, step: i64, out: &mut Vec<Action>) {
        self.missed += 1;
        if let Some(rank) = rank {
            if let Some(own) = self.ranks.get_mut(&rank) {
                own.unaligned += 1;
            }
            self.note(now, Note::Unaligned { rank, step });
        }
        if self.missed >= MAX_UNALIGNED && !self.is_auto_off {
            self.is_auto_off = true;
            self.note(now, Note::PausingOff);
        }
        match self.state {
            State::Pausing => self.run(),
            State::Stepping(_) if self.missed >= MAX_UNALIGNED => self.run(),
            _ => {}
        }
        // Each further gate would cost the ranks that are ahead its limit.
        self.arm_as_needed(out);
    }
}
