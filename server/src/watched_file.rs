//! A small text file that people edit too: read again when it has changed, and replaced at once.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::discovery::stamp::Stamp;
use crate::files;

/// Maximum size of a file; handwritten ones are far smaller.
const MAX_FILE_BYTES: u64 = 8 << 20;

/// Time after which an empty file counts as intentionally empty.
const SETTLES: Duration = Duration::from_millis(200);

/// The file, which need not exist.
pub(crate) struct WatchedFile {
    path: PathBuf,
    /// As it was read or written last; `None`: it did not exist.
    stamp: Option<Stamp>,
}

impl WatchedFile {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, stamp: None }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The text, if the file has changed since it was read or written last: `Ok(None)` for one that is gone.
    pub(crate) fn read_change(&mut self) -> Option<io::Result<Option<String>>> {
        let now = self.look();
        if now == self.stamp || self.is_being_written(now) {
            return None;
        }
        self.stamp = now;
        let text = now.map(|_| files::read_text(&self.path, MAX_FILE_BYTES));
        Some(text.transpose())
    }

    /// Replaces the content.
    pub(crate) fn write(&mut self, text: &str) -> io::Result<()> {
        files::replace(&self.path, text)?;
        self.stamp = self.look();
        Ok(())
    }

    /// Removes the file, if it exists.
    pub(crate) fn remove(&mut self) -> io::Result<()> {
        files::remove(&self.path)?;
        self.stamp = None;
        Ok(())
    }

    /// True if the file has just become empty: most programs empty a file before they write into it.
    fn is_being_written(&self, now: Option<Stamp>) -> bool {
        let was_full = self.stamp.is_some_and(|stamp| stamp.len_bytes > 0);
        let is_new = |stamp: Stamp| stamp.modified.elapsed().is_ok_and(|age| age < SETTLES);
        was_full && now.is_some_and(|now| now.len_bytes == 0 && is_new(now))
    }

    fn look(&self) -> Option<Stamp> {
        let metadata = files::listed(&self.path)?;
        Some(Stamp::new(&metadata))
    }
}

#[cfg(test)]
mod tests {
    use super::{SETTLES, WatchedFile};
    use std::time::SystemTime;

    #[test]
    fn a_file_that_is_emptied_to_be_written_is_not_read_as_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.toml");
        std::fs::write(&path, "a = 1").unwrap();
        let mut watched = WatchedFile::new(path.clone());
        assert_eq!(watched.read_change().unwrap().unwrap().unwrap(), "a = 1");

        let emptied = std::fs::File::create(&path).unwrap();
        assert!(watched.read_change().is_none());
        std::fs::write(&path, "b = 2").unwrap();
        assert_eq!(watched.read_change().unwrap().unwrap().unwrap(), "b = 2");

        // Emptied a while ago: intentional.
        emptied.set_len(0).unwrap();
        emptied.set_modified(SystemTime::now() - SETTLES).unwrap();
        assert_eq!(watched.read_change().unwrap().unwrap().unwrap(), "");
    }
}
