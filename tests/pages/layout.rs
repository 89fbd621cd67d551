//! Positions of the parts of a page, in a real browser: nothing moves while it loads, and names stay readable.

use crate::support::lab::{copy_folder, workspace_root};
use crate::support::{Browser, Lab, wait_for};

/// Maximum sum of shifts of a page that loads: half of the value that Chromium's metric calls good.
const MAX_SHIFT: f64 = 0.05;

/// Share of the window that moved since the page was opened, times how far: Chromium's cumulative layout shift.
async fn shift(browser: &Browser) -> f64 {
    let script = "return new Promise(answer => {
        let sum = 0;
        new PerformanceObserver(list => {
            for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
        }).observe({type: 'layout-shift', buffered: true});
        // Entries of the last frame come after it.
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => answer(sum))));
    })";
    browser.run(script).await.as_f64().unwrap()
}

#[tokio::test]
async fn nothing_moves_while_a_page_loads() {
    let lab = Lab::new();
    let folder = lab.path("sample-runs");
    copy_folder(&workspace_root().join("sample-runs"), &folder);
    let server = lab.start_on(&[&folder], &[]);
    for run in [
        "mlp/overflow",
        "mindspore/overflow",
        "transformer-small/bf16",
    ] {
        wait_for("the run to be judged", || {
            let found = server.get(&format!("/api/findings?run={run}")).json();
            (found["state"] == "done").then_some(())
        });
    }
    let browser = Browser::open().await;
    for (width, page, last) in [
        (1280, "mlp/overflow/overview", "[data-card=graphs] dt"),
        (1280, "mindspore/overflow/overview", "[data-card=graphs] dt"),
        (
            1280,
            "transformer-small/bf16/overview",
            "[data-card=scalars] canvas",
        ),
        (390, "mlp/overflow/overview", "[data-card=graphs] dt"),
        (390, "mlp/overflow/scalars", "[role=tree] [role=treeitem]"),
        (
            390,
            "mlp/overflow/histograms",
            "[role=tree] [role=treeitem]",
        ),
    ] {
        browser.widen(width).await;
        browser.goto(&server, &format!("/run/{page}")).await;
        browser.wait_for_element(last).await;
        let shift = shift(&browser).await;
        assert!(shift < MAX_SHIFT, "{page} at {width}: {shift}");
    }
    browser.close();
}

#[tokio::test]
async fn names_stay_readable_beside_many_runs() {
    let lab = Lab::new();
    let folder = lab.path("sample-runs");
    copy_folder(
        &workspace_root().join("sample-runs/mlp"),
        &folder.join("mlp"),
    );
    let server = lab.start_on(&[&folder], &[]);
    let browser = Browser::open().await;
    let names = [
        "overflow",
        "dead-relu",
        "diverging",
        "frozen",
        "healthy",
        "restarted",
        "torn",
        "vanishing",
    ];
    let runs = names.map(|name| format!("mlp/{name}")).join(",");
    let address = format!("/run/mlp/overflow/scalars?runs={runs}");
    browser.goto(&server, &address).await;
    // The last values of all cards in view are there, those of two ranks with the name of their run.
    browser.wait_for_text("diverging r0").await;
    browser
        .wait_until(
            "[...document.querySelectorAll('section[data-tag]')].every(card => /\\+\\d/.test(card.innerText))",
        )
        .await;
    let cut = "return [...document.querySelectorAll('section[data-tag] h2')]
        .filter(title => title.scrollWidth > title.clientWidth).map(title => title.innerText)";
    let cut = browser.run(cut).await;
    assert_eq!(cut.as_array().map(Vec::len), Some(0), "{cut}");
    // On a telephone the tags scroll in their box.
    browser.widen(390).await;
    browser
        .wait_until(
            "(() => {
                const [side, tree, tools] = ['aside', '[role=tree]', '[role=toolbar]']
                    .map(one => document.querySelector(one)?.getBoundingClientRect());
                return side && tree && tools && tree.height >= 72 && side.bottom <= tools.top + 1;
            })()",
        )
        .await;
    browser.close();
}
