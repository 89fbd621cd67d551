//! Files of profilers that are not read, found by name in the folder of a run: no profile is passed over in silence.

use std::path::Path;

use trainscope_api::profile::UnreadProfile;

use crate::files;

/// Maximum number of such files in one list.
const MAX_FILES: usize = 100;
/// Maximum number of entries of a folder that are looked at.
const MAX_ENTRIES: usize = 20_000;
/// Folders below that of a run where profilers write to.
const PARTS: [&str; 7] = [
    "profile", "profiles", "profiler", "trace", "traces", "memory", "plugins",
];
/// Folder beside raw data of `CANN` once it was analysed.
const ANALYSED: &str = "ASCEND_PROFILER_OUTPUT";

const NSIGHT: &str = "not read: a report of Nsight Systems. Convert it to Chrome JSON, or record the same steps with the profiler of the \
framework.";
const DATABASE: &str = "not read: Nsight Systems exports databases of this kind. Convert it to Chrome JSON, or record the same steps with the \
profiler of the framework.";
const PERFETTO: &str =
    "not read: Perfetto's protobuf. Export it as Chrome JSON: traceconv json FILE FILE.json";
const SNAPSHOT: &str = "not read: PyTorch writes memory snapshots of this kind. Record with profile_memory=True, and export Chrome JSON \
and export_memory_timeline(\"memory_timeline.json\").";
const CANN: &str = "not read: raw data of CANN. Export it as Chrome JSON: msprof --export=on --output=FOLDER, or analyse() of the framework's \
profiler, which writes trace_view.json.";

/// Lists the files of profilers in a folder that are not read. `shown` comes before their paths.
pub(super) fn unread(folder: &Path, shown: &str) -> Vec<UnreadProfile> {
    let mut found = Vec::new();
    look(folder, shown, true, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.truncate(MAX_FILES);
    found
}

fn look(folder: &Path, shown: &str, goes_on: bool, found: &mut Vec<UnreadProfile>) {
    let is_analysed = folder.join(ANALYSED).is_dir();
    // A folder that cannot be listed is a problem of the walk, which names it.
    for (name, is_folder) in files::entries(folder, MAX_ENTRIES) {
        let path = format!("{shown}{}", name.replace(char::is_control, "\u{fffd}"));
        if is_folder && goes_on && is_part(&name) {
            look(&folder.join(&name), &format!("{path}/"), false, found);
        }
        if let Some(reason) = reason(&name, is_folder)
            && !(is_folder && is_analysed)
        {
            let reason = reason.to_owned();
            found.push(UnreadProfile { path, reason });
        }
    }
}

fn is_part(folder: &str) -> bool {
    let own = folder.to_ascii_lowercase();
    PARTS.contains(&&*own) || own.ends_with("_ascend_ms") || own.ends_with("_ascend_pt")
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
        (".sqlite", DATABASE),
        (".pftrace", PERFETTO),
        (".perfetto-trace", PERFETTO),
        (".pickle", SNAPSHOT),
    ];
    let own = ends.into_iter().find(|(end, _)| lower.ends_with(end));
    own.map(|(_, reason)| reason)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::{CANN, DATABASE, NSIGHT, PERFETTO, SNAPSHOT, unread};

    #[test]
    fn profiles_in_other_formats_are_named_with_the_way_to_export_them() {
        let run = TempDir::new().unwrap();
        for name in [
            "a.nsys-rep",
            "a.sqlite",
            "b.PFTRACE",
            "c.perfetto-trace",
            "profile/snapshot.pickle",
            "events.out.tfevents.1.a",
            "notes.txt",
            "other/d.pickle",
            "host_ascend_pt/PROF_000001/device_0/data.bin",
            "done_ascend_pt/PROF_000001/data.bin",
            "done_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
        ] {
            let path = run.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"").unwrap();
        }
        let found = unread(run.path(), "run/");
        let found: Vec<(&str, &str)> = found.iter().map(|own| (&*own.path, &*own.reason)).collect();
        let expected = [
            ("run/a.nsys-rep", NSIGHT),
            ("run/a.sqlite", DATABASE),
            ("run/b.PFTRACE", PERFETTO),
            ("run/c.perfetto-trace", PERFETTO),
            ("run/host_ascend_pt/PROF_000001", CANN),
            ("run/profile/snapshot.pickle", SNAPSHOT),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_folder_that_is_gone_has_none() {
        let run = TempDir::new().unwrap();
        assert_eq!(unread(&run.path().join("gone"), ""), []);
    }
}
