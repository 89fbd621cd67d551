//! Graphs of real models.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};

use trainscope_format::graph::{Dimension, Graph, Node, NodeKind};
use trainscope_format::{Body, Format, GraphFormat, Stretch, sniff};

use crate::fixtures::{self, FIXTURES};
use crate::support::{bytes_field, feed, varint, whole};

fn file(format: GraphFormat, path: &str) -> Graph {
    Graph::read(format, &fs::read(format!("{FIXTURES}/{path}")).unwrap()).unwrap()
}

/// The graph under this tag of an event file.
fn recorded(path: &str, tag: &str) -> Graph {
    let bytes = fs::read(format!("{FIXTURES}/{path}")).unwrap();
    let seen = whole(
        sniff(path.rsplit('/').next().unwrap(), Vec::new).unwrap(),
        &bytes,
    );
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

/// Shape of a node's only output, without symbols.
fn sizes(node: &Node) -> Vec<u64> {
    let shape = node.outputs[0].shape.as_ref().unwrap();
    let size = |dimension: &Dimension| match dimension {
        Dimension::Size(size) => *size,
        Dimension::Symbol(name) => panic!("{name}"),
    };
    shape.iter().map(size).collect()
}

/// Oddities of a graph, as sentences.
pub(crate) fn notes(graph: &Graph) -> Vec<String> {
    graph.notes.iter().map(ToString::to_string).collect()
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
        assert_eq!(graph.notes, [], "{model}");
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

    // External weights: only their location is known.
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
        assert_eq!(graph.notes, []);
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
            assert_eq!(graph.notes, [], "{path:?}");
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
    // torch omits the modules that its parameters belong to.
    assert_eq!(
        notes(&graph),
        ["10 inputs have no source node: Net/Conv2d[conv1]/weight/conv1, …"]
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
    assert_eq!(
        ops,
        [
            "InputLayer",
            "Dense",
            "Dense",
            "SparseCategoricalCrossentropy",
            "Adam"
        ]
    );
    assert_eq!(keras.nodes[2].inputs[0].node, Some(1));
    assert_eq!(keras.nodes[3].inputs[0].node, Some(2), "the loss");
    assert_eq!(keras.notes, []);
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

#[test]
fn a_file_that_is_a_graph_is_one_record() {
    let head = b"\x0a\x10\x0a\x01";
    let format = sniff("frozen.net.pb", || head.to_vec()).unwrap();
    assert_eq!(format, Format::Graph(GraphFormat::TfGraphDef));
    let never = || panic!("the name says it");
    assert_eq!(
        sniff("events.out.tfevents.1", never),
        Some(Format::Tfevents)
    );
    assert_eq!(sniff("readme.md", never), None);
    for cuts in [&[][..], &[1], &[0, 0, 2, 2, 3]] {
        let seen = feed(format.decoder("frozen.net.pb"), head, cuts);
        assert_eq!((seen.offset, seen.checkpoint.offset), (4, 4));
        let [(0, Body::Graph(source))] = seen.bodies("frozen.net")[..] else {
            panic!("{seen:?}");
        };
        assert_eq!(source.data, Stretch::WHOLE_FILE);
        // Resuming yields nothing more.
        let on = format.resume("frozen.net.pb", seen.checkpoint).unwrap();
        assert_eq!(feed(on, b"more", &[]).batch.records.len(), 0);
    }
    let none = feed(format.decoder("a.pb"), b"", &[]);
    assert_eq!(
        (none.batch.records.len(), none.checkpoint.tags.len()),
        (0, 0)
    );
}

/// The graph of an ONNX file read without its weights.
fn skimmed(bytes: &[u8]) -> Option<Graph> {
    let mut file = Cursor::new(bytes);
    Graph::read_file(GraphFormat::Onnx, &mut file, bytes.len() as u64).ok()
}

#[test]
fn an_onnx_file_is_skimmed_to_the_same_graph() {
    for model in ["cnn", "transformer"] {
        for exporter in ["dynamo", "torchscript"] {
            let path = format!("{FIXTURES}/torch-onnx/{model}.{exporter}.onnx");
            let bytes = fs::read(path).unwrap();
            let whole = Graph::read(GraphFormat::Onnx, &bytes).unwrap();
            assert_eq!(skimmed(&bytes), Some(whole), "{model}.{exporter}");
            for len in (0..bytes.len()).step_by(bytes.len() / 200) {
                let cut = skimmed(&bytes[..len]);
                assert!(cut.is_none_or(|graph| graph.nodes.len() <= len));
            }
        }
    }
}

/// A file with gigabytes of weights, none of which are read: each tensor is a hole.
struct Holes {
    /// Content by offset; everything else is 0.
    parts: Vec<(u64, Vec<u8>)>,
    at: u64,
    len: u64,
    read_bytes: u64,
}

impl Read for Holes {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = usize::try_from(self.len - self.at).map_or(out.len(), |left| left.min(out.len()));
        for (offset, byte) in (self.at..).zip(&mut out[..len]) {
            let part = self
                .parts
                .iter()
                .find(|(from, part)| (*from..from + part.len() as u64).contains(&offset));
            *byte = part.map_or(0, |(from, part)| {
                part[usize::try_from(offset - from).unwrap()]
            });
        }
        self.at += len as u64;
        self.read_bytes += len as u64;
        Ok(len)
    }
}

impl Seek for Holes {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::Current(by) => self.at.checked_add_signed(by).unwrap(),
            SeekFrom::End(by) => self.len.checked_add_signed(by).unwrap(),
        };
        Ok(self.at)
    }
}

#[test]
fn weights_in_an_onnx_file_are_never_read() {
    const WEIGHTS: u64 = 40 << 30;
    let key = |number: u64, len: u64| [varint(number << 3 | 2), varint(len)].concat();
    let mut parts = Vec::new();
    let mut at = 0;
    // The graph is five initializers of 40 GiB each and an output of the last.
    let name = |index: u8| bytes_field(8, &[b'w', b'0' + index]);
    let tensor_len = |index| (name(index).len() + key(9, WEIGHTS).len()) as u64 + WEIGHTS;
    let output = bytes_field(12, &bytes_field(1, b"w4"));
    let initializers: u64 = (0..5)
        .map(|i| key(5, tensor_len(i)).len() as u64 + tensor_len(i))
        .sum();
    let mut put = |bytes: Vec<u8>, hole: u64| {
        let len = bytes.len() as u64;
        parts.push((at, bytes));
        at += len + hole;
    };
    put(key(7, initializers + output.len() as u64), 0);
    for index in 0..5 {
        let begin = [key(5, tensor_len(index)), name(index), key(9, WEIGHTS)];
        put(begin.concat(), WEIGHTS);
    }
    put(output, 0);
    let holes = Holes {
        parts,
        at: 0,
        len: at,
        read_bytes: 0,
    };
    let mut file = BufReader::new(holes);
    let graph = Graph::read_file(GraphFormat::Onnx, &mut file, at).unwrap();
    let names: Vec<_> = graph.nodes.iter().map(|node| &*node.name).collect();
    assert_eq!(names, ["w0", "w1", "w2", "w3", "w4"]);
    assert_eq!(graph.outputs[0].from.node, Some(4));
    let read_bytes = file.get_ref().read_bytes;
    assert!(read_bytes < 100_000, "{read_bytes}");
}
