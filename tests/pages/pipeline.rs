//! Data pipelines: operations before a training, their parameters, and the waiting time of steps.

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

/// Operations that wait for none and that others wait for.
const SLOW: &str = "li[data-state~=slow]";
/// Fill of the queue after each operation.
const QUEUES: &str = "li > [role=img][aria-label^='queue ']";

fn ask(server: &Server, run: &str) -> Value {
    let path = format!("{}?{}", paths::PIPELINE, query(&[("run", run)]));
    let answer = server.get(&path);
    assert_eq!(answer.status, 200, "{run}");
    answer.json()
}

fn names(pipeline: &Value) -> Vec<&str> {
    let all = pipeline["operations"].as_array().unwrap().iter();
    all.map(|operation| operation["name"].as_str().unwrap())
        .collect()
}

/// Records two branches whose names are markup, and a number of steps that mostly wait.
fn record_slow(lab: &Lab, run: &str, steps: i64) {
    let folder = lab.base().join(run);
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
    let spans = (0..steps).flat_map(|step| {
        let wait = if step == 700 { 9_000_000 } else { 6_000_000 };
        [span(0, step, 0, wait), span(1, step, 9_000_000, 1_000_000)]
    });
    let profile = Profile {
        names: vec!["data".to_owned(), "train".to_owned()],
        lanes: vec!["main".to_owned()],
        spans: spans.collect(),
        ..Profile::default()
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
    record_slow(&lab, "slow", 1_000);
    let server = serve(&lab, 4);

    let healthy = ask(&server, "healthy");
    let pipeline = &healthy["pipelines"][0];
    assert_eq!(
        names(pipeline),
        ["MnistDataset", "Map", "Map", "Shuffle", "Batch"]
    );
    assert_eq!(
        (&healthy["dataset_size"], &healthy["batch_size"]),
        (&json!(64), &json!(8))
    );
    assert_eq!(healthy["inputs"], json!([]));
    // Transforms of each sample, with their parameters.
    let transforms = pipeline["operations"][1]["transforms"].as_array().unwrap();
    let of: Vec<&Value> = transforms
        .iter()
        .map(|transform| &transform["name"])
        .collect();
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
    assert_eq!(
        pipeline["operations"][0]["sampler"]["name"],
        "RandomSampler"
    );
    assert_eq!(pipeline["operations"][4]["inputs"], json!([3]));

    let generated = ask(&server, "generated");
    assert_eq!(names(&generated["pipelines"][0])[0], "GeneratorDataset");

    let mlp = ask(&server, "mlp");
    assert_eq!(names(&mlp["pipelines"][0]), ["Moons", "Shuffle", "Batch"]);
    let share = mlp["inputs"][0]["share"].as_f64().unwrap();
    assert!(share > 0.0 && share < 0.5, "{share}");

    let slow = ask(&server, "slow");
    let pipeline = &slow["pipelines"][0];
    assert_eq!(pipeline["operations"][2]["inputs"], json!([0, 1]));
    assert_eq!(pipeline["operations"][1]["row"], 1);
    assert_eq!(
        pipeline["operations"][1]["parameters"][1],
        json!(["rate", "inf"])
    );
    let input = &slow["inputs"][0];
    assert_eq!(
        (&input["steps"], &input["severity"]),
        (&json!(1_000), &json!("error"))
    );
    assert_eq!(input["longest"]["step"], 700);
    // The step that waited longest is never hidden.
    let stretches = input["stretches"].as_array().unwrap();
    assert!(stretches.len() <= trainscope_api::pipeline::MAX_STRETCHES);
    assert!(stretches.contains(
        &json!({"step": 700, "last_step": 701, "whole_nanos": 10_000_000, "input_nanos": 9_000_000})
    ));

    let none = server.get(&format!("{}?run=nobody", paths::PIPELINE));
    assert_eq!(none.status, 404);
}

#[test]
fn profilers_of_data_sets_say_which_operation_is_slow() {
    let lab = Lab::new();
    for (fixture, run) in [
        ("ms20-profiler/slow-data", "slow20"),
        ("ms210-profiler/slow-data", "slow210"),
        ("ms20-profiler/lenet", "lenet20"),
        ("ms210-profiler/lenet", "lenet210"),
        ("ms210-profiler/slow-data", "cut"),
        ("ms210-profiler/slow-data", "bare"),
    ] {
        lab.copy_fixture(fixture, run);
    }
    // One file ends in the middle, and so does the last line of the other.
    let profiler = lab.base().join("cut/profiler");
    for (name, len) in [
        ("pipeline_profiling_0.json", 200),
        ("dataset_iterator_profiling_0.txt", 700),
    ] {
        let file = fs::OpenOptions::new().write(true).open(profiler.join(name));
        file.unwrap().set_len(len).unwrap();
    }
    // Only the files of the profiler.
    for entry in fs::read_dir(lab.base().join("bare")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::remove_file(path).unwrap();
        }
    }
    let server = serve(&lab, 6);
    let runs = server.get(paths::RUNS).json();
    let names_of_runs = runs["runs"].as_array().unwrap().iter();
    let names_of_runs: Vec<&str> = names_of_runs
        .map(|run| run["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        names_of_runs,
        ["bare", "cut", "lenet20", "lenet210", "slow20", "slow210"]
    );

    // The first map sleeps: the source has filled the queue before it, and the one after it is empty.
    for (run, mean_millis, severity, empty, workers) in [
        ("slow20", 36, "warning", 5, json!([1, 2])),
        ("slow210", 128, "error", 10, json!([1, 2, 3, 4, 6])),
    ] {
        let answer = ask(&server, run);
        let pipeline = &answer["pipelines"][0];
        assert_eq!(answer["pipelines"].as_array().unwrap().len(), 1, "{run}");
        assert_eq!(
            names(pipeline),
            ["GeneratorDataset", "Map", "Map", "Batch"],
            "{run}"
        );
        let mut slow = pipeline["slow"].clone();
        let more = slow.as_object_mut().unwrap().remove("more_workers");
        assert_eq!(slow, json!({"operation": 1, "fill_before": 1.0}), "{run}");
        assert_eq!(column(&more.unwrap(), "workers"), workers, "{run}");
        // It sleeps: no processor load.
        let running = json!({"workers": 1, "capacity": 16, "fill": 0.0, "samples": 2, "judged": false, "empty": 2, "sizes": [0, 0],
            "busy": 0.0, "busy_samples": [0.0, 0.0]});
        assert_eq!(pipeline["operations"][1]["running"], running, "{run}");
        assert_eq!(pipeline["operations"][3]["running"]["workers"], 2, "{run}");
        let input = &answer["inputs"][0];
        assert_eq!(
            input["mean_input_nanos"].as_u64().unwrap() / 1_000_000,
            mean_millis,
            "{run}"
        );
        assert_eq!(
            (&input["severity"], &input["clock"]),
            (&json!(severity), &json!("iterator"))
        );
        assert_eq!(
            (&input["found"]["batches"], &input["found"]["empty"]),
            (&json!(11), &json!(empty))
        );
        assert_eq!(answer["faults"], json!([]));
    }
    for run in ["lenet20", "lenet210"] {
        let answer = ask(&server, run);
        let pipeline = &answer["pipelines"][0];
        assert_eq!(
            names(pipeline),
            ["MnistDataset", "Map", "Map", "Shuffle", "Batch"],
            "{run}"
        );
        assert_eq!(
            (&pipeline["slow"], &answer["inputs"][0]["severity"]),
            (&Value::Null, &Value::Null)
        );
    }
    // As in MindSpore's analyser: 28.12 % of the queue after the batches, empty in half of the samples.
    let batch = &ask(&server, "lenet20")["pipelines"][0]["operations"][4]["running"];
    assert_eq!(
        (&batch["fill"], &batch["empty"]),
        (&json!(0.28125), &json!(1))
    );

    let cut = ask(&server, "cut");
    let faults = cut["faults"].as_array().unwrap();
    let paths_of_faults: Vec<&str> = faults
        .iter()
        .map(|fault| fault["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        paths_of_faults,
        [
            "cut/profiler/dataset_iterator_profiling_0.txt",
            "cut/profiler/pipeline_profiling_0.json"
        ]
    );
    assert_eq!(names(&cut["pipelines"][0]).len(), 4);
    assert_eq!(
        (&cut["pipelines"][0]["slow"], &cut["inputs"][0]["steps"]),
        (&Value::Null, &json!(9))
    );

    let bare = ask(&server, "bare");
    assert_eq!(
        names(&bare["pipelines"][0]),
        ["Generator", "Map", "Map", "Batch"]
    );
    assert_eq!(bare["pipelines"][0]["slow"]["operation"], 1);
}

/// One field of each object of a list.
fn column(list: &Value, field: &str) -> Value {
    let all = list.as_array().unwrap().iter();
    all.map(|object| object[field].clone()).collect()
}

#[test]
fn queues_and_processors_are_told_over_time_with_what_more_workers_would_bring() {
    let lab = Lab::new();
    lab.copy_fixture("ms210-profiler/waves", "waves");
    lab.copy_fixture("ms210-profiler/waves", "unwatched");
    let cpu = "unwatched/profiler/minddata_cpu_utilization_0.json";
    fs::write(lab.base().join(cpu), "{\"op_info\": [{}]}").unwrap();
    let server = serve(&lab, 2);
    let answer = ask(&server, "waves");
    let pipeline = &answer["pipelines"][0];
    assert_eq!(names(pipeline), ["GeneratorDataset", "Map", "Map", "Batch"]);
    assert_eq!(
        (&pipeline["processors"], &pipeline["interval_millis"]),
        (&json!(2), &json!(50))
    );
    // As in the profiler's file, summed by hand.
    let map = &pipeline["operations"][1]["running"];
    assert_eq!(map["samples"], 49);
    let samples = map["busy_samples"].as_array().unwrap();
    assert_eq!(samples.len(), 49);
    assert_eq!(samples[3..6], [json!(0.48), json!(0.365), json!(0.43)]);
    let busy = map["busy"].as_f64().unwrap();
    assert!((busy - 3_956.0 / 9_800.0).abs() < 1e-12, "{busy}");
    // 59 steps took 115.6 ms on average. Those that waited would take two thirds with half as many workers more,
    // unless the training itself takes longer.
    let more = &pipeline["slow"]["more_workers"];
    assert_eq!(column(more, "workers"), json!([2, 3, 4]));
    assert_eq!(
        column(more, "step_nanos"),
        json!([115_644_068, 91_644_068, 82_974_576])
    );

    let unwatched = ask(&server, "unwatched");
    assert_eq!(column(&unwatched["faults"], "path"), json!([cpu]));
    let pipeline = &unwatched["pipelines"][0];
    assert_eq!(pipeline["processors"], 0);
    let running = &pipeline["operations"][1]["running"];
    assert_eq!(
        (&running["busy"], &running["busy_samples"]),
        (&Value::Null, &json!([]))
    );
    assert_eq!(running["empty"], 49);
}

#[tokio::test]
async fn queues_over_time_are_read_and_more_workers_are_weighed() {
    let lab = Lab::new();
    lab.copy_fixture("ms210-profiler/waves", "waves");
    let server = serve(&lab, 1);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/waves/pipeline").await;
    // The slow operation is selected, with the remedy next to it.
    browser
        .wait_for_element("li[data-state~=slow]:has(> [aria-current=true])")
        .await;
    browser
        .wait_for_text("With 2 workers it delivers 8.65 batches per second; 4 could save up to 32.7 ms per batch")
        .await;
    let estimates = browser
        .text_of("section:has(> [data-part=estimate])")
        .await
        .unwrap();
    assert!(
        estimates.contains("2 workers\n116 ms") && estimates.contains("4 workers\n83 ms"),
        "{estimates}"
    );
    assert!(
        estimates.contains("The machine has 2 processors"),
        "{estimates}"
    );
    browser.show("pipeline").await;
    // One row per queue; the pointer shows a readout, and a click selects the operation before it.
    browser.wait_for_text("Queues over time").await;
    browser.wait_for_text("35 × empty").await;
    browser.hover("[data-part=heat] svg", 0.95).await;
    browser.wait_for_text("2.30 s · Map → Batch: 0 %").await;
    browser.click("[data-part=heat] button").await;
    browser
        .wait_for_element("li > [title=GeneratorDataset][aria-current=true]")
        .await;
    assert_eq!(browser.count("[data-part=estimate]").await, 0);

    let shown = "[aria-label=Show] button";
    browser.click_text(shown, "CPU").await;
    browser.wait_for_text("Work over time").await;
    assert!(browser.url().await.contains("show=cpu"));
    browser
        .wait_for_element("li[data-state~=slow] [aria-label='workers busy (CPU), mean: 40 %']")
        .await;
    assert_eq!(browser.count(QUEUES).await, 0);
    browser.click_text(shown, "Parameters").await;
    browser.wait_for_text("python_multiprocessing").await;
    assert_eq!(
        browser
            .count("[data-part=heat], [aria-label^='workers busy']")
            .await,
        0
    );
    browser.close();
}

#[tokio::test]
async fn the_slow_operation_is_marked() {
    let lab = Lab::new();
    lab.copy_fixture("ms210-profiler/slow-data", "slow");
    lab.copy_fixture("ms210-profiler/lenet", "lenet");
    let torn = lab
        .base()
        .join("slow/profiler/device_queue_profiling_0.txt");
    fs::write(torn, "0 0 1 5 100\n1 2 ").unwrap();
    let server = serve(&lab, 2);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/slow/pipeline").await;
    browser
        .wait_for_text("Map is the bottleneck: its input queue is 100 % full")
        .await;
    browser
        .wait_for_text("Training mostly waits for data")
        .await;
    browser
        .wait_for_text("10 of 11 batches found the queue empty")
        .await;
    browser
        .wait_for_text("device_queue_profiling_0.txt cannot be read to its end")
        .await;
    assert_eq!(browser.count(SLOW).await, 1);
    browser
        .wait_for_element("li[data-state~=slow]:nth-of-type(5) button[title=Map]")
        .await;
    // Each queue shows its fill; the selected operation has more details.
    assert_eq!(browser.count(QUEUES).await, 4);
    browser
        .wait_for_element("li > [aria-label='queue 100 % full, of 16']")
        .await;
    browser.click("li button[title=Batch]").await;
    browser.wait_for_text("Runtime").await;
    browser.wait_for_text("2 / 2").await;
    browser
        .wait_for_element("svg[aria-label='Fill of the queue, 2 samples, 1 s apart']")
        .await;
    browser.hover("[data-part=bars] svg", 0.99).await;
    browser.wait_for_text("step 12: 160 ms of 163 ms").await;

    browser.goto(&server, "/run/lenet/pipeline").await;
    browser.wait_for_text("Data loading takes").await;
    assert_eq!(browser.count(SLOW).await, 0);
    browser.close();
}

#[tokio::test]
async fn operations_are_looked_at_compared_and_timed() {
    let lab = Lab::new();
    lab.copy_fixture("ms210-summary/healthy", "healthy");
    lab.copy_fixture("ms210-summary/hp-batch16", "batch16");
    record_slow(&lab, "slow", 1_000);
    lab.record("plain").scalar("loss", 0, 1.0);
    let server = serve(&lab, 4);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/healthy/overview").await;
    browser.click("nav a[href='/run/healthy/pipeline']").await;
    browser.wait_for_text("5 operations").await;
    browser.wait_for_text("was not recorded").await;

    // The selected operation lists all its parameters, and is part of the address.
    browser.click("li button[title=Map]").await;
    browser
        .wait_for_element("li > [title=Map][aria-current=true]")
        .await;
    browser.wait_for_text("[16,16]").await;
    assert!(browser.url().await.contains("operation=1"));
    browser.press('k').await;
    browser.wait_for_text("RandomSampler").await;

    // Compared with another run, differences are marked.
    browser.set("select[aria-label^=Compare]", "batch16").await;
    browser.wait_for_text("The pipelines differ").await;
    browser
        .wait_for_element("li[data-state~=differs] button[title=Batch]")
        .await;
    // The other one is the source: each training has its data in a separate folder.
    assert_eq!(browser.count("li[data-state~=differs]").await, 2);
    browser.click("li button[title=Batch]").await;
    browser.wait_for_text("≠ 16").await;
    browser.reload().await;
    browser.wait_for_text("≠ 16").await;

    // Names are escaped; the pointer shows waiting times.
    browser.goto(&server, "/run/slow/pipeline").await;
    browser
        .wait_for_text("Training mostly waits for data")
        .await;
    browser.wait_for_text("9 ms of 10 ms at step 700").await;
    browser.wait_for_text("<img src=x onerror=alert(1)>").await;
    assert_eq!(browser.count("main img").await, 0);
    browser.hover("[data-part=bars] svg", 0.7).await;
    browser.wait_for_text(": 9 ms of 10 ms (90 %)").await;
    browser.hover("[data-part=bars] svg", 0.1).await;
    browser.wait_for_text(": 6 ms of 10 ms (60 %)").await;

    // Without records there is no entry in the navigation, and the page explains how to record.
    browser.goto(&server, "/run/plain/pipeline").await;
    browser.wait_for_text("collect_dataset_graph").await;
    browser.wait_for_text("collector.span(\"data\")").await;
    let hidden = "nav a[href='/run/plain/pipeline'][hidden]";
    browser.wait_for_element(hidden).await;
    browser.close();
}

#[tokio::test]
async fn a_handful_of_steps_is_shown_and_not_judged() {
    let lab = Lab::new();
    record_slow(&lab, "few", 4);
    record_slow(&lab, "enough", 5);
    let server = serve(&lab, 2);
    let input = |run: &str| ask(&server, run)["inputs"][0].clone();
    let (few, enough) = (input("few"), input("enough"));
    assert_eq!(
        (&few["judged"], &few["severity"]),
        (&json!(false), &Value::Null)
    );
    assert_eq!(
        (&enough["judged"], &enough["severity"]),
        (&json!(true), &json!("error"))
    );
    let browser = Browser::open().await;
    browser.goto(&server, "/run/few/pipeline").await;
    browser
        .wait_for_text("Only 4 steps were profiled, too few to judge data loading")
        .await;
    assert_eq!(browser.count("[data-part=bars], [data-part=heat]").await, 0);
    browser.close();
}
