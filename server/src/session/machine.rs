//! State machine of a session: a pure function from time, state and event to state and messages, without clock and
//! socket.
//!
//! Ranks are held together at one gate or not at all. A gate is decided once all connected ranks that will reach it
//! have asked; all of them get the same answer. Ranks that never meet may be held individually instead.

mod apart;
mod command;
mod decide;
#[cfg(test)]
mod property;
mod ranks;
mod settle;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use trainscope_api::sessions::HoldMode;
use trainscope_format::session::{
    ArmOrder, ByeReason, Gate, GateReport, GoingReason, Hello, HoldReason, PauseLevel, Place,
    ToTraining,
};

pub(crate) use command::{Command, CommandError};
pub(super) use ranks::rest_of_hold;

/// Limits of all waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Wait of a rank for the decision about its gate. The server decides after 9/10 of this time.
    pub gate: Duration,
    /// Duration of a hold.
    pub hold: Duration,
    /// Duration of a hold of ranks whose connection is lost.
    pub grace: Duration,
    /// Time from the first rank until the others are no longer waited for.
    pub join: Duration,
    /// Time without a message after which a rank counts as lost.
    pub silence: Duration,
    /// Time from a stop until the session counts as finished.
    pub ending: Duration,
    /// Time that an ended session stays in the list.
    pub kept: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            gate: Duration::from_secs(2),
            hold: Duration::from_mins(10),
            grace: Duration::from_secs(10),
            join: Duration::from_mins(1),
            silence: Duration::from_secs(15),
            ending: Duration::from_mins(10),
            kept: Duration::from_hours(1),
        }
    }
}

/// Decisions in a row that a rank missed, after which automatic pausing is off.
const MAX_UNALIGNED: u32 = 3;
/// Decided gates to remember for late ranks: in data-parallel training ranks are at most one step apart.
const MAX_DECIDED: usize = 64;
const MAX_NOTES: usize = 32;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum State {
    /// Ranks are connecting.
    Joining,
    /// Ranks compute.
    Running,
    /// Ranks are being held.
    Pausing,
    /// All connected ranks wait at one gate.
    Waiting { at: Gate, reason: HoldReason },
    /// Ranks compute up to a target.
    Stepping(Target),
    /// Ranks were asked to end.
    Stopping,
    /// All ranks have ended.
    Finished(ByeReason),
    /// No rank has sent anything for a while.
    Lost,
}

/// Target of a stepping session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    /// Gates of one place; the first decided gate sets it if it is unknown.
    Steps {
        done: u64,
        total: u64,
        place: Option<Place>,
    },
    Node(String),
}

/// State of one rank.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RankState {
    Running,
    Asking(Gate),
    Held(Gate),
    Lost,
    /// It has said goodbye.
    Ended(ByeReason),
}

/// A rank as the session knows it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rank {
    pub(crate) state: RankState,
    /// First gate at which it asks; `None` if it is not armed, or has not answered.
    pub(crate) from: Option<Gate>,
    /// It was armed and has not answered.
    pub(crate) is_arming: bool,
    pub(crate) step: i64,
    /// Time of its newest message, since the session began.
    pub(crate) heard: Duration,
    /// Time at which it asked, or was sent its hold.
    since: Duration,
    /// Gates that it missed.
    pub(crate) unaligned: u64,
    /// Steps that it has made towards the target.
    stepped: u64,
    pub(crate) error: Option<String>,
    /// Its reasons to hold or end at the gate where it asks.
    reasons: GateReasons,
}

/// Reasons of a rank to hold or end at a gate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GateReasons {
    /// A hit pauses.
    pub(crate) pauses: bool,
    /// Its number of steps or node is reached.
    pub(crate) is_target: bool,
    /// A hit ends the training, by the settings of the program.
    pub(crate) stops: bool,
}

impl GateReasons {
    pub(super) fn of(report: &GateReport) -> Self {
        Self {
            pauses: report.hits.iter().any(|hit| hit.pauses),
            is_target: report.is_target,
            stops: report.stops,
        }
    }
}

impl Rank {
    pub(crate) fn is_connected(&self) -> bool {
        !matches!(self.state, RankState::Lost | RankState::Ended(_))
    }
}

/// Event worth knowing, for the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// A rank missed a gate, and the others went on.
    Unaligned { rank: u32, step: i64 },
    /// Three gates in a row were missed: hits no longer pause.
    PausingOff,
    /// A hold has reached its limit, and all went on.
    HoldOver { step: i64 },
    /// A rank was lost while the others waited.
    RankLost { rank: u32 },
    /// A signal has interrupted a hold.
    Interrupted { rank: u32 },
    /// Not all ranks had connected in time.
    NotAllJoined { connected: u32 },
    /// A rule over all ranks was hit at this step.
    RuleHit { step: i64 },
}

/// Input of the machine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    Hello(Box<Hello>),
    /// A heartbeat.
    Alive {
        rank: u32,
        step: i64,
    },
    Armed {
        rank: u32,
        from: Option<Gate>,
    },
    Gate {
        rank: u32,
        at: Gate,
        reasons: GateReasons,
    },
    Held {
        rank: u32,
        at: Gate,
        reason: HoldReason,
        /// Time until the hold ends automatically, if it differs from that of a decision.
        goes_on: Option<Duration>,
    },
    Going {
        rank: u32,
        at: Gate,
        why: GoingReason,
    },
    Bye {
        rank: u32,
        reason: ByeReason,
        error: Option<String>,
    },
    /// The connection of a rank has ended without a goodbye.
    Gone {
        rank: u32,
    },
    /// The judgement of all ranks has found a hit that pauses.
    RuleHit {
        step: i64,
    },
    /// Time has passed.
    Tick,
}

/// Output of the machine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// Send a message to a rank.
    Send(u32, ToTraining),
    /// Remove the session from the list.
    Forget,
}

/// A session with its ranks.
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent of each other"
)]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Machine {
    pub(crate) state: State,
    /// Grows with each change of the state, and with each command.
    pub(crate) turn: u64,
    pub(crate) ranks: BTreeMap<u32, Rank>,
    pub(crate) world_size: u32,
    pub(crate) limits: Limits,
    /// Minimum severity that pauses.
    pub(crate) level: PauseLevel,
    /// A watchpoint pauses at any level.
    pub(crate) has_pausing_watchpoint: bool,
    /// Automatic pausing is off, because ranks were not aligned.
    pub(crate) is_auto_off: bool,
    pub(crate) mode: HoldMode,
    /// Patterns of activations to keep.
    pub(crate) keep: Vec<String>,
    pub(crate) notes: VecDeque<(Duration, Note)>,
    /// Time at which the state began.
    pub(crate) since: Duration,
    /// Time at which the holds end automatically.
    pub(crate) hold_ends: Duration,
    pub(crate) hits_total: u64,
    /// Reason of a hold that is due at the next gate that all ranks reach.
    wanted: Option<HoldReason>,
    /// Decided gates, and the reason of the hold.
    decided: VecDeque<(Gate, Option<HoldReason>)>,
    /// All ranks are stopped at the first gate that all of them reach: an earlier stop of one rank would leave the
    /// others in a collective operation.
    stops_together: bool,
    /// Ranks wait at their first gates because of their settings, and not all of them are there yet.
    is_starting: bool,
    /// Missed gates in a row.
    missed: u32,
    begun: Option<Duration>,
}

impl Machine {
    pub(crate) fn new(limits: Limits, level: PauseLevel) -> Self {
        Self {
            state: State::Joining,
            turn: 0,
            ranks: BTreeMap::new(),
            world_size: 1,
            limits,
            level,
            has_pausing_watchpoint: false,
            is_auto_off: false,
            mode: HoldMode::Together,
            keep: Vec::new(),
            notes: VecDeque::new(),
            since: Duration::ZERO,
            hold_ends: Duration::ZERO,
            hits_total: 0,
            wanted: None,
            decided: VecDeque::new(),
            stops_together: false,
            is_starting: false,
            missed: 0,
            begun: None,
        }
    }

    /// The actions that follow from an event at a time since the session began.
    pub(crate) fn apply(&mut self, now: Duration, event: Event) -> Vec<Action> {
        let mut out = Vec::new();
        let before = self.state.clone();
        self.handle(now, event, &mut out);
        self.settle(now, &mut out);
        self.note_change(now, &before);
        out
    }

    fn note_change(&mut self, now: Duration, before: &State) {
        let is_progress = matches!(
            (before, &self.state),
            (State::Stepping(_), State::Stepping(_))
        );
        if self.state != *before && !is_progress {
            self.turn += 1;
            self.since = now;
        }
    }

    fn handle(&mut self, now: Duration, event: Event, out: &mut Vec<Action>) {
        match event {
            Event::Hello(hello) => self.hello(now, &hello, out),
            Event::Alive { rank, step } => {
                if let Some(sender) = self.heard(now, rank) {
                    sender.step = sender.step.max(step);
                }
            }
            Event::Armed { rank, from } => {
                if let Some(sender) = self.heard(now, rank) {
                    sender.from = from;
                    sender.is_arming = false;
                }
                self.decide_open(now, out);
            }
            Event::Gate { rank, at, reasons } => self.gate(now, rank, &at, reasons, out),
            Event::Held {
                rank,
                at,
                reason,
                goes_on,
            } => {
                if let Some(sender) = self.heard(now, rank) {
                    sender.state = RankState::Held(at);
                    self.hold_by_itself(now, reason, goes_on);
                }
            }
            Event::Going { rank, at, why } => self.going(now, rank, &at, why, out),
            Event::Bye {
                rank,
                reason,
                error,
            } => {
                if let Some(sender) = self.heard(now, rank) {
                    sender.state = RankState::Ended(reason);
                    sender.error = error;
                }
                self.decide_open(now, out);
            }
            Event::Gone { rank } => self.gone(now, rank, out),
            Event::RuleHit { step } => {
                if self.is_live()
                    && !matches!(self.state, State::Stopping)
                    && self.pauses_automatically()
                {
                    self.note(now, Note::RuleHit { step });
                    self.want(HoldReason::Hit, out);
                }
            }
            Event::Tick => self.tick(now, out),
        }
    }

    /// A rank of the session; sets the time of its newest message.
    fn heard(&mut self, now: Duration, rank: u32) -> Option<&mut Rank> {
        let sender = self.ranks.get_mut(&rank)?;
        sender.heard = now;
        Some(sender)
    }

    /// `true` if a rank waits at this gate.
    pub(crate) fn is_held(&self, rank: u32, at: &Gate) -> bool {
        let known = self.ranks.get(&rank);
        known.is_some_and(|known| matches!(&known.state, RankState::Held(held) if held == at))
    }

    pub(crate) fn is_finished(&self) -> bool {
        matches!(self.state, State::Finished(_))
    }

    fn tick(&mut self, now: Duration, out: &mut Vec<Action>) {
        let silence = self.limits.silence;
        let silent: Vec<u32> = self
            .ranks
            .iter()
            .filter(|(_, rank)| rank.is_connected() && now.saturating_sub(rank.heard) >= silence)
            .map(|(rank, _)| *rank)
            .collect();
        for rank in silent {
            self.gone(now, rank, out);
        }
        self.expire_gates(now, out);
    }

    pub(crate) fn connected(&self) -> impl Iterator<Item = (u32, &Rank)> {
        let all = self.ranks.iter();
        all.filter(|(_, rank)| rank.is_connected())
            .map(|(number, rank)| (*number, rank))
    }

    /// Newest step of any rank.
    pub(crate) fn newest_step(&self) -> i64 {
        self.ranks.values().map(|rank| rank.step).max().unwrap_or(0)
    }

    /// `true` if it has not ended and is not lost.
    pub(crate) fn is_live(&self) -> bool {
        !matches!(self.state, State::Finished(_) | State::Lost)
    }

    /// `true` if all ranks of the training are connected.
    pub(crate) fn is_complete(&self) -> bool {
        self.connected().count() >= self.world_size as usize
    }

    /// `true` if hits may pause.
    pub(crate) fn pauses_automatically(&self) -> bool {
        let has_any = self.level != PauseLevel::Never || self.has_pausing_watchpoint;
        has_any && self.is_complete() && !self.is_auto_off
    }

    /// `true` if all gates have to be asked about: a single rank asks automatically at a hit.
    fn needs_arming(&self) -> bool {
        self.pauses_automatically() && self.world_size > 1
    }

    /// `true` if ranks ask at each gate.
    pub(crate) fn is_armed(&self) -> bool {
        self.connected()
            .any(|(_, rank)| rank.from.is_some() || rank.is_arming)
    }

    fn note(&mut self, now: Duration, note: Note) {
        if self.notes.len() >= MAX_NOTES {
            self.notes.pop_front();
        }
        self.notes.push_back((now, note));
    }

    fn holds_each(&self) -> bool {
        self.mode == HoldMode::Each
    }

    /// Arms one rank, or all that are not armed.
    fn arm(&mut self, only: Option<u32>, out: &mut Vec<Action>) {
        let order = ArmOrder {
            every: 1,
            ..ArmOrder::default()
        };
        for (number, rank) in &mut self.ranks {
            let is_asked = only.is_none_or(|only| only == *number);
            if rank.is_connected() && is_asked && rank.from.is_none() && !rank.is_arming {
                rank.is_arming = true;
                out.push(Action::Send(*number, ToTraining::Arm(order.clone())));
            }
        }
    }

    fn disarm(&mut self, out: &mut Vec<Action>) {
        for (number, rank) in &mut self.ranks {
            if rank.is_connected() && (rank.from.is_some() || rank.is_arming) {
                rank.from = None;
                rank.is_arming = false;
                out.push(Action::Send(*number, ToTraining::Disarm));
            }
        }
    }

    /// Ends all holds, with a target.
    fn resume_all(&mut self, target: Option<&Target>, out: &mut Vec<Action>) {
        let (steps, node) = match target {
            Some(Target::Steps { total, .. }) => (Some(*total), None),
            Some(Target::Node(name)) => (None, Some(name.clone())),
            None => (None, None),
        };
        for (number, rank) in &mut self.ranks {
            // Ranks that are not at their first gate yet no longer wait there.
            let will_wait = self.is_starting && rank.is_connected();
            rank.stepped = 0;
            if will_wait || matches!(rank.state, RankState::Held(_)) {
                rank.state = RankState::Running;
                let node = node.clone();
                out.push(Action::Send(*number, ToTraining::Resume { steps, node }));
            }
        }
        self.is_starting = false;
    }

    fn run(&mut self) {
        self.wanted = None;
        self.state = State::Running;
    }

    /// Arms all ranks in order to hold them at the next gate that all of them reach.
    fn want(&mut self, reason: HoldReason, out: &mut Vec<Action>) {
        self.wanted = Some(reason);
        self.arm(None, out);
        if matches!(self.state, State::Running | State::Stepping(_)) {
            self.state = State::Pausing;
        }
    }
}
