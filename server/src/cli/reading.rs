//! Reads one run like `start`, into a temporary index: exports match the pages.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use trainscope_analysis::watchpoint::Watchpoints;
use trainscope_api::compare::CompareFault;
use trainscope_api::runs::Run;
use trainscope_api::tags::Tag;
use trainscope_format::Kind;

use super::check::{look, note_special, nothing_in, title};
use super::mistake::Mistake;
use super::words;
use crate::discovery::runs::RunFiles;
use crate::files;
use crate::index::{Index, ReadError};
use crate::ingest::{IngestSettings, Ingester};
use crate::judging::JudgedRun;
use crate::judging::judge;
use crate::watchpoints::WatchpointFile;

/// Polling interval of the reading progress.
const PAUSE: Duration = Duration::from_millis(2);

/// A run that was read.
pub(super) struct Reading {
    pub(super) index: Index,
    /// Its name in the index.
    pub(super) run: String,
    /// Path as typed on the command line.
    pub(super) title: String,
    found: RunFiles,
    dir: PathBuf,
    /// The base directory of the index.
    bases: [PathBuf; 1],
    _store: Arc<Store>,
}

/// A temporary index of all files below a folder, which several readings share.
struct Store {
    index: Index,
    base: PathBuf,
    /// Reads until it is dropped.
    _ingester: Ingester,
    _cache: TempDir,
}

impl Store {
    /// Reads all records below a folder, or of a single file.
    fn read(dir: &Path) -> Result<Arc<Self>, Mistake> {
        let failed = |error: &dyn std::fmt::Display| {
            Mistake::new(2, format!("{} cannot be read: {error}", words::path(dir)))
                .at(words::path(dir))
        };
        let cache = tempfile::tempdir().map_err(|error| {
            Mistake::new(2, format!("there is no room for temporary files: {error}"))
                .at(std::env::temp_dir().display().to_string())
                .attempt("free space, or set TMPDIR to another folder")
        })?;
        let base = files::canonical(dir).map_err(|error| failed(&error))?;
        let (ingester, index) = Ingester::start(IngestSettings {
            base_dirs: vec![base.clone()],
            cache_dir: cache.path().to_owned(),
            // One scan is enough.
            reload_interval: Duration::from_hours(1),
            file_events: false,
        })
        .map_err(|error| failed(&error))?;
        while !index.ingest().idle {
            std::thread::sleep(PAUSE);
        }
        Ok(Arc::new(Self {
            index,
            base,
            _ingester: ingester,
            _cache: cache,
        }))
    }
}

impl Reading {
    /// Reads all records of the run in a folder, or of a single file.
    pub(super) fn of(dir: &Path) -> Result<Self, Mistake> {
        let found = only_run(dir)?;
        let store = Store::read(dir)?;
        Ok(Self::over(&store, dir, found))
    }

    /// Reads all records of all runs below a folder, into one index.
    pub(super) fn all(dir: &Path) -> Result<Vec<Self>, Mistake> {
        let found = look(dir, files::threads([dir]))?;
        note_special(&found);
        if found.runs.is_empty() {
            return Err(nothing_in(dir, &found));
        }
        let store = Store::read(dir)?;
        let runs = found.runs.into_iter();
        Ok(runs.map(|run| Self::over(&store, dir, run)).collect())
    }

    fn over(store: &Arc<Store>, dir: &Path, found: RunFiles) -> Self {
        let base = store.base.clone();
        let folder = base.parent().filter(|_| files::is_file(&base));
        Self {
            index: store.index.clone(),
            run: found.name.clone(),
            title: title(dir, &found.name),
            found,
            dir: folder.unwrap_or(&base).to_owned(),
            bases: [base],
            _store: Arc::clone(store),
        }
    }

    /// The run's entry in the list of runs; `None` if it has only tensors.
    pub(super) fn info(&self) -> Option<Run> {
        self.index.describe(&self.run)
    }

    /// The base directories of its index.
    pub(super) fn base_dirs(&self) -> &[PathBuf] {
        &self.bases
    }

    /// Size of all files.
    pub(super) fn len_bytes(&self) -> u64 {
        self.found.len_bytes
    }

    /// Parts of event files that could not be read.
    pub(super) fn damage(&self) -> Vec<CompareFault> {
        let files = self.info().map(|run| run.files).unwrap_or_default();
        let damaged = files.into_iter().filter_map(|file| {
            Some(CompareFault {
                place: file.path,
                offset: file.offset.unwrap_or_default(),
                reason: file.reason?,
            })
        });
        damaged.collect()
    }

    /// Tags of all kinds.
    pub(super) fn tags(&self) -> Result<Vec<Tag>, Mistake> {
        let list = self.index.tags(&self.run);
        list.map(|list| list.tags)
            .map_err(|error| self.unread(&error))
    }

    pub(super) fn tags_of(&self, kind: Kind) -> Result<Vec<Tag>, Mistake> {
        let mut tags = self.tags()?;
        tags.retain(|tag| tag.kind == kind);
        Ok(tags)
    }

    /// Judgement of the run, by the watchpoints of its folder if there are any.
    pub(super) fn judged(&self) -> JudgedRun {
        // The watchpoints file is in the base directory, which is the folder of the run or one above it.
        let file = self
            .dir
            .ancestors()
            .map(|folder| (folder, folder.join(".trainscope/watchpoints.toml")));
        let found = file.into_iter().find(|(_, file)| files::is_listed(file));
        let (watchpoints, path) = match found {
            Some((folder, path)) => {
                let mut file = WatchpointFile::new(folder);
                file.look();
                let below = self.dir.strip_prefix(folder).unwrap_or(Path::new(""));
                let parts = below.iter().map(|part| part.to_string_lossy().into_owned());
                let parts: Vec<String> = parts
                    .chain((self.run != ".").then(|| self.run.clone()))
                    .collect();
                let name = if parts.is_empty() {
                    ".".to_owned()
                } else {
                    parts.join("/")
                };
                (file.of(&name).0.clone(), Some(path))
            }
            None => (Watchpoints::recommended(), None),
        };
        let threads = files::threads(self.bases.iter().map(PathBuf::as_path));
        let judged = judge::judge(&self.found, &watchpoints, threads, |_| {});
        let mut judged = JudgedRun::of(judged, (0, 0), 0, false);
        judged.watchpoints_file = path;
        judged
    }

    /// Converts a read error.
    pub(super) fn unread(&self, error: &ReadError) -> Mistake {
        let title = words::name(&self.title, None);
        Mistake::new(2, error.to_string()).at(title)
    }
}

/// The run of a folder, or else the only run below it. A single file is a run.
fn only_run(dir: &Path) -> Result<RunFiles, Mistake> {
    let mut found = look(dir, files::threads([dir]))?;
    note_special(&found);
    let count = found.runs.len();
    if let Some(at) = found.runs.iter().position(|run| run.name == ".") {
        return Ok(found.runs.swap_remove(at));
    }
    match found.runs.pop() {
        Some(run) if count == 1 => Ok(run),
        Some(run) => {
            let what = format!("{} holds {count} runs, and one is wanted", words::path(dir));
            let example = title(dir, &run.name);
            Err(Mistake::new(2, what).at(words::path(dir)).attempt(format!(
                "name one of them, such as {}",
                words::name(&example, None)
            )))
        }
        None => Err(nothing_in(dir, &found)),
    }
}
