//! Every page by the rules of axe, in a real browser: names, roles, headings, contrast.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::lab::{copy_folder, workspace_root};
use crate::support::{Browser, Lab, wait_for};

/// The environment variable that names the Python environment with the script.
const AXE: &str = "TRAINSCOPE_AXE";

/// Each page, and a selector of its content when it is complete.
const PAGES: [(&str, &str); 20] = [
    ("/?q=mlp", "a[href$='/run/mlp/overflow/overview']"),
    (
        "/run/program/log-of-zero/overview",
        "[data-part=program] dt",
    ),
    ("/lineage", "canvas"),
    ("/compare?runs=mlp/healthy,mlp/overflow", "table"),
    ("/run/mlp/overflow/overview", "[data-card=graphs] dt"),
    ("/run/mlp/overflow/scalars", "[role=tree] [role=treeitem]"),
    (
        "/run/mlp/overflow/histograms",
        "[role=tree] [role=treeitem]",
    ),
    ("/run/mlp/overflow/images", "section[data-tag] img"),
    ("/run/mlp/overflow/text", "section[data-tag] p"),
    ("/run/torch/run1/pr_curves", "section[data-tag] canvas"),
    ("/run/torch/run1/graph", "[role=tree] [role=treeitem]"),
    ("/run/mlp/overflow/pipeline", "main h1"),
    ("/run/mlp/overflow/tensors", "aside h2"),
    ("/run/mlp/overflow/debugger", "tr[data-severity]"),
    ("/run/mlp/healthy/landscape", "canvas[role=img]"),
    ("/run/torch/eight-ranks/profile", "main canvas"),
    ("/run/torch/eight-ranks/profile?view=steps", "main canvas"),
    (
        "/run/torch/eight-ranks/profile?view=operators",
        "main [role=row]",
    ),
    ("/run/torch/eight-ranks/profile?view=cluster", "main canvas"),
    ("/run/torch/eight-ranks/timeline", "main canvas"),
];

/// The rule that rows of runs break: a row says in words next to its name whether it is hidden, and its accessible name
/// is that of the run.
const OPEN_RULE: &str = "label-content-name-mismatch";
/// Beginning of such a row.
const OPEN_ROW: &str = "<button class=\"rr\"";

/// The script, as the package of `cargo xtask test` has it.
fn script() -> String {
    let environment = std::env::var_os(AXE).unwrap_or_else(|| {
        panic!("{AXE} is not set: `cargo xtask test` makes the environment it names")
    });
    let libraries = fs::read_dir(Path::new(&environment).join("lib")).unwrap();
    let in_library =
        |python: PathBuf| python.join("site-packages/axe_playwright_python/axe.min.js");
    let mut places = libraries.map(|python| in_library(python.unwrap().path()));
    let place = places.find(|place| place.is_file());
    fs::read_to_string(place.expect("a script of axe")).unwrap()
}

/// The rules that a page breaks, with the first places of each.
async fn violations(browser: &Browser, axe: &str) -> Vec<String> {
    let run = "return axe.run(document, {rules: {'label-content-name-mismatch': {enabled: true}}})
        .then(found => found.violations.flatMap(one => {
            const nodes = one.nodes.filter(node => one.id !== RULE || !node.html.startsWith(ROW));
            const first = nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(' | ');
            return nodes.length ? [`${one.id}: ${nodes.length} × ${first}`] : [];
        }));";
    let open = format!("const RULE = {OPEN_RULE:?}, ROW = {OPEN_ROW:?};");
    let found = browser.run(&format!("{axe}; {open} {run}")).await;
    let found = found.as_array().unwrap().iter().map(Value::as_str);
    found.map(|one| one.unwrap().to_owned()).collect()
}

#[tokio::test]
async fn pages_break_no_rule_for_accessible_pages() {
    let axe = script();
    let lab = Lab::new();
    let folder = lab.path("sample-runs");
    copy_folder(&workspace_root().join("sample-runs"), &folder);
    let server = lab.start_on(&[&folder], &[]);
    wait_for("the run to be judged", || {
        let found = server.get("/api/findings?run=mlp/overflow").json();
        (found["state"] == "done").then_some(())
    });
    let browser = Browser::open().await;
    let mut broken = Vec::new();
    for (page, complete) in PAGES {
        browser.goto(&server, page).await;
        browser.wait_for_element(complete).await;
        for one in violations(&browser, &axe).await {
            broken.push(format!("{page}: {one}"));
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    browser.close();
}
