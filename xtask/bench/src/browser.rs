//! The pages in a headless browser: time until the first curve is drawn, and until an appended point is visible.
//!
//! Times are measured conservatively: the first curve by the clock of the page, from the start of the navigation to the
//! end of the frame that paints the canvas; an appended point from before it is written until the driver has reported
//! changed pixels.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use fantoccini::actions::{
    InputSource, KeyAction, KeyActions, MOUSE_BUTTON_LEFT, MouseActions, PointerAction,
    WheelAction, WheelActions,
};
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::sleep;

use super::machine;
use super::report::Samples;
use super::server::Cache;
use crate::driver::Driver;
use crate::event_file::EventFile;

/// Timeout of a page.
const DEADLINE: Duration = Duration::from_secs(30);
/// Polling interval of the bench; the page itself polls at each frame.
const PAUSE: Duration = Duration::from_millis(50);
/// Time without changes after which a picture counts as finished.
const FINISHED: Duration = Duration::from_millis(300);
/// Time between two turns of the wheel.
const FRAME: Duration = Duration::from_millis(16);
/// Number of points appended, one after the other.
const APPENDED: i64 = 10;

/// Script that runs in each page before the scripts of the page: helper functions of the bench.
pub(super) const WATCH: &str = include_str!("watch.js");
/// Runs after [`WATCH`] on a page, to wait for its first curve.
const FOR_CURVE: &str = "bench.firstPaint(hasCurve).then((now) => (bench.firstCurveMs = now));";

/// A number that changes with the pixels of the first plot.
const PICTURE: &str = "
    const picture = () => {
      const canvas = document.querySelector('canvas[role=img]');
      const image = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let hash = 0;
      for (const pixel of new Uint32Array(image.data.buffer)) hash = (Math.imul(hash, 31) + pixel) | 0;
      return hash;
    };";

/// Milliseconds from the start of a navigation to the first curve.
pub(super) struct FirstCurve {
    /// With an empty browser cache.
    pub(super) cold_ms: f64,
    /// In the same browser again.
    pub(super) warm_ms: f64,
}

/// Opens a page twice in a browser with a new profile.
pub(super) fn first_curve(address: &str) -> Result<FirstCurve> {
    in_browser(async |browser| {
        browser
            .run_in_each_page(&format!("{WATCH} {FOR_CURVE}"))
            .await?;
        let cold_ms = browser.wait_for_curve(address).await?;
        browser.client.goto("about:blank").await?;
        let warm_ms = browser.wait_for_curve(address).await?;
        Ok(FirstCurve { cold_ms, warm_ms })
    })
}

/// Milliseconds from before a point is appended to a file until the open curve has changed in a browser.
pub(super) fn append_latency(program: &Path, scratch: &Path) -> Result<Samples> {
    const STARTED_SECS: f64 = 1_700_000_000.0;
    let data = TempDir::new_in(scratch)?;
    let run = data.path().join("run");
    fs::create_dir(&run)?;
    let file = File::create(run.join("events.out.tfevents.1700000000.host.1.0"))?;
    let mut file = EventFile::begin(file, STARTED_SECS)?;
    let mut append = |step: i64| {
        let value = if step % 2 == 0 { 1.0 } else { 2.0 };
        file.scalars(STARTED_SECS + step as f64, step, &[("loss", value)])
    };
    (0..100).try_for_each(&mut append)?;
    let cache = Cache::empty(scratch)?;
    let server = cache.start(program, data.path())?;
    server.wait_for_answer("run", "loss", 100)?;
    let mut seen = Samples::new();
    in_browser(async |browser| {
        browser
            .run_in_each_page(&format!("{WATCH} {FOR_CURVE}"))
            .await?;
        let address = format!("{}/run/run/scalars", server.address());
        browser.wait_for_curve(&address).await?;
        for step in 100..100 + APPENDED {
            let before = browser.finished_picture().await?;
            let begun = Instant::now();
            append(step)?;
            browser.wait_for_other_picture(before).await?;
            seen.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        Ok(())
    })?;
    server.stop()?;
    Ok(seen)
}

/// Runs `work` in a new browser, which is closed in any case.
pub(super) fn in_browser<T>(work: impl AsyncFnOnce(&Browser) -> Result<T>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let browser = Browser::open().await?;
        let outcome = work(&browser).await;
        let closed = browser.client.clone().close().await;
        let done = outcome?;
        closed.context("the browser does not end")?;
        Ok(done)
    })
}

pub(super) struct Browser {
    client: Client,
    // Dropped in this order: the browser uses the profile until the driver has ended.
    driver: Driver,
    _profile: TempDir,
}

impl Browser {
    async fn open() -> Result<Self> {
        let driver = Driver::start()?;
        let profile = TempDir::new()?;
        let options = json!({
            "goog:chromeOptions": {
                "args": [
                    "--headless=new",
                    // Root, the usual user in containers, cannot use the sandbox.
                    "--no-sandbox",
                    "--disable-dev-shm-usage",
                    "--disable-gpu",
                    "--no-first-run",
                    "--lang=en-US",
                    "--force-device-scale-factor=1",
                    "--window-size=1280,943",
                    format!("--user-data-dir={}", profile.path().display()),
                ],
            },
        });
        let Value::Object(capabilities) = options else {
            bail!("capabilities are an object");
        };
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&driver.address)
            .await
            .context("the browser does not start")?;
        Ok(Self {
            client,
            driver,
            _profile: profile,
        })
    }

    /// Registers a script to run at the start of each page, before the scripts of the page. The `WebDriver` protocol
    /// does not support this.
    pub(super) async fn run_in_each_page(&self, script: &str) -> Result<()> {
        let source = format!("{{{script}}}");
        let command = "Page.addScriptToEvaluateOnNewDocument";
        self.command(command, &json!({ "source": source })).await?;
        Ok(())
    }

    /// A command of the browser's native protocol.
    async fn command(&self, name: &str, parameters: &Value) -> Result<Value> {
        let session = self.client.session_id().await?;
        let session = session.context("the browser has no session")?;
        let command = json!({ "cmd": name, "params": parameters });
        let mut answer = ureq::post(format!(
            "{}/session/{session}/goog/cdp/execute",
            self.driver.address
        ))
        .header("content-type", "application/json")
        .send(command.to_string())?;
        let answer: Value = serde_json::from_str(&answer.body_mut().read_to_string()?)?;
        Ok(answer["value"].clone())
    }

    /// Opens a page.
    pub(super) async fn goto(&self, address: &str) -> Result<()> {
        Ok(self.client.goto(address).await?)
    }

    /// Runs a script and returns its result.
    pub(super) async fn run(&self, script: &str) -> Result<Value> {
        Ok(self.client.execute(script, vec![]).await?)
    }

    /// Runs a script that passes its result to the function in its last argument.
    pub(super) async fn run_async(&self, script: &str, arguments: Vec<Value>) -> Result<Value> {
        Ok(self.client.execute_async(script, arguments).await?)
    }

    /// Presses a key as a user does.
    pub(super) async fn press(&self, key: char) -> Result<()> {
        let actions = KeyActions::new("keyboard".to_owned())
            .then(KeyAction::Down { value: key })
            .then(KeyAction::Up { value: key });
        Ok(self.client.perform_actions(actions).await?)
    }

    /// Holds a key.
    pub(super) async fn hold(&self, key: char, duration: Duration) -> Result<()> {
        let actions = KeyActions::new("keyboard".to_owned())
            .then(KeyAction::Down { value: key })
            .then(KeyAction::Pause { duration })
            .then(KeyAction::Up { value: key });
        Ok(self.client.perform_actions(actions).await?)
    }

    /// Turns the wheel a number of times at a place of the window, once a frame.
    pub(super) async fn turn_wheel(
        &self,
        (x, y): (i64, i64),
        (delta_x, delta_y): (i64, i64),
        turns: usize,
    ) -> Result<()> {
        let mut actions = WheelActions::new("wheel".to_owned());
        for _ in 0..turns {
            actions.push(WheelAction::Scroll {
                duration: None,
                x,
                y,
                delta_x,
                delta_y,
            });
            actions.push(WheelAction::Pause { duration: FRAME });
        }
        Ok(self.client.perform_actions(actions).await?)
    }

    /// Drags with the mouse down from a place of the window and back to half of the way, a move a frame.
    pub(super) async fn drag(&self, (x, y): (i64, i64), pixels: i64, moves: usize) -> Result<()> {
        let to = |y: i64| PointerAction::MoveTo {
            duration: Some(FRAME),
            x: x as f64,
            y: y as f64,
        };
        let mut actions =
            MouseActions::new("mouse".to_owned())
                .then(to(y))
                .then(PointerAction::Down {
                    button: MOUSE_BUTTON_LEFT,
                });
        let mut at = y;
        for index in 0..moves {
            at += if index < moves * 2 / 3 {
                pixels
            } else {
                -pixels
            };
            actions = actions.then(to(at));
        }
        actions = actions.then(PointerAction::Up {
            button: MOUSE_BUTTON_LEFT,
        });
        Ok(self.client.perform_actions(actions).await?)
    }

    /// Clicks the first element that matches a selector.
    pub(super) async fn click(&self, selector: &str) -> Result<()> {
        Ok(self
            .client
            .find(Locator::Css(selector))
            .await?
            .click()
            .await?)
    }

    /// Processor time of the pages in seconds.
    pub(super) fn page_processor_secs(&self) -> Result<f64> {
        machine::pages_processor_secs(self.driver.child.id())
    }

    /// Memory of the page, including its program, after a garbage collection.
    pub(super) async fn page_memory_bytes(&self) -> Result<f64> {
        self.command("HeapProfiler.collectGarbage", &json!({}))
            .await?;
        let script = "return performance.memory.usedJSHeapSize + bench.memory.buffer.byteLength";
        let bytes = self.run(script).await?;
        bytes.as_f64().context("the page does not say its size")
    }

    /// Opens a page with [`FOR_CURVE`]; milliseconds by the page's clock.
    async fn wait_for_curve(&self, address: &str) -> Result<f64> {
        self.client.goto(address).await?;
        let begun = Instant::now();
        loop {
            let first = self.client.execute("return bench.firstCurveMs", vec![]);
            if let Some(millis) = first.await?.as_f64() {
                return Ok(millis);
            }
            ensure!(begun.elapsed() < DEADLINE, "no curve appears at {address}");
            sleep(PAUSE).await;
        }
    }

    /// The picture once it has stopped changing.
    async fn finished_picture(&self) -> Result<Value> {
        let script = format!("{PICTURE} return picture();");
        let begun = Instant::now();
        let mut last = Value::Null;
        loop {
            let picture = self.client.execute(&script, vec![]).await?;
            if picture == last {
                return Ok(picture);
            }
            ensure!(begun.elapsed() < DEADLINE, "the picture does not stay");
            last = picture;
            sleep(FINISHED).await;
        }
    }

    /// Returns at the frame in which the pixels differ from `before`.
    async fn wait_for_other_picture(&self, before: Value) -> Result<()> {
        let script = format!(
            "const [before, done] = arguments; {PICTURE}
             const look = () => picture() === before ? requestAnimationFrame(look) : done();
             look();"
        );
        self.client.execute_async(&script, vec![before]).await?;
        Ok(())
    }
}
