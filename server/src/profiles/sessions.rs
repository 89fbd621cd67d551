//! The sessions of a run: files of profilers grouped by session and rank, by their names alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use trainscope_format::formats::mindspore_profile::MindsporeTable;
use trainscope_format::trace::{TraceFile, TraceFormat};
use trainscope_format::{Format, Kind};

use super::columns::FileStamp;
use super::rules;
use crate::discovery::runs::RunFiles;
use crate::files;
use crate::index::{Index, ReadError, TraceEntry};

/// Id of the session with the spans of the collector.
pub(crate) const SPANS: &str = "spans";

/// The files of one session of one rank.
#[derive(Clone, Debug)]
pub(crate) struct SessionFiles {
    pub(crate) run: String,
    /// Unique in its run together with the rank.
    pub(crate) id: String,
    pub(crate) rank: u32,
    /// Sorted by path; empty for spans in event files.
    pub(crate) files: Vec<TraceEntry>,
    /// Table next to the files, which does not form a separate session.
    pub(crate) memory_timeline: Option<PathBuf>,
    pub(crate) len_bytes: u64,
    pub(crate) modified: Option<SystemTime>,
    /// Number of records of spans: more of them are a new key.
    span_tags: usize,
}

impl SessionFiles {
    /// The session of spans in event files.
    fn of_spans(run: &str, rank: u32, span_tags: usize) -> Self {
        Self {
            run: run.to_owned(),
            id: SPANS.to_owned(),
            rank,
            files: Vec::new(),
            memory_timeline: None,
            len_bytes: 0,
            modified: None,
            span_tags,
        }
    }

    /// The session of a single Chrome trace.
    #[cfg(test)]
    pub(super) fn of_file(path: &Path) -> Self {
        let metadata = files::metadata(path).unwrap();
        Self {
            run: "run".to_owned(),
            id: "session".to_owned(),
            rank: 0,
            files: vec![TraceEntry {
                path: "run/a.pt.trace.json".into(),
                full: path.to_owned(),
                rank: 0,
                format: TraceFile::ChromeJson,
            }],
            memory_timeline: None,
            len_bytes: metadata.len_bytes,
            modified: metadata.modified,
            span_tags: 0,
        }
    }

    /// Identity of the content: paths, sizes and times of change.
    pub(crate) fn key(&self) -> String {
        let mut key = format!(
            "{}\0{}\0{}\0{}",
            self.run, self.id, self.rank, self.span_tags
        );
        let rules = self.operator_rules();
        for full in self.files.iter().map(|file| &file.full).chain(&rules) {
            let metadata = files::metadata(full).ok();
            let modified = metadata.as_ref().and_then(|metadata| metadata.modified);
            let len = metadata.map_or(0, |metadata| metadata.len_bytes);
            let path = full.display();
            let facts = format!("\0{path}\0{len}\0{modified:?}");
            key.push_str(&facts);
        }
        key
    }

    /// The file with rules about operators, if any.
    pub(super) fn operator_rules(&self) -> Option<PathBuf> {
        rules::file_above(&self.files.first()?.full)
    }

    /// The only file of the session as it is now, its table of memory, and the rules about operators; `None` for
    /// sessions of several files, each of which is small.
    pub(super) fn stamps(&self) -> Option<Vec<FileStamp>> {
        let [file] = &self.files[..] else {
            return None;
        };
        if self.is_mindspore() {
            return None;
        }
        let rules = self.operator_rules();
        let paths = [
            Some(&file.full),
            self.memory_timeline.as_ref(),
            rules.as_ref(),
        ];
        paths
            .into_iter()
            .flatten()
            .map(|path| FileStamp::of(path))
            .collect()
    }

    pub(crate) fn format(&self) -> TraceFormat {
        match self.files.first().map(|file| file.format) {
            None => TraceFormat::Spans,
            Some(TraceFile::MindsporeExecutions | TraceFile::MindsporeTables) => {
                TraceFormat::Mindspore
            }
            Some(TraceFile::Folded) => TraceFormat::Folded,
            Some(TraceFile::MemorySnapshot) => TraceFormat::Snapshot,
            Some(TraceFile::Nsight) => TraceFormat::Nsight,
            Some(TraceFile::Xplane) => TraceFormat::Xplane,
            Some(_) if self.is_mindspore() => TraceFormat::Mindspore,
            Some(_)
                if self
                    .files
                    .iter()
                    .any(|file| file.path.contains(".pt.trace.json")) =>
            {
                TraceFormat::Kineto
            }
            Some(_) => TraceFormat::Chrome,
        }
    }

    pub(crate) fn is_mindspore(&self) -> bool {
        self.files.iter().any(is_mindspore)
    }

    /// The file with the arguments of slices, if slices of its format refer to places in it.
    pub(crate) fn arguments_file(&self) -> Option<&TraceEntry> {
        let mut files = self.files.iter();
        let file = files.find(|file| file.format == TraceFile::ChromeJson);
        file.filter(|_| !self.is_mindspore())
    }

    /// Paths for display.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.files
            .iter()
            .map(|file| file.path.to_string())
            .collect()
    }
}

/// The sessions of the files that a walk has found, the newest first, in each the lowest rank first.
pub(crate) fn recorded_by(run: &RunFiles) -> Vec<SessionFiles> {
    let of_rank = run
        .ranks
        .iter()
        .flat_map(|(rank, found)| found.events.iter().map(move |source| (*rank, source)));
    let entries = of_rank.filter_map(|(rank, source)| match source.format {
        Format::Trace(format) => Some(TraceEntry {
            path: Arc::clone(&source.shown),
            full: source.path.clone(),
            rank,
            format,
        }),
        _ => None,
    });
    let mut files: Vec<TraceEntry> = entries.collect();
    files.sort();
    newest_first(grouped(&run.name, files))
}

/// The sessions of a run with those of its spans, the newest first, in each the lowest rank first.
pub(super) fn of_run(index: &Index, run: &str) -> Result<Vec<SessionFiles>, ReadError> {
    let mut sessions = grouped(run, index.traces(run)?);
    let mut span_tags: BTreeMap<u32, usize> = BTreeMap::new();
    // A run of tensors only has no tags.
    for (_, rank) in index.tags_of(run, Kind::Profile).unwrap_or_default() {
        *span_tags.entry(rank).or_default() += 1;
    }
    let spans = span_tags.into_iter();
    sessions.extend(spans.map(|(rank, tags)| SessionFiles::of_spans(run, rank, tags)));
    Ok(newest_first(sessions))
}

/// Files by session and rank.
fn grouped(run: &str, all: Vec<TraceEntry>) -> Vec<SessionFiles> {
    let mut groups: BTreeMap<(String, u32), SessionFiles> = BTreeMap::new();
    let (timelines, traces): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|file| file.format == TraceFile::MemoryTimeline);
    // Memory over time alone is a separate session.
    let traces = if traces.is_empty() {
        timelines.clone()
    } else {
        traces
    };
    for (id, rank, file) in named(run, traces) {
        let group = groups
            .entry((id.clone(), rank))
            .or_insert_with(|| SessionFiles {
                run: run.to_owned(),
                id,
                rank,
                files: Vec::new(),
                memory_timeline: None,
                len_bytes: 0,
                modified: None,
                span_tags: 0,
            });
        if let Ok(metadata) = files::metadata(&file.full) {
            group.len_bytes += metadata.len_bytes;
            group.modified = group.modified.max(metadata.modified);
        }
        let folder = file.full.parent();
        let beside = timelines
            .iter()
            .find(|timeline| timeline.full.parent() == folder);
        group.memory_timeline = group
            .memory_timeline
            .take()
            .or(beside.map(|timeline| timeline.full.clone()));
        group.files.push(file);
    }
    groups.into_values().collect()
}

/// Stacks without times and memory alone come last: they hold less than the trace of the same steps.
fn newest_first(mut sessions: Vec<SessionFiles>) -> Vec<SessionFiles> {
    let mut newest: BTreeMap<String, Option<SystemTime>> = BTreeMap::new();
    for session in &sessions {
        let modified = newest.entry(session.id.clone()).or_default();
        *modified = (*modified).max(session.modified);
    }
    sessions.sort_by(|a, b| {
        let time = |session: &SessionFiles| newest.get(&session.id).copied().flatten();
        let is_partial = |session: &SessionFiles| {
            matches!(
                session.format(),
                TraceFormat::Folded | TraceFormat::Snapshot
            )
        };
        (is_partial(a).cmp(&is_partial(b)))
            .then_with(|| time(b).cmp(&time(a)))
            .then_with(|| b.id.cmp(&a.id))
            .then(a.rank.cmp(&b.rank))
    });
    sessions
}

/// Each file with its session and rank.
fn named(run: &str, files: Vec<TraceEntry>) -> Vec<(String, u32, TraceEntry)> {
    let mut named = Vec::with_capacity(files.len());
    // Files of a worker by their number: its i-th file is of session i.
    let mut workers: BTreeMap<(String, String), Vec<(u64, TraceEntry)>> = BTreeMap::new();
    let with_executions: BTreeSet<String> = files
        .iter()
        .filter(|file| file.format == TraceFile::MindsporeExecutions)
        .map(|file| folder_of_profile(run, file))
        .collect();
    let mut taken: BTreeSet<(String, u32)> = BTreeSet::new();
    for file in files {
        let folder = folder_of_profile(run, &file);
        if is_mindspore(&file) {
            let rank = file.rank;
            named.push((mindspore_session(folder), rank, file));
        } else if let Some((worker, number)) = worker_of(&file) {
            let rank = rank_in_file(&file.full);
            let mut file = file;
            file.rank = rank.unwrap_or(file.rank);
            workers
                .entry((folder, worker))
                .or_default()
                .push((number, file));
        } else {
            let is_beside = with_executions.contains(&folder);
            let rank = rank_in_file(&file.full);
            if is_beside {
                let rank = rank.unwrap_or(file.rank);
                named.push((mindspore_session(folder), rank, file));
                continue;
            }
            let stem = stem_of(run, &file);
            let (mut id, of_name) = match without_rank(&stem) {
                Some((id, rank)) => (id, rank),
                None => (stem.clone(), file.rank),
            };
            let rank = rank.unwrap_or(of_name);
            // Names that differ in more than the rank that their files know.
            if !taken.insert((id.clone(), rank)) {
                id = stem;
            }
            named.push((id, rank, file));
        }
    }
    let mut positions: BTreeMap<String, u32> = BTreeMap::new();
    for ((folder, _), mut files) in workers {
        files.sort();
        // Workers without a rank in name or content count in the order of their names.
        let position = positions.entry(folder.clone()).or_default();
        let by_name = *position;
        *position += 1;
        for (at, (_, file)) in files.into_iter().enumerate() {
            let number = at + 1;
            let id = if folder.is_empty() {
                format!("session-{number}")
            } else {
                format!("{folder}/session-{number}")
            };
            let mut rank = file.rank;
            if !taken.insert((id.clone(), rank)) {
                rank = by_name;
                taken.insert((id.clone(), rank));
            }
            named.push((id, rank, file));
        }
    }
    named
}

/// Session of a folder of `MindSpore`; files in the folder of the run have the name that it gives to its folder.
fn mindspore_session(folder: String) -> String {
    if folder.is_empty() {
        "profiler".to_owned()
    } else {
        folder
    }
}

fn is_mindspore(file: &TraceEntry) -> bool {
    let name = file.full.file_name().unwrap_or_default().to_string_lossy();
    MindsporeTable::sniff(&name).is_some()
}

/// Folder of a profile below its run; the folder that `MindSpore` makes for each session, not those inside of it.
fn folder_of_profile(run: &str, file: &TraceEntry) -> String {
    let path = Path::new(&*file.path);
    let run = if run == "." {
        Path::new("")
    } else {
        Path::new(run)
    };
    let below = path.strip_prefix(run).unwrap_or(path);
    let mut folders: Vec<String> = below
        .parent()
        .unwrap_or(Path::new(""))
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .filter(|part| {
            part.strip_prefix("rank_")
                .is_none_or(|rank| rank.parse::<u32>().is_err())
        })
        .collect();
    let inner = folders
        .iter()
        .position(|name| name.ends_with("_ascend_ms") || name.ends_with("_ascend_pt"));
    if let Some(at) = inner {
        folders.truncate(at + 1);
    }
    folders.join("/")
}

/// Worker and number of `<worker>.<number>.pt.trace.json[.gz]`.
fn worker_of(file: &TraceEntry) -> Option<(String, u64)> {
    let name = file.full.file_name()?.to_str()?;
    let stem = name.strip_suffix(".gz").unwrap_or(name);
    let stem = stem.strip_suffix(".pt.trace.json")?;
    let (worker, number) = stem.rsplit_once('.')?;
    Some((worker.to_owned(), number.parse().ok()?))
}

/// A path without the rank in its last name, and that rank: `trace_rank3`, `rank3_trace`, `r3-2025-1-30`.
fn without_rank(stem: &str) -> Option<(String, u32)> {
    const SIGNS: [char; 3] = ['_', '-', '.'];
    let (folder, name) = match stem.rsplit_once('/') {
        Some((folder, name)) => (format!("{folder}/"), name),
        None => (String::new(), stem),
    };
    let lower = name.to_ascii_lowercase();
    let (before, after) = match lower.find("rank") {
        Some(at) => (&name[..at], name[at + 4..].trim_start_matches(['_', '-'])),
        None => ("", name.strip_prefix('r')?),
    };
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    let rank = after[..digits].parse().ok()?;
    let after = &after[digits..];
    let is_name = lower.contains("rank") || after.starts_with(SIGNS);
    let parts = [
        before.trim_end_matches(SIGNS),
        after.trim_start_matches(SIGNS),
    ];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let rest = if parts.is_empty() {
        "ranks".to_owned()
    } else {
        parts.join("_")
    };
    is_name.then(|| (format!("{folder}{rest}"), rank))
}

/// Path below the run without extensions.
fn stem_of(run: &str, file: &TraceEntry) -> String {
    let folder = folder_of_profile(run, file);
    let name = file.full.file_name().unwrap_or_default().to_string_lossy();
    // Two files of one name and other formats are two sessions.
    let ends: &[&str] = match file.format {
        TraceFile::ChromeJson | TraceFile::MemoryTimeline => &[".gz", ".json", ".trace", ".pt"],
        TraceFile::MemorySnapshot => &[".gz", ".pickle", ".pkl"],
        TraceFile::Nsight => &[".sqlite"],
        _ => &[".gz", ".txt", ".pb"],
    };
    let stem = ends
        .iter()
        .fold(&*name, |stem, end| stem.strip_suffix(end).unwrap_or(stem));
    if folder.is_empty() {
        stem.to_owned()
    } else {
        format!("{folder}/{stem}")
    }
}

/// Bytes at the end of a file in which a rank is looked for: Kineto lists all process groups behind it.
const TAIL_BYTES: u64 = 64 << 10;

/// Rank that Kineto writes before the events, or behind them. Of packed files only the first is looked for.
fn rank_in_file(path: &Path) -> Option<u32> {
    rank_in(&files::head(path)).or_else(|| rank_in(&files::tail(path, TAIL_BYTES)))
}

fn rank_in(bytes: &[u8]) -> Option<u32> {
    let text = String::from_utf8_lossy(bytes);
    let (_, after) = text.rsplit_once("\"distributedInfo\"")?;
    let (_, after) = after.split_once("\"rank\":")?;
    let digits = after.trim_start();
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    digits[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_ranks_are_one_session() {
        let of = |names: &[&str]| -> Vec<(String, u32)> {
            let files = names.iter().map(|name| TraceEntry {
                path: format!("run/{name}").into(),
                full: PathBuf::from("/nowhere").join(name),
                rank: 0,
                format: TraceFile::ChromeJson,
            });
            let named = named("run", files.collect());
            named.into_iter().map(|(id, rank, _)| (id, rank)).collect()
        };
        let both = |id: &str| vec![(id.to_owned(), 0), (id.to_owned(), 1)];
        assert_eq!(of(&["trace_rank0.json", "trace_rank1.json"]), both("trace"));
        assert_eq!(
            of(&["it_5/rank0_trace.json", "it_5/rank1_trace.json"]),
            both("it_5/trace")
        );
        assert_eq!(of(&["rank-0.json", "rank-1.json"]), both("ranks"));
        assert_eq!(
            of(&["r0-2025-1-30.json.gz", "r1-2025-1-30.json.gz"]),
            both("2025-1-30")
        );
        // Names without a rank, and two of the same one.
        assert_eq!(
            of(&[
                "resnet50.json",
                "r50.json",
                "ranking.json",
                "rank0.json",
                "rank_0.json"
            ]),
            [
                ("resnet50".to_owned(), 0),
                ("r50".to_owned(), 0),
                ("ranking".to_owned(), 0),
                ("ranks".to_owned(), 0),
                ("rank_0".to_owned(), 0),
            ]
        );
    }

    #[test]
    fn stacks_come_after_the_trace_beside_them() {
        let session = |name: &str, format| SessionFiles {
            id: name.to_owned(),
            files: vec![TraceEntry {
                path: name.into(),
                full: PathBuf::from(name),
                rank: 0,
                format,
            }],
            modified: None,
            ..SessionFiles::of_spans("run", 0, 0)
        };
        let sessions = newest_first(vec![
            session("stacks", TraceFile::Folded),
            session("2025-1-30", TraceFile::ChromeJson),
        ]);
        let ids: Vec<&str> = sessions.iter().map(|session| &*session.id).collect();
        assert_eq!(ids, ["2025-1-30", "stacks"]);
    }
}
