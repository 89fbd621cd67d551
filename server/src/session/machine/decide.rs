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
        let Some(sender) = self.heard(now, rank) else {
            return;
        };
        sender.step = sender.step.max(at.step);
        sender.state = RankState::Asking(at.clone());
        sender.since = now;
        let own_pauses = reasons.pauses && may_pause;
        sender.reasons = GateReasons {
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
        let decided = self.decided.iter().rev().find(|decision| decision.0 == *at);
        if let Some((_, reason)) = decided {
            // A hold that has ended in the meantime does not hold late ranks.
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
        for (_, rank) in self.connected() {
            if let RankState::Asking(at) = &rank.state
                && !gates.contains(at)
            {
                gates.push(at.clone());
            }
        }
        gates.sort_by_key(|at| (at.step, at.place.phase()));
        gates
    }

    fn decide_if_all_ask(&mut self, now: Duration, at: &Gate, out: &mut Vec<Action>) {
        let is_missing = |rank: &super::Rank| match &rank.state {
            RankState::Asking(other) => other != at && other.is_not_after(at),
            RankState::Held(_) => false,
            _ => rank.is_arming || rank.from.as_ref().is_some_and(|from| from.is_not_after(at)),
        };
        if self.connected().any(|(_, rank)| is_missing(rank)) {
            return;
        }
        self.decide(now, at, out);
    }

    /// Decides a gate for all ranks that ask about it.
    fn decide(&mut self, now: Duration, at: &Gate, out: &mut Vec<Action>) {
        let asks =
            |rank: &super::Rank| matches!(&rank.state, RankState::Asking(asked) if asked == at);
        let is_common = self.connected().all(|(_, rank)| asks(rank));
        // The gates of a rank behind the others do not show that ranks meet.
        if is_common {
            self.missed = 0;
        }
        let has_stop = self
            .connected()
            .any(|(_, rank)| asks(rank) && rank.reasons.stops);
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
        for (_, rank) in self.connected().filter(|(_, rank)| asks(rank)) {
            has_hit |= rank.reasons.pauses;
            is_target |= rank.reasons.is_target;
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
                let is_counted = |rank: &super::Rank| matches!(&rank.state, RankState::Asking(asked) if asked == at);
                if *place == at.place {
                    for rank in self.ranks.values_mut().filter(|rank| is_counted(rank)) {
                        rank.stepped += 1;
                        *done = rank.stepped.max(*done);
                    }
                }
                *done >= *total
            }
            Target::Node(name) => matches!(&at.place, Place::Node(node) if node == name),
        }
    }

    fn remember(&mut self, at: &Gate, reason: Option<HoldReason>) {
        self.decided.retain(|decision| decision.0 != *at);
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
        for (number, rank) in &mut self.ranks {
            if !matches!(&rank.state, RankState::Asking(asked) if asked == at) {
                continue;
            }
            rank.state = RankState::Running;
            rank.reasons = GateReasons::default();
            rank.since = now;
            let at = at.clone();
            out.push(Action::Send(
                *number,
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
            let is_late = self.connected().any(|(_, rank)| {
                matches!(&rank.state, RankState::Asking(asked) if *asked == at)
                    && now.saturating_sub(rank.since) >= limit
            });
            if is_late {
                let missing = self.connected().find(|(_, rank)| {
                    !matches!(rank.state, RankState::Asking(_) | RankState::Held(_))
                });
                let missing = missing.map(|(rank, _)| rank);
                self.remember(&at, None);
                self.answer(now, &at, None, out);
                self.miss(now, missing, at.step, out);
            }
        }
        // The first steps of ranks may end at different times: they wait at the start for the time that they have sent.
        let is_holding = self.state == State::Pausing && !self.is_starting && self.has_hold();
        if is_holding {
            let late = self.connected().find(|(_, rank)| {
                !matches!(rank.state, RankState::Held(_))
                    && now.saturating_sub(rank.since) >= self.limits.gate
            });
            if let Some((number, rank)) = late {
                let step = rank.step;
                self.resume_all(None, out);
                self.miss(now, Some(number), step, out);
            }
        }
    }

    fn miss(&mut self, now: Duration, rank: Option<u32>, step: i64, out: &mut Vec<Action>) {
        self.missed += 1;
        if let Some(rank) = rank {
            if let Some(missing) = self.ranks.get_mut(&rank) {
                missing.unaligned += 1;
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
