//! Graphs of every format.
#![no_main]

use trainscope_format::{Graph, GraphFormat};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for format in [
        GraphFormat::TfGraphDef,
        GraphFormat::TfMetaGraphDef,
        GraphFormat::TfRunMetadata,
        GraphFormat::KerasJson,
        GraphFormat::MindsporeGraph,
        GraphFormat::MindsporeModel,
        GraphFormat::Onnx,
        GraphFormat::Native,
    ] {
        if let Ok(graph) = Graph::read(format, bytes) {
            assert!(graph.nodes.len() <= bytes.len());
        }
    }
});
