//! All kinds but scalars in files of other programs, through the API: images, audio, text, histograms, tensors,
//! hyper-parameters, lineage.

use std::fs;

use serde_json::{Value, json};
use trainscope_api::paths;

use crate::support::server::query;
use crate::support::{Lab, Server, wait_for};

fn served(lab: &Lab, name: &str) -> Server {
    lab.copy_fixture(name, name);
    let server = lab.start();
    wait_for("the files to be read", || {
        let status = server.status();
        (status.ingest.idle && status.runs > 0).then_some(())
    });
    server
}

fn records(server: &Server, path: &str, run: &str, tag: &str) -> Value {
    let answer = server.get(&format!(
        "{path}?{}",
        query(&[("run", run), ("tag", tag), ("points", "1000")])
    ));
    assert_eq!(answer.status, 200, "{path} of {tag} in {run}");
    let list = answer.json();
    assert_eq!(list["total"], list["records"].as_array().unwrap().len());
    assert_eq!(list["total"], list["steps"].as_array().unwrap().len());
    list
}

fn blob(server: &Server, item: &Value) -> (String, Vec<u8>) {
    let id = item["id"].as_str().unwrap();
    let answer = server.get(&format!("{}?{}", paths::BLOB, query(&[("id", id)])));
    assert_eq!(
        (answer.status, item["len_bytes"].as_u64()),
        (200, Some(answer.body.len() as u64))
    );
    (answer.media_type, answer.body)
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|n| n.as_f64().unwrap())
        .collect()
}

#[test]
fn pytorch_records_of_every_kind_are_answered_as_they_were_written() {
    let lab = Lab::new();
    let server = served(&lab, "torch-tensorboard");
    let run = "torch-tensorboard/torch/run1";

    let rgb = records(&server, paths::IMAGES, run, "image/rgb");
    let first = &rgb["records"][0];
    assert_eq!(
        (&first["width"], &first["height"]),
        (&json!(24), &json!(24))
    );
    let (media_type, picture) = blob(&server, &first["items"][0]);
    assert_eq!(
        (media_type.as_str(), &picture[..4]),
        ("image/png", &b"\x89PNG"[..])
    );

    let tone = records(&server, paths::AUDIO, run, "tone");
    let clip = &tone["records"][0];
    assert_eq!(
        (&clip["sample_rate_hz"], &clip["frames"]),
        (&json!(8000.0), &json!(2000))
    );
    let (media_type, sound) = blob(&server, &clip["items"][0]);
    assert_eq!(
        (media_type.as_str(), &sound[..4]),
        ("audio/wav", &b"RIFF"[..])
    );

    let notes = records(&server, paths::TEXT, run, "notes/text_summary");
    let text = notes["records"][0]["items"][0].as_str().unwrap();
    assert!(
        text.contains("| a | b |") && text.contains("<script>"),
        "{text}"
    );

    let weights = records(&server, paths::HISTOGRAMS, run, "weights/fc");
    assert!(
        weights["steps"]
            .as_array()
            .unwrap()
            .iter()
            .all(|step| step.as_i64().unwrap() % 5 == 0)
    );
    for record in weights["records"].as_array().unwrap() {
        let (lefts, rights) = (numbers(&record["lefts"]), numbers(&record["rights"]));
        let counts = numbers(&record["counts"]);
        assert!(lefts.len() == counts.len() && rights.len() == counts.len());
        assert!(lefts.iter().zip(&rights).all(|(left, right)| left <= right));
        assert!((counts.iter().sum::<f64>() - record["count"].as_f64().unwrap()).abs() < 1e-6);
    }

    let tensor = records(&server, paths::TENSORS, run, "tensor");
    let tensor = &tensor["records"][0];
    assert_eq!(tensor["shape"], json!([2, 3]));
    assert_eq!(numbers(&tensor["values"]), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);

    for (n, (lr, batch, opt)) in [
        (0.1, 8.0, "sgd"),
        (0.01, 16.0, "adam"),
        (0.001, 32.0, "rms"),
    ]
    .into_iter()
    .enumerate()
    {
        let run = format!("torch-tensorboard/torch/hp{n}");
        let answer = server
            .get(&format!("{}?{}", paths::HPARAMS, query(&[("run", &run)])))
            .json();
        let of_session = |record: &Value| record["session_start"]["values"].as_array().cloned();
        let values = answer["records"]
            .as_array()
            .unwrap()
            .iter()
            .find_map(of_session)
            .unwrap();
        for wanted in [
            json!(["lr", {"number": lr}]),
            json!(["bsize", {"number": batch}]),
            json!(["opt", {"text": opt}]),
        ] {
            assert!(values.contains(&wanted), "{wanted} in {values:?}");
        }
    }
}

#[test]
fn mindspore_records_of_every_kind_are_answered_as_they_were_written() {
    let lab = Lab::new();
    let server = served(&lab, "ms210-summary/healthy");
    let run = "ms210-summary/healthy";
    let input = records(&server, paths::IMAGES, run, "input_image");
    assert_eq!(
        blob(&server, &input["records"][0]["items"][0]).0,
        "image/png"
    );
    let logits = records(&server, paths::TENSORS, run, "logits");
    assert_eq!(logits["records"][0]["shape"], json!([8, 10]));
    assert_eq!(numbers(&logits["records"][0]["values"]).len(), 80);
    let weight = records(&server, paths::HISTOGRAMS, run, "conv1.weight/auto");
    let counts = numbers(&weight["records"][0]["counts"]);
    assert_eq!(counts.iter().sum::<f64>().to_bits(), 36.0_f64.to_bits());

    let lineage = server
        .get(&format!("{}?{}", paths::LINEAGE, query(&[("run", run)])))
        .json();
    let records = lineage["records"].as_array().unwrap();
    let kind = |name: &str| records.iter().find_map(|record| record.get(name)).unwrap();
    assert_eq!(kind("train")["optimizer"], "Momentum");
    assert_eq!(kind("train")["batch_size"], 8);
    assert_eq!(kind("train")["epochs"], 5);
    assert_eq!(kind("evaluation")["metrics"], json!([["Accuracy", 1.0]]));
    assert_eq!(
        kind("dataset")["parameters"][0],
        json!(["op_type", {"text": "Batch"}])
    );
    let wanted = json!(["opt_name", {"text": "momentum"}]);
    assert!(
        kind("user_defined")["values"]
            .as_array()
            .unwrap()
            .contains(&wanted)
    );
}

#[test]
fn graphs_of_three_frameworks_are_answered_in_one_form() {
    for (fixture, run, op_type) in [
        (
            "torch-tensorboard",
            "torch-tensorboard/torch/run1",
            "aten::linear",
        ),
        ("tensorflow-events", "tensorflow-events/v2", "MatMul"),
        ("ms210-summary/healthy", "ms210-summary/healthy", "Conv2D"),
    ] {
        let lab = Lab::new();
        let server = served(&lab, fixture);
        let answer = server.get(&format!("{}?{}", paths::GRAPH, query(&[("run", run)])));
        assert_eq!(
            answer.status,
            200,
            "{run}: {}",
            String::from_utf8_lossy(&answer.body)
        );
        let answer = answer.json();
        let nodes = answer["graph"]["nodes"].as_array().unwrap();
        assert_eq!(answer["total_nodes"], nodes.len());
        let types: Vec<_> = nodes
            .iter()
            .map(|node| node["op_type"].as_str().unwrap())
            .collect();
        assert!(types.contains(&op_type), "{run}: {types:?}");
        let unknown = query(&[("run", run), ("tag", "nothing")]);
        assert_eq!(
            server.get(&format!("{}?{unknown}", paths::GRAPH)).status,
            404
        );
    }
}

#[test]
fn files_that_are_graphs_belong_to_the_run_of_their_folder() {
    let lab = Lab::new();
    lab.copy_fixture("torch-onnx", "exported");
    lab.copy_fixture("mindspore-graphs", "graphs");
    lab.record("run").curve("loss", 0..10, |step| step as f32);
    // A graph next to event files, a file of the same extension that is not a graph, and a damaged one.
    let run = lab.base().join("run");
    let model = lab.base().join("exported/cnn.dynamo.onnx");
    fs::copy(&model, run.join("model.onnx")).unwrap();
    fs::write(run.join("saved_model.pb"), b"\x08\x01\x12\x05hello").unwrap();
    fs::write(run.join("broken.onnx"), b"\x3a\xff").unwrap();
    let server = lab.start();
    let graph = |run: &str, tag: &str| {
        let query = query(&[("run", run), ("tag", tag)]);
        server.get(&format!("{}?{query}", paths::GRAPH))
    };
    wait_for("the graphs to be found", || {
        (server.status().runs == 3 && graph("run", "model").status == 200).then_some(())
    });

    let truth: Value =
        serde_json::from_slice(&fs::read(lab.base().join("exported/truth.json")).unwrap()).unwrap();
    let onnx = graph("exported", "transformer.dynamo").json();
    assert_eq!(
        (&onnx["format"], &onnx["graphs"][3]["tag"]),
        (&json!("onnx"), &json!("transformer.torchscript"))
    );
    assert!(onnx["total_nodes"].as_u64() > Some(50), "{truth}");
    let mindspore = graph("graphs", "ms210-healthy").json();
    assert_eq!(mindspore["format"], "mindspore_model");
    assert!(mindspore["total_nodes"].as_u64() > Some(10));
    let broken = graph("run", "broken");
    assert_eq!(
        broken.status,
        404,
        "{}",
        String::from_utf8_lossy(&broken.body)
    );
    assert!(String::from_utf8_lossy(&broken.body).contains("truncated"));
    assert_eq!(graph("run", "saved_model").status, 404);

    // The curve and its times are unchanged.
    let runs = server.get(paths::RUNS).json();
    let run = &runs["runs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|run| run["id"] == "run")
        .unwrap();
    assert!(run["first_wall_time_secs"].as_f64() > Some(1e9), "{run}");

    // Exported again: the graph of the file is that of its newest content.
    fs::copy(
        lab.base().join("exported/transformer.dynamo.onnx"),
        lab.base().join("run/model.onnx"),
    )
    .unwrap();
    wait_for("the new content", || {
        (graph("run", "model").json()["total_nodes"] == onnx["total_nodes"]).then_some(())
    });
}

#[test]
fn a_blob_is_found_by_its_id_alone_and_never_beyond_what_was_read() {
    let lab = Lab::new();
    let server = served(&lab, "torch-tensorboard");
    let rgb = records(
        &server,
        paths::IMAGES,
        "torch-tensorboard/torch/run1",
        "image/rgb",
    );
    let id = rgb["records"][0]["items"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let (file, _) = id.split_once('-').unwrap();
    let beyond = format!("{file}-0-99999999");
    let wraps = format!("{file}-{}-2", u64::MAX);
    for (id, code) in [
        ("", "unknown_blob"),
        ("../../etc/passwd", "unknown_blob"),
        ("999999-0-1", "unknown_blob"),
        (&beyond, "source_unreadable"),
        (&wraps, "source_unreadable"),
    ] {
        let answer = server.get(&format!("{}?{}", paths::BLOB, query(&[("id", id)])));
        assert_eq!(
            (answer.status, &answer.json()["code"]),
            (404, &json!(code)),
            "{id}"
        );
    }
}

#[test]
fn what_a_collector_records_is_answered_as_it_was_written() {
    let lab = Lab::new();
    let golden = include_bytes!("../../summary-format/tests/golden/0.1.0-native.tfevents");
    let run = lab.base().join("run");
    fs::create_dir(&run).unwrap();
    fs::write(run.join("events.out.tfevents.1700000000.host.1.0"), golden).unwrap();
    let server = lab.start();
    wait_for("the file to be read", || {
        let status = server.status();
        (status.ingest.idle && status.runs > 0).then_some(())
    });

    let weight = records(&server, paths::STATISTICS, "run", "fc/weight");
    let weight = &weight["records"][0];
    assert_eq!(
        (&weight["step"], &weight["role"], &weight["dtype"]),
        (&json!(7), &json!("weight"), &json!("f32"))
    );
    let stats = &weight["stats"];
    assert_eq!(
        (&stats["count"], &stats["zero"], &stats["finite"]["min"]),
        (&json!(3), &json!(1), &json!(-2.5))
    );
    // 1.0 is in bucket 127, −2.5 in bucket 128 of the negative ones.
    assert_eq!(stats["exponents"], json!([[127, 1], [384, 1]]));
    assert_eq!(weight["change"]["changed"], 1);
    assert_eq!(weight["channels"]["mean"], json!([1.0, -2.5, 0.0]));
    let odd = records(&server, paths::STATISTICS, "run", "fc/weight.grad");
    let odd = &odd["records"][0];
    assert_eq!(
        (&odd["stats"]["nan"], &odd["stats"]["finite"]),
        (&json!(1), &Value::Null)
    );
    assert_eq!(odd["channels"]["min"], json!(["NaN", "NaN"]));

    let spans = records(&server, paths::PROFILES, "run", "spans");
    let spans = &spans["records"][0];
    assert_eq!(spans["names"], json!(["forward", "backward"]));
    assert_eq!(spans["spans"][0]["duration_nanos"], 1_000);
    assert_eq!(spans["counters"][0]["value"], "Infinity");
    for (path, tag, field, value) in [
        (paths::DUMPS, "dump", "path", "dump/step_7.safetensors"),
        (paths::RECORDED_HITS, "hits", "severity", "error"),
        (
            paths::LOSSES,
            "loss_of_records",
            "reason",
            "the queue was full",
        ),
    ] {
        let list = records(&server, path, "run", tag);
        assert_eq!(list["records"][0][field], value, "{path}");
    }
    let runs = server.get(paths::RUNS).json();
    assert_eq!(runs["runs"][0]["files"][0]["lost_records"], 9);
    let graph = server.get(&format!("{}?{}", paths::GRAPH, query(&[("run", "run")])));
    assert_eq!(graph.status, 200);
    let lineage = server.get(&format!("{}?{}", paths::LINEAGE, query(&[("run", "run")])));
    assert_eq!(lineage.json()["records"].as_array().unwrap().len(), 5);
}
