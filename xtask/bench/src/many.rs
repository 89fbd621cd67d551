//! A server on 100,000 short runs: start, restart, memory, idling, a page of the list, and a filter of the table.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;

use super::connection::Connection;
use super::data::Shape;
use super::report::{Report, Samples};
use super::server::{Cache, Server};
use super::{Bench, machine};
use xtask::console;

/// Repetitions of each request.
const TIMES: usize = 15;
/// Time for which the idle server is watched: several walks over all folders.
const IDLE: Duration = Duration::from_mins(2);
/// Interval of looks for the end of background work.
const LOOK: Duration = Duration::from_secs(3);
/// Share of a core below which background work has ended.
const QUIET: f64 = 0.1;
/// Longest wait for that.
const PATIENCE: Duration = Duration::from_mins(5);

/// Measures everything and reports the results.
pub(super) fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    let shape = &Shape::HUNDRED_THOUSAND_RUNS;
    console::step(shape.name);
    let data = shape.on_disk(&bench.scratch)?;
    machine::settle(&data.folder)?;
    let cache = Cache::empty(&bench.scratch)?;
    for (start, pages) in [("first start", false), ("restart", true)] {
        let mut figure = |what: &str, value: &str| {
            report.figure(&format!("{}, {start}: {what}", shape.name), value);
        };
        let server = cache.start(&bench.program, &data.folder)?;
        let secs = server.wait_for_runs(data.runs.len())?;
        let taken = machine::processor_secs(server.pid())?;
        figure("all in the list", &of_time(secs, taken));
        let secs = server.wait_for_commit(data.points)?;
        let taken = machine::processor_secs(server.pid())?;
        figure("everything committed", &of_time(secs, taken));
        wait_until_quiet(&server)?;
        let taken = machine::processor_secs(server.pid())?;
        figure(
            "processor time, with judgements and table",
            &format!("{taken:.1} s"),
        );
        let resident = machine::resident_bytes(server.pid())? as f64;
        figure(
            "memory then",
            &format!("{:.0} MiB", resident / f64::from(1 << 20)),
        );
        if pages {
            requests(&server, data.runs.len(), report)?;
            let before = machine::processor_secs(server.pid())?;
            sleep(IDLE);
            let taken = machine::processor_secs(server.pid())? - before;
            let percent = taken / IDLE.as_secs_f64() * 100.0;
            report.figure("the same: idle", &format!("{percent:.1} % of a core"));
        }
        server.stop()?;
    }
    let bytes = cache.len_bytes()? as f64;
    report.figure(
        "the same: bytes of index a point",
        &format!("{:.2}", bytes / data.points as f64),
    );
    Ok(())
}

fn of_time(secs: f64, processor_secs: f64) -> String {
    format!("{secs:.1} s, {processor_secs:.1} s of processor time")
}

/// Pages of the list, and filters of the table.
fn requests(server: &Server, runs: usize, report: &mut Report) -> Result<()> {
    let address = server.address();
    let half = runs / 2;
    for (what, query) in [
        ("first page of the list", "limit=100".to_owned()),
        ("a page amid the list", format!("limit=100&offset={half}")),
        (
            "a page by last step",
            "limit=100&sort=-run:steps".to_owned(),
        ),
        ("a page of a search", "limit=100&filter=99".to_owned()),
    ] {
        let mut page = Connection::get(&format!("{address}/api/runs?{query}"))?;
        ask(what, &mut page, report)?;
    }
    let body = json!({"columns": ["run:steps"], "filter": "metric:metrics/tag_00:<0.2"});
    let headers = "accept: application/octet-stream\r\ncontent-type: application/json\r\n";
    let mut table = Connection::post(&format!("{address}/api/table"), headers, &body.to_string())?;
    ask("a filter of the table", &mut table, report)
}

fn ask(what: &str, connection: &mut Connection, report: &mut Report) -> Result<()> {
    let (mut samples, mut len_bytes) = (Samples::new(), 0);
    for _ in 0..TIMES {
        let sent = Instant::now();
        len_bytes = connection.ask()?.len();
        samples.push(sent.elapsed().as_secs_f64() * 1e3);
    }
    let (median, most) = (samples.median(), samples.greatest());
    report.figure(
        &format!("the same: {what}"),
        &format!(
            "{:.1} ms, at most {:.0}; {:.0} kB",
            median.unwrap_or(f64::NAN),
            most.unwrap_or(f64::NAN),
            len_bytes as f64 / 1e3
        ),
    );
    Ok(())
}

/// Waits until all runs are judged and the table is read.
fn wait_until_quiet(server: &Server) -> Result<()> {
    let begun = Instant::now();
    let mut before = machine::processor_secs(server.pid())?;
    while begun.elapsed() < PATIENCE {
        sleep(LOOK);
        let now = machine::processor_secs(server.pid())?;
        if now - before < QUIET * LOOK.as_secs_f64() {
            return Ok(());
        }
        before = now;
    }
    console::line("    the server is still busy: memory is measured beside it");
    Ok(())
}
