//! Judges every run as its files grow, in the same way as `trainscope check` does: one thread, which waits until
//! reading is idle and takes at most a share of the time.
//!
//! Watchpoints are those of `.trainscope/watchpoints.toml` in the base directory, else the recommended ones.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};

use parking_lot::RwLock;
use tokio::sync::broadcast;
use trainscope_api::findings::Progress;
use trainscope_api::live::ChangeNotice;
use trainscope_api::watchpoints::{WatchpointKeys, WatchpointList};
use trainscope_format::Severity;

use super::scheduler::{NewJudgement, Request, Scheduler};
use super::shared::SharedFiles;
use super::state::{JudgedRun, State};
use crate::discovery::base::bases;
use crate::index::Index;
use crate::ingest::Ingester;
use crate::profiles::Profiles;
use crate::pulse::{Heart, Pulse};
use crate::watchpoints::{ChangeError, WatchpointFile};

/// Judgements of the runs of all base directories. Cloning is cheap.
#[derive(Clone, Default)]
pub struct Judgements {
    state: Arc<RwLock<State>>,
    /// Channel to the thread; `None` without one.
    requests: Arc<RwLock<Option<mpsc::Sender<Request>>>>,
    pulse: Option<Pulse>,
}

impl Judgements {
    /// Starts to judge the runs of these base directories, with the walks and the blocks of the loop that reads them.
    /// The thread ends when the index does.
    ///
    /// `on_judged` is called after each judgement.
    pub fn start(
        base_dirs: &[PathBuf],
        index: &Index,
        ingester: &Ingester,
        profiles: &Profiles,
        on_judged: impl FnMut(&NewJudgement<'_>) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (request, requests) = mpsc::channel();
        let (heart, pulse) = Heart::new();
        let judgements = Self {
            pulse: Some(pulse),
            ..Self::over(base_dirs)
        };
        *judgements.requests.write() = Some(request.clone());
        let (notices, listener) = (index.notices().subscribe(), judgements.clone());
        std::thread::Builder::new()
            .name("diagnosis-wait".to_owned())
            .spawn(move || listener.listen(notices, &request))?;
        let shared = SharedFiles {
            feeds: ingester.feeds().clone(),
            profiles: profiles.clone(),
        };
        let walks = ingester.walks();
        let scheduler = Scheduler::new(&judgements.state, index, shared, walks, on_judged, heart);
        std::thread::Builder::new()
            .name("diagnosis".to_owned())
            .spawn(move || scheduler.run(&requests))?;
        Ok(judgements)
    }

    /// An instance without a thread, for the watchpoints alone.
    pub(crate) fn over(base_dirs: &[PathBuf]) -> Self {
        let files = bases(base_dirs).into_iter().map(|base| {
            let file = WatchpointFile::new(&base.dir);
            (base, file)
        });
        let judgements = Self::default();
        judgements.state.write().files = files.collect();
        judgements
    }

    /// Forwards the index's notices of growing runs, until it ends.
    fn listen(
        &self,
        mut notices: broadcast::Receiver<Arc<ChangeNotice>>,
        requests: &mpsc::Sender<Request>,
    ) {
        loop {
            let notice = match notices.blocking_recv() {
                Ok(notice) => notice,
                // The next look finds the changes that were missed.
                Err(broadcast::error::RecvError::Lagged(_)) => continue,
                Err(broadcast::error::RecvError::Closed) => break,
            };
            let grown = notice.runs.iter().map(|change| change.run.clone());
            let runs: Vec<String> = grown.collect();
            let mut known = self.state.write();
            for run in &runs {
                known.note_change(run, notice.seq);
            }
            drop(known);
            if !runs.is_empty() && requests.send(Request::Growth(runs)).is_err() {
                break;
            }
        }
        // The thread ends when no sender of requests is left.
        *self.requests.write() = None;
    }

    /// Signs of life of its thread; `None` without one.
    pub fn pulse(&self) -> Option<&Pulse> {
        self.pulse.as_ref()
    }

    /// Number of judged runs, and of their hits by severity.
    pub(crate) fn counts(&self) -> (usize, BTreeMap<Severity, usize>) {
        let known = self.state.read();
        let mut hits: BTreeMap<_, usize> = Severity::ALL.map(|severity| (severity, 0)).into();
        for hit in known.runs.values().flat_map(|run| &run.findings.hits) {
            *hits.entry(hit.severity).or_default() += 1;
        }
        (known.runs.len(), hits)
    }

    /// The judgement of a run. Event files in a separate folder (`tb/`) are a part of the surrounding run if that has
    /// tensors too.
    pub fn of(&self, run: &str) -> Option<Arc<JudgedRun>> {
        let known = self.state.read();
        known.seen(run).map(|(_, judged)| Arc::clone(judged))
    }

    /// True if its files have changed since it was judged.
    pub fn is_behind(&self, run: &str) -> bool {
        let known = self.state.read();
        let Some((name, judged)) = known.seen(run) else {
            return false;
        };
        judged.is_waiting
            || known.progress.contains_key(run)
            || known.changes.get(name).copied().unwrap_or(0) > judged.changes
    }

    /// Progress of a run that is being judged from its first record.
    pub fn progress(&self, run: &str) -> Option<Progress> {
        let known = self.state.read();
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

    /// Requests a judgement of a run from its first record.
    pub fn recheck(&self, run: &str) -> Progress {
        let mut known = self.state.write();
        let name = known.judged_as(run).unwrap_or(run).to_owned();
        let reading = known.progress.entry(name.clone()).or_default().clone();
        drop(known);
        if !self.request(Request::Restart(name.clone())) {
            self.state.write().progress.remove(&name);
        }
        Progress {
            done_bytes: 0,
            total_bytes: reading.total_bytes,
        }
    }

    /// The watchpoints of a run; `None` outside of all base directories.
    pub(crate) fn watchpoints(&self, run: &str) -> Option<WatchpointList> {
        let mut known = self.state.write();
        let run = known.judged_as(run).unwrap_or(run).to_owned();
        let (file, name) = known.file_of(&run)?;
        file.look();
        Some(file.list(&name))
    }

    /// Changes watchpoints, and requests new judgements of all affected runs.
    pub(crate) fn change_watchpoints(
        &self,
        run: &str,
        only_this_run: bool,
        version: &str,
        list: Option<&[WatchpointKeys]>,
    ) -> Option<Result<WatchpointList, ChangeError>> {
        let mut known = self.state.write();
        let run = known.judged_as(run).unwrap_or(run).to_owned();
        let (file, name) = known.file_of(&run)?;
        let changed = file.change(only_this_run.then_some(&*name), version, list);
        let answer = changed.map(|()| file.list(&name));
        drop(known);
        self.request(Request::Watchpoints);
        Some(answer)
    }

    /// Sends a request to the thread; `false` without one.
    fn request(&self, request: Request) -> bool {
        let requests = self.requests.read();
        let sender = requests.as_ref();
        sender.is_some_and(|requests| requests.send(request).is_ok())
    }
}
