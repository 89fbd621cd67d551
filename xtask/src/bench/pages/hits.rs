//! The debugger of a run with a hundred thousand hits: how soon the first are seen, and how soon a filter leaves some.

use anyhow::{Context, Result};
use serde_json::json;

use super::super::Bench;
use super::super::browser::{Browser, WATCH, in_browser};
use super::super::machine;
use super::super::report::{Report, Samples};
use super::super::server::Cache;
use super::{BACKSPACE, quiet};
use crate::console;
use crate::process::{cargo, run as run_command};

/// The folder of that run below the scratch folder, and its name.
const FOLDER: &str = "data/hits";
const RUN: &str = "run";
/// What a hit is on the page, and the list of them.
const HIT: &str = "tr.hit-row";
const FILTER: &str = ".hits-bar input[type=search]";
/// Of tensors that are looked for.
const NUMBERS: [u32; 4] = [77, 42, 9, 63];
/// Visits of the page; the first one fetches the program.
const VISITS: usize = 6;

/// Runs before the page's own scripts: keeps when the first hits were painted.
const FOR_HITS: &str = "
    const hasHits = () => document.querySelector('tr.hit-row');
    bench.firstPaint(hasHits).then((now) => (bench.firstHitMs = now));";

/// Opens the page again and again, then types into the filter.
pub(super) fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    console::step("pages: 100,000 hits");
    let folder = bench.scratch.join(FOLDER);
    if !folder.exists() {
        // The bench of findings knows how to write them.
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
                // What all names begin with leaves all of them.
                if typed > "layer".len() {
                    filtered.push(shows(browser, key, &name[..typed]).await?);
                } else {
                    browser.press(key).await?;
                }
            }
            for _ in name.chars() {
                browser.press(BACKSPACE).await?;
            }
            quiet(browser).await?;
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

/// Milliseconds from a key to the paint in which no other hits are left.
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
