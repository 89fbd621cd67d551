//! Which runs a folder holds, and of which files each consists: events, tensors by rank and step, graphs.
//!
//! Only names are looked at. Parts of one run may lie side by side (`steps/` and `tb/`, a folder a rank): they are
//! joined here. Names that come from files are text and never joined to a path.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use trainscope_format::{Format, rank_hint, sniff};

use super::evaluations;
use super::names::{self, Part};
use super::runs::{EventSource, RunFiles, TensorKind, TensorSource};
use super::stamp::Stamp;
use super::steps::{self, NamedFile};
use crate::files::{self, Entry, EntryKind, Visited};

/// What was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// By name.
    pub(crate) runs: Vec<RunFiles>,
    /// Folders that cannot be listed: path and reason.
    pub(crate) unreadable: Vec<(String, String)>,
    /// Pipes, sockets and devices that are named like recorded files and not read: path and type.
    pub(crate) special: Vec<(String, &'static str)>,
    /// How many files are of other kinds, by extension.
    pub(crate) other: BTreeMap<String, u64>,
    /// How many folders there are.
    pub(crate) folders: u64,
}

/// Names of folders for event files that are a part of the run around them if tensors of that run are there too.
const EVENT_PARTS: [&str; 7] = [
    "tb",
    "tensorboard",
    "events",
    "logs",
    "log",
    "summary",
    "summaries",
];

/// Walks a folder on so many threads, or takes a single file as a run.
pub(crate) fn find(root: &Path, threads: usize) -> io::Result<Found> {
    find_new(root, threads, &mut Visited::default())
}

/// The same, without folders that were visited before.
pub(crate) fn find_new(root: &Path, threads: usize, visited: &mut Visited) -> io::Result<Found> {
    let mut found = Found::default();
    let mut claims = Claims::default();
    let mut failed = Ok(());
    let mut take = |folder: &Path, seen: io::Result<Seen>| match seen {
        Ok(seen) => {
            found.folders += 1;
            claims.extend(seen.claims);
            for (extension, files) in seen.other {
                *found.other.entry(extension).or_default() += files;
            }
            found.special.extend(seen.special);
        }
        Err(error) if folder == root => failed = Err(error),
        Err(error) => {
            let shown = names::shown(below(root, folder));
            found.unreadable.push((shown, error.to_string()));
        }
    };
    if root.is_file() {
        let folder = root.parent().unwrap_or(Path::new(""));
        let mut seen = Seen::default();
        seen.file(folder, root.to_owned(), Stamp::of(fs::metadata(root)));
        take(folder, Ok(seen));
    } else {
        let look = |seen: &mut Seen, entry| seen.entry(root, entry);
        files::walk(root, threads, visited, look, take);
    }
    failed?;
    found.runs = claims.join();
    found.unreadable.sort();
    found.special.sort();
    Ok(found)
}

/// Whether a file of this path below a base directory is of tensors, or lies beside some: only its name is looked at.
pub(crate) fn is_of_tensors(relative: &Path) -> bool {
    let Some(file_name) = relative.file_name().and_then(OsStr::to_str) else {
        return false;
    };
    names::part_of(&folders_of(relative), file_name).is_some()
}

/// True if a file of this path below a base directory is recorded by a training: only its name is looked at.
pub(crate) fn is_wanted(relative: &Path) -> bool {
    let is_graph = |name: &str| {
        let (_, extension) = name.rsplit_once('.').unwrap_or_default();
        extension.eq_ignore_ascii_case("pb")
    };
    is_of_tensors(relative)
        || relative
            .file_name()
            .and_then(OsStr::to_str)
            .is_some_and(|name| is_graph(name) || sniff(name, Vec::new).is_some())
}

/// True if a folder of this name may be a part of the run around it, with its event files.
pub(crate) fn is_event_part(folder: &str) -> bool {
    EVENT_PARTS.contains(&folder)
}

/// The folders above a file, as text.
fn folders_of(relative: &Path) -> Vec<String> {
    let above = relative.parent().unwrap_or(Path::new(""));
    let parts = above.iter().map(|part| part.to_string_lossy().into_owned());
    parts.collect()
}

/// A file and the run it would be of if nothing else were there.
struct Claim {
    /// Folder of the run, below the root.
    run: Vec<String>,
    rank: u32,
    what: What,
    len_bytes: u64,
}

enum What {
    Beside,
    Event(EventSource),
    Tensors { step: i64, source: TensorSource },
    Constant(TensorSource),
    Order(u32, PathBuf),
    Graph(u32, PathBuf),
}

/// Files that are of runs, and which those would be; [`Claims::join`] has the last word.
#[derive(Default)]
pub(crate) struct Claims(Vec<Claim>);

/// What lies in one folder.
#[derive(Default)]
struct Seen {
    claims: Claims,
    /// How many files are of other kinds, by extension.
    other: BTreeMap<String, u64>,
    /// Pipes, sockets and devices named like recorded files: path and type.
    special: Vec<(String, &'static str)>,
}

impl Seen {
    fn entry(&mut self, root: &Path, entry: Entry) {
        match entry.kind {
            EntryKind::File | EntryKind::Unreadable => {
                let stamp = Stamp::of(entry.metadata());
                self.file(root, entry.path, stamp);
            }
            EntryKind::Special(what) => {
                let relative = below(root, &entry.path);
                if is_wanted(relative) {
                    self.special.push((names::shown(relative), what));
                }
            }
        }
    }

    fn file(&mut self, root: &Path, path: PathBuf, stamp: Stamp) {
        let Some(file_name) = path.file_name().and_then(OsStr::to_str) else {
            return;
        };
        let relative = below(root, &path);
        if let Some(part) = names::part_of(&folders_of(relative), file_name) {
            let shown = names::shown(relative).into();
            self.claims
                .0
                .push(Claim::of_part(part, path, &shown, stamp));
        } else if let Some(format) = sniff(file_name, || files::head(&path)) {
            let relative = relative.to_owned();
            self.claims.add_event(&relative, path, format, stamp);
        } else {
            let extension = file_name.rsplit_once('.').map_or("", |(_, after)| after);
            let extension = extension.to_ascii_lowercase();
            *self.other.entry(extension).or_default() += 1;
        }
    }
}

impl Claims {
    /// Adds the files of others.
    pub(crate) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// A file of tensors, if its name says so: `relative` is its path below the base directory.
    pub(crate) fn add_tensors(&mut self, relative: &Path, path: PathBuf, stamp: Stamp) {
        let shown: Arc<str> = names::shown(relative).into();
        let file_name = relative.file_name().and_then(OsStr::to_str);
        let part = file_name.and_then(|name| names::part_of(&folders_of(relative), name));
        if let Some(part) = part {
            self.0.push(Claim::of_part(part, path, &shown, stamp));
        }
    }

    /// A file of a format that has a decoder.
    pub(crate) fn add_event(
        &mut self,
        relative: &Path,
        path: PathBuf,
        format: Format,
        stamp: Stamp,
    ) {
        let shown: Arc<str> = names::shown(relative).into();
        let Some(file_name) = relative.file_name().and_then(OsStr::to_str) else {
            return;
        };
        let folders = folders_of(relative);
        let claim = Claim::of_event(folders, file_name, path, shown, format, stamp);
        self.0.push(claim);
    }

    /// Brings the parts of each run together.
    pub(crate) fn join(mut self) -> Vec<RunFiles> {
        steps::resolve(self.0.iter_mut().filter_map(Claim::named).collect());
        let runs_with = |claims: &[Claim], is_meant: fn(&What) -> bool| -> BTreeSet<Vec<String>> {
            let meant = claims.iter().filter(|claim| is_meant(&claim.what));
            meant.map(|claim| claim.run.clone()).collect()
        };
        let with_tensors = runs_with(&self.0, |what| matches!(what, What::Tensors { .. }));
        for claim in &mut self.0 {
            let is_part = matches!(claim.what, What::Event(_))
                && claim.run.last().is_some_and(|name| is_event_part(name))
                && with_tensors.contains(&claim.run[..claim.run.len() - 1]);
            if is_part {
                claim.run.pop();
            }
        }
        let with_events = runs_with(&self.0, |what| matches!(what, What::Event(_)));
        let mut runs: BTreeMap<Vec<String>, RunFiles> = BTreeMap::new();
        for mut claim in self.0 {
            // Tensors in a folder of any name, below the events of the run.
            if let (What::Tensors { source, .. } | What::Constant(source), Some((last, above))) =
                (&mut claim.what, claim.run.split_last())
                && !with_events.contains(&claim.run)
                && with_events.contains(above)
            {
                source.kind.prefix_names(last);
                claim.run.pop();
            }
            let run = runs.entry(claim.run).or_default();
            run.files += 1;
            run.len_bytes += claim.len_bytes;
            if let What::Tensors { source, .. } = &claim.what {
                run.modified = run.modified.max(Some(source.stamp.modified));
            }
            let rank = run.ranks.entry(claim.rank).or_default();
            match claim.what {
                What::Beside => {}
                What::Constant(source) => rank.dump.constants.push(source),
                What::Event(source) => rank.events.push(source),
                What::Tensors { step, source } => rank.steps.entry(step).or_default().push(source),
                What::Order(graph, path) => drop(rank.dump.orders.insert(graph, path)),
                What::Graph(graph, path) => drop(rank.dump.graphs.insert(graph, path)),
            }
        }
        evaluations::pair(&mut runs);
        let mut found = Vec::with_capacity(runs.len());
        for (folders, mut run) in runs {
            run.name = if folders.is_empty() {
                ".".to_owned()
            } else {
                folders.join("/")
            };
            for rank in run.ranks.values_mut() {
                // Constants are listed with the first step.
                let constants = std::mem::take(&mut rank.dump.constants);
                if !constants.is_empty() {
                    let first = rank.steps.keys().next().copied().unwrap_or(0);
                    rank.steps.entry(first).or_default().extend(constants);
                }
                rank.events
                    .sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
                for sources in rank.steps.values_mut() {
                    sources.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
                    steps::keep_last_attempts(sources);
                }
            }
            found.push(run);
        }
        found
    }
}

impl Claim {
    /// The name of a file that may carry a step.
    fn named(&mut self) -> Option<NamedFile<'_>> {
        let What::Tensors { step, source } = &mut self.what else {
            return None;
        };
        let TensorSource { path, kind, .. } = source;
        let TensorKind::Safetensors {
            attempt,
            stem,
            has_step,
            ..
        } = kind
        else {
            return None;
        };
        Some(NamedFile {
            folder: path.parent(),
            attempt: *attempt,
            stem,
            step,
            has_step,
        })
    }

    fn of_part(part: Part, path: PathBuf, shown: &Arc<str>, stamp: Stamp) -> Self {
        let Part { run, rank, what } = part;
        let source = |kind| TensorSource {
            path: path.clone(),
            shown: Arc::clone(shown),
            kind,
            len_bytes: stamp.len_bytes,
            stamp,
        };
        let what = match what {
            names::What::Safetensors {
                above,
                stem,
                prefix,
                attempt,
            } => What::Tensors {
                step: above.unwrap_or(0),
                source: source(TensorKind::Safetensors {
                    prefix,
                    attempt,
                    stem,
                    has_step: above.is_some(),
                }),
            },
            names::What::Npy { step, name } => What::Tensors {
                step,
                source: source(TensorKind::Npy { name }),
            },
            names::What::Dumped { step, graph } => What::Tensors {
                step,
                source: source(TensorKind::Dumped { graph }),
            },
            // Of constants without a value, MindSpore writes an empty file.
            names::What::Constant { .. } if stamp.len_bytes == 0 => What::Beside,
            names::What::Constant { name } => What::Constant(source(TensorKind::Constant { name })),
            names::What::Beside => What::Beside,
            names::What::Order(graph) => What::Order(graph, path),
            names::What::Graph(graph) => What::Graph(graph, path),
        };
        Self {
            run,
            rank,
            what,
            len_bytes: stamp.len_bytes,
        }
    }

    fn of_event(
        mut folders: Vec<String>,
        file_name: &str,
        path: PathBuf,
        shown: Arc<str>,
        format: Format,
        stamp: Stamp,
    ) -> Self {
        let rank = names::take_rank(&mut folders)
            .or_else(|| rank_hint(file_name))
            .unwrap_or(0);
        folders.pop_if(|name| names::is_profile(format, name));
        Self {
            run: folders,
            rank,
            what: What::Event(EventSource {
                path,
                stamp,
                shown,
                format,
                evaluates: None,
            }),
            len_bytes: stamp.len_bytes,
        }
    }
}

fn below<'a>(root: &Path, path: &'a Path) -> &'a Path {
    path.strip_prefix(root).unwrap_or(path)
}
