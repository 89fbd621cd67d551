//! Messages between this process and the Python processes of the command: files in a temporary folder.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, test_kill_process};
use tempfile::TempDir;

use crate::cli::mistake::Mistake;

/// Loaded by each Python whose `PYTHONPATH` has its folder.
const SITE: &str =
    include_str!("../../../../collector/python/python/trainscope/_site/sitecustomize.py");
/// Maximum length of a path that is read.
const MAX_PATH_BYTES: u64 = 1 << 16;

/// The temporary folder of one `trainscope run`.
pub(super) struct Launcher {
    path: PathBuf,
    /// Removes the folder at the end; `None` for the folder of another process.
    temporary: Option<TempDir>,
}

/// A run that a process has recorded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RunRecord {
    pub(super) folder: PathBuf,
    pub(super) process: i32,
}

impl Launcher {
    /// Makes the folder, with `sitecustomize.py` in a subfolder.
    pub(super) fn make() -> Result<Self, Mistake> {
        let make = || {
            let folder = tempfile::Builder::new()
                .prefix("trainscope-run-")
                .tempdir()?;
            let site = folder.path().join("site");
            fs::create_dir(&site)?;
            fs::write(site.join("sitecustomize.py"), SITE)?;
            Ok(folder)
        };
        let folder: TempDir = make().map_err(|error: std::io::Error| {
            Mistake::new(2, format!("no temporary folder: {error}"))
                .attempt("TMPDIR=DIR with a folder that may be written to")
        })?;
        Ok(Self {
            path: folder.path().to_owned(),
            temporary: Some(folder),
        })
    }

    /// The folder of another process.
    pub(super) fn of(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            temporary: None,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// `PYTHONPATH` of this process, after the folder with `sitecustomize.py`.
    pub(super) fn python_path(&self) -> OsString {
        let mut path = self.path.join("site").into_os_string();
        if let Some(given) = std::env::var_os("PYTHONPATH").filter(|value| !value.is_empty()) {
            path.push(":");
            path.push(given);
        }
        path
    }

    /// True if a process has left a file of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.path.join(name).exists()
    }

    /// The frameworks that were imported.
    pub(super) fn imported(&self) -> Vec<String> {
        let mut all: Vec<String> = self
            .names()
            .into_iter()
            .filter_map(|name| name.strip_prefix("imported-").map(str::to_owned))
            .collect();
        all.sort();
        all
    }

    /// The runs that the processes have recorded.
    pub(super) fn recorded(&self) -> Vec<RunRecord> {
        let mut all: Vec<RunRecord> = self
            .names()
            .into_iter()
            .filter_map(|name| {
                let process = name.strip_prefix("run-")?.parse().ok()?;
                let file = self.path.join(&name);
                let folder = crate::files::read_text(&file, MAX_PATH_BYTES).ok()?;
                Some(RunRecord {
                    folder: PathBuf::from(folder),
                    process,
                })
            })
            .collect();
        all.sort();
        all
    }

    fn names(&self) -> Vec<String> {
        let entries = self.path.read_dir().into_iter().flatten().flatten();
        entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect()
    }

    /// Removes the folder, unless a process of the command still records: its children read the folder.
    pub(super) fn leave(self) {
        let is_used = self.recorded().iter().any(RunRecord::is_alive);
        if let Some(temporary) = self.temporary
            && is_used
        {
            let _stays = temporary.keep();
        }
    }
}

impl RunRecord {
    /// True while the process exists.
    pub(super) fn is_alive(&self) -> bool {
        let process = Some(self.process).filter(|process| *process > 0);
        process
            .and_then(Pid::from_raw)
            .is_some_and(|pid| test_kill_process(pid).is_ok())
    }
}
