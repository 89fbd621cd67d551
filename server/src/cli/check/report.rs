//! Report of a check over all runs: the input of all output formats.

use std::time::Duration;

use trainscope_analysis::watchpoint::{Hit, Watchpoints};
use trainscope_api::findings::Verdict;
use trainscope_format::Severity;

use crate::judging::judge::Judgement;

/// The result of a check.
pub(super) struct Report {
    /// Path as typed on the command line.
    pub(super) title: String,
    /// Runs, worst first.
    pub(super) runs: Vec<Judgement>,
    pub(super) watchpoints: Watchpoints,
    /// Hits of this severity or a higher one make the check fail.
    pub(super) fail_on: Severity,
    /// True if values that could not be judged and truncated files make the check fail.
    pub(super) is_strict: bool,
    /// First step to report.
    pub(super) since_step: Option<i64>,
    /// Number of hits left out by the baseline.
    pub(super) known: u64,
    /// Outcome of the training of `--live`.
    pub(super) live: Option<super::outcome::LiveOutcome>,
    /// Folders that could not be listed, with the error.
    pub(super) unreadable: Vec<(String, String)>,
    /// Pipes, sockets and devices with names of recorded files, which were not read: path and type.
    pub(super) special: Vec<(String, String)>,
    /// Duration of the check.
    pub(super) took: Duration,
}

impl Report {
    /// Sorts the runs: findings first, then partly and entirely unchecked runs, then those without a problem; equal
    /// ones by name.
    pub(super) fn sort(&mut self) {
        let badness = |run: &Judgement| {
            let hits = run.findings.hits.iter().map(|hit| hit.severity).max();
            let hits = hits.map_or(0, |severity| match severity {
                Severity::Error => 6,
                Severity::Warning => 5,
                Severity::Info => 3,
            });
            let unchecked = match run.findings.verdict() {
                Verdict::Nothing => 1,
                Verdict::InPart => 2,
                Verdict::NoProblem | Verdict::Problem => 0,
            };
            let damaged = if run.damaged.is_empty() { 0 } else { 4 };
            hits.max(damaged).max(unchecked)
        };
        self.runs.sort_by(|a, b| {
            badness(b)
                .cmp(&badness(a))
                .then_with(|| a.name.cmp(&b.name))
        });
    }

    /// True if this hit makes the check fail.
    pub(super) fn counts(&self, hit: &Hit) -> bool {
        hit.severity >= self.fail_on
    }

    /// True if a hit makes the check fail.
    pub(super) fn has_failing_hits(&self) -> bool {
        let mut hits = self.runs.iter().flat_map(|run| &run.findings.hits);
        hits.any(|hit| self.counts(hit))
    }

    /// The hit for which a training was stopped: one of the step at which it stopped itself, else the earliest that
    /// makes the check fail.
    pub(super) fn hit_of_stop(&self) -> Option<&Hit> {
        let stopped_at = self.live.as_ref().and_then(|live| live.stopped_at_step);
        let hits = self.runs.iter().flat_map(|run| &run.findings.hits);
        hits.filter(|hit| self.counts(hit))
            .min_by_key(|hit| (Some(hit.step) != stopped_at, hit.step))
    }

    /// First cause in the worst of the runs.
    pub(super) fn first_cause(&self) -> Option<(&Judgement, &Hit)> {
        self.runs
            .iter()
            .find_map(|run| Some((run, run.findings.first_hit()?)))
    }

    /// The exit status: 1 for failing hits, else 2 for unreadable files or if nothing was checked, else 0.
    pub(super) fn status(&self) -> u8 {
        let mut hits = self.runs.iter().flat_map(|run| &run.findings.hits);
        let is_unread = |run: &Judgement| {
            !run.damaged.is_empty()
                || self.is_strict
                    && !(run.findings.inconclusive.is_empty()
                        && run.findings.unread.is_empty()
                        && run.truncated.is_empty())
                || self.is_strict && run.findings.verdict() == Verdict::InPart
        };
        let is_unchecked = |run: &Judgement| run.findings.verdict() == Verdict::Nothing;
        if hits.any(|hit| self.counts(hit)) {
            1
        } else if !self.unreadable.is_empty() || self.runs.iter().any(is_unread) {
            2
        } else if self.runs.iter().all(is_unchecked)
            || self.is_strict && self.runs.iter().any(is_unchecked)
        {
            // Without checked data, nothing has passed.
            2
        } else {
            0
        }
    }
}
