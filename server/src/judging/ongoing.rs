//! A run that is judged while it grows: what was judged stays, and only what is new is read.
//!
//! The result equals that of [`judge`](super::judge::judge) for the same files. Where going on could end otherwise (a
//! file was replaced, a dump was written again, two writers share a tensor) the run has to be judged anew.

use std::hash::{Hash as _, Hasher as _};
use std::time::{Duration, Instant, SystemTime};

use rustc_hash::{FxHashMap, FxHasher};
use trainscope_analysis::watchpoint::Watchpoints;

use super::events::EventRecords;
use super::judge::{Judgement, Judging, event_files};
use crate::discovery::runs::{RunFiles, fingerprint};

/// Age below which a dump may be incomplete, unless the training has written the next one.
const SETTLED: Duration = Duration::from_secs(1);

/// A run being judged.
pub(crate) struct Ongoing {
    judging: Judging,
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
        threads: usize,
        progress: &mut dyn FnMut(u64),
    ) -> (Self, Judgement) {
        let began = Instant::now();
        let mut ongoing = Self {
            judging: Judging::new(run, watchpoints.clone()),
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
                **file.file().path() == *source.path && file.is_beside() == is_beside
            };
            if let Some(file) = self.judging.events[..known].iter_mut().find(is_it) {
                file.begin_round(Some(source));
                at += 1;
            } else {
                let file = EventRecords::new(source, rank, is_beside);
                self.judging.events.push(file);
            }
        }
        if at < known || self.is_replaced() {
            return None;
        }
        self.judging.judged.files = run.files;
        self.judging.judged.len_bytes = run.len_bytes;
        self.judging.judged.ranks = run.ranks.len() as u64;
        self.show(run, threads, progress);
        (!self.is_replaced() && !self.is_out_of_order()).then(|| self.judged(began))
    }

    /// Judges the growth of event files: `Ok(None)` if there is none, `Err` if the run has to be judged again.
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
        files.any(|file| file.file().is_replaced())
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
            .filter(|file| file.has_statistics());
        let is_late = files.any(|file| {
            let last = before.insert(file.rank(), file);
            last.is_some_and(|last| last.is_grown() || last.file().path() > file.file().path())
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

/// Fingerprint of tables and graphs beside dumps, which are read once.
fn beside(run: &RunFiles) -> u64 {
    let mut hasher = FxHasher::default();
    for (rank, found) in &run.ranks {
        (rank, &found.dump.orders, &found.dump.graphs).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write as _;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::discovery::find::find;
    use crate::judging::judge::judge;

    /// Files below a folder, relative to it, in order.
    fn files(folder: &Path) -> Vec<PathBuf> {
        let mut folders = vec![folder.to_owned()];
        let mut files = Vec::new();
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_none_or(|extension| extension != "toml") {
                    files.push(path.strip_prefix(folder).unwrap().to_owned());
                }
            }
        }
        // Step 45 before step 100.
        files.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
        files
    }

    /// Lets a sample run grow in six parts; returns the number of times it had to be judged again.
    fn grow(sample: &str) -> usize {
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../sample-runs")
            .join(sample);
        let to = tempfile::tempdir().unwrap();
        let all = files(&from);
        let is_stream = |path: &Path| path.to_string_lossy().contains("tfevents");
        let whole: Vec<&PathBuf> = all.iter().filter(|path| !is_stream(path)).collect();
        let watchpoints = Watchpoints::recommended();
        let mut ongoing: Option<Ongoing> = None;
        let mut anew = 0;
        for part in 1..=6 {
            for path in &all {
                let bytes = fs::read(from.join(path)).unwrap();
                let target = to.path().join(path);
                let upto = if is_stream(path) {
                    bytes.len() * part / 6
                } else {
                    let place = whole.iter().position(|own| *own == path).unwrap();
                    if place * 6 >= whole.len() * part {
                        continue;
                    }
                    bytes.len()
                };
                fs::create_dir_all(target.parent().unwrap()).unwrap();
                let has =
                    fs::metadata(&target).map_or(0, |own| usize::try_from(own.len()).unwrap());
                if has < upto {
                    let mut file = File::options()
                        .create(true)
                        .append(true)
                        .open(&target)
                        .unwrap();
                    file.write_all(&bytes[has..upto]).unwrap();
                    // Long ago, so that no file counts as incomplete.
                    let then =
                        SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + part as u64);
                    file.set_modified(then).unwrap();
                }
            }
            let run = find(to.path(), 1).unwrap().runs.remove(0);
            let gone_on = ongoing
                .as_mut()
                .and_then(|own| own.resume(&run, 1, &mut |_| {}));
            let seen = gone_on.unwrap_or_else(|| {
                let (made, judged) = Ongoing::begin(&run, &watchpoints, 1, &mut |_| {});
                anew += usize::from(ongoing.is_some());
                ongoing = Some(made);
                judged
            });
            let expected = judge(&run, &watchpoints, 1, |_| {});
            assert_eq!(seen.findings, expected.findings, "{sample}, part {part}");
            assert_eq!(seen.damaged, expected.damaged, "{sample}, part {part}");
            assert_eq!(seen.truncated, expected.truncated, "{sample}, part {part}");
            assert!(part < 6 || seen.findings.judged.steps > 0);
        }
        anew
    }

    #[test]
    fn what_is_judged_in_parts_is_what_is_judged_at_once() {
        for sample in ["mlp/overflow", "mlp/vanishing", "torch/run1", "candle"] {
            assert_eq!(grow(sample), 0, "{sample}");
        }
        // Ranks that grow apart.
        assert!(grow("mlp/diverging") < 2);
        // Two files of one training, written at the same time: judged again instead of resumed.
        grow("mlp/restarted");
        grow("mlp/torn");
    }

    #[test]
    fn a_dump_that_may_still_be_written_waits_and_one_written_again_begins_anew() {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-runs/mlp/overflow");
        let to = tempfile::tempdir().unwrap();
        let all = files(&from);
        for path in &all {
            let target = to.path().join(path);
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::copy(from.join(path), &target).unwrap();
        }
        let look = || find(to.path(), 1).unwrap().runs.remove(0);
        let watchpoints = Watchpoints::recommended();
        let (mut ongoing, _) = Ongoing::begin(&look(), &watchpoints, 1, &mut |_| {});
        assert!(ongoing.is_waiting());
        let dump = all
            .iter()
            .find(|path| path.ends_with("step_100.safetensors"))
            .unwrap();
        let dump = File::options()
            .append(true)
            .open(to.path().join(dump))
            .unwrap();
        let then = SystemTime::now()
            .checked_sub(Duration::from_mins(1))
            .unwrap();
        dump.set_modified(then).unwrap();
        let seen = ongoing.resume(&look(), 1, &mut |_| {}).unwrap();
        assert!(!ongoing.is_waiting());
        assert_eq!(
            seen.findings,
            judge(&look(), &watchpoints, 1, |_| {}).findings
        );
        // Without new files there is nothing to do; a rewritten dump is a new one.
        assert_eq!(
            ongoing.resume(&look(), 1, &mut |_| {}).unwrap().findings,
            seen.findings
        );
        dump.set_modified(then + Duration::from_secs(1)).unwrap();
        assert!(ongoing.resume(&look(), 1, &mut |_| {}).is_none());
    }
}
