//! Files with the runs that their paths suggest, joined to runs.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use trainscope_format::{Format, rank_hint, sniff};

use super::evaluations;
use super::file::Identity;
use super::names::{self, Part, PartKind};
use super::runs::{EventSource, RunFiles, TensorKind, TensorSource};
use super::stamp::Stamp;
use super::steps::{self, NamedFile};
use super::walk::{Entry, EntryKind};
use crate::files::{self, Metadata};

/// Extensions of files beside recordings that are read or named: configurations, tables, what is not read.
const BESIDE: [&str; 10] = [
    "csv",
    "nsys-rep",
    "perfetto-trace",
    "pftrace",
    "qdrep",
    "sqlite",
    "toml",
    "txt",
    "yaml",
    "yml",
];
/// Folder names of event files that are part of the surrounding run if that has tensors too.
const EVENT_PARTS: [&str; 7] = [
    "tb",
    "tensorboard",
    "events",
    "logs",
    "log",
    "summary",
    "summaries",
];

/// Folder names of traces that are part of the surrounding run if that has other files.
const PROFILE_PARTS: [&str; 4] = ["profile", "profiles", "trace", "traces"];

/// True if a file of this path below a base directory holds tensors or belongs to some, by its name alone.
pub(crate) fn is_of_tensors(relative: &Path) -> bool {
    let Some(file_name) = relative.file_name().and_then(OsStr::to_str) else {
        return false;
    };
    names::part_of(&folders_of(relative), file_name).is_some()
}

/// True if a file with this path below a base directory is a recorded file: decided by its name alone.
pub(crate) fn is_wanted(relative: &Path) -> bool {
    let may_be = |name: &str| {
        let (_, extension) = name.rsplit_once('.').unwrap_or_default();
        ["pb", "json", "gz"]
            .iter()
            .any(|known| extension.eq_ignore_ascii_case(known))
    };
    is_of_tensors(relative)
        || relative
            .file_name()
            .and_then(OsStr::to_str)
            .is_some_and(|name| may_be(name) || sniff(name, Vec::new).is_some())
}

/// True for a file with this path that is recorded, or read or named beside recordings: decided by its name alone.
pub(crate) fn is_kept(below: &str) -> bool {
    let extension = below.rsplit_once('.').map_or("", |(_, after)| after);
    BESIDE
        .iter()
        .any(|known| extension.eq_ignore_ascii_case(known))
        || is_wanted(Path::new(below))
}

/// True if a folder of this name may be the event files of the surrounding run.
pub(crate) fn is_event_part(folder: &str) -> bool {
    EVENT_PARTS.contains(&folder)
}

fn is_profile_part(folder: &str) -> bool {
    PROFILE_PARTS.contains(&folder)
}

/// The folders above a file, as text.
fn folders_of(relative: &Path) -> Vec<String> {
    let above = relative.parent().unwrap_or(Path::new(""));
    let parts = above.iter().map(|part| part.to_string_lossy().into_owned());
    parts.collect()
}

/// A file, with the run that its path alone suggests.
pub(super) struct Claim {
    /// Folder of the run, below the root.
    run: Vec<String>,
    rank: u32,
    what: ClaimKind,
    /// The file as a graph of dumps, if it has a decoder.
    drawn: Option<EventSource>,
    len_bytes: u64,
}

enum ClaimKind {
    Beside,
    Event(EventSource),
    Tensors { step: i64, source: TensorSource },
    Constant(TensorSource),
    Order(u32, (PathBuf, Stamp)),
    Graph(u32, (PathBuf, Stamp)),
}

/// Files with the runs that their paths suggest; [`Claims::join`] decides.
#[derive(Default)]
pub(crate) struct Claims(pub(super) Vec<Claim>);

/// Content of one folder.
#[derive(Default)]
pub(super) struct Folder {
    pub(super) claims: Claims,
    /// Number of files of other kinds, by extension.
    pub(super) other: BTreeMap<String, u64>,
    /// Pipes, sockets and devices with names of recorded files: path and type.
    pub(super) special: Vec<(String, &'static str)>,
}

impl Folder {
    pub(super) fn entry(&mut self, root: &Path, entry: &Entry) {
        match entry.kind {
            EntryKind::File | EntryKind::Unreadable => {
                let metadata = entry.metadata();
                let path = &entry.path;
                self.file(root, path, &metadata, |name| sniffed(name, path));
            }
            EntryKind::Special(what) => {
                let relative = below(root, &entry.path);
                if is_wanted(relative) {
                    self.special.push((names::shown(relative), what));
                }
            }
        }
    }

    pub(super) fn file(
        &mut self,
        root: &Path,
        path: &Path,
        metadata: &io::Result<Metadata>,
        format_of: impl FnOnce(&str) -> Option<Format>,
    ) {
        let Some(file_name) = path.file_name().and_then(OsStr::to_str) else {
            return;
        };
        if metadata.as_ref().is_ok_and(|metadata| !metadata.is_file()) {
            // It was replaced by something else since the folder was listed.
            return;
        }
        let relative = below(root, path);
        let folders = folders_of(relative);
        let part = names::part_of(&folders, file_name);
        let may_have_decoder = part
            .as_ref()
            .is_none_or(|part| matches!(part.kind, PartKind::Beside | PartKind::Graph(_)));
        let format = may_have_decoder.then(|| format_of(file_name)).flatten();
        let unreadable = metadata.as_ref().err();
        let source = format.map(|format| EventSource {
            path: path.to_owned(),
            stamp: Stamp::of(metadata),
            identity: metadata.as_ref().map(Identity::of).unwrap_or_default(),
            unreadable: unreadable.map(|error| format!("it cannot be opened: {error}")),
            shown: names::shown(relative).into(),
            format,
            evaluates: None,
        });
        let claim = match (part, source) {
            (Some(part), drawn) => {
                let shown = names::shown(relative).into();
                Claim::of_part(part, path, &shown, Stamp::of(metadata), drawn)
            }
            (None, Some(source)) => Claim::of_event(folders, file_name, source),
            (None, None) => {
                let extension = file_name.rsplit_once('.').map_or("", |(_, after)| after);
                *self
                    .other
                    .entry(extension.to_ascii_lowercase())
                    .or_default() += 1;
                return;
            }
        };
        self.claims.0.push(claim);
    }
}

impl Claims {
    /// Joins the parts of each run.
    pub(crate) fn join(mut self) -> Vec<RunFiles> {
        steps::resolve(self.0.iter_mut().filter_map(Claim::named).collect());
        let runs_with =
            |claims: &[Claim], is_meant: fn(&ClaimKind) -> bool| -> BTreeSet<Vec<String>> {
                let meant = claims.iter().filter(|claim| is_meant(&claim.what));
                meant.map(|claim| claim.run.clone()).collect()
            };
        let is_trace = |what: &ClaimKind| match what {
            ClaimKind::Event(source) => matches!(source.format, Format::Trace(_)),
            _ => false,
        };
        let with_tensors = runs_with(&self.0, |what| matches!(what, ClaimKind::Tensors { .. }));
        let with_traces = runs_with(&self.0, is_trace);
        let with_any = runs_with(&self.0, |_| true);
        for claim in &mut self.0 {
            let Some((last, above)) = claim.run.split_last() else {
                continue;
            };
            let is_part = match &claim.what {
                ClaimKind::Event(_) if is_trace(&claim.what) => {
                    with_any.contains(above) && (is_event_part(last) || is_profile_part(last))
                }
                ClaimKind::Event(_) => {
                    is_event_part(last)
                        && (with_tensors.contains(above) || with_traces.contains(above))
                }
                _ => false,
            };
            if is_part {
                claim.run.pop();
            }
        }
        let with_events = runs_with(&self.0, |what| matches!(what, ClaimKind::Event(_)));
        let mut runs: BTreeMap<Vec<String>, RunFiles> = BTreeMap::new();
        for mut claim in self.0 {
            // Tensors in a folder of any name, below the events of the run.
            if let (
                ClaimKind::Tensors { source, .. } | ClaimKind::Constant(source),
                Some((last, above)),
            ) = (&mut claim.what, claim.run.split_last())
                && !with_events.contains(&claim.run)
                && with_events.contains(above)
            {
                source.kind.prefix_names(last);
                claim.run.pop();
            }
            let run = runs.entry(claim.run).or_default();
            run.files += 1;
            run.len_bytes += claim.len_bytes;
            if let ClaimKind::Tensors { source, .. } = &claim.what {
                run.modified = run.modified.max(Some(source.stamp.modified));
            }
            let rank = run.ranks.entry(claim.rank).or_default();
            rank.dump.drawn.extend(claim.drawn);
            match claim.what {
                ClaimKind::Beside => {}
                ClaimKind::Constant(source) => rank.dump.constants.push(source),
                ClaimKind::Event(source) => rank.events.push(source),
                ClaimKind::Tensors { step, source } => {
                    rank.steps.entry(step).or_default().push(source);
                }
                ClaimKind::Order(graph, file) => drop(rank.dump.orders.insert(graph, file)),
                ClaimKind::Graph(graph, file) => drop(rank.dump.graphs.insert(graph, file)),
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
    /// The name of a file that may contain a step.
    fn named(&mut self) -> Option<NamedFile<'_>> {
        let ClaimKind::Tensors { step, source } = &mut self.what else {
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

    fn of_part(
        part: Part,
        path: &Path,
        shown: &Arc<str>,
        stamp: Stamp,
        drawn: Option<EventSource>,
    ) -> Self {
        let Part { run, rank, kind } = part;
        let source = |kind| TensorSource {
            path: path.to_owned(),
            shown: Arc::clone(shown),
            kind,
            len_bytes: stamp.len_bytes,
            stamp,
        };
        let what = match kind {
            PartKind::Safetensors {
                above,
                stem,
                prefix,
                attempt,
            } => ClaimKind::Tensors {
                step: above.unwrap_or(0),
                source: source(TensorKind::Safetensors {
                    prefix,
                    attempt,
                    stem,
                    has_step: above.is_some(),
                }),
            },
            PartKind::Npy { step, name } => ClaimKind::Tensors {
                step,
                source: source(TensorKind::Npy { name }),
            },
            PartKind::Dumped { step, graph } => ClaimKind::Tensors {
                step,
                source: source(TensorKind::Dumped { graph }),
            },
            // MindSpore writes an empty file for constants without a value.
            PartKind::Constant { .. } if stamp.len_bytes == 0 => ClaimKind::Beside,
            PartKind::Constant { name } => {
                ClaimKind::Constant(source(TensorKind::Constant { name }))
            }
            PartKind::Beside => ClaimKind::Beside,
            PartKind::Order(graph) => ClaimKind::Order(graph, (path.to_owned(), stamp)),
            PartKind::Graph(graph) => ClaimKind::Graph(graph, (path.to_owned(), stamp)),
        };
        Self {
            run,
            rank,
            what,
            drawn,
            len_bytes: stamp.len_bytes,
        }
    }

    fn of_event(mut folders: Vec<String>, file_name: &str, source: EventSource) -> Self {
        let rank = names::take_rank(&mut folders)
            .or_else(|| rank_hint(file_name))
            .unwrap_or(0);
        names::take_profile(source.format, &mut folders);
        Self {
            run: folders,
            rank,
            len_bytes: source.stamp.len_bytes,
            what: ClaimKind::Event(source),
            drawn: None,
        }
    }
}

/// The format of a file, by its content if its name does not say it.
pub(super) fn sniffed(name: &str, path: &Path) -> Option<Format> {
    sniff(name, || files::head(path))
}

pub(super) fn below<'a>(root: &Path, path: &'a Path) -> &'a Path {
    path.strip_prefix(root).unwrap_or(path)
}
