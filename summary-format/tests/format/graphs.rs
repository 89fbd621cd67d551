//! Graphs of real models.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use trainscope_format::graph::{Dimension, Graph, Node, NodeKind};
use trainscope_format::{Body, Format, GraphFormat, sniff};

use crate::fixtures::{self, FIXTURES};
use crate::support::whole;

fn file(format: GraphFormat, path: &str) -> Graph {
    Graph::read(format, &fs::read(format!("{FIXTURES}/{path}")).unwrap()).unwrap()
}

/// The graph that an event file holds below this tag.
fn recorded(path: &str, tag: &str) -> Graph {
    let bytes = fs::read(format!("{FIXTURES}/{path}")).unwrap();
    let seen = whole(sniff(path.rsplit('/').next().unwrap()).unwrap(), &bytes);
    let bodies = seen.bodies(tag);
    let Some((_, Body::Graph(graph))) = bodies.first() else {
        panic!("{path}: no {tag}")
    };
    let from = usize::try_from(graph.data.offset).unwrap();
    let len = usize::try_from(graph.data.len_bytes).unwrap();
    Graph::read(graph.format, &bytes[from..from + len]).unwrap()
}

fn of_kind(graph: &Graph, kind: NodeKind) -> Vec<&Node> {
    graph
        .nodes
        .iter()
        .filter(|node| node.kind == kind)
        .collect()
}

fn node<'a>(graph: &'a Graph, name: &str) -> &'a Node {
    let mut found = graph.nodes.iter().filter(|node| node.name == name);
    found.next().unwrap_or_else(|| {
        panic!(
            "no {name} among {:#?}",
            graph
                .nodes
                .iter()
                .map(|node| &node.name)
                .collect::<Vec<_>>()
        )
    })
}

/// Names of the nodes that a node's inputs come from.
pub(crate) fn origins<'a>(graph: &'a Graph, node: &Node) -> Vec<&'a str> {
    let edges = node.inputs.iter().filter_map(|edge| edge.node);
    edges
        .map(|index| &*graph.nodes[index as usize].name)
        .collect()
}

/// The sizes of a node's only output, all of them known.
fn sizes(node: &Node) -> Vec<u64> {
    let shape = node.outputs[0].shape.as_ref().unwrap();
    let size = |dimension: &Dimension| match dimension {
        Dimension::Size(size) => *size,
        Dimension::Symbol(name) => panic!("{name}"),
    };
    shape.iter().map(size).collect()
}

#[test]
fn onnx_models_are_what_their_exporter_counted() {
    let truth = fs::read(format!("{FIXTURES}/torch-onnx/truth.json")).unwrap();
    let truth: serde_json::Value = serde_json::from_slice(&truth).unwrap();
    for model in [
        "cnn.dynamo",
        "cnn.torchscript",
        "transformer.dynamo",
        "transformer.torchscript",
    ] {
        let graph = file(GraphFormat::Onnx, &format!("torch-onnx/{model}.onnx"));
        assert_eq!(graph.notes, [""; 0], "{model}");
        let truth = &truth[model];
        assert_eq!(
            graph.producer,
            truth["producer"].as_str().unwrap(),
            "{model}"
        );
        let mut operations = BTreeMap::new();
        for node in &graph.nodes {
            if matches!(node.kind, NodeKind::Operation | NodeKind::Constant) {
                *operations.entry(&*node.op_type).or_insert(0_u64) += 1;
            }
        }
        let expected = truth["ops"].as_object().unwrap();
        let expected = expected
            .iter()
            .map(|(name, count)| (&**name, count.as_u64().unwrap()));
        assert_eq!(operations, expected.collect(), "{model}");
        let parameters = of_kind(&graph, NodeKind::Parameter).len();
        assert_eq!(
            Some(parameters as u64),
            truth["initializers"].as_u64(),
            "{model}"
        );
        for (key, names) in [
            (
                "inputs",
                of_kind(&graph, NodeKind::Input)
                    .iter()
                    .map(|node| &*node.name)
                    .collect::<Vec<_>>(),
            ),
            (
                "outputs",
                graph.outputs.iter().map(|output| &*output.name).collect(),
            ),
        ] {
            assert_eq!(serde_json::json!(names), truth[key], "{model}");
        }
        assert!(
            graph
                .outputs
                .iter()
                .all(|output| output.from.node.is_some())
        );
    }
}

#[test]
fn nodes_of_an_onnx_model() {
    let graph = file(GraphFormat::Onnx, "torch-onnx/cnn.dynamo.onnx");
    let conv = node(&graph, "bn/node_Conv_12");
    assert_eq!(origins(&graph, conv), ["x", "conv1.weight", "conv1.bias"]);
    assert!(conv.source.contains("pt_export.py\", line 18, in forward"));
    let attribute = conv
        .attributes
        .iter()
        .find(|attribute| attribute.0 == "pads")
        .unwrap();
    assert_eq!(attribute.1, "[0, 0, 0, 0]");
    let weight = node(&graph, "conv1.weight");
    assert_eq!(
        (&*weight.outputs[0].dtype, sizes(weight)),
        ("f32", vec![5, 1, 3, 3])
    );

    // Weights outside: where they lie is all that is known of them.
    let graph = file(GraphFormat::Onnx, "torch-onnx/transformer.dynamo.onnx");
    let embedding = node(&graph, "emb.weight");
    assert_eq!(sizes(embedding), [60, 16]);
    assert!(
        embedding.attributes.contains(&(
            "external location".into(),
            "transformer.dynamo.onnx.data".into()
        )),
        "{embedding:?}"
    );

    let graph = file(GraphFormat::Onnx, "torch-onnx/cnn.torchscript.onnx");
    let gemm = node(&graph, "fc/Gemm");
    assert_eq!(origins(&graph, gemm), ["Flatten", "fc.weight", "fc.bias"]);
    assert_eq!(
        graph.outputs[0]
            .from
            .node
            .map(|index| &*graph.nodes[index as usize].name),
        Some("fc/Gemm")
    );
}

#[test]
fn mindspore_models_hold_every_operation_that_ran() {
    for (version, nodes, parameters, constants) in [("ms20", 95, 20, 13), ("ms210", 102, 21, 17)] {
        let graph = file(
            GraphFormat::MindsporeModel,
            &format!("mindspore-graphs/{version}-healthy.pb"),
        );
        assert!(["kernel_graph0", "kernel_graph_0"].contains(&&*graph.name));
        assert_eq!(graph.notes, [""; 0]);
        let operations = of_kind(&graph, NodeKind::Operation);
        assert_eq!(operations.len(), nodes);
        assert_eq!(of_kind(&graph, NodeKind::Parameter).len(), parameters);
        let seen = of_kind(&graph, NodeKind::Constant).len();
        assert_eq!(seen, constants);

        let names: BTreeSet<_> = operations.iter().map(|node| &*node.name).collect();
        let order = fs::read_to_string(format!(
            "{FIXTURES}/mindspore-graphs/{version}-healthy.order.csv"
        ))
        .unwrap();
        let ran: Vec<_> = order.lines().skip(1).collect();
        assert!(ran.len() > 40);
        for name in ran {
            assert!(names.contains(name), "{version} {name}");
        }

        let conv = operations
            .iter()
            .find(|node| node.op_type == "Conv2D")
            .unwrap();
        assert!(
            conv.name
                .starts_with("Default/network-WithLossCell/_backbone-Lenet/conv1-Conv2d/Conv2D-op")
        );
        assert!(conv.source.contains("conv.py"), "{conv:?}");
        assert!(
            conv.attributes
                .contains(&("kernel_size".into(), "[3, 3]".into()))
        );
        assert!(
            conv.attributes
                .contains(&("pad_mode".into(), "valid".into()))
        );
        assert_eq!(conv.outputs[0].dtype, "f32");
        assert_eq!(origins(&graph, conv)[0], "inputs0");
        let weight = node(&graph, "conv1.weight");
        assert_eq!(sizes(weight), [2, 1, 3, 3]);
    }
}

#[test]
fn every_recorded_graph_of_mindspore_is_whole() {
    let mut graphs = 0;
    for (path, format) in fixtures::all() {
        let bytes = fs::read(&path).unwrap();
        for record in whole(format, &bytes).batch.records {
            let Body::Graph(graph) = record.body else {
                continue;
            };
            if format != Format::MindsporeSummary {
                continue;
            }
            let from = usize::try_from(graph.data.offset).unwrap();
            let len = usize::try_from(graph.data.len_bytes).unwrap();
            let graph = Graph::read(graph.format, &bytes[from..from + len]).unwrap();
            assert_eq!(graph.notes, [""; 0], "{path:?}");
            assert!(graph.nodes.len() > 30, "{path:?}");
            graphs += 1;
        }
    }
    assert!(graphs >= 8, "{graphs}");
}

#[test]
fn the_graph_that_torch_traced() {
    let graph = recorded(
        "torch-tensorboard/torch/run1/events.out.tfevents.1795213388.vm.6342.0",
        "graph",
    );
    assert_eq!(graph.nodes.len(), 44);
    // torch leaves out the modules that its parameters are taken from.
    assert_eq!(
        graph.notes,
        ["10 inputs lead nowhere, Net/Conv2d[conv1]/weight/conv1 for one"]
    );
    let input = node(&graph, "input/x");
    assert_eq!(
        (input.kind, sizes(input)),
        (NodeKind::Input, vec![1, 1, 12, 12])
    );
    let conv = node(&graph, "Net/Conv2d[conv1]/input.1");
    assert_eq!(conv.op_type, "aten::_convolution");
    assert_eq!(conv.inputs.len(), 13);
    assert_eq!(
        origins(&graph, conv)[..2],
        ["input/x", "Net/Conv2d[conv1]/weight/weight.7"]
    );
    let constant = node(&graph, "Net/BatchNorm2d[bn]/148");
    assert_eq!(constant.kind, NodeKind::Constant);
    assert_eq!(
        constant.attributes,
        [("attr".into(), "{ value : 1e-05}".into())]
    );
    assert_eq!(node(&graph, "output/output.1").kind, NodeKind::Operation);
}

#[test]
fn the_graphs_of_tensorflow() {
    let graph = recorded(
        "tensorflow-events/v2/events.out.tfevents.1795214272.vm.12531.0.v2",
        "my_func",
    );
    let function: Vec<_> = graph
        .nodes
        .iter()
        .filter(|node| node.name.starts_with("function_3/"))
        .collect();
    assert_eq!(function.len(), 8);
    for op_type in ["MatMul", "AddV2", "Relu"] {
        let node = function
            .iter()
            .find(|node| node.op_type == op_type)
            .unwrap();
        assert!(
            node.inputs.iter().all(|edge| edge.node.is_some()),
            "{node:?}"
        );
        assert_eq!(node.outputs[0].dtype, "f32");
    }
    let keras = recorded(
        "tensorflow-events/keras/train/events.out.tfevents.1795214272.vm.12531.1.v2",
        "keras",
    );
    let ops: Vec<_> = keras.nodes.iter().map(|node| &*node.op_type).collect();
    assert_eq!(ops, ["InputLayer", "Dense", "Dense"]);
    assert_eq!(keras.nodes[2].inputs[0].node, Some(1));
    assert_eq!(keras.notes, [""; 0]);
}

#[test]
fn files_of_graphs_are_recognised() {
    for (name, head, format) in [
        ("model.onnx", &b""[..], Some(GraphFormat::Onnx)),
        ("MODEL.ONNX", b"\x08\x0a", Some(GraphFormat::Onnx)),
        (
            "ms_output_optimize.pb",
            b"\x08\x01\x22\xe0",
            Some(GraphFormat::MindsporeModel),
        ),
        ("graph.pb", b"\x0a\x10\x0a", Some(GraphFormat::TfGraphDef)),
        ("saved_model.pb", b"\x08\x01\x12\x99", None),
        ("graph.pb", b"", None),
        ("graph.pbtxt", b"\x0a\x10\x0a", None),
        ("pb", b"\x0a\x10\x0a", None),
    ] {
        assert_eq!(GraphFormat::sniff(name, head), format, "{name}");
    }
    for version in ["ms20", "ms210"] {
        let path = format!("{FIXTURES}/mindspore-graphs/{version}-healthy.pb");
        let bytes = fs::read(&path).unwrap();
        assert_eq!(
            GraphFormat::sniff(&path, &bytes[..16]),
            Some(GraphFormat::MindsporeModel)
        );
    }
}
