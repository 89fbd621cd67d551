//! Connected trainings: their sessions, connections and open requests.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use tokio::sync::{mpsc, oneshot};
use trainscope_api::sessions::{
    AttachAnswer, LastCommand, MAX_SESSIONS, Session, SessionCommand, SessionList,
};
use trainscope_format::session::{
    Capability, FailureCode, Hello, PauseLevel, SliceHead, ToServer, ToTraining, WatchpointTable,
    Welcome,
};

mod runs;

use super::attach::{self, AttachError};
use super::entry::{Entry, Peer, Reply, now_secs};
use super::machine::{
    Command, CommandError, Event, GateReasons, Limits, Machine, State, rest_of_hold,
};
use super::report;
use crate::discovery::base::{Base, bases};
use crate::index::Index;

/// Maximum number of connections; further trainings try again later.
pub(crate) const MAX_CONNECTIONS: usize = 1_024;
/// Messages that may wait for one training. A training that reads nothing is disconnected.
const MAX_WAITING: usize = 1_024;
/// Interval of checking limits, while there are sessions.
const TICK: Duration = Duration::from_millis(100);
/// Interval of searching the runs of sessions without one.
const FIND_INTERVAL: Duration = Duration::from_secs(5);
/// Interval of heartbeats of a training.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// Timeout of a question to a training that waits.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// All sessions of a server. Cloning is cheap.
#[derive(Clone)]
pub struct Sessions(Arc<Inner>);

/// Watchpoints of a run; `None` for the recommended ones.
type WatchpointsOf = dyn Fn(&str) -> Option<Vec<WatchpointTable>> + Send + Sync;

struct Inner {
    table: Mutex<Table>,
    connections: AtomicUsize,
    index: Index,
    bases: Vec<Base>,
    /// Address and token for attach files.
    server: attach::Server,
    limits: Limits,
    watchpoints: Box<WatchpointsOf>,
    /// Makes names and turns of sessions that cannot be guessed.
    secret: [u8; 32],
}

#[derive(Default)]
struct Table {
    sessions: BTreeMap<u64, Entry>,
    next_id: u64,
    next_connection: u64,
    next_request: u64,
    /// Attach files that wait for their training, by run.
    attached: HashMap<String, AttachOrder>,
}

struct AttachOrder {
    file: PathBuf,
    level: PauseLevel,
    since: Instant,
}

/// A connection of a rank; dropping it ends it.
pub(crate) struct Connection {
    sessions: Sessions,
    session: u64,
    rank: u32,
    number: u64,
}

/// A place for one more connection.
pub(crate) struct Permit(Sessions);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.0.connections.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Error of a question to a session.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    #[error("there is no session `{0}`, or no longer")]
    Unknown(String),
    #[error("{message}")]
    Conflict {
        message: String,
        session: Box<Session>,
    },
    #[error("{0}")]
    Refused(String),
    #[error("the training does not wait, so its memory cannot be read")]
    NotWaiting,
    #[error("rank {0} is not connected")]
    NoRank(u32),
    #[error("{1}")]
    Failed(FailureCode, String),
    #[error("the training did not answer in time")]
    Timeout,
}

impl Sessions {
    /// An empty list of sessions, or the error of a system without random numbers. `watchpoints` returns those of a
    /// run, unless they are the recommended ones.
    pub(crate) fn new(
        index: Index,
        base_dirs: &[PathBuf],
        server: attach::Server,
        limits: Limits,
        watchpoints: impl Fn(&str) -> Option<Vec<WatchpointTable>> + Send + Sync + 'static,
    ) -> Result<Self, getrandom::Error> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret)?;
        Ok(Self(Arc::new(Inner {
            table: Mutex::default(),
            connections: AtomicUsize::new(0),
            index,
            bases: bases(base_dirs),
            server,
            limits,
            watchpoints: Box::new(watchpoints),
            secret,
        })))
    }

    /// Checks the limits of all sessions until the server ends. Runs as a separate task.
    pub(crate) async fn watch(self) {
        let mut looked = Instant::now();
        loop {
            tokio::time::sleep(TICK).await;
            if looked.elapsed() >= FIND_INTERVAL {
                let sessions = self.clone();
                // Its names are compared with those of all files.
                drop(tokio::task::spawn_blocking(move || sessions.find_runs()).await);
                looked = Instant::now();
            }
            self.tick();
        }
    }

    fn tick(&self) {
        let mut table = self.0.table.lock();
        let table = &mut *table;
        let mut is_changed = false;
        let mut forgotten = Vec::new();
        for entry in table.sessions.values_mut() {
            let actions = entry.machine.apply(entry.began.elapsed(), Event::Tick);
            if entry.perform(actions) {
                forgotten.push(entry.id);
            }
            is_changed |= entry.is_changed();
        }
        for id in forgotten {
            table.sessions.remove(&id);
            is_changed = true;
        }
        table.attached.retain(|_, attached| {
            let is_valid = attached.since.elapsed() < attach::VALID_FOR;
            if !is_valid {
                attach::remove(&attached.file);
            }
            is_valid
        });
        if is_changed {
            self.0.index.notices().announce_sessions();
        }
    }

    /// A place for one more connection; `None` if there are too many.
    pub(crate) fn permit(&self) -> Option<Permit> {
        let before = self.0.connections.fetch_add(1, Ordering::AcqRel);
        let permit = Permit(self.clone());
        (before < MAX_CONNECTIONS).then_some(permit)
    }

    /// Adds a rank to its session, or begins one.
    pub(crate) fn join(&self, hello: Hello) -> (Connection, mpsc::Receiver<ToTraining>) {
        let (sender, receiver) = mpsc::channel(MAX_WAITING);
        let run = self.run_of(&hello.run_folder);
        let mut table = self.0.table.lock();
        let table = &mut *table;
        table.next_connection += 1;
        let number = table.next_connection;
        let attached = run.as_ref().and_then(|run| table.attached.remove(run));
        if let Some(attached) = &attached {
            attach::remove(&attached.file);
        }
        let id = if let Some(same) = table.session_of(&hello) {
            same
        } else {
            // Another launch of the same run, or another training of the same process, replaces one that has ended.
            let folder = &hello.run_folder;
            table
                .sessions
                .retain(|_, entry| entry.hello.run_folder != *folder || entry.machine.is_live());
            table.next_id += 1;
            let id = table.next_id;
            let level = attached.map_or(hello.pause_at, |attached| attached.level);
            let mut machine = Machine::new(self.0.limits, level);
            machine.has_pausing_watchpoint = self.has_pausing_watchpoint(run.as_deref());
            let (name, turn) = name_and_turn(&self.0.secret, id);
            machine.turn = turn;
            let entry = Entry {
                id,
                name,
                hello: hello.clone(),
                run,
                machine,
                began: Instant::now(),
                peers: BTreeMap::new(),
                hits: Vec::new(),
                rule_hits: HashSet::new(),
                last_command: None,
                announced: u64::MAX,
                announced_step: (0, Instant::now()),
            };
            table.sessions.insert(id, entry);
            id
        };
        let rank = hello.rank;
        if let Some(entry) = table.sessions.get_mut(&id) {
            let welcome = self.welcome(entry);
            // The channel is empty.
            drop(sender.try_send(welcome));
            let peer = Peer {
                host: hello.host.clone(),
                pid: hello.pid,
                connection: number,
                sender,
                requests: HashMap::new(),
            };
            entry.peers.insert(rank, peer);
            entry.apply(Event::Hello(Box::new(hello)));
            entry.announced = entry.machine.turn;
        }
        self.0.index.notices().announce_sessions();
        let connection = Connection {
            sessions: self.clone(),
            session: id,
            rank,
            number,
        };
        (connection, receiver)
    }

    fn welcome(&self, entry: &Entry) -> ToTraining {
        let limits = self.0.limits;
        ToTraining::Welcome(Box::new(Welcome {
            session: entry.name.clone(),
            watchpoints: entry.run.as_deref().and_then(&*self.0.watchpoints),
            pause_at: entry.machine.level,
            gate_limit_secs: limits.gate.as_secs_f64(),
            hold_limit_secs: limits.hold.as_secs_f64(),
            lost_grace_secs: limits.grace.as_secs_f64(),
            heartbeat_secs: HEARTBEAT.as_secs_f64(),
        }))
    }

    /// Asks the training of a run to connect.
    pub(crate) fn attach(&self, run: &str, level: PauseLevel) -> Result<AttachAnswer, AttachError> {
        let folder = self.0.bases.iter().find_map(|base| {
            let below = base.run_below(run)?;
            Some(base.dir.join(below))
        });
        let folder = folder.ok_or(AttachError::UnknownRun)?;
        let file = attach::write(&folder, &self.0.server)?;
        let answer = AttachAnswer {
            file: file.display().to_string(),
            valid_secs: attach::VALID_FOR.as_secs(),
        };
        let since = Instant::now();
        let attached = AttachOrder { file, level, since };
        self.0
            .table
            .lock()
            .attached
            .insert(run.to_owned(), attached);
        Ok(answer)
    }

    /// The sessions: those that are connected, then those that have ended, each the newest first.
    pub(crate) fn list(&self) -> SessionList {
        let table = self.0.table.lock();
        let newest_first = || {
            table
                .sessions
                .values()
                .rev()
                .filter(|entry| entry.is_seen())
        };
        // Ended sessions never displace connected ones.
        let live = newest_first().filter(|entry| entry.machine.is_live());
        let ended = newest_first().filter(|entry| !entry.machine.is_live());
        let all = live.chain(ended).take(MAX_SESSIONS);
        SessionList {
            sessions: all.map(report::session).collect(),
            cut: newest_first().nth(MAX_SESSIONS).is_some(),
        }
    }

    /// Number of sessions that wait.
    pub(crate) fn waiting(&self) -> u64 {
        let table = self.0.table.lock();
        let all = table.sessions.values().filter(|entry| entry.is_seen());
        all.filter(|entry| matches!(entry.machine.state, State::Waiting { .. }))
            .count() as u64
    }

    /// Id of the first session in the list of each run.
    pub(crate) fn of_runs(&self) -> HashMap<String, String> {
        let table = self.0.table.lock();
        let is_live = |entry: &&Entry| entry.machine.is_live();
        let ended = table.sessions.values().filter(|entry| !is_live(entry));
        // Later entries replace earlier ones.
        let all = ended.chain(table.sessions.values().filter(is_live));
        all.filter_map(|entry| Some((entry.run.clone()?, entry.name.clone())))
            .collect()
    }

    /// Carries out a command.
    pub(crate) fn command(
        &self,
        id: &str,
        turn: u64,
        command: &SessionCommand,
    ) -> Result<Session, SessionError> {
        let mut table = self.0.table.lock();
        let entry = table.find(id)?;
        let keeps = entry.hello.can.contains(&Capability::Keep);
        if matches!(command, SessionCommand::Keep { .. }) && !keeps {
            return Err(SessionError::Refused(
                "this training cannot keep activations".into(),
            ));
        }
        let given = report::command(command, entry.machine.has_pausing_watchpoint);
        let now = entry.began.elapsed();
        match entry.machine.command(now, turn, given) {
            Ok(actions) => {
                entry.perform(actions);
                if let SessionCommand::Pausing { level } = command {
                    entry.send_all(&ToTraining::Level { pause_at: *level });
                }
                entry.last_command = Some(LastCommand {
                    command: command.name().to_owned(),
                    at_secs: now_secs(),
                });
                entry.announced = entry.machine.turn;
                let session = report::session(entry);
                self.0.index.notices().announce_sessions();
                Ok(session)
            }
            Err(CommandError::Conflict) => Err(SessionError::Conflict {
                message: report::conflict(entry),
                session: Box::new(report::session(entry)),
            }),
            Err(error @ CommandError::Refused(_)) => Err(SessionError::Refused(error.to_string())),
        }
    }

    /// Lets all trainings that wait go on, for the end of the server. Returns their names.
    pub(crate) fn let_go(&self) -> Vec<String> {
        let mut table = self.0.table.lock();
        let mut names = Vec::new();
        for entry in table.sessions.values_mut() {
            if matches!(entry.machine.state, State::Waiting { .. } | State::Pausing) {
                names.push(report::session(entry).name);
                let turn = entry.machine.turn;
                let now = entry.began.elapsed();
                if let Ok(actions) = entry.machine.command(now, turn, Command::Continue) {
                    entry.perform(actions);
                }
            }
        }
        names
    }

    /// Asks a rank a question and waits for its answer. Blocks the calling thread.
    pub(crate) fn ask(
        &self,
        id: &str,
        rank: u32,
        question: impl FnOnce(u64) -> ToTraining,
    ) -> Result<Reply, SessionError> {
        let receiver = {
            let mut table = self.0.table.lock();
            table.next_request += 1;
            let number = table.next_request;
            let entry = table.find(id)?;
            // Names of nodes are known while the training runs.
            let question = question(number);
            let is_about_nodes = matches!(question, ToTraining::Nodes { .. });
            if !is_about_nodes && !matches!(entry.machine.state, State::Waiting { .. }) {
                return Err(SessionError::NotWaiting);
            }
            let peer = entry.peers.get_mut(&rank);
            let peer = peer.ok_or(SessionError::NoRank(rank))?;
            let (sender, receiver) = oneshot::channel();
            peer.requests.retain(|_, request| !request.is_closed());
            peer.requests.insert(number, sender);
            if peer.sender.try_send(question).is_err() {
                return Err(SessionError::NoRank(rank));
            }
            receiver
        };
        let handle = tokio::runtime::Handle::current();
        let answer =
            handle.block_on(async { tokio::time::timeout(ANSWER_TIMEOUT, receiver).await });
        match answer {
            Ok(Ok(Reply::Failed(code, message))) => Err(SessionError::Failed(code, message)),
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(_)) => Err(SessionError::NoRank(rank)),
            Err(_) => Err(SessionError::Timeout),
        }
    }
}

impl Table {
    /// The session of a rank: its previous session, or a session of its launch that has no such rank yet. Another
    /// process in place of a rank is another launch, under any name.
    fn session_of(&self, hello: &Hello) -> Option<u64> {
        let all = self.sessions.values().rev().filter(|entry| {
            entry.hello.run_folder == hello.run_folder
                && entry.hello.launch == hello.launch
                && !entry.machine.is_finished()
        });
        let is_own = |entry: &&Entry| {
            let peer = entry.peers.get(&hello.rank);
            peer.is_some_and(|peer| peer.host == hello.host && peer.pid == hello.pid)
        };
        let has_room =
            |entry: &&Entry| entry.machine.is_live() && !entry.peers.contains_key(&hello.rank);
        let known = all.clone().find(is_own);
        known
            .or_else(|| all.clone().find(has_room))
            .map(|entry| entry.id)
    }

    fn find(&mut self, id: &str) -> Result<&mut Entry, SessionError> {
        let unknown = || SessionError::Unknown(id.chars().take(64).collect());
        let mut all = self.sessions.values_mut();
        all.find(|entry| entry.name == id && entry.is_seen())
            .ok_or_else(unknown)
    }
}

/// Name of a session in addresses and commands, and its first turn. A page of another server that sends commands
/// blindly cannot guess them.
fn name_and_turn(secret: &[u8; 32], number: u64) -> (String, u64) {
    /// Number of digits: too many to try them all.
    const NAME_LEN: usize = 16;
    /// Largest exact integer of JavaScript, with room to grow.
    const MAX_TURN: u64 = 1 << 52;
    let hash = Sha256::new()
        .chain_update(secret)
        .chain_update(number.to_be_bytes());
    let mut name = format!("{:x}", hash.finalize());
    let turn =
        u64::from_str_radix(&name[NAME_LEN..2 * NAME_LEN], 16).unwrap_or_default() % MAX_TURN;
    name.truncate(NAME_LEN);
    (name, turn)
}

impl Connection {
    /// Handles a message of the rank.
    pub(crate) fn receive(&self, message: ToServer) {
        let sessions = &self.sessions.0;
        let mut table = sessions.table.lock();
        let Some(entry) = table.sessions.get_mut(&self.session) else {
            return;
        };
        let rank = self.rank;
        let Some(peer) = entry.peers.get_mut(&rank) else {
            return;
        };
        if peer.connection != self.number {
            return;
        }
        let mut reply = |id: u64, reply| {
            if let Some(sender) = peer.requests.remove(&id) {
                // The client may have gone.
                drop(sender.send(reply));
            }
        };
        let event = match message {
            ToServer::Status {
                step,
                nodes,
                total_steps,
                keeps,
                places,
                ..
            } => {
                let nodes = (nodes > 0).then_some(Capability::Nodes);
                let can = nodes.into_iter().chain(keeps.then_some(Capability::Keep));
                entry.set_declared(can, total_steps, places);
                Event::Alive { rank, step }
            }
            ToServer::Armed { from } => Event::Armed { rank, from },
            ToServer::Gate(report) if entry.machine.is_held(rank, &report.at) => {
                // It has judged the held step again, by other watchpoints.
                let step = report.at.step;
                entry.set_hits(report);
                entry.machine.turn += 1;
                Event::Alive { rank, step }
            }
            ToServer::Gate(report) => {
                let (at, reasons) = (report.at.clone(), GateReasons::of(&report));
                entry.set_hits(report);
                Event::Gate { rank, at, reasons }
            }
            ToServer::Held {
                at,
                reason,
                goes_on_secs,
            } => Event::Held {
                rank,
                at,
                reason,
                goes_on: goes_on_secs.and_then(rest_of_hold),
            },
            ToServer::Going { at, why } => Event::Going { rank, at, why },
            ToServer::Tensors(list) | ToServer::Nodes(list) => {
                reply(list.id, Reply::Items(list));
                return;
            }
            ToServer::Failed { id, code, message } => {
                reply(id, Reply::Failed(code, message));
                return;
            }
            ToServer::Bye {
                reason,
                step,
                error,
            } => {
                entry.apply(Event::Alive { rank, step });
                Event::Bye {
                    rank,
                    reason,
                    error: error.map(|text| text.chars().take(2_000).collect()),
                }
            }
            ToServer::Hello(_) | ToServer::Slice(_) | ToServer::Unknown => return,
        };
        entry.apply(event);
        if entry.is_changed() {
            sessions.index.notices().announce_sessions();
        }
    }

    /// Handles the elements of a slice.
    pub(crate) fn elements(&self, head: SliceHead, bytes: Vec<u8>) {
        let mut table = self.sessions.0.table.lock();
        let entry = table.sessions.get_mut(&self.session);
        let peer = entry.and_then(|entry| entry.peers.get_mut(&self.rank));
        let sender = peer.and_then(|peer| peer.requests.remove(&head.id));
        if let Some(sender) = sender {
            drop(sender.send(Reply::Slice(head, bytes)));
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut table = self.sessions.0.table.lock();
        let Some(entry) = table.sessions.get_mut(&self.session) else {
            return;
        };
        let rank = self.rank;
        let is_newest = entry
            .peers
            .get(&rank)
            .is_some_and(|peer| peer.connection == self.number);
        if is_newest {
            if let Some(peer) = entry.peers.get_mut(&rank) {
                peer.requests.clear();
            }
            entry.apply(Event::Gone { rank });
            entry.announced = entry.machine.turn;
            self.sessions.0.index.notices().announce_sessions();
        }
    }
}
