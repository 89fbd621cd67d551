//! The part of a recording's state that belongs to its live session.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use trainscope_analysis::watchpoint::Needs;
use trainscope_format::session::{
    Framework, Gate, ItemList, MAX_ITEMS, PauseLevel, Place, SessionItem,
};
use trainscope_format::statistics::{Role, TensorSummary};
use trainscope_format::tensor::Tolerance;

use super::attach::{self, AttachFile};
use super::core::Core;
use super::judge::Judge;
use super::machine::{Limits, Machine, Phase, Settings, Target};
use super::pace::Pace;
use super::probe::Filter;
use super::settings::{AtHit, LiveSettings};
use crate::entry::Payload;
use crate::notes;
use crate::shared::SharedState;

/// Interval of looking for an attach file.
const ATTACH_INTERVAL: Duration = Duration::from_secs(1);

/// Facts about the training for the server.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) launch: String,
    /// Folder of the run, without that of the rank.
    pub(crate) run: PathBuf,
    pub(crate) rank: u32,
    pub(crate) world_size: u32,
    pub(crate) host: String,
    pub(crate) process: u32,
    pub(crate) program: String,
    pub(crate) framework: Framework,
}

/// Live session of a recording.
#[derive(Debug)]
pub(crate) struct LiveState {
    pub(crate) shared: Arc<SharedState>,
    pub(crate) identity: Identity,
    pub(crate) settings: LiveSettings,
    core: Mutex<Core>,
    /// The machine has left a state, a request has come, or the thread has ended.
    pub(crate) changed: Condvar,
    judge: Mutex<Judge>,
    /// A gate has more to do than to note its place.
    is_active: AtomicBool,
    /// Records are judged.
    is_judging: AtomicBool,
    /// Every step is examined.
    is_armed: AtomicBool,
    /// Last step of a closer look after a non-finite value.
    close_until: AtomicI64,
    pub(crate) stop: AtomicBool,
    pub(crate) is_stopped_by_hit: AtomicBool,
    /// A gate has seen a hit that counts since the last query.
    pub(crate) has_hit: AtomicBool,
    pub(crate) total_steps: AtomicI64,
    last_step: AtomicI64,
    /// Phase of the last gate; 255 before the first.
    last_phase: AtomicU8,
    /// Bits of the phases at which the program has gates.
    phases: AtomicU8,
    /// A server wants this rank to ask at a node.
    has_target_node: AtomicBool,
    /// Activations that a server wants to be kept, and a flag that each step can check without the lock.
    keep: Mutex<Vec<String>>,
    has_keep: AtomicBool,
    /// The program keeps activations.
    pub(crate) can_keep: AtomicBool,
    /// Names of the nodes at which the program can wait, in its order.
    nodes: Mutex<Vec<String>>,
    attach: Mutex<AttachWatch>,
    pace: Mutex<Pace>,
}

#[derive(Debug)]
struct AttachWatch {
    path: PathBuf,
    looked: Option<Instant>,
    /// Time of the newest file that was used.
    asked_secs: f64,
}

impl LiveState {
    pub(crate) fn new(
        shared: Arc<SharedState>,
        identity: Identity,
        settings: LiveSettings,
    ) -> Self {
        let machine = Machine::new(
            Settings {
                is_single: identity.world_size <= 1,
                may_hold: settings.may_hold,
                stops_if_lost: settings.stops_if_lost,
            },
            Limits {
                hold_most: settings.hold_most,
                ..Limits::default()
            },
            settings.start_wait,
        );
        let judge = Judge::new(settings.watchpoints.clone(), settings.level());
        let is_judging = settings.at_hit != AtHit::Record;
        let is_active = is_judging || settings.start_wait.is_some();
        let attach = AttachWatch {
            path: attach::path_of(&identity.run),
            looked: None,
            asked_secs: f64::NEG_INFINITY,
        };
        Self {
            shared,
            identity,
            settings,
            core: Mutex::new(Core::new(machine)),
            changed: Condvar::new(),
            judge: Mutex::new(judge),
            is_active: AtomicBool::new(is_active),
            is_judging: AtomicBool::new(is_judging),
            is_armed: AtomicBool::new(false),
            close_until: AtomicI64::new(i64::MIN),
            stop: AtomicBool::new(false),
            is_stopped_by_hit: AtomicBool::new(false),
            has_hit: AtomicBool::new(false),
            total_steps: AtomicI64::new(-1),
            last_step: AtomicI64::new(0),
            last_phase: AtomicU8::new(u8::MAX),
            phases: AtomicU8::new(0),
            has_target_node: AtomicBool::new(false),
            keep: Mutex::default(),
            has_keep: AtomicBool::new(false),
            can_keep: AtomicBool::new(false),
            nodes: Mutex::default(),
            attach: Mutex::new(attach),
            pace: Mutex::default(),
        }
    }

    pub(crate) fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn judge(&self) -> MutexGuard<'_, Judge> {
        self.judge.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn nodes(&self) -> MutexGuard<'_, Vec<String>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_keep(&self, patterns: Vec<String>) {
        self.has_keep.store(!patterns.is_empty(), Ordering::Relaxed);
        *self.keep.lock().unwrap_or_else(PoisonError::into_inner) = patterns;
    }

    /// Patterns of activations to keep.
    pub(crate) fn keep(&self) -> Vec<String> {
        if !self.has_keep.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let patterns = self.keep.lock().unwrap_or_else(PoisonError::into_inner);
        patterns.clone()
    }

    /// Nodes that match a pattern, starting at an offset.
    pub(crate) fn node_list(&self, id: u64, pattern: &str, offset: u64) -> ItemList {
        let filter = Filter::of(pattern);
        let nodes = self.nodes();
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let mut names = nodes
            .iter()
            .filter(|name| filter.matches(name))
            .skip(offset);
        let item = |name: &String| SessionItem {
            name: name.clone(),
            role: Role::Activation,
            dtype: None,
            shape: Vec::new(),
            place: Some(Place::Node(name.clone())),
        };
        let items = names.by_ref().take(MAX_ITEMS).map(item).collect();
        let cut = names.next().is_some();
        ItemList { id, items, cut }
    }

    pub(crate) fn total_steps(&self) -> Option<i64> {
        let steps = self.total_steps.load(Ordering::Relaxed);
        (steps >= 0).then_some(steps)
    }

    /// Durations of steps, measured while gates have something to do.
    pub(crate) fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `true` if a gate has more to do than to note its place.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.is_active.load(Ordering::SeqCst)
    }

    /// `true` if a server wants this rank to ask at a node.
    #[inline]
    pub(crate) fn has_target_node(&self) -> bool {
        self.has_target_node.load(Ordering::SeqCst)
    }

    /// `true` if records are judged.
    #[inline]
    pub(crate) fn is_judging(&self) -> bool {
        self.is_judging.load(Ordering::Relaxed)
    }

    /// `true` if every tensor of this step is examined.
    #[inline]
    pub(crate) fn looks_at(&self, step: i64) -> bool {
        self.is_armed.load(Ordering::Relaxed) || step <= self.close_until.load(Ordering::Relaxed)
    }

    /// Examines every tensor up to this step, independent of the server.
    pub(crate) fn look_until(&self, step: i64) {
        self.close_until.store(step, Ordering::Relaxed);
    }

    /// Notes a gate.
    #[inline]
    pub(crate) fn pass(&self, step: i64, place: &Place) {
        let phase = place.phase();
        self.last_step.store(step, Ordering::SeqCst);
        self.last_phase.store(phase, Ordering::SeqCst);
        self.phases.fetch_or(1 << phase, Ordering::Relaxed);
    }

    /// Newest step of a record or a gate.
    pub(crate) fn newest_step(&self) -> i64 {
        let recorded = self.shared.step.load(Ordering::Relaxed);
        let has_begun = self.last_phase.load(Ordering::SeqCst) != u8::MAX;
        let passed = has_begun.then(|| self.last_step.load(Ordering::SeqCst));
        passed.map_or(recorded, |passed| passed.max(recorded))
    }

    /// The first known gate after the last one: of the step, or of the node that is a target.
    pub(crate) fn next_gate(&self, target: Option<&Target>) -> Gate {
        let next = self.next_gate_of_step();
        let Some(Target::Node(name)) = target else {
            return next;
        };
        // Nodes are before the other gates of a step, of which one may have passed.
        let has_begun = self.last_phase.load(Ordering::SeqCst) != u8::MAX;
        let step = self.last_step.load(Ordering::SeqCst);
        let step = step.saturating_add(i64::from(has_begun));
        let node = Gate::new(step, Place::Node(name.clone()));
        if next.is_not_after(&node) { next } else { node }
    }

    fn next_gate_of_step(&self) -> Gate {
        let step = self.last_step.load(Ordering::SeqCst);
        let last = self.last_phase.load(Ordering::SeqCst);
        let phases = self.phases.load(Ordering::Relaxed);
        let has = |phase: u8| phases & (1 << phase) != 0;
        if last == u8::MAX {
            return Gate::new(step, Place::AfterStep);
        }
        let is_before = Place::BeforeUpdate.phase();
        let is_after = Place::AfterStep.phase();
        if last < is_before && has(is_before) {
            return Gate::new(step, Place::BeforeUpdate);
        }
        if last < is_after && has(is_after) {
            return Gate::new(step, Place::AfterStep);
        }
        let place = if has(is_before) {
            Place::BeforeUpdate
        } else {
            Place::AfterStep
        };
        Gate::new(step.saturating_add(1), place)
    }

    /// Places at which the program has gates so far.
    pub(crate) fn places(&self) -> Vec<Place> {
        let phases = self.phases.load(Ordering::Relaxed);
        [Place::BeforeUpdate, Place::AfterStep]
            .into_iter()
            .filter(|place| phases & (1 << place.phase()) != 0)
            .collect()
    }

    /// Updates the flags that gates and records read without a lock.
    pub(crate) fn publish(&self, core: &Core) {
        let can_pause = {
            let judge = self.judge();
            judge.can_pause()
        };
        let is_connected = !matches!(core.machine.phase, Phase::Off | Phase::Connecting);
        let judges = self.settings.at_hit != AtHit::Record || (is_connected && can_pause);
        self.is_judging.store(judges, Ordering::Relaxed);
        self.is_armed
            .store(core.machine.is_armed, Ordering::Relaxed);
        let has_target_node = matches!(core.machine.target, Some(Target::Node(_)));
        self.has_target_node
            .store(has_target_node, Ordering::SeqCst);
        let is_active = judges || core.machine.asks() || !core.requests.is_empty();
        self.is_active.store(is_active, Ordering::SeqCst);
    }

    /// Shows a tensor to the judge.
    pub(crate) fn tensor(
        &self,
        step: i64,
        name: &str,
        summary: &TensorSummary,
        tolerance: Tolerance,
    ) {
        if self.is_judging() {
            self.judge().tensor(step, name, summary, tolerance);
        }
    }

    /// Shows scalars to the judge.
    #[inline]
    pub(crate) fn scalars(&self, step: i64, values: &[(&str, f64)]) {
        if self.is_judging() {
            let mut judge = self.judge();
            for (tag, value) in values {
                judge.scalar(step, tag, *value);
            }
        }
    }

    /// Figures that the judge needs of a tensor.
    pub(crate) fn needs(&self, name: &str, role: Role) -> Option<Needs> {
        self.is_judging()
            .then(|| self.judge().needs(name, role).clone())
    }

    /// Records a sentence in the notes of the run.
    pub(crate) fn note(&self, text: String) {
        let shared = &self.shared;
        let step = shared.step.load(Ordering::Relaxed);
        let payload = Payload::Text(notes::TAG.to_owned(), notes::text(text));
        shared.push_record(shared.moment(step), payload);
    }

    /// An attach file that was not used yet. Looks for it at most once a second.
    pub(crate) fn attach_file(&self) -> Option<AttachFile> {
        let mut watch = self.attach.lock().unwrap_or_else(PoisonError::into_inner);
        if watch
            .looked
            .is_some_and(|at| at.elapsed() < ATTACH_INTERVAL)
        {
            return None;
        }
        watch.looked = Some(Instant::now());
        let found = attach::read(&watch.path).filter(|file| file.asked_secs > watch.asked_secs)?;
        watch.asked_secs = found.asked_secs;
        Some(found)
    }

    /// Level until a server sets another.
    pub(crate) fn own_level(&self) -> PauseLevel {
        self.settings.level()
    }
}
