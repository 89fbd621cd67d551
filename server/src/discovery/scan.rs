//! Source files of all base directories, from one walk over each, for the loop that reads them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use trainscope_format::Format;

use super::base::Base;
use super::file::{Identity, Place};
use super::find::find_new;
use super::runs::{EventSource, RunFiles};
use super::walk::VisitedFolders;

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
    /// By run and path.
    pub(crate) files: Vec<SourceFile>,
    /// Runs with tensor files, by name.
    pub(crate) recordings: BTreeMap<Arc<str>, RunFiles>,
    /// Folders that cannot be listed and special files, as sentences.
    pub(crate) problems: Vec<String>,
}

/// Walks all bases. A folder below several of them belongs to the first one.
pub(crate) fn scan(bases: &[Base]) -> Scan {
    let mut scan = Scan::default();
    let mut visited = VisitedFolders::default();
    for base in bases {
        match find_new(&base.dir, 1, &mut visited) {
            Ok(contents) => {
                for (folder, error) in contents.unreadable {
                    let folder = shown(base, &folder);
                    let problem = format!("The folder {folder} cannot be listed: {error}");
                    scan.problems.push(problem);
                }
                for (path, kind) in contents.special {
                    let path = shown(base, &path);
                    scan.problems
                        .push(format!("{path} is {kind} and is not read"));
                }
                for run in contents.runs {
                    scan.add(base, run);
                }
            }
            Err(error) => {
                let folder = base.dir.display();
                let problem = format!("The folder {folder} cannot be listed: {error}");
                scan.problems.push(problem);
            }
        }
    }
    scan.files.sort_by(|a, b| a.place.cmp(&b.place));
    scan
}

impl Scan {
    fn add(&mut self, base: &Base, mut run: RunFiles) {
        let name: Arc<str> = base.run_name(&run.name).into();
        for (&rank, files) in &run.ranks {
            let events = files.events.iter().chain(&files.dump.drawn);
            self.files
                .extend(events.map(|source| SourceFile::new(base, &name, rank, source)));
        }
        if run.has_tensors() {
            run.prefix_paths(&base.prefix);
            self.recordings.insert(name, run);
        }
    }
}

impl SourceFile {
    fn new(base: &Base, run: &Arc<str>, rank: u32, source: &EventSource) -> Self {
        Self {
            place: Place {
                run: Arc::clone(run),
                path: shown(base, &source.shown).into(),
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

/// A path below a base directory as text, with the prefix of that directory.
fn shown(base: &Base, path: &str) -> String {
    match &*base.prefix {
        "" => path.to_owned(),
        prefix => format!("{prefix}/{path}"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::discovery::base::bases;

    fn places(scan: &Scan) -> Vec<(String, u32)> {
        scan.files
            .iter()
            .map(|found| (found.place.run.to_string(), found.place.rank))
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
        ] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"").unwrap();
        }
        let found = scan(&bases(&[dir.path().to_owned()]));
        assert_eq!(
            places(&found),
            [
                (".".to_owned(), 0),
                ("a/b".to_owned(), 0),
                ("c".to_owned(), 3),
                ("d/tb".to_owned(), 1)
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
        assert_eq!(found.recordings.len(), 1);
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
                .files
                .iter()
                .filter(|f| f.unreadable.is_some())
                .count(),
            1
        );
    }
}
