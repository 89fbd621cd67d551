//! The thread that judges: order and pace of judgements, and evaluators that are kept for growing runs.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use parking_lot::RwLock;
use trainscope_analysis::watchpoint::Watchpoints;
use trainscope_api::watchpoints::Origin;

use super::judge::Judgement;
use super::ongoing::Ongoing;
use super::shared::SharedFiles;
use super::state::{JudgedRun, ReadProgress, State};
use crate::discovery::base::Base;
use crate::discovery::runs::RunFiles;
use crate::index::Index;
use crate::ingest::Walks;
use crate::pulse::{self, Heart};

/// Delay after a change, to collect further ones.
const SETTLE: Duration = Duration::from_millis(50);
/// Interval of looks at walks without a notice: dumps are not part of the index and cause none.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
/// Scan interval while an incomplete file is waiting.
const SHORT_INTERVAL: Duration = Duration::from_millis(500);
/// Minimum time between two judgements, as a multiple of the last one's duration.
const PAUSE_SHARE: u32 = 3;
/// Interval of progress notices to pages.
const TELL_INTERVAL: Duration = Duration::from_millis(200);
/// Maximum number of growing runs with an evaluator in memory.
const MAX_KEPT: usize = 8;
/// Maximum number of tensors at steps in all these evaluators: some 400 MB.
const MAX_WEIGHT: usize = 2_000_000;

/// Work for the thread.
pub(super) enum Request {
    /// Runs that have new points.
    Growth(Vec<String>),
    /// A run to judge from its first record.
    Restart(String),
    /// The watchpoints have changed.
    Watchpoints,
}

/// A judgement.
pub struct NewJudgement<'a> {
    /// The name of the run.
    pub run: &'a str,
    /// The judgement.
    pub now: &'a JudgedRun,
    /// True for files that existed when the server started.
    pub is_from_before: bool,
    /// True if the previous judgement had other watchpoints.
    pub is_watched_otherwise: bool,
}

pub(super) struct Scheduler<F> {
    state: Arc<RwLock<State>>,
    index: Index,
    shared: SharedFiles,
    walks: Walks,
    on_judged: F,
    heart: Heart,
    threads: usize,
    /// Growing runs, the most recent one last.
    kept: VecDeque<(String, Ongoing)>,
    /// True if all runs were looked at once.
    has_looked: bool,
    /// Runs to judge from their first record.
    anew: BTreeSet<String>,
    grown: BTreeSet<String>,
    /// Time of the last request or growth that needs a walk after it.
    walk_since: Option<Instant>,
}

/// Watchpoints of a run, and their origin.
struct WatchpointChoice {
    watchpoints: Watchpoints,
    file: Option<PathBuf>,
    problem: Option<String>,
    version: u64,
}

impl<F: FnMut(&NewJudgement<'_>)> Scheduler<F> {
    pub(super) fn new(
        state: &Arc<RwLock<State>>,
        index: &Index,
        shared: SharedFiles,
        walks: Walks,
        on_judged: F,
        heart: Heart,
    ) -> Self {
        Self {
            state: Arc::clone(state),
            index: index.clone(),
            shared,
            walks,
            on_judged,
            heart,
            threads: std::thread::available_parallelism().map_or(1, |n| n.get().div_ceil(2)),
            kept: VecDeque::new(),
            has_looked: false,
            anew: BTreeSet::new(),
            grown: BTreeSet::new(),
            walk_since: None,
        }
    }

    pub(super) fn run(mut self, requests: &Receiver<Request>) {
        let mut next_look = Instant::now();
        loop {
            self.heart.beat();
            let wait = if self.grown.is_empty() {
                next_look.saturating_duration_since(Instant::now())
            } else {
                // Something grew during the pause.
                Duration::ZERO
            };
            match requests.recv_timeout(wait) {
                Ok(request) => {
                    next_look = self.note(request, next_look);
                    std::thread::sleep(SETTLE);
                    while let Ok(request) = requests.try_recv() {
                        next_look = self.note(request, next_look);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            // Reading has priority. With grown runs the wait above is none.
            if !self.index.ingest().idle {
                std::thread::sleep(SETTLE);
                next_look = next_look.max(Instant::now());
                continue;
            }
            let began = Instant::now();
            if !self.follow() {
                next_look = began;
                self.walk_since = Some(began);
            }
            if next_look <= began {
                let is_waiting = self.look();
                self.has_looked |= is_waiting.is_some();
                next_look = Instant::now()
                    + if is_waiting.unwrap_or(!self.has_looked) {
                        self.walk_since = Some(Instant::now());
                        SHORT_INTERVAL
                    } else {
                        LOOK_INTERVAL
                    };
            }
            let rested = Instant::now() + began.elapsed() * PAUSE_SHARE;
            if !self.rest(requests, rested, &mut next_look) {
                return;
            }
        }
    }

    /// Waits until then, or until a user requests something; `false` at the end of the server.
    fn rest(
        &mut self,
        requests: &Receiver<Request>,
        until: Instant,
        next_look: &mut Instant,
    ) -> bool {
        loop {
            self.heart.beat();
            let rest = until.saturating_duration_since(Instant::now());
            match requests.recv_timeout(rest.min(pulse::REST)) {
                Ok(request) => {
                    let is_growth = matches!(request, Request::Growth(_));
                    *next_look = self.note(request, *next_look);
                    if !is_growth {
                        return true;
                    }
                }
                Err(RecvTimeoutError::Timeout) if rest > pulse::REST => {}
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    fn note(&mut self, request: Request, next_look: Instant) -> Instant {
        match request {
            Request::Growth(runs) => {
                self.grown.extend(runs);
                return next_look;
            }
            Request::Restart(run) => drop(self.anew.insert(run)),
            Request::Watchpoints => {}
        }
        let now = Instant::now();
        self.walk_since = Some(now);
        now
    }

    /// Resumes runs whose event files alone have grown; `false` if one of them needs a scan of its folder.
    fn follow(&mut self) -> bool {
        let mut is_enough = true;
        for run in std::mem::take(&mut self.grown) {
            let known = self.state.read();
            let name = known.judged_as(&run).unwrap_or(&run).to_owned();
            let changes = known.changes.get(&name).copied().unwrap_or(0);
            let before = known.runs.get(&name).cloned();
            drop(known);
            let at = self.kept.iter().position(|(kept, _)| *kept == name);
            let (Some(at), Some(before)) = (at, before) else {
                is_enough = false;
                continue;
            };
            let Some((_, mut ongoing)) = self.kept.remove(at) else {
                continue;
            };
            match ongoing.follow() {
                Ok(judged) => {
                    let is_waiting = ongoing.is_waiting();
                    self.kept.push_back((name.clone(), ongoing));
                    let Some(judged) = judged else {
                        // Most likely a new file.
                        is_enough = false;
                        continue;
                    };
                    let judged = JudgedRun {
                        watchpoints_file: before.watchpoints_file.clone(),
                        watchpoints_problem: before.watchpoints_problem.clone(),
                        // Files were not scanned: the next scan resumes here.
                        ..JudgedRun::of(judged, (0, before.signature.1), changes, is_waiting)
                    };
                    self.keep(&name, judged, Some(&before));
                }
                Err(_) => is_enough = false,
            }
        }
        is_enough
    }

    /// Judges the runs that have changed since the last walk; true if an incomplete file is waiting. `None` if no folder
    /// was walked since.
    fn look(&mut self) -> Option<bool> {
        let mut known = self.state.write();
        for (_, file) in &mut known.files {
            file.look();
        }
        drop(known);
        let walk = self.walks.next(self.walk_since.take())?;
        let mut is_waiting = false;
        for (base, runs) in &walk.scan.runs {
            for run in runs {
                is_waiting |= self.look_at(base, run, walk.seq);
                // Runs that grow meanwhile do not wait for all others.
                self.follow();
            }
            self.drop_others(base, runs);
        }
        Some(is_waiting)
    }

    /// Drops the judgements of runs of a base directory that are gone.
    fn drop_others(&mut self, base: &Base, runs: &[Arc<RunFiles>]) {
        let names: BTreeSet<String> = runs.iter().map(|run| base.run_name(&run.name)).collect();
        let is_gone = |name: &str| base.run_below(name).is_some() && !names.contains(name);
        let mut known = self.state.write();
        known.runs.retain(|name, _| !is_gone(name));
        known.changes.retain(|name, _| !is_gone(name));
        known.progress.retain(|name, _| !is_gone(name));
        drop(known);
        self.kept.retain(|(name, _)| !is_gone(name));
    }

    /// Judges a run if it has changed; true if an incomplete file is waiting. `seq` is that of the walk: later changes may
    /// be missing in it.
    fn look_at(&mut self, base: &Base, run: &RunFiles, seq: u64) -> bool {
        let name = base.run_name(&run.name);
        let mut known = self.state.write();
        let changes = known.changes.get(&name).copied().unwrap_or(0).min(seq);
        let Some(watched) = watchpoints_of(&mut known, &name) else {
            return false;
        };
        let signature = (run.signature(), watched.version);
        let before = known.runs.get(&name).cloned();
        let is_anew = self.anew.remove(&name);
        let is_same = before
            .as_ref()
            .is_some_and(|before| before.signature == signature && !before.is_waiting && !is_anew);
        if let Some(before) = before.as_ref().filter(|_| is_same) {
            let is_told = before.watchpoints_problem == watched.problem
                && before.watchpoints_file == watched.file
                && before.changes >= changes;
            if !is_told {
                let told = JudgedRun {
                    changes,
                    watchpoints_file: watched.file,
                    watchpoints_problem: watched.problem,
                    ..JudgedRun::clone(before)
                };
                known.runs.insert(name, Arc::new(told));
                drop(known);
                self.index.notices().announce_runs();
            }
            return false;
        }
        drop(known);

        let at = self.kept.iter().position(|(kept, _)| *kept == name);
        let kept = at
            .and_then(|at| self.kept.remove(at))
            .map(|(_, ongoing)| ongoing);
        let is_same_watch = before
            .as_ref()
            .is_some_and(|judged| judged.signature.1 == watched.version);
        let gone_on = kept
            .filter(|_| is_same_watch && !is_anew)
            .and_then(|mut ongoing| {
                let judged = ongoing.resume(run, self.threads, &mut |_| self.heart.beat())?;
                Some((ongoing, judged))
            });
        let (ongoing, judged) = match gone_on {
            Some(gone_on) => gone_on,
            None => self.begin(&name, run, &watched.watchpoints),
        };
        let judged = JudgedRun {
            watchpoints_file: watched.file,
            watchpoints_problem: watched.problem,
            ..JudgedRun::of(judged, signature, changes, ongoing.is_waiting())
        };
        let is_waiting = judged.is_waiting;
        // A run that is judged again is growing, as is one that did not exist at the start.
        if before.is_some() || self.has_looked || is_waiting {
            self.kept.push_back((name.clone(), ongoing));
            self.forget();
        }
        self.keep(&name, judged, before.as_deref());
        is_waiting
    }

    /// Judges a run from its first record, with progress notices.
    fn begin(
        &mut self,
        name: &str,
        run: &RunFiles,
        watchpoints: &Watchpoints,
    ) -> (Ongoing, Judgement) {
        let reading = Arc::new(ReadProgress {
            total_bytes: run.len_bytes,
            ..ReadProgress::default()
        });
        let mut known = self.state.write();
        known.progress.insert(name.to_owned(), Arc::clone(&reading));
        drop(known);
        let mut told = Instant::now();
        let notices = self.index.notices();
        let result = Ongoing::begin(run, watchpoints, &self.shared, self.threads, &mut |bytes| {
            self.heart.beat();
            reading.done_bytes.fetch_add(bytes, Ordering::Relaxed);
            if told.elapsed() >= TELL_INTERVAL {
                told = Instant::now();
                notices.announce_runs();
            }
        });
        self.state.write().progress.remove(name);
        result
    }

    /// Drops evaluators above the limits.
    fn forget(&mut self) {
        let weights: Vec<usize> = self
            .kept
            .iter()
            .map(|(_, evaluator)| evaluator.weight())
            .collect();
        let mut weight: usize = weights.iter().sum();
        for dropped in weights {
            if self.kept.len() <= MAX_KEPT && weight <= MAX_WEIGHT {
                return;
            }
            weight -= dropped;
            self.kept.pop_front();
        }
    }

    /// Publishes a judgement and notifies.
    fn keep(&mut self, name: &str, judged: JudgedRun, before: Option<&JudgedRun>) {
        let judged = Arc::new(judged);
        let mut known = self.state.write();
        known.runs.insert(name.to_owned(), Arc::clone(&judged));
        drop(known);
        self.index.notices().announce_runs();
        (self.on_judged)(&NewJudgement {
            run: name,
            now: &judged,
            is_from_before: !self.has_looked && before.is_none(),
            is_watched_otherwise: before
                .is_some_and(|before| before.signature.1 != judged.signature.1),
        });
    }
}

/// Chooses the watchpoints of a run.
fn watchpoints_of(known: &mut State, run: &str) -> Option<WatchpointChoice> {
    let (file, name) = known.file_of(run)?;
    let (watchpoints, origin) = file.of(&name);
    Some(WatchpointChoice {
        watchpoints: watchpoints.clone(),
        file: (origin != Origin::Recommended).then(|| file.path().to_owned()),
        problem: file.problem().map(str::to_owned),
        version: file.version_of(&name),
    })
}
