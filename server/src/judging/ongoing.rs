//! A run that is judged while it grows: earlier results are kept, and only new data is read.
//!
//! The result equals that of [`judge`](super::judge::judge) for the same files. If continuing could give another result
//! (a file was replaced, a dump was written again, two writers share a tensor), the run has to be judged again.

use std::hash::{Hash as _, Hasher as _};
use std::time::{Duration, Instant, SystemTime};

use rustc_hash::{FxHashMap, FxHasher};
use trainscope_analysis::watchpoint::Watchpoints;

use super::events::{EventRecords, event_files};
use super::judge::{Judgement, Judging};
use super::shared::SharedFiles;
use crate::discovery::runs::{RunFiles, fingerprint};

/// Age below which a dump may be incomplete, unless the training has written the next one.
const SETTLED: Duration = Duration::from_secs(1);

/// A run being judged.
pub(crate) struct Ongoing {
    judging: Judging,
    shared: SharedFiles,
    /// Fingerprints of the evaluated tensor files, by rank and step.
    shown: FxHashMap<(u32, i64), u64>,
    /// The last evaluated step of each rank. Ranks do not wait for each other.
    newest: FxHashMap<u32, i64>,
    beside: u64,
    /// True if something was left for later.
    is_waiting: bool,
}

impl Ongoing {
    /// Judges all existing files.
    pub(crate) fn begin(
        run: &RunFiles,
        watchpoints: &Watchpoints,
        shared: &SharedFiles,
        threads: usize,
        progress: &mut dyn FnMut(u64),
    ) -> (Self, Judgement) {
        let began = Instant::now();
        let mut ongoing = Self {
            judging: Judging::new(run, watchpoints.clone(), Some(shared)),
            shared: shared.clone(),
            shown: FxHashMap::default(),
            newest: FxHashMap::default(),
            beside: beside(run),
            is_waiting: false,
        };
        ongoing.show(run, threads, progress);
        let judged = ongoing.judged(began);
        (ongoing, judged)
    }

    /// True if a dump was left for later, because it may still be written.
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// Size of the memory, in tensors at steps.
    pub(crate) fn weight(&self) -> usize {
        self.judging.weight()
    }

    /// Judges the new files of the run; `None` if it has to be judged again.
    pub(crate) fn resume(
        &mut self,
        run: &RunFiles,
        threads: usize,
        progress: &mut dyn FnMut(u64),
    ) -> Option<Judgement> {
        let began = Instant::now();
        let mut is_kept = 0;
        let mut is_new = false;
        for (&rank, found) in &run.ranks {
            for (&step, sources) in &found.steps {
                match self.shown.get(&(rank, step)) {
                    Some(&known) if known == fingerprint(sources) => is_kept += 1,
                    Some(_) => return None,
                    None if self.newest.get(&rank).is_some_and(|&newest| step <= newest) => {
                        return None;
                    }
                    None => is_new = true,
                }
            }
        }
        // A truncated file that was the last one is final if there is a later one.
        let was_cut = is_new && !self.judging.judged.truncated.is_empty();
        if is_kept < self.shown.len() || self.beside != beside(run) || was_cut {
            return None;
        }
        let known = self.judging.events.len();
        let mut at = 0;
        for (rank, is_beside, source) in event_files(run) {
            let is_it = |file: &&mut EventRecords| {
                *file.file.path == *source.path && file.is_beside == is_beside
            };
            if let Some(file) = self.judging.events[..known].iter_mut().find(is_it) {
                file.begin_round(Some(source));
                at += 1;
            } else {
                let file = EventRecords::new(source, rank, is_beside, Some(&self.shared.feeds));
                self.judging.events.push(file);
            }
        }
        // Tensors of dumps are remembered for event files that may hold the same ones.
        let is_first = known == 0 && !self.judging.events.is_empty() && !self.shown.is_empty();
        if at < known || is_first || self.is_replaced() {
            return None;
        }
        self.judging.judged.files = run.files;
        self.judging.judged.len_bytes = run.len_bytes;
        self.judging.judged.ranks = run.ranks.len() as u64;
        self.show(run, threads, progress);
        (!self.is_replaced() && !self.is_out_of_order()).then(|| self.judged(began))
    }

    /// Judges the growth of event files: `Ok(None)` without growth, `Err` if the run has to be judged again.
    pub(crate) fn follow(&mut self) -> Result<Option<Judgement>, RestartNeeded> {
        let began = Instant::now();
        for file in &mut self.judging.events {
            file.begin_round(None);
        }
        self.judging.advance(i64::MAX, &mut |_| {});
        if self.is_replaced() || self.is_out_of_order() {
            return Err(RestartNeeded);
        }
        let is_grown = self.judging.events.iter().any(EventRecords::is_grown);
        Ok(is_grown.then(|| self.judged(began)))
    }

    /// True if an event file was replaced or truncated.
    fn is_replaced(&self) -> bool {
        let mut files = self.judging.events.iter();
        files.any(|file| file.file.is_replaced)
    }

    fn show(&mut self, run: &RunFiles, threads: usize, progress: &mut dyn FnMut(u64)) {
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
                    self.shown.insert((rank, step), fingerprint(sources));
                    let newest = self.newest.entry(rank).or_insert(step);
                    *newest = step.max(*newest);
                }
            }
        }
    }

    /// True if the last records should have come before earlier ones: statistics of an event file come before
    /// those of the files after it.
    fn is_out_of_order(&self) -> bool {
        let mut before: FxHashMap<u32, &EventRecords> = FxHashMap::default();
        let mut files = self
            .judging
            .events
            .iter()
            .filter(|file| file.has_statistics);
        let is_late = files.any(|file| {
            let last = before.insert(file.rank, file);
            last.is_some_and(|last| last.is_grown() || last.file.path > file.file.path)
        });
        is_late || self.judging.is_disordered()
    }

    fn judged(&self, began: Instant) -> Judgement {
        let mut judged = self.judging.judged();
        judged.surroundings = self.judging.surroundings();
        judged.took = began.elapsed();
        judged
    }
}

/// Error if the run has to be judged again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RestartNeeded;

/// The first step whose dump may still be written: the last one of its rank, if it is recent.
fn waits_from(run: &RunFiles) -> Option<i64> {
    let fresh = SystemTime::now().checked_sub(SETTLED)?;
    let lasts = run
        .ranks
        .values()
        .filter_map(|found| found.steps.last_key_value());
    let waiting = lasts.filter(|(_, sources)| sources.iter().any(|s| s.stamp.modified > fresh));
    waiting.map(|(&step, _)| step).min()
}

/// Fingerprint of tables and graphs next to dumps, which are read once.
fn beside(run: &RunFiles) -> u64 {
    let mut hasher = FxHasher::default();
    for (rank, found) in &run.ranks {
        (rank, &found.dump.orders, &found.dump.graphs).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests;
