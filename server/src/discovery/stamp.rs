//! Stamps of files: equal as long as a walk finds the same files unchanged.

use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::io;
use std::time::SystemTime;

use rustc_hash::FxHasher;

use super::find::{TensorKind, TensorSource};

/// Length and time of the last change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    pub(crate) len_bytes: u64,
    pub(crate) modified: SystemTime,
}

impl Stamp {
    pub(super) fn of(metadata: io::Result<fs::Metadata>) -> Self {
        let unknown = Self {
            len_bytes: 0,
            modified: SystemTime::UNIX_EPOCH,
        };
        metadata.map_or(unknown, |metadata| Self::new(&metadata))
    }

    pub(crate) fn new(metadata: &fs::Metadata) -> Self {
        Self {
            len_bytes: metadata.len(),
            modified: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
        }
    }
}

impl TensorSource {
    /// True if it is a constant of a graph.
    pub(crate) fn is_constant(&self) -> bool {
        matches!(self.kind, TensorKind::Constant { .. })
    }
}

/// The same as long as these files are as a walk has found them.
pub(crate) fn stamp(sources: &[TensorSource]) -> u64 {
    let mut hasher = FxHasher::default();
    for source in sources {
        (&source.path, source.stamp).hash(&mut hasher);
    }
    hasher.finish()
}
