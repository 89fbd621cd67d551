//! Data pipelines: what is done to data before a training, what it is given, and how long steps wait for it.

use std::fs;

use serde_json::{Value, json};
use trainscope_api::paths;
use trainscope_format::encode::Moment;
use trainscope_format::lineage::{DatasetNode, DatasetOperation, LineageValue};
use trainscope_format::profile::Span;
use trainscope_format::{Lineage, Profile, RecordWriter};

use crate::support::lab::{STARTED_SECS, copy_folder, workspace_root};
use crate::support::server::query;
use crate::support::{Browser, Lab, Server, wait_for};

fn serve(lab: &Lab, runs: u64) -> Server {
    let server = lab.start();
    wait_for("the runs to be found", || {
        let status = server.status();
        (status.ingest.idle && status.runs >= runs).then_some(())
    });
    server
}

fn ask(server: &Server, run: &str) -> Value {
    let path = format!("{}?{}", paths::PIPELINE, query(&[("run", run)]));
    let answer = server.get(&path);
    assert_eq!(answer.status, 200, "{run}");
    answer.json()
}

fn names(pipeline: &Value) -> Vec<&str> {
    let all = pipeline["operations"].as_array().unwrap().iter();
    all.map(|own| own["name"].as_str().unwrap()).collect()
}

/// Records two branches whose names are markup, and steps that mostly wait.
fn record_slow(lab: &Lab) {
    let folder = lab.base().join("slow");
    fs::create_dir_all(&folder).unwrap();
    let file = fs::File::create(folder.join("events.out.tfevents.1760000000.host.1.0")).unwrap();
    let mut writer = RecordWriter::new(file, STARTED_SECS).unwrap();
    let at = Moment {
        step: 0,
        wall_time_secs: STARTED_SECS,
    };
    let text = |text: &str| LineageValue::Text(text.to_owned());
    let node = |name: &str, children: Vec<DatasetNode>| DatasetNode {
        parameters: vec![
            ("op_type".to_owned(), text(name)),
            ("<b>path</b>".to_owned(), text("<script>alert(1)</script>")),
            ("rate".to_owned(), LineageValue::Number(f64::INFINITY)),
        ],
        operations: vec![DatasetOperation::default()],
        children,
        ..DatasetNode::default()
    };
    let left = node("<img src=x onerror=alert(1)>", Vec::new());
    let zip = node("Zip", vec![left, node("Labels", Vec::new())]);
    writer.lineage(at, &Lineage::Dataset(zip)).unwrap();
    let span = |name: u32, step: i64, from: i64, nanos: u64| Span {
        name,
        lane: 0,
        step,
        start_nanos: step * 10_000_000 + from,
        duration_nanos: nanos,
    };
    let steps = 0..1_000;
    let spans = steps.flat_map(|step| {
        let wait = if step == 700 { 9_000_000 } else { 6_000_000 };
        [span(0, step, 0, wait), span(1, step, 9_000_000, 1_000_000)]
    });
    let profile = Profile {
        names: vec!["data".to_owned(), "train".to_owned()],
        lanes: vec!["main".to_owned()],
        spans: spans.collect(),
        counters: Vec::new(),
    };
    writer.profile("profile", at, &profile).unwrap();
    writer.flush().unwrap();
}

#[test]
fn pipelines_hold_what_their_writers_said() {
    let lab = Lab::new();
    lab.copy_fixture("ms210-summary/healthy", "healthy");
    lab.copy_fixture("ms20-summary/minddata-npy", "generated");
    copy_folder(
        &workspace_root().join("sample-runs/mlp/healthy"),
        &lab.base().join("mlp"),
    );
    record_slow(&lab);
    let server = serve(&lab, 4);

    let healthy = ask(&server, "healthy");
    let own = &healthy["pipelines"][0];
    assert_eq!(
        names(own),
        ["MnistDataset", "Map", "Map", "Shuffle", "Batch"]
    );
    assert_eq!(
        (&healthy["dataset_size"], &healthy["batch_size"]),
        (&json!(64), &json!(8))
    );
    assert_eq!(healthy["inputs"], json!([]));
    // What each sample goes through, with its parameters one by one.
    let transforms = own["operations"][1]["transforms"].as_array().unwrap();
    let of: Vec<&Value> = transforms.iter().map(|own| &own["name"]).collect();
    assert_eq!(of, ["Resize", "Rescale", "HwcToChw"]);
    let size = json!(["size", "[16,16]"]);
    assert!(
        transforms[0]["parameters"]
            .as_array()
            .unwrap()
            .contains(&size),
        "{transforms:?}"
    );
    assert_eq!(transforms[2]["parameters"], json!([]));
    assert_eq!(own["operations"][0]["sampler"]["name"], "RandomSampler");
    assert_eq!(own["operations"][4]["inputs"], json!([3]));

    let generated = ask(&server, "generated");
    assert_eq!(names(&generated["pipelines"][0])[0], "GeneratorDataset");

    let mlp = ask(&server, "mlp");
    assert_eq!(names(&mlp["pipelines"][0]), ["Moons", "Shuffle", "Batch"]);
    let share = mlp["inputs"][0]["share"].as_f64().unwrap();
    assert!(share > 0.0 && share < 0.5, "{share}");

    let slow = ask(&server, "slow");
    let own = &slow["pipelines"][0];
    assert_eq!(own["operations"][2]["inputs"], json!([0, 1]));
    assert_eq!(own["operations"][1]["row"], 1);
    assert_eq!(
        own["operations"][1]["parameters"][1],
        json!(["rate", "inf"])
    );
    let input = &slow["inputs"][0];
    assert_eq!(
        (&input["steps"], &input["severity"]),
        (&json!(1_000), &json!("error"))
    );
    assert_eq!(input["longest"]["step"], 700);
    // No stretch hides the step that waited longest in it.
    let stretches = input["stretches"].as_array().unwrap();
    assert!(stretches.len() <= trainscope_api::pipeline::MAX_STRETCHES);
    assert!(stretches.contains(
        &json!({"step": 700, "last_step": 701, "whole_nanos": 10_000_000, "input_nanos": 9_000_000})
    ));

    let none = server.get(&format!("{}?run=nobody", paths::PIPELINE));
    assert_eq!(none.status, 404);
}

#[tokio::test]
async fn operations_are_looked_at_compared_and_timed() {
    let lab = Lab::new();
    lab.copy_fixture("ms210-summary/healthy", "healthy");
    lab.copy_fixture("ms210-summary/hp-batch16", "batch16");
    record_slow(&lab);
    lab.record("plain").scalar("loss", 0, 1.0);
    let server = serve(&lab, 4);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/healthy/overview").await;
    browser
        .click("nav.rail a[href='/run/healthy/pipeline']")
        .await;
    browser.wait_for_text("5 operations").await;
    browser.wait_for_text("was not recorded").await;

    // The operation that is pressed tells all it was given, and the address names it.
    browser.click(".ops button[title=Map]").await;
    browser
        .wait_for_element(".ops .op.cur button[title=Map]")
        .await;
    browser.wait_for_text("[16,16]").await;
    assert!(browser.url().await.contains("operation=1"));
    browser.press('k').await;
    browser.wait_for_text("RandomSampler").await;

    // Against another run, what differs is marked.
    browser
        .run(
            "const own = document.querySelector('select[aria-label^=Compare]');
              own.value = 'batch16'; own.dispatchEvent(new Event('change', {bubbles: true}));",
        )
        .await;
    browser.wait_for_text("The pipelines differ").await;
    browser
        .wait_for_element(".ops .op.differs button[title=Batch]")
        .await;
    // The other one is the source: each training has its data in a folder of its own.
    assert_eq!(browser.count(".ops .op.differs").await, 2);
    browser.click(".ops button[title=Batch]").await;
    browser.wait_for_text("≠ 16").await;
    browser.reload().await;
    browser.wait_for_text("≠ 16").await;

    // Names are text; waiting is read under the pointer.
    browser.goto(&server, "/run/slow/pipeline").await;
    browser
        .wait_for_text("The training mostly waits for its data")
        .await;
    browser.wait_for_text("9 ms of 10 ms at step 700").await;
    browser.wait_for_text("<img src=x onerror=alert(1)>").await;
    assert_eq!(browser.count(".pipeline-page img").await, 0);
    browser.hover(".bars .plot", 0.7).await;
    browser.wait_for_text(": 9 ms of 10 ms (90 %)").await;
    browser.hover(".bars .plot", 0.1).await;
    browser.wait_for_text(": 6 ms of 10 ms (60 %)").await;

    // Nothing was recorded: no entry leads here, and the page says what to do.
    browser.goto(&server, "/run/plain/pipeline").await;
    browser.wait_for_text("collect_dataset_graph").await;
    browser.wait_for_text("collector.span(\"data\")").await;
    let hidden = "nav.rail a[href='/run/plain/pipeline'][hidden]";
    browser.wait_for_element(hidden).await;
    browser.close().await;
}
