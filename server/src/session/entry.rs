//! One session with its connections and open requests.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::{mpsc, oneshot};
use trainscope_api::sessions::LastCommand;
use trainscope_format::session::{
    Capability, FailureCode, GateReport, Hello, ItemList, Place, SessionHit, SliceHead, ToTraining,
};

use super::machine::{Action, Event, Machine};
use crate::people;

/// Maximum number of places of gates; a training has two, and its nodes are a separate list.
const MAX_PLACES: usize = 16;

/// Condition and tensor of a hit of a rule over all ranks.
pub(super) type RuleHit = (&'static str, Arc<str>);

/// Minimum time between two announcements of a step.
const STEP_INTERVAL: Duration = Duration::from_secs(1);

/// A session with its connections.
pub(super) struct Entry {
    /// Number in the order of beginnings.
    pub(super) id: u64,
    /// Its id in the API.
    pub(super) name: String,
    pub(super) hello: Hello,
    pub(super) run: Option<String>,
    pub(super) machine: Machine,
    pub(super) began: Instant,
    pub(super) peers: BTreeMap<u32, Peer>,
    pub(super) hits: Vec<SessionHit>,
    /// Hits of rules over all ranks that have paused it, or could have.
    pub(super) rule_hits: HashSet<RuleHit>,
    pub(super) last_command: Option<LastCommand>,
    /// Turn that was announced last.
    pub(super) announced: u64,
    /// Step that was announced last, and the time.
    pub(super) announced_step: (i64, Instant),
}

/// A rank and its newest connection.
pub(super) struct Peer {
    pub(super) host: String,
    pub(super) pid: u32,
    pub(super) connection: u64,
    pub(super) sender: mpsc::Sender<ToTraining>,
    pub(super) requests: HashMap<u64, oneshot::Sender<Reply>>,
}

/// Answer of a training.
#[derive(Debug)]
pub(crate) enum Reply {
    Items(ItemList),
    Slice(SliceHead, Vec<u8>),
    Failed(FailureCode, String),
}

impl Entry {
    /// True if it exists for the person who asks. One of no known run exists for those who see all runs.
    pub(super) fn is_seen(&self) -> bool {
        match &self.run {
            Some(run) => people::may_see(run),
            None => people::may_see_all(),
        }
    }

    pub(super) fn apply(&mut self, event: Event) {
        let actions = self.machine.apply(self.began.elapsed(), event);
        self.perform(actions);
    }

    /// Sends messages; `true` if the session is to be forgotten.
    pub(super) fn perform(&mut self, actions: Vec<Action>) -> bool {
        let mut is_forgotten = false;
        for action in actions {
            match action {
                Action::Send(rank, message) => {
                    // A full or closed channel belongs to a connection that ends.
                    if let Some(peer) = self.peers.get(&rank) {
                        drop(peer.sender.try_send(message));
                    }
                }
                Action::Forget => is_forgotten = true,
            }
        }
        is_forgotten
    }

    /// Takes over the hits of a gate; without any, earlier ones stay.
    pub(super) fn set_hits(&mut self, report: GateReport) {
        if !report.hits.is_empty() {
            self.machine.hits_total = report.hits_total;
            self.hits = report.hits;
        }
    }

    /// Takes over facts that may be declared after the connection was made.
    pub(super) fn set_declared(
        &mut self,
        can: impl Iterator<Item = Capability>,
        total_steps: Option<i64>,
        places: Vec<Place>,
    ) {
        for capability in can {
            if !self.hello.can.contains(&capability) {
                self.hello.can.push(capability);
                self.machine.turn += 1;
            }
        }
        for place in places {
            if self.hello.places.len() < MAX_PLACES && !self.hello.places.contains(&place) {
                self.hello.places.push(place);
                self.machine.turn += 1;
            }
        }
        if total_steps.is_some() && total_steps != self.hello.total_steps {
            self.hello.total_steps = total_steps;
            self.machine.turn += 1;
        }
    }

    /// `true` if pages need a notice: of another turn at once, of another step once a second.
    pub(super) fn is_changed(&mut self) -> bool {
        let (step, told) = self.announced_step;
        let newest = self.machine.newest_step();
        let is_other = newest != step && told.elapsed() >= STEP_INTERVAL;
        if is_other {
            self.announced_step = (newest, Instant::now());
        }
        let turn = self.machine.turn;
        is_other | (std::mem::replace(&mut self.announced, turn) != turn)
    }

    /// Sends a message to all ranks.
    pub(super) fn send_all(&mut self, message: &ToTraining) {
        for peer in self.peers.values() {
            drop(peer.sender.try_send(message.clone()));
        }
    }
}

pub(super) fn now_secs() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs_f64()
}
