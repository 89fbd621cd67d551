//! The attach file: a server asks a running training to connect.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Deserialize;

/// Maximum size of the file in bytes.
const MAX_BYTES: u64 = 4_096;
/// Permissions of group and others.
#[cfg(unix)]
const OTHERS: u32 = 0o077;
/// Age after which it is ignored.
const MAX_AGE: Duration = Duration::from_mins(10);

/// Path of the attach file of a run.
pub(crate) fn path_of(run: &Path) -> PathBuf {
    run.join(".trainscope").join("attach.json")
}

/// Content of an attach file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct AttachFile {
    pub(crate) address: String,
    #[serde(default)]
    pub(crate) token: Option<String>,
    /// Seconds since 1970.
    pub(crate) asked_secs: f64,
}

/// Reads the file if it is a regular file of this user that no other can read, small and new. Any other file is
/// ignored: a stranger may have written it.
pub(crate) fn read(path: &Path) -> Option<AttachFile> {
    let file = open(path).ok()?;
    let metadata = file.metadata().ok()?;
    let modified = metadata.modified().ok()?;
    let age = SystemTime::now()
        .duration_since(modified)
        .unwrap_or_default();
    if !metadata.is_file() || metadata.len() > MAX_BYTES || age >= MAX_AGE || !is_private(&metadata)
    {
        return None;
    }
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Opens without following a symbolic link, and without waiting for the other end of a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    File::options().read(true).custom_flags(flags).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    if std::fs::symlink_metadata(path)?.is_file() {
        File::open(path)
    } else {
        Err(io::ErrorKind::InvalidInput.into())
    }
}

#[cfg(unix)]
fn is_private(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    #[expect(
        unsafe_code,
        reason = "the only way to ask for the user of the process"
    )]
    // SAFETY: the call has no preconditions and always succeeds.
    let user = unsafe { libc::geteuid() };
    metadata.uid() == user && metadata.mode() & OTHERS == 0
}

/// Other systems have no such permissions: their users set the address in the environment.
#[cfg(not(unix))]
fn is_private(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::time::{Duration, SystemTime};

    use super::{MAX_BYTES, path_of, read};

    const TEXT: &str =
        r#"{"address":"http://127.0.0.1:1","token":"t","asked_secs":1.5,"by":"page"}"#;

    #[test]
    fn only_a_private_regular_small_new_file_is_read() {
        let run = tempfile::tempdir().unwrap();
        let path = path_of(run.path());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert_eq!(read(&path), None);
        let write = |text: &str| {
            drop(fs::remove_file(&path));
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        };
        write(TEXT);
        let file = read(&path).unwrap();
        assert_eq!(file.address, "http://127.0.0.1:1");
        assert_eq!(file.token.as_deref(), Some("t"));
        for mode in [0o640, 0o604, 0o620] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert_eq!(read(&path), None, "{mode:o}");
        }
        for text in ["", "{", "[]", r#"{"address":1}"#] {
            write(text);
            assert_eq!(read(&path), None, "{text}");
        }
        let blanks = usize::try_from(MAX_BYTES).unwrap();
        write(&format!("{TEXT}{}", " ".repeat(blanks)));
        assert_eq!(read(&path), None, "too long");
        write(TEXT);
        let old = SystemTime::now() - Duration::from_secs(601);
        fs::File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(old)
            .unwrap();
        assert_eq!(read(&path), None, "too old");
        let other = run.path().join("other.json");
        write(TEXT);
        fs::rename(&path, &other).unwrap();
        symlink(&other, &path).unwrap();
        assert_eq!(read(&path), None, "a symbolic link");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(read(&path), None, "a folder");
    }

    #[test]
    fn a_file_of_another_user_is_not_read() {
        // Only root can give files away.
        let run = tempfile::tempdir().unwrap();
        let path = path_of(run.path());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, TEXT).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        if std::os::unix::fs::chown(&path, Some(12_345), None).is_ok() {
            assert_eq!(read(&path), None);
        } else {
            assert!(read(&path).is_some());
        }
    }
}
