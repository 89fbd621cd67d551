//! The page of a graph in a real browser: opening scopes, search, paths, drag and zoom, comparison and download.

use serde_json::json;
use trainscope_format::encode::Moment;
use trainscope_format::graph::Graph;
use trainscope_format::profile::Span;
use trainscope_format::{Profile, RecordWriter};

use crate::formats::graphs::{node, record};
use crate::support::lab::{STARTED_SECS, copy_folder, workspace_root};
use crate::support::{Browser, Lab};

const CANVAS: &str = "main canvas[role=img]";
const SEARCH: &str = "main input[type=search]";

fn item(path: &str) -> String {
    format!("[role=treeitem] button[title={path:?}]")
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
    // The navigation has an entry, since there is a graph.
    browser
        .click("nav a[href='/run/mlp/vanishing/graph']")
        .await;
    browser.wait_for_element(&item("loss")).await;
    browser.wait_for_text("62 nodes").await;
    let closed = browser.settled_picture(CANVAS).await;

    // A fold opens in place, and is part of the address.
    let fold = "[role=treeitem][aria-expanded=false] button[aria-label^=Open]";
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

    // Nodes in closed scopes are found, highlighted, selected by keys, and revealed.
    browser.fill(SEARCH, "fc5/act").await;
    browser
        .wait_for_element("[role=option][title$='fc5/activation'][aria-selected=true] bdi mark")
        .await;
    browser
        .run(&format!("document.querySelector('{SEARCH}').focus()"))
        .await;
    browser.press('\u{e007}').await;
    browser.wait_for_text("Sigmoid").await;
    browser
        .wait_for("the node in the address", async || {
            browser.url().await.contains("node=").then_some(())
        })
        .await;
    browser.fill(SEARCH, " ").await;
    browser
        .wait_for_element("[role=treeitem][aria-selected=true]")
        .await;
    let chosen = browser
        .attribute("[role=treeitem][aria-selected=true] button[title]", "title")
        .await;
    assert!(chosen.ends_with("fc5/activation"), "{chosen}");

    // From there to the loss. Keys control the graph while no input has the focus.
    browser.click(&item(&chosen)).await;
    browser.press('p').await;
    browser.wait_for_text("Click the end node").await;
    let before = browser.settled_picture(CANVAS).await;
    // One click ends the path.
    browser.click(&item("loss")).await;
    browser.wait_for_text("→ loss:").await;
    browser.wait_for_other_picture(CANVAS, before).await;

    // The same view opens again.
    browser.reload().await;
    browser.wait_for_text("→ loss:").await;
    browser
        .wait_for_element("[role=treeitem][aria-selected=true]")
        .await;
    browser.show("graph").await;

    // The graph is dragged, zoomed, and fitted again.
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
    browser.close();
}

#[tokio::test]
async fn the_tree_of_a_wide_scope_has_every_row_and_makes_those_in_view() {
    const WIDE: u32 = 900;
    let lab = Lab::new();
    let names = (0..WIDE).map(|number| format!("wide/update{number}"));
    let mut nodes = vec![node("first", "Input", &[])];
    nodes.extend(
        (0..)
            .zip(names)
            .map(|(before, name)| node(&name, "Adam", &[before])),
    );
    record(
        &lab.base().join("wide"),
        &Graph {
            nodes,
            ..Graph::default()
        },
    );
    let server = lab.start();
    let browser = Browser::open().await;
    browser.goto(&server, "/run/wide/graph").await;
    let scope = "[role=treeitem]:has(button[title=wide])";
    browser.wait_for_element(scope).await;
    browser
        .run(&format!(
            "document.querySelector({:?}).focus()",
            format!("{scope} button[aria-label]")
        ))
        .await;
    assert_eq!(browser.attribute(scope, "aria-expanded").await, "false");
    browser.press('\u{e007}').await;
    browser
        .wait_for_element(&format!("{scope}[aria-expanded=true]"))
        .await;
    browser.wait_for_element(&item("wide/update3")).await;
    // The focus stays on its element.
    let focus = browser
        .run("return document.activeElement.closest('[role=treeitem]')?.querySelector('[title]').title")
        .await;
    assert_eq!(focus, json!("wide"));

    let rows = browser
        .run(
            "const tree = document.querySelector('main [role=tree]');
             return [tree.querySelectorAll('[role=treeitem]').length, tree.scrollHeight];",
        )
        .await;
    assert!(rows[0].as_u64().is_some_and(|rows| rows < 100), "{rows}");
    assert!(
        rows[1]
            .as_u64()
            .is_some_and(|height| height >= 24 * u64::from(WIDE)),
        "{rows}"
    );
    let last = item(&format!("wide/update{}", WIDE - 1));
    assert_eq!(browser.count(&last).await, 0);
    browser
        .run("const tree = document.querySelector('main [role=tree]'); tree.scrollTop = tree.scrollHeight;")
        .await;
    browser.wait_for_element(&last).await;

    // A search result is scrolled into view.
    browser.fill(SEARCH, "update450").await;
    browser.click("[role=option][title='wide/update450']").await;
    browser.fill(SEARCH, " ").await;
    browser
        .wait_for_element("[role=treeitem][aria-selected=true] button[title='wide/update450']")
        .await;
    browser.close();
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
        .click("[role=treeitem][aria-expanded=false] button[aria-label^=Open]")
        .await;
    browser.wait_for_text("<b>bold").await;
    browser.wait_for_text("Notes:").await;
    assert_eq!(browser.count("main img").await, 0);
    browser.click(&item("a")).await;
    browser.wait_for_text("Used by").await;
    browser.goto(&server, "/run/empty/graph").await;
    browser.wait_for_text("This graph has no nodes").await;
    // A missing counterpart is reported.
    browser.goto(&server, "/run/other/graph?base=odd").await;
    browser
        .wait_for_text("1 only in the first, 0 only in the second")
        .await;
    browser.close();
}

#[tokio::test]
async fn two_graphs_stand_side_by_side_and_what_differs_is_clicked_through() {
    const OTHER: &str = "[data-part=other-graph] canvas[role=img]";
    let lab = Lab::new();
    lab.copy_fixture("torch-onnx", "onnx");
    let server = lab.start();
    let browser = Browser::open().await;
    browser.goto(&server, "/run/onnx/graph").await;
    browser.wait_for_text("cnn.dynamo").await;
    // The comparison also works in a narrow window.
    browser.widen(800).await;
    browser
        .wait_until(
            "innerWidth <= 800
             && document.querySelector('select[aria-label^=Compare]')?.offsetWidth > 60",
        )
        .await;
    browser.widen(1280).await;
    browser
        .set("select[aria-label^=Compare]", "cnn.torchscript")
        .await;
    browser
        .wait_for_text(
            "2 only in the first, 1 only in the second, 9 changed, 3 renamed, 2 identical",
        )
        .await;
    let before = browser.settled_picture(OTHER).await;

    // Differences are shown in both graphs, and listed.
    let differing = "section[aria-label^=Compare] button";
    browser.click_text(differing, "node_linear").await;
    browser.wait_for_text("Compared with the other graph").await;
    browser.wait_for_text("≠ Flatten, fc.weight, fc.bias").await;
    let there = browser.wait_for_other_picture(OTHER, before).await;
    // A node of the other graph alone is shown there only.
    browser.click_text(differing, "Flatten Flatten").await;
    browser
        .wait_for_text("Flatten: only in the other graph")
        .await;
    browser.wait_for_other_picture(OTHER, there).await;
    assert!(browser.url().await.contains("base_node="));
    browser.reload().await;
    browser
        .wait_for_text("Flatten: only in the other graph")
        .await;

    // The download has lines and text only, and an image of them.
    browser
        .run(
            "window.saved = []; const make = URL.createObjectURL;
             URL.createObjectURL = blob => { window.saved.push(blob); return make.call(URL, blob); };",
        )
        .await;
    browser.click("main button[aria-label*=SVG]").await;
    browser
        .run(
            "window.saved[0].text().then(text => {
               const tree = new DOMParser().parseFromString(text, 'image/svg+xml');
               const image = new Image();
               const told = (loads) => window.told = {
                 loads, root: tree.documentElement.nodeName,
                 others: [...tree.querySelectorAll('*')].map(own => own.nodeName)
                   .filter(name => !['svg', 'g', 'rect', 'path', 'text'].includes(name)).length,
                 texts: [...tree.querySelectorAll('text')].map(own => own.textContent).join(' '),
               };
               image.onload = () => told(image.naturalWidth > 100);
               image.onerror = () => told(false);
               image.src = URL.createObjectURL(new Blob([text], {type: 'image/svg+xml'}));
             });",
        )
        .await;
    let told = browser
        .wait_for("the picture", async || {
            let told = browser.run("return window.told").await;
            (!told.is_null()).then_some(told)
        })
        .await;
    assert_eq!(
        (&told["loads"], &told["root"], &told["others"]),
        (&json!(true), &json!("svg"), &json!(0)),
        "{told}"
    );
    assert!(
        told["texts"].as_str().unwrap().contains("node_max_pool2d"),
        "{told}"
    );

    browser
        .click("[data-part=other-graph] button[aria-label=Close]")
        .await;
    browser.wait_for_count(OTHER, 0).await;
    browser.close();
}

#[tokio::test]
async fn three_graphs_stand_side_by_side_and_any_two_are_compared() {
    let lab = Lab::new();
    lab.copy_fixture("torch-onnx", "onnx");
    let server = lab.start();
    let browser = Browser::open().await;
    // The address of a run without a page is its overview.
    browser.goto(&server, "/run/onnx").await;
    browser
        .wait_for_element("nav a[href='/run/onnx/graph']")
        .await;
    browser
        .goto(
            &server,
            "/run/onnx/graph?base=onnx&base_graph=cnn.torchscript",
        )
        .await;
    browser
        .wait_for_text("2 only in the first, 1 only in the second")
        .await;
    for name in ["transformer.dynamo", "transformer.torchscript"] {
        browser
            .set("select[aria-label^='Compare with']", name)
            .await;
    }
    browser
        .wait_for_count("[data-part=other-graph] canvas[role=img]", 3)
        .await;
    // There is no room for more.
    assert_eq!(browser.count("select[aria-label^='Compare with']").await, 0);

    // The last two are compared, with the differences in both.
    browser
        .set(
            "select[aria-label='Compared graphs']",
            "transformer.dynamo ↔ transformer.torchscript",
        )
        .await;
    browser
        .wait_for("the pair", async || {
            browser.url().await.contains("pair=2-3").then_some(())
        })
        .await;
    browser
        .wait_for("other differences", async || {
            let script =
                "return document.querySelector('section[aria-label^=Compare]')?.textContent ?? ''";
            let told = browser.run(script).await;
            let told = told.as_str().unwrap_or_default().to_owned();
            (told.contains("only in the first") && !told.contains("2 only in the first, 1 only"))
                .then_some(())
        })
        .await;
    let second = "[data-part=other-graph] ~ [data-part=other-graph]";
    let canvas = format!("{second} canvas[role=img]");
    let before = browser.settled_picture(&canvas).await;
    browser.click("section[aria-label^=Compare] button").await;
    browser.wait_for_text("Compared with the other graph").await;
    browser.wait_for_other_picture(&canvas, before).await;
    // Removing one makes room, and the first two are compared again.
    browser
        .click(&format!(
            "{second} ~ [data-part=other-graph] button[aria-label=Close]"
        ))
        .await;
    browser
        .wait_for_text("2 only in the first, 1 only in the second")
        .await;
    browser.close();
}

#[tokio::test]
async fn nodes_are_coloured_by_the_time_of_their_spans() {
    let lab = Lab::new();
    let folder = lab.base().join("timed");
    record(
        &folder,
        &Graph {
            nodes: vec![
                node("input", "Input", &[]),
                node("net/matmul", "MatMul", &[0]),
                node("net/relu", "Relu", &[1]),
                node("loss", "Loss", &[2]),
            ],
            ..Graph::default()
        },
    );
    let file = folder.join("events.out.tfevents.1760000001.host.1.1");
    let file = std::fs::File::create(file).unwrap();
    let mut writer = RecordWriter::new(file, STARTED_SECS).unwrap();
    let span = |name: u32, step: i64, millis: u64| Span {
        name,
        lane: 0,
        step,
        start_nanos: step * 100_000_000,
        duration_nanos: millis * 1_000_000,
    };
    let profile = Profile {
        names: ["net/matmul", "net/relu", "loss", "elsewhere"]
            .map(str::to_owned)
            .to_vec(),
        lanes: vec!["main".to_owned()],
        spans: (0..10)
            .flat_map(|step| {
                [
                    span(0, step, 6),
                    span(1, step, 2),
                    span(2, step, 1),
                    span(3, step, 90),
                ]
            })
            .collect(),
        ..Profile::default()
    };
    let at = Moment {
        step: 0,
        wall_time_secs: STARTED_SECS,
    };
    writer.profile("profile", at, &profile).unwrap();
    writer.flush().unwrap();
    let server = lab.start();
    let browser = Browser::open().await;
    browser.goto(&server, "/run/timed/graph").await;
    browser.wait_for_element(&item("loss")).await;
    let scene = server.get("/api/graph/scene?run=timed&open=net").json();
    let of = |path: &str| {
        let mut boxes = scene["boxes"].as_array().unwrap().iter();
        boxes.find(|shown| shown["path"] == path).unwrap()["mean_nanos"].clone()
    };
    assert_eq!(of("net"), 8_000_000);
    assert_eq!(of("net/relu"), 2_000_000);
    assert_eq!(of("input"), json!(null));
    // Times are recorded, so colouring by time is offered; the panel lists them.
    let before = browser.settled_picture(CANVAS).await;
    browser
        .click_text("[aria-label=Colour] button", "Time")
        .await;
    browser.wait_for_other_picture(CANVAS, before).await;
    browser.wait_for_text("mean time per step").await;
    browser.click(&item("loss")).await;
    browser.wait_for_text("1 ms").await;
    browser.close();
}
