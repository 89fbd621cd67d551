//! Judgements of all runs as they are published, with the watchpoint files that they follow.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

use trainscope_analysis::watchpoint::Hit;
use trainscope_format::program::SourceLine;

use super::hit_list::Listing;
use super::judge::Judgement;
use crate::discovery::base::Base;
use crate::discovery::claims::is_event_part;
use crate::people;
use crate::watchpoints::WatchpointFile;

/// Judgements, watchpoint files and progress.
#[derive(Default)]
pub(super) struct State {
    pub(super) runs: BTreeMap<String, Arc<JudgedRun>>,
    pub(super) files: Vec<(Base, WatchpointFile)>,
    /// Number of the last notice of each run's growth: a judgement of an earlier state is behind.
    pub(super) changes: BTreeMap<String, u64>,
    /// Progress of runs that are being judged from their first record.
    pub(super) progress: BTreeMap<String, Arc<ReadProgress>>,
}

/// Bytes of a run that are read.
#[derive(Default)]
pub(super) struct ReadProgress {
    pub(super) done_bytes: AtomicU64,
    pub(super) total_bytes: u64,
}

/// The judgement of a run as it is published. Cloning is cheap.
#[derive(Clone)]
pub struct JudgedRun {
    pub(super) judgement: Arc<Judgement>,
    /// The file that holds the watchpoints; `None`: they are the recommended ones.
    pub watchpoints_file: Option<PathBuf>,
    /// Error of that file as it is now; `None` if it is valid.
    pub watchpoints_problem: Option<String>,
    pub(super) listing: Arc<OnceLock<Listing>>,
    /// Fingerprints of the files and of the watchpoints.
    pub(super) signature: (u64, u64),
    /// [`State::changes`] when it was judged.
    pub(super) changes: u64,
    /// True if something was left for later, since it may still be written.
    pub(super) is_waiting: bool,
}

impl Deref for JudgedRun {
    type Target = Judgement;

    fn deref(&self) -> &Judgement {
        &self.judgement
    }
}

impl Judgement {
    /// Line of the program that a hit is about, by a fact or else by a graph.
    pub(crate) fn source<'a>(&'a self, hit: &'a Hit) -> Option<&'a SourceLine> {
        let of_fact = hit.source.as_deref();
        of_fact.or_else(|| self.sources.get(&hit.tensor))
    }
}

impl JudgedRun {
    pub(crate) fn of(
        judgement: Judgement,
        signature: (u64, u64),
        changes: u64,
        is_waiting: bool,
    ) -> Self {
        Self {
            judgement: Arc::new(judgement),
            watchpoints_file: None,
            watchpoints_problem: None,
            listing: Arc::default(),
            signature,
            changes,
            is_waiting,
        }
    }

    /// The hits in order, with counts.
    pub fn listing(&self) -> &Listing {
        self.listing
            .get_or_init(|| Listing::new(&self.findings.hits))
    }
}

impl State {
    /// The name under which a run is judged, if it was: the name of the run, or of the run around a folder of event
    /// files.
    pub(super) fn judged_as<'a>(&self, run: &'a str) -> Option<&'a str> {
        let (around, folder) = run.rsplit_once('/').unwrap_or((".", run));
        let around = is_event_part(folder).then_some(around);
        [Some(run), around]
            .into_iter()
            .flatten()
            .find(|name| self.runs.contains_key(*name))
    }

    /// The judgement of a run, if it and the run it is judged as exist for the person who asks.
    pub(super) fn seen(&self, run: &str) -> Option<(&str, &Arc<JudgedRun>)> {
        let (name, judged) = self.runs.get_key_value(self.judged_as(run)?)?;
        (people::may_see(run) && people::may_see(name)).then_some((name, judged))
    }

    /// Records that a notice announced the growth of a run.
    pub(super) fn note_change(&mut self, run: &str, seq: u64) {
        let name = self.judged_as(run).unwrap_or(run);
        self.changes.insert(name.to_owned(), seq);
    }

    /// The watchpoints file of a run, and the run's name in it.
    pub(super) fn file_of(&mut self, run: &str) -> Option<(&mut WatchpointFile, String)> {
        self.files.iter_mut().find_map(|(base, file)| {
            let below = base.run_below(run)?.to_owned();
            Some((file, below))
        })
    }
}
