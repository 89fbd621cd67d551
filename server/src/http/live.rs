//! `GET /api/live`: server-sent events about changes.
//!
//! The input is the index's broadcast of notices. A client gets at most one event every [`PAUSE`]: notices in between
//! are merged, and a client too slow for the broadcast gets a `reload`.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use serde::Deserialize;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::watch;
use tokio::time::Instant;
use trainscope_api::live::{ChangeNotice, RunChange};

use super::Site;
use super::error::Failure;
use super::metrics::OpenStream;
use super::request::Params;
use crate::notices::Notices;
use crate::people::{self, Viewer};

/// Minimum interval of events for one client: a page redraws at most this often. The first one after a quiet time is
/// sent at once.
const PAUSE: Duration = Duration::from_millis(250);
/// Interval of comments on a quiet stream, below the timeouts of proxies.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Reconnect delay of browsers.
const RETRY: Duration = Duration::from_secs(1);
/// Maximum number of tags of one run in a merged notice; above it, the list is empty for "any of them".
const MAX_TAGS: usize = 1_000;

#[derive(Deserialize)]
pub(super) struct LiveQuery {
    since: Option<u64>,
}

/// Server-sent events about changes
#[cfg_attr(test, utoipa::path(
    get,
    path = "/api/live",
    operation_id = "live",
    params(
        ("since" = Option<u64>, Query, description = "Sequence number of the client's data"),
        ("Last-Event-ID" = Option<u64>, Header, description = "The same, as browsers send it; wins over `since`"),
    ),
    responses(
        (
            status = 200,
            description = "Events `change` (data: ChangeNotice) and `reload` (data: the sequence number; the client \
                           has missed some and asks for everything again). Ids are sequence numbers.",
            content_type = "text/event-stream",
            body = String,
        )
    )
))]
pub(super) async fn get(
    State(site): State<Site>,
    headers: HeaderMap,
    Params(query): Params<LiveQuery>,
) -> Result<Response, Failure> {
    let since = match headers.get("last-event-id") {
        Some(id) => Some(
            id.to_str()
                .ok()
                .and_then(|id| id.parse().ok())
                .ok_or_else(|| Failure::bad_request("`Last-Event-ID` wants a sequence number"))?,
        ),
        None => query.since,
    };
    let open = site.metrics.open_stream();
    let events = events(site.index.notices(), since, site.ending.clone(), open);
    let mut response = Sse::new(events)
        .keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
        .into_response();
    // Buffering proxies would hold back events for minutes.
    response
        .headers_mut()
        .insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// Next event for a client.
#[derive(Debug)]
enum NextEvent {
    Change(ChangeNotice),
    Reload(u64),
}

impl NextEvent {
    fn event(&self) -> Event {
        match self {
            Self::Change(notice) => Event::default()
                .event("change")
                .id(notice.seq.to_string())
                .json_data(notice)
                .unwrap_or_else(|error| {
                    tracing::error!(%error, "a notice cannot be written");
                    reload(notice.seq)
                }),
            Self::Reload(seq) => reload(*seq),
        }
    }
}

fn reload(seq: u64) -> Event {
    Event::default()
        .event("reload")
        .id(seq.to_string())
        .data(seq.to_string())
}

fn events(
    notices: &Notices,
    since: Option<u64>,
    ending: watch::Receiver<bool>,
    open: OpenStream,
) -> impl Stream<Item = Result<Event, Infallible>> + use<> {
    // Subscribing comes first: later changes are in the channel, earlier ones are visible in `seq`.
    let subscription = notices.subscribe();
    let seq = notices.seq();
    let missed = since.is_some_and(|since| since != seq).then_some(seq);
    let listener = Listener {
        all: notices.clone(),
        notices: subscription,
        ending,
        next: Instant::now(),
        missed,
        greeted: false,
        viewer: people::current(),
        _open: open,
    };
    stream::unfold(listener, |mut listener| async move {
        let event = listener.next().await?;
        Some((Ok(event), listener))
    })
}

struct Listener {
    all: Notices,
    notices: Receiver<Arc<ChangeNotice>>,
    ending: watch::Receiver<bool>,
    /// Earliest time of the next event.
    next: Instant,
    /// A pending reload.
    missed: Option<u64>,
    /// True once the first comment was sent, by which proxies and browsers see an open stream at once.
    greeted: bool,
    /// The person whose page listens: its notices name no other runs.
    viewer: Viewer,
    _open: OpenStream,
}

impl Listener {
    /// The next event; `None` when the server ends.
    async fn next(&mut self) -> Option<Event> {
        if !self.greeted {
            self.greeted = true;
            return Some(Event::default().comment("open").retry(RETRY));
        }
        let mut ending = self.ending.clone();
        let told = tokio::select! {
            // A closed channel also means shutdown.
            _ = ending.wait_for(|ending| *ending) => return None,
            told = self.told() => told?,
        };
        self.next = Instant::now() + PAUSE;
        Some(self.viewed(told).event())
    }

    /// The part of an event that its reader may see.
    fn viewed(&self, event: NextEvent) -> NextEvent {
        match event {
            NextEvent::Change(mut notice) if self.viewer.role_in_all().is_none() => {
                notice
                    .runs
                    .retain(|change| self.viewer.role_in(&change.run).is_some());
                notice.ingest = people::part(notice.ingest);
                NextEvent::Change(notice)
            }
            event => event,
        }
    }

    async fn told(&mut self) -> Option<NextEvent> {
        if let Some(seq) = self.missed.take() {
            return Some(NextEvent::Reload(seq));
        }
        let first = match self.notices.recv().await {
            Ok(notice) => notice,
            Err(RecvError::Lagged(_)) => return Some(self.refetch()),
            Err(RecvError::Closed) => return None,
        };
        let mut merged = ChangeNotice::clone(&first);
        tokio::time::sleep_until(self.next).await;
        loop {
            match self.notices.try_recv() {
                Ok(notice) => merge(&mut merged, &notice),
                Err(TryRecvError::Empty | TryRecvError::Closed) => {
                    return Some(NextEvent::Change(merged));
                }
                Err(TryRecvError::Lagged(_)) => return Some(self.refetch()),
            }
        }
    }

    /// Drains the channel: the reload covers it.
    fn refetch(&mut self) -> NextEvent {
        self.notices = self.notices.resubscribe();
        NextEvent::Reload(self.all.seq())
    }
}

/// Merges a later notice into an earlier one.
fn merge(merged: &mut ChangeNotice, later: &ChangeNotice) {
    merged.seq = later.seq;
    merged.ingest = later.ingest;
    merged.runs_changed |= later.runs_changed;
    merged.sessions_changed |= later.sessions_changed;
    for change in &later.runs {
        match merged.runs.iter_mut().find(|run| run.run == change.run) {
            None => merged.runs.push(change.clone()),
            Some(run) => merge_run(run, change),
        }
    }
}

fn merge_run(run: &mut RunChange, later: &RunChange) {
    run.tags_changed |= later.tags_changed;
    run.last_step = run.last_step.max(later.last_step);
    if run.tags.is_empty() {
        return;
    }
    if later.tags.is_empty() {
        run.tags.clear();
        return;
    }
    run.tags.extend_from_slice(&later.tags);
    run.tags.sort_unstable();
    run.tags.dedup();
    if run.tags.len() > MAX_TAGS {
        run.tags.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_TAGS, merge};
    use trainscope_api::live::{ChangeNotice, RunChange};

    fn notice(seq: u64, runs: &[(&str, &[&str], i64)]) -> ChangeNotice {
        ChangeNotice {
            seq,
            runs: runs
                .iter()
                .map(|(run, tags, step)| RunChange {
                    run: (*run).to_owned(),
                    tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
                    tags_changed: false,
                    last_step: Some(*step),
                })
                .collect(),
            ..ChangeNotice::default()
        }
    }

    #[test]
    fn merged_notices_say_what_both_said() {
        let mut first = notice(4, &[("a", &["loss"], 10), ("b", &["x"], 1)]);
        let mut later = notice(5, &[("a", &["acc", "loss"], 9), ("c", &[], 3)]);
        later.runs_changed = true;
        merge(&mut first, &later);
        assert_eq!(first.seq, 5);
        assert!(first.runs_changed);
        let runs: Vec<_> = first.runs.iter().map(|run| run.run.as_str()).collect();
        assert_eq!(runs, ["a", "b", "c"]);
        assert_eq!(first.runs[0].tags, ["acc", "loss"]);
        assert_eq!(first.runs[0].last_step, Some(10));
    }

    #[test]
    fn any_tag_wins_over_some() {
        let mut any = notice(1, &[("a", &[], 1)]);
        merge(&mut any, &notice(2, &[("a", &["x"], 2)]));
        assert!(any.runs[0].tags.is_empty());
        let mut some = notice(1, &[("a", &["x"], 1)]);
        merge(&mut some, &notice(2, &[("a", &[], 2)]));
        assert!(some.runs[0].tags.is_empty());
        let names: Vec<String> = (0..=MAX_TAGS).map(|n| n.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut many = notice(1, &[("a", &names[..MAX_TAGS], 1)]);
        merge(&mut many, &notice(2, &[("a", &names[MAX_TAGS..], 2)]));
        assert!(many.runs[0].tags.is_empty());
    }
}
