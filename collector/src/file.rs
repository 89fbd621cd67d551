//! Event file writer: records are buffered in memory and written at each flush, in whole records or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Function that opens a file for writing; tests replace it to simulate full or hanging disks.
pub(crate) type OpenFile = fn(&Path) -> io::Result<File>;

/// Creates a file; fails if it exists.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Folder and name pattern of event files.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    pub(crate) host: String,
    pub(crate) process: u32,
    /// Follows the number of the file.
    pub(crate) suffix: String,
    pub(crate) open: OpenFile,
}

impl Place {
    /// Creates the next event file with the first free number.
    pub(crate) fn create(
        &self,
        unix_secs: f64,
        bytes_written: &Arc<AtomicU64>,
    ) -> io::Result<Output> {
        fs::create_dir_all(&self.folder)?;
        // A file of the year 2000 sorts before one of today, but one of the year 99 does not.
        let secs = unix_secs.floor().clamp(0.0, 1e11);
        for number in 0_u32.. {
            let name = format!(
                "events.out.tfevents.{secs:010}.{}.{}.{number}{}",
                self.host, self.process, self.suffix
            );
            let path = self.folder.join(name);
            match (self.open)(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                opened => {
                    return Ok(Output {
                        file: opened?,
                        path,
                        waiting: Vec::new(),
                        len_bytes: 0,
                        bytes_written: Arc::clone(bytes_written),
                    });
                }
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

/// An open event file. Writing never fails; flushing may.
#[derive(Debug)]
pub(crate) struct Output {
    file: File,
    pub(crate) path: PathBuf,
    waiting: Vec<u8>,
    /// Length of the complete records in the file.
    len_bytes: u64,
    bytes_written: Arc<AtomicU64>,
}

/// Buffer capacity retained between flushes.
const KEPT_BYTES: usize = 1 << 20;

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.file.write_all(&self.waiting)?;
        let len_bytes = self.waiting.len() as u64;
        self.len_bytes += len_bytes;
        self.bytes_written.fetch_add(len_bytes, Ordering::Relaxed);
        self.waiting.clear();
        self.waiting.shrink_to(KEPT_BYTES);
        Ok(())
    }
}

impl Output {
    /// `true` if the file was removed from its folder: its content is lost when it is closed.
    pub(crate) fn is_removed(path: &Path) -> bool {
        matches!(fs::symlink_metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound)
    }

    /// Abandons the file after an error: truncates it to its last complete record, or removes it if it has none.
    pub(crate) fn abandon(self) {
        let cut = self.file.set_len(self.len_bytes);
        let is_empty = self.len_bytes == 0
            && fs::symlink_metadata(&self.path).is_ok_and(|metadata| metadata.is_file());
        if is_empty {
            drop(fs::remove_file(&self.path));
        }
        // If truncation fails, readers skip the incomplete last record.
        drop(cut);
    }
}
