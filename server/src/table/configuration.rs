//! Configuration files in the folder of a run.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
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
            let result = match read_inside(folder, &path) {
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

/// Reads a file whose real place is in the folder: a link out of it could show any file of this machine.
fn read_inside(folder: &Path, path: &str) -> io::Result<Vec<u8>> {
    let place = folder.join(path);
    // Most runs have few of the files, and finding real places costs many system calls.
    place.symlink_metadata()?;
    let (folder, place) = (folder.canonicalize()?, place.canonicalize()?);
    if !place.starts_with(&folder) {
        let reason = "it is a link out of the folder of the run";
        return Err(io::Error::new(ErrorKind::PermissionDenied, reason));
    }
    files::read(&place, MAX_LEN_BYTES)
}

/// Number that changes with the configuration files of a folder: their sizes and times.
pub(super) fn stamp(folder: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    let files = ConfigFormat::paths().map(|(path, _)| path);
    for path in files {
        let facts = folder.join(path).metadata().ok();
        facts
            .map(|own| (own.len(), own.modified().ok()))
            .hash(&mut hasher);
    }
    hasher.finish()
}

/// Paths of the configuration files in a folder, with their text.
pub(crate) fn texts(folder: &Path) -> Vec<(String, String)> {
    let paths = ConfigFormat::paths();
    paths
        .filter_map(|(path, _)| {
            let bytes = read_inside(folder, &path).ok()?;
            Some((path, String::from_utf8_lossy(&bytes).into_owned()))
        })
        .collect()
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
