//! A run that is judged while it grows: what was judged stays, and only what is new is read.
//!
//! What comes out is what [`judge`](super::judge::judge) says of the same files. Where going on could end otherwise (a
//! file was replaced, a dump was written again, two writers share a tensor) the run has to be judged anew.

use std::hash::{Hash as _, Hasher as _};
use std::time::{Duration, Instant, SystemTime};

use rustc_hash::{FxHashMap, FxHasher};
use trainscope_analysis::watchpoint::Watchpoints;

use super::events::{EventFile, Growth};
use super::find::{FoundRun, TensorSource};
use super::judge::{JudgedRun, Judging};

/// A dump that was written so lately may not be whole, unless the training has gone on to the next one.
const SETTLED: Duration = Duration::from_secs(1);

/// A run that is being judged.
pub(crate) struct Ongoing {
    judging: Judging,
    /// Of which files the tensors that were shown are, by rank and step.
    shown: FxHashMap<(u32, i64), u64>,
    newest_step: Option<i64>,
    beside: u64,
    /// Whether something was left for later.
    is_waiting: bool,
}

impl Ongoing {
    /// Judges all there is.
    pub(crate) fn begin(
        run: &FoundRun,
        watchpoints: &Watchpoints,
        threads: usize,
        progress: &mut dyn FnMut(u64),
    ) -> (Self, JudgedRun) {
        let began = Instant::now();
        let mut ongoing = Self {
            judging: Judging::new(run, watchpoints.clone()),
            shown: FxHashMap::default(),
            newest_step: None,
            beside: beside(run),
            is_waiting: false,
        };
        ongoing.show(run, threads, progress);
        let judged = ongoing.judged(began);
        (ongoing, judged)
    }

    /// Whether a dump was left for later, because it may still be written.
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// How much is remembered: tensors at steps.
    pub(crate) fn weight(&self) -> usize {
        self.judging.weight()
    }

    /// Judges what is new among the files of the run; `None`: the run has to be judged anew.
    pub(crate) fn go_on(
        &mut self,
        run: &FoundRun,
        threads: usize,
        progress: &mut dyn FnMut(u64),
    ) -> Option<JudgedRun> {
        let began = Instant::now();
        let mut is_kept = 0;
        let mut is_new = false;
        for (&rank, found) in &run.ranks {
            for (&step, sources) in &found.steps {
                match self.shown.get(&(rank, step)) {
                    Some(&known) if known == hash_of(sources) => is_kept += 1,
                    Some(_) => return None,
                    None if self.newest_step.is_some_and(|newest| step <= newest) => return None,
                    None => is_new = true,
                }
            }
        }
        // One that was cut off as the last one of all was not still being written if there is a later one.
        let was_cut = is_new && !self.judging.judged.truncated.is_empty();
        if is_kept < self.shown.len() || self.beside != beside(run) || was_cut {
            return None;
        }
        let known = self.judging.events.len();
        let mut at = 0;
        for (&rank, found) in &run.ranks {
            for source in &found.events {
                let own = self.judging.events[..known]
                    .iter()
                    .position(|file| file.path() == source.path);
                match own {
                    Some(_) => at += 1,
                    None => self.judging.events.push(EventFile::open(source, rank)),
                }
            }
        }
        if at < known {
            return None;
        }
        self.have_grown()?;
        self.judging.judged.files = run.files;
        self.judging.judged.len_bytes = run.len_bytes;
        self.judging.judged.ranks = run.ranks.len() as u64;
        self.show(run, threads, progress);
        (!self.is_muddled()).then(|| self.judged(began))
    }

    /// Judges what event files have grown by: `Ok(None)` if none has, `Err` if the run has to be judged anew.
    pub(crate) fn follow(&mut self) -> Result<Option<JudgedRun>, Anew> {
        let began = Instant::now();
        if !self.have_grown().ok_or(Anew)? {
            return Ok(None);
        }
        self.judging.advance(i64::MAX, &mut |_| {});
        if self.is_muddled() {
            return Err(Anew);
        }
        Ok(Some(self.judged(began)))
    }

    /// Whether event files have grown; `None` if one is not what it was.
    fn have_grown(&mut self) -> Option<bool> {
        let mut is_grown = false;
        for file in &mut self.judging.events {
            match file.look() {
                Growth::Same => {}
                Growth::Grown => is_grown = true,
                Growth::Other => return None,
            }
        }
        Some(is_grown)
    }

    fn show(&mut self, run: &FoundRun, threads: usize, progress: &mut dyn FnMut(u64)) {
        let waits_from = waits_from(run);
        self.is_waiting = waits_from.is_some();
        let shown = &self.shown;
        let is_wanted = |rank, step| {
            waits_from.is_none_or(|waiting| step < waiting) && !shown.contains_key(&(rank, step))
        };
        self.judging.show(run, is_wanted, threads, progress);
        for (&rank, found) in &run.ranks {
            for (&step, sources) in &found.steps {
                if waits_from.is_none_or(|waiting| step < waiting) {
                    self.shown.insert((rank, step), hash_of(sources));
                    self.newest_step = self.newest_step.max(Some(step));
                }
            }
        }
    }

    /// Whether what was shown last should have been shown before something else: statistics of an event file come before
    /// those of the files after it.
    fn is_muddled(&self) -> bool {
        let mut before: FxHashMap<u32, &EventFile> = FxHashMap::default();
        let mut files = self
            .judging
            .events
            .iter()
            .filter(|file| file.has_statistics());
        let is_late = files.any(|file| {
            let last = before.insert(file.rank(), file);
            last.is_some_and(|last| last.is_grown() || last.path() > file.path())
        });
        is_late || self.judging.is_disordered
    }

    fn judged(&self, began: Instant) -> JudgedRun {
        let mut judged = self.judging.judged();
        judged.took = began.elapsed();
        judged
    }
}

/// The run has to be judged anew.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Anew;

/// The first step whose dump may still be written: the last one of its rank, if it is fresh.
fn waits_from(run: &FoundRun) -> Option<i64> {
    let fresh = SystemTime::now().checked_sub(SETTLED)?;
    let lasts = run
        .ranks
        .values()
        .filter_map(|found| found.steps.last_key_value());
    let waiting = lasts.filter(|(_, sources)| sources.iter().any(|s| s.stamp.modified > fresh));
    waiting.map(|(&step, _)| step).min()
}

/// The same as long as none of the files has changed.
fn hash_of(sources: &[TensorSource]) -> u64 {
    let mut hasher = FxHasher::default();
    for source in sources {
        (&source.path, source.stamp).hash(&mut hasher);
    }
    hasher.finish()
}

/// What stands beside dumps: it is read once.
fn beside(run: &FoundRun) -> u64 {
    let mut hasher = FxHasher::default();
    for (rank, found) in &run.ranks {
        for path in found.dump.orders.values().chain(found.dump.graphs.values()) {
            let modified = path
                .metadata()
                .and_then(|metadata| metadata.modified())
                .ok();
            (rank, path, modified).hash(&mut hasher);
        }
    }
    hasher.finish()
}
