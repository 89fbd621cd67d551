//! The gate: a place where a rank may wait.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use trainscope_format::session::{
    Gate, GateReport, ItemList, MAX_HITS, Place, SessionHit, ToServer,
};

use crate::collector::Collector;
use crate::hook::TensorSource;
use crate::live::core::{Core, Outcome, Request};
use crate::live::hits;
use crate::live::machine::{Event, Phase, Target};
use crate::live::pace::StopReport;
use crate::live::probe::{Filter, Probe};
use crate::live::settings::{AtHit, Flow};
use crate::live::state::LiveState;
use crate::live::terminal::{self, FirstHit};
use crate::step::StepRecorder;

/// Interval at which a waiting rank runs the check of its caller.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(100);
/// Number of steps, after a value that is not finite, in which every tensor is examined.
const CLOSE_STEPS: i64 = 3;

/// Maximum number of nodes: models have a few thousand layers.
const MAX_NODES: usize = 1 << 16;

impl Collector {
    /// Passes a gate: judges the records so far, and waits if a connected server or a person requests it. Every wait
    /// has a limit. While it waits, the server may ask for elements of `tensors`.
    ///
    /// Without a connection and with [`AtHit::Record`] it takes a few nanoseconds.
    #[inline]
    pub fn gate(&self, step: i64, place: Place, tensors: &dyn TensorSource) -> Flow {
        self.gate_with(step, place, tensors, &mut || false)
    }

    /// Like [`Self::gate`]; while it waits, `is_interrupted` is called every 100 ms, and ends the wait with
    /// [`Flow::Interrupted`] if it returns `true`.
    #[inline]
    pub fn gate_with(
        &self,
        step: i64,
        place: Place,
        tensors: &dyn TensorSource,
        is_interrupted: &mut dyn FnMut() -> bool,
    ) -> Flow {
        let shared = self.shared();
        if !shared.is_ours() {
            return Flow::Continue;
        }
        let live = self.live();
        live.pass(step, &place);
        if !live.is_active() {
            return Flow::Continue;
        }
        Passage {
            collector: self,
            live,
            at: Gate::new(step, place),
            tensors,
        }
        .run(is_interrupted)
    }

    /// `true` if a gate may make the training wait or end: it is connected, attached, or a hit stops it.
    pub fn has_gates(&self) -> bool {
        self.shared().is_ours() && self.live().is_active()
    }

    /// Address of the server of the live session, even if it does not answer; `None` without one, after it has refused,
    /// and after the end of the recording.
    pub fn server(&self) -> Option<String> {
        if !self.shared().is_ours() {
            return None;
        }
        let core = self.live().core();
        let has_server = core.machine.phase != Phase::Off;
        core.address.clone().filter(|_| has_server)
    }

    /// Notes a gate that the program leaves out because [`Self::has_gates`] is `false`, so that a server that connects
    /// knows where the training is.
    #[inline]
    pub fn skip_gate(&self, step: i64, place: &Place) {
        if self.shared().is_ours() {
            self.live().pass(step, place);
        }
    }

    /// `true` if a hit has ended the training; `false` if a person has, or if it continues.
    pub fn is_stopped_by_hit(&self) -> bool {
        self.live().is_stopped_by_hit.load(Ordering::Relaxed)
    }

    /// `true` if a gate since the last call has seen a hit of sufficient severity, unless [`AtHit::Record`].
    pub fn takes_hit(&self) -> bool {
        self.live().has_hit.swap(false, Ordering::Relaxed)
    }

    /// `true` after a gate has ended the training.
    pub fn wants_stop(&self) -> bool {
        self.live().stop.load(Ordering::Relaxed)
    }

    /// Declares nodes: layers after whose forward pass the program has a gate [`Place::Node`] of this name while
    /// [`Self::target_node`] is the name. Names beyond 65,536 are ignored.
    pub fn nodes<I>(&self, names: I)
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        let mut nodes = self.live().nodes();
        let mut known: HashSet<String> = nodes.iter().cloned().collect();
        for name in names {
            if nodes.len() >= MAX_NODES {
                break;
            }
            let name = name.into();
            if known.insert(name.clone()) {
                nodes.push(name);
            }
        }
    }

    /// The node at which a server wants this rank to ask, if any; at other nodes a gate lets it go on.
    pub fn target_node(&self) -> Option<String> {
        if !self.has_gates() || !self.live().has_target_node() {
            return None;
        }
        match &self.live().core().machine.target {
            Some(Target::Node(name)) => Some(name.clone()),
            _ => None,
        }
    }

    /// Patterns of the activations that a person wants to see, for [`matches_pattern`]. A program that asks keeps
    /// references to them from the forward pass until the gate, and shows them there.
    pub fn keep_patterns(&self) -> Vec<String> {
        if !self.shared().is_ours() {
            return Vec::new();
        }
        let live = self.live();
        live.can_keep.store(true, Ordering::Relaxed);
        live.keep()
    }

    /// Sets the number of steps of the whole training, for the page and for the time that a stop saves.
    pub fn total_steps(&self, steps: i64) {
        self.live().total_steps.store(steps, Ordering::Relaxed);
    }
}

/// `true` if a name matches a pattern with `*` and `?`, or contains a text without them.
pub fn matches_pattern(pattern: &str, name: &str) -> bool {
    Filter::of(pattern).matches(name)
}

/// One gate.
struct Passage<'a> {
    collector: &'a Collector,
    live: &'a LiveState,
    at: Gate,
    tensors: &'a dyn TensorSource,
}

impl<'a> Passage<'a> {
    fn run(self, is_interrupted: &mut dyn FnMut() -> bool) -> Flow {
        let live = self.live;
        let begun = Instant::now();
        live.pace().pass(&self.at.place);
        let hits = if live.is_judging() {
            self.judge()
        } else {
            Vec::new()
        };
        let is_stop = |hit: &&SessionHit| {
            live.settings.at_hit == AtHit::Stop && hit.severity >= live.settings.severity
        };
        if hits
            .iter()
            .any(|hit| hit.severity >= live.settings.severity)
        {
            live.has_hit.store(true, Ordering::Relaxed);
        }
        let stopping = FirstHit::of(hits.iter().filter(is_stop));
        let stops = stopping.is_some();
        hits::write(&live.shared, &hits, live.shared.patience);
        self.answer_one();
        let mut core = live.core();
        let mut all = std::mem::take(&mut core.unreported);
        all.extend(hits);
        let hits = all;
        let pausing = FirstHit::of(hits.iter().filter(|hit| hit.pauses));
        let pauses = pausing.is_some();
        let hits_total = hits.len() as u64;
        core.report = Some(GateReport {
            at: self.at.clone(),
            hits: hits.into_iter().take(MAX_HITS).collect(),
            hits_total,
            is_target: false,
            stops,
        });
        core.outcome = None;
        core.last_note = None;
        core.step = self.at.step;
        let is_target = core.machine.will_be_target(&self.at);
        if let Some(report) = &mut core.report {
            report.is_target = is_target;
        }
        core.apply(Event::Gate {
            at: self.at.clone(),
            pauses,
            stops,
        });
        if core.machine.phase == Phase::Running
            && let Some(report) = core.report.take()
        {
            // A rank of several that is not armed yet: the hit holds all at a later gate.
            core.unreported = report.hits;
        }
        live.publish(&core);
        let outcome = self.wait(core, pausing.as_ref(), is_interrupted);
        match outcome {
            Outcome::GoOn => Flow::Continue,
            Outcome::Raise => Flow::Interrupted,
            Outcome::Stop => {
                let core = live.core();
                let (is_by_hit, note) = (stops || core.is_stopped_by_hit, core.last_note);
                drop(core);
                live.is_stopped_by_hit.store(is_by_hit, Ordering::Relaxed);
                let is_first = !live.stop.swap(true, Ordering::Relaxed);
                if is_first && (stops || self.speaks()) {
                    let hit = stopping.as_ref();
                    terminal::say(&terminal::ends(&self.at, hit, is_by_hit, note));
                }
                self.report_stop(begun);
                Flow::Stop
            }
        }
    }

    /// `true` on the rank that speaks for all: they wait together.
    fn speaks(&self) -> bool {
        self.live.identity.rank == 0
    }

    fn report_stop(&self, begun: Instant) {
        let live = self.live;
        let Some(path) = &live.settings.stop_report else {
            return;
        };
        StopReport {
            step: self.at.step,
            total_steps: live.total_steps(),
            step_secs: live.pace().step_secs(),
            found_after_secs: begun.elapsed().as_secs_f64(),
        }
        .write(path);
    }

    /// Waits until the machine leaves the gate. `hit` is the first that pauses, for the message in the terminal.
    fn wait(
        &self,
        mut core: MutexGuard<'a, Core>,
        hit: Option<&FirstHit>,
        is_interrupted: &mut dyn FnMut() -> bool,
    ) -> Outcome {
        let live = self.live;
        let mut told = Phase::Running;
        loop {
            if let Some(outcome) = core.outcome.take() {
                let has_waited = matches!(told, Phase::Held(_) | Phase::LostHeld(_));
                if let (Outcome::GoOn, true, Some(note)) = (outcome, has_waited, core.last_note) {
                    terminal::say(&terminal::goes_on(&self.at, note));
                }
                live.publish(&core);
                return outcome;
            }
            if self.speaks() && told != core.machine.phase {
                tell(&core, &told, hit);
                told = core.machine.phase.clone();
            }
            let is_held = matches!(core.machine.phase, Phase::Held(_) | Phase::LostHeld(_));
            if is_held && let Some(request) = core.requests.pop_front() {
                drop(core);
                self.answer(request);
                core = live.core();
                continue;
            }
            core.expire();
            if core.outcome.is_some() {
                continue;
            }
            let Some((deadline, _)) = core.next_deadline() else {
                // Every wait has a timer; a wait without one is not allowed.
                live.publish(&core);
                return Outcome::GoOn;
            };
            let rest = deadline.saturating_duration_since(Instant::now());
            let waited = live
                .changed
                .wait_timeout(core, rest.min(INTERRUPT_INTERVAL));
            core = waited.unwrap_or_else(PoisonError::into_inner).0;
            if core.outcome.is_none() {
                drop(core);
                let is_over = is_interrupted();
                core = live.core();
                if is_over {
                    core.apply(Event::Signal);
                }
            }
        }
    }

    /// Hits since the last gate, after a closer look if a value is not finite.
    fn judge(&self) -> Vec<SessionHit> {
        let live = self.live;
        let step = self.at.step;
        let is_named = matches!(live.settings.at_hit, AtHit::Stop | AtHit::Capsule);
        let at_least = is_named.then_some(live.settings.severity);
        let mut hits = live.judge().hits(step, at_least);
        if !live.judge().has_tensors_of(step) {
            let is_finite = self.gradients_are_finite() && hits.is_empty();
            if !is_finite {
                // This step, before the update, and every tensor of the steps that follow.
                let mut recorder = StepRecorder::closely(self.collector, step);
                self.tensors.show(&mut recorder);
                drop(recorder);
                self.live.look_until(step.saturating_add(CLOSE_STEPS));
                hits.extend(live.judge().hits(step, at_least));
            }
        }
        hits
    }

    fn gradients_are_finite(&self) -> bool {
        if let Some(is_finite) = self.tensors.gradients_are_finite() {
            return is_finite;
        }
        let probe = Probe::Sentinel { is_finite: true };
        match self.probe(probe) {
            Some(Probe::Sentinel { is_finite }) => is_finite,
            _ => true,
        }
    }

    fn probe(&self, probe: Probe) -> Option<Probe> {
        let mut recorder = StepRecorder::probing(self.collector, self.at.step, probe);
        self.tensors.show(&mut recorder);
        recorder.take_probe()
    }

    /// Answers a request that came while the training was running.
    fn answer_one(&self) {
        let request = self.live.core().requests.pop_front();
        if let Some(request) = request {
            self.answer(request);
        }
    }

    fn answer(&self, request: Request) {
        let live = self.live;
        match request {
            Request::List {
                id,
                pattern,
                offset,
            } => {
                let probe = self.probe(Probe::list(&pattern, offset));
                if let Some(Probe::List { items, is_cut, .. }) = probe {
                    let cut = is_cut;
                    let list = ItemList { id, items, cut };
                    live.core().send(&ToServer::Tensors(list));
                }
            }
            Request::Read { id, tensor, slice } => {
                let probe = self.probe(Probe::read(id, self.at.step, tensor, slice));
                let Some(Probe::Read { answer, .. }) = probe else {
                    return;
                };
                let mut core = live.core();
                match answer {
                    Ok((head, bytes)) => {
                        core.send(&ToServer::Slice(head));
                        core.send_binary(bytes);
                    }
                    Err((reason, message)) => core.send(&ToServer::Failed {
                        id,
                        code: reason,
                        message,
                    }),
                }
            }
        }
    }
}

/// Prints the outcome of a wait since `before`.
fn tell(core: &Core, before: &Phase, hit: Option<&FirstHit>) {
    let machine = &core.machine;
    let line = match (before, &machine.phase) {
        (Phase::Held(_), Phase::LostHeld(_)) => {
            terminal::is_lost(machine.limits.grace, machine.settings.stops_if_lost)
        }
        // The server is back, or has connected for the first time.
        (Phase::LostHeld(_), Phase::Held(_)) => return,
        (_, Phase::Held(hold) | Phase::LostHeld(hold)) => {
            let rest = core.rest_of_hold().unwrap_or_default();
            terminal::waits(hold, hit, core.address.as_deref(), rest)
        }
        _ => return,
    };
    terminal::say(&line);
}
