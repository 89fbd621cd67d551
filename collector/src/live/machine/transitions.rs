//! Transitions of the machine, one function an event.

use std::time::Duration;

use trainscope_format::session::{
    ByeReason, Gate, GoingReason, HoldReason, MAX_UNREADABLE, Place, ToServer,
};

use super::{
    Action, Event, FIRST_DELAY, Hold, Limits, Machine, Note, Phase, Refusal, Target, Timer,
};

/// Number of gates without an answer, one after the other, after which a rank disarms itself.
pub(crate) const MAX_MISSED: u32 = 3;
/// Maximum delay of the doubling.
const LONGEST_DELAY: Duration = Duration::from_secs(8);
/// Relative variation of a delay, so that many ranks do not come back at once.
const JITTER: f64 = 0.2;
/// Time of attempts after which they become rare.
const PATIENT_FOR: Duration = Duration::from_hours(1);
/// Delay of rare attempts.
const RARE_DELAY: Duration = Duration::from_mins(1);
/// Delay with a proxy that does not support `WebSocket`s.
const PROXY_DELAY: Duration = Duration::from_mins(5);

impl Machine {
    pub(super) fn apply(&mut self, event: Event) -> Vec<Action> {
        let is_signal = event == Event::Signal;
        let mut actions = self.react(event);
        if self.must_stop && !matches!(self.phase, Phase::Asking(_)) {
            self.must_stop = false;
            if !is_signal && !matches!(self.phase, Phase::Ending | Phase::Off) {
                // No common stop: it ends alone, as it would without a server.
                self.phase = Phase::Ending;
                actions.retain(|action| *action != Action::GoOn);
                actions.push(Action::StopTraining);
            }
        }
        actions
    }

    fn react(&mut self, event: Event) -> Vec<Action> {
        match event {
            Event::Address => self.address(),
            Event::Welcome(limits) => self.welcome(limits),
            Event::Refused(refusal) => self.refused(refusal),
            Event::Unreachable { jitter } => self.unreachable(jitter),
            Event::Lost => self.lost(),
            Event::Gate { at, pauses, stops } => self.gate(at, pauses, stops),
            Event::Arm { next } => self.arm(next),
            Event::Disarm => self.disarmed(),
            Event::Go(at) => self.go(&at),
            Event::Hold(at, reason) => self.hold(at, reason),
            Event::Resume { steps, node } => self.resume(steps, node),
            Event::Stop => self.stop(),
            Event::Extend(time) => self.extend(time),
            Event::Request => vec![Action::Answer],
            Event::Expired(timer) => self.expired(timer),
            Event::Signal => self.signal(),
            Event::Finish(reason) => self.finish(reason),
            Event::Fork => {
                self.phase = Phase::Off;
                self.disarm();
                vec![Action::Forget]
            }
            Event::Unreadable => self.unreadable(),
        }
    }

    fn address(&mut self) -> Vec<Action> {
        match self.phase {
            Phase::Off => self.phase = Phase::Connecting,
            Phase::LostHeld(_) => {}
            _ => return Vec::new(),
        }
        self.delay = FIRST_DELAY;
        self.tried_for = Duration::ZERO;
        vec![Action::Connect]
    }

    fn welcome(&mut self, limits: Limits) -> Vec<Action> {
        let hold_most = self.limits.hold_most;
        self.limits = Limits {
            hold: limits.hold.min(hold_most),
            hold_most,
            ..limits
        };
        self.unreadable = 0;
        self.delay = FIRST_DELAY;
        self.tried_for = Duration::ZERO;
        match &self.phase {
            Phase::Connecting => {
                self.phase = self.ready();
                Vec::new()
            }
            Phase::LostHeld(hold) => {
                self.phase = Phase::Held(hold.clone());
                vec![Action::Cancel(Timer::Grace)]
            }
            _ => Vec::new(),
        }
    }

    fn refused(&mut self, refusal: Refusal) -> Vec<Action> {
        let waits_at_start = match &self.phase {
            Phase::Connecting => false,
            Phase::LostHeld(hold) if hold.reason == HoldReason::Start => true,
            // A hold goes on to its limits.
            Phase::LostHeld(_) => return vec![Action::Retry(FIRST_DELAY)],
            _ => return Vec::new(),
        };
        if refusal == Refusal::Proxy {
            let is_first = !std::mem::replace(&mut self.has_proxy_note, true);
            let note = is_first.then_some(Action::Note(Note::Refused(refusal)));
            return note
                .into_iter()
                .chain([Action::Retry(PROXY_DELAY)])
                .collect();
        }
        self.phase = Phase::Off;
        let mut actions = vec![Action::Note(Note::Refused(refusal))];
        if waits_at_start {
            actions.extend([Action::Cancel(Timer::Hold), Action::GoOn]);
        }
        actions
    }

    fn unreachable(&mut self, jitter: f64) -> Vec<Action> {
        if !matches!(self.phase, Phase::Connecting | Phase::LostHeld(_)) {
            return Vec::new();
        }
        let delay = if self.tried_for >= PATIENT_FOR {
            RARE_DELAY
        } else {
            self.delay
        };
        self.delay = LONGEST_DELAY.min(2 * self.delay);
        let delay = delay.mul_f64(1.0 + JITTER * jitter.clamp(-1.0, 1.0));
        self.tried_for += delay;
        vec![Action::Retry(delay)]
    }

    fn lost(&mut self) -> Vec<Action> {
        match &self.phase {
            Phase::Off | Phase::Ending | Phase::LostHeld(_) => Vec::new(),
            Phase::Held(hold) => {
                self.phase = Phase::LostHeld(hold.clone());
                vec![
                    Action::Start(Timer::Grace, self.limits.grace),
                    Action::Retry(Duration::ZERO),
                ]
            }
            Phase::Asking(_) => {
                self.phase = Phase::Connecting;
                self.disarm();
                vec![
                    Action::Cancel(Timer::Gate),
                    Action::Retry(Duration::ZERO),
                    Action::GoOn,
                ]
            }
            Phase::Connecting | Phase::Running | Phase::Armed => {
                self.phase = Phase::Connecting;
                self.disarm();
                vec![Action::Retry(Duration::ZERO)]
            }
        }
    }

    fn gate(&mut self, at: Gate, pauses: bool, stops: bool) -> Vec<Action> {
        let has_others = self.phase == Phase::Armed && !self.settings.is_single;
        self.must_stop = stops && has_others && self.settings.may_hold;
        if (stops && !self.must_stop) || self.phase == Phase::Ending {
            self.phase = Phase::Ending;
            return vec![Action::StopTraining];
        }
        if let Some(Target::Steps { left, place }) = &mut self.target
            && *place == at.place
        {
            *left = left.saturating_sub(1);
        }
        if let Some(wait) = self.start_wait.take() {
            return self.wait_at_start(at, wait);
        }
        let is_target = self.is_target(&at);
        let is_node = matches!(at.place, Place::Node(_));
        let asks = match self.phase {
            Phase::Armed => self.must_stop || !is_node || is_target,
            Phase::Running => is_target || (self.settings.is_single && pauses),
            _ => false,
        };
        if !asks {
            return vec![Action::GoOn];
        }
        self.phase = Phase::Asking(at);
        vec![Action::Ask, Action::Start(Timer::Gate, self.limits.gate)]
    }

    /// Waits at the first gate, connected or not. All ranks of a launch do so, independently.
    fn wait_at_start(&mut self, at: Gate, wait: Duration) -> Vec<Action> {
        let reason = HoldReason::Start;
        let hold = Hold {
            at: at.clone(),
            reason,
        };
        let mut actions = Vec::new();
        if matches!(self.phase, Phase::Off | Phase::Connecting) {
            self.phase = Phase::LostHeld(hold);
        } else {
            self.phase = Phase::Held(hold);
            let goes_on_secs = Some(wait.as_secs_f64());
            actions.push(Action::Send(ToServer::Held {
                at,
                reason,
                goes_on_secs,
            }));
        }
        actions.push(Action::Start(Timer::Hold, wait));
        actions
    }

    fn arm(&mut self, next: Gate) -> Vec<Action> {
        if matches!(self.phase, Phase::Off | Phase::Connecting | Phase::Ending) {
            return Vec::new();
        }
        self.is_armed = true;
        self.missed = 0;
        if self.phase == Phase::Running {
            self.phase = Phase::Armed;
        }
        vec![Action::Send(ToServer::Armed { from: Some(next) })]
    }

    fn disarmed(&mut self) -> Vec<Action> {
        if matches!(self.phase, Phase::Off | Phase::Connecting | Phase::Ending) {
            return Vec::new();
        }
        self.disarm();
        if self.phase == Phase::Armed {
            self.phase = Phase::Running;
        }
        vec![Action::Send(ToServer::Armed { from: None })]
    }

    /// The gate that waits for a decision, if it is this one; otherwise the decision is counted.
    fn asked(&mut self, at: &Gate) -> bool {
        let is_this = matches!(&self.phase, Phase::Asking(gate) if gate == at);
        if !is_this {
            self.ignored += 1;
        }
        is_this
    }

    fn go(&mut self, at: &Gate) -> Vec<Action> {
        if !self.asked(at) {
            return Vec::new();
        }
        self.missed = 0;
        self.phase = self.ready();
        vec![Action::Cancel(Timer::Gate), Action::GoOn]
    }

    fn hold(&mut self, at: Gate, reason: HoldReason) -> Vec<Action> {
        if !self.settings.may_hold {
            return self.go(&at);
        }
        if !self.asked(&at) {
            return Vec::new();
        }
        self.missed = 0;
        // The rest of a number of steps is dropped.
        self.target = None;
        self.phase = Phase::Held(Hold {
            at: at.clone(),
            reason,
        });
        vec![
            Action::Cancel(Timer::Gate),
            Action::Send(ToServer::Held {
                at,
                reason,
                goes_on_secs: None,
            }),
            Action::Start(Timer::Hold, self.limits.hold),
        ]
    }

    fn resume(&mut self, steps: Option<u64>, node: Option<String>) -> Vec<Action> {
        let target = |place: Place| match (node, steps) {
            (Some(name), _) => Some(Target::Node(name)),
            (None, Some(left)) => Some(Target::Steps { left, place }),
            (None, None) => None,
        };
        match &self.phase {
            Phase::Held(hold) => {
                let at = hold.at.clone();
                self.target = target(at.place.clone());
                self.phase = self.ready();
                let why = GoingReason::Resumed;
                vec![
                    Action::Cancel(Timer::Hold),
                    Action::Send(ToServer::Going { at, why }),
                    Action::GoOn,
                ]
            }
            Phase::Running | Phase::Armed | Phase::Asking(_) => {
                self.start_wait = None;
                self.target = target(Place::AfterStep);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn stop(&mut self) -> Vec<Action> {
        if !self.settings.may_hold || self.phase == Phase::Off {
            return Vec::new();
        }
        let waits = self.is_waiting();
        self.phase = Phase::Ending;
        if waits {
            vec![
                Action::Cancel(Timer::Gate),
                Action::Cancel(Timer::Hold),
                Action::StopTraining,
            ]
        } else {
            Vec::new()
        }
    }

    fn extend(&mut self, time: Duration) -> Vec<Action> {
        match self.phase {
            Phase::Held(_) => {
                let time = time.min(self.limits.hold_most);
                vec![Action::Start(Timer::Hold, time)]
            }
            _ => Vec::new(),
        }
    }

    fn expired(&mut self, timer: Timer) -> Vec<Action> {
        match (&self.phase, timer) {
            (Phase::Asking(_), Timer::Gate) => {
                self.missed += 1;
                if self.missed < MAX_MISSED {
                    self.phase = self.ready();
                    return vec![Action::GoOn];
                }
                self.missed = 0;
                self.disarm();
                self.phase = Phase::Running;
                vec![
                    Action::Send(ToServer::Armed { from: None }),
                    Action::Note(Note::NoAnswers),
                    Action::GoOn,
                ]
            }
            (Phase::Held(hold), Timer::Hold) => {
                let at = hold.at.clone();
                let note = match hold.reason {
                    HoldReason::Start => Note::StartOver,
                    _ => Note::HoldOver,
                };
                self.disarm();
                self.phase = Phase::Running;
                let why = GoingReason::Limit;
                vec![
                    Action::Send(ToServer::Going { at, why }),
                    Action::Note(note),
                    Action::GoOn,
                ]
            }
            (Phase::LostHeld(hold), Timer::Hold | Timer::Grace) => {
                let note = match (hold.reason, timer) {
                    (HoldReason::Start, Timer::Hold) => Note::StartOver,
                    _ => Note::ServerLost,
                };
                self.disarm();
                let timers = [Action::Cancel(Timer::Hold), Action::Cancel(Timer::Grace)];
                let is_lost = note == Note::ServerLost;
                let (phase, last) = if is_lost && self.settings.stops_if_lost {
                    (Phase::Ending, Action::StopTraining)
                } else {
                    (Phase::Connecting, Action::GoOn)
                };
                self.phase = phase;
                let rest = [Action::Note(note), last];
                timers.into_iter().chain(rest).collect()
            }
            _ => Vec::new(),
        }
    }

    fn signal(&mut self) -> Vec<Action> {
        match &self.phase {
            Phase::Held(hold) => {
                let at = hold.at.clone();
                self.phase = Phase::Ending;
                let why = GoingReason::Interrupted;
                vec![
                    Action::Cancel(Timer::Hold),
                    Action::Send(ToServer::Going { at, why }),
                    Action::Raise,
                ]
            }
            Phase::LostHeld(_) => {
                self.phase = Phase::Ending;
                vec![
                    Action::Cancel(Timer::Hold),
                    Action::Cancel(Timer::Grace),
                    Action::Raise,
                ]
            }
            Phase::Asking(_) => {
                self.phase = self.ready();
                vec![Action::Cancel(Timer::Gate), Action::Raise]
            }
            _ => Vec::new(),
        }
    }

    fn finish(&mut self, reason: ByeReason) -> Vec<Action> {
        let is_connected = !matches!(
            self.phase,
            Phase::Off | Phase::Connecting | Phase::LostHeld(_)
        );
        let waits = self.is_waiting();
        self.phase = Phase::Off;
        self.disarm();
        let mut actions = Vec::new();
        if is_connected {
            actions.push(Action::Bye(reason));
        }
        actions.push(Action::Close("the training has ended"));
        if waits {
            actions.push(Action::GoOn);
        }
        actions
    }

    fn unreadable(&mut self) -> Vec<Action> {
        self.unreadable += 1;
        if self.unreadable < MAX_UNREADABLE {
            return Vec::new();
        }
        self.unreadable = 0;
        vec![Action::Close("too many unreadable messages")]
    }
}
