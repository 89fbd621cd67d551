//! Plans: a listing in a file, so that many workers do not list a folder many times, and all see the same files
//! although the training goes on.
//!
//! Units of work stand in blocks, in their order. A worker reads the directory and the blocks of its own part.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use trainscope_format::Format;

use crate::discovery::file::Identity;
use crate::discovery::runs::{EventSource, RankFiles, RunFiles, TensorKind, TensorSource};
use crate::discovery::stamp::Stamp;
use crate::files;
use crate::judging::shard::{ShardNumber, Work};
use crate::packed::{PackedFile, PackedWriter, Section, damaged};

/// First bytes, with the version of the layout.
const MAGIC: &[u8] = b"TSPLAN1\n";
/// Number of files in a block, at which the next one begins.
const BLOCK_FILES: usize = 4096;

/// A run and the number of its folder among those of the command.
pub(super) struct ListedRun {
    pub(super) source: usize,
    pub(super) run: RunFiles,
}

/// Content of a plan.
pub(super) struct PlanContent {
    pub(super) runs: Vec<ListedRun>,
    pub(super) work: Work,
    pub(super) hash: u64,
    pub(super) shards: u32,
    pub(super) unreadable: Vec<(String, String)>,
    pub(super) special: Vec<(String, String)>,
}

#[derive(Serialize, Deserialize)]
struct Directory {
    version: String,
    /// Number of folders of the command.
    sources: u32,
    shards: u32,
    hash: u64,
    runs: Vec<PlannedRun>,
    unreadable: Vec<(String, String)>,
    special: Vec<(String, String)>,
    len_bytes: u64,
    blocks: Vec<Block>,
}

/// Units of work that follow each other.
#[derive(Serialize, Deserialize)]
struct Block {
    section: Section,
    /// Bytes of all units before them.
    begin: u64,
    len_bytes: u64,
}

#[derive(Serialize, Deserialize)]
struct PlannedRun {
    source: u32,
    name: String,
    files: u64,
    len_bytes: u64,
    ranks: Vec<PlannedRank>,
}

#[derive(Serialize, Deserialize)]
struct PlannedRank {
    rank: u32,
    events: Vec<PlannedEvents>,
    evaluations: Vec<PlannedEvents>,
    orders: Vec<(u32, PlannedFile)>,
    graphs: Vec<(u32, PlannedFile)>,
    drawn: Vec<PlannedEvents>,
}

#[derive(Serialize, Deserialize)]
struct PlannedFile {
    /// Below the folder of the command; mount points differ between nodes.
    path: Vec<u8>,
    len_bytes: u64,
    modified_secs: i64,
    modified_nanos: u32,
}

#[derive(Serialize, Deserialize)]
struct PlannedEvents {
    file: PlannedFile,
    shown: String,
    format: Format,
    evaluates: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct PlannedUnit {
    run: u32,
    rank: u32,
    step: i64,
    tensors: Vec<PlannedTensors>,
}

#[derive(Serialize, Deserialize)]
struct PlannedTensors {
    file: PlannedFile,
    shown: String,
    kind: PlannedKind,
}

/// [`TensorKind`] in a file.
#[derive(Serialize, Deserialize)]
enum PlannedKind {
    Safetensors(String, u32, String, bool),
    Npy(String),
    Constant(String),
    Dumped(u32),
}

/// Folder that the paths of a source are relative to.
pub(super) fn root_of(source: &Path) -> &Path {
    if files::is_file(source) {
        source.parent().unwrap_or(Path::new(""))
    } else {
        source
    }
}

/// Hash of the files with tensors: two listings with the same one have the same units of work.
pub(super) fn hash(runs: &[ListedRun], dirs: &[PathBuf]) -> u64 {
    let mut all = Vec::new();
    for listed in runs {
        let root = root_of(&dirs[listed.source]);
        for (rank, found) in &listed.run.ranks {
            for (step, sources) in &found.steps {
                for source in sources {
                    let file = PlannedFile::of(&source.path, source.stamp, root);
                    // Encoding into memory cannot fail.
                    let bytes = postcard::to_allocvec(&(listed.source, rank, step, file));
                    all.extend(bytes.unwrap_or_default());
                }
            }
        }
    }
    twox_hash::XxHash3_64::oneshot(&all)
}

/// Writes a plan. If another process has written it meanwhile, that one stays.
pub(super) fn write(path: &Path, planned: &PlanContent, dirs: &[PathBuf]) -> io::Result<()> {
    let folder = path.parent().filter(|parent| *parent != Path::new(""));
    let folder = folder.unwrap_or(Path::new("."));
    let file = tempfile::Builder::new()
        .prefix(".part-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666))
        .tempfile_in(folder)?;
    let mut out = PackedWriter::new(file, MAGIC)?;
    let mut blocks = Vec::new();
    let mut units = Vec::new();
    let (mut files, mut begin, mut len_bytes) = (0, 0_u64, 0_u64);
    let mut end = |units: &mut Vec<PlannedUnit>, begin: u64, len_bytes: u64| -> io::Result<()> {
        if !units.is_empty() {
            let section = out.value(units)?;
            units.clear();
            blocks.push(Block {
                section,
                begin,
                len_bytes,
            });
        }
        Ok(())
    };
    for (number, listed) in (0..).zip(&planned.runs) {
        let root = root_of(&dirs[listed.source]);
        for (&rank, found) in &listed.run.ranks {
            for (&step, sources) in &found.steps {
                units.push(PlannedUnit {
                    run: number,
                    rank,
                    step,
                    tensors: sources
                        .iter()
                        .map(|source| PlannedTensors::of(source, root))
                        .collect(),
                });
                files += sources.len();
                let bytes = sources.iter().map(|source| source.len_bytes);
                len_bytes = bytes.fold(len_bytes, u64::saturating_add);
                if files >= BLOCK_FILES {
                    end(&mut units, begin, len_bytes)?;
                    begin = begin.saturating_add(len_bytes);
                    (files, len_bytes) = (0, 0);
                }
            }
        }
    }
    end(&mut units, begin, len_bytes)?;
    let runs = planned
        .runs
        .iter()
        .map(|listed| PlannedRun::of(listed, dirs));
    let directory = Directory {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        sources: u32::try_from(dirs.len()).unwrap_or(u32::MAX),
        shards: planned.shards,
        hash: planned.hash,
        runs: runs.collect(),
        unreadable: planned.unreadable.clone(),
        special: planned.special.clone(),
        len_bytes: planned.work.len_bytes(),
        blocks,
    };
    match out.finish(&directory)?.persist_noclobber(path) {
        Err(failed) if failed.error.kind() != io::ErrorKind::AlreadyExists => Err(failed.error),
        _ => Ok(()),
    }
}

/// Reads a plan for these folders: all of it, or what one shard needs.
pub(super) fn read(
    path: &Path,
    dirs: &[PathBuf],
    shard: Option<ShardNumber>,
) -> io::Result<PlanContent> {
    let file: PackedFile<Directory> = PackedFile::open(path, MAGIC, u64::MAX)?;
    let plan = &file.directory;
    if plan.version != env!("CARGO_PKG_VERSION") {
        let reason = format!("it was made by trainscope {}", plan.version);
        return Err(damaged(reason));
    }
    if plan.sources as usize != dirs.len() {
        let reason = format!(
            "it was made for {} folders, and {} are given",
            plan.sources,
            dirs.len()
        );
        return Err(damaged(reason));
    }
    let mut runs = Vec::new();
    for run in &plan.runs {
        let source = run.source as usize;
        let dir = dirs
            .get(source)
            .ok_or_else(|| damaged("a run of no folder"))?;
        runs.push(ListedRun {
            source,
            run: run.files(root_of(dir))?,
        });
    }
    let mut begin = None;
    for block in needed(plan, shard) {
        begin.get_or_insert(block.begin);
        let units: Vec<PlannedUnit> = file.value(block.section)?;
        for unit in units {
            let listed = runs.get_mut(unit.run as usize);
            let listed = listed.ok_or_else(|| damaged("a step of no run"))?;
            let root = root_of(&dirs[listed.source]);
            let tensors = unit.tensors.iter().map(|tensors| tensors.source(root));
            let tensors: Vec<TensorSource> = tensors.collect::<io::Result<_>>()?;
            let rank = listed.run.ranks.entry(unit.rank).or_default();
            rank.steps.insert(unit.step, tensors);
        }
    }
    let work = Work::part(
        runs.iter().map(|listed| &listed.run),
        begin.unwrap_or(0),
        plan.len_bytes,
    );
    Ok(PlanContent {
        runs,
        work,
        hash: plan.hash,
        shards: plan.shards,
        unreadable: plan.unreadable.clone(),
        special: plan.special.clone(),
    })
}

/// The blocks that a shard needs, with that of the step before its first one.
fn needed(plan: &Directory, shard: Option<ShardNumber>) -> &[Block] {
    let Some(ShardNumber { number, of }) = shard else {
        return &plan.blocks;
    };
    let bound = |number: u32| {
        let bytes = u128::from(plan.len_bytes) * u128::from(number) / u128::from(of.max(1));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    };
    let (from, to) = (bound(number), bound(number.saturating_add(1)));
    let ends = |block: &Block| block.begin.saturating_add(block.len_bytes);
    // Units without bytes begin where their neighbours do.
    let first = plan.blocks.partition_point(|block| ends(block) < from);
    let last = plan.blocks.partition_point(|block| block.begin <= to);
    plan.blocks
        .get(first.saturating_sub(1)..last)
        .unwrap_or_default()
}

impl PlannedRun {
    fn of(listed: &ListedRun, dirs: &[PathBuf]) -> Self {
        let root = root_of(&dirs[listed.source]);
        let events = |sources: &[EventSource]| -> Vec<PlannedEvents> {
            sources
                .iter()
                .map(|source| PlannedEvents::of(source, root))
                .collect()
        };
        let files = |files: &BTreeMap<u32, (PathBuf, Stamp)>| -> Vec<(u32, PlannedFile)> {
            let files = files.iter();
            files
                .map(|(graph, (path, stamp))| (*graph, PlannedFile::of(path, *stamp, root)))
                .collect()
        };
        let ranks = listed.run.ranks.iter().map(|(&rank, found)| PlannedRank {
            rank,
            events: events(&found.events),
            evaluations: events(&found.evaluations),
            orders: files(&found.dump.orders),
            graphs: files(&found.dump.graphs),
            drawn: events(&found.dump.drawn),
        });
        Self {
            source: u32::try_from(listed.source).unwrap_or(u32::MAX),
            name: listed.run.name.clone(),
            files: listed.run.files,
            len_bytes: listed.run.len_bytes,
            ranks: ranks.collect(),
        }
    }

    /// The run without its steps.
    fn files(&self, root: &Path) -> io::Result<RunFiles> {
        let events = |planned: &[PlannedEvents]| -> io::Result<Vec<EventSource>> {
            planned.iter().map(|events| events.source(root)).collect()
        };
        let files =
            |planned: &[(u32, PlannedFile)]| -> io::Result<BTreeMap<u32, (PathBuf, Stamp)>> {
                let files = planned.iter();
                files
                    .map(|(graph, file)| Ok((*graph, (file.path(root)?, file.stamp()))))
                    .collect()
            };
        let mut run = RunFiles {
            name: self.name.clone(),
            files: self.files,
            len_bytes: self.len_bytes,
            ..RunFiles::default()
        };
        for planned in &self.ranks {
            let mut found = RankFiles {
                events: events(&planned.events)?,
                evaluations: events(&planned.evaluations)?,
                ..RankFiles::default()
            };
            found.dump.orders = files(&planned.orders)?;
            found.dump.graphs = files(&planned.graphs)?;
            found.dump.drawn = events(&planned.drawn)?;
            run.ranks.insert(planned.rank, found);
        }
        Ok(run)
    }
}

impl PlannedFile {
    fn of(path: &Path, stamp: Stamp, root: &Path) -> Self {
        let below = path.strip_prefix(root).unwrap_or(path);
        let (secs, nanos) = match stamp.modified.duration_since(UNIX_EPOCH) {
            Ok(after) => (
                i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
                after.subsec_nanos(),
            ),
            Err(before) => {
                let before = before.duration();
                let secs = i64::try_from(before.as_secs()).unwrap_or(i64::MAX);
                match before.subsec_nanos() {
                    0 => (-secs, 0),
                    nanos => (-secs - 1, 1_000_000_000 - nanos),
                }
            }
        };
        Self {
            path: below.as_os_str().as_bytes().to_vec(),
            len_bytes: stamp.len_bytes,
            modified_secs: secs,
            modified_nanos: nanos,
        }
    }

    fn path(&self, root: &Path) -> io::Result<PathBuf> {
        let below = Path::new(OsStr::from_bytes(&self.path));
        let mut parts = below.components();
        if parts.all(|part| matches!(part, Component::Normal(_))) {
            Ok(root.join(below))
        } else {
            Err(damaged("a path out of the folder"))
        }
    }

    fn stamp(&self) -> Stamp {
        let nanos = Duration::from_nanos(self.modified_nanos.into());
        let secs = Duration::from_secs(self.modified_secs.unsigned_abs());
        let whole = if self.modified_secs < 0 {
            UNIX_EPOCH.checked_sub(secs)
        } else {
            UNIX_EPOCH.checked_add(secs)
        };
        let modified = whole.and_then(|whole| whole.checked_add(nanos));
        Stamp {
            len_bytes: self.len_bytes,
            modified: modified.unwrap_or(SystemTime::UNIX_EPOCH),
        }
    }
}

impl PlannedEvents {
    fn of(source: &EventSource, root: &Path) -> Self {
        Self {
            file: PlannedFile::of(&source.path, source.stamp, root),
            shown: source.shown.to_string(),
            format: source.format,
            evaluates: source.evaluates.as_deref().map(str::to_owned),
        }
    }

    /// The file as it is now: event files may have grown.
    fn source(&self, root: &Path) -> io::Result<EventSource> {
        let path = self.file.path(root)?;
        let metadata = files::metadata(&path);
        let unreadable = metadata.as_ref().err();
        Ok(EventSource {
            unreadable: unreadable.map(|error| format!("it cannot be opened: {error}")),
            identity: metadata.as_ref().map(Identity::of).unwrap_or_default(),
            path,
            stamp: self.file.stamp(),
            shown: self.shown.as_str().into(),
            format: self.format,
            evaluates: self.evaluates.as_deref().map(Into::into),
        })
    }
}

impl PlannedTensors {
    fn of(source: &TensorSource, root: &Path) -> Self {
        let kind = match source.kind.clone() {
            TensorKind::Safetensors {
                prefix,
                attempt,
                stem,
                has_step,
            } => PlannedKind::Safetensors(prefix, attempt, stem, has_step),
            TensorKind::Npy { name } => PlannedKind::Npy(name),
            TensorKind::Constant { name } => PlannedKind::Constant(name),
            TensorKind::Dumped { graph } => PlannedKind::Dumped(graph),
        };
        Self {
            file: PlannedFile::of(&source.path, source.stamp, root),
            shown: source.shown.to_string(),
            kind,
        }
    }

    fn source(&self, root: &Path) -> io::Result<TensorSource> {
        let kind = match &self.kind {
            PlannedKind::Safetensors(prefix, attempt, stem, has_step) => TensorKind::Safetensors {
                prefix: prefix.clone(),
                attempt: *attempt,
                stem: stem.clone(),
                has_step: *has_step,
            },
            PlannedKind::Npy(name) => TensorKind::Npy { name: name.clone() },
            PlannedKind::Constant(name) => TensorKind::Constant { name: name.clone() },
            PlannedKind::Dumped(graph) => TensorKind::Dumped { graph: *graph },
        };
        Ok(TensorSource {
            path: self.file.path(root)?,
            shown: self.shown.as_str().into(),
            kind,
            len_bytes: self.file.len_bytes,
            stamp: self.file.stamp(),
        })
    }
}
