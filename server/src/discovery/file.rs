//! Identity of a file: where it belongs, and how to tell it from another one that took its place.

use std::fs::{File, Metadata};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Device and inode: a file keeps them when it is renamed.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub(crate) struct Identity {
    /// Device number.
    pub(crate) device: u64,
    /// Inode number.
    pub(crate) inode: u64,
}

impl Identity {
    /// The file that metadata are of.
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
}

/// Run, rank and paths of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Place {
    /// Name of its run.
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

/// Most bytes of a [`Head`]. Each event file differs in its first 64: they hold its wall time.
const HEAD_BYTES: usize = 64;

impl Head {
    /// Reads the first bytes of a file.
    pub(crate) fn read(file: &mut File) -> std::io::Result<Self> {
        let mut head = Vec::with_capacity(HEAD_BYTES);
        file.seek(SeekFrom::Start(0))?;
        file.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
        Ok(Self(head))
    }
}
