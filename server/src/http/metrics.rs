//! `/metrics`: numbers about the server for Prometheus, as `OpenMetrics` text. No label names a run, a tag or a person.

mod process;
mod stores;

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use trainscope_api::error::ErrorCode;

use super::error::Failure;
use super::headers::NO_STORE;
use super::{Site, blocking};
use crate::{files, people};

/// Upper bounds of the durations of requests, seconds: from an answer out of memory to the reading of a large profile.
const BOUNDS: [f64; 11] = [
    0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0,
];
/// Label of requests that belong to no route: files of the page, and what was refused.
const NO_ROUTE: &str = "other";
/// Media type of the text.
const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Counts of requests. Cloning is cheap; clones share them.
#[derive(Clone)]
pub struct Metrics {
    requests: Family<Requests, Counter>,
    durations: Family<Route, Histogram, fn() -> Histogram>,
    streams: Gauge,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Requests {
    path: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    path: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfSeverity {
    severity: String,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(BOUNDS)),
            streams: Gauge::default(),
        }
    }
}

/// A stream of events that is open.
pub(super) struct OpenStream(Gauge);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    /// Counts a stream of events until the guard is dropped.
    pub(super) fn open_stream(&self) -> OpenStream {
        self.streams.inc();
        OpenStream(self.streams.clone())
    }
}

/// Notes the route of a request in its answer, for [`count`]. Inside of the routes, where it is known.
pub(super) async fn mark(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let mut response = next.run(request).await;
    if let Some(route) = route {
        response.extensions_mut().insert(route);
    }
    response
}

/// Counts a request when its answer begins.
pub(super) async fn count(State(site): State<Site>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let response = next.run(request).await;
    let route = response.extensions().get::<MatchedPath>();
    if route.is_some_and(|route| route.as_str().contains("/api/")) {
        files::note_request();
    }
    let path = route.map_or(NO_ROUTE, |route| route.as_str()).to_owned();
    let of_route = site
        .metrics
        .durations
        .get_or_create(&Route { path: path.clone() });
    of_route.observe(began.elapsed().as_secs_f64());
    let status = response.status().as_u16();
    let of_status = site
        .metrics
        .requests
        .get_or_create(&Requests { path, status });
    of_status.inc();
    response
}

/// Numbers about the server, for those who see all runs.
pub(super) async fn get(State(site): State<Site>) -> Result<Response, Failure> {
    if !people::may_see_all() {
        let message = "metrics cover all runs, and you may see only some of them";
        return Err(Failure::new(ErrorCode::Forbidden, message));
    }
    blocking(move || {
        let text = text_of(&site)
            .map_err(|error| Failure::internal("the metrics cannot be written", &error))?;
        Ok(([(CONTENT_TYPE, MEDIA_TYPE), NO_STORE], text).into_response())
    })
    .await
}

/// All numbers as `OpenMetrics` text.
pub(super) fn text_of(site: &Site) -> Result<String, std::fmt::Error> {
    let mut registry = Registry::with_prefix("trainscope");
    of_runs(&mut registry, site);
    of_requests(&mut registry, site);
    stores::register(&mut registry);
    let mut of_process = Registry::default();
    process::register(&mut of_process, site.about.started_secs);
    let mut text = String::new();
    text::encode_registry(&mut text, &registry)?;
    text::encode(&mut text, &of_process)?;
    Ok(text)
}

fn gauge(registry: &mut Registry, name: &str, help: &str, value: impl Into<f64>) {
    registry.register(name, help, ConstGauge::new(value.into()));
}

#[expect(
    clippy::cast_precision_loss,
    reason = "gauges are floating-point numbers"
)]
fn of_runs(registry: &mut Registry, site: &Site) {
    let index = &site.index;
    let (runs, live) = index.count_runs();
    let ingest = index.ingest();
    let (judged, hits) = site.judgements.counts();
    for (name, help, value) in [
        ("runs", "Runs in the folders", runs as f64),
        ("live_runs", "Runs that grow", live as f64),
        ("files", "Files of recordings", ingest.files as f64),
        (
            "unreadable_files",
            "Files of recordings that cannot be read",
            index.unreadable_files() as f64,
        ),
        (
            "records",
            "Records that are available",
            ingest.records as f64,
        ),
        ("judged_runs", "Runs that are judged", judged as f64),
        (
            "sessions",
            "Connected trainings",
            site.sessions.list().sessions.len() as f64,
        ),
    ] {
        gauge(registry, name, help, value);
    }
    let mut bytes = |name, help, value: u64| {
        registry.register_with_unit(name, help, Unit::Bytes, ConstGauge::new(value as f64));
    };
    bytes(
        "source_read",
        "Bytes of recordings that are read",
        ingest.bytes,
    );
    bytes("source", "Bytes of recordings", ingest.total_bytes);
    if let Some(size) = index.size_bytes() {
        bytes("index", "Size of the index on disk", size);
    }
    if let Some(listing) = index.listing() {
        for (name, help, time) in [
            (
                "listing",
                "Duration of the last walk over the folders",
                listing.took,
            ),
            (
                "listing_age",
                "Time since the last walk over the folders",
                listing.ended.elapsed(),
            ),
        ] {
            let gauge = ConstGauge::new(time.as_secs_f64());
            registry.register_with_unit(name, help, Unit::Seconds, gauge);
        }
    }
    let of_severity: Family<OfSeverity, Gauge> = Family::default();
    for (severity, count) in hits {
        let severity = crate::watchpoints::name_of(&severity);
        let gauge = of_severity.get_or_create(&OfSeverity { severity });
        gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
    }
    registry.register("hits", "Hits of watchpoints, by severity", of_severity);
}

fn of_requests(registry: &mut Registry, site: &Site) {
    let metrics = &site.metrics;
    registry.register(
        "sse_clients",
        "Open streams of events",
        metrics.streams.clone(),
    );
    registry.register(
        "http_requests",
        "Requests by route and status",
        metrics.requests.clone(),
    );
    registry.register_with_unit(
        "http_request",
        "Time from a request to the beginning of its answer",
        Unit::Seconds,
        metrics.durations.clone(),
    );
}
