//! Profiles of runs: sessions × ranks from the files of profilers, read when they are asked for and kept while used.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use trainscope_api::profile::{ProfileEntry, ProfileList, ProfileState};

use crate::index::{Index, ReadError};

mod arguments;
mod loaded;
mod read;
mod sessions;
mod unread;

pub(crate) use arguments::{ArgumentSearch, MAX_EVENT_BYTES};
pub(crate) use loaded::LoadedProfile;
pub(crate) use read::{input, read_files};
pub(crate) use sessions::{SessionFiles, recorded_by};

/// Maximum number of profiles in memory.
const MAX_PROFILES: usize = 16;
/// Maximum size of all profiles in memory, unless a single one is larger.
const MAX_BYTES: u64 = 2 << 30;
/// Maximum number of sessions × ranks in one list.
const MAX_SESSIONS: usize = 2_000;

/// Error of a request for a profile.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProfileError {
    /// The run is not there, or the index cannot be read.
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
    slots: Arc<Mutex<Vec<Arc<Slot>>>>,
}

/// A profile that is read or being read.
struct Slot {
    /// Files with their sizes and times of change: a file that was replaced is read again.
    key: String,
    progress: Progress,
    loaded: std::sync::OnceLock<Arc<LoadedProfile>>,
}

/// Bytes of the files of a profile that were read.
#[derive(Default)]
pub(crate) struct Progress(AtomicU64);

impl Progress {
    pub(crate) fn add(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }

    fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Profiles {
    /// Profiles of the runs of an index, none of them read yet.
    pub fn new(index: &Index) -> Self {
        Self {
            index: index.clone(),
            slots: Arc::default(),
        }
    }

    /// The sessions of a run. Nothing is read: facts of a session that was never read are missing.
    pub(crate) fn list(&self, run: &str) -> Result<ProfileList, ProfileError> {
        let sessions = sessions::of_run(&self.index, run)?;
        let cut = sessions.len() > MAX_SESSIONS;
        let entries = sessions.iter().take(MAX_SESSIONS).map(|session| {
            let slot = self.known(&session.key());
            match slot.as_ref().and_then(|slot| slot.loaded.get()) {
                Some(loaded) => loaded.entry(),
                None => ProfileEntry {
                    session: session.id.clone(),
                    rank: session.rank,
                    format: session.format().as_str().to_owned(),
                    files: session.paths(),
                    state: ProfileState::Reading,
                    read_bytes: slot.map_or(0, |slot| slot.progress.bytes()),
                    total_bytes: session.len_bytes,
                    ..ProfileEntry::default()
                },
            }
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
        let sessions = sessions::of_run(&self.index, run)?;
        let is_asked = |own: &&SessionFiles| {
            session.is_none_or(|id| own.id == id) && rank.is_none_or(|rank| own.rank == rank)
        };
        let asked = sessions.iter().find(is_asked).ok_or_else(|| {
            let message = match (session, rank) {
                _ if sessions.is_empty() => format!("run `{run}` has no profile"),
                (Some(session), Some(rank)) => {
                    format!("run `{run}` has no profile `{session}` of rank {rank}")
                }
                (Some(session), None) => format!("run `{run}` has no profile `{session}`"),
                (None, Some(rank)) => format!("run `{run}` has no profile of rank {rank}"),
                (None, None) => format!("run `{run}` has no profile"),
            };
            ProfileError::Unknown(message)
        })?;
        Ok(self.load(asked))
    }

    /// All ranks of a session, the newest if it is left out, in the order of ranks.
    pub(crate) fn ranks(
        &self,
        run: &str,
        session: Option<&str>,
    ) -> Result<Vec<Arc<LoadedProfile>>, ProfileError> {
        let first = self.get(run, session, None)?;
        let sessions = sessions::of_run(&self.index, run)?;
        let same = sessions.iter().filter(|own| own.id == first.session());
        Ok(same.map(|own| self.load(own)).collect())
    }

    /// All sessions of all ranks.
    pub(crate) fn all(&self, run: &str) -> Result<Vec<Arc<LoadedProfile>>, ProfileError> {
        let sessions = sessions::of_run(&self.index, run)?;
        Ok(sessions.iter().map(|own| self.load(own)).collect())
    }

    fn load(&self, session: &SessionFiles) -> Arc<LoadedProfile> {
        let slot = self.slot(session.key());
        // Requests for the same profile wait for the first one.
        let loaded = slot
            .loaded
            .get_or_init(|| Arc::new(read::read(&self.index, session, &slot.progress)));
        let loaded = Arc::clone(loaded);
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
            None => Arc::new(Slot {
                key,
                progress: Progress::default(),
                loaded: std::sync::OnceLock::new(),
            }),
        };
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
