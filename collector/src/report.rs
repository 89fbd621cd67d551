//! Report of a collector: written and lost records.

use std::path::PathBuf;

/// Outcome of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CollectorReport {
    /// The event files written to, in order.
    pub files: Vec<PathBuf>,
    /// Records handed over to the system.
    pub records_written: u64,
    /// Bytes of event files handed over to the system.
    pub bytes_written: u64,
    /// Number of dump files.
    pub dumps_written: u64,
    /// Lost records by reason.
    pub lost: LostRecords,
    /// Requested changes of tensors that were not computed because the snapshot exceeded the memory limit.
    pub changes_skipped: u64,
    /// Seconds that the system's clock was set back while recording; the times of records are not affected.
    pub clock_set_back_secs: f64,
    /// First error of the file system, as a sentence.
    pub first_error: Option<String>,
    /// `true` if the last file was closed; `false` while recording, or if the disk hung until the end.
    pub is_closed: bool,
}

impl CollectorReport {
    /// `true` if every record is in the files.
    pub fn is_complete(&self) -> bool {
        self.is_closed && self.lost.total() == 0
    }
}

/// Lost records by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostRecords {
    /// The queue was full: the disk was too slow.
    pub queue_full: u64,
    /// The file system returned an error.
    pub disk: u64,
    /// Their file was removed while it was open.
    pub removed: u64,
    /// They were recorded after the end.
    pub after_finish: u64,
    /// They were recorded in a fork of the process.
    pub forked: u64,
    /// They could not be encoded: sizes that do not match the data, for example.
    pub invalid: u64,
}

impl LostRecords {
    /// Sum over all reasons.
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
