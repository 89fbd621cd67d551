//! Runs with tensor files, as found by the last walk, in the list of all runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use trainscope_api::order::natural;
use trainscope_api::runs::{File, FileStatus, MAX_RUNS, Run, RunList, RunStatus};

use trainscope_format::Format;

use super::Index;
use super::catalog::{LIVE, MAX_FILES};
use crate::discovery::runs::{RunFiles, TensorKind, TensorSource};
use crate::people;
use crate::tensor_files::catalog::TensorRun;

/// Recordings by name of the run.
pub(super) type Recordings = BTreeMap<Arc<str>, Arc<TensorRun>>;

impl Index {
    /// Replaces the result of the previous walk; returns true if it differs.
    pub(crate) fn set_recordings(&self, found: BTreeMap<Arc<str>, Arc<RunFiles>>) -> bool {
        let before = Arc::clone(&self.0.recordings.read());
        let mut has_changed = before.len() != found.len();
        let mut recordings = Recordings::new();
        for (name, run) in found {
            let known = before.get(&name);
            let kept = known.filter(|known| known.stamp == run.tensors_stamp());
            has_changed |= kept.is_none();
            let recorded = match kept {
                Some(known) => Arc::clone(known),
                None => Arc::new(TensorRun::new(run, known.map(|known| &**known))),
            };
            recordings.insert(name, recorded);
        }
        if has_changed {
            *self.0.recordings.write() = Arc::new(recordings);
            self.0.catalog.touch_names();
        }
        has_changed
    }

    /// The tensor files of a run.
    pub(crate) fn recording(&self, run: &str) -> Option<Arc<TensorRun>> {
        let recordings = self.0.recordings.read();
        recordings
            .get(run)
            .filter(|_| people::may_see(run))
            .cloned()
    }

    /// True if the event files of a run include this format.
    pub(crate) fn has_format(&self, run: &str, format: Format) -> bool {
        let run = self.entry(run);
        run.is_some_and(|run| run.has_format(format))
    }

    /// Number of runs with tensors and without events, and of growing ones among them.
    pub(super) fn only_tensors(&self) -> (usize, usize) {
        let now = SystemTime::now();
        let recordings = Arc::clone(&self.0.recordings.read());
        let only = recordings
            .iter()
            .filter(|(name, _)| self.0.catalog.run(name).is_none());
        let is_live = only.map(|(_, recorded)| is_live(recorded, recorded.run.modified, now));
        is_live.fold((0, 0), |(all, live), is| (all + 1, live + usize::from(is)))
    }

    /// Names of all runs, in the order of their bytes.
    fn all_names(&self) -> BTreeSet<Arc<str>> {
        let recordings = Arc::clone(&self.0.recordings.read());
        let mut names: BTreeSet<Arc<str>> = self.0.catalog.names().into_iter().collect();
        names.extend(recordings.keys().cloned());
        names
    }

    /// Names of all runs in the order of lists, also of those that the person who asks may not see. Sorting takes a
    /// quarter of a second for 100,000 runs: the answer is kept until a run comes or goes.
    pub(crate) fn ordered_names(&self) -> Arc<[Arc<str>]> {
        let version = self.0.catalog.names_version();
        let mut known = self.0.ordered_names.lock();
        if known.0 != Some(version) {
            let mut names: Vec<Arc<str>> = self.all_names().into_iter().collect();
            names.sort_by(|a, b| natural(a, b));
            *known = (Some(version), names.into());
        }
        Arc::clone(&known.1)
    }

    /// True if a run exists for the person who asks.
    pub(crate) fn has_run(&self, run: &str) -> bool {
        self.entry(run).is_some() || self.recording(run).is_some()
    }

    /// The entry of a run in the list; `None` if it does not exist for the person who asks.
    pub(crate) fn describe(&self, run: &str) -> Option<Run> {
        let now = SystemTime::now();
        let (entry, recorded) = (self.entry(run), self.recording(run));
        let mut described = match (&entry, &recorded) {
            (None, None) => return None,
            (None, Some(_)) => Run {
                id: run.to_owned(),
                ..Run::default()
            },
            (Some(entry), _) => entry.describe(run, now, &self.0.store),
        };
        if let Some(recorded) = recorded {
            add(&mut described, &recorded, now);
        }
        Some(described)
    }

    /// The list of all runs, in the order of the bytes of their names.
    pub fn runs(&self) -> RunList {
        // Take `seq` before the list: a change in between is announced twice rather than missed.
        let seq = self.0.notices.seq();
        let names = self.all_names();
        let all = names.iter().filter_map(|name| self.describe(name));
        let runs: Vec<Run> = all.take(MAX_RUNS).collect();
        RunList {
            seq,
            total: runs.len(),
            cut: false,
            runs,
        }
    }
}

fn add(run: &mut Run, recorded: &TensorRun, now: SystemTime) {
    let found = &recorded.run;
    let tensors = run.kinds.entry("tensors".to_owned()).or_default();
    *tensors = recorded.count().max(*tensors);
    let changed = found.modified.and_then(|at| {
        let since_1970 = at.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some(since_1970.as_secs_f64())
    });
    if run.last_wall_time_secs.is_none() {
        run.last_wall_time_secs = changed;
    }
    if is_live(recorded, found.modified, now) {
        run.status = RunStatus::Live;
    } else if run.status == RunStatus::Gone {
        run.status = RunStatus::Stopped;
    }
    for (&rank, parts) in &found.ranks {
        if let Err(at) = run.ranks.binary_search(&rank) {
            run.ranks.insert(at, rank);
        }
        let last_step = parts.steps.last_key_value().map(|(step, _)| *step);
        run.last_step = run.last_step.max(last_step);
        // The newest first, which is the most interesting.
        for source in parts.steps.values().rev().flatten() {
            run.len_bytes += source.len_bytes;
            if run.files.len() < MAX_FILES {
                run.files.push(file(recorded, source, now));
            } else {
                run.files_cut = true;
            }
        }
    }
    run.files.sort_by(|a, b| a.path.cmp(&b.path));
}

/// Entry of a tensor file, which is not read.
fn file(recorded: &TensorRun, source: &TensorSource, now: SystemTime) -> File {
    let status = if is_live(recorded, Some(source.stamp.modified), now) {
        FileStatus::Live
    } else {
        FileStatus::Complete
    };
    let format = match source.kind {
        TensorKind::Safetensors { .. } => "safetensors",
        TensorKind::Npy { .. } | TensorKind::Constant { .. } => "npy",
        TensorKind::Dumped { .. } => "mindspore_dump",
    };
    File {
        path: source.shown.to_string(),
        status,
        offset: None,
        reason: None,
        format: format.to_owned(),
        len_bytes: source.len_bytes,
        read_bytes: source.len_bytes,
        records: 0,
        unread: BTreeMap::new(),
        skipped_records: 0,
        lost_records: 0,
        skipped_bytes: 0,
    }
}

/// True if a training seems to write: a copy is new too, but does not grow. A modification time in the future is due
/// to another clock.
fn is_live(recorded: &TensorRun, modified: Option<SystemTime>, now: SystemTime) -> bool {
    let is_fresh = |at| now.duration_since(at).is_ok_and(|age| age < LIVE);
    recorded.has_grown && modified.is_some_and(is_fresh)
}
