//! The only event stream: turns notices of the server into signals for new requests.
//!
//! Notices hold no data, so a lost one costs nothing: after every reconnect the server repeats missed changes. The
//! stream closes while the tab is hidden (a browser allows six connections per host) and resumes by its sequence
//! number.

use std::collections::HashMap;
use std::time::Duration;

use trainscope_api::live::ChangeNotice;
use trainscope_api::paths;
use trainscope_api::status::Ingest;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{EventSource, MessageEvent};

use crate::prelude::*;
use crate::{client, format};

/// Waits between attempts to reach the server again, in seconds; the last one repeats.
const RETRY_SECS: [u32; 5] = [1, 2, 4, 8, 15];

/// State of the event stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Connection {
    /// The first attempt is under way, or the tab was hidden a moment ago.
    Opening,
    /// Notices arrive.
    Open,
    /// The server cannot be reached.
    Lost {
        /// Time of the loss, in milliseconds since 1970 by the browser's clock.
        since_millis: f64,
        /// Seconds until the next attempt; 0 while it is under way.
        retry_in_secs: u32,
    },
}

/// State of the stream, as signals. `Copy`: take it with [`use_live`].
#[derive(Clone, Copy)]
pub struct Live {
    /// Sequence number of the last notice that was applied.
    pub seq: RwSignal<u64>,
    /// State of the event stream.
    pub connection: RwSignal<Connection>,
    /// `true` while live updates are paused. Change it with [`Live::pause`].
    pub paused: RwSignal<bool>,
    /// Reading progress of the server; `None` before the first event. Updated during a pause.
    pub ingest: RwSignal<Option<Ingest>>,
    /// Version of the list of runs: incremented when runs are added, removed or judged, or a note changes. Growth of
    /// known runs is in `last_notice`.
    pub list_version: RwSignal<u64>,
    /// Version of the list of live sessions: incremented when a session changes, also during a pause.
    pub sessions_version: RwSignal<u64>,
    /// Number of runs with news that wait because of a pause.
    pub waiting: RwSignal<usize>,
    /// The last change of each run, from its notice, for values that can be shown without a request.
    pub last_notice: RwSignal<ChangeNotice>,
    versions: StoredValue<HashMap<String, ArcRwSignal<u64>>>,
    held: StoredValue<Backlog>,
    socket: LocalValue<Option<Socket>>,
    started: StoredValue<bool>,
    attempts: StoredValue<usize>,
    retry_round: StoredValue<u64>,
}

/// Events that arrived during a pause.
#[derive(Default)]
struct Backlog {
    seq: u64,
    reload: bool,
    runs: std::collections::BTreeSet<String>,
}

/// The stream and its callbacks; dropped together.
struct Socket {
    source: EventSource,
    _change: Closure<dyn FnMut(MessageEvent)>,
    _reload: Closure<dyn FnMut(MessageEvent)>,
    _open: Closure<dyn FnMut(web_sys::Event)>,
    _error: Closure<dyn FnMut(web_sys::Event)>,
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.source.set_onopen(None);
        self.source.set_onerror(None);
        self.source.close();
    }
}

/// The live stream of this page.
pub fn use_live() -> Live {
    expect_context()
}

impl Live {
    /// Creates and provides the signals. [`Live::start`] opens the stream.
    pub fn provide() -> Self {
        let live = Self {
            seq: RwSignal::new(0),
            connection: RwSignal::new(Connection::Opening),
            paused: RwSignal::new(false),
            ingest: RwSignal::new(None),
            list_version: RwSignal::new(0),
            sessions_version: RwSignal::new(0),
            waiting: RwSignal::new(0),
            last_notice: RwSignal::new(ChangeNotice::default()),
            versions: StoredValue::new(HashMap::new()),
            held: StoredValue::new(Backlog::default()),
            socket: LocalValue::new_local(None),
            started: StoredValue::new(false),
            attempts: StoredValue::new(0),
            retry_round: StoredValue::new(0),
        };
        provide_context(live);
        live
    }

    /// Opens the stream, unless it was opened before. `seq` is the last change that the first list is sure to hold: no
    /// later one is missed. Without it, the stream starts with the next change.
    pub fn start(self, seq: Option<u64>) {
        if self.started.get_value() {
            return;
        }
        self.started.set_value(true);
        if let Some(seq) = seq {
            self.seq.set(seq);
        }
        self.open();
    }

    /// Closes the stream while the tab is hidden, and opens it when it is seen again.
    pub fn watch_visibility(self) {
        let handle = window_event_listener_untyped("visibilitychange", move |_| {
            if document().hidden() {
                self.close();
            } else if self.started.get_value() {
                self.attempts.set_value(0);
                self.open();
            }
        });
        on_cleanup(move || {
            handle.remove();
            self.close();
        });
    }

    /// A number that grows whenever `run` has new points, in any tag. Charts ask again when it changes.
    pub fn run_version(self, run: &str) -> Signal<u64> {
        let version = self.versions.try_update_value(|versions| {
            let version = versions.entry(run.to_owned()).or_default();
            version.clone()
        });
        version.unwrap_or_default().into()
    }

    /// Version of a run without a separate signal, for loops over many runs; reactive.
    pub fn version(self, run: &str) -> u64 {
        let known = self
            .versions
            .with_value(|versions| versions.get(run).cloned());
        known.map_or_else(|| self.run_version(run).get(), |version| version.get())
    }

    /// True if the server cannot be reached; reactive.
    pub fn is_lost(self) -> bool {
        matches!(self.connection.get(), Connection::Lost { .. })
    }

    /// Pauses live updates, or resumes them and applies waiting events.
    pub fn pause(self, paused: bool) {
        self.paused.set(paused);
        if !paused {
            self.show_waiting();
        }
    }

    /// Applies waiting events, during a pause too.
    pub fn show_waiting(self) {
        let held = self
            .held
            .try_update_value(std::mem::take)
            .unwrap_or_default();
        self.waiting.set(0);
        if held.seq == 0 {
            return;
        }
        self.seq.set(held.seq);
        if held.reload {
            self.reload_all();
        } else {
            for run in &held.runs {
                self.bump(run);
            }
            // Events of a pause only name the runs that have changed.
            self.list_version.update(|version| *version += 1);
        }
    }

    /// Tries to reach the server at once instead of waiting for the next attempt.
    pub fn retry_now(self) {
        self.attempts.set_value(0);
        self.open();
    }

    fn bump(self, run: &str) {
        let version = self
            .versions
            .with_value(|versions| versions.get(run).cloned());
        if let Some(version) = version {
            version.update(|version| *version += 1);
        }
    }

    fn reload_all(self) {
        let mut versions: Vec<_> = self.versions.with_value(|versions| {
            versions
                .iter()
                .map(|(run, v)| (run.clone(), v.clone()))
                .collect()
        });
        versions.sort_by(|a, b| a.0.cmp(&b.0));
        for (_, version) in versions {
            version.update(|version| *version += 1);
        }
        self.list_version.update(|version| *version += 1);
        self.sessions_version.update(|version| *version += 1);
    }

    fn on_change(self, notice: ChangeNotice) {
        self.ingest.set(Some(notice.ingest));
        if notice.sessions_changed {
            self.sessions_version.update(|version| *version += 1);
        }
        if self.paused.get_untracked() {
            self.held.update_value(|held| {
                held.seq = notice.seq;
                held.runs
                    .extend(notice.runs.into_iter().map(|change| change.run));
            });
            self.waiting
                .set(self.held.with_value(|held| held.runs.len()));
            return;
        }
        let news = notice.runs_changed || !notice.runs.is_empty();
        if !news {
            self.seq.set(notice.seq);
            return;
        }
        self.seq.set(notice.seq);
        for change in &notice.runs {
            self.bump(&change.run);
        }
        if notice.runs_changed {
            self.list_version.update(|version| *version += 1);
        }
        self.last_notice.set(notice);
    }

    fn on_reload(self, seq: u64) {
        if self.paused.get_untracked() {
            self.held.update_value(|held| {
                held.seq = seq;
                held.reload = true;
            });
            return;
        }
        self.seq.set(seq);
        self.reload_all();
    }

    fn close(self) {
        self.retry_round.update_value(|round| *round += 1);
        self.socket.set_value(None);
    }

    fn open(self) {
        self.close();
        if document().hidden() {
            return;
        }
        if let Connection::Lost { since_millis, .. } = self.connection.get_untracked() {
            self.connection.set(Connection::Lost {
                since_millis,
                retry_in_secs: 0,
            });
        }
        let last = self.held.with_value(|held| held.seq);
        let since = last.max(self.seq.get_untracked());
        let mut address = client::url(paths::LIVE);
        if since > 0 {
            address = format!("{address}?since={since}");
        }
        let Ok(source) = EventSource::new(&address) else {
            self.lost();
            return;
        };
        let change = Closure::new(move |event: MessageEvent| {
            let notice = event
                .data()
                .as_string()
                .and_then(|text| serde_json::from_str(&text).ok());
            if let Some(notice) = notice {
                self.on_change(notice);
            }
        });
        let reload = Closure::new(move |event: MessageEvent| {
            let text = event.data().as_string().unwrap_or_default();
            self.on_reload(text.trim().parse().unwrap_or_default());
        });
        let open = Closure::new(move |_| {
            self.attempts.set_value(0);
            self.connection.set(Connection::Open);
        });
        let error = Closure::new(move |_| self.lost());
        // Listening to an existing source does not fail.
        let _ignored =
            source.add_event_listener_with_callback("change", change.as_ref().unchecked_ref());
        let _ignored =
            source.add_event_listener_with_callback("reload", reload.as_ref().unchecked_ref());
        source.set_onopen(Some(open.as_ref().unchecked_ref()));
        source.set_onerror(Some(error.as_ref().unchecked_ref()));
        self.socket.set_value(Some(Socket {
            source,
            _change: change,
            _reload: reload,
            _open: open,
            _error: error,
        }));
    }

    /// The browser would retry automatically, but at an unknown time, and not after an HTTP error.
    fn lost(self) {
        let attempt = self.attempts.get_value();
        self.attempts.set_value(attempt + 1);
        let wait = RETRY_SECS[attempt.min(RETRY_SECS.len() - 1)];
        let since_millis = match self.connection.get_untracked() {
            Connection::Lost { since_millis, .. } => since_millis,
            Connection::Opening | Connection::Open => format::now_millis(),
        };
        // Dropped in a later turn: this runs inside one of the closures it would free.
        set_timeout(
            move || self.close_and_wait(since_millis, wait),
            Duration::ZERO,
        );
    }

    fn close_and_wait(self, since_millis: f64, wait_secs: u32) {
        self.close();
        let round = self.retry_round.get_value();
        self.countdown(since_millis, wait_secs, round);
    }

    fn countdown(self, since_millis: f64, wait_secs: u32, round: u64) {
        if self.retry_round.get_value() != round {
            return;
        }
        if wait_secs == 0 {
            self.open();
            return;
        }
        self.connection.set(Connection::Lost {
            since_millis,
            retry_in_secs: wait_secs,
        });
        set_timeout(
            move || self.countdown(since_millis, wait_secs - 1, round),
            Duration::from_secs(1),
        );
    }
}
