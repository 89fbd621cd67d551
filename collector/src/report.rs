//! What a collector says of its own work: how much it wrote, and what was lost, and why.

use std::path::PathBuf;

/// What became of everything that was recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CollectorReport {
    /// The event files written to, in order.
    pub files: Vec<PathBuf>,
    /// Records that the system has taken for writing.
    pub records_written: u64,
    /// Bytes of event files that the system has taken.
    pub bytes_written: u64,
    /// Files of tensors in full.
    pub dumps_written: u64,
    /// Records that are in no file, by reason.
    pub lost: Lost,
    /// Tensors whose change was asked for and not computed, because their earlier state did not fit into memory.
    pub changes_skipped: u64,
    /// How many seconds the system's clock was set back while recording; records went on with the time that passed.
    pub clock_set_back_secs: f64,
    /// The first error of the file system, as a sentence.
    pub first_error: Option<String>,
    /// Whether the last file was closed; `false` while recording, and where the disk hung until the end.
    pub is_closed: bool,
}

impl CollectorReport {
    /// Whether all that was recorded is in the files.
    pub fn is_complete(&self) -> bool {
        self.is_closed && self.lost.total() == 0
    }
}

/// Records that are in no file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// The queue was full: the disk was too slow.
    pub queue_full: u64,
    /// The file system refused them.
    pub disk: u64,
    /// Somebody removed the file they were in.
    pub removed: u64,
    /// They came after the end.
    pub after_finish: u64,
    /// They came from a fork of the process that records.
    pub forked: u64,
    /// They could not be encoded: sizes that do not fit the data, say.
    pub invalid: u64,
}

impl Lost {
    /// All of them.
    pub fn total(&self) -> u64 {
        let Self {
            queue_full,
            disk,
            removed,
            after_finish,
            forked,
            invalid,
        } = self;
        [queue_full, disk, removed, after_finish, forked, invalid]
            .into_iter()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }
}
