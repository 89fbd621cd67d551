//! The page of lineage in a real browser: brushes, table, importances and the address are one selection.

use std::fmt::Write as _;
use std::fs;

use crate::support::lab::workspace_root;
use crate::support::{Browser, Lab, Server, wait_for};

const ROWS: &str = "[role=table] [role=row][data-run]:not([hidden])";
/// The key of `WebDriver`.
const ARROW_RIGHT: char = '\u{e014}';
const KEPT: &str = "[data-part=kept]";

/// Thirty-six runs: the learning rate decides about the accuracy, and the highest ones end with a loss of NaN.
fn sweep(lab: &Lab) -> Server {
    for number in 0..36_u8 {
        let run = format!("sweep-{number:02}");
        let rate = 1e-5 * 10_f32.powf(3.0 * f32::from(number) / 35.0);
        let distance = (rate.log10() + 3.5).abs();
        let accuracy = 0.75 - 0.1 * distance;
        let loss = if number >= 34 {
            f32::NAN
        } else {
            1.0 + distance
        };
        let mut recording = lab.record(&run);
        recording.scalar("train/loss", 9, loss);
        recording.scalar("eval/accuracy", 9, accuracy);
        let optimizer = ["adam", "sgd", "<b>lamb</b>"][usize::from(number % 3)];
        let mut text = String::new();
        writeln!(
            text,
            "lr: {rate:e}\noptimizer: \"{optimizer}\"\nseed: {number}"
        )
        .unwrap();
        if number % 9 != 4 {
            writeln!(text, "dropout: 0.{}", number % 4).unwrap();
        }
        fs::write(lab.base().join(&run).join("config.yaml"), text).unwrap();
    }
    let server = lab.start();
    server.wait_for_points("sweep-35", "eval/accuracy", 1);
    server
}

/// Drags on an axis with the mouse, from one distance below its head to another.
async fn drag_down(browser: &Browser, axis: &str, (from, to): (f64, f64)) {
    let head = format!("[data-axis=\"{axis}\"]");
    browser.drag_below(&head, from, to).await;
}

async fn wait_for_kept(browser: &Browser, wanted: &str) {
    wait_for_part(browser, KEPT, wanted).await;
}

async fn wait_for_part(browser: &Browser, selector: &str, wanted: &str) {
    browser
        .wait_for(wanted, async || {
            let text = browser.text_of(selector).await?;
            text.contains(wanted).then_some(())
        })
        .await;
}

#[tokio::test]
async fn a_brush_keeps_runs_in_all_parts_and_back_undoes_it() {
    let lab = Lab::new();
    let server = sweep(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/lineage").await;
    wait_for_kept(&browser, "36 of 36 kept").await;
    browser.wait_for_element("[data-axis=lr]").await;
    browser
        .wait_for_element("[data-axis='metric:train/loss']")
        .await;
    // Names from files are text.
    assert_eq!(browser.count("[role=cell] b:not([title])").await, 0);

    drag_down(&browser, "lr", (60.0, 140.0)).await;
    browser
        .wait_for_element("[data-part=brush][aria-label^='lr ']")
        .await;
    browser.wait_for_element("[data-brush=lr]").await;
    let kept = browser
        .wait_for("fewer runs", async || {
            let text = browser.text_of(KEPT).await?;
            let kept: usize = text.split(' ').next()?.parse().ok()?;
            (0 < kept && kept < 36).then_some(kept)
        })
        .await;
    browser.wait_for_count(ROWS, kept.min(20)).await;
    assert!(browser.url().await.contains("brush=lr"));
    browser.run("history.back()").await;
    wait_for_kept(&browser, "36 of 36 kept").await;
    browser.close();
}

#[tokio::test]
async fn the_values_of_a_run_cover_no_brush() {
    let lab = Lab::new();
    let server = sweep(&lab);
    let browser = Browser::open().await;
    browser
        .goto(&server, "/lineage?brush=lr:1e-4..1e-2;seed:5..33")
        .await;
    browser.wait_for_count("[data-part=brush]", 2).await;
    // The pointer at many places of the plot: values are shown where a line is near.
    browser
        .run(
            "const lines = document.querySelector('[data-part=lines]');
             const plot = document.querySelector('[data-part=brush]').parentElement;
             const all = lines.getBoundingClientRect();
             const painted = () => new Promise((next) => {
                 requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(next)));
             });
             const meets = (a, b) => {
                 return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
             };
             (async () => {
                 let shown = 0;
                 const covered = [];
                 for (let x = 10; x < all.width; x += 37) {
                     for (let y = 50; y < all.height; y += 31) {
                         const [clientX, clientY] = [all.left + x, all.top + y];
                         const init = { clientX, clientY, bubbles: true };
                         plot.dispatchEvent(new PointerEvent('pointermove', init));
                         await painted();
                         const tip = lines.querySelector('[data-part=tip]');
                         if (!tip || getComputedStyle(tip).visibility != 'visible') continue;
                         shown += 1;
                         const own = tip.getBoundingClientRect();
                         const others = [...lines.querySelectorAll('[data-part=brush]')];
                         const areas = others.map((other) => other.getBoundingClientRect());
                         areas.push(new DOMRect(clientX, clientY, 1, 1));
                         if (areas.some((area) => meets(own, area))) covered.push([x, y]);
                     }
                 }
                 window.seen = [shown, covered];
             })();",
        )
        .await;
    browser.wait_until("window.seen").await;
    let seen = browser.run("return window.seen").await;
    assert!(seen[0].as_u64() > Some(20), "{seen}");
    assert_eq!(seen[1], serde_json::json!([]), "{seen}");
    browser.close();
}

#[tokio::test]
async fn a_link_opens_the_same_selection_and_missing_values_and_nan_have_lanes() {
    let lab = Lab::new();
    let server = sweep(&lab);
    let browser = Browser::open().await;
    // The key of the column has a colon, which is escaped in the text of a brush.
    browser
        .goto(&server, "/lineage?brush=metric%253Atrain/loss:!nan")
        .await;
    wait_for_kept(&browser, "2 of 36 kept").await;
    browser.goto(&server, "/lineage?brush=dropout:!none").await;
    wait_for_kept(&browser, "4 of 36 kept").await;
    browser
        .goto(&server, "/lineage?q=lr:1e-4..1e-3%20optimizer:adam")
        .await;
    browser
        .wait_for("terms of the filter", async || {
            let text = browser.text_of(KEPT).await?;
            let kept: usize = text.split(' ').next()?.parse().ok()?;
            (0 < kept && kept <= 5).then_some(())
        })
        .await;
    browser.close();
}

#[tokio::test]
async fn a_bar_of_importance_opens_its_scatter_plot() {
    let lab = Lab::new();
    let server = sweep(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/lineage").await;
    browser
        .click("[data-part=importance] [data-parameter=lr]")
        .await;
    browser
        .wait_for("the plot", async || {
            let text = browser.text_of("[data-part=scatter-title]").await?;
            text.contains("lr against").then_some(())
        })
        .await;
    assert!(browser.url().await.contains("bar=lr"));
    browser.show("lineage").await;
    browser.close();
}

#[tokio::test]
async fn importances_are_of_all_runs_or_of_the_kept_ones() {
    let lab = Lab::new();
    let server = sweep(&lab);
    let browser = Browser::open().await;
    browser
        .goto(&server, "/lineage?q=optimizer:adam%7Csgd&measure=rank")
        .await;
    wait_for_kept(&browser, "24 of 36 kept").await;
    let trust = "[data-part=importance] [data-part=trust]";
    wait_for_part(&browser, trust, "36 runs").await;
    browser
        .click("[data-part=importance] input[type=checkbox]")
        .await;
    wait_for_part(&browser, trust, "24 runs").await;
    assert!(browser.url().await.contains("of=kept"));
    browser.run("history.back()").await;
    wait_for_part(&browser, trust, "36 runs").await;
    browser.close();
}

#[tokio::test]
async fn configuration_files_that_cannot_be_read_are_named() {
    let lab = Lab::new();
    for (run, text) in [("broken", "a: 1\nb: [2"), ("whole", "a: 1")] {
        lab.record(run).scalar("loss", 1, 0.5);
        fs::write(lab.base().join(run).join("params.yaml"), text).unwrap();
    }
    let server = lab.start();
    server.wait_for_points("whole", "loss", 1);
    let browser = Browser::open().await;
    browser.goto(&server, "/lineage").await;
    wait_for_part(&browser, "[data-part=unread]", "1 not read").await;
    browser.click("[data-part=unread]").await;
    browser.wait_for_text("broken/params.yaml:").await;
    browser.wait_for_text("line 2").await;
    browser.close();
}

#[tokio::test]
async fn keys_move_through_rows_and_axes() {
    let lab = Lab::new();
    let server = sweep(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/lineage?lang=zh").await;
    browser.wait_for_element(ROWS).await;
    wait_for_kept(&browser, "保留 36 / 36").await;
    browser.press('j').await;
    browser.press('x').await;
    browser
        .wait_for_element("[role=row][data-run][aria-selected=true]")
        .await;
    browser.press(ARROW_RIGHT).await;
    browser.press('b').await;
    browser.wait_for_element("[data-part=brush]").await;
    browser.press('0').await;
    wait_for_kept(&browser, "保留 36 / 36").await;
    browser.close();
}

#[tokio::test]
async fn keys_act_on_the_first_run_of_a_group() {
    let lab = Lab::new();
    let server = sweep(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/lineage?group=optimizer").await;
    browser.wait_for_count(ROWS, 3).await;
    browser.press('j').await;
    browser.press('x').await;
    browser
        .wait_for_element("[role=row][data-run][aria-selected=true]")
        .await;
    let url = browser.url().await;
    assert!(url.contains("sel=sweep-"), "{url}");
    browser.close();
}

#[tokio::test]
async fn kinds_of_pipelines_are_rows_and_a_kind_keeps_its_runs() {
    let lab = Lab::new();
    let server = lab.start_on(&[&workspace_root().join("sample-runs")], &[]);
    let browser = Browser::open().await;
    browser.goto(&server, "/lineage?tab=data").await;
    browser
        .wait_for_element("[data-part=kinds] [data-kind=A]")
        .await;
    let keep = "[data-kind=A] [data-part=keep-kind]";
    let all = browser.text_of(keep).await.unwrap();
    browser.click(keep).await;
    browser
        .wait_for_element("[data-brush='data:pipeline']")
        .await;
    browser
        .wait_for_element(&format!("{keep}[aria-pressed=true]"))
        .await;
    assert_eq!(browser.text_of(keep).await.unwrap(), all);
    // Another selection is seen here too.
    browser.click(keep).await;
    browser.set("input[list]", "name:nothing").await;
    browser
        .wait_for(&format!("0 of {all}"), async || {
            let text = browser.text_of(keep).await?;
            text.contains(&format!("0 of {all}")).then_some(())
        })
        .await;
    browser.close();
}

#[tokio::test]
async fn notes_are_edited_in_the_row_and_the_filter_suggests_columns_and_values() {
    const ENTER: char = '\u{e007}';
    const ESCAPE: char = '\u{e00c}';
    const FIELD: &str = "[data-part=note-field]";
    let lab = Lab::new();
    let server = sweep(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/lineage").await;
    browser.wait_for_element(ROWS).await;
    let type_in = async |key: char, text: &str, end: char| {
        browser.press(key).await;
        browser.wait_for_element(FIELD).await;
        for letter in text.chars() {
            browser.press(letter).await;
        }
        browser.press(end).await;
        browser.wait_for_count(FIELD, 0).await;
    };
    browser.press('j').await;
    type_in('t', "good, old", ENTER).await;
    type_in('n', "why <b>so</b>", ENTER).await;
    type_in('n', "not this", ESCAPE).await;
    let notes = wait_for("the notebook", || {
        let book = server.get("/api/notebook").json();
        let runs = book["runs"].as_object()?.clone();
        let entry = runs.into_iter().next()?;
        (entry.1["note"] == "why <b>so</b>").then_some(entry.1)
    });
    assert_eq!(notes["tags"], serde_json::json!(["good", "old"]));
    browser.wait_for_text("why <b>so</b>").await;
    browser.set("input[list]", "opt").await;
    browser.wait_for_element("option[value='optimizer:']").await;
    browser.set("input[list]", "optimizer:s").await;
    browser
        .wait_for_element("option[value='optimizer:sgd']")
        .await;
    browser.set("input[list]", "optimizer:sgd").await;
    wait_for_kept(&browser, "12 of 36 kept").await;
    browser.close();
}

#[tokio::test]
async fn the_overview_leads_to_the_run_among_the_others() {
    let lab = Lab::new();
    let server = sweep(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/sweep-07").await;
    browser.click("main a[href*='/lineage?focus=']").await;
    browser
        .wait_for_element("[role=row][data-run=sweep-07]")
        .await;
    browser.close();
}
