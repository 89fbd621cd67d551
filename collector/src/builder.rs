//! Configuration of a recording: folder, memory and policies.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{io, thread};

use crate::clock::{Clock, CustomClock};
use crate::collector::Collector;
use crate::file::{self, OpenFile, Place};
use crate::policy::{DumpPolicy, SamplePolicy};
use crate::queue::{Overflow, Queue};
use crate::shared::SharedState;
use crate::{panics, writer};

/// Error at the start of a recording. Later errors are counted instead: see [`crate::CollectorReport`].
#[derive(Debug, thiserror::Error)]
pub enum CollectorError {
    /// The folder of the run cannot be created: choose another.
    #[error("{path}: the folder of the run cannot be made: {source}", path = .path.display())]
    Folder {
        /// Path of the folder.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The writing thread cannot be started.
    #[error("no thread to write with: {0}")]
    Thread(io::Error),
}

/// Configuration of a recording; [`Collector::builder`] creates one.
pub struct CollectorBuilder {
    folder: PathBuf,
    clock: Option<CustomClock>,
    queue_bytes: usize,
    snapshot_bytes: usize,
    overflow: Overflow,
    flush_every: Duration,
    patience: Duration,
    samples: SamplePolicy,
    dumps: DumpPolicy,
    rank: Option<u32>,
    identity: Option<(String, u32)>,
    suffix: String,
    has_panic_hook: bool,
    open: OpenFile,
}

impl Collector {
    /// Configures a recording into this folder, which is the run; [`CollectorBuilder::start`] starts it.
    pub fn builder(folder: impl AsRef<Path>) -> CollectorBuilder {
        CollectorBuilder::new(folder.as_ref())
    }
}

impl CollectorBuilder {
    pub(crate) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_path_buf(),
            clock: None,
            queue_bytes: 64 << 20,
            snapshot_bytes: 1 << 30,
            overflow: Overflow::default(),
            flush_every: Duration::from_millis(500),
            patience: Duration::from_secs(10),
            samples: SamplePolicy::default(),
            dumps: DumpPolicy::default(),
            rank: None,
            identity: None,
            suffix: String::new(),
            has_panic_hook: false,
            open: file::create_new,
        }
    }

    /// Sets the rank of this process in a distributed training. With a `world_size` above 1, each process records into
    /// a folder of its own below that of the run: `rank_0`, `rank_1`, …
    #[must_use]
    pub fn rank(mut self, rank: u32, world_size: u32) -> Self {
        self.rank = (world_size > 1).then_some(rank);
        self
    }

    /// Selects tensors and steps for statistics. Default: all tensors, every tenth step.
    #[must_use]
    pub fn samples(mut self, policy: SamplePolicy) -> Self {
        self.samples = policy;
        self
    }

    /// Selects tensors to dump in full. Default: none.
    #[must_use]
    pub fn dumps(mut self, policy: DumpPolicy) -> Self {
        self.dumps = policy;
        self
    }

    /// Sets the capacity of the queue in bytes; 64 MiB by default. The total memory of the collector stays below three
    /// times this plus the snapshots.
    #[must_use]
    pub fn queue_bytes(mut self, bytes: usize) -> Self {
        self.queue_bytes = bytes;
        self
    }

    /// Sets the memory limit in bytes for the snapshots of [`SamplePolicy::change`]; 1 GiB by default.
    #[must_use]
    pub fn snapshot_bytes(mut self, bytes: usize) -> Self {
        self.snapshot_bytes = bytes;
        self
    }

    /// Sets the behaviour for a full queue. By default records are dropped and counted.
    #[must_use]
    pub fn overflow(mut self, overflow: Overflow) -> Self {
        self.overflow = overflow;
        self
    }

    /// Sets the longest time that a record stays in memory; half a second by default. A killed process loses at most
    /// this much.
    #[must_use]
    pub fn flush_every(mut self, interval: Duration) -> Self {
        // The writing thread has to sleep in between.
        self.flush_every = interval.max(Duration::from_millis(1));
        self
    }

    /// Sets the timeout of [`Collector::finish`], [`Collector::flush`] and of dropping the last clone on a hanging
    /// disk; ten seconds by default.
    #[must_use]
    pub fn patience(mut self, at_most: Duration) -> Self {
        self.patience = at_most;
        self
    }

    /// Sets a clock to use instead of the system's: seconds since 1970.
    #[must_use]
    pub fn clock(mut self, secs: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        self.clock = Some(Box::new(secs));
        self
    }

    /// Sets host and process id in file names, for reproducible names. Characters that are invalid in file names are
    /// removed.
    #[must_use]
    pub fn identity(mut self, host: &str, process: u32) -> Self {
        self.identity = Some((host.to_owned(), process));
        self
    }

    /// Sets a suffix for the names of event files. Characters that are invalid in file names are removed.
    #[must_use]
    pub fn file_suffix(mut self, suffix: &str) -> Self {
        self.suffix = in_file_name(suffix);
        self
    }

    /// Installs a panic hook that writes the panic message as a note and flushes all records, even with `panic =
    /// "abort"`. The previous hook runs after it.
    #[must_use]
    pub fn panic_hook(mut self) -> Self {
        self.has_panic_hook = true;
        self
    }

    #[cfg(test)]
    pub(crate) fn open(mut self, open: OpenFile) -> Self {
        self.open = open;
        self
    }

    /// Creates the folder and starts recording. If the folder has files of an earlier training, the run is resumed: a
    /// new file is added, and readers join repeated steps into one curve.
    pub fn start(self) -> Result<Collector, CollectorError> {
        let mut folder = self.folder;
        if let Some(rank) = self.rank {
            folder.push(format!("rank_{rank}"));
        }
        std::fs::create_dir_all(&folder).map_err(|source| CollectorError::Folder {
            path: folder.clone(),
            source,
        })?;
        let (host, process) = self.identity.unwrap_or_else(|| {
            let host = gethostname::gethostname().to_string_lossy().into_owned();
            (host, std::process::id())
        });
        let place = Place {
            folder,
            host: in_file_name(&host),
            process,
            suffix: self.suffix,
            open: self.open,
        };
        let clock = Arc::new(self.clock.map_or_else(Clock::system, Clock::Custom));
        let begun_secs = clock.secs();
        let shared = Arc::new(SharedState::new(
            Queue::new(self.queue_bytes, self.overflow),
            Arc::clone(&clock),
            (self.samples, self.dumps),
            self.snapshot_bytes,
            self.patience,
        ));
        let for_thread = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name(writer::THREAD_NAME.to_owned())
            .spawn(move || {
                // Waiting threads are released however this thread ends.
                let _end_guard = EndGuard(&for_thread.queue);
                writer::run(
                    &for_thread.queue,
                    (clock, begun_secs),
                    place,
                    self.flush_every,
                );
            })
            .map_err(CollectorError::Thread)?;
        if self.has_panic_hook {
            panics::watch(&shared);
        }
        Ok(Collector::new(shared, thread))
    }
}

/// Text without the characters that are invalid in file names, shortened.
fn in_file_name(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c))
        .take(64)
        .collect()
}

struct EndGuard<'a>(&'a Queue);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        self.0.over();
    }
}
