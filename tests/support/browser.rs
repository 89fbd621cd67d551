//! A headless browser, driven by the `WebDriver` protocol. A console error or a report of the content security policy
//! fails the test.
//!
//! The driver comes with the browser (`chromedriver`); without it the tests fail instead of being skipped.

use std::future::Future;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fantoccini::actions::{InputSource, KeyAction, KeyActions, MouseActions, PointerAction};
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use trainscope_api::scalars::Series;

use super::driver::Driver;
use super::server::{Server, bundle_folder};
use super::wait::{DEADLINE, PAUSE};

/// Several frames of the browser: two equal pictures this far apart are finished drawings.
const FRAMES: Duration = Duration::from_millis(120);

/// Chromium without its window, tabs and extensions, if it is installed: it starts in a third of the time.
fn headless_shell() -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join("chromium-headless-shell"))
        .find(|path| path.is_file())
}

/// An open browser. Call [`Browser::close`] at the end of each test: it fails if the page reported an error.
pub(crate) struct Browser {
    client: Client,
    driver: Driver,
    session: String,
    /// Height of the window with a viewport of 800 pixels.
    height: u32,
}

impl Browser {
    /// Opens a viewport of 1280 × 800 with a new profile, in English, with the light theme.
    pub(crate) async fn open() -> Self {
        let bundle = bundle_folder().join("packs.js");
        assert!(
            bundle.is_file(),
            "no page in {}: `cargo xtask test page` builds it",
            bundle.display()
        );
        let driver = Driver::start().unwrap();
        // Only a browser with a window has tabs and an address above the page.
        let shell = headless_shell();
        let height = if shell.is_some() { 800 } else { 943 };
        let mut options = json!({
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
                    format!("--window-size=1280,{height}"),
                ],
            },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        if let Some(program) = shell {
            options["goog:chromeOptions"]["binary"] = json!(program);
        }
        let Value::Object(capabilities) = options else {
            unreachable!("it is written as an object above")
        };
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&driver.address)
            .await
            .expect("the browser does not start");
        let session = client.session_id().await.unwrap().unwrap();
        Self {
            client,
            driver,
            session,
            height,
        }
    }

    /// Opens a page of the server; `path` begins with `/`.
    pub(crate) async fn goto(&self, server: &Server, path: &str) {
        self.client
            .goto(&format!("{}{path}", server.address()))
            .await
            .unwrap();
    }

    /// Sets the width of the window; browsers have a minimum.
    pub(crate) async fn widen(&self, width: u32) {
        self.client
            .set_window_size(width, self.height)
            .await
            .unwrap();
    }

    /// Opens a page without a server, a file for example.
    pub(crate) async fn goto_address(&self, address: &str) {
        self.client.goto(address).await.unwrap();
    }

    /// Loads the page again.
    pub(crate) async fn reload(&self) {
        self.client.refresh().await.unwrap();
    }

    /// Current address.
    pub(crate) async fn url(&self) -> String {
        self.client.current_url().await.unwrap().to_string()
    }

    /// Runs a script and returns its result.
    pub(crate) async fn run(&self, script: &str) -> Value {
        self.client.execute(script, Vec::new()).await.unwrap()
    }

    /// The visible text of the page.
    pub(crate) async fn text(&self) -> String {
        self.text_of("body").await.unwrap_or_default()
    }

    /// The visible text of the first match of a selector, as the page has it: the driver's search for visible text
    /// looks at every element.
    pub(crate) async fn text_of(&self, selector: &str) -> Option<String> {
        let script = format!("return document.querySelector({selector:?})?.innerText.trim();");
        self.run(&script).await.as_str().map(str::to_owned)
    }

    /// Number of matches of a selector.
    pub(crate) async fn count(&self, selector: &str) -> usize {
        self.client
            .find_all(Locator::Css(selector))
            .await
            .unwrap()
            .len()
    }

    /// Waits until `look` returns a value.
    pub(crate) async fn wait_for<T, F: Future<Output = Option<T>>>(
        &self,
        what: &str,
        look: impl Fn() -> F,
    ) -> T {
        let begun = Instant::now();
        loop {
            if let Some(found) = look().await {
                return found;
            }
            assert!(
                begun.elapsed() < DEADLINE,
                "waited in vain for {what} at {}; the page says:\n{}\nconsole: {:#?}",
                self.url().await,
                self.text().await,
                self.complaints()
            );
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Waits until a script's expression is true.
    pub(crate) async fn wait_until(&self, script: &str) {
        self.wait_for(script, async || {
            let script = format!("return !!({script})");
            self.run(&script).await.as_bool()?.then_some(())
        })
        .await;
    }

    /// Waits until the page shows a text.
    pub(crate) async fn wait_for_text(&self, wanted: &str) {
        self.wait_for(&format!("the text `{wanted}`"), async || {
            self.text().await.contains(wanted).then_some(())
        })
        .await;
    }

    /// Waits until a selector has a match.
    pub(crate) async fn wait_for_element(&self, selector: &str) {
        self.wait_for(selector, async || {
            (self.count(selector).await > 0).then_some(())
        })
        .await;
    }

    /// Waits until a selector has this number of matches.
    pub(crate) async fn wait_for_count(&self, selector: &str, wanted: usize) {
        self.wait_for(&format!("{wanted} of {selector}"), async || {
            (self.count(selector).await == wanted).then_some(())
        })
        .await;
    }

    /// Clicks the first match of a selector, once it is clickable.
    pub(crate) async fn click(&self, selector: &str) {
        self.wait_for(&format!("{selector} to be clickable"), async || {
            self.try_click(selector).await
        })
        .await;
    }

    /// Clicks the first match of a selector; `None` if there is none, or if it is not clickable now.
    pub(crate) async fn try_click(&self, selector: &str) -> Option<()> {
        let element = self.client.find(Locator::Css(selector)).await.ok()?;
        element.click().await.ok()
    }

    /// Clicks the match of a selector with this text, else the first one that contains it, once it is clickable.
    pub(crate) async fn click_text(&self, selector: &str, text: &str) {
        self.wait_for(
            &format!("{selector} with `{text}` to be clickable"),
            async || {
                let mut part = None;
                for element in self.client.find_all(Locator::Css(selector)).await.ok()? {
                    let content = element.text().await.ok()?;
                    if content.trim() == text {
                        return element.click().await.ok();
                    }
                    part = part.or_else(|| content.contains(text).then_some(element));
                }
                part?.click().await.ok()
            },
        )
        .await;
    }

    /// Sets an input to a value, or a list to the option with that value or text, once it is there.
    pub(crate) async fn set(&self, selector: &str, value: &str) {
        let script = format!(
            "const field = document.querySelector({selector:?}), wanted = {value:?};
             const option = [...field?.options ?? []].find(one => [one.value, one.text].includes(wanted));
             if (!field || field.options && !option) return false;
             field.value = option?.value ?? wanted;
             for (const kind of ['input', 'change'])
               field.dispatchEvent(new Event(kind, {{bubbles: true}}));
             return true;"
        );
        self.wait_for(&format!("{selector} to take `{value}`"), async || {
            self.run(&script).await.as_bool()?.then_some(())
        })
        .await;
    }

    /// Replaces the text of an input.
    pub(crate) async fn fill(&self, selector: &str, text: &str) {
        // The page may replace the input while it is filled.
        self.wait_for(&format!("{selector} to be filled"), async || {
            let element = self.client.find(Locator::Css(selector)).await.ok()?;
            element.clear().await.ok()?;
            element.send_keys(text).await.ok()
        })
        .await;
    }

    /// Drags over an element, from and to shares of its width, at half of its height.
    pub(crate) async fn drag_over(&self, selector: &str, from: f64, to: f64) {
        let (x, y, width, height) = self.rectangle(selector).await;
        let at = |share: f64| (x + width * share, y + height / 2.0);
        self.drag(at(from), at(to)).await;
    }

    /// Drags below the middle of an element's upper edge, from and to distances in CSS pixels.
    pub(crate) async fn drag_below(&self, selector: &str, from: f64, to: f64) {
        let (x, y, width, _) = self.rectangle(selector).await;
        let at = |down: f64| (x + width / 2.0, y + down);
        self.drag(at(from), at(to)).await;
    }

    /// Drags between two places of the window.
    async fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        let at = |(x, y): (f64, f64)| PointerAction::MoveTo {
            duration: None,
            x,
            y,
        };
        let middle = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1));
        let actions = MouseActions::new("mouse".to_owned())
            .then(at(from))
            .then(PointerAction::Down {
                button: fantoccini::actions::MOUSE_BUTTON_LEFT,
            })
            .then(at(middle))
            .then(at(to))
            .then(PointerAction::Up {
                button: fantoccini::actions::MOUSE_BUTTON_LEFT,
            });
        self.client.perform_actions(actions).await.unwrap();
    }

    /// Moves the pointer over an element, to a share of its width, at half of its height.
    pub(crate) async fn hover(&self, selector: &str, share: f64) {
        let (x, y, width, height) = self.rectangle(selector).await;
        let actions = MouseActions::new("mouse".to_owned()).then(PointerAction::MoveTo {
            duration: None,
            x: x + width * share,
            y: y + height / 2.0,
        });
        self.client.perform_actions(actions).await.unwrap();
    }

    /// Turns the wheel in the middle of an element: pixels right and down, with or without Ctrl.
    pub(crate) async fn wheel(&self, selector: &str, (right, down): (f64, f64), has_ctrl: bool) {
        let script = format!(
            "const element = document.querySelector({selector:?}), r = element.getBoundingClientRect();
             element.dispatchEvent(new WheelEvent('wheel', {{bubbles: true, cancelable: true, ctrlKey: {has_ctrl},
               deltaX: {right}, deltaY: {down}, clientX: r.x + r.width / 2, clientY: r.y + r.height / 2}}));"
        );
        self.run(&script).await;
    }

    /// Presses a key.
    pub(crate) async fn press(&self, key: char) {
        let actions = KeyActions::new("keyboard".to_owned())
            .then(KeyAction::Down { value: key })
            .then(KeyAction::Up { value: key });
        self.client.perform_actions(actions).await.unwrap();
    }

    /// Presses a key while Shift is held.
    pub(crate) async fn press_with_shift(&self, key: char) {
        const SHIFT: char = '\u{E008}';
        let actions = KeyActions::new("keyboard".to_owned())
            .then(KeyAction::Down { value: SHIFT })
            .then(KeyAction::Down { value: key })
            .then(KeyAction::Up { value: key })
            .then(KeyAction::Up { value: SHIFT });
        self.client.perform_actions(actions).await.unwrap();
    }

    async fn rectangle(&self, selector: &str) -> (f64, f64, f64, f64) {
        let rectangle = self
            .client
            .execute(
                "arguments[0].scrollIntoView({block: 'center'}); const r = arguments[0].getBoundingClientRect(); return [r.x, r.y, r.width, r.height];",
                vec![serde_json::to_value(self.client.find(Locator::Css(selector)).await.unwrap()).unwrap()],
            )
            .await
            .unwrap();
        let number = |index: usize| rectangle[index].as_f64().unwrap();
        (number(0), number(1), number(2), number(3))
    }

    /// Share of the columns of a plot with dark pixels: 0 without such a canvas or with axes only, about 1 for a line
    /// across the plot. Labels, the lane below the plot and pale grid lines do not count.
    pub(crate) async fn drawn_share(&self, selector: &str) -> f64 {
        let script = format!(
            "const canvas = document.querySelector({selector:?});
             if (!canvas || !canvas.width || !canvas.height) return 0;
             const {{width, height}} = canvas;
             const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;
             const left = Math.round(width * 0.2), right = Math.round(width * 0.9);
             const top = Math.round(height * 0.05), bottom = Math.round(height * 0.8);
             let drawn = 0;
             for (let x = left; x < right; x++) {{
               for (let y = top; y < bottom; y++) {{
                 const at = 4 * (y * width + x), alpha = pixels[at + 3] / 255;
                 const light = (pixels[at] + pixels[at + 1] + pixels[at + 2]) / 3 * alpha + 255 * (1 - alpha);
                 if (light < 190) {{ drawn++; break; }}
               }}
             }}
             return drawn / (right - left);"
        );
        self.run(&script).await.as_f64().unwrap()
    }

    /// A number that changes with the pixels of the first such canvas.
    pub(crate) async fn picture(&self, selector: &str) -> u64 {
        let script = format!(
            "const canvas = document.querySelector({selector:?});
             if (!canvas || !canvas.width || !canvas.height) return 0;
             const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
             let hash = 0;
             for (const pixel of pixels) hash = (Math.imul(hash, 31) + pixel) | 0;
             return hash >>> 0;"
        );
        self.run(&script).await.as_u64().unwrap()
    }

    /// [`Browser::picture`] once it is the same twice, when drawing is finished.
    pub(crate) async fn settled_picture(&self, selector: &str) -> u64 {
        let last = std::cell::Cell::new(0);
        self.wait_for("a picture that stays", async || {
            tokio::time::sleep(FRAMES).await;
            let picture = self.picture(selector).await;
            (last.replace(picture) == picture && picture != 0).then_some(picture)
        })
        .await
    }

    /// Waits until the picture of a canvas differs from `before`, and returns it.
    pub(crate) async fn wait_for_other_picture(&self, selector: &str, before: u64) -> u64 {
        self.wait_for("another picture", async || {
            Some(self.picture(selector).await).filter(|picture| *picture != before && *picture != 0)
        })
        .await;
        self.settled_picture(selector).await
    }

    /// Number of times that the drawn line crosses a quarter of the height from the top, from the left to the right
    /// edge.
    pub(crate) async fn crossings(&self, selector: &str) -> usize {
        let script = format!(
            "const canvas = document.querySelector({selector:?});
             const {{width, height}} = canvas;
             const pixels = canvas.getContext('2d').getImageData(0, Math.round(height * 0.25), width, 1).data;
             let crossings = 0, isDark = false;
             for (let at = 0; at < pixels.length; at += 4) {{
               const alpha = pixels[at + 3] / 255;
               const light = (pixels[at] + pixels[at + 1] + pixels[at + 2]) / 3 * alpha + 255 * (1 - alpha);
               if (light < 190 && !isDark) crossings++;
               isDark = light < 190;
             }}
             return crossings;"
        );
        let crossings = self.run(&script).await.as_u64().unwrap();
        usize::try_from(crossings).unwrap()
    }

    /// Starts to record the series that the page receives, for [`Browser::next_curve`].
    pub(crate) async fn note_curves(&self) {
        self.run(
            "const ask = window.fetch;
             window.fetch = async (...request) => {
               const answer = await ask(...request);
               if (answer.url.endsWith('/api/scalars'))
                 window.lastCurve = Array.from(new Uint8Array(await answer.clone().arrayBuffer()));
               return answer;
             };",
        )
        .await;
    }

    /// The next series that the page receives.
    pub(crate) async fn next_curve(&self) -> Series {
        let bytes = self
            .wait_for("a curve that is asked for", async || {
                let script = "const curve = window.lastCurve; delete window.lastCurve; return curve ?? null;";
                let bytes = self.run(script).await;
                serde_json::from_value::<Option<Vec<u8>>>(bytes).unwrap()
            })
            .await;
        let answer = trainscope_api::scalars::decode(&bytes).unwrap();
        answer.series.into_iter().flatten().next().unwrap()
    }

    /// An attribute of the first match of a selector; empty without one.
    pub(crate) async fn attribute(&self, selector: &str, name: &str) -> String {
        let Ok(element) = self.client.find(Locator::Css(selector)).await else {
            return String::new();
        };
        element.attr(name).await.ok().flatten().unwrap_or_default()
    }

    /// Writes a screenshot to the folder in `TRAINSCOPE_PICTURES`, if it is set: the pictures of the documents are made
    /// this way. The temporary folder of the test becomes the home folder of a user.
    pub(crate) async fn show(&self, name: &str) {
        if let Some(folder) = std::env::var_os("TRAINSCOPE_PICTURES") {
            let script = format!(
                r"const folder = new RegExp({:?} + '/\\.tmp\\w+', 'g');
                const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
                while (texts.nextNode()) {{
                    const shown = texts.currentNode.data.replace(folder, '~');
                    if (shown !== texts.currentNode.data) texts.currentNode.data = shown;
                }}",
                std::env::temp_dir().display().to_string()
            );
            self.run(&script).await;
            let path = PathBuf::from(folder).join(name).with_extension("png");
            std::fs::write(path, self.client.screenshot().await.unwrap()).unwrap();
        }
    }

    /// Lets the open page use the clipboard without a question: the write, which a browser with a window allows after a
    /// click, and the read of [`Browser::clipboard`].
    pub(crate) fn permit_clipboard(&self) {
        let (driver, session) = (&self.driver.address, &self.session);
        for name in ["clipboard-read", "clipboard-write"] {
            let permission = json!({"descriptor": {"name": name}, "state": "granted"});
            ureq::post(format!("{driver}/session/{session}/permissions"))
                .header("content-type", "application/json")
                .send(permission.to_string())
                .unwrap();
        }
    }

    /// Text of the clipboard, as another program would paste it.
    pub(crate) async fn clipboard(&self) -> String {
        let text = self.run("return navigator.clipboard.readText();").await;
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Errors in the console: exceptions, failed requests, reports of the content security policy.
    fn complaints(&self) -> Vec<String> {
        let address = format!("{}/session/{}/se/log", self.driver.address, self.session);
        let mut response = ureq::post(address)
            .header("content-type", "application/json")
            .send(r#"{"type": "browser"}"#)
            .unwrap();
        let log: Value =
            serde_json::from_str(&response.body_mut().read_to_string().unwrap()).unwrap();
        log["value"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|entry| entry["level"] == "SEVERE" || entry["source"] == "security")
            .map(|entry| entry["message"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// Ends the browser; fails if there is any error without `expected` in its text.
    pub(crate) fn close_despite(self, expected: &str) {
        self.close_despite_any(&[expected]);
    }

    /// Ends the browser; fails if the page reported an error.
    pub(crate) fn close(self) {
        self.close_despite_any(&[]);
    }

    /// Ends the browser; fails if there is any error with none of `expected` in its text.
    pub(crate) fn close_despite_any(self, expected: &[&str]) {
        let is_expected = |complaint: &String| expected.iter().any(|text| complaint.contains(text));
        let mut complaints = self.complaints();
        complaints.retain(|complaint| !is_expected(complaint));
        assert!(complaints.is_empty(), "the console says: {complaints:#?}");
    }
}
