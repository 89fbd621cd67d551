//! Judgements of all runs as they are published, with the watchpoint files that they follow.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use trainscope_analysis::diagnosis::Remark;
use trainscope_analysis::watchpoint::{Findings, Hit, Surroundings, Watchpoints};

use super::hit_list::Listing;
use super::judge::Judgement;
use crate::discovery::base::Base;
use crate::discovery::find::is_event_part;
use crate::tensor_files::contents::SharedNames;
use crate::watchpoints::WatchpointFile;

/// Judgements, watchpoint files and progress.
#[derive(Default)]
pub(super) struct State {
    pub(super) runs: BTreeMap<String, Arc<JudgedRun>>,
    pub(super) files: Vec<(Base, WatchpointFile)>,
    /// How often something new of each run was told: what was judged before is behind.
    pub(super) changes: BTreeMap<String, u64>,
    /// How far the judgement of a run is that is being judged from its first record on.
    pub(super) progress: BTreeMap<String, Arc<ReadProgress>>,
}

/// How much of a run is read.
#[derive(Default)]
pub(super) struct ReadProgress {
    pub(super) done_bytes: AtomicU64,
    pub(super) total_bytes: u64,
}

/// Findings of a run, and the watchpoints they come from. Cloning copies only the list of damaged places.
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
    /// [`State::changes`] when it was judged.
    pub(super) changes: u64,
    /// Whether something was left for later, since it may still be written.
    pub(super) is_waiting: bool,
}

impl JudgedRun {
    pub(crate) fn of(
        judged: Judgement,
        signature: (u64, u64),
        changes: u64,
        is_waiting: bool,
    ) -> Self {
        let damaged = judged.damaged.into_iter();
        Self {
            findings: Arc::new(judged.findings),
            remarks: Arc::new(judged.remarks),
            damaged: damaged
                .map(|fault| (fault.file.to_string(), fault.offset, fault.reason))
                .collect(),
            shared: judged.shared,
            watchpoints: judged.watchpoints,
            watchpoints_file: None,
            watchpoints_problem: None,
            surroundings: Arc::new(judged.surroundings),
            sources: Arc::new(judged.sources),
            listing: Arc::default(),
            signature,
            changes,
            is_waiting,
        }
    }

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

impl State {
    /// The name under which a run is judged, if it was: its own, or that of the run around a folder of event files.
    pub(super) fn judged_as<'a>(&self, run: &'a str) -> Option<&'a str> {
        let (around, folder) = run.rsplit_once('/').unwrap_or((".", run));
        let around = is_event_part(folder).then_some(around);
        [Some(run), around]
            .into_iter()
            .flatten()
            .find(|name| self.runs.contains_key(*name))
    }

    pub(super) fn note_change(&mut self, run: &str) {
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
