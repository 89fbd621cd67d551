//! Graphs written by hand: cases that the real files lack, and invalid ones.

use std::fs;

use proptest::prelude::*;
use trainscope_format::GraphFormat;
use trainscope_format::graph::{Dimension, Graph};

use crate::fixtures::FIXTURES;
use crate::graphs::{notes, origins};
use crate::support::{bytes_field, varint_field};

const FORMATS: [GraphFormat; 7] = [
    GraphFormat::TfGraphDef,
    GraphFormat::TfMetaGraphDef,
    GraphFormat::TfRunMetadata,
    GraphFormat::KerasJson,
    GraphFormat::MindsporeGraph,
    GraphFormat::MindsporeModel,
    GraphFormat::Onnx,
];

#[test]
fn functions_of_tensorflow_are_scopes() {
    let field = |number, name: &str| bytes_field(number, name.as_bytes());
    let argument = [field(1, "x"), varint_field(3, 1)].concat();
    let signature = [field(1, "square"), bytes_field(2, &argument)].concat();
    let mul = [
        field(1, "mul"),
        field(2, "Mul"),
        field(3, "x"),
        field(3, "x"),
    ]
    .concat();
    let relu = [field(1, "relu"), field(2, "Relu"), field(3, "mul:z:0")].concat();
    let result = [field(1, "y"), field(2, "relu:activations:0")].concat();
    let function = [
        bytes_field(1, &signature),
        bytes_field(3, &mul),
        bytes_field(3, &relu),
        bytes_field(4, &result),
    ]
    .concat();
    let graph = [
        tf_node("x", &[]),
        bytes_field(2, &bytes_field(1, &function)),
    ]
    .concat();
    for (format, bytes) in [
        (GraphFormat::TfGraphDef, graph.clone()),
        (GraphFormat::TfMetaGraphDef, bytes_field(2, &graph)),
        (GraphFormat::TfRunMetadata, bytes_field(3, &graph)),
    ] {
        let graph = Graph::read(format, &bytes).unwrap();
        assert_eq!(graph.notes, []);
        let names: Vec<_> = graph.nodes.iter().map(|node| &*node.name).collect();
        assert_eq!(names, ["x", "square/x", "square/mul", "square/relu"]);
        assert_eq!(origins(&graph, &graph.nodes[2]), ["square/x", "square/x"]);
        assert_eq!(origins(&graph, &graph.nodes[3]), ["square/mul"]);
        assert_eq!(graph.nodes[1].outputs[0].dtype, "f32");
        assert_eq!(
            (&*graph.outputs[0].name, graph.outputs[0].from.node),
            ("square/y", Some(3))
        );
    }
}

#[test]
fn branches_and_functions_of_onnx_are_scopes() {
    let field = |number, name: &str| bytes_field(number, name.as_bytes());
    let node = |name: &str, op_type: &str, inputs: &[&str], outputs: &[&str], attributes: &[u8]| {
        let inputs = inputs.iter().flat_map(|input| field(1, input));
        let outputs = outputs.iter().flat_map(|output| field(2, output));
        let head = inputs.chain(outputs).collect::<Vec<_>>();
        bytes_field(
            1,
            &[head, field(3, name), field(4, op_type), attributes.to_vec()].concat(),
        )
    };
    let tensor = |name: &str| {
        [
            varint_field(1, 3),
            varint_field(2, 16),
            field(8, name),
            bytes_field(9, &[0; 6]),
        ]
        .concat()
    };
    let dimensions = [
        bytes_field(1, &field(2, "batch")),
        bytes_field(1, &varint_field(1, 3)),
        bytes_field(1, b""),
    ]
    .concat();
    let value = |name: &str| {
        let tensor = [varint_field(1, 1), bytes_field(2, &dimensions)].concat();
        [field(1, name), bytes_field(2, &bytes_field(1, &tensor))].concat()
    };
    let branch = [
        node("", "Add", &["x", "w"], &["inner"], b""),
        bytes_field(12, &value("inner")),
    ]
    .concat();
    let attribute = [field(1, "then_branch"), bytes_field(6, &branch)].concat();
    let graph = [
        node(
            "if",
            "If",
            &["x", ""],
            &["first", "second"],
            &bytes_field(5, &attribute),
        ),
        node("last", "Local", &["second"], &["y"], &field(7, "my.domain")),
        bytes_field(5, &tensor("w")),
        // Older writers list parameters among the inputs too.
        bytes_field(11, &value("w")),
        bytes_field(11, &value("x")),
        bytes_field(12, &value("y")),
    ]
    .concat();
    let mul = [field(1, "a"), field(1, "a"), field(2, "b"), field(4, "Mul")].concat();
    let function = [
        field(1, "Local"),
        field(4, "a"),
        field(5, "b"),
        bytes_field(7, &mul),
    ]
    .concat();
    let bytes = [bytes_field(7, &graph), bytes_field(25, &function)].concat();
    let graph = Graph::read(GraphFormat::Onnx, &bytes).unwrap();
    assert_eq!(graph.notes, []);
    let names: Vec<_> = graph.nodes.iter().map(|node| &*node.name).collect();
    assert_eq!(
        names,
        ["w", "x", "if", "if/inner", "last", "Local/a", "Local/b"]
    );
    assert_eq!(origins(&graph, &graph.nodes[3]), ["x", "w"]);
    assert_eq!(
        (graph.nodes[4].inputs[0].node, graph.nodes[4].inputs[0].slot),
        (Some(2), 1)
    );
    assert_eq!(origins(&graph, &graph.nodes[6]), ["Local/a", "Local/a"]);
    assert_eq!(graph.nodes[0].outputs[0].dtype, "bf16");
    assert_eq!(
        graph.nodes[1].outputs[0].shape,
        Some(vec![
            Dimension::Symbol("batch".into()),
            Dimension::Size(3),
            Dimension::Symbol("?".into())
        ])
    );
    assert_eq!(
        graph.nodes[4].attributes,
        [("domain".into(), "my.domain".into())]
    );
}

#[test]
fn functional_models_of_keras_say_their_edges() {
    let layer = |name: &str, class: &str, inbound: &str| {
        format!(
            r#"{{"class_name": "{class}", "name": "{name}", "config": {{"name": "{name}", "units": 4, "activation": "relu", "kernel": {{"class_name": "Glorot"}}}}, "inbound_nodes": {inbound}}}"#
        )
    };
    let history = r#"[{"args": [[{"class_name": "__keras_tensor__", "config": {"keras_history": ["b", 0, 0]}}]]}]"#;
    for (two, inbound) in [
        ("Keras 2", r#"[[["a", 0, 0, {}], ["b", 0, 1, {}]]]"#),
        (
            "Keras 3",
            r#"[{"args": [[{"config": {"keras_history": ["a", 0, 0]}}, {"config": {"keras_history": ["b", 0, 1]}}]]}]"#,
        ),
    ] {
        let layers = [
            layer("a", "InputLayer", "[]"),
            layer("b", "Dense", &inbound.replace("\"b\"", "\"a\"")),
            layer("c", "Add", inbound),
            layer("d", "Dense", history),
        ];
        let json = format!(
            r#"{{"class_name": "Functional", "keras_version": "3.1", "config": {{"name": "net", "layers": [{}]}}}}"#,
            layers.join(", ")
        );
        let graph = Graph::read(GraphFormat::KerasJson, json.as_bytes()).unwrap();
        assert_eq!((&*graph.name, &*graph.producer), ("net", "keras 3.1"));
        assert_eq!(graph.notes, [], "{two}");
        assert_eq!(origins(&graph, &graph.nodes[2]), ["a", "b"], "{two}");
        assert_eq!(graph.nodes[2].inputs[1].slot, 1);
        assert_eq!(origins(&graph, &graph.nodes[3]), ["b"]);
        let attributes = &graph.nodes[3].attributes;
        assert!(attributes.contains(&("units".into(), "4".into())));
        assert!(attributes.contains(&("kernel".into(), "Glorot".into())));
    }
}

/// A loss for each output, as a list in their order, a map by their names or a common one, followed by the optimizer;
/// an output of a nested model comes from the layer that computes it.
#[test]
fn compiled_models_of_keras_say_their_losses() {
    let dense = |name: &str| {
        format!(
            r#"{{"class_name": "Dense", "name": "{name}", "config": {{"name": "{name}", "units": 2}}, "inbound_nodes": []}}"#
        )
    };
    let inner = format!(
        r#"{{"class_name": "Sequential", "name": "inner", "config": {{"name": "inner", "layers": [{}, {}]}}, "inbound_nodes": []}}"#,
        dense("first"),
        dense("last")
    );
    let class = r#"{"class_name": "Huber", "config": {"delta": 2.0}}"#;
    let optimizer = r#"{"class_name": "SGD", "config": {"momentum": 0.5, "learning_rate":
        {"class_name": "CosineDecay", "config": {"initial_learning_rate": 0.25}}}}"#;
    let read = |outputs: &str, loss: &str| {
        let json = format!(
            r#"{{"class_name": "Functional", "config": {{"layers": [{}, {inner}], "output_layers": {outputs}}},
                "compile_config": {{"optimizer": {optimizer}, "loss": {loss}}}}}"#,
            dense("a")
        );
        Graph::read(GraphFormat::KerasJson, json.as_bytes()).unwrap()
    };
    let both = r#"[["a", 0, 0], ["inner", 0, 0]]"#;
    let named = r#"{"x": ["a", 0, 0], "y": ["inner", 0, 0]}"#;
    let by_name = format!(r#"{{"y": "mse", "x": {class}}}"#);
    for (outputs, loss, expected) in [
        (
            both,
            format!(r#"[{class}, "mse"]"#),
            vec![
                ("loss/a", "Huber", "a"),
                ("loss/inner", "mse", "inner/last"),
            ],
        ),
        (
            named,
            by_name,
            vec![("loss/x", "Huber", "a"), ("loss/y", "mse", "inner/last")],
        ),
        (
            r#"["inner", 0, 0]"#,
            r#""mse""#.to_owned(),
            vec![("loss", "mse", "inner/last")],
        ),
        (both, "null".to_owned(), vec![]),
        (r#"[["nothing", 0, 0]]"#, r#""mse""#.to_owned(), vec![]),
    ] {
        let graph = read(outputs, &loss);
        let losses = graph
            .nodes
            .iter()
            .filter(|node| node.name.starts_with("loss"));
        let losses = losses.map(|node| (&*node.name, &*node.op_type, origins(&graph, node)[0]));
        let losses: Vec<_> = losses.collect();
        assert_eq!(losses, expected, "{loss}");
        let optimizer = graph.nodes.last().unwrap();
        assert_eq!(
            (&*optimizer.name, &*optimizer.op_type),
            ("optimizer", "SGD")
        );
        assert!(optimizer.inputs.iter().all(|edge| edge.is_control));
        assert_eq!(optimizer.inputs.len(), expected.len());
        let attributes = &optimizer.attributes;
        assert!(attributes.contains(&("initial_learning_rate".into(), "0.25".into())));
        assert!(attributes.contains(&("momentum".into(), "0.5".into())));
    }
    // A model that was not compiled only has layers.
    let graph = read(both, "null");
    assert_eq!(graph.nodes.len(), 5);
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
    assert_eq!(notes(&read(&[])), ["the graph has no nodes"]);

    let graph = read(&[
        tf_node("a", &["b:1", "^c", "nowhere:2"]),
        tf_node("b", &["a"]),
        tf_node("c", &[]),
        tf_node("c", &["c:3", "^ghost"]),
        tf_node("d", &["d"]),
    ]);
    assert_eq!(graph.nodes.len(), 5);
    assert_eq!(
        notes(&graph),
        [
            "1 node repeats a name: c",
            "2 inputs have no source node: nowhere, …",
            "3 nodes are part of a cycle or depend on one",
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
    assert!(
        graph
            .notes
            .iter()
            .any(|note| note.to_string().contains("too deep"))
    );
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
            // The size of any decoded graph is bounded by its bytes.
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
