//! What the server uses of `check`: the same runs, judged in the same way.

use std::hash::{Hash as _, Hasher as _};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use trainscope_analysis::watchpoint::{Findings, Watchpoints};

use super::find::{self, FoundRun};
use super::judge;

/// A run that was found in a folder.
pub(crate) struct RunFiles(FoundRun);

/// What is to be said of a run.
pub(crate) struct Judgement {
    pub(crate) findings: Findings,
    /// File, offset and reason of what could not be read.
    pub(crate) damaged: Vec<(String, u64, String)>,
}

/// The runs below a folder, by name; without any that cannot be listed.
pub(crate) fn runs_below(folder: &Path) -> io::Result<Vec<RunFiles>> {
    Ok(find::find(folder)?.runs.into_iter().map(RunFiles).collect())
}

impl RunFiles {
    /// Relative to the folder, with `/` between parts; `.` for the folder itself.
    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    /// The same as long as no file of it changes.
    pub(crate) fn signature(&self) -> u64 {
        let mut hasher = rustc_hash::FxHasher::default();
        for (rank, parts) in &self.0.ranks {
            rank.hash(&mut hasher);
            let events = parts.events.iter().map(|event| &event.path);
            let tensors = parts.steps.values().flatten().map(|source| &source.path);
            for path in events.chain(tensors) {
                path.hash(&mut hasher);
                if let Ok(metadata) = path.metadata() {
                    metadata.len().hash(&mut hasher);
                    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                    modified.hash(&mut hasher);
                }
            }
        }
        hasher.finish()
    }

    /// Reads all of it and judges it.
    pub(crate) fn judge(&self, watchpoints: &Watchpoints, threads: usize) -> Judgement {
        let judged = judge::judge(&self.0, watchpoints, threads, |_| {});
        let damaged = judged.damaged.into_iter();
        Judgement {
            findings: judged.findings,
            damaged: damaged
                .map(|fault| (fault.file.to_string(), fault.offset, fault.reason))
                .collect(),
        }
    }
}
