//! Files of profilers that are not read, found by name in the folder of a run: no profile is ignored silently.

use std::path::Path;

use trainscope_api::profile::UnreadProfile;

use crate::files;

/// Maximum number of such files in one list.
const MAX_FILES: usize = 100;
/// Maximum number of checked entries of a folder.
const MAX_ENTRIES: usize = 20_000;
/// Folders below a run into which profilers write.
const PARTS: [&str; 6] = [
    "profile", "profiles", "trace", "traces", "memory", "plugins",
];
/// Folder next to raw data of `CANN` after its analysis.
const ANALYSED: &str = "ASCEND_PROFILER_OUTPUT";

const NSIGHT: &str =
    "not read: a report of Nsight Systems. Export it as a database: nsys export --type sqlite FILE";
const PERFETTO: &str =
    "not read: Perfetto's protobuf. Export it as Chrome JSON: traceconv json FILE FILE.json";
const SUMS: &str = "not read: sums that follow from the other tables of MindSpore's profiler.";
const QUEUES: &str = "not read: pipeline_profiling_<rank>.json beside it has the same queues.";
const MEMORY: &str = "not read: MindSpore's account of the memory of graphs. Record the newer tree with memory_record.csv, or look at it with \
MindInsight.";
const TABLES: &str =
    "not read: no page shows this table of MindSpore's profiler. MindInsight does.";
const GPU_TABLES: &str = "not read: MindSpore's table of GPUs. gpu_timeline_display_<rank>.json has the same executions.";
const CANN: &str = "not read: raw data of CANN. Export it as Chrome JSON: msprof --export=on --output=FOLDER, or analyse() of the framework's \
profiler, which writes trace_view.json.";

/// Starts of the names of tables of `MindSpore`'s profiler, which no other program uses.
const MINDSPORE: [(&str, &str); 20] = [
    ("timeline_summary_", SUMS),
    ("ascend_timeline_summary_", SUMS),
    ("output_op_compute_time_detail_", SUMS),
    ("pynative_op_intermediate_", SUMS),
    ("flops_summary_", SUMS),
    ("flops_scope_", SUMS),
    ("ascend_cluster_analyse_", SUMS),
    ("minddata_pipeline_raw_", QUEUES),
    ("memory_usage_summary_", MEMORY),
    ("memory_usage_details_", MEMORY),
    ("minddata_aicpu_", TABLES),
    ("minddata_getnext_profiling_", TABLES),
    ("dynamic_shape_info_", TABLES),
    ("output_format_data_hwts_", TABLES),
    ("output_data_preprocess_aicpu_", TABLES),
    ("parallel_strategy_", TABLES),
    ("gpu_op_type_info_", GPU_TABLES),
    ("gpu_op_detail_info_", GPU_TABLES),
    ("gpu_activity_data_", GPU_TABLES),
    ("gpu_timeline_summary_", GPU_TABLES),
];

/// Lists the unread files of profilers in a folder, or a file if it is one. `shown` comes before their paths.
pub(crate) fn unread(folder: &Path, shown: &str) -> Vec<UnreadProfile> {
    let mut found = Vec::new();
    if files::is_file(folder) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let unread = reason(&name, false).map(|reason| UnreadProfile {
            path: shown.to_owned() + &name,
            reason: reason.to_owned(),
        });
        return unread.into_iter().collect();
    }
    look(folder, shown, true, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.truncate(MAX_FILES);
    found
}

fn look(folder: &Path, shown: &str, goes_on: bool, found: &mut Vec<UnreadProfile>) {
    let is_analysed = files::entries(&folder.join(ANALYSED), 1).len() == 1;
    // A folder that cannot be listed is a problem of the walk, which names it.
    for (name, is_folder) in files::entries(folder, MAX_ENTRIES) {
        let path = format!("{shown}{}", name.replace(char::is_control, "\u{fffd}"));
        if is_folder && goes_on && is_part(&name) {
            look(&folder.join(&name), &format!("{path}/"), false, found);
        }
        let is_exported = name
            .strip_suffix(".nsys-rep")
            .is_some_and(|stem| files::is_listed(&folder.join(format!("{stem}.sqlite"))));
        if let Some(reason) = reason(&name, is_folder)
            && !(is_folder && is_analysed)
            && !is_exported
        {
            let reason = reason.to_owned();
            found.push(UnreadProfile { path, reason });
        }
    }
}

fn is_part(folder: &str) -> bool {
    let lower = folder.to_ascii_lowercase();
    lower.starts_with("profiler")
        || PARTS.contains(&&*lower)
        || lower.ends_with("_ascend_ms")
        || lower.ends_with("_ascend_pt")
}

/// Reason why a file or folder of this name is not read; `None` for any other.
fn reason(name: &str, is_folder: bool) -> Option<&'static str> {
    if is_folder {
        return name.starts_with("PROF_").then_some(CANN);
    }
    let lower = name.to_ascii_lowercase();
    let ends = [
        (".nsys-rep", NSIGHT),
        (".qdrep", NSIGHT),
        (".pftrace", PERFETTO),
        (".perfetto-trace", PERFETTO),
    ];
    let of_others = ends.into_iter().find(|(end, _)| lower.ends_with(end));
    let of_mindspore = MINDSPORE
        .into_iter()
        .find(|(begin, _)| name.starts_with(begin) && has_rank(name));
    of_others.or(of_mindspore).map(|(_, reason)| reason)
}

/// `true` for a table whose name has the number of its rank: `flops_summary_3.json`.
fn has_rank(name: &str) -> bool {
    let Some((stem, "csv" | "json" | "txt")) = name.rsplit_once('.') else {
        return false;
    };
    let mut parts = stem.split('_');
    parts.any(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::{CANN, MEMORY, NSIGHT, PERFETTO, SUMS, unread};

    #[test]
    fn profiles_in_other_formats_are_named_with_the_way_to_export_them() {
        let run = TempDir::new().unwrap();
        for name in [
            "a.nsys-rep",
            "exported.nsys-rep",
            "exported.sqlite",
            "b.PFTRACE",
            "c.perfetto-trace",
            "events.out.tfevents.1.a",
            "notes.txt",
            "flops_summary_.json",
            "profiler/flops_summary_0.json",
            "profiler_2/memory_usage_details_12.json",
            "profiler_2/pynative_op_intermediate_0_type.csv",
            "profiler_2/step_trace_raw_0_detail_time.csv",
            "host_ascend_pt/PROF_000001/device_0/data.bin",
            "done_ascend_pt/PROF_000001/data.bin",
            "done_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
        ] {
            let path = run.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"").unwrap();
        }
        let found = unread(run.path(), "run/");
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|profile| (&*profile.path, &*profile.reason))
            .collect();
        let expected = [
            ("run/a.nsys-rep", NSIGHT),
            ("run/b.PFTRACE", PERFETTO),
            ("run/c.perfetto-trace", PERFETTO),
            ("run/host_ascend_pt/PROF_000001", CANN),
            ("run/profiler/flops_summary_0.json", SUMS),
            ("run/profiler_2/memory_usage_details_12.json", MEMORY),
            ("run/profiler_2/pynative_op_intermediate_0_type.csv", SUMS),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_folder_that_is_gone_has_none_and_a_file_is_named_by_itself() {
        let run = TempDir::new().unwrap();
        assert_eq!(unread(&run.path().join("gone"), ""), []);
        let file = run.path().join("a.qdrep");
        fs::write(&file, b"").unwrap();
        assert_eq!(unread(&file, "")[0].path, "a.qdrep");
    }
}
