//! Graphs of all formats, read from bytes or from a whole file.

use std::io::{self, BufRead, Read, Seek};

use super::{graph_keras, graph_mindspore, graph_tf, native, onnx, onnx_skim};
use crate::body::GraphFormat;
use crate::graph::{Graph, NotAGraph};

/// Size limit of graph files, which are read into memory.
const MAX_FILE_BYTES: u64 = 1 << 30;

impl Graph {
    /// Reads a graph file of `len` bytes. Weights are skipped.
    pub fn read_file(
        format: GraphFormat,
        file: &mut (impl BufRead + Seek),
        len_bytes: u64,
    ) -> io::Result<Self> {
        let bytes = if format == GraphFormat::Onnx {
            onnx_skim::without_weights(file, len_bytes)?
        } else if len_bytes > MAX_FILE_BYTES {
            return Err(io::Error::other("it exceeds 1 GiB"));
        } else {
            let mut bytes = Vec::new();
            file.take(len_bytes).read_to_end(&mut bytes)?;
            bytes
        };
        Self::read(format, &bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
    }

    /// Decodes a graph from all of its bytes: those of [`crate::GraphSource::data`], or a whole file.
    pub fn read(format: GraphFormat, bytes: &[u8]) -> Result<Self, NotAGraph> {
        match format {
            GraphFormat::TfGraphDef => graph_tf::graph_def(bytes),
            GraphFormat::TfMetaGraphDef => graph_tf::meta_graph_def(bytes),
            GraphFormat::TfRunMetadata => graph_tf::run_metadata(bytes),
            GraphFormat::KerasJson => graph_keras::model(bytes),
            GraphFormat::MindsporeGraph => graph_mindspore::graph(bytes),
            GraphFormat::MindsporeModel => graph_mindspore::model(bytes),
            GraphFormat::Onnx => onnx::model(bytes),
            GraphFormat::Native => native::graph::read(bytes),
        }
    }
}
