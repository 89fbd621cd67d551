//! Results of commands in files and on standard output: a file is replaced once it is complete.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use super::mistake::Mistake;
use super::{CommandError, words};
use crate::files;

/// Error for a path that cannot be written.
pub(super) fn unwritable(path: &Path, error: &std::io::Error) -> Mistake {
    Mistake::new(2, format!("the result cannot be written: {error}"))
        .at(format!("--output {}", words::path(path)))
        .attempt("--output in a folder that is there and may be written to")
}

/// Writes a result to a file, or without a path to standard output, as it is.
pub(super) fn write_to(
    path: Option<&Path>,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let Some(path) = path else {
        let mut out = BufWriter::new(std::io::stdout());
        write(&mut out)?;
        return out.flush().map_err(CommandError::Output);
    };
    replace(path, write)
}

/// Writes a temporary file and renames it when it is complete.
pub(super) fn replace(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let failed = |error: std::io::Error| CommandError::from(unwritable(path, &error));
    if files::is_address(path) {
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        return files::upload(path, &mut &*bytes, bytes.len() as u64).map_err(failed);
    }
    // Anything but a regular file (`/dev/null`, a pipe) is written to directly.
    if path.exists() && !path.is_file() {
        let mut out = BufWriter::new(File::create(path).map_err(failed)?);
        write(&mut out)?;
        return out.flush().map_err(failed);
    }
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let mut file =
        tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(failed)?;
    let mut out = BufWriter::new(&mut file);
    write(&mut out)?;
    out.flush().map_err(failed)?;
    drop(out);
    readable(file.path()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Temporary files are private; results get the usual permissions.
pub(super) fn readable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644))
}
