//! The page of a graph in a real browser: scopes open, nodes are found, ways are drawn, the picture is moved.

use trainscope_format::graph::Graph;

use crate::graphs::{node, record};
use crate::support::lab::{copy_folder, workspace_root};
use crate::support::{Browser, Lab};

const CANVAS: &str = ".graph-page canvas[role=img]";

fn item(path: &str) -> String {
    format!("[role=treeitem] button.name[title={path:?}]")
}

#[tokio::test]
async fn scopes_open_nodes_are_found_and_ways_are_drawn() {
    let lab = Lab::new();
    copy_folder(
        &workspace_root().join("sample-runs/mlp"),
        &lab.base().join("mlp"),
    );
    let server = lab.start();
    let browser = Browser::open().await;
    browser.goto(&server, "/run/mlp/vanishing/overview").await;
    // The rail leads here, since there is a graph.
    browser
        .click("nav.rail a[href='/run/mlp/vanishing/graph']")
        .await;
    browser.wait_for_element(&item("loss")).await;
    browser.wait_for_text("62 nodes").await;
    let closed = browser.settled_picture(CANVAS).await;

    // A fold opens in place, and the address says so.
    let fold = "[role=treeitem][aria-expanded=false] .chevron";
    browser.click(fold).await;
    browser
        .wait_for_element("[role=treeitem][aria-expanded=true]")
        .await;
    browser.wait_for_other_picture(CANVAS, closed).await;
    assert!(
        browser.url().await.contains("open="),
        "{}",
        browser.url().await
    );

    // What lies in closed scopes is found, and shown where it is.
    browser
        .fill(".graph-page input[type=search]", "fc5/act")
        .await;
    browser.click("button.found[title$='fc5/activation']").await;
    browser.wait_for_text("Sigmoid").await;
    browser
        .wait_for("the node in the address", async || {
            browser.url().await.contains("node=").then_some(())
        })
        .await;
    browser.fill(".graph-page input[type=search]", " ").await;
    browser
        .wait_for_element("[role=treeitem][aria-selected=true]")
        .await;
    let chosen = browser
        .attribute("[role=treeitem][aria-selected=true] button.name", "title")
        .await;
    assert!(chosen.ends_with("fc5/activation"), "{chosen}");

    // From there to the loss. Keys are for the picture while nobody types.
    browser.click(&item(&chosen)).await;
    browser.press('p').await;
    browser.wait_for_text("choose where it ends").await;
    browser.click(&item("loss")).await;
    let before = browser.settled_picture(CANVAS).await;
    browser.press('p').await;
    browser.wait_for_text("→ loss:").await;
    browser.wait_for_other_picture(CANVAS, before).await;

    // The same view opens again.
    browser.reload().await;
    browser.wait_for_text("→ loss:").await;
    browser
        .wait_for_element("[role=treeitem][aria-selected=true]")
        .await;
    browser.show("graph").await;

    // The picture is dragged, zoomed, and fitted again.
    let before = browser.settled_picture(CANVAS).await;
    browser.drag_over(CANVAS, 0.6, 0.3).await;
    let dragged = browser.wait_for_other_picture(CANVAS, before).await;
    browser.wheel(CANVAS, (0.0, 300.0), false).await;
    let zoomed = browser.wait_for_other_picture(CANVAS, dragged).await;
    browser.press('f').await;
    browser.wait_for_other_picture(CANVAS, zoomed).await;
    browser
        .wait_for("the view in the address", async || {
            browser.url().await.contains("at=").then_some(())
        })
        .await;
    browser.close().await;
}

#[tokio::test]
async fn names_are_text_and_what_is_odd_is_said() {
    let lab = Lab::new();
    let markup = "<img src=x onerror=alert(1)>/<b>bold";
    let nodes = vec![
        node("a", "A", &[1]),
        node("b", "B", &[0]),
        node(markup, "<i>", &[1]),
    ];
    record(
        &lab.base().join("odd"),
        &Graph {
            nodes: nodes.clone(),
            ..Graph::default()
        },
    );
    let mut more = nodes;
    more.push(node("new", "New", &[0]));
    record(
        &lab.base().join("other"),
        &Graph {
            nodes: more,
            ..Graph::default()
        },
    );
    record(&lab.base().join("empty"), &Graph::default());
    let server = lab.start();
    let browser = Browser::open().await;
    browser.goto(&server, "/run/odd/graph").await;
    browser.wait_for_text("<img src=x onerror=alert(1)>").await;
    browser
        .click("[role=treeitem][aria-expanded=false] .chevron")
        .await;
    browser.wait_for_text("<b>bold").await;
    browser.wait_for_text("The graph is odd:").await;
    assert_eq!(browser.count(".graph-page img").await, 0);
    browser.click(&item("a")).await;
    browser.wait_for_text("Used by").await;
    browser.goto(&server, "/run/empty/graph").await;
    browser.wait_for_text("This graph has no nodes").await;
    // What another graph does not have is told.
    browser.goto(&server, "/run/other/graph?base=odd").await;
    browser.wait_for_text("1 added, 0 removed").await;
    browser.close().await;
}
