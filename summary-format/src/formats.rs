//! Formats, one module each, and the order in which they claim a file.

#[cfg(feature = "config")]
pub mod config;
mod decimal;
pub(crate) mod event_file;
pub mod folded;
mod graph;
mod graph_builder;
pub(crate) mod graph_keras;
pub(crate) mod graph_mindspore;
pub(crate) mod graph_tf;
mod media;
pub mod memory_snapshot;
pub mod memory_timeline;
pub(crate) mod minddata;
pub mod mindspore_dump;
pub mod mindspore_profile;
pub(crate) mod mindspore_summary;
pub(crate) mod native;
pub mod npy;
pub(crate) mod onnx;
pub(crate) mod onnx_skim;
mod pickle;
pub mod safetensors;
pub mod spans_trace;
mod step_counter;
pub mod tensor_file;
pub(crate) mod tensor_proto;
pub(crate) mod tfevents;
mod trace_builder;
mod trace_file;
pub mod trace_json;
pub(crate) mod whole_file;
pub mod xplane;

use std::path::Path;

use crate::body::{Body, GraphFormat, GraphSource};
use crate::decode::{Checkpoint, Decoder, Format, RestoreError};
use crate::queues::{QueueFormat, QueueSource};
use crate::stretch::Stretch;
use crate::trace::{TraceFile, TraceSource};
use event_file::{EventFile, ReadEvent};
use trace_file::rank_of_trace;
use whole_file::WholeFile;

/// Extensions of files that users and tools derive from event files; no writer of event files uses them.
const FOREIGN_EXTENSIONS: [&str; 23] = [
    "7z",
    "bz2",
    "crdownload",
    "csv",
    "dvc",
    "gz",
    "json",
    "lock",
    "md5",
    "npy",
    "npz",
    "part",
    "pb",
    "pbtxt",
    "png",
    "sagemaker-uploaded",
    "sha256",
    "swo",
    "swp",
    "tar",
    "txt",
    "xz",
    "zip",
];
/// Beginning of the names of hidden files. Tools keep incomplete copies of event files under such names (rsync), and
/// metadata next to them (`AppleDouble`).
const HIDDEN: char = '.';

/// The format of an event file of this name; the first claim wins.
fn event_format(file_name: &str) -> Option<Format> {
    if file_name.starts_with(HIDDEN) {
        return None;
    }
    if let Some(extension) = Path::new(file_name).extension()
        && FOREIGN_EXTENSIONS
            .iter()
            .any(|foreign| extension.eq_ignore_ascii_case(foreign))
    {
        return None;
    }
    if file_name.contains("tfevents") {
        return Some(Format::Tfevents);
    }
    mindspore_summary::claims(file_name).then(|| {
        if file_name.ends_with("_lineage") {
            Format::MindsporeLineage
        } else {
            Format::MindsporeSummary
        }
    })
}

impl Format {
    /// Decoder for a file of this format from its first byte. The file name, without folders, becomes the tag of
    /// formats without tags.
    pub fn decoder(self, file_name: &str) -> Box<dyn Decoder> {
        match self.content() {
            Content::Events(read_event) => Box::new(EventFile::new(read_event)),
            Content::Whole(body) => Box::new(WholeFile::at(body, file_name, 0)),
        }
    }

    /// Decoder that resumes from a checkpoint of the same file.
    pub fn resume(
        self,
        file_name: &str,
        from: Checkpoint,
    ) -> Result<Box<dyn Decoder>, RestoreError> {
        Ok(match self.content() {
            Content::Events(read_event) => Box::new(EventFile::resume(read_event, from)?),
            Content::Whole(body) => Box::new(WholeFile::at(body, file_name, from.offset)),
        })
    }

    fn content(self) -> Content {
        let data = Stretch::WHOLE_FILE;
        match self {
            Self::Tfevents => Content::Events(tfevents::read_event),
            Self::MindsporeSummary => Content::Events(mindspore_summary::read_event),
            Self::MindsporeLineage => Content::Events(mindspore_summary::read_lineage_event),
            Self::Graph(format) => Content::Whole(Body::Graph(GraphSource { format, data })),
            Self::Queues(format) => Content::Whole(Body::Queues(QueueSource { format, data })),
            Self::Trace(format) => Content::Whole(Body::Trace(TraceSource { format, data })),
        }
    }
}

/// Structure of a file.
enum Content {
    /// Framed events, with the function that reads one.
    Events(ReadEvent),
    /// A single object.
    Whole(Body),
}

/// Detects the format of a file by its name (the last part of its path) and, if that is not enough, its first bytes,
/// which `head` returns, unpacked; 4 KiB are enough. Streams are detected by name alone, because a newly created file
/// is empty.
pub fn sniff(file_name: &str, head: impl FnOnce() -> Vec<u8>) -> Option<Format> {
    let queues = QueueFormat::sniff(file_name).map(Format::Queues);
    queues.or_else(|| event_format(file_name)).or_else(|| {
        let mut head = Some(head);
        let mut bytes = || head.take().map(|head| head()).unwrap_or_default();
        if let Some(trace) = TraceFile::sniff(file_name, &mut bytes) {
            return Some(Format::Trace(trace));
        }
        let (_, extension) = file_name.rsplit_once('.')?;
        let is_graph = ["onnx", "pb"]
            .iter()
            .any(|known| extension.eq_ignore_ascii_case(known));
        let head = is_graph.then(bytes)?;
        GraphFormat::sniff(file_name, &head).map(Format::Graph)
    })
}

/// The rank (or device) in a file name: `<prefix>.out.events.summary.<seconds>.<rank>.<host>…` of MindSpore. Its
/// profiler files of data pipelines end with the rank. TensorBoard's names have none.
pub fn rank_hint(file_name: &str) -> Option<u32> {
    let queues = minddata::claims(file_name).map(|(_, rank)| rank);
    queues
        .or_else(|| mindspore_summary::rank_hint(file_name))
        .or_else(|| TraceFile::sniff(file_name, Vec::new).and_then(|_| rank_of_trace(file_name)))
}

#[cfg(test)]
mod tests {
    use super::{event_format, rank_hint};

    #[test]
    fn event_files_are_recognised_by_name() {
        for row in [
            "events.out.tfevents.1795213388.vm Tfevents None",
            "events.out.tfevents.1795213388.vm.6342.0 Tfevents None",
            "events.out.tfevents.1795214272.vm.12531.1.v2 Tfevents None",
            "events.out.events.summary.1795212914.0.vm_MS MindsporeSummary Some(0)",
            "events.out.events.summary.1795212914.17.node-3.example.org_MS MindsporeSummary Some(17)",
            "run.out.events.summary.1795212914.3.vm_explain MindsporeSummary Some(3)",
            "events.out.events.summary.1795212914.3.vm_lineage MindsporeLineage Some(3)",
            // A name from before ranks were added.
            "events.out.events.summary.1600000000.vm_MS MindsporeSummary None",
            "events.out.events.summary.1600000000.10.0.0.5_MS MindsporeSummary None",
        ] {
            let [name, format, rank] = row.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{row}");
            };
            let found = event_format(name).unwrap();
            assert_eq!(
                format!("{found:?} {:?}", rank_hint(name)),
                format!("{format} {rank}")
            );
        }
    }

    #[test]
    fn other_files_are_not_claimed() {
        for name in [
            "summary.txt",
            "summary.",
            "summary",
            "train_summary.json",
            "metrics.summary.2.csv",
            "ms_output_optimize.pb",
            "logits_1.npy",
            "projector_config.pbtxt",
            "events.out.tfevents.1795213388.vm.tar.gz",
            "events.out.tfevents.1795213388.vm.dvc",
            "events.out.tfevents.1795213388.vm.swp",
            "tfevents.zip",
            "._events.out.tfevents.1795213388.vm",
            ".events.out.tfevents.1795213388.vm.Xy12Za",
            "truth.json",
            "README.md",
            "",
        ] {
            assert_eq!(event_format(name), None, "{name}");
        }
    }
}
