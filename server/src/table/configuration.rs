//! Configuration files in the folder of a run.

use std::io::{self, ErrorKind};
use std::path::Path;

use trainscope_format::formats::config::{ConfigFormat, Leaves, MAX_LEN_BYTES, leaves};

use crate::files;

/// Content of the configuration files of a run.
#[derive(Debug, Default)]
pub(super) struct Configurations {
    /// Path below the folder of the run, and values.
    pub(super) files: Vec<(String, Leaves)>,
    /// Path and reason for each file that cannot be read.
    pub(super) faults: Vec<(String, String)>,
}

impl Configurations {
    /// Reads all configuration files of a folder; a file that cannot be read does no harm to the others.
    pub(super) fn read(folder: &Path) -> Self {
        let mut own = Self::default();
        for (path, format) in ConfigFormat::paths() {
            let result = match files::read(&folder.join(&path), MAX_LEN_BYTES) {
                Ok(bytes) => leaves(&bytes, format).map_err(|error| error.to_string()),
                Err(error) if is_absent(&error) => continue,
                Err(error) => Err(error.to_string()),
            };
            match result {
                Ok(leaves) => own.files.push((path, leaves)),
                Err(reason) => own.faults.push((path, reason)),
            }
        }
        own
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
