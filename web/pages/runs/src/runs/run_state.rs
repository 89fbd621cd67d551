//! The state of a run: by its worst hit, and by its files.

use trainscope_api::findings::{Counts as HitCounts, Verdict};
use trainscope_api::runs::{FileStatus, Run, RunStatus};
use trainscope_format::Severity;
use trainscope_web_kit::url_state::{Key, Setting};

/// State of a run, which a state button selects. Each run is in exactly one of [`Only::STATES`], and can be live too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Only {
    All,
    /// Something is certainly wrong.
    Errors,
    /// Something may be wrong, and nothing worse.
    Warnings,
    /// Nothing was found in the readable part, and some of the files are damaged.
    Damaged,
    /// No problem was found.
    Healthy,
    /// Nothing was judged, or the loss alone.
    Unjudged,
    Live,
}

const WORDS: [(Only, &str); 6] = [
    (Only::Errors, "errors"),
    (Only::Warnings, "warnings"),
    (Only::Damaged, "damaged"),
    (Only::Healthy, "healthy"),
    (Only::Unjudged, "unjudged"),
    (Only::Live, "live"),
];

/// Parameter of the address: the state of the listed runs.
pub(super) const ONLY: Setting<Only> = Key::of_words("only", &WORDS).or(Only::All);

impl Only {
    /// The states, worst first.
    pub(super) const STATES: [Self; 5] = [
        Self::Errors,
        Self::Warnings,
        Self::Damaged,
        Self::Healthy,
        Self::Unjudged,
    ];

    /// The word in the address and in the filter; none for all.
    pub(super) fn text(self) -> Option<&'static str> {
        let found = WORDS.iter().find(|(only, _)| *only == self);
        found.map(|(_, word)| *word)
    }

    /// The state of a run.
    pub(super) fn of(run: &Run) -> Self {
        match worst(run) {
            Some(Severity::Error) => Self::Errors,
            Some(_) => Self::Warnings,
            None if Files::of(run).is_bad() => Self::Damaged,
            None => match run.health.as_ref().map(|health| health.verdict) {
                Some(Verdict::NoProblem) => Self::Healthy,
                _ => Self::Unjudged,
            },
        }
    }

    pub(super) fn holds(self, run: &Run) -> bool {
        match self {
            Self::All => true,
            Self::Live => run.status == RunStatus::Live,
            state => Self::of(run) == state,
        }
    }
}

/// Maximum severity of a run's findings; informational ones do not count.
pub(super) fn worst(run: &Run) -> Option<Severity> {
    let counts = run.health.as_ref()?.counts;
    match counts {
        HitCounts { error: 1.., .. } => Some(Severity::Error),
        HitCounts { warning: 1.., .. } => Some(Severity::Warning),
        _ => None,
    }
}

/// Number of runs per state button, without hidden ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) all: u64,
    /// In the order of [`Only::STATES`].
    pub(super) states: [u64; Only::STATES.len()],
    pub(super) live: u64,
}

impl Counts {
    pub(super) fn of<'a>(runs: impl Iterator<Item = &'a Run>) -> Self {
        let mut counts = Self::default();
        for run in runs {
            counts.all += 1;
            let state = Only::of(run);
            for (count, only) in counts.states.iter_mut().zip(Only::STATES) {
                *count += u64::from(only == state);
            }
            counts.live += u64::from(Only::Live.holds(run));
        }
        counts
    }

    /// Number of runs in a state.
    pub(super) fn of_state(self, only: Only) -> u64 {
        let counts = Only::STATES.into_iter().zip(self.states);
        counts
            .filter(|(state, _)| *state == only)
            .map(|(_, count)| count)
            .sum()
    }
}

/// Damage of a run's files, worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Files {
    /// No file is known.
    None,
    /// All files were read to their end.
    Readable,
    /// Number of files that end within a record and have no writer.
    Truncated(u64),
    /// The files were removed.
    Gone,
    /// Number of files that cannot be opened.
    Unreadable(u64),
    /// Number of files with an unreadable range.
    Damaged(u64),
}

impl Files {
    /// Worst state of a run's files.
    pub(super) fn of(run: &Run) -> Self {
        let count = |status| {
            run.files
                .iter()
                .filter(|file| file.status == status)
                .count() as u64
        };
        let (damaged, unreadable) = (count(FileStatus::Damaged), count(FileStatus::Unreadable));
        let truncated = count(FileStatus::Truncated);
        if damaged > 0 {
            Self::Damaged(damaged)
        } else if unreadable > 0 {
            Self::Unreadable(unreadable)
        } else if run.status == RunStatus::Gone {
            Self::Gone
        } else if truncated > 0 && run.status != RunStatus::Live {
            Self::Truncated(truncated)
        } else if run.files.is_empty() {
            Self::None
        } else {
            Self::Readable
        }
    }

    /// `true` if recorded data are lost.
    pub(super) fn is_bad(self) -> bool {
        matches!(
            self,
            Self::Damaged(_) | Self::Unreadable(_) | Self::Truncated(_)
        )
    }
}

#[cfg(test)]
mod tests;
