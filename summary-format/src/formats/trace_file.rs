//! Recognition of the files of profilers by name and first bytes.

use super::memory_snapshot;
use super::minddata;
use super::mindspore_profile::MindsporeTable;
use super::trace_json::is_trace_json;
use crate::trace::TraceFile;

/// Endings of names that no other file has, in lower case.
const ENDINGS: [(&str, TraceFile); 9] = [
    (".pt.trace.json", TraceFile::ChromeJson),
    (".pt.trace.json.gz", TraceFile::ChromeJson),
    (".trace.json", TraceFile::ChromeJson),
    (".trace.json.gz", TraceFile::ChromeJson),
    (".folded.txt", TraceFile::Folded),
    (".folded", TraceFile::Folded),
    // Names that torchtune gives to the stacks of torch's `export_stacks`.
    ("_stacks.txt", TraceFile::Folded),
    (".xplane.pb", TraceFile::Xplane),
    (".xplane.pb.gz", TraceFile::Xplane),
];

/// First bytes of an `SQLite` database, the export format of Nsight Systems.
const DATABASE: &[u8] = b"SQLite format 3\0";

/// Endings of the names of pickles, which may be memory snapshots.
const PICKLES: [&str; 3] = [".pickle", ".pickle.gz", ".pkl"];

impl TraceFile {
    /// Format of a file by its name and, for other JSON, its first 4 KiB, unpacked.
    pub fn sniff(file_name: &str, head: impl FnOnce() -> Vec<u8>) -> Option<Self> {
        let name = file_name.to_ascii_lowercase();
        if let Some((_, format)) = ENDINGS.iter().find(|(end, _)| name.ends_with(end)) {
            return Some(*format);
        }
        if name == "memory_timeline.json" || name == "memory_timeline.json.gz" {
            return Some(Self::MemoryTimeline);
        }
        match MindsporeTable::sniff(&name).map(|(table, _)| table) {
            Some(MindsporeTable::Executions) => return Some(Self::MindsporeExecutions),
            Some(MindsporeTable::Timeline | MindsporeTable::DeviceTimeline) => {
                return Some(Self::ChromeJson);
            }
            Some(table) if table.is_of_device() => return Some(Self::MindsporeTables),
            _ => {}
        }
        if PICKLES.iter().any(|end| name.ends_with(end)) {
            return memory_snapshot::sniff(&head()).then_some(Self::MemorySnapshot);
        }
        if name.ends_with(".sqlite") {
            return head().starts_with(DATABASE).then_some(Self::Nsight);
        }
        let is_json = [".json", ".json.gz"].iter().any(|end| name.ends_with(end));
        (is_json && minddata::claims(file_name).is_none() && is_trace_json(&head()))
            .then_some(Self::ChromeJson)
    }
}

/// Rank in the name of a file of a profiler: `rank_3`, `rank3`, `_3` before the extension of `MindSpore`.
pub(super) fn rank_of_trace(file_name: &str) -> Option<u32> {
    let name = file_name.to_ascii_lowercase();
    let of_mindspore = MindsporeTable::sniff(&name).and_then(|(_, rank)| rank);
    of_mindspore.or_else(|| {
        let (at, _) = name.match_indices("rank").next()?;
        let digits = name[at + 4..].trim_start_matches(['_', '-']);
        let end = digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len());
        digits[..end].parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::super::trace_json::is_undecided;
    use super::{TraceFile, is_trace_json, rank_of_trace};

    #[test]
    fn files_of_profilers_are_recognised_by_name() {
        for (name, format, rank) in [
            (
                "vm_4199.1795213256892341813.pt.trace.json.gz",
                TraceFile::ChromeJson,
                None,
            ),
            ("rank_3.pt.trace.json", TraceFile::ChromeJson, Some(3)),
            (
                "host-rank12.1.pt.trace.json",
                TraceFile::ChromeJson,
                Some(12),
            ),
            (
                "cpu_op_execute_timestamp_2.txt",
                TraceFile::MindsporeExecutions,
                Some(2),
            ),
            (
                "cpu_timeline_display_1.json",
                TraceFile::ChromeJson,
                Some(1),
            ),
            (
                "step_trace_raw_3_detail_time.csv",
                TraceFile::MindsporeTables,
                Some(3),
            ),
            ("hccl_raw_12.csv", TraceFile::MindsporeTables, Some(12)),
            (
                "ascend_timeline_display_1.json",
                TraceFile::ChromeJson,
                Some(1),
            ),
            ("trace_view.json", TraceFile::ChromeJson, None),
            ("vm.xplane.pb", TraceFile::Xplane, None),
            ("stack.folded.txt", TraceFile::Folded, None),
            ("rank1_stacks.txt", TraceFile::Folded, Some(1)),
            ("memory_timeline.json.gz", TraceFile::MemoryTimeline, None),
        ] {
            assert_eq!(TraceFile::sniff(name, Vec::new), Some(format), "{name}");
            assert_eq!(rank_of_trace(name), rank, "{name}");
        }
    }

    #[test]
    fn other_json_is_recognised_by_its_content() {
        let head = |text: &str| TraceFile::sniff("result.json", || text.as_bytes().to_vec());
        assert_eq!(head(r#"{"traceEvents": ["#), Some(TraceFile::ChromeJson));
        assert_eq!(
            head(r#"[{"ph": "X", "ts": 1}"#),
            Some(TraceFile::ChromeJson)
        );
        assert_eq!(head(r#"{"loss": 1}"#), None);
        assert_eq!(head(""), None);
        assert_eq!(
            TraceFile::sniff("pipeline_profiling_0.json", || b"{\"traceEvents\":["
                .to_vec()),
            None
        );
        assert_eq!(TraceFile::sniff("a.pt.trace.json.tmp", Vec::new), None);
    }

    #[test]
    fn keys_of_others_may_come_before_the_events() {
        let about = format!(
            r#"{{"metadata": {{"errors": {{}}, "env": "{}"}}, "#,
            "x".repeat(26_000)
        );
        let whole = format!(r#"{about}"traceEvents": ["#);
        assert!(is_undecided(&about.as_bytes()[..4_096]) && is_undecided(about.as_bytes()));
        assert!(!is_trace_json(&whole.as_bytes()[..4_096]) && is_trace_json(whole.as_bytes()));
        for other in ["", "[1, 2", "{\"loss\": 1}", "{loss", "text"] {
            assert!(!is_undecided(other.as_bytes()), "{other}");
        }
    }
}
