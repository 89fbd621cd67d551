//! The folder of column files: one for each large profile that was read, up to a number of bytes.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tempfile::NamedTempFile;
use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::outline::Outline;
use trainscope_api::profile::{ProfileEntry, ProfileState, SessionSummary};
use trainscope_api::timeline::TimelineLanes;
use twox_hash::XxHash3_64;

use super::columns::{ColumnFile, ColumnWriter, FileStamp, Part, StoredTraceRef};
use super::loaded::LoadedProfile;
use super::sessions::SessionFiles;
use crate::files;

/// Extension of column files.
const EXTENSION: &str = "columns";
/// Start of the names of files that are being written.
const TEMPORARY: &str = ".writing-";
/// Smaller sources are read again: that takes less than a tenth of a second.
const MIN_SOURCE_BYTES: u64 = 4 << 20;
/// A source that was changed this recently may still grow.
const REST: Duration = Duration::from_secs(2);
/// A temporary file as old as this was left by a program that was ended.
const ABANDONED: Duration = Duration::from_hours(1);

/// The folder of column files. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct ColumnCache(Arc<Inner>);

/// A model of a column file.
pub(super) struct StoredModel {
    pub(super) model: Model,
    /// Problems of its files, as sentences.
    pub(super) faults: Vec<String>,
    /// Summary of all steps.
    pub(super) summary: SessionSummary,
}

struct Inner {
    folder: PathBuf,
    max_bytes: u64,
    min_source_bytes: u64,
    /// One file is written at a time.
    writing: Mutex<()>,
}

impl ColumnCache {
    /// The folder within a cache folder, with a maximum size of all column files. Tidies up in the background.
    pub(crate) fn open(cache_dir: &Path, max_bytes: u64) -> Self {
        let cache = Self::in_folder(cache_dir.join("profiles"), max_bytes, MIN_SOURCE_BYTES);
        let clone = cache.clone();
        spawn("columns-tidy", move || clone.tidy());
        cache
    }

    pub(super) fn in_folder(folder: PathBuf, max_bytes: u64, min_source_bytes: u64) -> Self {
        Self(Arc::new(Inner {
            folder,
            max_bytes,
            min_source_bytes,
            writing: Mutex::new(()),
        }))
    }

    /// The column file of a session, if it matches the files as they are.
    fn file(&self, session: &SessionFiles) -> Option<ColumnFile> {
        let (path, sources) = self.place(session)?;
        let read = ColumnFile::open(&path);
        if read
            .as_ref()
            .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        {
            return None;
        }
        let file = read.ok().filter(|file| file.sources() == sources);
        if file.is_none() {
            discard(&path);
        }
        file
    }

    /// Path of the column file of a session, and the files that it is made from; `None` for sessions that have none.
    pub(super) fn place(&self, session: &SessionFiles) -> Option<(PathBuf, Vec<FileStamp>)> {
        let sources = session.stamps()?;
        if session.len_bytes < self.0.min_source_bytes {
            return None;
        }
        let name = XxHash3_64::oneshot(&postcard::to_allocvec(&sources).ok()?);
        let path = self.0.folder.join(format!("{name:016x}.{EXTENSION}"));
        Some((path, sources))
    }

    /// A part of a column file. A file that cannot be read is removed.
    fn read<T>(
        &self,
        session: &SessionFiles,
        read: impl FnOnce(&ColumnFile) -> io::Result<T>,
    ) -> Option<T> {
        let file = self.file(session)?;
        match read(&file) {
            Ok(content) => Some(content),
            Err(error) => {
                let (path, _) = self.place(session)?;
                tracing::debug!(path = %path.display(), %error, "a column file is not used");
                discard(&path);
                None
            }
        }
    }

    /// Row of a session in the list.
    pub(super) fn entry(&self, session: &SessionFiles) -> Option<ProfileEntry> {
        let mut entry: ProfileEntry = self.read(session, |file| file.json(Part::Entry))?;
        session.id.clone_into(&mut entry.session);
        entry.rank = session.rank;
        entry.files = session.paths();
        Some(entry)
    }

    /// Lanes, steps and counters of a session.
    pub(super) fn lanes(&self, session: &SessionFiles) -> Option<TimelineLanes> {
        self.touch(session);
        self.read(session, |file| file.json(Part::Lanes))
    }

    /// Cells of the whole timeline of a session.
    pub(super) fn outline(&self, session: &SessionFiles) -> Option<Outline> {
        self.read(session, |file| file.value(Part::Outline))
            .flatten()
    }

    /// Bytes of the unpacked source that start at a place, if they are stored.
    pub(super) fn text(&self, session: &SessionFiles, place: u64, len: usize) -> Option<Vec<u8>> {
        self.read(session, |file| file.text(place, len)).flatten()
    }

    /// The model of a session, problems of its files, and its summary.
    pub(super) fn model(&self, session: &SessionFiles) -> Option<StoredModel> {
        self.touch(session);
        self.read(session, |file| {
            let stored = file.trace()?;
            let model = Model::of_sorted(stored.trace, stored.numbers);
            Ok(StoredModel {
                model: model.ok_or(io::ErrorKind::InvalidData)?,
                faults: stored.faults,
                summary: file.json(Part::Summary)?,
            })
        })
    }

    /// Marks a column file as used.
    fn touch(&self, session: &SessionFiles) {
        let Some((path, _)) = self.place(session) else {
            return;
        };
        // A missing or read-only file keeps its time of use.
        let opened = File::options().append(true).open(path);
        drop(opened.and_then(|file| file.set_modified(SystemTime::now())));
    }

    /// Writes the column file of a profile in the background, once its source has rested.
    pub(super) fn write_later(&self, loaded: &Arc<LoadedProfile>) {
        let Some((path, sources)) = self.place(loaded.files()) else {
            return;
        };
        if loaded.state() == ProfileState::Unreadable {
            return;
        }
        let (cache, loaded) = (self.clone(), Arc::clone(loaded));
        spawn("columns", move || {
            let changed = sources.iter().map(FileStamp::modified).max();
            let age = changed.and_then(|changed| changed.elapsed().ok());
            std::thread::sleep(REST.saturating_sub(age.unwrap_or(REST)));
            if let Err(error) = cache.write(&loaded, &path, &sources) {
                tracing::warn!(path = %path.display(), %error, "a column file was not written");
            }
            cache.tidy();
        });
    }

    pub(super) fn write(
        &self,
        loaded: &LoadedProfile,
        path: &Path,
        sources: &[FileStamp],
    ) -> io::Result<()> {
        let _one_at_a_time = self.0.writing.lock();
        fs::create_dir_all(&self.0.folder)?;
        let file = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .tempfile_in(&self.0.folder)?;
        fill(loaded, &file, sources.to_vec())?;
        // A source that has changed since has another content than the file is named after.
        let is_current = sources.iter().all(FileStamp::is_current);
        if is_current && file.as_file().metadata()?.len() <= self.0.max_bytes {
            file.persist(path).map_err(|error| error.error)?;
        }
        Ok(())
    }

    /// Removes column files whose sources are gone or were changed, files that were never completed, and the least
    /// recently used ones above the size limit.
    pub(super) fn tidy(&self) {
        let Ok(folder) = fs::read_dir(&self.0.folder) else {
            return;
        };
        let mut kept = Vec::new();
        for entry in folder.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            let Ok(used) = metadata.modified() else {
                continue;
            };
            if name.to_string_lossy().starts_with(TEMPORARY) {
                if used.elapsed().is_ok_and(|age| age > ABANDONED) {
                    discard(&path);
                }
            } else if path
                .extension()
                .is_some_and(|extension| extension == EXTENSION)
            {
                let is_current =
                    |file: &ColumnFile| file.sources().iter().all(FileStamp::is_current);
                if ColumnFile::open(&path).is_ok_and(|file| is_current(&file)) {
                    kept.push((used, metadata.len(), path));
                } else {
                    discard(&path);
                }
            }
        }
        kept.sort();
        let mut bytes: u64 = kept.iter().map(|(_, len, _)| len).sum();
        for (_, len, path) in kept {
            if bytes <= self.0.max_bytes {
                break;
            }
            discard(&path);
            bytes -= len;
        }
    }
}

/// Writes all parts of a column file.
fn fill(loaded: &LoadedProfile, file: &NamedTempFile, sources: Vec<FileStamp>) -> io::Result<()> {
    let mut writer = ColumnWriter::new(file.as_file(), sources)?;
    writer.json(&loaded.entry())?;
    writer.json(&loaded.lanes())?;
    writer.json(&loaded.summary())?;
    writer.value(&Outline::new(&loaded.model, loaded.levels()))?;
    writer.value(&StoredTraceRef {
        faults: loaded.own_faults(),
        numbers: loaded.model.numbers(),
        trace: &loaded.model.trace,
    })?;
    if let Some(entry) = loaded.files().arguments_file() {
        let mut source = files::open(&entry.full)?;
        if files::is_packed(&mut source)? {
            let read = loaded.model.trace.counts.bytes;
            writer.text(files::unpacked(source)?.take(read))?;
        }
    }
    writer.finish()?;
    Ok(())
}

/// Removes a file of the cache, if it exists.
fn discard(path: &Path) {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::debug!(path = %path.display(), %error, "a column file was not removed");
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().name(name.to_owned());
    if let Err(error) = thread.spawn(work) {
        tracing::warn!(%error, "no thread for column files");
    }
}
