//! The debugger and the list of runs in a real browser: from a run to the cause in two clicks, and what people note.

use crate::support::lab::{copy_folder, workspace_root};
use crate::support::{Browser, Lab};

/// A server over copies of the sample runs, which pages may note something about.
fn samples(lab: &Lab) -> crate::support::Server {
    let folder = lab.path("sample-runs");
    copy_folder(&workspace_root().join("sample-runs/mlp"), &folder);
    lab.start_on(&[&folder], &[])
}

#[tokio::test]
async fn from_the_list_to_the_cause() {
    let lab = Lab::new();
    let server = samples(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/").await;
    // The health of the run leads to its debugger, where the first cause is looked at.
    browser.click("a.sev[href='/run/overflow/debugger']").await;
    browser.wait_for_text("First cause").await;
    browser
        .wait_for_element("tr.hit-row[aria-selected=true]")
        .await;
    let rows = "tr.hit-row";
    let all = browser.count(rows).await;
    assert!(all > 10, "{all}");

    // The hits of one watchpoint; the address says which, and back leaves all again.
    browser.click(".watchpoints button.w.found").await;
    browser
        .wait_for("fewer hits", async || {
            (browser.count(rows).await < all).then_some(())
        })
        .await;
    assert!(browser.url().await.contains("watchpoint="));
    browser.run("history.back()").await;
    browser
        .wait_for("all hits", async || {
            (browser.count(rows).await == all).then_some(())
        })
        .await;

    // From hit to hit by keyboard, to a tensor and what is known of its elements.
    browser.fill(".hits-bar input", "fc1.weight").await;
    browser
        .wait_for("the tensors of that name", async || {
            let hits = browser.count(rows).await;
            (hits > 0 && hits < all).then_some(())
        })
        .await;
    browser.click("tr.hit-row .plain").await;
    browser
        .wait_for_element(".class-bar i.cls-nan:not([hidden])")
        .await;
    browser.wait_for_element(".figures").await;
    assert!(browser.url().await.contains("hit="));
    browser.show("debugger").await;
    browser.close().await;
}

#[tokio::test]
async fn a_healthy_run_says_so() {
    let lab = Lab::new();
    let server = samples(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/healthy/debugger").await;
    browser.wait_for_text("Nothing is wrong").await;
    browser.wait_for_text("No watchpoint was hit").await;
    browser.close().await;
}

#[tokio::test]
async fn runs_are_found_by_what_is_wrong_and_by_what_was_noted() {
    let lab = Lab::new();
    let server = samples(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/").await;
    browser
        .wait_for_element("a.sev[href='/run/overflow/debugger']")
        .await;
    let rows = async || browser.count("td.c-name a").await;
    let all = rows().await;
    browser.click("button[title='Runs with errors']").await;
    browser
        .wait_for("runs with errors alone", async || {
            let shown = rows().await;
            (shown > 0 && shown < all).then_some(())
        })
        .await;
    browser.click("button[title='Runs with errors']").await;

    // A note is kept by the server, found by the filter, and there after a reload.
    browser.goto(&server, "/?panel=files:healthy").await;
    browser
        .fill("textarea[name=note]", "what others are compared with")
        .await;
    browser.click("input[name=tags]").await;
    browser
        .wait_for("the note to be kept", async || {
            let book = server.get(trainscope_api::paths::NOTEBOOK).json();
            (book["runs"]["healthy"]["note"] == "what others are compared with").then_some(())
        })
        .await;
    browser.goto(&server, "/?q=note:compared").await;
    browser
        .wait_for("the run alone", async || (rows().await == 1).then_some(()))
        .await;
    browser.show("runs-noted").await;
    browser.close().await;
}
