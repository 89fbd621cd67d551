//! Configuration of a recording: folder, memory and policies.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{io, thread};

use crate::clock::{Clock, CustomClock};
use crate::collector::Collector;
use crate::file::{self, OpenFile, Place};
#[cfg(feature = "live")]
use crate::live::launch;
#[cfg(feature = "live")]
use crate::live::session;
#[cfg(feature = "live")]
use crate::live::settings::{AtHit, Live, PauseSeverity};
#[cfg(feature = "live")]
use crate::live::state::{Identity, LiveState};
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
    /// The folder is an address of another machine or of a store, `s3://bucket/run`: give a path of a file system.
    #[error("{path}: records go into a folder of a file system; mount the store, or copy the folder there", path = .0.display())]
    NoPath(PathBuf),
    /// The address of the server is wrong.
    #[cfg(feature = "live")]
    #[error("live session: {0}")]
    Address(String),
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
    samples: Option<SamplePolicy>,
    dumps: DumpPolicy,
    rank: Option<u32>,
    #[cfg(feature = "live")]
    world_size: u32,
    #[cfg(feature = "live")]
    framework: (String, String),
    #[cfg(feature = "live")]
    live: crate::live::settings::ProgramSettings,
    identity: Option<(String, u32)>,
    suffix: String,
    has_panic_hook: bool,
    open: OpenFile,
}

impl Collector {
    /// Configures a recording into this folder, which is the run; [`CollectorBuilder::start`] starts it. A relative
    /// path is resolved at the start, even if the program changes its working folder later.
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
            samples: None,
            dumps: DumpPolicy::default(),
            rank: None,
            #[cfg(feature = "live")]
            world_size: 1,
            #[cfg(feature = "live")]
            framework: (String::new(), String::new()),
            #[cfg(feature = "live")]
            live: crate::live::settings::ProgramSettings::default(),
            identity: None,
            suffix: String::new(),
            has_panic_hook: false,
            open: file::create_new,
        }
    }

    /// Sets the rank of this process in a distributed training. With a `world_size` above 1, each process records into
    /// a separate folder below that of the run: `rank_0`, `rank_1`, …
    #[must_use]
    pub fn rank(mut self, rank: u32, world_size: u32) -> Self {
        self.rank = (world_size > 1).then_some(rank);
        #[cfg(feature = "live")]
        {
            self.world_size = world_size.max(1);
        }
        self
    }

    /// Selects tensors and steps for statistics. Default: all tensors, every tenth step, or the interval of
    /// `TRAINSCOPE_EVERY`.
    #[must_use]
    pub fn samples(mut self, policy: SamplePolicy) -> Self {
        self.samples = Some(policy);
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
        let mut folder = resolve(&self.folder)?;
        #[cfg(feature = "live")]
        if let Some(live) = &self.live.live {
            live.check().map_err(CollectorError::Address)?;
        }
        #[cfg(feature = "live")]
        let run = folder.clone();
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
        #[cfg(feature = "live")]
        let identity = Identity {
            launch: launch::launch(&host, process, self.world_size),
            run: session::canonical(&run),
            rank: self.rank.unwrap_or(0),
            world_size: self.world_size,
            host: host.clone(),
            process,
            program: launch::program(),
            framework: trainscope_format::session::Framework {
                name: self.framework.0,
                version: self.framework.1,
            },
        };
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
            (self.samples.unwrap_or_else(default_samples), self.dumps),
            self.snapshot_bytes,
            self.patience,
        ));
        #[cfg(feature = "live")]
        let live = Arc::new(LiveState::new(
            Arc::clone(&shared),
            identity,
            self.live.resolve(),
        ));
        #[cfg(feature = "live")]
        let live_of_thread = Arc::clone(&live);
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
                    &|| {
                        #[cfg(feature = "live")]
                        session::look_for_attach(&live_of_thread);
                    },
                );
            })
            .map_err(CollectorError::Thread)?;
        if self.has_panic_hook {
            panics::watch(&shared);
        }
        #[cfg(feature = "live")]
        session::begin(&live);
        Ok(Collector::new(
            shared,
            #[cfg(feature = "live")]
            live,
            thread,
        ))
    }
}

/// Settings of live sessions; absent ones are those of the environment.
#[cfg(feature = "live")]
impl CollectorBuilder {
    /// Sets the server to connect to. By default it is that of `TRAINSCOPE_SERVER`; without one, the training connects
    /// when it is attached. `TRAINSCOPE_LIVE=0` forbids all connections.
    #[must_use]
    pub fn live(mut self, live: Live) -> Self {
        self.live.live = Some(live);
        self
    }

    /// Sets the reaction to hits of watchpoints at a gate. By default `TRAINSCOPE_AT_HIT`, or hits are recorded only.
    #[must_use]
    pub fn at_hit(mut self, at_hit: AtHit) -> Self {
        self.live.at_hit = Some(at_hit);
        self
    }

    /// Sets the minimum severity of hits that pause or stop. By default `TRAINSCOPE_AT_HIT_SEVERITY`, or errors.
    #[must_use]
    pub fn at_hit_severity(mut self, severity: PauseSeverity) -> Self {
        self.live.severity = Some(severity);
        self
    }

    /// Sets the watchpoints to judge by in the training. By default those of the TOML file `TRAINSCOPE_WATCHPOINTS`, or
    /// the recommended ones. A connected server replaces them by those of the page.
    #[must_use]
    pub fn watchpoints(
        mut self,
        watchpoints: trainscope_analysis::watchpoint::Watchpoints,
    ) -> Self {
        self.live.watchpoints = Some(watchpoints);
        self
    }

    /// Waits at the first gate until a person continues the training from the page or the command line, at most this
    /// long. The address of the page is printed to standard error. By default `TRAINSCOPE_WAIT` in seconds, or not at
    /// all.
    #[must_use]
    pub fn wait(mut self, longest: Duration) -> Self {
        self.live.start_wait = Some(longest);
        self
    }

    /// Ends the training instead of continuing it when the server is lost during a pause.
    #[must_use]
    pub fn stop_if_lost(mut self) -> Self {
        self.live.stops_if_lost = true;
        self
    }

    /// Sets name and version of the framework, for the page.
    #[must_use]
    pub fn framework(mut self, name: &str, version: &str) -> Self {
        self.framework = (name.to_owned(), version.to_owned());
        self
    }
}

/// The policy of a program that sets none: the interval of `TRAINSCOPE_EVERY`, or the default.
fn default_samples() -> SamplePolicy {
    let every = std::env::var("TRAINSCOPE_EVERY").ok();
    let every = every.and_then(|text| text.trim().parse().ok());
    every.map_or_else(SamplePolicy::default, SamplePolicy::every)
}

/// Text without the characters that are invalid in file names, shortened.
fn in_file_name(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c))
        .take(64)
        .collect()
}

/// The absolute path: a training that changes its working folder still records into the same place.
fn resolve(folder: &Path) -> Result<PathBuf, CollectorError> {
    if is_address(folder) {
        return Err(CollectorError::NoPath(folder.to_path_buf()));
    }
    std::path::absolute(folder).map_err(|source| CollectorError::Folder {
        path: folder.to_path_buf(),
        source,
    })
}

/// `true` for `s3://bucket/run`, and for `s3:/bucket/run`, which Python's paths make of it. A drive has one letter.
fn is_address(folder: &Path) -> bool {
    let mut parts = folder.components();
    let first = parts.next().map(Component::as_os_str);
    let scheme = first.and_then(OsStr::to_str).unwrap_or_default();
    scheme.strip_suffix(':').is_some_and(|scheme| {
        scheme.len() > 1
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
            && parts.next().is_some()
    })
}

struct EndGuard<'a>(&'a Queue);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        self.0.over();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{CollectorError, is_address};
    use crate::Collector;

    #[test]
    fn addresses_of_stores_are_no_folders() {
        for address in [
            "s3://bucket/run",
            "s3:/bucket/run",
            "gs://b",
            "abfs+x://c/r",
        ] {
            let error = Collector::builder(address).start().map(drop);
            let Err(CollectorError::NoPath(path)) = error else {
                panic!("{address}: {error:?}");
            };
            assert_eq!(path, Path::new(address));
        }
        for path in [
            "s3:",
            "1:/x",
            "C:/x",
            "a b:/x",
            "./s3:/x",
            "/s3:/x",
            "runs/s3:/x",
            "",
        ] {
            assert!(!is_address(Path::new(path)), "{path}");
        }
    }

    #[cfg(feature = "live")]
    #[test]
    fn a_wrong_address_of_a_server_makes_no_folder() {
        let folder = tempfile::tempdir().map(|folder| folder.path().join("run"));
        let Ok(folder) = folder else {
            panic!("no folder for a test");
        };
        let live = crate::Live::to("ftp://x");
        let error = Collector::builder(&folder).live(live).start().map(drop);
        let Err(CollectorError::Address(text)) = error else {
            panic!("{error:?}");
        };
        assert!(text.contains("\"ftp://x\" is not an address like http://host:8080"));
        assert!(!folder.exists());
    }
}
