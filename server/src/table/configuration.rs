//! Configuration files in the folder of a run.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
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
    /// Reads all configuration files of a folder; an unreadable file does not affect the others.
    pub(super) fn read(folder: &Path) -> Self {
        let mut all = Self::default();
        for (path, format) in ConfigFormat::paths() {
            let result = match files::read_inside(folder, &path, MAX_LEN_BYTES) {
                Ok(bytes) => leaves(&bytes, format).map_err(|error| error.to_string()),
                Err(error) if files::is_absent(&error) => continue,
                Err(error) => Err(error.to_string()),
            };
            match result {
                Ok(leaves) => all.files.push((path, leaves)),
                Err(reason) => all.faults.push((path, reason)),
            }
        }
        all
    }
}

/// Number that changes with the configuration files of a folder: their sizes and times.
pub(super) fn stamp(folder: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    let files = ConfigFormat::paths().map(|(path, _)| path);
    for path in files {
        let facts = files::metadata(&folder.join(path)).ok();
        facts
            .map(|metadata| (metadata.len_bytes, metadata.modified))
            .hash(&mut hasher);
    }
    hasher.finish()
}

/// Paths of the configuration files in a folder, with their text.
pub(crate) fn texts(folder: &Path) -> Vec<(String, String)> {
    let paths = ConfigFormat::paths();
    paths
        .filter_map(|(path, _)| {
            let bytes = files::read_inside(folder, &path, MAX_LEN_BYTES).ok()?;
            Some((path, String::from_utf8_lossy(&bytes).into_owned()))
        })
        .collect()
}
