//! A small training in a thread of this process, and the sessions of a server.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trainscope_api::paths;
use trainscope_api::sessions::{Session, SessionList, SessionState};
use trainscope_collector::{
    AtHit, Collector, Flow, Live, NamedTensor, Place, Role, SamplePolicy, TensorView,
};

use crate::support::server::Server;
use crate::support::wait::{DEADLINE, wait_for};

/// Settings of a training.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) run: PathBuf,
    pub(crate) address: Option<String>,
    pub(crate) token: Option<String>,
    pub(crate) steps: i64,
    /// Weights at the beginning. Equal ones are a hit, of the judgement over several steps after ten seconds.
    pub(crate) weights: [f32; 6],
    /// Rank and step of the first NaN in a gradient.
    pub(crate) nan: Option<(u32, i64)>,
    /// `None` for that of the environment.
    pub(crate) at_hit: Option<AtHit>,
    pub(crate) total_steps: Option<i64>,
    /// Longest wait at the first gate.
    pub(crate) wait: Option<Duration>,
    pub(crate) ranks: u32,
    /// `true` to keep activations and to wait at the node `fc`.
    pub(crate) has_node: bool,
    /// The last rank ends at this step; ranks do not meet then.
    pub(crate) last_rank_leaves: Option<i64>,
    /// Steps that each rank is ahead of the one before; they do not meet then.
    pub(crate) lead: Option<i64>,
    /// Host and process in the names of its files; `None` for the real ones.
    pub(crate) identity: Option<(&'static str, u32)>,
}

impl Setup {
    pub(crate) fn new(run: &Path, server: Option<&Server>) -> Self {
        Self {
            run: run.to_path_buf(),
            address: server.map(|server| server.address().to_owned()),
            token: None,
            steps: 1_000_000,
            weights: [1.0; 6],
            nan: None,
            at_hit: Some(AtHit::Record),
            total_steps: None,
            wait: None,
            ranks: 1,
            has_node: false,
            last_rank_leaves: None,
            lead: None,
            identity: None,
        }
    }
}

/// A running training.
pub(crate) struct Training {
    steps: Receiver<i64>,
    threads: Vec<JoinHandle<(Vec<f32>, i64)>>,
}

impl Training {
    /// Starts all ranks. As in data-parallel training, they meet in each step before the update.
    pub(crate) fn start(setup: &Setup) -> Self {
        let (sender, steps) = channel();
        let barrier = Arc::new(Barrier::new(setup.ranks as usize));
        let threads = (0..setup.ranks).map(|rank| {
            let (setup, sender, barrier) = (setup.clone(), sender.clone(), Arc::clone(&barrier));
            thread::spawn(move || {
                let live = match &setup.address {
                    Some(address) => Live::to(address),
                    None => Live::default(),
                };
                let live = match &setup.token {
                    Some(token) => live.token(token),
                    None => live,
                };
                let builder = Collector::builder(&setup.run)
                    .rank(rank, setup.ranks)
                    .samples(SamplePolicy::every(10))
                    .flush_every(Duration::from_millis(20))
                    .live(live);
                let builder = match setup.identity {
                    Some((host, process)) => builder.identity(host, process),
                    None => builder,
                };
                let builder = match setup.at_hit {
                    Some(at_hit) => builder.at_hit(at_hit),
                    None => builder,
                };
                let builder = match setup.wait {
                    Some(longest) => builder.wait(longest),
                    None => builder,
                };
                let collector = builder.start().unwrap();
                if let Some(steps) = setup.total_steps {
                    collector.total_steps(steps);
                }
                if setup.has_node {
                    collector.nodes(["fc"]);
                }
                let mut weights = setup.weights.to_vec();
                let mut last = -1;
                let nan_at = setup.nan.filter(|nan| nan.0 == rank).map(|nan| nan.1);
                let first = setup.lead.unwrap_or(0) * i64::from(rank);
                for step in first..setup.steps {
                    if setup.last_rank_leaves == Some(step) && rank + 1 == setup.ranks {
                        break;
                    }
                    let is_bad = nan_at.is_some_and(|at| step >= at);
                    let gradient = vec![if is_bad { f32::NAN } else { 1e-4 }; 6];
                    let shape = [2, 3];
                    let tensor = |name, role, values| NamedTensor {
                        name,
                        role,
                        view: TensorView::of(values, &shape),
                    };
                    let tensors = [
                        tensor("fc.weight", Role::Weight, &weights[..]),
                        tensor("fc.weight.grad", Role::Gradient, &gradient[..]),
                    ];
                    let mut recorder = collector.step(step);
                    recorder.scalars(&[("train/loss", f64::from(weights[0]))]);
                    for NamedTensor { name, role, view } in tensors {
                        recorder.tensor(name, role, view);
                    }
                    drop(recorder);
                    let shown = tensors.as_slice();
                    if setup.has_node {
                        collector.keep_patterns();
                        let target = collector.target_node().filter(|node| node == "fc");
                        let flow =
                            target.map(|node| collector.gate(step, Place::Node(node), &shown));
                        if flow == Some(Flow::Stop) {
                            break;
                        }
                    }
                    if collector.gate(step, Place::BeforeUpdate, &shown) == Flow::Stop {
                        break;
                    }
                    if setup.last_rank_leaves.is_none() && setup.lead.is_none() {
                        barrier.wait();
                    }
                    for (weight, gradient) in weights.iter_mut().zip(&gradient) {
                        *weight -= if gradient.is_finite() { *gradient } else { 0.0 };
                    }
                    last = step;
                    if rank == 0 {
                        let _is_unread = sender.send(step);
                    }
                    thread::sleep(Duration::from_millis(2));
                }
                collector.finish();
                (weights, last)
            })
        });
        let threads = threads.collect();
        Self { steps, threads }
    }

    /// Starts the run `a`, whose ranks continue from their first gate after all of them have connected and `prepare` is
    /// done.
    pub(crate) fn start_connected(setup: &Setup, server: &Server, prepare: impl FnOnce()) -> Self {
        let mut setup = setup.clone();
        setup.wait = Some(DEADLINE);
        let training = Self::start(&setup);
        server.wait_for_state("a", SessionState::Waiting);
        prepare();
        // The preparation may still change the session, which then refuses the command as one about an older state.
        wait_for("the training to go on", || {
            let (status, answer) = server.command("a", &json!({"name": "continue"}));
            assert!([200, 409].contains(&status), "{answer:#}");
            (status == 200).then_some(())
        });
        training
    }

    pub(crate) fn wait_for(&self, step: i64) {
        let until = Instant::now() + DEADLINE;
        while self.steps.recv_timeout(until - Instant::now()).unwrap() < step {}
    }

    /// Waits until no step has passed for a while.
    pub(crate) fn wait_until_still(&self) {
        while self.steps.recv_timeout(Duration::from_millis(100)).is_ok() {}
    }

    /// Waits for the next step.
    pub(crate) fn wait_until_moving(&self) {
        self.steps.recv_timeout(DEADLINE).unwrap();
    }

    /// Weights and last step of each rank.
    pub(crate) fn end(self) -> Vec<(Vec<f32>, i64)> {
        let all = self.threads.into_iter();
        all.map(|thread| thread.join().unwrap()).collect()
    }
}

/// Requests about sessions.
pub(crate) trait Sessions {
    fn sessions(&self) -> Vec<Session>;
    fn session_of(&self, run: &str) -> Option<Session>;
    fn wait_for_state(&self, run: &str, state: SessionState) -> Session;
    fn command(&self, run: &str, command: &Value) -> (u16, Value);
}

impl Sessions for Server {
    fn sessions(&self) -> Vec<Session> {
        let list: SessionList = serde_json::from_slice(&self.get(paths::SESSIONS).body).unwrap();
        list.sessions
    }

    fn session_of(&self, run: &str) -> Option<Session> {
        self.sessions()
            .into_iter()
            .find(|session| session.name == run)
    }

    fn wait_for_state(&self, run: &str, state: SessionState) -> Session {
        wait_for(&format!("{run} to be {state:?}"), || {
            self.session_of(run)
                .filter(|session| session.state == state)
        })
    }

    fn command(&self, run: &str, command: &Value) -> (u16, Value) {
        let session = self.session_of(run).unwrap();
        command_at(self, &session, command)
    }
}

/// Sends a command in view of a session.
pub(crate) fn command_at(server: &Server, session: &Session, command: &Value) -> (u16, Value) {
    let body = json!({ "session": session.id, "turn": session.turn, "command": command });
    let answer = server.post(
        paths::SESSION_COMMAND,
        "application/json",
        &body.to_string(),
    );
    (answer.status, answer.json())
}
