//! One module a format, and the order in which they claim a file.

pub(crate) mod event_file;
mod graph_builder;
pub(crate) mod graph_keras;
pub(crate) mod graph_mindspore;
pub(crate) mod graph_tf;
mod media;
pub(crate) mod minddata;
pub mod mindspore_dump;
pub(crate) mod mindspore_summary;
pub(crate) mod native;
pub mod npy;
pub(crate) mod onnx;
pub(crate) mod onnx_skim;
pub mod safetensors;
pub mod tensor_file;
pub(crate) mod tfevents;
pub(crate) mod whole_file;

use std::path::Path;

use crate::decode::Format;

/// What people put beside event files under names derived from theirs; no writer of event files ends a name so.
const FOREIGN_EXTENSIONS: [&str; 13] = [
    "bz2", "csv", "gz", "json", "npy", "npz", "pb", "pbtxt", "png", "tar", "txt", "xz", "zst",
];

/// Which format a file of this name is read as; the first claim wins.
pub(crate) fn sniff(file_name: &str) -> Option<Format> {
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

#[cfg(test)]
mod tests {
    use super::sniff;
    use crate::decode::{Format, rank_hint};

    #[test]
    fn event_files_are_recognised_by_name() {
        for (name, format, rank) in [
            ("events.out.tfevents.1795213388.vm", Format::Tfevents, None),
            (
                "events.out.tfevents.1795213388.vm.6342.0",
                Format::Tfevents,
                None,
            ),
            (
                "events.out.tfevents.1795214272.vm.12531.1.v2",
                Format::Tfevents,
                None,
            ),
            (
                "events.out.events.summary.1795212914.0.vm_MS",
                Format::MindsporeSummary,
                Some(0),
            ),
            (
                "events.out.events.summary.1795212914.17.node-3.example.org_MS",
                Format::MindsporeSummary,
                Some(17),
            ),
            (
                "run.out.events.summary.1795212914.3.vm_explain",
                Format::MindsporeSummary,
                Some(3),
            ),
            (
                "events.out.events.summary.1795212914.3.vm_lineage",
                Format::MindsporeLineage,
                Some(3),
            ),
            // Written before names had a rank.
            (
                "events.out.events.summary.1600000000.vm_MS",
                Format::MindsporeSummary,
                None,
            ),
            (
                "events.out.events.summary.1600000000.10.0.0.5_MS",
                Format::MindsporeSummary,
                None,
            ),
        ] {
            assert_eq!(sniff(name), Some(format), "{name}");
            assert_eq!(rank_hint(name), rank, "{name}");
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
            "truth.json",
            "README.md",
            "",
        ] {
            assert_eq!(sniff(name), None, "{name}");
        }
    }
}
