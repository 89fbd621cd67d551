//! The loop that reads: look, tail, publish, checkpoint, notify.

use std::path::PathBuf;
use std::time::Duration;

use crate::index::Index;

/// What to read and where to keep what was read.
#[derive(Clone, Debug)]
pub struct IngestSettings {
    /// Base directories, canonical.
    pub base_dirs: Vec<PathBuf>,
    /// Folder for the index; created if missing.
    pub cache_dir: PathBuf,
    /// Time between two rescans.
    pub reload_interval: Duration,
    /// Whether to ask the system for file events too; rescans alone suffice.
    pub file_events: bool,
}

/// Why reading could not begin.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The folder for the index cannot be used.
    #[error("the cache folder {path} cannot be used: {source}")]
    Cache {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// The running loop. Dropping it stops reading without a last checkpoint.
pub struct Ingester {}

impl Ingester {
    /// Starts the loop on its own thread; returns at once, before anything is read.
    pub fn start(settings: IngestSettings) -> Result<(Self, Index), StartError> {
        Err(StartError::Cache {
            path: settings.cache_dir,
            source: std::io::Error::other("not yet"),
        })
    }

    /// Writes what is not committed and ends the loop.
    pub fn stop(self) {}
}
