//! The page of curves in a real browser: each control is used, and its effect checked.

use std::fs;

use crate::support::parts::{READOUT, canvas};
use crate::support::{Browser, Lab, Server};

/// Entries of the menu of a card, and of that of all cards.
const MENU: &str = "[role=menu] button";
const DOWNLOADS: &str = "[role=toolbar] [role=menu] button";

/// Description of a curve for screen readers: lines, range, and non-finite values.
async fn said(browser: &Browser, tag: &str) -> String {
    browser.attribute(&canvas(tag), "aria-label").await
}

async fn wait_until_said(browser: &Browser, tag: &str, wanted: &str) {
    browser
        .wait_for(&format!("{tag} to say `{wanted}`"), async || {
            said(browser, tag).await.contains(wanted).then_some(())
        })
        .await;
}

async fn wait_until_unsaid(browser: &Browser, tag: &str, unwanted: &str) {
    browser
        .wait_for(&format!("{tag} to say no `{unwanted}`"), async || {
            let said = said(browser, tag).await;
            (!said.is_empty() && !said.contains(unwanted)).then_some(())
        })
        .await;
}

async fn wait_for_address(browser: &Browser, wanted: &str) {
    browser
        .wait_for(&format!("`{wanted}` in the address"), async || {
            browser.url().await.contains(wanted).then_some(())
        })
        .await;
}

async fn open_menu(browser: &Browser, tag: &str) {
    browser
        .click(&format!(
            "section[data-tag={tag:?}] button[aria-label='More']"
        ))
        .await;
}

/// Two runs that differ by one, with a loss of 1,000 steps, an accuracy of 50 and tokens that count each step as 4.
async fn two_runs(lab: &Lab) -> (Server, Browser) {
    for (run, above) in [("a", 0.0_f32), ("b", 1.0)] {
        lab.record(run)
            .curve("loss", 0..1_000, |step| 5.0 - step as f32 / 250.0 + above)
            .curve("acc", 0..50, |step| step as f32 / 50.0)
            .curve("tokens", 0..1_000, |step| 4.0 * step as f32);
    }
    let server = lab.start();
    server.wait_for_points("b", "tokens", 1_000);
    (server, Browser::open().await)
}

#[tokio::test]
async fn the_wheel_zooms_and_pans_and_steps_lead_back() {
    let lab = Lab::new();
    let (server, browser) = two_runs(&lab).await;
    browser.goto(&server, "/run/a/scalars?runs=a,b").await;
    wait_until_said(&browser, "loss", "2 lines, step 0 to 1,000").await;
    // Without a modifier key the wheel scrolls the page.
    browser.wheel(&canvas("loss"), (0.0, -320.0), false).await;
    assert!(said(&browser, "loss").await.contains("step 0 to 1,000"));
    browser.wheel(&canvas("loss"), (0.0, -320.0), true).await;
    wait_until_unsaid(&browser, "loss", "step 0 to 1,000").await;
    wait_for_address(&browser, "range=").await;
    let zoomed = said(&browser, "loss").await;
    // All cards follow.
    wait_until_unsaid(&browser, "tokens", "step 0 to 1,000").await;
    browser.wheel(&canvas("loss"), (9_000.0, 0.0), false).await;
    wait_until_said(&browser, "loss", "to 1,000").await;
    let panned = browser.url().await;
    browser
        .wait_for("the panned range in the address", async || {
            let url = browser.url().await;
            (url.contains(",1000") && url != panned || url.contains(",1000")).then_some(())
        })
        .await;
    browser.press('z').await;
    wait_until_said(&browser, "loss", &zoomed).await;
    browser.press('f').await;
    wait_until_said(&browser, "loss", "step 0 to 1,000").await;
    // The keyboard zooms too.
    browser.press('w').await;
    wait_until_unsaid(&browser, "loss", "step 0 to 1,000").await;
    browser.click("button[aria-label='Fit (f)']").await;
    wait_until_said(&browser, "loss", "step 0 to 1,000").await;
    browser.close();
}

#[tokio::test]
async fn cards_zoom_by_themselves_when_they_are_asked_to() {
    let lab = Lab::new();
    let (server, browser) = two_runs(&lab).await;
    browser.goto(&server, "/run/a/scalars?runs=a,b").await;
    wait_until_said(&browser, "loss", "2 lines").await;
    browser.click("button[aria-label='View options']").await;
    browser
        .click("button[aria-label='Zoom all cards together']")
        .await;
    wait_for_address(&browser, "link=0").await;
    browser.click("section[data-tag] h2").await;
    browser.drag_over(&canvas("loss"), 0.4, 0.6).await;
    wait_for_address(&browser, ":loss").await;
    wait_until_unsaid(&browser, "loss", "step 0 to 1,000").await;
    assert!(said(&browser, "tokens").await.contains("step 0 to 1,000"));
    browser.reload().await;
    wait_until_said(&browser, "tokens", "step 0 to 1,000").await;
    wait_until_unsaid(&browser, "loss", "step 0 to 1,000").await;
    browser
        .click("section[data-tag=loss] button[aria-label='Show all of this card']")
        .await;
    wait_until_said(&browser, "loss", "step 0 to 1,000").await;
    browser.close();
}

#[tokio::test]
async fn differences_to_a_baseline_are_read_out() {
    let lab = Lab::new();
    let (server, browser) = two_runs(&lab).await;
    browser
        .goto(&server, "/run/a/scalars?runs=a,b&smooth=0")
        .await;
    wait_until_said(&browser, "loss", "2 lines").await;
    let row = "li:has(button[aria-label=a])";
    // The panel of runs is drawn after the first card.
    browser.wait_for_element(row).await;
    browser
        .run(&format!(
            "document.querySelector({row:?} + ' [aria-label=\\'Compare the others with this run\\']').click()"
        ))
        .await;
    wait_for_address(&browser, "baseline=a").await;
    browser.hover(&canvas("loss"), 0.5).await;
    browser.wait_for_element(&format!("{READOUT} td")).await;
    let tip = browser.text_of(READOUT).await.unwrap();
    assert!(
        tip.contains("− baseline") && tip.contains("+1.000"),
        "{tip}"
    );
    // Isolated, and back again.
    let alone = format!(
        "document.querySelector({row:?} + ' [aria-label=\\'Show only this run\\']').click()"
    );
    browser.run(&alone).await;
    wait_until_said(&browser, "loss", "1 line,").await;
    browser.run(&alone).await;
    wait_until_said(&browser, "loss", "2 lines").await;
    browser.close();
}

#[tokio::test]
async fn another_scalar_is_an_axis() {
    let lab = Lab::new();
    let (server, browser) = two_runs(&lab).await;
    browser.goto(&server, "/run/a/scalars?runs=a,b").await;
    wait_until_said(&browser, "loss", "step 0 to 1,000").await;
    browser
        .click("button[aria-label$='Another scalar as x axis']")
        .await;
    browser.click_text("[role=dialog] button", "tokens").await;
    wait_for_address(&browser, "x=tag:tokens").await;
    wait_until_said(&browser, "loss", "0 to 3,996").await;
    // Points beyond the last count of tokens are extrapolated: acc ends at step 49.
    wait_until_said(&browser, "acc", "0 to 196").await;
    let linear = browser.settled_picture(&canvas("loss")).await;
    browser.click("button[aria-label='View options']").await;
    browser
        .click_text("[aria-label='X scale'] button", "Log")
        .await;
    wait_for_address(&browser, "xs=log").await;
    browser
        .wait_for_other_picture(&canvas("loss"), linear)
        .await;
    browser.click("section[data-tag] h2").await;
    browser.drag_over(&canvas("loss"), 0.7, 0.9).await;
    wait_until_unsaid(&browser, "loss", "0 to 3,996").await;
    browser.close();
}

#[tokio::test]
async fn limits_stay_with_the_runs() {
    let lab = Lab::new();
    let (server, browser) = two_runs(&lab).await;
    browser.goto(&server, "/run/a/scalars?runs=a,b").await;
    wait_until_said(&browser, "acc", "2 lines").await;
    let before = browser.settled_picture(&canvas("acc")).await;
    open_menu(&browser, "acc").await;
    browser.click_text(MENU, "Thresholds…").await;
    browser
        .fill("input[aria-label='First threshold']", "0.899")
        .await;
    browser.click_text("form button", "Save").await;
    // 0.90 to 0.98 of both runs.
    wait_until_said(&browser, "acc", "> 0.899: 10 points").await;
    browser.wait_for_other_picture(&canvas("acc"), before).await;
    browser
        .fill("input[aria-label='Second threshold']", "0.95")
        .await;
    browser
        .click_text("form [aria-label='Second threshold'] button", "<")
        .await;
    browser.click_text("form button", "and").await;
    browser.click_text("form button", "Save").await;
    wait_until_said(&browser, "acc", "> 0.899 and < 0.95: 6 points").await;
    let notebook = lab.base().join(".trainscope/notebook.toml");
    browser
        .wait_for("the notebook", async || {
            fs::read_to_string(&notebook)
                .ok()?
                .contains("0.95")
                .then_some(())
        })
        .await;
    browser.close();
    // Another browser restores them from the files alone.
    let browser = Browser::open().await;
    browser.goto(&server, "/run/b/scalars").await;
    wait_until_said(&browser, "acc", "and < 0.95").await;
    open_menu(&browser, "acc").await;
    browser.click_text(MENU, "Thresholds…").await;
    browser.click_text("form button", "Remove").await;
    wait_until_unsaid(&browser, "acc", "0.899").await;
    browser.close();
}

#[tokio::test]
async fn runs_are_grouped_by_their_names() {
    let lab = Lab::new();
    for (run, value) in [
        ("big-s1", 1.0),
        ("big-s2", 2.0),
        ("big-s3", 3.0),
        ("tiny-s1", 9.0),
    ] {
        lab.record(run).curve("loss", 0..100, |_| value);
    }
    let server = lab.start();
    server.wait_for_points("tiny-s1", "loss", 100);
    let browser = Browser::open().await;
    let page = "/run/big-s1/scalars?smooth=0&runs=big-s1,big-s2,big-s3,tiny-s1";
    browser.goto(&server, page).await;
    wait_until_said(&browser, "loss", "4 lines").await;
    browser.click("button[aria-label='View options']").await;
    browser
        .set("select[aria-label='Group runs by']", "re:")
        .await;
    browser
        .fill(
            "input[aria-label='Regular expression over names of runs']",
            "^(.*)-s",
        )
        .await;
    wait_until_said(&browser, "loss", "2 lines").await;
    browser
        .click_text("[aria-label='Band'] button", "± std dev")
        .await;
    wait_for_address(&browser, "spread=std").await;
    browser.click("section[data-tag] h2").await;
    browser.hover(&canvas("loss"), 0.5).await;
    browser.wait_for_element(&format!("{READOUT} td")).await;
    let tip = browser.text_of(READOUT).await.unwrap();
    for wanted in [
        "big · n = 3",
        "2.000",
        "1.000",
        "3.000",
        "tiny · n = 1",
        "9.000",
    ] {
        assert!(tip.contains(wanted), "{wanted} in {tip}");
    }
    browser.close();
}

#[tokio::test]
async fn what_is_drawn_follows_each_choice() {
    let lab = Lab::new();
    lab.record("run").curve("loss", 0..600, |step| {
        if step == 300 {
            1e6
        } else {
            2.0 + (step * 7_919 % 101) as f32 / 50.0
        }
    });
    let server = lab.start();
    server.wait_for_points("run", "loss", 600);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/scalars?smooth=0.8").await;
    wait_until_said(&browser, "loss", "1 line").await;
    let mut last = browser.settled_picture(&canvas("loss")).await;
    browser.click("button[aria-label='View options']").await;
    for (group, words, address) in [
        ("Y range", "Without outliers", "yr=robust"),
        ("Smoothing by", "Mean", "by=mean"),
        ("Smoothing by", "Gaussian", "by=gaussian"),
        ("Cards", "Small", "size=s"),
        ("Cards", "Large", "size=l"),
    ] {
        browser
            .click_text(&format!("[aria-label={group:?}] button"), words)
            .await;
        wait_for_address(&browser, address).await;
        last = browser.wait_for_other_picture(&canvas("loss"), last).await;
    }
    browser.click("section[data-tag] h2").await;
    open_menu(&browser, "loss").await;
    browser.click_text(MENU, "Log").await;
    wait_for_address(&browser, "ys=log:loss").await;
    last = browser.wait_for_other_picture(&canvas("loss"), last).await;
    browser.reload().await;
    wait_until_said(&browser, "loss", "1 line").await;
    assert_eq!(browser.settled_picture(&canvas("loss")).await, last);
    browser.close();
}

#[tokio::test]
async fn the_keyboard_goes_from_card_to_card_and_pins_are_shared() {
    let lab = Lab::new();
    let (server, browser) = two_runs(&lab).await;
    browser.goto(&server, "/run/a/scalars").await;
    wait_until_said(&browser, "tokens", "step").await;
    browser.press('j').await;
    browser.press('j').await;
    browser.press('j').await;
    browser
        .wait_for_element("section[aria-current][data-tag=tokens]")
        .await;
    browser.press('p').await;
    browser.wait_for_text("pinned").await;
    browser.press('o').await;
    wait_for_address(&browser, "full=tokens").await;
    browser.press('\u{e00c}').await;
    browser.wait_for_element("section[data-tag=acc]").await;
    browser.close();
    let browser = Browser::open().await;
    browser.goto(&server, "/run/a/scalars").await;
    browser.wait_for_text("pinned").await;
    let first = browser.attribute("section[data-tag]", "data-tag").await;
    assert_eq!(first, "tokens");
    browser.close();
}

#[tokio::test]
async fn cards_are_downloaded_alone_and_together() {
    let lab = Lab::new();
    let (server, browser) = two_runs(&lab).await;
    browser.goto(&server, "/run/a/scalars?runs=a,b").await;
    wait_until_said(&browser, "loss", "2 lines").await;
    // Intercepts a download.
    browser
        .run(
            "window.saved = []; const make = URL.createObjectURL;
             URL.createObjectURL = blob => { window.saved.push(blob); return make.call(URL, blob); };",
        )
        .await;
    let last = async |type_: &str| -> String {
        browser
            .wait_for(&format!("a file of {type_}"), async || {
                let script = format!(
                    "const found = window.saved.filter(blob => blob.type.startsWith({type_:?})).pop();
                     if (!found) return null; window.saved = [];
                     window.text = null; found.text().then(text => window.text = text); return true;"
                );
                browser.run(&script).await.as_bool()
            })
            .await;
        browser
            .wait_for("its text", async || {
                browser
                    .run("return window.text")
                    .await
                    .as_str()
                    .map(str::to_owned)
            })
            .await
    };
    open_menu(&browser, "acc").await;
    browser.click_text(MENU, "Download CSV").await;
    let csv = last("text/csv").await;
    assert_eq!(csv.lines().count(), 101);
    assert!(csv.contains("\nacc,b,0,,49,1760000004.9,"), "{csv}");
    browser
        .click("button[aria-label='Download all cards']")
        .await;
    browser.click_text(DOWNLOADS, "Download JSON").await;
    let json: serde_json::Value = serde_json::from_str(&last("application/json").await).unwrap();
    assert_eq!(json["series"].as_array().unwrap().len(), 6);
    assert_eq!(json["series"][5]["values"][999], 3_996.0);
    browser
        .click("button[aria-label='Download all cards']")
        .await;
    browser.click_text(DOWNLOADS, "Download SVG").await;
    let svg = last("image/svg").await;
    assert!(
        svg.starts_with("<svg") && svg.matches("<svg").count() == 4,
        "{svg}"
    );
    open_menu(&browser, "loss").await;
    browser.click_text(MENU, "Download PNG").await;
    let png = last("image/png").await;
    assert!(png.contains("PNG"), "not a PNG");
    // The other two entries of each menu.
    open_menu(&browser, "acc").await;
    browser.click_text(MENU, "Download JSON").await;
    let json: serde_json::Value = serde_json::from_str(&last("application/json").await).unwrap();
    assert_eq!(json["series"].as_array().unwrap().len(), 2);
    open_menu(&browser, "acc").await;
    browser.click_text(MENU, "Download SVG").await;
    assert!(last("image/svg").await.starts_with("<svg"));
    for (words, type_) in [("Download CSV", "text/csv"), ("Download PNG", "image/png")] {
        browser
            .click("button[aria-label='Download all cards']")
            .await;
        browser.click_text(DOWNLOADS, words).await;
        let text = last(type_).await;
        let is_csv_of_all = text.lines().count() == 1 + 2 * (1_000 + 50 + 1_000);
        assert!(is_csv_of_all || text.contains("PNG"), "{words}: {text}");
    }
    browser.close();
}

#[tokio::test]
async fn odd_recordings_have_pictures_and_words() {
    let lab = Lab::new();
    lab.record("odd")
        .scalar("one", 7, 0.5)
        .scalar("wide", 0, 1e-38)
        .scalar("wide", 1, 3e38)
        .scalar("twice", 5, 1.0)
        .scalar("twice", 5, 2.0)
        .scalar("twice", 3, 3.0)
        .curve("nan", 0..10, |_| f32::NAN)
        .curve("flat", 0..500, |_| 0.1);
    let server = lab.start();
    server.wait_for_points("odd", "flat", 500);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/odd/scalars?smooth=0.9").await;
    browser.wait_for_element("[data-part=cards]").await;
    for (tag, wanted) in [
        ("flat", "1 line"),
        ("nan", "NaN from 0 to 9"),
        ("one", "1 line"),
        ("twice", "1 line"),
        ("wide", "1 line"),
    ] {
        browser
            .run(&format!(
                "const cards = document.querySelector('[data-part=cards]');
                 cards.scrollTop = {} * cards.scrollHeight;",
                i32::from(tag > "one")
            ))
            .await;
        wait_until_said(&browser, tag, wanted).await;
        browser.settled_picture(&canvas(tag)).await;
    }
    browser
        .run("document.querySelector('[data-part=cards]').scrollTop = 0")
        .await;
    browser.hover(&canvas("flat"), 0.7).await;
    browser.wait_for_text("0.1000").await;
    browser.close();
}

#[tokio::test]
async fn a_link_to_a_run_that_is_no_more_says_so() {
    let lab = Lab::new();
    lab.record("here").scalar("loss", 0, 1.0);
    let server = lab.start();
    server.wait_for_points("here", "loss", 1);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/nowhere/scalars").await;
    browser.wait_for_text("nowhere").await;
    browser.wait_for_element("a[href='/']").await;
    assert_eq!(browser.count("section[data-tag]").await, 0);
    browser.close();
}

#[tokio::test]
async fn ten_thousand_tags_with_one_prefix_are_listed_and_filtered() {
    let lab = Lab::new();
    let mut recording = lab.record("many");
    for number in 0..10_000 {
        recording.scalar(&format!("layers/tag{number:05}"), 0, 1.0);
    }
    let server = lab.start();
    server.wait_for_points("many", "layers/tag09999", 1);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/many/scalars").await;
    browser.wait_for_text("10,000").await;
    browser
        .wait_for_element("section[data-tag='layers/tag00000']")
        .await;
    assert!(browser.count("section[data-tag]").await < 40);
    browser
        .fill(
            "input[aria-label='Filter tags (regular expression)']",
            "9999$",
        )
        .await;
    browser
        .wait_for_element("section[data-tag='layers/tag09999']")
        .await;
    assert_eq!(browser.count("section[data-tag]").await, 1);
    browser.close();
}
