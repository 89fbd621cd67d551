//! Reads the files of a session into a model.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use trainscope_analysis::pipeline::{Clock, InputTimes};
use trainscope_analysis::trace::Model;
use trainscope_api::records::RecordsQuery;
use trainscope_format::formats::folded;
use trainscope_format::formats::memory_timeline::MemoryTimeline;
use trainscope_format::formats::mindspore_profile::{self, MindsporeFiles, MindsporeTable};
use trainscope_format::formats::spans_trace::spans_to_trace;
use trainscope_format::formats::trace_json::TraceReader;
use trainscope_format::formats::xplane;
use trainscope_format::queues::{Batches, MAX_FILE_BYTES};
use trainscope_format::trace::{Trace, TraceFile};
use trainscope_format::{Body, Kind, Profile, QueueFormat};

use super::Progress;
use super::loaded::LoadedProfile;
use super::sessions::SessionFiles;
use crate::files;
use crate::index::Index;

/// Bytes read at a time.
const BLOCK_BYTES: usize = 4 << 20;
/// Most bytes of an unpacked trace.
const MAX_TRACE_BYTES: u64 = 64 << 30;
/// Most bytes of a table beside a trace, of folded stacks and of an xplane file, which are read as a whole.
const MAX_TABLE_BYTES: u64 = 1 << 30;

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
            |file| one(file.format, &file.full, progress).map_err(|error| error.to_string()),
        )
    };
    loaded(session, trace, faults, progress)
}

/// Waiting of a training for its data set, from a profiler file of `MindSpore`; `None` if it does not tell.
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
    let memory_timeline = session.memory_timeline.as_ref().and_then(|path| {
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
    });
    LoadedProfile::new(
        session.clone(),
        Model::new(trace),
        memory_timeline,
        faults,
        is_unreadable,
    )
}

fn one(format: TraceFile, path: &Path, progress: &Progress) -> io::Result<Trace> {
    match format {
        TraceFile::Folded => Ok(folded::read(&whole(path, progress)?)),
        TraceFile::Xplane => Ok(xplane::read(&whole(path, progress)?)),
        TraceFile::ChromeJson | TraceFile::MindsporeExecutions => chrome(path, progress),
        // Its points are read beside the trace, which is empty here.
        TraceFile::MemoryTimeline => match MemoryTimeline::read(&whole(path, progress)?) {
            timeline if timeline.times.is_empty() => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it has no points",
            )),
            _ => Ok(Trace::default()),
        },
    }
}

/// A Chrome trace, block by block.
fn chrome(path: &Path, progress: &Progress) -> io::Result<Trace> {
    let file = files::open(path)?;
    let mut content = files::unpacked(ByteCounter { file, progress })?.take(MAX_TRACE_BYTES);
    let mut reader = TraceReader::new();
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        match content.read(&mut block) {
            Ok(0) => break,
            Ok(len) => reader.push(&block[..len]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A gzip file that is incomplete: everything before its end was read.
            Err(error) if reader.bytes() > 0 => {
                tracing::debug!(%error, path = %path.display(), "a trace ends early");
                break;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(reader.finish())
}

/// A file that is read as a whole, unpacked.
fn whole(path: &Path, progress: &Progress) -> io::Result<Vec<u8>> {
    let file = files::open(path)?;
    let mut bytes = Vec::new();
    files::unpacked(ByteCounter { file, progress })?
        .take(MAX_TABLE_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_TABLE_BYTES {
        let reason = format!("it has more than {MAX_TABLE_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
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
    let mut tables: Vec<(MindsporeTable, Vec<u8>)> = Vec::new();
    let mut timeline = None;
    for entry in folders
        .into_iter()
        .flat_map(fs::read_dir)
        .flatten()
        .flatten()
    {
        let name = entry.file_name();
        let Some((table, rank)) = name.to_str().and_then(MindsporeTable::sniff) else {
            continue;
        };
        if rank.is_some_and(|rank| rank != session.rank) {
            continue;
        }
        let path = entry.path();
        let read = if table == MindsporeTable::Timeline {
            chrome(&path, progress).map(|trace| timeline = Some(trace))
        } else {
            whole(&path, progress).map(|bytes| tables.push((table, bytes)))
        };
        if let Err(error) = read {
            faults.push(format!("{} cannot be read: {error}", name.display()));
        }
    }
    if timeline.is_none() && tables.is_empty() {
        return Err(faults
            .pop()
            .unwrap_or_else(|| "its files are gone".to_owned()));
    }
    let mut files = MindsporeFiles::default();
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
