//! The pages of profiles: from the sentence to the slices, and the views of a cluster.

use crate::support::lab::{copy_folder, workspace_root};
use crate::support::{Browser, Lab, Server};

fn serve(lab: &Lab) -> Server {
    let sample = workspace_root().join("sample-runs/torch/eight-ranks");
    copy_folder(&sample, &lab.base().join("ranks"));
    let server = lab.start();
    server.wait_for_records(8);
    server
}

#[tokio::test]
async fn the_sentence_leads_to_the_slices_in_two_clicks() {
    let lab = Lab::new();
    let server = serve(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/ranks/profile").await;
    browser
        .wait_for_text("A step takes 4.34 ms; for 1.08 ms of it (25 %) the GPU waits.")
        .await;
    browser.show("profile").await;
    // The advice frames its slices at the step with the clearest evidence.
    browser.click("[data-advice=data_bound] a").await;
    browser.wait_for_text("in view").await;
    assert!(browser.url().await.contains("/run/ranks/timeline?"));
    browser.press('n').await;
    browser.wait_for_text("enumerate(DataLoader)").await;
    // Everything in view: every slice of the session is counted.
    browser.goto(&server, "/run/ranks/timeline").await;
    browser.wait_for_text("4,121 slices").await;
    browser.show("timeline").await;
    browser.close().await;
}

#[tokio::test]
async fn steps_operators_memory_ranks_and_differences_have_views() {
    let lab = Lab::new();
    let server = serve(&lab);
    let browser = Browser::open().await;
    for (view, text) in [
        ("steps", "35 of 40 steps take 3.63 ms"),
        ("operators", "aten::_local_scalar_dense takes the most time"),
        ("memory", "Memory peaks at 2.2 GB"),
        ("cluster", "Rank 5 computes 23 % slower than the others"),
        ("cluster", "ranks 1 and 5, the slower one, at step 18"),
        ("compare", "as long as the baseline"),
    ] {
        let path = format!("/run/ranks/profile?view={view}");
        browser.goto(&server, &path).await;
        browser.wait_for_text(text).await;
    }
    // Each allocation by itself, a column less, and the same step on another page.
    let path = "/run/ranks/profile?view=memory&group=allocation";
    browser.goto(&server, path).await;
    browser.wait_for_text("By allocation").await;
    browser
        .wait_for_text("aten::_flash_attention_forward")
        .await;
    let path = "/run/ranks/profile?view=operators&hide=p99,mean";
    browser.goto(&server, path).await;
    browser.wait_for_text("takes the most time").await;
    let heads = browser.text_of("[role=table] [role=row]").await;
    let heads = heads.unwrap_or_default();
    assert!(!heads.is_empty() && !heads.contains("p99"), "{heads:?}");
    browser.goto(&server, "/run/ranks/profile?view=steps").await;
    browser.click("[data-part=step] a[href*=debugger]").await;
    browser.wait_for_text("Debugger").await;
    assert!(browser.url().await.contains("/run/ranks/debugger?step="));
    browser.close().await;
}
