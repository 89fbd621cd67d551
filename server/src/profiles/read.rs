//! Reads the files of a session into a model.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use trainscope_analysis::pipeline::{Clock, InputTimes};
use trainscope_analysis::trace::Model;
use trainscope_api::records::RecordsQuery;
use trainscope_format::formats::folded;
use trainscope_format::formats::memory_snapshot;
use trainscope_format::formats::memory_timeline::MemoryTimeline;
use trainscope_format::formats::mindspore_profile::{self, MindsporeFiles, MindsporeTable};
use trainscope_format::formats::spans_trace::spans_to_trace;
use trainscope_format::formats::trace_json::TraceReader;
use trainscope_format::formats::xplane;
use trainscope_format::queues::{Batches, MAX_FILE_BYTES};
use trainscope_format::trace::{Trace, TraceFile, TraceFormat};
use trainscope_format::{Body, Kind, Profile, QueueFormat, digits};
use trainscope_sql::nsight;

use super::cache::ColumnCache;
use super::loaded::{LoadedProfile, SLICE_BYTES};
use super::progress::Progress;
use super::sessions::SessionFiles;
use crate::files;
use crate::index::Index;

/// Bytes read at a time.
const BLOCK_BYTES: usize = 4 << 20;
/// Maximum size of an unpacked trace.
const MAX_TRACE_BYTES: u64 = 64 << 30;
/// Maximum size of a table next to a trace, of folded stacks and of an xplane file, which are read as a whole.
const MAX_TABLE_BYTES: u64 = 1 << 30;
/// Maximum number of unpacked bytes per byte of a file; traces have 15 to 20, zeros 1,030.
const MAX_RATIO: u64 = 1_000;
/// Share of the machine's memory that the events of one trace may take, as a divisor.
const MEMORY_SHARE: u64 = 4;
/// Share of the free memory that a further trace may take, as a divisor: each leaves less to the next.
const FREE_SHARE: u64 = 3;
/// Maximum number of events for each byte of a file, packed or not; traces of profilers have one in 5 to 12 packed
/// bytes, equal events one in a quarter of a byte.
const EVENTS_PER_BYTE: u64 = 1;
/// Minimum limit of events, for files of any size.
const MIN_EVENTS: u64 = 1_000_000;
/// Bytes of memory for each byte of an xplane file whose events are as small as they can be.
const TABLE_FACTOR: u64 = 8;

/// Reads a session: its files, or the spans of event files. Errors are faults of the result.
pub(super) fn read(index: &Index, session: &SessionFiles, progress: &Progress) -> LoadedProfile {
    if session.files.is_empty() {
        loaded(session, spans(index, session), Vec::new(), progress)
    } else {
        read_files(session, progress)
    }
}

/// Reads the files of a session. Errors are faults of the result.
pub(crate) fn read_files(session: &SessionFiles, progress: &Progress) -> LoadedProfile {
    let mut faults = Vec::new();
    let trace = if session.is_mindspore() {
        mindspore(session, progress, &mut faults)
    } else {
        session.files.first().map_or_else(
            || Err("it has no files".to_owned()),
            |file| {
                let read = one(file.format, &file.full, progress, &mut faults);
                read.map_err(|error| error.to_string())
            },
        )
    };
    loaded(session, trace, faults, progress)
}

/// Waiting of a training for its data set, from a profiler file of `MindSpore`; `None` if the file lacks it.
pub(crate) fn input(path: &Path, format: QueueFormat) -> Option<InputTimes> {
    let clock = match format {
        QueueFormat::MinddataIterator => Clock::Iterator,
        QueueFormat::MinddataDevice => Clock::Device,
        QueueFormat::MinddataOperators | QueueFormat::MinddataCpu => return None,
    };
    let bytes = files::read(path, MAX_FILE_BYTES).ok()?;
    InputTimes::of_batches(&Batches::read(&bytes).batches, clock)
}

fn loaded(
    session: &SessionFiles,
    trace: Result<Trace, String>,
    mut faults: Vec<String>,
    progress: &Progress,
) -> LoadedProfile {
    let is_unreadable = trace.is_err();
    let trace = trace.unwrap_or_else(|error| {
        faults.push(format!("it cannot be read: {error}"));
        Trace::default()
    });
    let memory_timeline = memory_timeline(session, progress, &mut faults);
    LoadedProfile::new(
        session.clone(),
        Model::new(trace),
        memory_timeline,
        faults,
        is_unreadable,
    )
}

/// Memory by category, from a file next to a trace.
fn memory_timeline(
    session: &SessionFiles,
    progress: &Progress,
    faults: &mut Vec<String>,
) -> Option<MemoryTimeline> {
    session.memory_timeline.as_ref().and_then(|path| {
        let name = path.file_name().unwrap_or_default().display().to_string();
        let read = whole(path, progress).map(|bytes| MemoryTimeline::read(&bytes));
        match read {
            Ok(timeline) => {
                let damaged = timeline.counts.damaged;
                if damaged > 0 || timeline.counts.truncated {
                    faults.push(format!(
                        "{name} is not whole: {damaged} points of it are lost"
                    ));
                }
                Some(timeline)
            }
            Err(error) => {
                faults.push(format!("{name} cannot be read: {error}"));
                None
            }
        }
    })
}

/// A session from its column file.
pub(super) fn stored(session: &SessionFiles, columns: &ColumnCache) -> Option<LoadedProfile> {
    let stored = columns.model(session)?;
    // Its faults are among those that were stored.
    let timeline = memory_timeline(session, &Progress::default(), &mut Vec::new());
    let (files, model) = (session.clone(), stored.model);
    let loaded = LoadedProfile::new(files, model, timeline, stored.faults, false);
    Some(loaded.with_summary(stored.summary))
}

fn one(
    format: TraceFile,
    path: &Path,
    progress: &Progress,
    faults: &mut Vec<String>,
) -> io::Result<Trace> {
    match format {
        TraceFile::Folded => Ok(folded::read(&whole(path, progress)?)),
        TraceFile::Xplane => Ok(xplane::read(&whole(path, progress)?)),
        TraceFile::MemorySnapshot => snapshot(path, progress, faults),
        TraceFile::Nsight => database(path, progress, faults),
        TraceFile::ChromeJson | TraceFile::MindsporeExecutions | TraceFile::MindsporeTables => {
            chrome(path, progress, faults)
        }
        // Its points are read separately: the trace is empty here.
        TraceFile::MemoryTimeline => match MemoryTimeline::read(&whole(path, progress)?) {
            timeline if timeline.times.is_empty() => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it has no points",
            )),
            _ => Ok(Trace::default()),
        },
    }
}

/// A memory snapshot, block by block.
fn snapshot(path: &Path, progress: &Progress, faults: &mut Vec<String>) -> io::Result<Trace> {
    // The file is read twice, and the second pass counts.
    let first = Progress::default();
    let mut passes = [&first, progress].into_iter();
    let (trace, notes) = memory_snapshot::read(|| {
        Content::open(path, passes.next().unwrap_or(progress), MAX_TRACE_BYTES)
    })?;
    faults.extend(notes);
    Ok(trace)
}

/// A database of Nsight Systems, whose rows are events of Kineto.
fn database(path: &Path, progress: &Progress, faults: &mut Vec<String>) -> io::Result<Trace> {
    let len_bytes = files::open(path)?.metadata()?.len_bytes;
    progress.begin(TraceReader::new().max_events(max_events(len_bytes)));
    let remarks = nsight::read(path, &mut |bytes| progress.push(bytes));
    let mut trace = progress.finish();
    faults.extend(remarks.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?);
    trace.head.format = TraceFormat::Nsight;
    Ok(trace)
}

/// A Chrome trace, block by block. A gzip file that is damaged or incomplete gives the events before that place.
fn chrome(path: &Path, progress: &Progress, faults: &mut Vec<String>) -> io::Result<Trace> {
    let max_events = max_events(files::open(path)?.metadata()?.len_bytes);
    let mut content = Content::open(path, progress, MAX_TRACE_BYTES)?;
    progress.begin(TraceReader::new().max_events(max_events));
    let mut block = vec![0; BLOCK_BYTES];
    let mut end = None;
    loop {
        match content.read(&mut block) {
            Ok(0) => break,
            Ok(len) => progress.push(&block[..len]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if progress.has_begun() => {
                end = Some(error);
                break;
            }
            Err(error) => return Err(error),
        }
    }
    let mut trace = progress.finish();
    if let Some(error) = end {
        let counts = &mut trace.counts;
        let offset = counts.bytes;
        // An incomplete event before a fault is its consequence.
        counts.truncated = error.kind() == io::ErrorKind::UnexpectedEof;
        counts.damaged += u64::from(!counts.truncated);
        faults.push(if error.kind() == io::ErrorKind::FileTooLarge {
            let read = digits::count(offset);
            format!("{error}; the first {read} bytes were read")
        } else {
            format!("its gzip data ends at unpacked byte {offset}: {error}")
        });
    }
    Ok(trace)
}

/// The unpacked content of a file. Its reading fails behind a limit.
struct Content<'a> {
    bytes: io::Take<Box<dyn Read + 'a>>,
    /// The limit, and the way around it.
    limit: String,
}

impl<'a> Content<'a> {
    fn open(path: &Path, progress: &'a Progress, most: u64) -> io::Result<Self> {
        let file = files::open(path)?;
        let name = path.file_name().unwrap_or_default().display();
        // Small files are harmless, and may be that repetitive.
        let of_file = file
            .metadata()?
            .len_bytes
            .max(1 << 10)
            .saturating_mul(MAX_RATIO);
        let limit = if of_file < most {
            let ratio = digits::count(MAX_RATIO);
            format!(
                "{name} unpacks to more than {ratio} times its size: unpack it to read all of it"
            )
        } else {
            let most = digits::bytes(most);
            format!("{name} has more than {most} unpacked: record fewer steps")
        };
        let bytes = files::unpacked(ByteCounter { file, progress })?;
        let bytes = bytes.take(of_file.min(most));
        Ok(Self { bytes, limit })
    }
}

impl Read for Content<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.bytes.read(buffer)?;
        let is_at_limit = len == 0 && !buffer.is_empty() && self.bytes.limit() == 0;
        if is_at_limit && self.bytes.get_mut().read(&mut [0])? > 0 {
            let limit = self.limit.clone();
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, limit));
        }
        Ok(len)
    }
}

/// Maximum number of events that are read of a trace of this length.
fn max_events(len_bytes: u64) -> u64 {
    let bytes = (memory() / MEMORY_SHARE).min(free_memory() / FREE_SHARE);
    let of_file = len_bytes.saturating_mul(EVENTS_PER_BYTE).max(MIN_EVENTS);
    of_file.min(bytes / SLICE_BYTES)
}

/// Bytes of memory that are available to programs; all of the memory on systems without `/proc/meminfo`.
fn free_memory() -> u64 {
    let info = files::read_text(Path::new("/proc/meminfo"), 1 << 16).unwrap_or_default();
    let line = info
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.map_or_else(memory, |kib| kib.saturating_mul(1 << 10))
}

/// Bytes of memory of this machine; 16 GiB if unknown.
fn memory() -> u64 {
    #[cfg(target_os = "linux")]
    {
        let info = rustix::system::sysinfo();
        info.totalram.saturating_mul(info.mem_unit.into())
    }
    #[cfg(not(target_os = "linux"))]
    {
        16 << 30
    }
}

/// A file that is read as a whole, unpacked.
fn whole(path: &Path, progress: &Progress) -> io::Result<Vec<u8>> {
    let most = MAX_TABLE_BYTES.min(memory() / MEMORY_SHARE / TABLE_FACTOR);
    let mut bytes = Vec::new();
    Content::open(path, progress, most)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Executions, tables and scopes of `MindSpore`, from all files of this rank in the folders of the session.
fn mindspore(
    session: &SessionFiles,
    progress: &Progress,
    faults: &mut Vec<String>,
) -> Result<Trace, String> {
    let folders: BTreeSet<&Path> = (session.files.iter())
        .filter_map(|file| file.full.parent())
        .collect();
    let entries = folders
        .into_iter()
        .flat_map(fs::read_dir)
        .flatten()
        .flatten();
    let found: Vec<(MindsporeTable, PathBuf)> = entries
        .filter_map(|entry| {
            let (table, rank) = MindsporeTable::sniff(entry.file_name().to_str()?)?;
            let is_of_rank = rank.is_none_or(|rank| rank == session.rank);
            is_of_rank.then(|| (table, entry.path()))
        })
        .collect();
    let has_executions = found
        .iter()
        .any(|(table, _)| *table == MindsporeTable::DeviceExecutions);
    let mut tables: Vec<(MindsporeTable, Vec<u8>)> = Vec::new();
    let (mut timeline, mut device_timeline) = (None, None);
    for (table, path) in found {
        let read = match table {
            // The same executions, of which only the first 20 MB are written.
            MindsporeTable::DeviceTimeline if has_executions => Ok(()),
            MindsporeTable::DeviceTimeline => {
                chrome(&path, progress, faults).map(|trace| device_timeline = Some(trace))
            }
            MindsporeTable::Timeline => {
                chrome(&path, progress, faults).map(|trace| timeline = Some(trace))
            }
            _ => whole(&path, progress).map(|bytes| tables.push((table, bytes))),
        };
        if let Err(error) = read {
            let name = path.file_name().unwrap_or_default().display();
            faults.push(format!("{name} cannot be read: {error}"));
        }
    }
    if timeline.is_none() && device_timeline.is_none() && tables.is_empty() {
        return Err(faults
            .pop()
            .unwrap_or_else(|| "its files are gone".to_owned()));
    }
    let mut files = MindsporeFiles {
        rank: session.rank,
        device_timeline: device_timeline.as_ref(),
        ..MindsporeFiles::default()
    };
    for (table, bytes) in &tables {
        files.set(*table, bytes);
    }
    let (trace, notes) = mindspore_profile::read(&files, timeline);
    faults.extend(notes);
    Ok(trace)
}

/// The spans that the collector has written into event files.
fn spans(index: &Index, session: &SessionFiles) -> Result<Trace, String> {
    let profiles: RefCell<Vec<Profile>> = RefCell::default();
    let tags = index
        .tags_of(&session.run, Kind::Profile)
        .map_err(|error| error.to_string())?;
    for (tag, rank) in tags {
        if rank != session.rank {
            continue;
        }
        let query = RecordsQuery {
            run: session.run.clone(),
            tag: tag.to_string(),
            rank,
            points: Some(usize::MAX),
            ..RecordsQuery::default()
        };
        let read = index.records(Kind::Profile, &query, |found| {
            let Body::Profile(source) = &found.body else {
                return Ok(None);
            };
            // A record that no longer decodes belongs to a replaced file.
            if let Ok(profile) = Profile::read(&found.read(source.data)?) {
                profiles.borrow_mut().push(profile);
            }
            Ok(Some(()))
        });
        read.map_err(|error| error.to_string())?;
    }
    let profiles = profiles.into_inner();
    Ok(spans_to_trace(profiles.iter()))
}

/// Counts the bytes that are read from a file.
struct ByteCounter<'a, R> {
    file: R,
    progress: &'a Progress,
}

impl<R: Read> Read for ByteCounter<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.file.read(buffer)?;
        self.progress.add(len as u64);
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    const EVENTS: &[u8] =
        br#"{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":2},{"ph":"X","name":"b","ts":5}"#;

    fn packed(parts: &[&[u8]]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        for part in parts {
            encoder.write_all(part).unwrap();
        }
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> (io::Result<Trace>, Vec<String>) {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), bytes).unwrap();
        let mut faults = Vec::new();
        let trace = chrome(file.path(), &Progress::default(), &mut faults);
        (trace, faults)
    }

    #[test]
    fn gzip_in_several_members_is_one_text() {
        let file = [packed(&[EVENTS]), packed(&[]), packed(&[b"]", b"}"])].concat();
        let (trace, faults) = read(&file);
        let trace = trace.unwrap();
        assert_eq!(trace.slices.durations, [2_000, 0]);
        assert!(!trace.counts.truncated && trace.counts.damaged == 0);
        assert!(faults.is_empty(), "{faults:?}");
    }

    #[test]
    fn every_cut_of_gzip_gives_what_is_before_it() {
        let file = packed(&[EVENTS, b"]}"]);
        for len in 2..file.len() {
            let (trace, faults) = read(&file[..len]);
            // Before its first byte nothing is there to show.
            let Ok(trace) = trace else { continue };
            assert!(trace.counts.truncated, "{len}");
            assert_eq!(faults.len(), 1, "{len}");
        }
    }

    #[test]
    fn a_wrong_checksum_is_damage_behind_what_was_read() {
        let mut file = packed(&[EVENTS, b"]}"]);
        let checksum = file.len() - 8;
        file[checksum] ^= 1;
        let (trace, faults) = read(&file);
        let counts = trace.unwrap().counts;
        assert_eq!((counts.events, counts.damaged), (2, 1));
        let end = format!("at unpacked byte {}: ", EVENTS.len() + 2);
        assert!(faults[0].contains(&end), "{faults:?}");
    }

    #[test]
    fn gzip_that_unpacks_to_too_much_is_read_up_to_the_limit() {
        let spaces = vec![b' '; 1 << 20];
        let mut parts = vec![EVENTS];
        parts.resize(32, &spaces);
        parts.push(b"]}");
        let file = packed(&parts);
        let (trace, faults) = read(&file);
        let counts = trace.unwrap().counts;
        assert_eq!((counts.events, counts.truncated), (2, false));
        assert_eq!((counts.damaged, counts.damages.len()), (1, 0));
        assert_eq!(counts.bytes, file.len() as u64 * MAX_RATIO);
        let limit = "unpacks to more than 1,000 times its size: unpack it to read all of it";
        assert!(faults[0].contains(limit), "{faults:?}");

        let path = tempfile::NamedTempFile::new().unwrap();
        fs::write(path.path(), &file).unwrap();
        let error = whole(path.path(), &Progress::default()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn equal_events_that_pack_to_nothing_are_read_up_to_a_limit() {
        let event = br#",{"ph":"X","name":"f","pid":1,"tid":1,"ts":1,"dur":1}"#.repeat(10_000);
        let mut parts = vec![EVENTS];
        parts.resize(121, &event);
        parts.push(b"]}");
        let (trace, _) = read(&packed(&parts));
        let trace = trace.unwrap();
        assert_eq!(trace.slices.len() as u64, MIN_EVENTS);
        assert_eq!(trace.counts.over_limit, trace.counts.events - MIN_EVENTS);
        assert!(trace.counts.over_limit > 100_000);
        assert_eq!(max_events(MIN_EVENTS + 1), MIN_EVENTS + 1);
        // No file may have more than a part of the memory for its events.
        assert!(max_events(u64::MAX) * SLICE_BYTES <= memory() / MEMORY_SHARE);
    }
}
