//! What a check has found, over all runs: the one thing that all forms of output print.

use trainscope_analysis::watchpoint::{Hit, Watchpoints};
use trainscope_format::Severity;

use super::judge::JudgedRun;

/// The result of a check.
pub(super) struct Report {
    /// Worst first.
    pub(super) runs: Vec<JudgedRun>,
    /// What was watched for.
    pub(super) watchpoints: Watchpoints,
    /// Hits of this severity make the check fail.
    pub(super) fail_on: Severity,
    /// Whether what could not be judged, or is cut, is a failure too.
    pub(super) is_strict: bool,
    /// Folders that could not be listed, and what is wrong with them.
    pub(super) unreadable: Vec<(String, String)>,
}

impl Report {
    /// Whether a hit makes the check fail.
    pub(super) fn counts(&self, hit: &Hit) -> bool {
        hit.severity >= self.fail_on
    }

    /// Where it began, in the worst of the runs.
    pub(super) fn first_cause(&self) -> Option<(&JudgedRun, &Hit)> {
        self.runs
            .iter()
            .find_map(|run| Some((run, run.findings.first_hit()?)))
    }

    /// The exit status: 1 for hits that count, else 2 for what could not be read, else 0.
    pub(super) fn status(&self) -> u8 {
        let mut hits = self.runs.iter().flat_map(|run| &run.findings.hits);
        let unjudged = |run: &JudgedRun| {
            !run.damaged.is_empty()
                || self.is_strict
                    && !(run.findings.inconclusive.is_empty() && run.truncated.is_empty())
        };
        if hits.any(|hit| self.counts(hit)) {
            1
        } else if !self.unreadable.is_empty() || self.runs.iter().any(unjudged) {
            2
        } else {
            0
        }
    }
}
