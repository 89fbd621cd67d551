//! The page about many runs: time to its first rows and lines, keys in the filter, and frames while a brush is drawn.

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::super::browser::{Browser, WATCH, in_browser};
use super::super::report::{Report, Samples};
use super::super::server::Server;
use super::{BACKSPACE, at_rest, samples, take_samples};

/// Rows of the table, and the plot of the lines.
const ROW: &str = "[data-run]";
const PLOT: &str = "[data-part=lines] canvas";
/// Number of moves of the pointer in one brush, and their length in pixels.
const MOVES: usize = 150;
const MOVE_PIXELS: i64 = 2;
/// Keys of a filter of names that leaves fewer rows with each.
const KEYS: [char; 4] = ['1', '2', '3', '4'];

/// Measures the page on a server that has the table in memory.
pub(in super::super) fn measure(server: &Server, report: &mut Report) -> Result<()> {
    let address = format!("{}/lineage", server.address());
    in_browser(async |browser| {
        let shown = format!(
            "bench.firstPaint(() => document.querySelector('{ROW}') && document.querySelector('{PLOT}'))
                .then((now) => (bench.shownMs = now));"
        );
        browser
            .run_in_each_page(&format!("{WATCH} {shown}"))
            .await?;
        // A browser compiles the program when it is opened first, and keeps the code.
        for visit in ["in a new browser", "opened again"] {
            browser.goto(&address).await?;
            let whole = at_rest(browser, true).await?;
            let rows = browser.run("return bench.shownMs").await?;
            let rows = rows.as_f64().context("the page shows no rows and lines")?;
            report.millis(
                &format!("the page {visit}: from the navigation to rows and lines"),
                rows,
                None,
            );
            report.millis("the same: until all columns are drawn", whole, None);
        }
        let (painted, drawn) = filter(browser).await?;
        report.spread("the same: from a key of the filter to its paint", &painted);
        report.spread("the same: until all lines are drawn", &drawn);
        let (frames, end) = brush(browser).await?;
        report.frames("the same: frames while a brush is drawn", &frames);
        report.millis(
            "the same: from the end of the brush to the paint",
            end,
            None,
        );
        Ok(())
    })
}

/// Milliseconds from each key to the paint that follows, and to the last drawing of lines.
async fn filter(browser: &Browser) -> Result<(Samples, Samples)> {
    browser.press('/').await?;
    at_rest(browser, false).await?;
    take_samples(browser, "painted").await?;
    let mut drawn = Samples::new();
    for key in KEYS {
        browser.press(key).await?;
        drawn.push(at_rest(browser, true).await?);
    }
    let painted = take_samples(browser, "painted").await?;
    for _ in KEYS {
        browser.press(BACKSPACE).await?;
        at_rest(browser, true).await?;
    }
    Ok((painted, drawn))
}

/// Frames while a brush is drawn along an axis and back, and the milliseconds from its end to the last paint.
async fn brush(browser: &Browser) -> Result<(Samples, f64)> {
    let script = "const [selector, done] = arguments;
        const { left, top, width, height } = document.querySelector(selector).getBoundingClientRect();
        done([left, top, width, height]);";
    let place = browser.run_async(script, vec![json!(PLOT)]).await?;
    let side = |at: usize| place[at].as_f64().context("the plot has no place");
    // The first axis has half of the distance of two axes before it.
    let (x, y) = (side(0)? + 48.0, side(1)? + side(3)? * 0.25);
    #[expect(clippy::cast_possible_truncation, reason = "a place in the window")]
    let from = (x as i64, y as i64);
    browser.run("bench.watchFrames()").await?;
    browser.drag(from, MOVE_PIXELS, MOVES).await?;
    let frames = samples(&browser.run("return bench.stopFrames()").await?)?;
    let is_drawn = browser.run("return !!document.querySelector('[data-part=brush]')");
    ensure!(is_drawn.await? == true, "the drag draws no brush");
    let end = browser.run_async(
        "const [done] = arguments; bench.quiet(250, false).then(() => done(bench.drawn - bench.released));",
        vec![],
    );
    let end = end
        .await?
        .as_f64()
        .context("the page does not say when it drew")?;
    Ok((frames, end.max(0.0)))
}
