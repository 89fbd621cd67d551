//! Identity of a file: its run and rank, and marks that distinguish it from a file that has replaced it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::files::{self, File, Metadata};

/// Device and inode: a file keeps them when it is renamed. Of an object, a number that stays while it grows.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl Identity {
    /// Device and inode from metadata.
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.identity.0,
            inode: metadata.identity.1,
        }
    }
}

/// Run, rank and paths of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) run: Arc<str>,
    /// Path for display: relative to its base directory, with `/` between parts.
    pub(crate) path: Arc<str>,
    /// The path to open.
    pub(crate) full: PathBuf,
    /// Rank that writes it.
    pub(crate) rank: u32,
}

/// First bytes of a file, to detect a replaced file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head(pub(crate) Vec<u8>);

/// Maximum length of a [`Head`]. Each event file differs in its first 64 bytes: they hold its wall time.
const HEAD_BYTES: usize = 64;

/// Identity and first bytes of a file: enough to distinguish it from a file that has replaced it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileId {
    pub(crate) identity: Identity,
    pub(crate) head: Head,
}

impl FileId {
    /// True if both can be one file at two times: a short file had fewer first bytes.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let (a, b) = (&self.head.0, &other.head.0);
        self.identity == other.identity && (a.starts_with(b) || b.starts_with(a))
    }
}

/// A file opened for reading, with its properties at that time.
pub(crate) struct OpenFile {
    pub(crate) file: File,
    pub(crate) id: Arc<FileId>,
    pub(crate) len_bytes: u64,
    pub(crate) modified: Option<SystemTime>,
}

impl OpenFile {
    /// Opens a regular file.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = files::open(path)?;
        let metadata = file.metadata()?;
        let head = file.first(HEAD_BYTES)?;
        let id = FileId {
            identity: Identity::of(&metadata),
            head: Head(head),
        };
        Ok(Self {
            file,
            id: Arc::new(id),
            len_bytes: metadata.len_bytes,
            modified: metadata.modified,
        })
    }

    /// True if it can be the file of which `fed_bytes` bytes were read, grown or unchanged.
    pub(crate) fn continues(&self, earlier: &FileId, fed_bytes: u64) -> bool {
        self.len_bytes >= fed_bytes && self.id.is_same(earlier)
    }
}
