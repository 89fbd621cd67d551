//! The state of a live session behind one lock, and the actions of its machine.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use trainscope_format::session::{ByeReason, GateReport, SessionHit, ToServer};

use super::link::Sender;
use super::machine::{self, Action, Event, Machine, Note, Phase, Refusal, Timer};

/// Maximum number of waiting requests; further ones are refused.
pub(crate) const MAX_REQUESTS: usize = 64;

/// A request of the server that the training answers at a gate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Request {
    List {
        id: u64,
        pattern: String,
        offset: u64,
    },
    Read {
        id: u64,
        tensor: String,
        slice: Vec<(u64, u64)>,
    },
}

/// End of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    GoOn,
    Stop,
    Raise,
}

/// State behind the lock.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) machine: Machine,
    pub(crate) sender: Option<Sender>,
    pub(crate) address: Option<String>,
    pub(crate) token: Option<String>,
    /// Earliest time of the next attempt to connect.
    pub(crate) retry_at: Option<Instant>,
    /// Ends of the timers.
    deadlines: [Option<Instant>; 3],
    pub(crate) outcome: Option<Outcome>,
    pub(crate) requests: VecDeque<Request>,
    /// Report of the gate at which the rank asks.
    pub(crate) report: Option<GateReport>,
    /// Pausing hits of gates at which a connected rank did not ask, for the next report.
    pub(crate) unreported: Vec<SessionHit>,
    /// `true` if the first message of this connection has reported the hold.
    pub(crate) has_told_hold: bool,
    /// The server has ended the training because of a hit, of this rank or another.
    pub(crate) is_stopped_by_hit: bool,
    /// Start of the hold.
    pub(crate) held_since: Option<Instant>,
    /// Sentences for the notes of the run.
    pub(crate) notes: Vec<String>,
    /// The newest note since the gate has begun.
    pub(crate) last_note: Option<Note>,
    pub(crate) has_thread: bool,
    pub(crate) step: i64,
    pub(crate) error: Option<String>,
    /// Reason that the server gave for refusing the connection.
    pub(crate) refusal: String,
}

impl Core {
    pub(crate) fn new(machine: Machine) -> Self {
        Self {
            machine,
            sender: None,
            address: None,
            token: None,
            retry_at: None,
            deadlines: [None; 3],
            outcome: None,
            requests: VecDeque::new(),
            report: None,
            unreported: Vec::new(),
            has_told_hold: false,
            is_stopped_by_hit: false,
            held_since: None,
            notes: Vec::new(),
            last_note: None,
            has_thread: false,
            step: 0,
            error: None,
            refusal: String::new(),
        }
    }

    /// Applies an event to the machine and carries out its actions.
    pub(crate) fn apply(&mut self, event: Event) {
        let (next, actions) = machine::step(self.machine.clone(), event);
        self.machine = next;
        for action in actions {
            self.perform(action);
        }
    }

    fn perform(&mut self, action: Action) {
        match action {
            // The caller starts the thread.
            Action::Connect => self.retry_at = None,
            Action::Retry(delay) => {
                self.sender = None;
                self.retry_at = Some(Instant::now() + delay);
            }
            Action::Send(message) => self.send(&message),
            Action::Ask => {
                if let Some(report) = self.report.take() {
                    self.send(&ToServer::Gate(report));
                }
            }
            Action::Bye(reason) => self.goodbye(reason),
            Action::Answer | Action::Forget => {}
            Action::Start(timer, time) => {
                if timer == Timer::Hold {
                    self.held_since.get_or_insert_with(Instant::now);
                }
                self.deadlines[timer as usize] = Some(Instant::now() + time);
            }
            Action::Cancel(timer) => self.deadlines[timer as usize] = None,
            Action::GoOn => self.leave(Outcome::GoOn),
            Action::StopTraining => self.leave(Outcome::Stop),
            Action::Raise => self.leave(Outcome::Raise),
            Action::Close(reason) => {
                if let Some(mut sender) = self.sender.take() {
                    sender.close(reason);
                }
            }
            Action::Note(note) => {
                let stops = self.machine.settings.stops_if_lost;
                let text = text_of(note, &self.refusal, self.machine.limits.hold, stops);
                self.notes.push(text);
                self.last_note = Some(note);
            }
        }
    }

    fn leave(&mut self, outcome: Outcome) {
        self.outcome = Some(outcome);
        self.held_since = None;
        self.deadlines = [None; 3];
    }

    fn goodbye(&mut self, reason: ByeReason) {
        let message = ToServer::Bye {
            reason,
            step: self.step,
            error: self.error.take(),
        };
        self.send(&message);
    }

    /// Sends a message. A failure ends the connection, which the reading thread notices.
    pub(crate) fn send(&mut self, message: &ToServer) {
        if let Some(sender) = &mut self.sender
            && sender.text(message.to_text()).is_err()
        {
            sender.cut();
        }
    }

    pub(crate) fn send_binary(&mut self, bytes: Vec<u8>) {
        if let Some(sender) = &mut self.sender
            && sender.binary(bytes).is_err()
        {
            sender.cut();
        }
    }

    /// The timer that ends first.
    pub(crate) fn next_deadline(&self) -> Option<(Instant, Timer)> {
        let timers = [Timer::Gate, Timer::Hold, Timer::Grace];
        let running = timers
            .into_iter()
            .filter_map(|timer| Some((self.deadlines[timer as usize]?, timer)));
        running.min_by_key(|timer| timer.0)
    }

    /// Time until the hold ends automatically.
    pub(crate) fn rest_of_hold(&self) -> Option<Duration> {
        let end = self.deadlines[Timer::Hold as usize]?;
        Some(end.saturating_duration_since(Instant::now()))
    }

    /// Tells the server of a hold that has begun between the first message and its answer.
    pub(crate) fn tell_hold(&mut self) {
        if !std::mem::replace(&mut self.has_told_hold, true)
            && let Phase::Held(hold) = &self.machine.phase
        {
            let message = ToServer::Held {
                at: hold.at.clone(),
                reason: hold.reason,
                goes_on_secs: self.rest_of_hold().map(|rest| rest.as_secs_f64()),
            };
            self.send(&message);
        }
    }

    /// Ends the timers whose time is over.
    pub(crate) fn expire(&mut self) {
        while let Some((at, timer)) = self.next_deadline()
            && at <= Instant::now()
        {
            self.deadlines[timer as usize] = None;
            self.apply(Event::Expired(timer));
        }
    }
}

fn text_of(note: Note, refusal: &str, hold: Duration, stops_if_lost: bool) -> String {
    match note {
        Note::Refused(Refusal::Access) => format!(
            "Live session: the server refused the connection ({refusal}). Set TRAINSCOPE_SERVER and \
             TRAINSCOPE_TOKEN_FILE, or attach again."
        ),
        Note::Refused(Refusal::Protocol) => format!(
            "Live session: the server speaks no version of this collector's protocol ({refusal}). Use the same \
             release of both, and attach again."
        ),
        Note::Refused(Refusal::Proxy) => format!(
            "Live session: something between training and server knows no WebSockets ({refusal}). It is tried again \
             every 5 minutes."
        ),
        Note::NoAnswers => {
            "Live session: the server was late with three decisions in a row. The training goes on \
             without asking."
                .to_owned()
        }
        Note::HoldOver => format!(
            "Live session: the pause reached its limit of {} s, and the training went on.",
            hold.as_secs_f64()
        ),
        Note::ServerLost if stops_if_lost => {
            "Live session: the server was lost during a pause, and the training was ended."
                .to_owned()
        }
        Note::ServerLost => {
            "Live session: the server was lost during a pause, and the training went on.".to_owned()
        }
        Note::StartOver => {
            "Live session: no command came during the wait at the first gate, and the training went on."
                .to_owned()
        }
    }
}
