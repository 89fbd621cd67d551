//! Which files there are: a walk over the base directories, and the system's hints when to look again.
//!
//! Hints may be lost (network mounts, watch limits), so they only shorten the wait until the next walk: what a walk
//! finds is the rule.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::SystemTime;

use notify::Watcher as _;
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use trainscope_format::{Format, rank_hint, sniff};

use super::file::{Identity, Place};
use super::find::{Claims, is_of_tensors, is_wanted};
use super::names::is_profile;
use super::runs::RunFiles;
use super::stamp::Stamp;
use crate::files::{self, Entry, EntryKind, Visited};

/// A base directory and what names below it begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Base {
    /// Canonical path.
    pub(crate) dir: PathBuf,
    /// Empty if it is the only one; otherwise its own name, unique among them, so that runs do not share one.
    pub(crate) prefix: String,
}

/// A source file that was found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) place: Place,
    pub(crate) format: Format,
    pub(crate) identity: Identity,
    pub(crate) len_bytes: u64,
    pub(crate) modified: Option<SystemTime>,
    /// Why it cannot be looked at, if so.
    pub(crate) unreadable: Option<String>,
}

/// What one walk found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scan {
    /// By path.
    pub(crate) files: Vec<Found>,
    /// Runs with tensors in files of their own, by name.
    pub(crate) recordings: BTreeMap<Arc<str>, RunFiles>,
    /// Folders that cannot be listed, as sentences.
    pub(crate) problems: Vec<String>,
}

impl Base {
    /// The name in the list of runs, of one that is called so in this directory.
    pub(crate) fn run_name(&self, name: &str) -> String {
        match (&*self.prefix, name) {
            ("", name) => name.to_owned(),
            (prefix, ".") => prefix.to_owned(),
            (prefix, name) => format!("{prefix}/{name}"),
        }
    }

    /// A path below this directory, from the whole path.
    fn below<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.dir).unwrap_or(path)
    }

    /// The name of a run below this directory, from its name in the list of runs; `None` for a run of another one.
    pub(crate) fn run_below<'a>(&self, run: &'a str) -> Option<&'a str> {
        match run.strip_prefix(&*self.prefix)? {
            name if self.prefix.is_empty() => Some(name),
            "" => Some("."),
            name => name.strip_prefix('/'),
        }
    }
}

/// Names for several base directories: the last part of each path, numbered where two are equal.
pub(crate) fn bases(dirs: &[PathBuf]) -> Vec<Base> {
    let mut bases: Vec<Base> = Vec::new();
    for dir in dirs {
        let own = dir.file_name().map_or_else(
            || "root".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        );
        let taken = |name: &str| bases.iter().any(|base| base.prefix == name);
        let mut prefix = own.clone();
        let mut n = 1;
        while taken(&prefix) {
            n += 1;
            prefix = format!("{own} ({n})");
        }
        bases.push(Base {
            dir: dir.clone(),
            prefix,
        });
    }
    if let [only] = &mut bases[..] {
        only.prefix.clear();
    }
    bases
}

/// A path below a base, with `/` between parts. Text for people and look-ups, never joined to a path again.
fn shown(prefix: &str, below: &Path) -> String {
    let parts = below.iter().map(|part| part.to_string_lossy());
    let prefix = (!prefix.is_empty()).then(|| prefix.into());
    prefix
        .into_iter()
        .chain(parts)
        .collect::<Vec<_>>()
        .join("/")
}

/// Run and rank of a file in `folder`: a folder `rank_<n>` is a part of the run around it, not a run.
fn coordinate(prefix: &str, folder: &Path, file_name: &str) -> (Arc<str>, u32) {
    let rank_of = |name: &std::ffi::OsStr| name.to_str()?.strip_prefix("rank_")?.parse().ok();
    let parts: Vec<_> = folder.iter().collect();
    let mut found = parts.iter().enumerate().rev();
    let found = found.find_map(|(i, name)| Some((i, rank_of(name)?)));
    let (run, rank) = match found {
        Some((at, rank)) => {
            let others = parts.iter().enumerate().filter(|(i, _)| *i != at);
            let run: PathBuf = others.map(|(_, name)| name).collect();
            (shown(prefix, &run), rank)
        }
        None => (shown(prefix, folder), rank_hint(file_name).unwrap_or(0)),
    };
    (
        if run.is_empty() {
            ".".into()
        } else {
            run.into()
        },
        rank,
    )
}

/// Walks all bases. A folder that several of them lead to belongs to the first one.
pub(crate) fn scan(bases: &[Base]) -> Scan {
    let mut scan = Scan::default();
    let mut visited = Visited::default();
    for base in bases {
        let mut claims = Claims::default();
        let first = scan.files.len();
        let look = |content: &mut Content, entry| content.add(base, &entry);
        files::walk(
            &base.dir,
            1,
            &mut visited,
            look,
            |folder, content| match content {
                Ok(content) => {
                    claims.extend(content.claims);
                    scan.files.extend(content.files);
                    scan.problems.extend(content.problems);
                }
                Err(error) => {
                    let name = shown(&base.prefix, base.below(folder));
                    let name = if name.is_empty() {
                        base.dir.display().to_string()
                    } else {
                        name
                    };
                    scan.problems
                        .push(format!("The folder {name} cannot be listed: {error}"));
                }
            },
        );
        let recordings = join(base, claims, &mut scan.files[first..]);
        scan.recordings.extend(recordings);
    }
    scan.files.sort_by(|a, b| a.place.cmp(&b.place));
    scan
}

/// Brings the parts of each run together: event files beside tensors are of the run of these. Says which runs have
/// tensors in files of their own.
fn join(base: &Base, claims: Claims, files: &mut [Found]) -> Vec<(Arc<str>, RunFiles)> {
    let mut recordings = Vec::new();
    let mut runs: FxHashMap<PathBuf, (Arc<str>, u32)> = FxHashMap::default();
    for mut run in claims.join() {
        let name: Arc<str> = base.run_name(&run.name).into();
        for (&rank, parts) in &run.ranks {
            let events = parts.events.iter().map(|event| &event.path);
            for path in events.chain(parts.dump.graphs.values()) {
                runs.insert(path.clone(), (Arc::clone(&name), rank));
            }
        }
        if run.has_tensors() {
            run.prefix_paths(&base.prefix);
            recordings.push((name, run));
        }
    }
    for found in files {
        if let Some((run, rank)) = runs.remove(&found.place.full) {
            (found.place.run, found.place.rank) = (run, rank);
        }
    }
    recordings
}

/// Content of one folder.
#[derive(Default)]
struct Content {
    files: Vec<Found>,
    claims: Claims,
    problems: Vec<String>,
}

impl Content {
    fn add(&mut self, base: &Base, entry: &Entry) {
        let name = entry.name.to_string_lossy();
        let folder = base.below(entry.path.parent().unwrap_or(&base.dir));
        let relative = folder.join(&*name);
        if let EntryKind::Special(what) = entry.kind {
            if is_wanted(&relative) {
                let path = shown(&base.prefix, &relative);
                self.problems
                    .push(format!("{path} is {what} and is not read"));
            }
            return;
        }
        let of_tensors = is_of_tensors(&relative);
        let format = sniff(&name, || files::head(&entry.path));
        if !of_tensors && format.is_none() {
            return;
        }
        let metadata = entry.metadata();
        let file = metadata.as_ref().ok().filter(|metadata| metadata.is_file());
        let stamp = file.map(Stamp::new);
        if let Some(stamp) = stamp.filter(|_| of_tensors) {
            self.claims
                .add_tensors(&relative, entry.path.clone(), stamp);
        }
        if let Some(format) = format {
            if let Some(stamp) = stamp.filter(|_| !of_tensors) {
                self.claims
                    .add_event(&relative, entry.path.clone(), format, stamp);
            }
            self.files
                .extend(found(base, folder, &entry.path, &name, format, metadata));
        }
    }
}

fn found(
    base: &Base,
    folder: &Path,
    full: &Path,
    name: &str,
    format: Format,
    metadata: std::io::Result<Metadata>,
) -> Option<Found> {
    let own = folder.file_name().and_then(std::ffi::OsStr::to_str);
    let of_run = match folder.parent() {
        Some(around) if own.is_some_and(|own| is_profile(format, own)) => around,
        _ => folder,
    };
    let (run, rank) = coordinate(&base.prefix, of_run, name);
    let path = shown(&base.prefix, &folder.join(name)).into();
    let place = Place {
        run,
        path,
        full: full.to_owned(),
        rank,
    };
    Some(match metadata {
        // Something else has taken its place since the folder was listed.
        Ok(metadata) if !metadata.is_file() => return None,
        Ok(metadata) => Found {
            place,
            format,
            identity: Identity::of(&metadata),
            len_bytes: metadata.len(),
            modified: metadata.modified().ok(),
            unreadable: None,
        },
        Err(e) => Found {
            place,
            format,
            identity: Identity::default(),
            len_bytes: 0,
            modified: None,
            unreadable: Some(format!("it cannot be opened: {e}")),
        },
    })
}

/// Paths that may have changed, gathered until somebody looks.
#[derive(Clone, Default)]
pub(crate) struct Hints(Arc<Mutex<FxHashSet<PathBuf>>>);

/// Hints kept at most; more mean: look at everything.
const MAX_HINTS: usize = 10_000;

impl Hints {
    /// Takes what was gathered; `None` means that anything may have changed.
    pub(crate) fn take(&self) -> Option<Vec<PathBuf>> {
        let hints = std::mem::take(&mut *self.0.lock());
        (hints.len() < MAX_HINTS).then(|| hints.into_iter().collect())
    }
}

/// Asks the system for file events below `bases`; each first hint since the last look calls `wake`. The watcher lives
/// as long as the returned sender, and a thread of its own sets it up, because that takes long for many folders. When
/// it is set up, `ready` is called: what changed before was not reported.
pub(crate) fn events(
    bases: &[Base],
    hints: Hints,
    wake: impl Fn() + Send + 'static,
    ready: impl Fn() + Send + 'static,
    problem: impl Fn(String) + Send + 'static,
) -> mpsc::Sender<()> {
    let (alive, ended) = mpsc::channel::<()>();
    let dirs: Vec<PathBuf> = bases.iter().map(|base| base.dir.clone()).collect();
    let set_up = move || {
        let handler = move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            if event.kind.is_access() {
                return;
            }
            let mut hints = hints.0.lock();
            let first = hints.is_empty();
            if hints.len() < MAX_HINTS {
                hints.extend(event.paths);
            }
            drop(hints);
            if first {
                wake();
            }
        };
        let watched = notify::recommended_watcher(handler).and_then(|mut watcher| {
            dirs.iter()
                .try_for_each(|dir| watcher.watch(dir, notify::RecursiveMode::Recursive))?;
            Ok(watcher)
        });
        match watched {
            Ok(_watcher) => {
                ready();
                // Waits until the other end is dropped: nothing is ever sent.
                let _ended = ended.recv();
            }
            Err(e) => problem(format!(
                "The system reports no file events ({e}); changes are found by looking again."
            )),
        }
    };
    if let Err(e) = std::thread::Builder::new()
        .name("watch".to_owned())
        .spawn(set_up)
    {
        tracing::warn!("no thread for file events: {e}");
    }
    alive
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

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

    #[test]
    fn several_bases_have_names_of_their_own() {
        let names: Vec<_> = bases(&["/x/runs".into(), "/y/runs".into(), "/".into()])
            .into_iter()
            .map(|b| b.prefix)
            .collect();
        assert_eq!(names, ["runs", "runs (2)", "root"]);
    }

    #[test]
    fn runs_are_of_one_base_however_alike_the_names() {
        let dirs = ["/a/exp", "/b/exp", "/exp2"].map(PathBuf::from);
        let several = bases(&dirs);
        for (run, of, below) in [
            ("exp", 0, "."),
            ("exp/x", 0, "x"),
            ("exp (2)", 1, "."),
            ("exp (2)/x/y", 1, "x/y"),
            ("exp2/x", 2, "x"),
        ] {
            for (number, base) in several.iter().enumerate() {
                let wanted = (number == of).then_some(below);
                assert_eq!(base.run_below(run), wanted, "{run} in {}", base.prefix);
                assert!(wanted.is_none_or(|below| base.run_name(below) == run));
            }
        }
        let only = bases(&dirs[..1]);
        assert_eq!(only[0].run_below("exp/x"), Some("exp/x"));
    }
}
