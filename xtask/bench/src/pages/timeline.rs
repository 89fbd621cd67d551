//! The timeline of five million events: time until it is shown, and frames while it is moved by keys and by the wheel.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value;

use super::super::Bench;
use super::super::browser::{Browser, in_browser};
use super::super::connection::Connection;
use super::super::machine;
use super::super::report::{Report, Samples};
use super::super::server::Cache;
use super::{at_rest, open, samples, wait_until_quiet};
use xtask::console;

mod trace;

/// Pause between two requests for lanes while the file is read.
const LOOK_PAUSE: Duration = Duration::from_millis(20);
/// Time for which each key is held.
const HELD: Duration = Duration::from_millis(1_500);
/// Keys that are held one after the other: in, right, left, out.
const HELD_KEYS: [char; 4] = ['w', 'd', 'a', 's'];
/// Number of turns of the wheel in each direction, and the pixels of one.
const TURNS: usize = 60;
const TURN_PIXELS: i64 = 40;
/// Place of the pointer on the lanes, CSS pixels from the top left of the window.
const POINTER: (i64, i64) = (800, 400);

/// Measures the time until the timeline is shown, and its frames.
pub(in super::super) fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    console::step("timeline of 5,000,000 events");
    let folder = trace::on_disk(&bench.scratch)?;
    let cache = Cache::empty(&bench.scratch)?;
    machine::settle(&folder)?;
    let server = cache.start(&bench.program, &folder)?;
    // Judging reads the file too.
    server.wait_until_judged("run")?;
    let begun = Instant::now();
    let mut lanes = Connection::get(&format!("{}/api/timeline/lanes?run=run", server.address()))?;
    let mut is_whole = is_whole(lanes.ask()?)?;
    report.millis(
        "timeline of 5,000,000 events: from the first request to the first part, file in the page cache",
        begun.elapsed().as_secs_f64() * 1e3,
        None,
    );
    while !is_whole {
        std::thread::sleep(LOOK_PAUSE);
        is_whole = self::is_whole(lanes.ask()?)?;
    }
    report.millis(
        "the same: from the first request to all lanes",
        begun.elapsed().as_secs_f64() * 1e3,
        None,
    );
    report.figure(
        "the same: memory of the server then",
        &format!(
            "{:.0} MiB",
            machine::resident_bytes(server.pid())? as f64 / f64::from(1 << 20)
        ),
    );
    let address = format!("{}/run/run/timeline", server.address());
    let (opened, frames) = in_browser(async |browser| {
        open(browser, &address).await?;
        let opened = at_rest(browser, true).await?;
        Ok((opened, moved(browser).await?))
    })?;
    let columns = cache.column_bytes()? as f64;
    server.stop()?;
    report.millis("the same: from the navigation to all lanes", opened, None);
    let source = machine::disk_bytes(&folder)? as f64;
    report.figure(
        "the same: column file, of the bytes of the trace",
        &format!("{:.1} %", 100.0 * columns / source),
    );
    let server = cache.start(&bench.program, &folder)?;
    let mut restarted = [("/api/profile", 0.0), ("/api/timeline", 0.0)];
    for (path, millis) in &mut restarted {
        Connection::get(&format!("{}{path}?run=run", server.address()))?.ask()?;
        *millis = server.millis();
    }
    server.stop()?;
    for (path, millis) in restarted {
        let name = format!("the same: from the start of the program to the answer of {path}");
        report.millis(&name, millis, None);
    }
    let of = |share: f64| frames.quantile(share).unwrap_or(f64::NAN);
    report.figure(
        "the same: frames while it is moved and zoomed for 10 s",
        &format!(
            "median {:.1} ms, 95 % within {:.1} ms, at most {:.0} ms",
            of(0.5),
            of(0.95),
            of(1.0)
        ),
    );
    Ok(())
}

/// `true` once an answer about lanes is about the whole file.
fn is_whole(lanes: &[u8]) -> Result<bool> {
    let lanes: Value = serde_json::from_slice(lanes)?;
    Ok(lanes["state"] == "whole")
}

/// Frames while keys are held and the wheel turns.
async fn moved(browser: &Browser) -> Result<Samples> {
    browser.run("bench.watchFrames()").await?;
    for key in HELD_KEYS {
        browser.hold(key, HELD).await?;
    }
    for (dx, dy) in [(0, -1), (1, 0), (-1, 0), (0, 1)] {
        let by = (dx * TURN_PIXELS, dy * TURN_PIXELS);
        browser.turn_wheel(POINTER, by, TURNS).await?;
    }
    let frames = samples(&browser.run("return bench.stopFrames()").await?)?;
    wait_until_quiet(browser).await?;
    Ok(frames)
}
