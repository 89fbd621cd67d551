//! Profiles of runs: sessions × ranks from the files of profilers, read on request and kept while used.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::outline::Outline;
use trainscope_api::profile::{ProfileEntry, ProfileList, ProfileState};
use trainscope_api::timeline::TimelineLanes;

use crate::files;
use crate::index::{Index, ReadError};

mod arguments;
mod cache;
mod columns;
mod loaded;
mod progress;
mod read;
mod rules;
mod sessions;
#[cfg(test)]
mod tests;
pub(crate) mod unread;

pub(crate) use arguments::ArgumentSearch;
use arguments::MAX_EVENT_BYTES;
pub(crate) use cache::ColumnCache;
pub(crate) use loaded::LoadedProfile;
pub(crate) use progress::Progress;
pub(crate) use read::{input, read_files};
pub(crate) use sessions::{SessionFiles, recorded_by};

/// Maximum number of profiles in memory.
const MAX_PROFILES: usize = 16;
/// Maximum size of all profiles in memory, unless a single one is larger.
const MAX_BYTES: u64 = 2 << 30;
/// Maximum number of sessions × ranks in one list.
const MAX_SESSIONS: usize = 2_000;
/// Smaller files are complete before a part of them could be shown.
const MIN_PART_BYTES: u64 = 4 << 20;
/// Ratio of the bytes of a part to those of the one before: all parts together cost less than half of the whole.
const PART_GROWTH: u64 = 4;
/// Maximum share of the files in a part, as a divisor: beyond it the whole is ready soon, and both take memory.
const PART_SHARE: u64 = 3;
/// Time that a request waits for the whole profile before it gets a part.
const PART_WAIT: Duration = Duration::from_millis(150);
/// Polling interval for a profile that is being read.
const LOOK_PAUSE: Duration = Duration::from_millis(5);

/// Error of a request for a profile.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProfileError {
    /// The run does not exist, or the index cannot be read.
    #[error(transparent)]
    Index(#[from] ReadError),
    /// The run has no such session or rank; a sentence.
    #[error("{0}")]
    Unknown(String),
}

/// The profiles of all runs. Cloning is cheap.
#[derive(Clone)]
pub struct Profiles {
    index: Index,
    columns: Option<ColumnCache>,
    slots: Arc<Mutex<Vec<Arc<Slot>>>>,
}

/// A profile that is read or being read.
struct Slot {
    /// Files with their sizes and times of change: a file that was replaced is read again.
    key: String,
    progress: Progress,
    /// Number of requests for it.
    asks: AtomicU32,
    loaded: OnceLock<Arc<LoadedProfile>>,
    /// The part that was shown last.
    part: Mutex<Option<Arc<LoadedProfile>>>,
    /// The thread that reads it for requests that do not wait.
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Slot {
    fn new(key: String) -> Self {
        Self {
            key,
            progress: Progress::default(),
            asks: AtomicU32::new(0),
            loaded: OnceLock::new(),
            part: Mutex::new(None),
            thread: Mutex::new(None),
        }
    }

    /// The part that was read so far, or earlier: a new one is made when [`PART_GROWTH`] times as much was read, up to
    /// the share [`PART_SHARE`] of the files.
    fn part(&self, session: &SessionFiles) -> Option<Arc<LoadedProfile>> {
        let mut kept = self.part.lock();
        let bytes = self.progress.bytes();
        let is_old =
            |part: &Arc<LoadedProfile>| part.read_bytes().saturating_mul(PART_GROWTH) <= bytes;
        let is_late = bytes.saturating_mul(PART_SHARE) > session.len_bytes;
        if kept.as_ref().is_none_or(|part| is_old(part) && !is_late) {
            let trace = self.progress.part();
            if !trace.slices.is_empty() {
                let part = LoadedProfile::part(session.clone(), Model::new(trace), bytes);
                *kept = Some(Arc::new(part));
            }
        }
        kept.clone()
    }
}

impl Profiles {
    /// Profiles of the runs of an index, none of them read yet.
    pub fn new(index: &Index) -> Self {
        Self {
            index: index.clone(),
            columns: None,
            slots: Arc::default(),
        }
    }

    /// Adds a folder of column files.
    pub(crate) fn with_columns(self, columns: ColumnCache) -> Self {
        Self {
            columns: Some(columns),
            ..self
        }
    }

    /// The sessions of a run. Nothing is read: facts of a session that was never read are missing.
    pub(crate) fn list(&self, run: &str) -> Result<ProfileList, ProfileError> {
        let sessions = sessions::of_run(&self.index, run)?;
        let cut = sessions.len() > MAX_SESSIONS;
        let entries = sessions.iter().take(MAX_SESSIONS).map(|session| {
            let slot = self.known(&session.key());
            if let Some(loaded) = slot.as_ref().and_then(|slot| slot.loaded.get()) {
                return loaded.entry();
            }
            let columns = self.columns.as_ref();
            let stored = columns.and_then(|columns| columns.entry(session));
            stored.unwrap_or_else(|| ProfileEntry {
                session: session.id.clone(),
                rank: session.rank,
                format: session.format().as_str().to_owned(),
                files: session.paths(),
                state: ProfileState::Reading,
                read_bytes: slot.map_or(0, |slot| slot.progress.bytes()),
                total_bytes: session.len_bytes,
                ..ProfileEntry::default()
            })
        });
        let shown = if run == "." {
            String::new()
        } else {
            format!("{run}/")
        };
        let folder = self.index.folder(run);
        Ok(ProfileList {
            sessions: entries.collect(),
            unread: folder.map_or_else(Vec::new, |folder| unread::unread(&folder, &shown)),
            cut,
        })
    }

    /// A session of a rank; the newest session and its lowest rank if they are left out. Waits until it is read.
    pub(crate) fn get(
        &self,
        run: &str,
        session: Option<&str>,
        rank: Option<u32>,
    ) -> Result<Arc<LoadedProfile>, ProfileError> {
        Ok(self.load(&self.session(run, session, rank)?))
    }

    /// The files of a session of a rank; the newest session and its lowest rank if they are left out. Nothing is read.
    pub(crate) fn session(
        &self,
        run: &str,
        session: Option<&str>,
        rank: Option<u32>,
    ) -> Result<SessionFiles, ProfileError> {
        let mut sessions = sessions::of_run(&self.index, run)?;
        let is_asked = |files: &SessionFiles| {
            session.is_none_or(|id| files.id == id) && rank.is_none_or(|rank| files.rank == rank)
        };
        if let Some(at) = sessions.iter().position(is_asked) {
            return Ok(sessions.swap_remove(at));
        }
        let message = match (session, rank) {
            _ if sessions.is_empty() => format!("run `{run}` has no profile"),
            (Some(session), Some(rank)) => {
                format!("run `{run}` has no profile `{session}` of rank {rank}")
            }
            (Some(session), None) => format!("run `{run}` has no profile `{session}`"),
            (None, Some(rank)) => format!("run `{run}` has no profile of rank {rank}"),
            (None, None) => format!("run `{run}` has no profile"),
        };
        Err(ProfileError::Unknown(message))
    }

    /// All ranks of a session, the newest if it is left out, in the order of ranks.
    pub(crate) fn ranks(
        &self,
        run: &str,
        session: Option<&str>,
    ) -> Result<Vec<Arc<LoadedProfile>>, ProfileError> {
        let first = self.get(run, session, None)?;
        let sessions = sessions::of_run(&self.index, run)?;
        let same = sessions.iter().filter(|files| files.id == first.session());
        Ok(same.map(|files| self.load(files)).collect())
    }

    /// All sessions of all ranks.
    pub(crate) fn all(&self, run: &str) -> Result<Vec<Arc<LoadedProfile>>, ProfileError> {
        let sessions = sessions::of_run(&self.index, run)?;
        Ok(sessions.iter().map(|files| self.load(files)).collect())
    }

    /// Cells of the whole timeline of a session that is not in memory, if they are stored.
    pub(crate) fn outline(&self, session: &SessionFiles) -> Option<Outline> {
        self.unless_loaded(session)?.outline(session)
    }

    /// Lanes, steps and counters of a session that is not in memory, if they are stored.
    pub(crate) fn lanes(&self, session: &SessionFiles) -> Option<TimelineLanes> {
        self.unless_loaded(session)?.lanes(session)
    }

    /// The column files, for a session that is not in memory.
    fn unless_loaded(&self, session: &SessionFiles) -> Option<&ColumnCache> {
        let slot = self.known(&session.key());
        let is_loaded = slot.is_some_and(|slot| slot.loaded.get().is_some());
        self.columns.as_ref().filter(|_| !is_loaded)
    }

    /// A session, or the part read so far: the first part comes after a fraction of a second.
    pub(crate) fn so_far(&self, session: &SessionFiles) -> Arc<LoadedProfile> {
        let slot = self.slot(session.key());
        let has_parts = session.arguments_file().is_some() && session.len_bytes >= MIN_PART_BYTES;
        if slot.loaded.get().is_some() || !has_parts {
            return self.load(session);
        }
        self.begin(session, &slot);
        let begin = Instant::now();
        while slot.loaded.get().is_none() {
            let thread = slot.thread.lock();
            if thread.as_ref().is_none_or(JoinHandle::is_finished) {
                break;
            }
            drop(thread);
            if begin.elapsed() >= PART_WAIT
                && let Some(part) = slot.part(session)
            {
                return part;
            }
            std::thread::sleep(LOOK_PAUSE);
        }
        self.load(session)
    }

    /// Begins to read a session on a separate thread.
    fn begin(&self, session: &SessionFiles, slot: &Slot) {
        let mut thread = slot.thread.lock();
        if thread.is_some() {
            return;
        }
        let (profiles, session) = (self.clone(), session.clone());
        let reader = std::thread::Builder::new().name("profile".to_owned());
        // Without a thread the request reads it.
        *thread = reader.spawn(move || drop(profiles.load(&session))).ok();
    }

    /// The event at a place of the unpacked trace of a session, with the following bytes; `None` for files without
    /// arguments.
    pub(crate) fn event(&self, session: &SessionFiles, place: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(entry) = session.arguments_file() else {
            return Ok(None);
        };
        let mut file = files::open(&entry.full)?;
        let mut bytes = Vec::new();
        if files::is_packed(&mut file)? {
            let len = usize::try_from(MAX_EVENT_BYTES).unwrap_or(usize::MAX);
            let columns = self.columns.as_ref();
            let stored = columns.and_then(|columns| columns.text(session, place, len));
            if stored.is_some() {
                return Ok(stored);
            }
            let mut content = files::unpacked(file)?;
            io::copy(&mut (&mut content).take(place), &mut io::sink())?;
            content.take(MAX_EVENT_BYTES).read_to_end(&mut bytes)?;
        } else {
            file.seek(SeekFrom::Start(place))?;
            file.take(MAX_EVENT_BYTES).read_to_end(&mut bytes)?;
        }
        Ok(Some(bytes))
    }

    /// Forgets a session that was asked for once only: no page shows it.
    pub(crate) fn release(&self, session: &SessionFiles) {
        let key = session.key();
        let is_kept = |slot: &Arc<Slot>| slot.key != key || slot.asks.load(Ordering::Relaxed) > 1;
        self.slots.lock().retain(is_kept);
    }

    /// A session. Waits until it is read.
    pub(crate) fn load(&self, session: &SessionFiles) -> Arc<LoadedProfile> {
        let slot = self.slot(session.key());
        // Requests for the same profile wait for the first one.
        let loaded = slot.loaded.get_or_init(|| {
            let columns = self.columns.as_ref();
            if let Some(stored) = columns.and_then(|columns| read::stored(session, columns)) {
                return Arc::new(stored);
            }
            let loaded = Arc::new(read::read(&self.index, session, &slot.progress));
            if let Some(columns) = columns {
                columns.write_later(&loaded);
            }
            loaded
        });
        let loaded = Arc::clone(loaded);
        *slot.part.lock() = None;
        self.evict();
        loaded
    }

    fn known(&self, key: &str) -> Option<Arc<Slot>> {
        let slots = self.slots.lock();
        slots.iter().find(|slot| slot.key == key).cloned()
    }

    /// The slot of a profile, moved to the front.
    fn slot(&self, key: String) -> Arc<Slot> {
        let mut slots = self.slots.lock();
        let slot = match slots.iter().position(|slot| slot.key == key) {
            Some(at) => slots.remove(at),
            None => Arc::new(Slot::new(key)),
        };
        slot.asks.fetch_add(1, Ordering::Relaxed);
        slots.insert(0, Arc::clone(&slot));
        slot
    }

    fn evict(&self) {
        let (mut bytes, mut count) = (0, 0);
        self.slots.lock().retain(|slot| {
            let Some(loaded) = slot.loaded.get() else {
                return true;
            };
            bytes += loaded.len_bytes();
            count += 1;
            count == 1 || count <= MAX_PROFILES && bytes <= MAX_BYTES
        });
    }
}
