//! Requests against a loaded server: how long one takes, how many are answered.

use std::fmt::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use ureq::Agent;

/// How long each connection asks.
const DURATION: Duration = Duration::from_secs(4);

/// What the connections saw.
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

/// Asks for one series over and over on several connections at once.
pub(super) fn series(address: &str, run: &str, connections: usize) -> Result<Latency> {
    let url = format!("{address}/api/scalars?run={run}&tag=metrics/tag_00");
    let begun = Instant::now();
    let mut times = thread::scope(|scope| -> Result<Vec<f64>> {
        let threads: Vec<_> = (0..connections)
            .map(|_| scope.spawn(|| ask_on_and_on(&url)))
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

/// Milliseconds of each request of one connection.
fn ask_on_and_on(url: &str) -> Result<Vec<f64>> {
    let agent = Agent::new_with_defaults();
    let begun = Instant::now();
    let mut times = Vec::new();
    while begun.elapsed() < DURATION {
        let sent = Instant::now();
        agent.get(url).call()?.body_mut().read_to_vec()?;
        times.push(sent.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times)
}

/// Asks for the same tag of all `runs` in one request, as columns.
pub(super) fn wide(address: &str, runs: &[String]) -> Result<Wide> {
    let mut body = String::from(r#"{"points":100,"fields":["steps","values"],"series":["#);
    for (number, run) in runs.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        write!(body, r#"{comma}{{"run":"{run}","tag":"metrics/tag_00"}}"#)?;
    }
    body.push_str("]}");
    let agent = Agent::new_with_defaults();
    let mut times = Vec::new();
    let mut len_bytes = 0;
    for _ in 0..30 {
        let sent = Instant::now();
        let answer = agent
            .post(format!("{address}/api/scalars"))
            .header("content-type", "application/json")
            .header("accept", "application/octet-stream")
            .send(&body)?
            .body_mut()
            .read_to_vec()?;
        times.push(sent.elapsed().as_secs_f64() * 1e3);
        len_bytes = answer.len();
    }
    times.sort_by(f64::total_cmp);
    Ok(Wide {
        median_ms: times.get(times.len() / 2).copied().unwrap_or(f64::NAN),
        len_bytes,
    })
}
