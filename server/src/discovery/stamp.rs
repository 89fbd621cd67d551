//! Stamps of files: a file with the same stamp has not changed.

use std::io;
use std::time::SystemTime;

use crate::files::Metadata;

/// Size and modification time of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    pub(crate) len_bytes: u64,
    pub(crate) modified: SystemTime,
}

impl Stamp {
    pub(super) fn of(metadata: &io::Result<Metadata>) -> Self {
        let unknown = Self {
            len_bytes: 0,
            modified: SystemTime::UNIX_EPOCH,
        };
        metadata.as_ref().map_or(unknown, Self::new)
    }

    pub(crate) fn new(metadata: &Metadata) -> Self {
        Self {
            len_bytes: metadata.len_bytes,
            modified: metadata.modified.unwrap_or(SystemTime::UNIX_EPOCH),
        }
    }
}
