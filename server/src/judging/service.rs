//! Judges every run as its files grow, in the same way as `trainscope check` does: one thread, never before what is
//! there is read, and never more than a share of the time.
//!
//! A run that grows is gone on with, so that only what is new is read; of all others nothing is kept but what was found.
//! Watchpoints are those of `.trainscope/watchpoints.toml` in the base directory, else the recommended ones.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, mpsc};

use parking_lot::RwLock;
use rustc_hash::FxHashMap;
use tokio::sync::broadcast;
use trainscope_analysis::diagnosis::Remark;
use trainscope_analysis::watchpoint::{Findings, Hit, Surroundings, Watchpoints};
use trainscope_api::findings::Progress;
use trainscope_api::live::ChangeNotice;
use trainscope_api::watchpoints::{WatchpointKeys, WatchpointList};

use super::hit_list::Listing;
use super::scheduler::Thread;
use crate::discovery::find::{FoundRun, is_event_part};
use crate::discovery::watch::{self, Base};
use crate::index::Index;
use crate::tensor_files::shared::SharedNames;
use crate::watchpoints::{ChangeError, WatchpointFile};

/// What was found in each run. Cloning is cheap.
#[derive(Clone, Default)]
pub struct Diagnosis(pub(super) Arc<Shared>);

#[derive(Default)]
pub(super) struct Shared {
    pub(super) known: RwLock<Known>,
    /// Wakes the thread; `None`: there is none.
    pub(super) wishes: RwLock<Option<mpsc::Sender<Wish>>>,
}

#[derive(Default)]
pub(super) struct Known {
    pub(super) runs: BTreeMap<String, Arc<JudgedRun>>,
    pub(super) files: Vec<(Base, WatchpointFile)>,
    /// How often something new of each run was told: what was judged before is behind.
    pub(super) changes: BTreeMap<String, u64>,
    /// How far the judgement of a run is that is being judged from its first record on.
    pub(super) progress: BTreeMap<String, Arc<Reading>>,
}

/// How much of a run is read.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) done_bytes: AtomicU64,
    pub(super) total_bytes: u64,
}

/// What the thread is asked to look at.
pub(super) enum Wish {
    /// Runs that have new points.
    Grown(Vec<String>),
    /// A run that is to be judged from its first record on.
    Anew(String),
    /// The watchpoints have changed.
    Watchpoints,
}

/// What was found in a run, and with which watchpoints. Cloning is cheap but for what could not be read.
#[derive(Clone)]
pub struct JudgedRun {
    /// What they say.
    pub findings: Arc<Findings>,
    /// What is said of the model and of what feeds it.
    pub remarks: Arc<Vec<Remark>>,
    /// File, offset and reason of what could not be read.
    pub damaged: Vec<(String, u64, String)>,
    /// Files of one step that hold tensors of the same names.
    pub(crate) shared: Vec<SharedNames>,
    /// What was watched for.
    pub watchpoints: Watchpoints,
    /// The file that says so; `None`: nobody did.
    pub watchpoints_file: Option<PathBuf>,
    /// What is wrong with that file as it is now.
    pub watchpoints_problem: Option<String>,
    /// What lies around each layer.
    pub surroundings: Arc<Surroundings>,
    pub(super) sources: Arc<FxHashMap<Arc<str>, (String, u32)>>,
    pub(super) listing: Arc<OnceLock<Listing>>,
    /// Of which files, and of which text of the watchpoints.
    pub(super) signature: (u64, u64),
    /// [`Known::changes`] when it was judged.
    pub(super) changes: u64,
    /// Whether something was left for later, since it may still be written.
    pub(super) is_waiting: bool,
}

impl JudgedRun {
    /// Where in the training's own code the tensor of a hit is computed, as far as a graph says.
    pub fn source(&self, hit: &Hit) -> Option<&(String, u32)> {
        self.sources.get(&hit.tensor)
    }

    /// The hits in order, and counted.
    pub fn listing(&self) -> &Listing {
        self.listing
            .get_or_init(|| Listing::new(&self.findings.hits))
    }
}

impl Diagnosis {
    /// Starts to judge the runs of these base directories. The thread ends when the index does.
    ///
    /// `on_judged` is called after each judgement.
    pub fn start(
        base_dirs: &[PathBuf],
        index: &Index,
        on_judged: impl FnMut(&Judged<'_>) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (wish, wishes) = mpsc::channel();
        let diagnosis = Self::over(base_dirs);
        *diagnosis.0.wishes.write() = Some(wish.clone());
        let (notices, own) = (index.subscribe(), diagnosis.clone());
        std::thread::Builder::new()
            .name("diagnosis-wait".to_owned())
            .spawn(move || own.listen(notices, &wish))?;
        let thread = Thread::new(&diagnosis, index, on_judged);
        std::thread::Builder::new()
            .name("diagnosis".to_owned())
            .spawn(move || thread.run(&wishes))?;
        Ok(diagnosis)
    }

    /// One that judges nothing: it knows what is watched for.
    pub(crate) fn over(base_dirs: &[PathBuf]) -> Self {
        let bases = watch::bases(base_dirs).into_iter();
        let files = bases.map(|base| {
            let file = WatchpointFile::new(&base.dir);
            (base, file)
        });
        let diagnosis = Self::default();
        diagnosis.0.known.write().files = files.collect();
        diagnosis
    }

    /// Hands on what the index tells of growing runs, until it ends.
    fn listen(
        &self,
        mut notices: broadcast::Receiver<Arc<ChangeNotice>>,
        wish: &mpsc::Sender<Wish>,
    ) {
        loop {
            let runs = match notices.blocking_recv() {
                Ok(notice) => notice
                    .runs
                    .iter()
                    .map(|change| change.run.clone())
                    .collect(),
                // What was missed is found by looking.
                Err(broadcast::error::RecvError::Lagged(_)) => Vec::new(),
                Err(broadcast::error::RecvError::Closed) => break,
            };
            let mut known = self.0.known.write();
            for run in &runs {
                known.note_change(run);
            }
            drop(known);
            if !runs.is_empty() && wish.send(Wish::Grown(runs)).is_err() {
                break;
            }
        }
        // The thread ends when nobody can wish for anything any more.
        *self.0.wishes.write() = None;
    }

    /// What was found in a run. Event files in a folder of their own (`tb/`) are a part of the run around it if tensors
    /// lie there too.
    pub fn of(&self, run: &str) -> Option<Arc<JudgedRun>> {
        let known = self.0.known.read();
        known.runs.get(known.judged_as(run)?).cloned()
    }

    /// Whether its files have changed since it was judged.
    pub fn is_behind(&self, run: &str) -> bool {
        let known = self.0.known.read();
        let Some(judged) = known.judged_as(run).and_then(|name| known.runs.get(name)) else {
            return false;
        };
        judged.is_waiting
            || known.progress.contains_key(run)
            || known
                .changes
                .get(known.judged_as(run).unwrap_or(run))
                .copied()
                .unwrap_or(0)
                > judged.changes
    }

    /// How far a run is that is being judged from its first record on.
    pub fn progress(&self, run: &str) -> Option<Progress> {
        let known = self.0.known.read();
        let name = known.judged_as(run).unwrap_or(run);
        let reading = known.progress.get(name)?;
        Some(Progress {
            done_bytes: reading
                .done_bytes
                .load(Ordering::Relaxed)
                .min(reading.total_bytes),
            total_bytes: reading.total_bytes,
        })
    }

    /// Asks for a run to be judged from its first record on.
    pub fn recheck(&self, run: &str) -> Progress {
        let mut known = self.0.known.write();
        let name = known.judged_as(run).unwrap_or(run).to_owned();
        let reading = known.progress.entry(name.clone()).or_default().clone();
        drop(known);
        if !self.wish(Wish::Anew(name.clone())) {
            self.0.known.write().progress.remove(&name);
        }
        Progress {
            done_bytes: 0,
            total_bytes: reading.total_bytes,
        }
    }

    /// What is watched for in a run; `None`: it is not of any base directory.
    pub(crate) fn watchpoints(&self, run: &str) -> Option<WatchpointList> {
        let mut known = self.0.known.write();
        let run = known.judged_as(run).unwrap_or(run).to_owned();
        let (file, name) = known.file_of(&run)?;
        file.look();
        Some(file.list(&name))
    }

    /// Changes what is watched for, and has everything that it is about judged anew.
    pub(crate) fn change_watchpoints(
        &self,
        run: &str,
        only_this_run: bool,
        version: &str,
        list: Option<&[WatchpointKeys]>,
    ) -> Option<Result<WatchpointList, ChangeError>> {
        let mut known = self.0.known.write();
        let run = known.judged_as(run).unwrap_or(run).to_owned();
        let (file, name) = known.file_of(&run)?;
        let changed = file.change(only_this_run.then_some(&*name), version, list);
        let answer = changed.map(|()| file.list(&name));
        drop(known);
        self.wish(Wish::Watchpoints);
        Some(answer)
    }

    fn wish(&self, wish: Wish) -> bool {
        let wishes = self.0.wishes.read();
        wishes
            .as_ref()
            .is_some_and(|wishes| wishes.send(wish).is_ok())
    }
}

impl Known {
    /// The name under which a run is judged, if it was: its own, or that of the run around a folder of event files.
    pub(super) fn judged_as<'a>(&self, run: &'a str) -> Option<&'a str> {
        let (around, folder) = run.rsplit_once('/').unwrap_or((".", run));
        let around = is_event_part(folder).then_some(around);
        [Some(run), around]
            .into_iter()
            .flatten()
            .find(|name| self.runs.contains_key(*name))
    }

    fn note_change(&mut self, run: &str) {
        let name = self.judged_as(run).unwrap_or(run);
        *self.changes.entry(name.to_owned()).or_insert(0) += 1;
    }

    /// The file that a run's watchpoints stand in, and its name there.
    pub(super) fn file_of(&mut self, run: &str) -> Option<(&mut WatchpointFile, String)> {
        self.files.iter_mut().find_map(|(base, file)| {
            let below = base.run_below(run)?.to_owned();
            Some((file, below))
        })
    }
}

/// A judgement.
pub struct Judged<'a> {
    /// The name of the run.
    pub run: &'a str,
    /// What was found.
    pub now: &'a JudgedRun,
    /// Whether it tells of what was there when the server started.
    pub is_from_before: bool,
    /// Whether something else had been watched for until now.
    pub is_watched_otherwise: bool,
}

/// The name of a run in the list of runs.
pub(super) fn shown(base: &Base, run: &FoundRun) -> String {
    base.run_name(&run.name)
}
