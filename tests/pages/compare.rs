//! The page of comparisons: from a run that went wrong to the setting that differs from its healthy neighbour.

use crate::support::lab::{copy_folder, workspace_root};
use crate::support::terminal::Dump;
use crate::support::{Browser, Lab, Server, wait_for};

/// A row of the table of settings that differs.
const DIFFERING: &str = "[data-part=setting-rows] [data-differs=true]";

fn serve(lab: &Lab, runs: u64) -> Server {
    let server = lab.start();
    wait_for("the runs to be read", || {
        let status = server.status();
        (status.ingest.idle && status.runs >= runs).then_some(())
    });
    server
}

#[tokio::test]
async fn three_presses_lead_from_a_run_to_the_setting_that_differs() {
    let lab = Lab::new();
    for run in ["healthy", "hp-adam", "hp-batch16"] {
        lab.copy_fixture(&format!("ms210-summary/{run}"), run);
    }
    let server = serve(&lab, 3);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/hp-adam/overview").await;
    browser
        .click("[data-part=verdict] [data-part=compare]")
        .await;
    browser.wait_for_element("[data-part=choices] button").await;
    // The nearest by configuration is the first.
    browser
        .click("[data-part=choices] li:first-child button")
        .await;
    browser.wait_for_element("[data-part=sentence]").await;
    let settings = "[...document.querySelectorAll('[data-part=setting-rows] [data-differs=true]')].map(row => row.dataset.key)";
    browser
        .wait_until(&format!("{settings}.includes('learning_rate')"))
        .await;
    assert!(browser.url().await.contains("runs=hp-adam,healthy"));
    let sentence = browser.text_of("[data-part=sentence] h1").await.unwrap();
    assert!(sentence.starts_with("They diverge at step 2"), "{sentence}");
    // Another tolerance, and the swap of both runs.
    browser.set("[data-part=tolerance]", "10").await;
    browser.wait_for_text("within the tolerance").await;
    browser.press('s').await;
    browser
        .wait_until("location.search.includes('runs=healthy,hp-adam')")
        .await;
    browser.close();
}

#[tokio::test]
async fn a_run_that_overflows_parts_from_its_healthy_neighbour_at_the_first_step() {
    let lab = Lab::new();
    let folder = lab.path("sample-runs");
    copy_folder(&workspace_root().join("sample-runs"), &folder);
    let server = lab.start_on(&[&folder], &[]);
    wait_for("the runs to be read", || {
        server.status().ingest.idle.then_some(())
    });
    let browser = Browser::open().await;
    browser
        .goto(&server, "/compare?runs=mlp/healthy,mlp/overflow")
        .await;
    browser
        .wait_for_text("The first step beyond that noise is 40")
        .await;
    browser.wait_for_text("2 nodes differ").await;
    browser.settled_picture("[data-part=map] canvas").await;
    browser.show("compare").await;

    // The side card has the values of a scalar and the statistics of a tensor without elements.
    let card = |text: &str| {
        format!(
            "document.querySelector('[data-part=statistics] table')?.textContent.includes('{text}')"
        )
    };
    let tensors = "/compare?runs=mlp/healthy,mlp/overflow&tab=tensors";
    browser.goto(&server, tensors).await;
    browser.wait_until(&card("3,000")).await;
    browser
        .goto(&server, &format!("{tensors}&tensor=fc1.bias&step=0"))
        .await;
    browser.wait_until(&card("L2 norm")).await;
    browser.close();
}

#[tokio::test]
async fn the_map_chooses_a_tensor_and_every_tab_has_its_part() {
    let lab = Lab::new();
    for name in ["torch-healthy", "torch-unchanged"] {
        copy_folder(&Dump::unpack(name).path, &lab.base().join(name));
    }
    let server = serve(&lab, 2);
    let browser = Browser::open().await;
    browser
        .goto(&server, "/compare?runs=torch-healthy,torch-unchanged")
        .await;
    browser.wait_for_text("weight/8.bias").await;
    browser.wait_for_element("[data-part=map] canvas").await;
    browser.press(']').await;
    browser
        .wait_until("location.search.includes('tensor=')")
        .await;
    let tabs = [
        ("tensors", "[data-part=statistics] td"),
        ("scalars", "[data-part=scalars] td"),
        (
            "findings",
            "[data-part=findings] td, [data-part=findings] p",
        ),
        ("graph", "[data-part=graph]"),
        ("data", "[data-part=pipeline]"),
        ("configuration", "[data-part=all-settings]"),
    ];
    for (tab, part) in tabs {
        browser
            .goto(
                &server,
                &format!("/compare?runs=torch-healthy,torch-unchanged&tab={tab}"),
            )
            .await;
        browser.wait_for_element(part).await;
    }
    browser
        .goto(
            &server,
            "/compare?runs=torch-healthy,torch-unchanged&lang=zh",
        )
        .await;
    browser.wait_for_text("首次出现差异").await;
    browser.close();
}

#[tokio::test]
async fn names_are_text_and_too_many_runs_are_said() {
    let lab = Lab::new();
    let mut runs = Vec::new();
    for at in 0..9 {
        let run = format!("<b>run{at}");
        lab.record(&run).scalar("<script>alert(1)</script>", 0, 1.0);
        runs.push(run.replace('<', "%3C").replace('>', "%3E"));
    }
    let server = serve(&lab, 9);
    let browser = Browser::open().await;
    browser
        .goto(&server, &format!("/compare?runs={}", runs.join(",")))
        .await;
    browser.wait_for_text("the first 8 are shown").await;
    browser.wait_for_text("equal to the bit").await;
    assert_eq!(browser.count("[data-part=runs] [data-part=run]").await, 8);
    assert_eq!(browser.count(DIFFERING).await, 0);
    assert_eq!(browser.count("main b > b, main script").await, 0);
    browser.close();
}
