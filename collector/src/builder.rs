//! Beginning to record: where to, how much memory, which policies.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{io, thread};

use crate::clock::{Clock, Given};
use crate::collector::Collector;
use crate::file::{self, Open, Place};
use crate::policy::{DumpPolicy, SamplePolicy};
use crate::queue::{Overflow, Queue};
use crate::shared::Shared;
use crate::{panics, writer};

/// Why recording could not begin. Once it has begun, nothing fails any more: see [`crate::CollectorReport`].
#[derive(Debug, thiserror::Error)]
pub enum CollectorError {
    /// The folder of the run cannot be made: choose another.
    #[error("{path}: the folder of the run cannot be made: {source}", path = .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The system gives no thread to write with.
    #[error("no thread to write with: {0}")]
    Thread(io::Error),
}

/// How to record; [`Collector::builder`] makes one.
pub struct CollectorBuilder {
    folder: PathBuf,
    clock: Option<Given>,
    queue_bytes: usize,
    snapshot_bytes: usize,
    overflow: Overflow,
    flush_every: Duration,
    patience: Duration,
    samples: SamplePolicy,
    dumps: DumpPolicy,
    rank: Option<u32>,
    identity: Option<(String, u32)>,
    has_panic_hook: bool,
    open: Open,
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
            has_panic_hook: false,
            open: file::create_new,
        }
    }

    /// Which of several processes of one training this is: with more than one, each records into a folder of its own
    /// below that of the run, `rank_0`, `rank_1`, …
    #[must_use]
    pub fn rank(mut self, rank: u32, world_size: u32) -> Self {
        self.rank = (world_size > 1).then_some(rank);
        self
    }

    /// Of which tensors statistics are computed. Unless said otherwise, of all, every tenth step.
    #[must_use]
    pub fn samples(mut self, policy: SamplePolicy) -> Self {
        self.samples = policy;
        self
    }

    /// Which tensors are kept in full. Unless said otherwise, none.
    #[must_use]
    pub fn dumps(mut self, policy: DumpPolicy) -> Self {
        self.dumps = policy;
        self
    }

    /// How many bytes may wait to be written; 64 MiB unless said otherwise. In all, the collector's memory stays below
    /// three times this and what snapshots take.
    #[must_use]
    pub fn queue_bytes(mut self, bytes: usize) -> Self {
        self.queue_bytes = bytes;
        self
    }

    /// How many bytes the copies of tensors may take that [`SamplePolicy::change`] keeps; 1 GiB unless said otherwise.
    #[must_use]
    pub fn snapshot_bytes(mut self, bytes: usize) -> Self {
        self.snapshot_bytes = bytes;
        self
    }

    /// What happens when the queue is full. Unless said otherwise, records are dropped and counted.
    #[must_use]
    pub fn overflow(mut self, overflow: Overflow) -> Self {
        self.overflow = overflow;
        self
    }

    /// How long a record waits to be written; half a second unless said otherwise. This much a killed process loses.
    #[must_use]
    pub fn flush_every(mut self, interval: Duration) -> Self {
        // The writing thread is to sleep in between.
        self.flush_every = interval.max(Duration::from_millis(1));
        self
    }

    /// How long [`Collector::finish`], [`Collector::flush`] and dropping the last clone wait for a disk that hangs; ten
    /// seconds unless said otherwise.
    #[must_use]
    pub fn patience(mut self, at_most: Duration) -> Self {
        self.patience = at_most;
        self
    }

    /// A clock of your own instead of the system's: seconds since 1970.
    #[must_use]
    pub fn clock(mut self, secs: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        self.clock = Some(Box::new(secs));
        self
    }

    /// What to put into file names instead of the machine's name and the number of the process, so that they are the
    /// same each time. Characters that file names should not have are left out.
    #[must_use]
    pub fn identity(mut self, host: &str, process: u32) -> Self {
        self.identity = Some((host.to_owned(), process));
        self
    }

    /// When any thread panics, writes what it said as a note, and everything that waits: also where a panic ends the
    /// process at once. The hook that was there before runs after it.
    #[must_use]
    pub fn panic_hook(mut self) -> Self {
        self.has_panic_hook = true;
        self
    }

    #[cfg(test)]
    pub(crate) fn open(mut self, open: Open) -> Self {
        self.open = open;
        self
    }

    /// Makes the folder and begins to record. A folder that has files of an earlier training is gone on with: a new
    /// file stands beside them, and readers make one curve of steps that were run twice.
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
            host: host
                .chars()
                .filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c))
                .take(64)
                .collect(),
            process,
            open: self.open,
        };
        let clock = Arc::new(self.clock.map_or_else(Clock::system, Clock::Given));
        let begun_secs = clock.secs();
        let shared = Arc::new(Shared::new(
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
                // Whatever happens, nobody waits for this thread when it has ended.
                let _over = Over(&for_thread.queue);
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

struct Over<'a>(&'a Queue);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.over();
    }
}
