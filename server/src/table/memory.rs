//! The table of the server: kept in memory, and updated on request.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use trainscope_api::findings::{Health, Verdict};

use super::row::RunJudgement;
use super::{RunTable, Surroundings, configuration};
use crate::discovery::base::{bases, folder_of};
use crate::index::{Index, ReadError};
use crate::judging::Judgements;
use crate::notebook::Notebooks;
use crate::queries::findings::health;

/// Minimum time between two checks of configuration files, which the walk over the runs does not watch.
const FILES_INTERVAL: Duration = Duration::from_secs(5);

/// The table of all runs. Cloning is cheap.
#[derive(Clone)]
pub struct Tables(Arc<Mutex<State>>);

struct State {
    table: Arc<RunTable>,
    /// Number of the last notice that the table includes.
    notice: Option<u64>,
    files: Files,
    base_dirs: Vec<PathBuf>,
}

/// State of the configuration files of all runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Files {
    /// Some have changed, or they were never read.
    Changed,
    /// A check is under way: some milliseconds for each hundred runs.
    Looking,
    /// The table includes their state at that time.
    Same(Instant),
}

impl Tables {
    /// An empty table, which is read on the first request.
    pub fn new(index: Index, base_dirs: Vec<PathBuf>) -> Self {
        Self(Arc::new(Mutex::new(State {
            table: Arc::new(RunTable::new(index)),
            notice: None,
            files: Files::Changed,
            base_dirs,
        })))
    }

    /// A snapshot of the table with all changes so far. Reads the rows of runs that changed; blocks. Configuration
    /// files are checked in the background, and a notice announces changes.
    pub(crate) fn read(
        &self,
        notebooks: &Notebooks,
        judgements: &Judgements,
    ) -> Result<Arc<RunTable>, ReadError> {
        let mut state = self.0.lock();
        // Taken before the list of runs: a change in between is read twice rather than missed.
        let notice = state.table.index.notices().seq();
        let looks_at_files = state.files == Files::Changed;
        if state.notice != Some(notice) || looks_at_files {
            let notes = notebooks.read();
            let mut table = RunTable::clone(&state.table);
            let is_changed = table.update(&Surroundings {
                base_dirs: &state.base_dirs,
                notes: &notes,
                judged: &|run| judgements.of(run).map(|judged| words(&health(&judged))),
                looks_at_files,
            })?;
            if is_changed {
                state.table = Arc::new(table);
            }
            state.notice = Some(notice);
            if looks_at_files {
                state.files = Files::Same(Instant::now());
            }
        }
        if let Files::Same(at) = state.files
            && at.elapsed() >= FILES_INTERVAL
        {
            let tables = self.clone();
            let thread = std::thread::Builder::new().name("configurations".to_owned());
            // Without a thread, the next request tries again.
            if thread.spawn(move || tables.look_at_files()).is_ok() {
                state.files = Files::Looking;
            }
        }
        Ok(Arc::clone(&state.table))
    }

    /// Compares the configuration files of all runs with those in the table.
    fn look_at_files(&self) {
        let (table, base_dirs) = {
            let state = self.0.lock();
            (Arc::clone(&state.table), state.base_dirs.clone())
        };
        let bases = bases(&base_dirs);
        let is_changed = table.rows.iter().any(|row| {
            let folder = folder_of(&bases, &row.run);
            folder.map_or(0, |folder| configuration::stamp(&folder)) != row.stamp
        });
        self.0.lock().files = if is_changed {
            Files::Changed
        } else {
            Files::Same(Instant::now())
        };
        if is_changed {
            table.index.notices().announce_runs();
        }
    }
}

fn words(health: &Health) -> RunJudgement {
    let counts = &health.counts;
    let word = match health.verdict {
        _ if counts.error > 0 => "error",
        _ if counts.warning > 0 => "warning",
        _ if counts.info > 0 => "info",
        Verdict::Problem => "problem",
        Verdict::NoProblem => "no problem",
        Verdict::InPart => "judged in part",
        Verdict::Nothing => "nothing to judge",
    };
    RunJudgement {
        health: word,
        hits: counts.problems(),
        first_cause_step: health.first.as_ref().map(|cause| cause.step),
    }
}
