//! The table of 10,000 runs × 200 columns: memory and answers of the server, importances, and the page about it.

use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::Bench;
use super::connection::Connection;
use super::report::{Report, Samples};
use super::server::{Cache, Server};
use super::{machine, pages};
use xtask::console;

mod runs;

/// Axes of parallel coordinates in one request, as the page asks for them.
const AXES: usize = 12;
/// Repetitions of each request.
const TIMES: usize = 15;
/// Repetitions of each importance, which takes longer.
const IMPORTANCE_TIMES: usize = 3;

/// Measures everything and reports the results.
pub(super) fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    console::step("table of 10,000 runs × 200 columns");
    let data = runs::on_disk(&bench.scratch)?;
    let cache = Cache::empty(&bench.scratch)?;
    machine::settle(&data)?;
    let server = cache.start(&bench.program, &data)?;
    server.wait_for_commit(runs::RECORDS)?;
    report.figure(
        "10,000 runs: memory of the server once they are read",
        &format!(
            "{:.0} MB",
            machine::resident_bytes(server.pid())? as f64 / 1e6
        ),
    );
    let begun = Instant::now();
    let columns = columns(&server)?;
    report.millis(
        "the same × 200 columns: first request at once, beside the judgement of all runs",
        begun.elapsed().as_secs_f64() * 1e3,
        None,
    );
    // All runs are judged before the rest is measured.
    machine::wait_until_idle()?;
    report.figure(
        "the same: memory of the server then",
        &format!(
            "{:.0} MB",
            machine::resident_bytes(server.pid())? as f64 / 1e6
        ),
    );
    let found = columns.len();
    report.figure("the same: columns", &found.to_string());

    let address = server.address();
    let mut again = Connection::get(&format!("{address}/api/table/columns"))?;
    let (millis, _) = median_of(&mut again, TIMES)?;
    report.millis("the same: all columns with their facts", millis, None);
    let axes = json!({"columns": runs::axes(AXES)});
    let (millis, len_bytes) = ask(&server, "/api/table", &axes, TIMES)?;
    report.millis("the same: 12 axes and 20 results", millis, None);
    report.figure(
        "the same: their bytes",
        &format!("{:.2} MB", len_bytes as f64 / 1e6),
    );
    let few = json!({"target": runs::TARGET, "columns": runs::parameters(20), "filter": "run_00"});
    let (millis, _) = ask(&server, "/api/importance", &few, IMPORTANCE_TIMES)?;
    report.millis("importance, 1,000 runs × 20 parameters", millis, None);
    let many = json!({"target": runs::TARGET, "columns": runs::parameters(64)});
    let (millis, _) = ask(&server, "/api/importance", &many, IMPORTANCE_TIMES)?;
    report.millis("importance, 10,000 runs × 64 parameters", millis, None);
    pages::lineage::measure(&server, report)?;
    server.stop()
}

/// Keys of all columns.
fn columns(server: &Server) -> Result<Vec<Value>> {
    let url = format!("{}/api/table/columns", server.address());
    let answer: Value = serde_json::from_slice(Connection::get(&url)?.ask()?)?;
    let columns = answer["columns"].as_array().context("no list of columns")?;
    Ok(columns.clone())
}

/// Median latency of a request in milliseconds, and the length of its answer.
fn ask(server: &Server, path: &str, body: &Value, times: usize) -> Result<(f64, usize)> {
    let url = format!("{}{path}", server.address());
    let headers = "accept: application/octet-stream\r\n";
    median_of(
        &mut Connection::post(&url, headers, &body.to_string())?,
        times,
    )
}

fn median_of(connection: &mut Connection, times: usize) -> Result<(f64, usize)> {
    let (mut samples, mut len_bytes) = (Samples::new(), 0);
    for _ in 0..times {
        let sent = Instant::now();
        len_bytes = connection.ask()?.len();
        samples.push(sent.elapsed().as_secs_f64() * 1e3);
    }
    Ok((samples.median().unwrap_or(f64::NAN), len_bytes))
}
