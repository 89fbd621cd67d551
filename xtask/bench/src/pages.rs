//! Interaction latency and idle cost of the pages, measured in a headless browser.
//!
//! Keys and drags are those of the browser's protocol, which pages cannot distinguish from a user's. Times are by the
//! clock of the page, from the event to the next paint; the cost of a page is the processor time of its process.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Bench;
use super::browser::{Browser, WATCH, in_browser};
use super::data::Shape;
use super::machine;
use super::report::{Report, Samples};
use super::server::{Cache, Server};
use crate::event_file::EventFile;
use xtask::console;
use xtask::random::Random;

mod heavy;
mod hits;
pub(super) mod lineage;
pub(super) mod timeline;

/// Time without requests and paints after which a page counts as finished.
const QUIET_MILLIS: u32 = 250;
/// Duration of scrolling, and its speed in pixels per frame.
const SCROLLED_MILLIS: u32 = 3_000;
const SCROLLED_PIXELS: u32 = 24;
/// Selector of the scrolled element.
const LIST: &str = ":has(> table[aria-label=Runs])";
const CARDS: &str = "[data-part=cards]";
/// Time that a page with growing runs is measured, after half as long to settle.
const WATCHED: Duration = Duration::from_secs(20);
/// Number of memory measurements of a page, and the time between two.
const LOOKS: u32 = 12;
const BETWEEN_LOOKS: Duration = Duration::from_secs(10);

/// Special keys in the `WebDriver` protocol.
const BACKSPACE: char = '\u{e003}';
const LEFT: char = '\u{e012}';
const RIGHT: char = '\u{e014}';

/// Number of growing runs: each step has a point of each tag.
const RUNS: usize = 20;
const TAGS: [&str; 5] = [
    "train/loss",
    "train/accuracy",
    "train/lr",
    "val/loss",
    "val/accuracy",
];
const STEP: Duration = Duration::from_millis(100);

/// Measures all pages and reports the results.
pub(super) fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    long_series(bench, report)?;
    many_runs(bench, report)?;
    many_cards(bench, report)?;
    hits::measure(bench, report)?;
    heavy::measure(bench, report)?;
    growing(bench, report)
}

/// Starts a server that has read the files of a shape.
fn serve(bench: &Bench, shape: &Shape) -> Result<Server> {
    console::step(&format!("pages: {}", shape.name));
    let data = shape.on_disk(&bench.scratch)?;
    let cache = Cache::empty(&bench.scratch)?;
    machine::settle(&data.folder)?;
    let server = cache.start(&bench.program, &data.folder)?;
    server.wait_for_commit(data.points)?;
    Ok(server)
}

/// Opens a page and waits until it is drawn.
async fn open(browser: &Browser, address: &str) -> Result<()> {
    browser.run_in_each_page(WATCH).await?;
    browser.goto(address).await?;
    wait_until_quiet(browser).await
}

/// Waits until the page has no more paints and requests.
async fn wait_until_quiet(browser: &Browser) -> Result<()> {
    at_rest(browser, false).await.map(drop)
}

/// Milliseconds from the last key, click or navigation to the last paint that it caused.
async fn paint_latency(browser: &Browser) -> Result<f64> {
    at_rest(browser, true).await
}

async fn at_rest(browser: &Browser, draws: bool) -> Result<f64> {
    let script = "const [millis, draws, done] = arguments; bench.quiet(millis, draws).then(done);";
    let arguments = vec![json!(QUIET_MILLIS), json!(draws)];
    let millis = browser.run_async(script, arguments).await?;
    millis
        .as_f64()
        .context("the page does not say when it drew")
}

/// Samples that the page has collected under a name since the last call.
async fn take_samples(browser: &Browser, name: &str) -> Result<Samples> {
    let script = format!("const kept = bench.{name}; bench.{name} = []; return kept;");
    samples(&browser.run(&script).await?)
}

fn samples(numbers: &Value) -> Result<Samples> {
    let numbers = numbers.as_array().context("the page keeps no numbers")?;
    Ok(Samples::of(numbers.iter().filter_map(Value::as_f64)))
}

/// Zoom and pan of ten million points, including the requests for finer ones.
fn long_series(bench: &Bench, report: &mut Report) -> Result<()> {
    let server = serve(bench, &Shape::VERY_LONG)?;
    let mut finished = Samples::new();
    let painted = in_browser(async |browser| {
        open(
            browser,
            &format!("{}/run/run_0000/scalars", server.address()),
        )
        .await?;
        take_samples(browser, "painted").await?;
        for key in "wwwdwwdwaawssss".chars() {
            browser.press(key).await?;
            finished.push(paint_latency(browser).await?);
        }
        take_samples(browser, "painted").await
    })?;
    server.stop()?;
    report.spread(
        "zoom or pan of 10,000,000 points: from the key to the finer picture, with its request",
        &finished,
    );
    report.spread("the same: from the key to the next paint", &painted);
    Ok(())
}

/// The list of 1,000 runs: typing a filter, changing the order, scrolling.
fn many_runs(bench: &Bench, report: &mut Report) -> Result<()> {
    let server = serve(bench, &Shape::WIDE)?;
    let (painted, frames, scrolled) = in_browser(async |browser| {
        open(browser, server.address()).await?;
        take_samples(browser, "painted").await?;
        browser.run("bench.watchFrames()").await?;
        browser.click("input[aria-label='Filter runs']").await?;
        for key in "run_05".chars().chain(std::iter::repeat_n(BACKSPACE, 6)) {
            browser.press(key).await?;
            wait_until_quiet(browser).await?;
        }
        for _ in 0..4 {
            browser.click("th[data-column=name] button").await?;
            wait_until_quiet(browser).await?;
        }
        let frames = samples(&browser.run("return bench.stopFrames()").await?)?;
        let painted = take_samples(browser, "painted").await?;
        Ok((painted, frames, scroll(browser, LIST).await?))
    })?;
    server.stop()?;
    report.spread(
        "list of 1,000 runs x 100 tags: from a key in the filter or a change of order to the next paint",
        &painted,
    );
    let longest = frames.greatest().unwrap_or(f64::NAN);
    report.millis("the same: the longest frame meanwhile", longest, None);
    report.frames("the same, scrolled", &scrolled);
    Ok(())
}

/// A hundred cards: scrolling, and actions on all of them.
fn many_cards(bench: &Bench, report: &mut Report) -> Result<()> {
    let server = serve(bench, &Shape::HUNDRED_TAGS)?;
    let (scrolled, painted) = in_browser(async |browser| {
        open(
            browser,
            &format!("{}/run/run_0000/scalars", server.address()),
        )
        .await?;
        let scrolled = scroll(browser, CARDS).await?;
        wait_until_quiet(browser).await?;
        take_samples(browser, "painted").await?;
        for key in [
            'w', 'd', 's', 'f', 'j', 'k', 'p', 'p', LEFT, LEFT, 'z', 'o', 'o',
        ] {
            browser.press(key).await?;
            wait_until_quiet(browser).await?;
        }
        browser.click("input[type=range]").await?;
        for key in [RIGHT, RIGHT, RIGHT, LEFT] {
            browser.press(key).await?;
            wait_until_quiet(browser).await?;
        }
        Ok((scrolled, take_samples(browser, "painted").await?))
    })?;
    server.stop()?;
    report.frames("100 cards, scrolled", &scrolled);
    report.spread(
        "the same: from a key (zoom, pan, crosshair, pin, smoothing) to the next paint",
        &painted,
    );
    Ok(())
}

async fn scroll(browser: &Browser, selector: &str) -> Result<Samples> {
    let script = "const [selector, pixels, millis, done] = arguments; bench.scroll(selector, pixels, millis).then(done);";
    let arguments = vec![
        json!(selector),
        json!(SCROLLED_PIXELS),
        json!(SCROLLED_MILLIS),
    ];
    samples(&browser.run_async(script, arguments).await?)
}

/// Twenty growing runs: processor time, and growth of the page's memory.
fn growing(bench: &Bench, report: &mut Report) -> Result<()> {
    console::step("pages: 20 growing runs");
    let data = TempDir::new_in(&bench.scratch)?;
    let trainings = Trainings::start(data.path())?;
    let cache = Cache::empty(&bench.scratch)?;
    let server = cache.start(&bench.program, data.path())?;
    server.wait_for_points("run_00", TAGS[0])?;
    let all: Vec<String> = (0..RUNS).map(|run| format!("run_{run:02}")).collect();
    let curves = format!(
        "{}/run/run_00/scalars?runs={}",
        server.address(),
        all.join(",")
    );
    let one = format!("{}/run/run_00/scalars", server.address());
    for (what, address) in [
        (
            "20 runs, 50 points a second each, list of runs",
            server.address(),
        ),
        ("the same, curves of one of them", &one),
        ("the same, curves of all 20 in one card a tag", &curves),
    ] {
        let share = in_browser(async |browser| {
            browser.goto(address).await?;
            sleep(WATCHED / 2);
            let before = browser.page_processor_secs()?;
            let begun = Instant::now();
            sleep(WATCHED);
            Ok((browser.page_processor_secs()? - before) / begun.elapsed().as_secs_f64())
        })?;
        report.figure(what, &format!("{:.1} % of a core", share * 100.0));
    }
    let slope = in_browser(async |browser| {
        browser.run_in_each_page(WATCH).await?;
        browser.goto(&curves).await?;
        sleep(WATCHED);
        let mut looks = Vec::new();
        for _ in 0..LOOKS {
            sleep(BETWEEN_LOOKS);
            looks.push(browser.page_memory_bytes().await?);
        }
        Ok(looks)
    })?;
    let mebibytes = |bytes: f64| bytes / f64::from(1 << 20);
    report.figure(
        "the same: memory of the page after garbage collection, and its growth",
        &format!(
            "{:.1} MiB, {:+.2} MiB a minute",
            mebibytes(slope.last().copied().unwrap_or_default()),
            mebibytes(growth(&slope)) * 60.0 / BETWEEN_LOOKS.as_secs_f64(),
        ),
    );
    server.stop()?;
    trainings.stop()
}

/// The slope of a line through equidistant values: least squares.
fn growth(values: &[f64]) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let (mut above, mut below) = (0.0, 0.0);
    for (index, value) in values.iter().enumerate() {
        let x = index as f64 - middle;
        above += x * value;
        below += x * x;
    }
    above / below
}

/// Writers of event files that grow until they are dropped.
struct Trainings {
    is_over: Arc<AtomicBool>,
    writer: JoinHandle<Result<()>>,
}

impl Trainings {
    fn start(folder: &Path) -> Result<Self> {
        let started_secs = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64();
        let mut files = Vec::new();
        for run in 0..RUNS {
            let folder = folder.join(format!("run_{run:02}"));
            fs::create_dir(&folder)?;
            let file = File::create(folder.join("events.out.tfevents.1700000000.host.1.0"))?;
            files.push(EventFile::begin(file, started_secs)?);
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let writer = thread::spawn(move || {
            let mut random = Random::new(1);
            let begun = Instant::now();
            for step in 0_u32.. {
                let at = STEP * step;
                sleep(at.saturating_sub(begun.elapsed()));
                if seen.load(Ordering::Relaxed) {
                    break;
                }
                for file in &mut files {
                    #[expect(
                        clippy::cast_possible_truncation,
                        reason = "event files hold single precision"
                    )]
                    let noise = random.unit() as f32;
                    let values = TAGS.map(|tag| (tag, 1.0 / (1.0 + step as f32) + noise));
                    file.scalars(started_secs + at.as_secs_f64(), step.into(), &values)?;
                }
            }
            Ok(())
        });
        Ok(Self { is_over, writer })
    }

    fn stop(self) -> Result<()> {
        self.is_over.store(true, Ordering::Relaxed);
        self.writer
            .join()
            .map_err(|_| anyhow!("the writer has panicked"))?
    }
}
