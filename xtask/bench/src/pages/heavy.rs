//! Pages with large records: histograms, a graph of 100,000 nodes, an image of 4,096 × 4,096 pixels.

use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::json;

use super::super::Bench;
use super::super::browser::{Browser, WATCH, first_curve, in_browser};
use super::super::connection::Connection;
use super::super::machine;
use super::super::report::{Report, Samples};
use super::super::server::{Cache, Server};
use super::{CARDS, open, paint_latency, samples, scroll, take_samples, wait_until_quiet};
use xtask::console;

mod files;

/// Number of new browsers that open the histograms.
const BROWSERS: usize = 5;
/// Number of requests for a graph in memory.
const WARM_ANSWERS: usize = 20;
/// Toggle of the scope with 1,500 nodes, in the list.
const OPTIMIZER: &str = "[role=treeitem] button[aria-label$=' optimizer']";

/// Measures all of them and reports the results.
pub(super) fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    console::step("pages: histograms, a large graph, a large picture");
    let folder = files::on_disk(&bench.scratch)?;
    let cache = Cache::empty(&bench.scratch)?;
    machine::settle(&folder)?;
    let server = cache.start(&bench.program, &folder)?;
    server.wait_until_idle()?;
    graph(&server, report)?;
    histograms(&server, report)?;
    picture(&server, report)?;
    server.stop()
}

/// The first answer, later ones, the first drawing, and opening a scope of 1,500 children.
fn graph(server: &Server, report: &mut Report) -> Result<()> {
    let scene = format!("{}/api/graph/scene?run=graph", server.address());
    let mut connection = Connection::get(&scene)?;
    let mut millis = || -> Result<f64> {
        let begun = Instant::now();
        connection.ask()?;
        Ok(begun.elapsed().as_secs_f64() * 1e3)
    };
    report.millis("graph of 100,000 nodes: first answer", millis()?, None);
    let mut warm = Samples::new();
    for _ in 0..WARM_ANSWERS {
        warm.push(millis()?);
    }
    report.spread("the same: answers after it", &warm);
    let (first, opened) = in_browser(async |browser| {
        browser.run_in_each_page(WATCH).await?;
        browser
            .goto(&format!("{}/run/graph/graph", server.address()))
            .await?;
        let first = paint_latency(browser).await?;
        let mut opened = Samples::new();
        for _ in 0..3 {
            browser.click(OPTIMIZER).await?;
            opened.push(paint_latency(browser).await?);
            browser.click(OPTIMIZER).await?;
            wait_until_quiet(browser).await?;
        }
        Ok((first, opened))
    })?;
    report.millis("the same: from the navigation to the picture", first, None);
    report.spread(
        "the same: from the click to the picture of a scope of 1,500 nodes",
        &opened,
    );
    Ok(())
}

/// 50 tags of 1,000 steps each.
fn histograms(server: &Server, report: &mut Report) -> Result<()> {
    let address = format!("{}/run/histograms/histograms", server.address());
    let (mut cold, mut warm) = (Samples::new(), Samples::new());
    for _ in 0..BROWSERS {
        let first = first_curve(&address)?;
        cold.push(first.cold_ms);
        warm.push(first.warm_ms);
    }
    let what = "histograms of 50 tags x 1,000 steps: first card";
    report.spread(&format!("{what}, new browser"), &cold);
    report.spread(&format!("{what}, once more"), &warm);
    let (scrolled, painted) = in_browser(async |browser| {
        open(browser, &address).await?;
        let scrolled = scroll(browser, CARDS).await?;
        wait_until_quiet(browser).await?;
        take_samples(browser, "painted").await?;
        for view in 2..=4 {
            let button = format!("[aria-label=View] > button:nth-child({view})");
            browser.click(&button).await?;
            wait_until_quiet(browser).await?;
        }
        Ok((scrolled, take_samples(browser, "painted").await?))
    })?;
    report.frames("the same, scrolled", &scrolled);
    report.spread("the same: from another view to the next paint", &painted);
    Ok(())
}

/// The server sends the bytes of the file unchanged; the browser alone decodes them.
fn picture(server: &Server, report: &mut Report) -> Result<()> {
    let before = machine::processor_secs(server.pid())?;
    let shown = in_browser(async |browser| {
        browser.run_in_each_page(WATCH).await?;
        browser
            .goto(&format!("{}/run/picture/images", server.address()))
            .await?;
        image_latency(browser).await
    })?;
    let spent = machine::processor_secs(server.pid())? - before;
    report.millis(
        "picture of 4,096 x 4,096: from the navigation until it is decoded",
        shown,
        None,
    );
    report.millis("the same: processor time of the server", spent * 1e3, None);
    Ok(())
}

/// Milliseconds by the page's clock until an image of that width is visible.
async fn image_latency(browser: &Browser) -> Result<f64> {
    let script = "const [width, done] = arguments;
        const look = () => {
          const own = [...document.images].find((image) => image.complete && image.naturalWidth === width);
          if (own) own.decode().then(() => done([performance.now()]));
          else requestAnimationFrame(look);
        };
        look();";
    let found = browser
        .run_async(script, vec![json!(files::PICTURE_SIDE)])
        .await?;
    samples(&found)?
        .median()
        .context("the page does not say when the picture is there")
}
