//! The debugger page of a run with a hundred thousand hits: time until the first hits are visible, and until a filter
//! is applied.

use anyhow::{Context, Result};
use serde_json::json;

use super::super::Bench;
use super::super::browser::{Browser, WATCH, in_browser};
use super::super::machine;
use super::super::report::{Report, Samples};
use super::super::server::Cache;
use super::{BACKSPACE, wait_until_quiet};
use xtask::console;
use xtask::process::{cargo, run as run_command};

/// Folder of that run below the scratch folder, and its name.
const FOLDER: &str = "data/hits";
const RUN: &str = "run";
/// Selectors of a hit and of the list of hits.
const HIT: &str = "tr[data-severity]";
const FILTER: &str = "input[aria-label='Tensor or watchpoint']";
/// Numbers of tensors to search for.
const NUMBERS: [u32; 4] = [77, 42, 9, 63];
/// Visits of the page; the first one downloads the program.
const VISITS: usize = 6;

/// Runs before the scripts of the page: records the time of the first paint with hits.
const FOR_HITS: &str = "
    const hasHits = () => document.querySelector('tr[data-severity]');
    bench.firstPaint(hasHits).then((now) => (bench.firstHitMs = now));";

/// Opens the page repeatedly, then types into the filter.
pub(super) fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    console::step("pages: 100,000 hits");
    let folder = bench.scratch.join(FOLDER);
    if !folder.exists() {
        // The bench of findings writes them.
        run_command(
            cargo()
                .args(["bench", "-p", "trainscope", "--bench", "findings"])
                .args(["--", "--write"])
                .arg(&folder),
        )?;
    }
    let cache = Cache::empty(&bench.scratch)?;
    machine::settle(&folder)?;
    let server = cache.start(&bench.program, &folder)?;
    server.wait_until_judged(RUN)?;
    let address = format!("{}/run/{RUN}/debugger", server.address());
    let (mut first, mut filtered) = (Samples::new(), Samples::new());
    in_browser(async |browser| {
        browser
            .run_in_each_page(&format!("{WATCH} {FOR_HITS}"))
            .await?;
        for visit in 0..VISITS {
            browser.goto("about:blank").await?;
            let shown = first_hit(browser, &address).await?;
            if visit > 0 {
                first.push(shown);
            }
        }
        browser.click(FILTER).await?;
        for number in NUMBERS {
            let name = format!("layer{number}.");
            for (typed, key) in (1..).zip(name.chars()) {
                // A prefix of all names filters nothing.
                if typed > "layer".len() {
                    filtered.push(shows(browser, key, &name[..typed]).await?);
                } else {
                    browser.press(key).await?;
                }
            }
            for _ in name.chars() {
                browser.press(BACKSPACE).await?;
            }
            wait_until_quiet(browser).await?;
        }
        Ok(())
    })?;
    server.stop()?;
    report.spread(
        "debugger of 100,000 hits, visited before: navigation to the first of them",
        &first,
    );
    report.spread(
        "the same: from a key in the filter to the hits that it leaves",
        &filtered,
    );
    Ok(())
}

/// Milliseconds from a key to the paint in which only matching hits are left.
async fn shows(browser: &Browser, key: char, text: &str) -> Result<f64> {
    let (hit, text) = (json!(HIT), json!(text));
    let watch = format!("bench.shown = bench.shows({hit}, {text});");
    browser.run(&watch).await?;
    browser.press(key).await?;
    let script = "const [done] = arguments; bench.shown.then(done);";
    let millis = browser.run_async(script, vec![]).await?;
    millis.as_f64().context("the filter leaves others")
}

/// Milliseconds from the start of the navigation to the paint with the first hits.
async fn first_hit(browser: &Browser, address: &str) -> Result<f64> {
    browser.goto(address).await?;
    let script = format!(
        "const [done] = arguments;
         const look = () => bench.firstHitMs && document.querySelector({})
           ? done(bench.firstHitMs) : setTimeout(look, 10);
         look();",
        json!(HIT)
    );
    let millis = browser.run_async(&script, vec![]).await?;
    millis.as_f64().context("the page shows no hit")
}
