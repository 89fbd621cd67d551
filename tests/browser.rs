//! The pages in a real browser: open, see data, act, see change.

use crate::support::{Browser, Lab};

#[tokio::test]
async fn an_empty_folder_shows_how_to_record() {
    let lab = Lab::new();
    let server = lab.start();
    let browser = Browser::open().await;
    browser.goto(&server, "/").await;
    browser.wait_for_text("SummaryWriter").await;
    browser.close().await;
}

#[tokio::test]
async fn runs_are_listed() {
    let lab = Lab::new();
    let server = lab.start_on(
        &[&crate::support::lab::workspace_root().join("sample-runs")],
        &[],
    );
    let browser = Browser::open().await;
    browser.goto(&server, "/").await;
    browser.wait_for_text("fp16").await;
    browser
        .screenshot(std::path::Path::new("/tmp/runs.png"))
        .await;
    browser
        .goto(&server, "/scalars?run=transformer-small%2Ffp16")
        .await;
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    browser
        .screenshot(std::path::Path::new("/tmp/scalars.png"))
        .await;
    println!("{}", browser.url().await);
    println!(
        "{}",
        browser
            .run("return document.body.outerHTML")
            .await
            .as_str()
            .unwrap()
    );
    browser.close().await;
}
