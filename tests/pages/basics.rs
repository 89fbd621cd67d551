//! The pages in a real browser: open a page, read data, act, and read the change.

use std::fs;

use crate::support::lab::{copy_folder, workspace_root};
use crate::support::parts::canvas;
use crate::support::{Browser, Lab, Recording, Server};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

async fn open_samples(lab: &Lab) -> (Server, Browser) {
    let folder = lab.path("sample-runs");
    copy_folder(&workspace_root().join("sample-runs"), &folder);
    let server = lab.start_on(&[&folder], &[]);
    (server, Browser::open().await)
}

/// Waits until a curve is drawn over more than a share of the plot's width, and returns its picture.
async fn wait_for_curve(browser: &Browser, tag: &str, least: f64) -> u64 {
    let canvas = canvas(tag);
    browser
        .wait_for(&format!("a curve of {tag}"), async || {
            (browser.drawn_share(&canvas).await > least).then_some(())
        })
        .await;
    browser.settled_picture(&canvas).await
}

#[tokio::test]
async fn an_empty_folder_shows_how_to_record() {
    let lab = Lab::new();
    let server = lab.start();
    let browser = Browser::open().await;
    browser.goto(&server, "/").await;
    browser.wait_for_text("trainscope.start").await;
    // The first run appears without a reload.
    lab.record("first").scalar("loss", 0, 1.0);
    browser
        .wait_for_element("a[href='/run/first/scalars']")
        .await;
    browser.close();
}

#[tokio::test]
async fn the_list_leads_to_the_curves_of_a_run() {
    let lab = Lab::new();
    let (server, browser) = open_samples(&lab).await;
    browser.goto(&server, "/").await;
    let link = "a[href='/run/transformer-small/fp16/overview']";
    browser.wait_for_element(link).await;
    browser.wait_for_text("NaN").await;
    // Of all sample runs only those without scalars and tensors stay without a judgement.
    browser
        .wait_until(
            "[...document.querySelectorAll('tbody tr')].filter(row => row.innerText.includes('not judged'))
                .every(row => /compare_[ab]/.test(row.innerText))",
        )
        .await;
    browser.show("runs").await;
    browser.click(link).await;
    browser
        .click("[data-part=verdict] a[href='/run/transformer-small/fp16/scalars']")
        .await;
    // Of 1,184 steps the last finite loss is that of step 411.
    wait_for_curve(&browser, "train/loss", 0.15).await;
    wait_for_curve(&browser, "val/accuracy", 0.15).await;
    browser.show("scalars").await;
    assert!(
        browser
            .url()
            .await
            .contains("/run/transformer-small/fp16/scalars")
    );
    let described = browser.attribute(&canvas("train/loss"), "aria-label").await;
    assert!(described.contains("NaN from 412 to 1,184"), "{described}");
    browser.close();
}

#[tokio::test]
async fn the_list_is_filtered_by_name() {
    let lab = Lab::new();
    let (server, browser) = open_samples(&lab).await;
    browser.goto(&server, "/").await;
    browser
        .wait_for_element("a[href='/run/torch/hp0/scalars']")
        .await;
    browser
        .fill("input[aria-label='Filter runs']", "transformer")
        .await;
    browser
        .wait_for_count("tr:not([hidden]) a[href*='/run/torch']", 0)
        .await;
    assert!(
        browser
            .count("a[href='/run/transformer-small/bf16/scalars']")
            .await
            > 0
    );
    browser.close();
}

#[tokio::test]
async fn a_filter_leaves_the_cards_it_matches() {
    let lab = Lab::new();
    let (server, browser) = open_samples(&lab).await;
    browser
        .goto(&server, "/run/transformer-small/bf16/scalars")
        .await;
    browser
        .wait_for_element("section[data-tag='train/loss']")
        .await;
    browser
        .wait_for_element("section[data-tag='train/grad_norm']")
        .await;
    browser
        .fill(
            "input[aria-label='Filter tags (regular expression)']",
            "^val/.*|loss$",
        )
        .await;
    browser
        .wait_for_count("section[data-tag='train/grad_norm']", 0)
        .await;
    for tag in ["train/loss", "val/loss", "val/accuracy"] {
        browser
            .wait_for_element(&format!("section[data-tag='{tag}']"))
            .await;
    }
    // The filter is part of the address: the same view opens again.
    browser.reload().await;
    browser
        .wait_for_element("section[data-tag='val/loss']")
        .await;
    assert_eq!(
        browser.count("section[data-tag='train/grad_norm']").await,
        0
    );
    browser.close();
}

#[tokio::test]
async fn dragging_zooms_until_every_recorded_point_is_drawn() {
    let lab = Lab::new();
    // A sawtooth, halved at every other step.
    let value = |step: i64| (step % 7_919 / (1 + step % 2)) as f32;
    lab.record("long").curve("loss", 0..200_000, value);
    let server = lab.start();
    server.wait_for_points("long", "loss", 200_000);
    let browser = Browser::open().await;
    // Unsmoothed, so that the recorded values are drawn.
    browser.goto(&server, "/run/long/scalars?smooth=0").await;
    wait_for_curve(&browser, "loss", 0.5).await;
    browser.note_curves().await;
    let points = loop {
        browser.drag_over(&canvas("loss"), 0.50, 0.52).await;
        let points = browser.next_curve().await;
        if !points.cut {
            break points;
        }
        assert!(points.total > 1_000, "{points:?}");
    };
    // Far enough that each point has several pixels.
    browser.drag_over(&canvas("loss"), 0.45, 0.55).await;
    let points = Some(browser.next_curve().await)
        .filter(|closer| !closer.cut && closer.total < points.total)
        .unwrap();
    // Points of the range, of half its length on each side, and earlier ones that smoothing would need.
    assert!((10..320).contains(&points.total), "{points:?}");
    assert_eq!(points.steps.len() as u64, points.total);
    let recorded: Vec<i64> = (points.steps[0]..).take(points.steps.len()).collect();
    assert_eq!(points.steps, recorded);
    let recorded: Vec<f64> = recorded
        .into_iter()
        .map(|step| value(step).into())
        .collect();
    assert_eq!(points.values, recorded);
    browser.settled_picture(&canvas("loss")).await;
    // Between two neighbours the line crosses that height once. The request is wider than the view, for the next zoom.
    let url = browser.url().await.replace("%2C", ",");
    let (_, range) = url.split_once("range=").unwrap();
    let mut bounds = range.split([',', '&']).map_while(|step| step.parse().ok());
    let shown = bounds.next().unwrap()..=bounds.next().unwrap();
    let shown = points.steps.iter().filter(|step| shown.contains(*step));
    let (lines, crossings) = (shown.count() - 1, browser.crossings(&canvas("loss")).await);
    assert!(lines > 5, "{url}");
    assert!(
        (lines - 1..=lines + 1).contains(&crossings),
        "{crossings} of {lines}"
    );
    let described = browser.attribute(&canvas("loss"), "aria-label").await;
    assert!(!described.contains("0 to 199,999"), "{described}");
    // The address alone brings the range back.
    browser.reload().await;
    wait_for_curve(&browser, "loss", 0.5).await;
    assert_eq!(
        browser.attribute(&canvas("loss"), "aria-label").await,
        described
    );
    browser.close();
}

#[tokio::test]
async fn a_growing_run_changes_the_picture() {
    let lab = Lab::new();
    let mut recording = lab.record("run");
    recording.curve("loss", 0..100, |step| step as f32);
    let server = lab.start();
    server.wait_for_points("run", "loss", 100);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/scalars").await;
    let before = wait_for_curve(&browser, "loss", 0.5).await;
    recording.curve("loss", 100..300, |step| 300.0 - step as f32);
    browser
        .wait_for_other_picture(&canvas("loss"), before)
        .await;
    browser
        .wait_for("the new end", async || {
            let described = browser.attribute(&canvas("loss"), "aria-label").await;
            described.contains("0 to 300").then_some(())
        })
        .await;
    // A new tag gets a card, and existing cards stay.
    recording.scalar("accuracy", 300, 0.5);
    browser
        .wait_for_element("section[data-tag='accuracy']")
        .await;
    assert_eq!(browser.count("section[data-tag='loss']").await, 1);
    browser.close();
}

#[tokio::test]
async fn language_and_theme_switch_and_are_remembered() {
    let lab = Lab::new();
    let (server, browser) = open_samples(&lab).await;
    browser.goto(&server, "/").await;
    browser.wait_for_text("How to record").await;
    let background = "return getComputedStyle(document.body).backgroundColor";
    let light = browser.run(background).await;
    browser.click("button[aria-label='Dark theme']").await;
    browser
        .wait_for("the dark theme", async || {
            (browser.run(background).await != light).then_some(())
        })
        .await;
    let dark = browser.run(background).await;
    browser.click("button[aria-label$='中文']").await;
    browser.wait_for_text("训练").await;
    let language = browser.run("return document.documentElement.lang").await;
    assert!(language.as_str().unwrap().starts_with("zh"), "{language}");
    browser.reload().await;
    browser.wait_for_text("训练").await;
    assert_eq!(browser.run(background).await, dark);
    browser.close();
}

#[tokio::test]
async fn a_damaged_file_is_named_with_its_place() {
    let lab = Lab::new();
    let mut recording = lab.record("hurt");
    recording.curve("loss", 0..50, |step| step as f32);
    let offset = recording.len_bytes();
    recording.curve("loss", 50..60, |step| step as f32);
    let mut bytes = fs::read(recording.path()).unwrap();
    bytes[usize::try_from(offset).unwrap() + 14] ^= 1;
    fs::write(recording.path(), bytes).unwrap();
    let server = lab.start();
    server.wait_for_points("hurt", "loss", 59);
    let browser = Browser::open().await;
    browser.goto(&server, "/?panel=files:hurt").await;
    browser
        .wait_for_text("events.out.tfevents.1760000000.host.1.0")
        .await;
    browser.wait_for_text(&grouped(offset)).await;
    browser.close();
}

/// Formats a number with a comma before the last three digits.
fn grouped(number: u64) -> String {
    if number < 1_000 {
        number.to_string()
    } else {
        format!("{},{:03}", grouped(number / 1_000), number % 1_000)
    }
}

#[tokio::test]
async fn names_from_files_are_shown_as_text() {
    let lab = Lab::new();
    let name = "<img src=x onerror=document.title='hurt'>";
    let tag = "<script>document.title='hurt'</script>";
    Recording::begin(&lab.base().join(name))
        .scalar(tag, 0, 1.0)
        .scalar(tag, 1, 2.0);
    let server = lab.start();
    server.wait_for_points(name, tag, 2);
    let browser = Browser::open().await;
    browser.goto(&server, "/").await;
    browser.wait_for_text(name).await;
    browser.click("a[href$='/scalars']").await;
    browser.wait_for_text("<script>").await;
    assert_ne!(browser.run("return document.title").await, "hurt");
    browser.close();
}

#[tokio::test]
async fn everything_works_below_a_prefix() {
    let lab = Lab::new();
    lab.record("run").curve("loss", 0..10, |step| step as f32);
    let server = lab.start_with(&["--url-path-prefix", "/behind/a/proxy"]);
    let browser = Browser::open().await;
    browser.goto(&server, "/behind/a/proxy/").await;
    browser
        .wait_for_element("a[href$='/run/run/scalars']")
        .await;
    browser.click("a[href$='/run/run/scalars']").await;
    wait_for_curve(&browser, "loss", 0.5).await;
    assert!(
        browser
            .url()
            .await
            .contains("/behind/a/proxy/run/run/scalars")
    );
    browser.close();
}

/// A link that was shared leads to its place once the token is given, which no address holds.
#[tokio::test]
async fn a_link_survives_the_question_for_the_token() {
    let lab = Lab::new();
    lab.record("run")
        .curve("loss", 0..50, |step| 1.0 / (step as f32 + 1.0));
    let file = lab.path("token");
    std::fs::write(&file, TOKEN).unwrap();
    let server = lab.start_with(&["--host", "0.0.0.0", "--token-file", file.to_str().unwrap()]);
    let browser = Browser::open().await;
    let place = "/run/run/scalars?x=relative";
    browser.goto(&server, place).await;
    browser.wait_for_text("This server asks for a token").await;
    browser.wait_for_text(place).await;
    browser.show("token").await;
    browser.fill("input[name=token]", "wrong").await;
    browser.click("button:not([type])").await;
    browser.wait_for_text("That is not the token").await;
    browser.fill("input[name=token]", TOKEN).await;
    // The script of the page, which its policy allows, shows the typed text.
    browser.click_text("button", "Show").await;
    let shown = browser.attribute("input[name=token]", "type").await;
    assert_eq!(shown, "text");
    browser.click("button:not([type])").await;
    wait_for_curve(&browser, "loss", 0.15).await;
    assert!(browser.url().await.ends_with(place));
    browser.close_despite("401");
}
