//! Views of graphs, through the API: graphs of other programs, odd graphs, and a large one.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use trainscope_api::paths;
use trainscope_format::RecordWriter;
use trainscope_format::encode::Moment;
use trainscope_format::graph::{Edge, Graph, Node, NodeKind};

use crate::support::lab::{STARTED_SECS, copy_folder, fixture};
use crate::support::server::query;
use crate::support::terminal::Dump;
use crate::support::{Lab, Server, wait_for};

/// A node with inputs, by their indices.
pub(crate) fn node(name: &str, op_type: &str, inputs: &[u32]) -> Node {
    let inputs = inputs.iter().map(|&input| Edge {
        node: Some(input),
        ..Edge::default()
    });
    Node {
        name: name.to_owned(),
        op_type: op_type.to_owned(),
        inputs: inputs.collect(),
        ..Node::default()
    }
}

/// Records a graph as the only file of a folder.
pub(crate) fn record(folder: &Path, graph: &Graph) {
    fs::create_dir_all(folder).unwrap();
    let file = fs::File::create(folder.join("events.out.tfevents.1760000000.host.1.0")).unwrap();
    let mut writer = RecordWriter::new(std::io::BufWriter::new(file), STARTED_SECS).unwrap();
    let at = Moment {
        step: 0,
        wall_time_secs: STARTED_SECS,
    };
    writer.graph("model", at, graph).unwrap();
    writer.flush().unwrap();
}

fn serve(lab: &Lab, runs: u64) -> Server {
    let server = lab.start();
    wait_for("the graphs to be found", || {
        let status = server.status();
        (status.ingest.idle && status.runs >= runs).then_some(())
    });
    server
}

fn ask(server: &Server, path: &str, pairs: &[(&str, &str)]) -> Value {
    let answer = server.get(&format!("{path}?{}", query(pairs)));
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    assert_eq!(answer.status, 200, "{path} {pairs:?}: {text}");
    answer.json()
}

fn labels(scene: &Value) -> Vec<&str> {
    let boxes = scene["boxes"].as_array().unwrap().iter();
    boxes
        .map(|shown| shown["label"].as_str().unwrap())
        .collect()
}

fn find<'a>(scene: &'a Value, path: &str) -> &'a Value {
    let boxes = scene["boxes"].as_array().unwrap();
    let found = boxes.iter().find(|shown| shown["path"] == path);
    found.unwrap_or_else(|| panic!("no box `{path}` among {:?}", labels(scene)))
}

#[test]
fn onnx_graphs_hold_what_their_exporter_counts() {
    let lab = Lab::new();
    lab.copy_fixture("torch-onnx", "onnx");
    let server = serve(&lab, 1);
    let truth = fs::read(lab.base().join("onnx/truth.json")).unwrap();
    let truth: Value = serde_json::from_slice(&truth).unwrap();
    for model in [
        "cnn.dynamo",
        "cnn.torchscript",
        "transformer.dynamo",
        "transformer.torchscript",
    ] {
        let graph = [("run", "onnx"), ("tag", model)];
        let summary = ask(&server, paths::GRAPH_SUMMARY, &graph);
        let types = summary["types"].as_array().unwrap();
        let known = truth[model]["ops"].as_object().unwrap();
        assert!(known.len() > 4, "{model}");
        for (op_type, count) in known {
            let found = types.iter().find(|of| of["op_type"] == **op_type);
            assert_eq!(
                found.map(|of| &of["nodes"]),
                Some(count),
                "{op_type} of {model}"
            );
        }
        let scene = ask(&server, paths::GRAPH_SCENE, &graph);
        assert_eq!(scene["total_nodes"], summary["total_nodes"]);
        assert!(scene["boxes"].as_array().unwrap().len() > 5);
    }
    // Parameters are drawn with their users.
    let cnn = [("run", "onnx"), ("tag", "cnn.dynamo")];
    let scene = ask(
        &server,
        paths::GRAPH_SCENE,
        &[cnn.as_slice(), &[("show", "fc/node_linear")]].concat(),
    );
    let node = find(&scene, "fc/node_linear");
    let chips: Vec<_> = node["chips"]
        .as_array()
        .unwrap()
        .iter()
        .map(|chip| &chip["label"])
        .collect();
    assert_eq!(chips, [&json!("weight"), &json!("bias")]);
    assert!(!labels(&scene).contains(&"fc.weight"));
    // Their values are in a missing file, which is not an error.
    let node = ask(
        &server,
        paths::GRAPH_NODE,
        &[cnn.as_slice(), &[("node", "conv2/node_conv2d_1")]].concat(),
    );
    assert_eq!(
        (&node["op_type"], &node["total_inputs"]),
        (&json!("Conv"), &json!(3))
    );
    assert_eq!(node["inputs"][1]["name"], "conv2.weight");
    assert_eq!(node["source"][0]["line"], 19);
    assert_eq!(node["source"][0]["file"], "/tmp/gen/pt_export.py");
    let found = ask(
        &server,
        paths::GRAPH_SEARCH,
        &[cnn.as_slice(), &[("q", "pt_export.py\", line 19")]].concat(),
    );
    assert!(found["total"].as_u64() > Some(3), "{found}");
}

#[test]
fn graphs_of_every_framework_open() {
    let lab = Lab::new();
    for fixture in [
        "mindspore-graphs",
        "ms210-summary",
        "ms20-summary",
        "tensorflow-events",
        "torch-tensorboard",
    ] {
        lab.copy_fixture(fixture, fixture);
    }
    let server = serve(&lab, 5);
    let runs = server.get(paths::RUNS).json();
    let mut opened = 0;
    for run in runs["runs"].as_array().unwrap() {
        if run["kinds"]["graphs"].is_null() {
            continue;
        }
        let run = run["id"].as_str().unwrap();
        let first = ask(&server, paths::GRAPH_SCENE, &[("run", run)]);
        for graph in first["graphs"].as_array().unwrap() {
            let tag = graph["tag"].as_str().unwrap();
            let scene = ask(&server, paths::GRAPH_SCENE, &[("run", run), ("tag", tag)]);
            let boxes = scene["boxes"].as_array().unwrap().len();
            assert_eq!(boxes == 0, scene["total_nodes"] == 0, "{run} {tag}");
            opened += 1;
        }
    }
    assert!(opened > 12, "{opened}");
    // Nested scopes of MindSpore are open.
    let healthy = [("run", "ms210-summary/healthy")];
    let closed = ask(
        &server,
        paths::GRAPH_SCENE,
        &[healthy.as_slice(), &[("open", "")]].concat(),
    );
    assert!(labels(&closed).contains(&"Default"));
    let backbone = "Default/network-WithLossCell/_backbone-Lenet";
    let conv = ask(
        &server,
        paths::GRAPH_SEARCH,
        &[healthy.as_slice(), &[("q", "conv2d-op")]].concat(),
    );
    let conv = conv["found"][0]["path"].as_str().unwrap().to_owned();
    assert!(conv.starts_with(backbone), "{conv}");
    let shown = ask(
        &server,
        paths::GRAPH_SCENE,
        &[healthy.as_slice(), &[("open", ""), ("show", &conv)]].concat(),
    );
    assert_eq!(find(&shown, &conv)["op_type"], "Conv2D");
    assert!(find(&shown, backbone)["open"].as_bool().unwrap());
    // The users of a parameter are found by its name in the training.
    let near = ask(
        &server,
        paths::GRAPH_SCENE,
        &[
            healthy.as_slice(),
            &[("tensor", "conv1.weight"), ("steps", "1")],
        ]
        .concat(),
    );
    assert!(
        near["centre"].as_str().unwrap().contains("conv1"),
        "{}",
        near["centre"]
    );
    assert!(near["boxes"].as_array().unwrap().len() > 2);
}

#[test]
fn tensors_of_files_belong_to_the_nodes_they_are_of() {
    let lab = Lab::new();
    let dump = Dump::unpack("ms210-healthy");
    copy_folder(&dump.path, &lab.base().join("dump"));
    let server = serve(&lab, 1);
    let index = ask(&server, paths::TENSOR_INDEX, &[("run", "dump")]);
    let all = index["tensors"].as_array().unwrap().iter();
    let all: Vec<&str> = all
        .map(|tensor| tensor["tensor"].as_str().unwrap())
        .collect();
    let conv = all
        .iter()
        .find(|name| name.contains("conv1-Conv2d/Conv2D-op"));
    let conv = conv.unwrap_or_else(|| panic!("no convolution among {all:?}"));
    let node = conv.split_once(':').map_or(*conv, |(node, _)| node);
    let scope = node.rsplit_once('/').unwrap().0;
    for path in [node, scope] {
        let found = ask(
            &server,
            paths::GRAPH_NODE,
            &[("run", "dump"), ("node", path)],
        );
        let tensors = found["tensors"].as_array().unwrap();
        let tensor = json!({"kind": "tensors", "tag": conv, "rank": 0});
        assert!(tensors.contains(&tensor), "{path}: {tensors:?}");
        assert!(tensors.len() < all.len(), "not those of other nodes");
    }
}

#[test]
fn what_repeats_is_one_box_and_findings_lie_where_they_began() {
    let lab = Lab::new();
    let samples = crate::support::lab::workspace_root().join("sample-runs/mlp");
    copy_folder(&samples, &lab.base().join("mlp"));
    let server = serve(&lab, 5);
    let scene = ask(
        &server,
        paths::GRAPH_SCENE,
        &[("run", "mlp/vanishing"), ("open", "")],
    );
    let fold = scene["boxes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|shown| shown["kind"] == "fold")
        .unwrap();
    assert!(fold["times"].as_u64() > Some(5), "{fold}");
    let inside = format!("{}/fc5", fold["path"].as_str().unwrap());
    let open = format!("{}\n{inside}", fold["path"].as_str().unwrap());
    let opened = ask(
        &server,
        paths::GRAPH_SCENE,
        &[("run", "mlp/vanishing"), ("open", &open)],
    );
    assert!(find(&opened, &inside)["open"].as_bool().unwrap());
    assert_eq!(opened["open"].as_array().unwrap().len(), 2);
    // A hit determines the colour of a box.
    let hit = wait_for("the run to be judged", || {
        let scene = ask(&server, paths::GRAPH_SCENE, &[("run", "mlp/overflow")]);
        let boxes = scene["boxes"].as_array().unwrap().clone();
        boxes
            .into_iter()
            .find(|shown| shown["severity"] == "error" && shown["open"] == false)
    });
    let node = ask(
        &server,
        paths::GRAPH_NODE,
        &[
            ("run", "mlp/overflow"),
            ("node", hit["path"].as_str().unwrap()),
        ],
    );
    assert!(node["total_hits"].as_u64() > Some(0));
    assert!(!node["tensors"].as_array().unwrap().is_empty(), "{node}");
}

#[test]
fn ways_follow_the_data_and_differences_are_told() {
    let lab = Lab::new();
    let nodes = vec![
        node("x", "Input", &[]),
        node("net/a", "Conv", &[0]),
        node("net/b", "Relu", &[1]),
        node("head/out", "MatMul", &[2]),
    ];
    let mut other = nodes.clone();
    other[2].op_type = "Gelu".to_owned();
    other.push(node("head/more", "Softmax", &[3]));
    let graph = |nodes: Vec<Node>| Graph {
        nodes,
        ..Graph::default()
    };
    record(&lab.base().join("one"), &graph(nodes));
    record(&lab.base().join("two"), &graph(other));
    let server = serve(&lab, 2);
    let way = ask(
        &server,
        paths::GRAPH_SCENE,
        &[("run", "one"), ("open", ""), ("from", "x"), ("to", "head")],
    );
    assert_eq!(way["way"], json!(["x", "net/a", "net/b", "head/out"]));
    let lines = way["lines"].as_array().unwrap();
    assert!(lines.iter().all(|line| line["on_way"] == true), "{lines:?}");
    let back = ask(
        &server,
        paths::GRAPH_SCENE,
        &[("run", "one"), ("from", "head"), ("to", "x")],
    );
    assert_eq!(back["way"], json!([]));
    let diff = ask(
        &server,
        paths::GRAPH_DIFF,
        &[("run", "two"), ("base", "one")],
    );
    assert_eq!(
        (&diff["totals"], &diff["same"]),
        (&json!([1, 0, 1, 0]), &json!(3))
    );
    assert_eq!(
        (&diff["added"][0]["path"], &diff["changed"][0]["what"]),
        (&json!("head/more"), &json!(["type"]))
    );
    for (path, wrong) in [
        (paths::GRAPH_NODE, ("node", "net/none")),
        (paths::GRAPH_SCENE, ("around", "none")),
    ] {
        let answer = server.get(&format!("{path}?{}", query(&[("run", "one"), wrong])));
        assert_eq!(
            (answer.status, &answer.json()["code"]),
            (404, &json!("unknown_node")),
            "{path}"
        );
    }
    // Tensors need not be in a graph: then the neighbourhood is empty.
    let nothing = ask(
        &server,
        paths::GRAPH_SCENE,
        &[("run", "one"), ("tensor", "none")],
    );
    assert_eq!(nothing["boxes"], json!([]));
    let answer = server.get(&format!(
        "{}?{}",
        paths::GRAPH_SCENE,
        query(&[("run", "one"), ("around", "x"), ("steps", "9")])
    ));
    assert_eq!(answer.status, 400);
}

#[test]
fn odd_graphs_are_told_of_and_the_rest_is_shown() {
    let lab = Lab::new();
    let markup = "<img src=x onerror=alert(1)>/<b>&amp;";
    let mut lost = node("lost", "Add", &[0]);
    lost.inputs.push(Edge {
        missing: "nowhere".to_owned(),
        ..Edge::default()
    });
    let odd = vec![
        node("a", "A", &[1]),
        node("b", "B", &[0]),
        node(markup, "<i>", &[1]),
        lost,
        node("a", "A", &[]),
    ];
    record(
        &lab.base().join("odd"),
        &Graph {
            nodes: odd,
            ..Graph::default()
        },
    );
    record(&lab.base().join("empty"), &Graph::default());
    // 10,000 edges to one node, and as many from it.
    let mut many: Vec<Node> = (0..10_000)
        .map(|n| node(&format!("n{n}"), "Load", &[]))
        .collect();
    many.push(node("sum", "AddN", &(0..10_000).collect::<Vec<_>>()));
    many.extend((0..10_000).map(|n| node(&format!("m{n}"), "Mul", &[10_000])));
    record(
        &lab.base().join("many"),
        &Graph {
            nodes: many,
            ..Graph::default()
        },
    );
    // Its exporter put the values of the parameters into a separate file; one of the two models has lost that file.
    let model = "cnn.dynamo.onnx";
    let model_file = fixture("torch-onnx").join(model);
    for run in ["lone", "whole"] {
        let folder = lab.base().join(run);
        fs::create_dir_all(&folder).unwrap();
        fs::copy(&model_file, folder.join(model)).unwrap();
    }
    fs::write(lab.base().join("whole").join(format!("{model}.data")), [0]).unwrap();
    let server = serve(&lab, 5);
    let notes = |run: &str| ask(&server, paths::GRAPH_SCENE, &[("run", run)])["notes"].take();
    let lone = notes("lone");
    let [en, zh] = ["en", "zh"].map(|language| lone[0][language].as_str().unwrap());
    let file = format!("{model}.data");
    assert!(
        en.contains(&format!("are in {file}, which is missing beside the graph")),
        "{en}"
    );
    assert!(zh.contains(&file) && zh.contains("参数"), "{zh}");
    assert_eq!(notes("whole"), json!([]));
    let odd = notes("odd");
    assert_eq!(odd[0]["en"], "1 node repeats a name: a");
    assert_eq!(odd[1]["zh"], "1 个输入没有来源，如 nowhere");
    let odd = ask(
        &server,
        paths::GRAPH_SCENE,
        &[("run", "odd"), ("show", markup)],
    );
    assert_eq!(find(&odd, markup)["label"], "<b>&amp;");
    assert!(
        odd["lines"]
            .as_array()
            .unwrap()
            .iter()
            .any(|line| line["at"][3].as_i64() < line["at"][1].as_i64())
    );
    find(&odd, "a (2)");
    let lost = ask(
        &server,
        paths::GRAPH_NODE,
        &[("run", "odd"), ("node", "lost")],
    );
    assert_eq!(
        (&lost["inputs"][1]["name"], &lost["inputs"][1]["kind"]),
        (&json!("nowhere"), &Value::Null)
    );
    let empty = ask(&server, paths::GRAPH_SCENE, &[("run", "empty")]);
    assert_eq!(
        (&empty["boxes"], &empty["total_nodes"]),
        (&json!([]), &json!(0))
    );
    let many = ask(&server, paths::GRAPH_SCENE, &[("run", "many")]);
    assert_eq!(many["boxes"].as_array().unwrap().len(), 20_001);
    let sum = ask(
        &server,
        paths::GRAPH_NODE,
        &[("run", "many"), ("node", "sum")],
    );
    assert_eq!(
        (&sum["total_inputs"], &sum["total_users"]),
        (&json!(10_000), &json!(10_000))
    );
    assert_eq!(sum["inputs"].as_array().unwrap().len(), 200);
    let near = ask(
        &server,
        paths::GRAPH_SCENE,
        &[("run", "many"), ("around", "sum")],
    );
    assert_eq!(near["cut"], true);
}

fn last_of(nodes: &[Node]) -> u32 {
    u32::try_from(nodes.len()).unwrap() - 1
}

/// A transformer of about 100,000 nodes in scopes six deep.
pub(crate) fn transformer() -> Graph {
    let mut nodes = vec![node("model/embed/tokens", "Gather", &[])];
    nodes[0].kind = NodeKind::Input;
    for layer in 0..96 {
        for head in 0..64 {
            let scope = format!("model/decoder/layers/{layer}/attention/heads/{head}");
            let before = last_of(&nodes);
            for op in 0..15 {
                let input = if op == 0 { before } else { last_of(&nodes) };
                nodes.push(node(
                    &format!("{scope}/op{op}"),
                    ["MatMul", "Add", "Softmax"][op % 3],
                    &[input],
                ));
            }
        }
        let last = last_of(&nodes);
        nodes.push(node(
            &format!("model/decoder/layers/{layer}/ffn/gelu"),
            "Gelu",
            &[last],
        ));
    }
    let last = last_of(&nodes);
    for n in 0..1_500 {
        nodes.push(node(
            &format!("optimizer/update{n}"),
            "Adam",
            &[if n % 3 == 0 { last } else { last + n }],
        ));
    }
    let mut head = node("loss/softmax", "SoftmaxCrossEntropy", &[last]);
    head.kind = NodeKind::Operation;
    nodes.push(head);
    Graph {
        nodes,
        ..Graph::default()
    }
}

#[test]
fn a_graph_of_a_hundred_thousand_nodes_is_answered_by_what_is_open() {
    let lab = Lab::new();
    let graph = transformer();
    assert!(graph.nodes.len() > 90_000);
    record(&lab.base().join("large"), &graph);
    let server = serve(&lab, 1);
    let first = ask(&server, paths::GRAPH_SCENE, &[("run", "large")]);
    assert_eq!(first["total_nodes"], graph.nodes.len());
    assert!(first["boxes"].as_array().unwrap().len() < 60);
    let layers = find(&first, "model/decoder/layers");
    assert_eq!(
        (&layers["kind"], &layers["times"]),
        (&json!("fold"), &json!(96))
    );
    let optimizer = ask(
        &server,
        paths::GRAPH_SCENE,
        &[("run", "large"), ("open", "optimizer")],
    );
    assert_eq!(optimizer["boxes"].as_array().unwrap().len(), 1_503);
}
