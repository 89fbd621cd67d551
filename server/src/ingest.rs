//! The ingest loop: scan, tail, publish, commit, notify.
//!
//! One thread owns the state of the files; a pool of workers reads them. Handlers never wait for either.

mod compare;
mod worker;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use trainscope_api::status;

use crate::discovery::base::{Base, bases};
use crate::discovery::file::Identity;
use crate::discovery::scan::{Scan, SourceFile, scan};
use crate::discovery::watch::{self, Hints};
use crate::files::{self, Metadata};
use crate::index::{Index, Source};
use crate::pulse::{self, Heart, Pulse};
use crate::reader::{Feeds, Tail};
use worker::{Outcome, Worker};

/// Size of published data in memory that triggers a commit: a burst is committed when it is available.
const COMMIT_BYTES: usize = 32 << 20;
/// Number of records that triggers a commit as soon as there is nothing left to read.
const COMMIT_RECORDS: u64 = 16_384;
/// Maximum time until published data is committed.
const COMMIT_INTERVAL: Duration = Duration::from_secs(10);
/// Minimum interval of notices while files are read.
const NOTICE_INTERVAL: Duration = Duration::from_millis(50);
/// Minimum interval of notices as a multiple of the last one's duration, which grows with the number of runs: they take
/// at most a tenth of a core.
const NOTICE_SHARE: u32 = 10;
/// Minimum interval of scans triggered by hints, also as a multiple of the last scan's duration.
const HINTED_SCAN_INTERVAL: Duration = Duration::from_millis(200);
const HINTED_SCAN_SHARE: u32 = 4;
/// Interval of other scans as a multiple of the last one's duration: at most 5 % of a core; 1 % beside file events.
const SCAN_SHARE: u32 = 20;
const WATCHED_SCAN_SHARE: u32 = 100;

/// Settings of the ingest loop.
#[derive(Clone, Debug)]
pub struct IngestSettings {
    /// Base directories, canonical.
    pub base_dirs: Vec<PathBuf>,
    /// Folder for the index; created if missing.
    pub cache_dir: PathBuf,
    /// Interval of rescans.
    pub reload_interval: Duration,
    /// True to use file events of the system too; rescans alone suffice.
    pub file_events: bool,
}

/// Reason why reading could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The folder of the index cannot be used.
    #[error("the cache folder {path} cannot be used: {source}")]
    Cache {
        /// Path of the folder.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// A thread cannot be started.
    #[error("no thread could be started: {0}")]
    Thread(std::io::Error),
}

/// The running loop. Dropping it ends reading without a last commit.
pub struct Ingester {
    messages: mpsc::Sender<Message>,
    feeds: Feeds,
    pulse: Pulse,
    thread: JoinHandle<()>,
}

/// Walks of the loop for the judgement, so that each folder is walked once for both.
#[derive(Clone)]
pub(crate) struct Walks(mpsc::Sender<Message>);

/// The result of a walk.
pub(crate) struct Walk {
    pub(crate) scan: Scan,
    /// Number of the last notice before it began: it has all changes that were announced until then.
    pub(crate) seq: u64,
    began: Instant,
}

impl Walks {
    /// A walk that was not handed out before. With `since` it began then or later, and is made if necessary. `None`
    /// without such a walk, or after the end of the loop.
    pub(crate) fn next(&self, since: Option<Instant>) -> Option<Walk> {
        let (reply, walk) = mpsc::channel();
        self.0.send(Message::Walk { since, reply }).ok()?;
        walk.recv().ok()
    }
}

enum Message {
    Walk {
        since: Option<Instant>,
        reply: mpsc::Sender<Walk>,
    },
    Hint,
    Watching,
    Problem(String),
    Done(Arc<Source>, Outcome),
    Stop,
}

struct Job {
    source: Arc<Source>,
    tail: Option<Tail>,
}

impl Ingester {
    /// Opens the index and starts the loop on a separate thread; returns before anything is read. Data stored in the
    /// index is available at once.
    pub fn start(settings: IngestSettings) -> Result<(Self, Index), StartError> {
        let cache = |source| StartError::Cache {
            path: settings.cache_dir.clone(),
            source,
        };
        let index = Index::open(&settings.cache_dir, &settings.base_dirs).map_err(cache)?;
        let (messages, inbox) = mpsc::channel();
        let dirs = settings.base_dirs.iter().map(PathBuf::as_path);
        let workers = files::threads(dirs);
        let feeds = Feeds::default();
        let jobs = start_workers(workers, &index, &feeds, &messages).map_err(StartError::Thread)?;
        let mut looper = Loop::new(settings, index.clone(), jobs, workers);
        let sender = messages.clone();
        let (heart, pulse) = Heart::new();
        let thread = std::thread::Builder::new()
            .name("ingest".to_owned())
            .spawn(move || looper.run(&inbox, &sender, &heart))
            .map_err(StartError::Thread)?;
        let ingester = Self {
            messages,
            feeds,
            pulse,
            thread,
        };
        Ok((ingester, index))
    }

    /// Everything that is published, for further listeners.
    pub fn feeds(&self) -> &Feeds {
        &self.feeds
    }

    /// Signs of life of the loop.
    pub fn pulse(&self) -> Pulse {
        self.pulse.clone()
    }

    /// Its walks, for the judgement.
    pub(crate) fn walks(&self) -> Walks {
        Walks(self.messages.clone())
    }

    /// Commits the rest and ends the loop.
    pub fn stop(self) {
        if self.messages.send(Message::Stop).is_err() || self.thread.join().is_err() {
            tracing::error!("the ingest loop had ended before it was told to");
        }
    }
}

fn start_workers(
    n: usize,
    index: &Index,
    feeds: &Feeds,
    messages: &mpsc::Sender<Message>,
) -> std::io::Result<mpsc::Sender<Job>> {
    let (jobs, queue) = mpsc::channel::<Job>();
    let queue = Arc::new(Mutex::new(queue));
    for i in 0..n {
        let (queue, messages) = (Arc::clone(&queue), messages.clone());
        let mut worker = Worker::new(index, feeds);
        std::thread::Builder::new()
            .name(format!("read-{i}"))
            .spawn(move || {
                loop {
                    // The lock is held while waiting: the others wait for it instead of the queue.
                    let job = queue.lock().recv();
                    let Ok(Job { source, tail }) = job else {
                        return;
                    };
                    let outcome = worker.turn(&source, tail);
                    if messages.send(Message::Done(source, outcome)).is_err() {
                        return;
                    }
                }
            })?;
    }
    Ok(jobs)
}

/// A file that the loop reads.
struct TrackedFile {
    source: Arc<Source>,
    tail: Option<Tail>,
    busy: bool,
    /// True if it has grown while it was being read.
    again: bool,
    /// Set if it is to be read from the start after the worker is done with it.
    replaced: Option<SourceFile>,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that is due, and they are independent"
)]
struct Loop {
    settings: IngestSettings,
    bases: Vec<Base>,
    index: Index,
    hints: Hints,
    known: BTreeMap<PathBuf, TrackedFile>,
    queue: VecDeque<PathBuf>,
    jobs: mpsc::Sender<Job>,
    workers: usize,
    busy: usize,
    scanned: bool,
    /// True if there are file events.
    is_watched: bool,
    committed: bool,
    runs_changed: bool,
    published: bool,
    /// True if the last notice said that everything is read.
    was_idle: bool,
    live_runs: usize,
    next_scan: Instant,
    last_scan: Instant,
    /// Duration of the last scan.
    scan_took: Duration,
    /// The last walk, until the judgement takes it.
    walk: Option<Walk>,
    last_commit: Instant,
    last_notice: Instant,
    /// Duration of the last notice.
    notice_took: Duration,
}

impl Loop {
    fn new(
        settings: IngestSettings,
        index: Index,
        jobs: mpsc::Sender<Job>,
        workers: usize,
    ) -> Self {
        let now = Instant::now();
        let bases = bases(&settings.base_dirs);
        let known = index
            .sources()
            .into_iter()
            .map(|source| (source.place().full, TrackedFile::new(source)))
            .collect();
        Self {
            settings,
            bases,
            index,
            hints: Hints::default(),
            known,
            queue: VecDeque::new(),
            jobs,
            workers,
            busy: 0,
            scanned: false,
            is_watched: false,
            committed: false,
            runs_changed: true,
            published: false,
            was_idle: false,
            live_runs: 0,
            next_scan: now,
            last_scan: now,
            scan_took: Duration::ZERO,
            walk: None,
            last_commit: now,
            last_notice: now,
            notice_took: Duration::ZERO,
        }
    }

    fn run(
        &mut self,
        inbox: &mpsc::Receiver<Message>,
        sender: &mpsc::Sender<Message>,
        heart: &Heart,
    ) {
        let mut events = None;
        loop {
            heart.beat();
            match inbox.recv_timeout(self.until_due().min(pulse::REST)) {
                Ok(Message::Stop) | Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Ok(Message::Walk { since, reply }) => self.hand_out(since, &reply),
                Ok(Message::Hint) => self.look_at_hints(),
                Ok(Message::Watching) => {
                    self.is_watched = files::report_changes(&self.settings.base_dirs);
                    self.next_scan = Instant::now();
                }
                Ok(Message::Problem(problem)) => self.index.notices().add_message(problem),
                Ok(Message::Done(source, outcome)) => self.done(&source, outcome),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            if Instant::now() >= self.next_scan {
                self.scan();
            }
            self.dispatch();
            self.settle();
            if events.is_none() && self.settings.file_events && self.is_idle() {
                events = Some(self.watch(sender));
            }
        }
        drop(events);
        self.stop(inbox);
    }

    /// Requests file events. Setting that up walks all folders, so it waits until reading has caught up.
    fn watch(&self, sender: &mpsc::Sender<Message>) -> mpsc::Sender<()> {
        // If the loop has ended, the message has no receiver.
        let tell = |message: fn() -> Message| {
            let sender = sender.clone();
            move || drop(sender.send(message()))
        };
        let problem = sender.clone();
        watch::events(
            &self.bases,
            self.hints.clone(),
            tell(|| Message::Hint),
            tell(|| Message::Watching),
            move |e| drop(problem.send(Message::Problem(e))),
        )
    }

    /// Waits for the workers, which end after their current block, and commits.
    fn stop(&mut self, inbox: &mpsc::Receiver<Message>) {
        while self.busy > 0 {
            let Ok(message) = inbox.recv() else { break };
            if let Message::Done(..) = message {
                self.busy -= 1;
            }
        }
        if let Err(e) = self.index.commit() {
            tracing::warn!("the last commit failed: {e}");
        }
    }

    fn until_due(&self) -> Duration {
        let now = Instant::now();
        let mut due = self.next_scan;
        if self.has_news() {
            due = due.min(self.next_notice());
        }
        due.saturating_duration_since(now)
    }

    fn is_idle(&self) -> bool {
        self.scanned && self.busy == 0 && self.queue.is_empty()
    }

    /// True if something changed since the last notice.
    fn has_news(&self) -> bool {
        self.published || self.runs_changed || self.was_idle != self.is_idle()
    }

    /// Earliest time of the next notice.
    fn next_notice(&self) -> Instant {
        let interval = if self.is_idle() {
            Duration::ZERO
        } else {
            NOTICE_INTERVAL
        };
        self.last_notice + interval.max(NOTICE_SHARE * self.notice_took)
    }

    /// Walks the base directories and compares with the known files.
    fn scan(&mut self) {
        let first = !self.scanned;
        let began = Instant::now();
        let seq = self.index.notices().seq();
        let scan = scan(&self.bases);
        self.apply(&scan, first);
        self.walk = Some(Walk { scan, seq, began });
        self.scanned = true;
        self.last_scan = Instant::now();
        self.scan_took = self.last_scan - began;
        self.index.note_listing(self.scan_took);
        self.next_scan = self.last_scan + self.scan_interval();
        let (_, live) = self.index.count_runs();
        self.runs_changed |= live != self.live_runs;
        self.live_runs = live;
    }

    /// Time from the last scan to the next one.
    fn scan_interval(&self) -> Duration {
        let shares = [SCAN_SHARE, WATCHED_SCAN_SHARE];
        let share = shares[usize::from(self.is_watched)];
        self.settings.reload_interval.max(share * self.scan_took)
    }

    /// Hands out the last walk, after a new one if it began before `since`.
    fn hand_out(&mut self, since: Option<Instant>, reply: &mpsc::Sender<Walk>) {
        let is_late = |since| self.walk.as_ref().is_none_or(|walk| walk.began < since);
        if since.is_some_and(is_late) {
            self.scan();
        }
        if let Some(walk) = self.walk.take() {
            // If the judgement has ended, the reply has no receiver.
            drop(reply.send(walk));
        }
    }

    fn enqueue(&mut self, path: &Path) {
        let Some(known) = self.known.get_mut(path) else {
            return;
        };
        if known.busy {
            known.again = true;
            return;
        }
        known.busy = true;
        self.queue.push_back(path.to_owned());
    }

    fn dispatch(&mut self) {
        // More than one job waits for each worker, so that none is idle in between.
        while self.busy < self.workers * 2 {
            let Some(path) = self.queue.pop_front() else {
                return;
            };
            let Some(known) = self.known.get_mut(&path) else {
                continue;
            };
            let job = Job {
                source: Arc::clone(&known.source),
                tail: known.tail.take(),
            };
            if self.jobs.send(job).is_ok() {
                self.busy += 1;
            }
        }
    }

    fn done(&mut self, source: &Arc<Source>, outcome: Outcome) {
        self.busy -= 1;
        self.published = true;
        let path = source.place().full;
        let Some(known) = self
            .known
            .get_mut(&path)
            .filter(|known| Arc::ptr_eq(&known.source, source))
        else {
            return;
        };
        known.busy = false;
        let again = std::mem::take(&mut known.again);
        if let Some(found) = known.replaced.take() {
            self.replace(&found);
            return;
        }
        match outcome {
            Outcome::Done(tail) => {
                known.tail = Some(tail);
                if again {
                    self.enqueue(&path);
                }
            }
            Outcome::More(tail) => {
                known.tail = Some(tail);
                self.enqueue(&path);
            }
            Outcome::Replaced => {
                if let Ok(metadata) = files::metadata(&path) {
                    let found = known.on_disk(&metadata);
                    self.replace(&found);
                }
            }
            Outcome::Failed(reason) => {
                tracing::warn!("{}: {reason}", path.display());
                source.with_state(|state| state.unreadable = Some(reason));
                self.runs_changed = true;
            }
        }
    }

    /// Updates progress, commits and sends notices.
    fn settle(&mut self) {
        if self.index.is_broken() && self.busy == 0 {
            self.index.start_over();
            self.known.clear();
            self.queue.clear();
            self.next_scan = Instant::now();
            self.scanned = false;
        }
        let now = Instant::now();
        let idle = self.is_idle();
        let due = now.duration_since(self.last_commit) >= COMMIT_INTERVAL;
        if self.has_news() && now >= self.next_notice() {
            self.notify(idle);
        }
        let much = idle && (!self.committed || self.index.uncommitted_records() >= COMMIT_RECORDS);
        if due || much || self.index.sealed_bytes() >= COMMIT_BYTES {
            self.last_commit = now;
            self.committed |= idle;
            if let Err(e) = self.index.commit() {
                self.index.notices().add_message(format!(
                    "What is read from now on stays in memory, and is read again after a restart: {e}. Make room in {}.",
                    self.settings.cache_dir.display()
                ));
            }
        }
    }

    /// Updates the progress and sends a notice of what changed. Visits all runs.
    fn notify(&mut self, idle: bool) {
        let began = Instant::now();
        self.index.set_progress(self.progress(idle));
        self.index.announce(std::mem::take(&mut self.runs_changed));
        self.published = false;
        self.was_idle = idle;
        self.last_notice = Instant::now();
        self.notice_took = self.last_notice - began;
    }

    fn progress(&self, idle: bool) -> status::Ingest {
        let mut progress = status::Ingest {
            idle,
            files: self.known.len() as u64,
            ..status::Ingest::default()
        };
        // The order is irrelevant for sums.
        for source in self.index.sources() {
            let (fed, len) = source.with_state(|state| (state.fed_bytes, state.len_bytes));
            progress.bytes += fed;
            progress.total_bytes += len.max(fed);
        }
        progress
    }
}

impl TrackedFile {
    fn new(source: Arc<Source>) -> Self {
        Self {
            source,
            tail: None,
            busy: false,
            again: false,
            replaced: None,
        }
    }

    /// The file of its path as it is now.
    fn on_disk(&self, metadata: &Metadata) -> SourceFile {
        SourceFile {
            place: self.source.place(),
            format: self.source.format,
            identity: Identity::of(metadata),
            len_bytes: metadata.len_bytes,
            modified: metadata.modified,
            unreadable: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_folders_are_scanned_less_often_above_all_if_the_system_reports_changes() {
        let folder = tempfile::tempdir().unwrap();
        let settings = IngestSettings {
            base_dirs: Vec::new(),
            cache_dir: folder.path().to_owned(),
            reload_interval: Duration::from_secs(3),
            file_events: true,
        };
        let index = Index::open(&settings.cache_dir, &settings.base_dirs).unwrap();
        let (jobs, _queue) = mpsc::channel();
        let mut ingest = Loop::new(settings, index, jobs, 1);
        for (is_watched, took_millis, millis) in [
            (false, 1, 3_000),
            (false, 150, 3_000),
            (false, 800, 16_000),
            (true, 1, 3_000),
            (true, 800, 80_000),
        ] {
            ingest.is_watched = is_watched;
            ingest.scan_took = Duration::from_millis(took_millis);
            assert_eq!(ingest.scan_interval(), Duration::from_millis(millis));
        }
    }
}
