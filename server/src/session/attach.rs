//! Attach files: a training that runs already is asked to connect.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use super::entry::now_secs;

/// Time after which an attach file is removed.
pub(crate) const VALID_FOR: Duration = Duration::from_mins(10);

/// Address and token of this server, for trainings on this machine.
#[derive(Clone, Default)]
pub(crate) struct Server {
    pub(crate) address: String,
    pub(crate) token: Option<String>,
}

/// Error of a request to attach.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AttachError {
    #[error("there is no such run")]
    UnknownRun,
    #[error("the attach file {path} cannot be written: {source}")]
    Unwritable { path: PathBuf, source: io::Error },
}

/// Content of the file.
#[derive(Serialize)]
struct AttachFile<'a> {
    address: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    asked_secs: f64,
    by: &'a str,
}

/// Writes the attach file of a run, readable by this user only.
pub(crate) fn write(run: &Path, server: &Server) -> Result<PathBuf, AttachError> {
    if !run.is_dir() {
        return Err(AttachError::UnknownRun);
    }
    let folder = run.join(".trainscope");
    let path = folder.join("attach.json");
    let file = AttachFile {
        address: server.address.trim_end_matches('/'),
        token: server.token.as_deref(),
        asked_secs: now_secs(),
        by: "trainscope",
    };
    let written = fs::create_dir_all(&folder).and_then(|()| {
        let text = serde_json::to_vec(&file)?;
        // The file appears whole, with its permissions.
        let mut draft = tempfile::NamedTempFile::new_in(&folder)?;
        draft.write_all(&text)?;
        private(draft.path())?;
        draft.persist(&path).map_err(|error| error.error)?;
        Ok(())
    });
    match written {
        Ok(()) => Ok(path),
        Err(source) => Err(AttachError::Unwritable { path, source }),
    }
}

#[cfg(unix)]
fn private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    fs::set_permissions(path, Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn private(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Removes an attach file, and its folder if nothing else is in it.
pub(crate) fn remove(file: &Path) {
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            tracing::warn!(%error, file = %file.display(), "an attach file stays");
        }
        _ => {
            if let Some(folder) = file.parent() {
                // It may have other files.
                drop(fs::remove_dir(folder));
            }
        }
    }
}
