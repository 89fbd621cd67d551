//! What a check has found, over all runs: the one thing that all forms of output print.

use std::time::Duration;

use trainscope_analysis::watchpoint::{Hit, Verdict, Watchpoints};
use trainscope_format::Severity;

use crate::judging::judge::Judgement;

/// The result of a check.
pub(super) struct Report {
    /// What was asked for, as it was typed.
    pub(super) title: String,
    /// Worst first.
    pub(super) runs: Vec<Judgement>,
    /// What was watched for.
    pub(super) watchpoints: Watchpoints,
    /// Hits of this severity make the check fail.
    pub(super) fail_on: Severity,
    /// Whether what could not be judged, or is cut, is a failure too.
    pub(super) is_strict: bool,
    /// Earlier hits are left out.
    pub(super) since_step: Option<i64>,
    /// How many hits are left out because they are known.
    pub(super) known: u64,
    /// Folders that could not be listed, and what is wrong with them.
    pub(super) unreadable: Vec<(String, String)>,
    /// Pipes, sockets and devices that are named like recorded files and were not read: path and type.
    pub(super) special: Vec<(String, &'static str)>,
    /// How long it took.
    pub(super) took: Duration,
}

impl Report {
    /// Brings the runs in order: the worst first, then by name.
    pub(super) fn sort(&mut self) {
        let badness = |run: &Judgement| {
            let hits = run.findings.hits.iter().map(|hit| hit.severity).max();
            let hits = hits.map_or(0, |severity| match severity {
                Severity::Error => 6,
                Severity::Warning => 5,
                Severity::Info => 1,
            });
            let unchecked = match run.findings.verdict() {
                Verdict::Nothing => 3,
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

    /// Whether a hit makes the check fail.
    pub(super) fn counts(&self, hit: &Hit) -> bool {
        hit.severity >= self.fail_on
    }

    /// Where it began, in the worst of the runs.
    pub(super) fn first_cause(&self) -> Option<(&Judgement, &Hit)> {
        self.runs
            .iter()
            .find_map(|run| Some((run, run.findings.first_hit()?)))
    }

    /// The exit status: 1 for hits that count, else 2 for what could not be read or if nothing was checked, else 0.
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
            // Without anything that was checked, nothing has passed.
            2
        } else {
            0
        }
    }
}
