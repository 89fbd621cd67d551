//! Changes and problems of the server, announced to pages and other listeners.
//!
//! A notice holds names and numbers, no data: a listener that missed some asks for everything again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use parking_lot::Mutex;
use tokio::sync::broadcast;
use trainscope_api::live::{ChangeNotice, RunChange};
use trainscope_api::status::Ingest;

/// Notices that a slow client may be behind before it has to ask for everything again.
const CAPACITY: usize = 64;

/// Sender of notices, and the list of problems. Cloning is cheap.
#[derive(Clone)]
pub struct Notices(Arc<Inner>);

struct Inner {
    seq: AtomicU64,
    /// Progress of reading, as announced last.
    ingest: Mutex<Ingest>,
    /// Messages for the user that stay until the server ends.
    messages: Mutex<Vec<String>>,
    /// Folders and files that the last walk could not read.
    problems: Mutex<Vec<String>>,
    sender: broadcast::Sender<Arc<ChangeNotice>>,
}

impl Notices {
    pub(crate) fn new() -> Self {
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let millis = since_1970.map_or(1, |time| u64::try_from(time.as_millis()).unwrap_or(1));
        Self(Arc::new(Inner {
            // Above every number of an earlier server, so that its clients see that they have missed some.
            seq: AtomicU64::new(millis),
            ingest: Mutex::default(),
            messages: Mutex::default(),
            problems: Mutex::default(),
            sender: broadcast::channel(CAPACITY).0,
        }))
    }

    /// Sequence number of the last notice.
    pub fn seq(&self) -> u64 {
        self.0.seq.load(Ordering::Acquire)
    }

    /// Subscribes to all later notices.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<ChangeNotice>> {
        self.0.sender.subscribe()
    }

    /// Messages and problems for the user.
    pub fn messages(&self) -> Vec<String> {
        let mut messages = self.0.messages.lock().clone();
        messages.extend_from_slice(&self.0.problems.lock());
        messages
    }

    /// Adds a message for the user, unless it is there already.
    pub(crate) fn add_message(&self, message: String) {
        let mut messages = self.0.messages.lock();
        if !messages.contains(&message) {
            messages.push(message);
        }
    }

    /// Replaces the problems that the last walk found, as sentences.
    pub(crate) fn set_problems(&self, problems: Vec<String>) {
        *self.0.problems.lock() = problems;
    }

    /// Sets the progress of reading that the next notices carry.
    pub(crate) fn set_ingest(&self, ingest: Ingest) {
        *self.0.ingest.lock() = ingest;
    }

    /// Announces new points in these runs; `runs_changed`: the list of runs, or an entry in it, has changed.
    pub(crate) fn announce(&self, runs: Vec<RunChange>, runs_changed: bool) {
        self.send(runs, runs_changed, false);
    }

    /// Announces that a session began, ended or changed its state.
    pub(crate) fn announce_sessions(&self) {
        self.send(Vec::new(), false, true);
    }

    fn send(&self, runs: Vec<RunChange>, runs_changed: bool, sessions_changed: bool) {
        let seq = self.0.seq.fetch_add(1, Ordering::AcqRel) + 1;
        let ingest = *self.0.ingest.lock();
        // A missing listener is not an error.
        drop(self.0.sender.send(Arc::new(ChangeNotice {
            seq,
            ingest,
            runs_changed,
            sessions_changed,
            runs,
        })));
    }

    /// Announces that the list of runs, or an entry in it, has changed.
    pub(crate) fn announce_runs(&self) {
        self.announce(Vec::new(), true);
    }
}
