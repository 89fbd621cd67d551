//! A temporary place with base directories, a cache and a home, so that tests are isolated.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::server::Server;
use super::{EventFile, event_file};

/// A temporary place, removed at the end.
pub(crate) struct Lab {
    folder: TempDir,
}

/// Wall time of the first record of every run that a test writes.
pub(crate) const STARTED_SECS: f64 = 1_760_000_000.0;

impl Lab {
    /// Creates an empty place.
    pub(crate) fn new() -> Self {
        let lab = Self {
            folder: TempDir::new().unwrap(),
        };
        fs::create_dir(lab.base()).unwrap();
        lab
    }

    /// The base directory of [`Lab::start`].
    pub(crate) fn base(&self) -> PathBuf {
        self.path("base")
    }

    /// Folder of the index.
    pub(crate) fn cache(&self) -> PathBuf {
        self.path("cache")
    }

    /// A path of that name in this place.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Replaces a file at once: the server never reads an incomplete one, which may be valid.
    pub(crate) fn replace(&self, path: &Path, text: &str) {
        let written = self.path("replacement");
        fs::write(&written, text).unwrap();
        fs::rename(&written, path).unwrap();
    }

    /// Starts a run in the base directory, with the version record in its file.
    pub(crate) fn record(&self, run: &str) -> Recording {
        Recording::begin(&self.base().join(run))
    }

    /// Copies a folder of `tests/fixtures` into the base directory.
    pub(crate) fn copy_fixture(&self, name: &str, to: &str) {
        copy_folder(&fixture(name), &self.base().join(to));
    }

    /// Starts the server on the base directory.
    pub(crate) fn start(&self) -> Server {
        self.start_with(&[])
    }

    /// The same with further flags.
    pub(crate) fn start_with(&self, flags: &[&str]) -> Server {
        self.start_on(&[&self.base()], flags)
    }

    /// Starts the server on other folders.
    pub(crate) fn start_on(&self, base_dirs: &[&Path], flags: &[&str]) -> Server {
        Server::start(self, base_dirs, flags)
    }
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    workspace_root().join("tests/fixtures").join(name)
}

/// Folder of the root manifest.
pub(crate) fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_path_buf()
}

/// Copies a folder recursively.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A run being written. Each record is on disk when the call returns.
pub(crate) struct Recording {
    path: PathBuf,
    file: EventFile<File>,
}

impl Recording {
    /// Begins a run in `folder`, which is created.
    pub(crate) fn begin(folder: &Path) -> Self {
        Self::begin_file(
            &folder.join("events.out.tfevents.1760000000.host.1.0"),
            STARTED_SECS,
        )
    }

    /// Begins a file of any name.
    pub(crate) fn begin_file(path: &Path, wall_time_secs: f64) -> Self {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(path).unwrap();
        // Other writers may write at any time: always append.
        let file = OpenOptions::new().append(true).open(path).unwrap();
        let file = EventFile::begin(file, wall_time_secs).unwrap();
        Self {
            path: path.to_path_buf(),
            file,
        }
    }

    /// Writes one scalar; wall times follow the steps, ten per second.
    pub(crate) fn scalar(&mut self, tag: &str, step: i64, value: f32) -> &mut Self {
        self.scalar_at(tag, step, STARTED_SECS + step as f64 / 10.0, value)
    }

    /// Writes one scalar with a wall time.
    pub(crate) fn scalar_at(
        &mut self,
        tag: &str,
        step: i64,
        wall_time_secs: f64,
        value: f32,
    ) -> &mut Self {
        self.file
            .scalars(wall_time_secs, step, &[(tag, value)])
            .unwrap();
        self.file.flush().unwrap();
        self
    }

    /// Writes the points `(step, value(step))` of a range.
    pub(crate) fn curve(
        &mut self,
        tag: &str,
        steps: std::ops::Range<i64>,
        value: impl Fn(i64) -> f32,
    ) -> &mut Self {
        let mut bytes = Vec::new();
        let mut event = Vec::new();
        for step in steps {
            event.clear();
            event_file::put_scalars(
                &mut event,
                STARTED_SECS + step as f64 / 10.0,
                step,
                &[(tag, value(step))],
            );
            event_file::put_frame(&mut bytes, &event);
        }
        self.bytes(&bytes)
    }

    /// Writes raw bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        use std::io::Write;
        OpenOptions::new()
            .append(true)
            .open(&self.path)
            .unwrap()
            .write_all(bytes)
            .unwrap();
        self
    }

    /// Path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Length of the file in bytes.
    pub(crate) fn len_bytes(&self) -> u64 {
        fs::metadata(&self.path).unwrap().len()
    }
}
