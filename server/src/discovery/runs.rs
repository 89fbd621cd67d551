//! Runs and their files, as a walk finds them: events, tensors by rank and step, graphs.

use std::collections::BTreeMap;
use std::hash::{Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use rustc_hash::FxHasher;
use trainscope_format::Format;

use super::base::Base;
use super::file::Identity;
use super::stamp::Stamp;

#[derive(Clone, Debug, Default)]
pub(crate) struct RunFiles {
    /// Name relative to the walked folder, with `/` between parts; `.` for that folder itself.
    pub(crate) name: String,
    /// As it would be typed; empty until it is set.
    pub(crate) title: String,
    pub(crate) ranks: BTreeMap<u32, RankFiles>,
    pub(crate) files: u64,
    /// Sum of their lengths.
    pub(crate) len_bytes: u64,
    /// Last change of a file with tensors.
    pub(crate) modified: Option<SystemTime>,
}

impl RunFiles {
    /// Fingerprint of the files with tensors (path, length, time of change). Does not read the disk.
    pub(crate) fn tensors_stamp(&self) -> u64 {
        let mut hasher = FxHasher::default();
        for (rank, parts) in &self.ranks {
            for (step, sources) in &parts.steps {
                (rank, step, fingerprint(sources)).hash(&mut hasher);
            }
            parts.dump.orders.hash(&mut hasher);
            parts.dump.graphs.hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Puts the prefix of a base directory before the paths for display.
    pub(super) fn prefix_paths(&mut self, base: &Base) {
        if base.prefix.is_empty() {
            return;
        }
        for rank in self.ranks.values_mut() {
            let events = rank.events.iter_mut().chain(&mut rank.evaluations);
            let events = events
                .chain(&mut rank.dump.drawn)
                .map(|source| &mut source.shown);
            let tensors = rank.steps.values_mut().flatten();
            for shown in events.chain(tensors.map(|source| &mut source.shown)) {
                *shown = base.path_name(shown).into();
            }
        }
    }

    /// True if any file of the run holds tensors.
    pub(crate) fn has_tensors(&self) -> bool {
        self.ranks.values().any(|rank| !rank.steps.is_empty())
    }

    /// Fingerprint of all files (path, length, time of change). Does not read the disk.
    pub(crate) fn signature(&self) -> u64 {
        let mut hasher = FxHasher::default();
        for (rank, parts) in &self.ranks {
            rank.hash(&mut hasher);
            let events = parts.events.iter().chain(&parts.evaluations);
            let events = events.map(|event| (&event.path, event.stamp));
            let tensors = parts.steps.values().flatten();
            let tensors = tensors.map(|source| (&source.path, source.stamp));
            for file in events.chain(tensors) {
                file.hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}

/// Files that one rank of a run has written.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankFiles {
    /// Event files and graphs, by path.
    pub(crate) events: Vec<EventSource>,
    /// Event files of sibling runs that evaluate this one.
    pub(crate) evaluations: Vec<EventSource>,
    /// Tensor files by step.
    pub(crate) steps: BTreeMap<i64, Vec<TensorSource>>,
    /// Tables and graphs next to the dumps of `MindSpore`.
    pub(crate) dump: DumpFiles,
}

/// A file with a decoder.
#[derive(Clone, Debug)]
pub(crate) struct EventSource {
    pub(crate) path: PathBuf,
    pub(crate) stamp: Stamp,
    pub(crate) identity: Identity,
    /// Error of the attempt to open it; `None` if it can be opened.
    pub(crate) unreadable: Option<String>,
    /// Path for display: relative to the walked folder.
    pub(crate) shown: Arc<str>,
    pub(crate) format: Format,
    /// Folder of an evaluation run next to its training run.
    pub(crate) evaluates: Option<Arc<str>>,
}

/// A file with tensors of one step.
#[derive(Clone, Debug)]
pub(crate) struct TensorSource {
    pub(crate) path: PathBuf,
    /// Path for display: relative to the walked folder.
    pub(crate) shown: Arc<str>,
    pub(crate) kind: TensorKind,
    pub(crate) len_bytes: u64,
    /// Size and time at the walk.
    pub(crate) stamp: Stamp,
}

/// Source of the names of tensors in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TensorKind {
    /// Names in the file, after this prefix.
    Safetensors {
        prefix: String,
        attempt: u32,
        /// Name of the file without extension, attempt and step.
        stem: String,
        has_step: bool,
    },
    /// The file is one tensor of this name.
    Npy { name: String },
    /// The file is a constant of this name.
    Constant { name: String },
    /// Names by the rules of `MindSpore`'s dumps, in this graph.
    Dumped { graph: u32 },
}

/// Tables and graphs next to the dumps of `MindSpore`.
#[derive(Clone, Debug, Default)]
pub(crate) struct DumpFiles {
    /// `ms_execution_order_graph_<n>.csv`.
    pub(crate) orders: BTreeMap<u32, (PathBuf, Stamp)>,
    /// `ms_output_trace_code_graph_<n>.pb`.
    pub(crate) graphs: BTreeMap<u32, (PathBuf, Stamp)>,
    /// Graphs among the files of dumps that have a decoder, including those of `graphs`.
    pub(crate) drawn: Vec<EventSource>,
    /// Constants before a step is known.
    pub(super) constants: Vec<TensorSource>,
}

impl TensorSource {
    /// True for a constant of a graph.
    pub(crate) fn is_constant(&self) -> bool {
        matches!(self.kind, TensorKind::Constant { .. })
    }
}

/// Fingerprint of these files (path, length, time of change).
pub(crate) fn fingerprint(sources: &[TensorSource]) -> u64 {
    let mut hasher = FxHasher::default();
    for source in sources {
        (&source.path, source.stamp).hash(&mut hasher);
    }
    hasher.finish()
}

impl TensorKind {
    /// Prefixes the names of its tensors with the name of a folder.
    pub(super) fn prefix_names(&mut self, folder: &str) {
        match self {
            Self::Safetensors { prefix, .. } => *prefix = format!("{folder}/{prefix}"),
            Self::Npy { name } | Self::Constant { name } => *name = format!("{folder}/{name}"),
            Self::Dumped { .. } => {}
        }
    }
}
