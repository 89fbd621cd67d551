//! The runs of all base directories, from one walk over each: for the loop that reads them, and for the judgement.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use trainscope_format::Format;

use super::base::Base;
use super::file::{Identity, Place};
use super::find::find_new;
use super::runs::{EventSource, RunFiles};
use super::walk::VisitedFolders;
use crate::files;

/// A file that has a decoder.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    pub(crate) place: Place,
    pub(crate) format: Format,
    pub(crate) identity: Identity,
    pub(crate) len_bytes: u64,
    pub(crate) modified: Option<SystemTime>,
    /// Error of the attempt to open it; `None` if it can be opened.
    pub(crate) unreadable: Option<String>,
}

/// Findings of one walk over all base directories.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scan {
    /// Runs of each base directory that can be listed. Paths for display have the prefix of the directory.
    pub(crate) runs: Vec<(Base, Vec<Arc<RunFiles>>)>,
    /// Base directories that cannot be listed: nothing is known about the files below them.
    pub(crate) unlisted: Vec<PathBuf>,
    /// Folders that cannot be listed and special files, as sentences.
    pub(crate) problems: Vec<String>,
}

/// Walks all bases. A folder below several bases belongs to the first one.
pub(crate) fn scan(bases: &[Base]) -> Scan {
    let mut scan = Scan::default();
    let mut visited = VisitedFolders::default();
    for base in bases {
        if let Some((since, reason)) = files::problem(&base.dir) {
            let store = base.dir.display();
            let since = clock(since);
            scan.problems.push(format!(
                "{store} has not answered since {since}; what was read until then is shown: {reason}"
            ));
        }
        match find_new(&base.dir, 1, &mut visited) {
            Ok(contents) => {
                for (folder, error) in contents.unreadable {
                    let folder = base.path_name(&folder);
                    let problem = format!("The folder {folder} cannot be listed: {error}");
                    scan.problems.push(problem);
                }
                for (path, kind) in contents.special {
                    let path = base.path_name(&path);
                    scan.problems
                        .push(format!("{path} is {kind} and is not read"));
                }
                let runs = contents.runs.into_iter().map(|mut run| {
                    run.prefix_paths(base);
                    Arc::new(run)
                });
                scan.runs.push((base.clone(), runs.collect()));
            }
            Err(error) => {
                scan.unlisted.push(base.dir.clone());
                let folder = base.dir.display();
                let problem = format!("The folder {folder} cannot be listed: {error}");
                scan.problems.push(problem);
            }
        }
    }
    scan
}

/// Time of day of this machine.
fn clock(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    time.to_zoned(TimeZone::system())
        .strftime("%H:%M")
        .to_string()
}

impl Scan {
    /// All runs by the name in the list of runs.
    fn named(&self) -> impl Iterator<Item = (Arc<str>, &Arc<RunFiles>)> {
        self.runs.iter().flat_map(|(base, runs)| {
            runs.iter()
                .map(|run| (base.run_name(&run.name).into(), run))
        })
    }

    /// Files with a decoder, by run and path.
    pub(crate) fn files(&self) -> Vec<SourceFile> {
        let mut files = Vec::new();
        for (name, run) in self.named() {
            for (&rank, of_rank) in &run.ranks {
                let events = of_rank.events.iter().chain(&of_rank.dump.drawn);
                files.extend(events.map(|source| SourceFile::new(&name, rank, source)));
            }
        }
        files.sort_by(|a, b| a.place.cmp(&b.place));
        files
    }

    /// Runs with tensor files, by name.
    pub(crate) fn recordings(&self) -> BTreeMap<Arc<str>, Arc<RunFiles>> {
        let with_tensors = self.named().filter(|(_, run)| run.has_tensors());
        with_tensors
            .map(|(name, run)| (name, Arc::clone(run)))
            .collect()
    }
}

impl SourceFile {
    fn new(run: &Arc<str>, rank: u32, source: &EventSource) -> Self {
        Self {
            place: Place {
                run: Arc::clone(run),
                path: Arc::clone(&source.shown),
                full: source.path.clone(),
                rank,
            },
            format: source.format,
            identity: source.identity,
            len_bytes: source.stamp.len_bytes,
            modified: Some(source.stamp.modified),
            unreadable: source.unreadable.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::discovery::base::bases;

    fn places(scan: &Scan) -> Vec<(String, u32)> {
        let files = scan.files();
        let places = files.iter().map(|found| &found.place);
        places
            .map(|place| (place.run.to_string(), place.rank))
            .collect()
    }

    #[test]
    fn runs_are_folders_and_rank_folders_are_parts_of_them() {
        let dir = tempfile::tempdir().unwrap();
        for path in [
            "events.out.tfevents.1",
            "a/b/events.out.tfevents.1",
            "c/rank_3/events.out.tfevents.1",
            "d/rank_1/tb/events.out.tfevents.1",
            "c/x.txt",
            "e/profile_traces/iteration_10/rank0_trace.json",
            "e/profile_traces/iteration_20/rank0_trace.json",
            "f/iteration_3/r1-2025-1-30.json",
            "f/iteration_3b/events.out.tfevents.1",
        ] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let is_trace = path.extension().is_some_and(|end| end == "json");
            let content: &[u8] = if is_trace {
                br#"{"traceEvents": []}"#
            } else {
                b""
            };
            fs::write(path, content).unwrap();
        }
        let found = scan(&bases(&[dir.path().to_owned()]));
        assert_eq!(
            places(&found),
            [
                (".".to_owned(), 0),
                ("a/b".to_owned(), 0),
                ("c".to_owned(), 3),
                ("d/tb".to_owned(), 1),
                ("e".to_owned(), 0),
                ("e".to_owned(), 0),
                ("f".to_owned(), 0),
                ("f/iteration_3b".to_owned(), 0),
            ]
        );
    }

    #[test]
    fn graphs_beside_dumps_are_of_the_run_of_the_dump_whatever_their_names() {
        let dir = tempfile::tempdir().unwrap();
        let graph = [0x08, 1, 0x22, 0];
        for (path, bytes) in [
            (
                "run/rank_1/Net/0/5/Add.x.0.0.1.output.0.DefaultFormat.npy",
                &[][..],
            ),
            ("run/rank_1/graphs/ms_output_trace_code_graph_0.pb", &graph),
            ("run/rank_1/graphs/optimized.pb", &graph),
            ("run/rank_1/graphs/notes.pb", b"no graph"),
        ] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let found = scan(&bases(&[dir.path().to_owned()]));
        assert_eq!(
            places(&found),
            [("run".to_owned(), 1), ("run".to_owned(), 1)]
        );
        assert_eq!(found.recordings().len(), 1);
    }

    #[test]
    fn paths_for_display_begin_with_the_name_of_their_base_directory() {
        let dir = tempfile::tempdir().unwrap();
        let dirs = ["x", "y"].map(|name| dir.path().join(name));
        for path in ["run/events.out.tfevents.1", "run/steps/step_1.safetensors"] {
            for dir in &dirs {
                let path = dir.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, b"").unwrap();
            }
        }
        let found = scan(&bases(&dirs));
        let mut shown: Vec<String> = Vec::new();
        for run in found.runs.iter().flat_map(|(_, runs)| runs) {
            for rank in run.ranks.values() {
                shown.extend(rank.events.iter().map(|source| source.shown.to_string()));
                shown.extend(
                    rank.steps
                        .values()
                        .flatten()
                        .map(|source| source.shown.to_string()),
                );
            }
        }
        let all = ["x", "y"].map(|base| {
            ["events.out.tfevents.1", "steps/step_1.safetensors"]
                .map(|name| format!("{base}/run/{name}"))
        });
        assert_eq!(shown, all.concat());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_loops_end() {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("run");
        fs::create_dir(&run).unwrap();
        fs::write(run.join("events.out.tfevents.1"), b"").unwrap();
        std::os::unix::fs::symlink(dir.path(), run.join("up")).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("events.out.tfevents.1"), b"").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), dir.path().join("linked")).unwrap();
        std::os::unix::fs::symlink("nowhere", run.join("events.out.tfevents.2")).unwrap();
        let found = scan(&bases(&[dir.path().to_owned()]));
        assert_eq!(
            places(&found),
            [
                ("linked".to_owned(), 0),
                ("run".to_owned(), 0),
                ("run".to_owned(), 0)
            ]
        );
        assert_eq!(
            found
                .files()
                .iter()
                .filter(|f| f.unreadable.is_some())
                .count(),
            1
        );
    }
}
