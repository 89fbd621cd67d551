//! The overview of a run in a real browser: the verdict, its links, and updates of a growing run.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use crate::support::lab::{copy_folder, workspace_root};
use crate::support::parts::{HIT, SELECTED_HIT};
use crate::support::terminal::Dump;
use crate::support::{Browser, Lab, wait_for};

const VERDICT: &str = "[data-part=verdict] h1";
/// The map of tensors and steps.
const MAP: &str = "[data-part=map]";
const CHECKS: &str = "[data-part=checks] summary";

async fn wait_for_verdict(browser: &Browser, wanted: &str) {
    browser
        .wait_for(&format!("the verdict to say `{wanted}`"), async || {
            let verdict = browser.text_of(VERDICT).await?;
            verdict.contains(wanted).then_some(())
        })
        .await;
}

#[tokio::test]
async fn the_verdict_leads_to_the_debugger() {
    let lab = Lab::new();
    let folder = lab.path("sample-runs");
    copy_folder(&workspace_root().join("sample-runs"), &folder);
    let server = lab.start_on(&[&folder], &[]);
    let browser = Browser::open().await;
    browser.goto(&server, "/?q=mlp").await;
    browser.click("a[href='/run/mlp/overflow/overview']").await;
    wait_for_verdict(&browser, "train/").await;
    // The matrix shows the first NaN, in tensors and in the loss; the guide names it.
    browser
        .wait_for_element(&format!("{MAP} [data-kind=nan]"))
        .await;
    browser
        .wait_for_element(&format!("{MAP} [data-state=began]"))
        .await;
    for topic in 0..6 {
        browser
            .wait_for_element(&format!("li[data-topic='{topic}']"))
            .await;
    }
    for card in ["scalars", "histograms", "tensors", "debugger", "images"] {
        browser
            .wait_for_element(&format!("[data-card='{card}'] > [data-part=body] > *"))
            .await;
    }
    browser.wait_for_text("NaN").await;
    browser
        .wait_until("!document.body.innerText.includes('being checked again')")
        .await;
    browser.show("overview").await;
    let height =
        "const main = document.querySelector('main'); return main.scrollHeight - main.clientHeight";
    assert_eq!(browser.run(height).await, 0, "nothing is below the fold");
    let legend = "const legend = document.querySelector('section:has([data-part=map]) [data-part=legend]'); \
                  const bottom = element => element.getBoundingClientRect().bottom; \
                  return bottom(legend) < bottom(legend.closest('section'))";
    assert_eq!(browser.run(legend).await, true, "the legend is in its card");
    // A cell of the matrix links to its hit.
    browser
        .click(&format!(
            "{MAP} tr[aria-current] td a:has([data-state=began])"
        ))
        .await;
    browser.wait_for_element(SELECTED_HIT).await;
    assert!(browser.url().await.contains("hit="));
    browser.run("history.back()").await;
    browser
        .click_text("[data-part=verdict] a", "Open in debugger")
        .await;
    browser.wait_for_element(SELECTED_HIT).await;
    assert!(browser.url().await.contains("/run/mlp/overflow/debugger"));
    browser.close();
}

#[tokio::test]
async fn the_verdict_follows_a_run_that_grows() {
    let lab = Lab::new();
    let mut recording = lab.record("run");
    recording.curve("train/loss", 0..100, |step| 1.0 / (1.0 + step as f32));
    let server = lab.start();
    server.wait_for_points("run", "train/loss", 100);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/overview").await;
    wait_for_verdict(&browser, "No problems found in 1 scalar").await;
    // Without tensors the page shows how to record them, and has no matrix.
    browser.wait_for_text("run.watch(…)").await;
    browser.wait_for_text("save_file(…)").await;
    assert_eq!(browser.count(MAP).await, 0);
    recording.scalar("train/loss", 100, f32::NAN);
    wait_for_verdict(&browser, "100").await;
    browser
        .wait_for_text("train/loss is NaN from step 100 on")
        .await;
    browser.close();
}

#[tokio::test]
async fn a_run_of_tensor_files_alone_shows_where_it_started() {
    let lab = Lab::new();
    let dump = Dump::unpack("torch-overflow");
    copy_folder(&dump.path.join("steps"), &lab.base().join("files/steps"));
    let server = lab.start();
    let browser = Browser::open().await;
    browser.goto(&server, "/run/files/overview").await;
    browser
        .wait_for_element(&format!("{MAP} [data-state=began]"))
        .await;
    browser
        .wait_for_element(&format!("{MAP} :is([data-kind=nan], [data-kind=inf])"))
        .await;
    // The first cause is the tensor of the card.
    browser
        .wait_for_element("[data-card='tensors'] [data-part=classes]")
        .await;
    let cause = browser
        .text_of(&format!("{MAP} tr[aria-current] th"))
        .await
        .unwrap();
    let card = browser
        .text_of("[data-card='tensors'] > [data-part=body]")
        .await
        .unwrap();
    assert!(card.contains(&cause), "{cause}: {card}");
    browser.close();
}

#[tokio::test]
async fn rules_say_what_is_odd_and_lead_to_the_node() {
    let lab = Lab::new();
    let folder = lab.path("sample-runs");
    copy_folder(
        &workspace_root().join("sample-runs/torch"),
        &folder.join("torch"),
    );
    let server = lab.start_on(&[&folder], &[]);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/torch/run1/overview").await;
    browser.wait_for_text("is cancelled by").await;
    // The whole list opens above the rest, and rules without data name the data to record.
    browser.click(CHECKS).await;
    browser
        .wait_for_element("li[data-rule='loss_activation'] code")
        .await;
    for rule in [
        "settings",
        "loss_activation",
        "broadcast",
        "unused_parameters",
        "useless_bias",
        "linear_layers",
        "shuffling",
    ] {
        let of_rule = format!("li[data-rule='{rule}']");
        assert_eq!(browser.count(&of_rule).await, 1, "{rule}");
        let says = browser.text_of(&format!("{of_rule} b")).await.unwrap();
        assert!(!says.contains("Other"), "{rule}: {says}");
    }
    assert_eq!(browser.count("[data-part=checks] li").await, 7);
    browser.click("li[data-rule='useless_bias'] a").await;
    browser.wait_for_text("Net/Conv2d[conv1]/input.1").await;
    assert!(browser.url().await.contains("/run/torch/run1/graph?node="));
    browser.close();
}

#[tokio::test]
async fn each_card_row_and_name_leads_to_the_page_that_says_more() {
    let lab = Lab::new();
    let folder = lab.path("sample-runs");
    copy_folder(&workspace_root().join("sample-runs"), &folder);
    let server = lab.start_on(&[&folder], &[]);
    let browser = Browser::open().await;
    let overview = "/run/mlp/overflow/overview";
    // Rows that appear while the run is judged would move a link away from under a click.
    wait_for("the run to be judged", || {
        let found = server.get("/api/findings?run=mlp/overflow").json();
        (found["state"] == "done").then_some(())
    });
    browser.goto(&server, overview).await;
    for (control, page, content) in [
        ("[data-card='scalars'] > a", "scalars", "section[data-tag]"),
        (
            "[data-card='histograms'] > a",
            "histograms",
            "section[data-tag]",
        ),
        ("[data-card='tensors'] > a", "tensors", "table"),
        ("[data-card='debugger'] > a", "debugger", HIT),
        (
            "[data-card='images'] > a",
            "images",
            "section[data-tag] img",
        ),
        ("[data-card='text'] > a", "text", "section[data-tag]"),
        ("[data-card='graphs'] > a", "graph", "canvas"),
        // A watchpoint of the card, the first cause, a tensor of the matrix, and rows of the guide.
        ("[data-card='debugger'] li a", "debugger?watchpoint=", HIT),
        ("[data-part=verdict] h1 a", "debugger?hit=", SELECTED_HIT),
        (
            "[data-part=map] tr[aria-current] th a",
            "debugger?hit=",
            SELECTED_HIT,
        ),
        ("li[data-topic='1'] > a", "debugger?hit=", SELECTED_HIT),
        ("li[data-topic='2'] > a", "debugger?hit=", SELECTED_HIT),
        (
            "li[data-topic='4'] > a",
            "scalars?",
            "section[data-tag='train/loss']",
        ),
        ("li[data-topic='5'] > a", "scalars?", "section[data-tag]"),
        (
            "[data-part=verdict] a[href$='/scalars']",
            "scalars",
            "section[data-tag]",
        ),
    ] {
        // A new judgement replaces a link that is being clicked; a click that is followed leaves no link behind.
        browser
            .wait_for(&format!("{control} to be followed"), async || {
                if browser.url().await.ends_with(overview) {
                    browser.try_click(control).await;
                }
                let here = format!("return location.href.includes('/run/mlp/overflow/{page}')");
                browser.run(&here).await.as_bool()?.then_some(())
            })
            .await;
        browser.wait_for_element(content).await;
        browser.run("history.back()").await;
        browser
            .wait_until("location.pathname.endsWith('/overview') && document.querySelector('[data-part=verdict] h1 a')")
            .await;
    }
    // All rules expand over the rest and collapse again.
    browser.click(CHECKS).await;
    browser
        .wait_until("document.querySelector('li[data-rule]')?.checkVisibility()")
        .await;
    browser.click(CHECKS).await;
    browser
        .wait_until("!document.querySelector('li[data-rule]').checkVisibility()")
        .await;
    browser.close();
}

#[tokio::test]
async fn of_a_long_curve_the_first_and_the_best_value_are_those_of_the_file() {
    let lab = Lab::new();
    let accuracy = |step: i64| if step == 2_340 { 0.99 } else { 0.5 };
    lab.record("run")
        .curve(
            "train/loss",
            0..5_000,
            |step| {
                if step == 0 { 100.0 } else { 1.0 }
            },
        )
        .curve("val/accuracy", 0..5_000, accuracy);
    let server = lab.start();
    server.wait_for_points("run", "val/accuracy", 5_000);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/overview").await;
    browser.wait_for_text("100.000 → 1.000").await;
    browser
        .wait_for_text("0.500 → 0.500; best 0.990 at step 2,340")
        .await;
    // The card shows all of it.
    let canvas = "[data-card='scalars'] canvas[role=img]";
    browser.wait_for_element(canvas).await;
    browser.close();
}

/// The state of its files is the first sentence about a run, and leaves no tick.
#[tokio::test]
async fn files_that_cannot_be_read_come_first() {
    let lab = Lab::new();
    let lfs = lab.base().join("pointers");
    fs::create_dir_all(&lfs).unwrap();
    for number in 1..=3 {
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n";
        fs::write(
            lfs.join(format!("events.out.tfevents.{number}.host.1.0")),
            pointer,
        )
        .unwrap();
    }
    let mut flipped = lab.record("flipped");
    flipped.curve("loss", 0..50, |step| 1.0 / (step as f32 + 1.0));
    flipped.bytes(&[0xa5; 3_000]);
    flipped.curve("loss", 50..80, |step| 1.0 / (step as f32 + 1.0));
    let hidden = lab.record("hidden").path().to_owned();
    fs::set_permissions(&hidden, Permissions::from_mode(0o000)).unwrap();
    let server = lab.start();
    let browser = Browser::open().await;
    for (run, sentences) in [
        (
            "pointers",
            ["3 files could not be read in full", "git lfs pull"],
        ),
        (
            "flipped",
            [
                "could not be read in full, byte ",
                "No problems found in 1 scalar",
            ],
        ),
        ("hidden", ["could not be read in full", "ermission denied"]),
    ] {
        browser.goto(&server, &format!("/run/{run}/overview")).await;
        for sentence in sentences {
            wait_for_verdict(&browser, sentence).await;
        }
        browser
            .wait_for_element("[data-part=verdict][data-damaged]")
            .await;
        let title = browser.run("return document.title").await;
        assert_eq!(title, format!("Overview · {run} · trainscope"));
    }
    browser.show("overview-damaged").await;
    // An unreadable file may hold everything: there is no advice to record more, and a card names the reason.
    let text = browser.text().await;
    assert!(!text.contains("run.watch"), "{text}");
    browser.wait_for_text("No record could be read.").await;
    let card = "[data-card=debugger] > [data-part=body]";
    browser
        .wait_for("the card of the debugger", async || {
            let card = browser.text_of(card).await?;
            card.contains("ermission denied").then_some(())
        })
        .await;
    // The sentence leads to the files.
    browser.click("[data-part=verdict] h1 a").await;
    browser
        .wait_for("the files of the run", async || {
            let files = browser.text_of("[data-part=panel]").await?;
            files.contains("events.out.tfevents").then_some(())
        })
        .await;
    browser.close();
}
