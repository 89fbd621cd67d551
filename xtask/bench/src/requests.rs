//! Requests to a loaded server: latency and throughput.

use std::fmt::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use super::connection::Connection;
use super::report::Samples;
use anyhow::{Result, anyhow};
use serde_json::Value;

/// Duration of the requests of each connection.
const DURATION: Duration = Duration::from_secs(4);

/// Latencies and throughput of all connections.
pub(super) struct Latency {
    pub(super) median_ms: f64,
    pub(super) p99_ms: f64,
    pub(super) per_sec: f64,
}

/// One answer with many series.
pub(super) struct Wide {
    pub(super) median_ms: f64,
    pub(super) len_bytes: usize,
}

/// Repeats a request on several connections at once.
pub(super) fn repeated(url: &str, connections: usize) -> Result<Latency> {
    let begun = Instant::now();
    let mut times = thread::scope(|scope| -> Result<Vec<f64>> {
        let threads: Vec<_> = (0..connections)
            .map(|_| scope.spawn(|| ask_on_and_on(url)))
            .collect();
        let mut times = Vec::new();
        for thread in threads {
            times.extend(
                thread
                    .join()
                    .map_err(|_| anyhow!("a connection ended early"))??,
            );
        }
        Ok(times)
    })?;
    let secs = begun.elapsed().as_secs_f64();
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| {
        times
            .get(times.len() * percent / 100)
            .copied()
            .unwrap_or(f64::NAN)
    };
    Ok(Latency {
        median_ms: at(50),
        p99_ms: at(99),
        per_sec: times.len() as f64 / secs,
    })
}

/// Latency of each request of one connection, in milliseconds.
fn ask_on_and_on(url: &str) -> Result<Vec<f64>> {
    let mut connection = Connection::get(url)?;
    let begun = Instant::now();
    let mut times = Vec::new();
    while begun.elapsed() < DURATION {
        let sent = Instant::now();
        connection.ask()?;
        times.push(sent.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times)
}

/// One series requested fifty times in a row.
pub(super) struct Range {
    pub(super) median_ms: f64,
    /// `true` if buckets were sent instead of raw points.
    pub(super) is_cut: bool,
}

/// Requests 1,000 points or buckets of a series; `range` is appended to the query.
pub(super) fn range(address: &str, run: &str, range: &str) -> Result<Range> {
    let url = format!("{address}/api/scalars?run={run}&tag=metrics/tag_00&points=1000{range}");
    let mut connection = Connection::get(&url)?;
    let mut times = Samples::new();
    for _ in 0..50 {
        let sent = Instant::now();
        connection.ask()?;
        times.push(sent.elapsed().as_secs_f64() * 1e3);
    }
    let series: Value = serde_json::from_slice(connection.ask()?)?;
    Ok(Range {
        median_ms: times.median().unwrap_or(f64::NAN),
        is_cut: series["cut"] == true,
    })
}

/// Requests the same tag of all `runs` at once, as columns.
pub(super) fn wide(address: &str, runs: &[String]) -> Result<Wide> {
    let mut body = String::from(r#"{"points":100,"fields":["steps","values"],"series":["#);
    for (number, run) in runs.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        write!(body, r#"{comma}{{"run":"{run}","tag":"metrics/tag_00"}}"#)?;
    }
    body.push_str("]}");
    let mut connection = Connection::post(
        &format!("{address}/api/scalars"),
        "accept: application/octet-stream\r\n",
        &body,
    )?;
    let mut times = Vec::new();
    let mut len_bytes = 0;
    for _ in 0..30 {
        let sent = Instant::now();
        len_bytes = connection.ask()?.len();
        times.push(sent.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(Wide {
        median_ms: times.get(times.len() / 2).copied().unwrap_or(f64::NAN),
        len_bytes,
    })
}
