//! State machine of one rank in a live session: a pure function from state and event to state and actions, without
//! clock, socket and thread.

mod transitions;

use std::time::Duration;

use trainscope_format::session::{ByeReason, Gate, HoldReason, Place, ToServer};

/// First delay before the next attempt to connect.
const FIRST_DELAY: Duration = Duration::from_millis(500);

/// Limits of all waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    /// Wait for a decision.
    pub(crate) gate: Duration,
    /// Hold.
    pub(crate) hold: Duration,
    /// Hold without a connection.
    pub(crate) grace: Duration,
    /// Upper limit of a hold, whatever the server sets.
    pub(crate) hold_most: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            gate: Duration::from_secs(2),
            hold: Duration::from_mins(10),
            grace: Duration::from_secs(10),
            hold_most: Duration::from_hours(8),
        }
    }
}

/// Settings that do not change in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The training has one rank.
    pub(crate) is_single: bool,
    /// The server may hold and stop it; otherwise only look.
    pub(crate) may_hold: bool,
    /// A hold whose connection is lost ends the training.
    pub(crate) stops_if_lost: bool,
}

/// A hold: its gate and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) at: Gate,
    pub(crate) reason: HoldReason,
}

/// State of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No server is known.
    Off,
    /// A connection is being made.
    Connecting,
    /// Connected.
    Running,
    /// Connected, asks at each gate.
    Armed,
    /// Waits for a decision about a gate.
    Asking(Gate),
    /// Waits at a gate.
    Held(Hold),
    /// Waits at a gate without a connection.
    LostHeld(Hold),
    /// Stops at the next gate, or has ended.
    Ending,
}

/// Gate at which a rank asks without an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// After a number of gates of this place.
    Steps { left: u64, place: Place },
    /// At a node, in this step or a later one.
    Node(String),
}

/// Timer of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    Gate,
    Hold,
    Grace,
}

/// Answer of a server that refuses a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Status 401 or 403: the token is missing or wrong, or the server forbids it.
    Access,
    /// Status 426 with a list of protocols: no common version.
    Protocol,
    /// Status 400 or 426 of a proxy that does not support `WebSocket`s.
    Proxy,
}

/// Input of the machine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    /// An address is known, or an attach file was accepted.
    Address,
    /// The server has sent its welcome, with these limits.
    Welcome(Limits),
    /// The server has refused.
    Refused(Refusal),
    /// No connection: refused, timed out, or no room. `jitter` is a random number in −1..=1.
    Unreachable { jitter: f64 },
    /// The connection has ended.
    Lost,
    /// The training is at a gate.
    Gate {
        at: Gate,
        /// A hit pauses.
        pauses: bool,
        /// A hit stops, by the settings of the program.
        stops: bool,
    },
    /// The server asks to be asked; `next` is the next gate.
    Arm { next: Gate },
    /// The server needs no questions.
    Disarm,
    /// Decision about a gate: go on.
    Go(Gate),
    /// Decision about a gate: wait.
    Hold(Gate, HoldReason),
    /// End of a hold, or a target for a rank that runs.
    Resume {
        steps: Option<u64>,
        node: Option<String>,
    },
    /// End of the training at this or the next gate.
    Stop,
    /// The limit of the hold restarts.
    Extend(Duration),
    /// A request for names or elements, or new watchpoints.
    Request,
    /// A wait is over.
    Expired(Timer),
    /// A signal of the system has come.
    Signal,
    /// The recording ends.
    Finish(ByeReason),
    /// This process is a fork. There the gate returns before it touches the lock of the machine.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the lock may be held forever in a fork")
    )]
    Fork,
    /// A message was unknown or broken.
    Unreadable,
}

/// Message for the log of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// Connecting was refused for good.
    Refused(Refusal),
    /// Three decisions in a row were late.
    NoAnswers,
    /// A hold has reached its limit.
    HoldOver,
    /// A hold has lost its server.
    ServerLost,
    /// The wait at the first gate has reached its limit without a command.
    StartOver,
}

/// Output of the machine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// Start the connecting thread, or wake it.
    Connect,
    /// Try to connect again after this time.
    Retry(Duration),
    /// Send a message.
    Send(ToServer),
    /// Send the report of the gate.
    Ask,
    /// Say goodbye.
    Bye(ByeReason),
    /// Answer the request from the waiting thread, or at the next gate.
    Answer,
    /// Start or restart a timer.
    Start(Timer, Duration),
    /// Stop a timer.
    Cancel(Timer),
    /// Leave the gate and go on.
    GoOn,
    /// Leave the gate and end the training.
    StopTraining,
    /// Leave the gate and let the signal act.
    Raise,
    /// Close the connection, with a reason for the other end.
    Close(&'static str),
    /// Record a note.
    Note(Note),
    /// Drop connection and thread without touching them.
    Forget,
}

/// State of a rank with its memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Machine {
    pub(crate) phase: Phase,
    pub(crate) settings: Settings,
    pub(crate) limits: Limits,
    /// It asks at each gate, also after a hold.
    pub(crate) is_armed: bool,
    pub(crate) target: Option<Target>,
    /// Longest wait at the first gate; `None` once it has been passed.
    pub(crate) start_wait: Option<Duration>,
    /// A hit ends the training: it asks in order to stop together with the other ranks, and stops in any case.
    must_stop: bool,
    /// Gates without an answer, one after the other.
    missed: u32,
    /// Decisions about gates other than the waiting one.
    pub(crate) ignored: u64,
    /// Unknown and broken messages of this connection.
    pub(crate) unreadable: u64,
    /// Delay before the next attempt, and the time of attempts so far.
    delay: Duration,
    tried_for: Duration,
    has_proxy_note: bool,
}

impl Machine {
    pub(crate) fn new(settings: Settings, limits: Limits, start_wait: Option<Duration>) -> Self {
        Self {
            phase: Phase::Off,
            settings,
            limits,
            is_armed: false,
            target: None,
            start_wait,
            must_stop: false,
            missed: 0,
            ignored: 0,
            unreadable: 0,
            delay: FIRST_DELAY,
            tried_for: Duration::ZERO,
            has_proxy_note: false,
        }
    }

    /// `true` if the training waits at a gate.
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(
            self.phase,
            Phase::Asking(_) | Phase::Held(_) | Phase::LostHeld(_)
        )
    }

    /// `true` if a gate has more to do than judging.
    pub(crate) fn asks(&self) -> bool {
        let is_first = self.start_wait.is_some();
        match self.phase {
            Phase::Running => is_first || self.target.is_some(),
            Phase::Off | Phase::Connecting => is_first,
            _ => true,
        }
    }

    /// `true` if the target is this gate.
    pub(crate) fn is_target(&self, at: &Gate) -> bool {
        match &self.target {
            Some(Target::Steps { left, place }) => *left == 0 && *place == at.place,
            Some(Target::Node(name)) => matches!(&at.place, Place::Node(node) if node == name),
            None => false,
        }
    }

    /// `true` if the target is reached with this gate, which is not counted yet.
    pub(crate) fn will_be_target(&self, at: &Gate) -> bool {
        match &self.target {
            Some(Target::Steps { left, place }) => *left <= 1 && *place == at.place,
            _ => self.is_target(at),
        }
    }

    fn ready(&self) -> Phase {
        if self.is_armed {
            Phase::Armed
        } else {
            Phase::Running
        }
    }

    fn disarm(&mut self) {
        self.is_armed = false;
        self.target = None;
    }
}

/// The next state, and the actions in order.
pub(crate) fn step(state: Machine, event: Event) -> (Machine, Vec<Action>) {
    let mut next = state;
    let actions = next.apply(event);
    (next, actions)
}

#[cfg(test)]
mod tests;
