//! Graphs of real models, and graphs that nobody should have written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use proptest::prelude::*;
use trainscope_format::graph::{Dimension, Graph, Node, NodeKind};
use trainscope_format::{Body, Format, GraphFormat, sniff};

use crate::fixtures::{self, FIXTURES};
use crate::support::{bytes_field, varint_field, whole};

const FORMATS: [GraphFormat; 7] = [
    GraphFormat::TfGraphDef,
    GraphFormat::TfMetaGraphDef,
    GraphFormat::TfRunMetadata,
    GraphFormat::KerasJson,
    GraphFormat::MindsporeGraph,
    GraphFormat::MindsporeModel,
    GraphFormat::Onnx,
];

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
fn origins<'a>(graph: &'a Graph, node: &Node) -> Vec<&'a str> {
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

/// A node of a `GraphDef`.
fn tf_node(name: &str, inputs: &[&str]) -> Vec<u8> {
    let inputs = inputs
        .iter()
        .flat_map(|input| bytes_field(3, input.as_bytes()));
    let head = [bytes_field(1, name.as_bytes()), bytes_field(2, b"Op")].concat();
    bytes_field(1, &head.into_iter().chain(inputs).collect::<Vec<_>>())
}

#[test]
fn odd_graphs_are_kept_and_said_to_be_odd() {
    let read = |nodes: &[Vec<u8>]| Graph::read(GraphFormat::TfGraphDef, &nodes.concat()).unwrap();
    assert_eq!(read(&[]).notes, ["the graph has no nodes"]);

    let graph = read(&[
        tf_node("a", &["b:1", "^c", "nowhere:2"]),
        tf_node("b", &["a"]),
        tf_node("c", &[]),
        tf_node("c", &["c:3", "^ghost"]),
        tf_node("d", &["d"]),
    ]);
    assert_eq!(graph.nodes.len(), 5);
    assert_eq!(
        graph.notes,
        [
            "1 nodes repeat a name, c for one",
            "2 inputs lead nowhere, nowhere for one",
            "3 nodes are part of a cycle or wait for one",
        ]
    );
    let inputs: Vec<_> = graph.nodes[0]
        .inputs
        .iter()
        .map(|edge| (edge.node, edge.slot, edge.is_control, &*edge.missing))
        .collect();
    assert_eq!(
        inputs,
        [
            (Some(1), 1, false, ""),
            (None, 2, false, "nowhere"),
            (Some(2), 0, true, "")
        ]
    );
}

#[test]
fn large_values_are_only_named_and_deep_ones_end() {
    let attribute = |name: &str, value: &[u8]| {
        bytes_field(
            5,
            &[bytes_field(1, name.as_bytes()), bytes_field(2, value)].concat(),
        )
    };
    let node = [
        bytes_field(1, b"n"),
        attribute("text", &bytes_field(2, &[b'x'; 1000])),
        attribute("noise", &bytes_field(2, &[0xff; 4])),
        attribute("numbers", &bytes_field(1, &bytes_field(3, &[7; 1000]))),
        attribute("few", &bytes_field(1, &bytes_field(3, &[7, 8]))),
    ];
    let graph = Graph::read(GraphFormat::TfGraphDef, &bytes_field(1, &node.concat())).unwrap();
    let values: Vec<_> = graph.nodes[0]
        .attributes
        .iter()
        .map(|attribute| &*attribute.1)
        .collect();
    assert_eq!(
        values,
        ["… 1000 bytes", "… 4 bytes", "[… 1000 values]", "[7, 8]"]
    );

    // Values within values, types within types, graphs within graphs.
    let (mut value, mut types) = (varint_field(3, 1), varint_field(1, 11));
    let mut onnx = bytes_field(4, b"If");
    for _ in 0..100_000 / 100 {
        value = bytes_field(18, &value);
        types = bytes_field(3, &bytes_field(1, &types));
        onnx = bytes_field(5, &bytes_field(6, &bytes_field(1, &onnx)));
    }
    let node = [
        bytes_field(5, &bytes_field(2, &value)),
        bytes_field(6, &types),
    ]
    .concat();
    let graph = Graph::read(GraphFormat::MindsporeGraph, &bytes_field(1, &node)).unwrap();
    assert!(graph.nodes[0].attributes[0].1.contains('…'));
    let graph = Graph::read(GraphFormat::Onnx, &bytes_field(7, &bytes_field(1, &onnx))).unwrap();
    assert_eq!(graph.nodes.len(), 17);
    assert!(graph.notes.iter().any(|note| note.contains("too deep")));
    let deep = "[".repeat(10_000);
    assert!(Graph::read(GraphFormat::KerasJson, deep.as_bytes()).is_err());
}

#[test]
fn what_is_cut_off_is_no_graph_or_a_smaller_one() {
    for (format, path) in [
        (GraphFormat::Onnx, "torch-onnx/cnn.dynamo.onnx"),
        (
            GraphFormat::MindsporeModel,
            "mindspore-graphs/ms20-healthy.pb",
        ),
    ] {
        let bytes = fs::read(format!("{FIXTURES}/{path}")).unwrap();
        let whole = Graph::read(format, &bytes).unwrap().nodes.len();
        for len in (0..bytes.len()).step_by(97) {
            for format in FORMATS {
                if let Ok(graph) = Graph::read(format, &bytes[..len]) {
                    assert!(graph.nodes.len() <= whole.max(300));
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for format in FORMATS {
            // Whatever it is, it is no more than the bytes can hold.
            if let Ok(graph) = Graph::read(format, &bytes) {
                prop_assert!(graph.nodes.len() <= bytes.len());
            }
        }
    }

    #[test]
    fn changed_bytes_never_panic(at in any::<prop::sample::Index>(), to in any::<u8>(), which in 0..2_usize) {
        let (format, path) = [
            (GraphFormat::Onnx, "torch-onnx/cnn.torchscript.onnx"),
            (GraphFormat::MindsporeModel, "mindspore-graphs/ms20-healthy.pb"),
        ][which];
        let mut bytes = fs::read(format!("{FIXTURES}/{path}")).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = to;
        drop(Graph::read(format, &bytes));
    }
}
