//! Data pipelines as the profiler of a run recorded them, read from its files for each request.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use trainscope_analysis::pipeline::{Clock, InputTimes, Pipeline};
use trainscope_api::pipeline::{MAX_FAULTS, MAX_PIPELINES, PipelineAnswer, PipelineFault};
use trainscope_api::records::{MAX_RECORDS, RecordsQuery};
use trainscope_format::queues::{Batches, MAX_FILE_BYTES, Operators, Usage};
use trainscope_format::{Body, Kind, QueueFormat};

use crate::index::{Index, IndexedRecord};
use crate::queries::error::Failure;

/// Content of the profiler files of a run.
#[derive(Default)]
pub(crate) struct ProfilerFiles {
    /// Measured pipelines by rank; of several recordings the last one.
    pub(super) pipelines: BTreeMap<u32, Pipeline>,
    operators: BTreeMap<u32, Operators>,
    /// Times by rank.
    pub(super) times: BTreeMap<u32, InputTimes>,
    /// Processor load of operations by rank: files of a recording come in any order.
    usage: BTreeMap<u32, Usage>,
}

/// Reads the files of a run. Faults go into the answer.
pub(crate) fn read_files(
    index: &Index,
    run: &str,
    answer: &mut PipelineAnswer,
) -> Result<ProfilerFiles, Failure> {
    let mut watched = ProfilerFiles::default();
    let mut ranks = BTreeSet::new();
    for (tag, rank) in index.tags_of(run, Kind::InputQueues)? {
        ranks.insert(rank);
        if ranks.len() > MAX_PIPELINES {
            ranks.remove(&rank);
            answer.cut = true;
            continue;
        }
        let reader = RefCell::new(Reader {
            watched,
            rank,
            answer,
        });
        let query = query(run, &tag, rank);
        let records = index.records(Kind::InputQueues, &query, |found| {
            reader.borrow_mut().file(&found);
            Ok(Some(()))
        });
        Reader { watched, .. } = reader.into_inner();
        answer.cut |= records?.cut;
    }
    for (rank, operators) in &mut watched.operators {
        if let Some(usage) = watched.usage.get(rank) {
            operators.take_usage(usage);
        }
        watched
            .pipelines
            .insert(*rank, Pipeline::of_operators(operators));
    }
    Ok(watched)
}

struct Reader<'a> {
    watched: ProfilerFiles,
    rank: u32,
    answer: &'a mut PipelineAnswer,
}

impl Reader<'_> {
    fn file(&mut self, found: &IndexedRecord) {
        let Body::Queues(source) = &found.body else {
            return;
        };
        let Some(bytes) = self.bytes(found) else {
            return;
        };
        let clock = match source.format {
            QueueFormat::MinddataOperators => return self.operators(found, &bytes),
            QueueFormat::MinddataCpu => return self.usage(found, &bytes),
            QueueFormat::MinddataIterator => Clock::Iterator,
            QueueFormat::MinddataDevice => Clock::Device,
        };
        let batches = Batches::read(&bytes);
        if batches.is_torn {
            self.fault(found, "its last line is truncated");
        }
        if batches.skipped_lines > 0 {
            let lines = batches.skipped_lines;
            self.fault(found, &format!("{lines} lines are not five numbers"));
        }
        // The waiting time of the program is more meaningful than the time to bring data to the device.
        let known = self.watched.times.get(&self.rank);
        if clock == Clock::Device && known.is_some_and(|known| known.clock == Clock::Iterator) {
            return;
        }
        if let Some(times) = InputTimes::of_batches(&batches.batches, clock) {
            self.watched.times.insert(self.rank, times);
        }
    }

    fn operators(&mut self, found: &IndexedRecord, bytes: &[u8]) {
        match Operators::read(bytes) {
            Ok(operators) if operators.total == 0 => self.fault(found, "it names no operation"),
            Ok(operators) => {
                self.answer.cut |= operators.operators.len() < operators.total;
                self.watched.operators.insert(self.rank, operators);
            }
            Err(reason) => self.fault(found, &reason.to_string()),
        }
    }

    fn usage(&mut self, found: &IndexedRecord, bytes: &[u8]) {
        match Usage::read(bytes) {
            Ok(usage) => {
                self.answer.cut |= usage.operators.len() < usage.total;
                self.watched.usage.insert(self.rank, usage);
            }
            Err(reason) => self.fault(found, &reason.to_string()),
        }
    }

    fn bytes(&mut self, found: &IndexedRecord) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = found.open().map_err(|error| error.to_string());
        let read = read.and_then(|file| {
            let mut file = file.take(MAX_FILE_BYTES + 1);
            file.read_to_end(&mut bytes).map_err(|e| e.to_string())
        });
        if let Err(reason) = read {
            self.fault(found, &reason);
            return None;
        }
        if bytes.len() as u64 > MAX_FILE_BYTES {
            let megabytes = MAX_FILE_BYTES >> 20;
            self.fault(found, &format!("only its first {megabytes} MiB are read"));
            bytes.pop();
        }
        Some(bytes)
    }

    fn fault(&mut self, found: &IndexedRecord, reason: &str) {
        if self.answer.faults.len() >= MAX_FAULTS {
            self.answer.cut = true;
            return;
        }
        self.answer.faults.push(PipelineFault {
            path: found.path().to_string(),
            reason: reason.to_owned(),
        });
    }
}

/// All records of one tag of a rank, as many as one answer holds.
pub(super) fn query(run: &str, tag: &str, rank: u32) -> RecordsQuery {
    RecordsQuery {
        run: run.to_owned(),
        tag: tag.to_owned(),
        rank,
        points: Some(MAX_RECORDS),
        ..RecordsQuery::default()
    }
}
