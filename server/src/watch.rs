//! Which files there are: a walk over the base directories, and the system's hints when to look again.
//!
//! Hints may be lost (network mounts, watch limits), so they only shorten the wait until the next walk: what a walk
//! finds is the rule.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::SystemTime;

use notify::Watcher as _;
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use trainscope_format::{Format, rank_hint, sniff};

use crate::index::{Identity, Place};
use crate::recording::find::{Claims, FoundRun, Stamp, is_of_tensors};
use crate::recording::names::is_profile;

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
    pub(crate) recordings: BTreeMap<Arc<str>, FoundRun>,
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

#[cfg(unix)]
pub(crate) fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    Identity {
        device: metadata.dev(),
        inode: metadata.ino(),
    }
}

#[cfg(not(unix))]
pub(crate) fn identity(_: &Metadata) -> Identity {
    Identity::default()
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

/// Bytes that tell what a file is whose name does not.
const HEAD_BYTES: u64 = 16;

/// Folders that hold no runs, however deep.
fn is_private(name: &str) -> bool {
    matches!(name, ".trainscope" | ".git")
}

/// Walks all bases. Each folder is visited once, however many links lead to it, and under its own name if it has one.
pub(crate) fn scan(bases: &[Base]) -> Scan {
    let mut scan = Scan::default();
    let mut visited = FxHashSet::default();
    for base in bases {
        let mut links = BTreeSet::new();
        let mut claims = Claims::default();
        let first = scan.files.len();
        let mut from = Some(base.dir.clone());
        while let Some(folder) = from {
            walk(
                base,
                folder,
                &mut visited,
                &mut links,
                &mut claims,
                &mut scan,
            );
            from = links.pop_first();
        }
        let recordings = join(base, claims, &mut scan.files[first..]);
        scan.recordings.extend(recordings);
    }
    scan.files.sort_by(|a, b| a.place.cmp(&b.place));
    scan
}

/// Brings the parts of each run together: event files beside tensors are of the run of these. Says which runs have
/// tensors in files of their own.
fn join(base: &Base, claims: Claims, files: &mut [Found]) -> Vec<(Arc<str>, FoundRun)> {
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
            run.lie_below(&base.prefix);
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

fn walk(
    base: &Base,
    from: PathBuf,
    visited: &mut FxHashSet<Identity>,
    links: &mut BTreeSet<PathBuf>,
    claims: &mut Claims,
    scan: &mut Scan,
) {
    let mut folders = vec![from];
    while let Some(folder) = folders.pop() {
        let entries = fs::metadata(&folder).and_then(|metadata| {
            let identity = identity(&metadata);
            // Systems without inodes have no links to loop through either, as far as we follow them.
            let first_visit = identity == Identity::default() || visited.insert(identity);
            if first_visit {
                fs::read_dir(&folder).map(Some)
            } else {
                Ok(None)
            }
        });
        let below = folder.strip_prefix(&base.dir).unwrap_or(&folder);
        let entries = match entries {
            Ok(Some(entries)) => entries,
            Ok(None) => continue,
            Err(e) => {
                let name = shown(&base.prefix, below);
                let name = if name.is_empty() {
                    base.dir.display().to_string()
                } else {
                    name
                };
                scan.problems
                    .push(format!("The folder {name} cannot be listed: {e}"));
                continue;
            }
        };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let metadata = if kind.is_symlink() {
                Some(fs::metadata(entry.path()))
            } else {
                None
            };
            if kind.is_dir() {
                if !is_private(&name) {
                    folders.push(entry.path());
                }
            } else if let Some(Ok(target)) = &metadata
                && target.is_dir()
            {
                links.insert(entry.path());
            } else {
                let path = entry.path();
                let relative = below.join(&*name);
                let of_tensors = is_of_tensors(&relative);
                let format = sniff(&name, || first_bytes(&path));
                if !of_tensors && format.is_none() {
                    continue;
                }
                let metadata = metadata.unwrap_or_else(|| entry.metadata());
                let file = metadata.as_ref().ok().filter(|metadata| metadata.is_file());
                let stamp = file.map(Stamp::new);
                if let Some(stamp) = stamp.filter(|_| of_tensors) {
                    claims.add_tensors(&relative, path.clone(), stamp);
                }
                if let Some(format) = format {
                    if let Some(stamp) = stamp.filter(|_| !of_tensors) {
                        claims.add_event(&relative, path.clone(), format, stamp);
                    }
                    scan.files
                        .extend(found(base, below, &path, &name, format, metadata));
                }
            }
        }
    }
}

/// What tells the format of a file whose name does not; of one that cannot be opened, nothing.
pub(crate) fn first_bytes(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = match fs::metadata(path) {
        // A pipe would block.
        Ok(metadata) if metadata.is_file() => {
            fs::File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut bytes))
        }
        _ => Ok(0),
    };
    if read.is_err() {
        bytes.clear();
    }
    bytes
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
        // A pipe or socket of such a name would block whoever opens it.
        Ok(metadata) if !metadata.is_file() => return None,
        Ok(metadata) => Found {
            place,
            format,
            identity: identity(&metadata),
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
}
