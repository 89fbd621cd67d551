//! The writing thread: takes batches from the queue, encodes them, and keeps the file consistent.
//!
//! No error here ends the training: records that the file system refuses are counted, and the next batch begins a new
//! file.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{io, mem, panic};

use trainscope_format::RecordWriter;
use trainscope_format::collection::CollectorLoss;
use trainscope_format::encode::Moment;

use crate::clock::Clock;
use crate::dump;
use crate::entry::{Batch, Entry, Payload};
use crate::file::{Output, Place};
use crate::media::Pixels;
use crate::profile::Profiler;
use crate::queue::Queue;
use crate::report::{CollectorReport, LostRecords};

pub(crate) const THREAD_NAME: &str = "trainscope-writer";

/// Writes batches until the queue is finished, and calls `each_turn` after each.
pub(crate) fn run(
    queue: &Queue,
    (clock, begun_secs): (Arc<Clock>, f64),
    place: Place,
    flush_every: Duration,
    each_turn: &dyn Fn(),
) {
    let mut writer = Writer::new(clock, begun_secs, place);
    let mut batch = queue.new_batch();
    loop {
        let order = queue.take(&mut batch, flush_every);
        writer.tell_losses(queue.lost());
        // A panicking encoder is a bug, but not one that may end a training.
        let written = panic::catch_unwind(panic::AssertUnwindSafe(|| {
            writer.write(&batch);
            if order.is_flush || order.is_last {
                writer.write_profile();
            }
        }));
        if written.is_err() {
            writer.tally.lost.invalid += batch.entries.len() as u64;
            writer.give_up_file();
        }
        writer.flush();
        if order.is_last {
            writer.check_file();
        }
        batch.clear();
        writer.clock.compare();
        queue.done(&order, |report| writer.report_to(report));
        if order.is_last {
            break;
        }
        each_turn();
    }
}

struct Writer {
    clock: Arc<Clock>,
    /// Start of the recording, until it is used as the time of the first file.
    begun_secs: Option<f64>,
    place: Place,
    file: Option<RecordWriter<Output>>,
    /// Path of the open file.
    path: PathBuf,
    /// Records encoded since the last flush.
    unflushed: u64,
    /// Records in the file.
    in_file: u64,
    profiler: Profiler,
    bytes_written: Arc<AtomicU64>,
    /// Totals for the report; losses since they were last reported.
    tally: CollectorReport,
    /// Losses already recorded in the files.
    told: LostRecords,
}

impl Writer {
    fn new(clock: Arc<Clock>, begun_secs: f64, place: Place) -> Self {
        Self {
            clock,
            begun_secs: Some(begun_secs),
            place,
            file: None,
            path: PathBuf::new(),
            unflushed: 0,
            in_file: 0,
            profiler: Profiler::default(),
            bytes_written: Arc::default(),
            tally: CollectorReport::default(),
            told: LostRecords::default(),
        }
    }

    fn report_to(&mut self, report: &mut CollectorReport) {
        report.files.clone_from(&self.tally.files);
        report.records_written = self.tally.records_written;
        report.bytes_written = self.bytes_written.load(Ordering::Relaxed);
        report.dumps_written = self.tally.dumps_written;
        report.clock_set_back_secs = self.clock.behind_secs();
        report.first_error.clone_from(&self.tally.first_error);
        let lost = mem::take(&mut self.tally.lost);
        report.lost.disk += lost.disk;
        report.lost.removed += lost.removed;
        report.lost.invalid += lost.invalid;
    }

    /// Encodes a batch into memory.
    fn write(&mut self, batch: &Batch) {
        if !batch.entries.is_empty() {
            self.check_file();
        }
        let mut joined: Vec<(&str, f64)> = Vec::new();
        for entry in &batch.entries {
            match entry {
                Entry::Scalar {
                    tag,
                    at,
                    value,
                    is_joined,
                } => {
                    joined.push((batch.text(*tag), *value));
                    if !is_joined {
                        let records = joined.len() as u64;
                        self.encode(records, |file| file.scalars(*at, &joined));
                        joined.clear();
                    }
                }
                Entry::Span {
                    kind,
                    name,
                    lane,
                    step,
                    start_nanos,
                    duration_nanos,
                } => {
                    let names = [batch.text(*name), batch.text(*lane)];
                    self.profiler
                        .span(*kind, names, *step, *start_nanos, *duration_nanos);
                    self.write_profile_if_full();
                }
                Entry::Lane { name, kind } => self.profiler.lane(batch.text(*name), *kind),
                Entry::Flow {
                    from_lane,
                    from_nanos,
                    to_lane,
                    to_nanos,
                } => {
                    let from = (batch.text(*from_lane), *from_nanos);
                    let to = (batch.text(*to_lane), *to_nanos);
                    self.profiler.flow(from, to);
                    self.write_profile_if_full();
                }
                Entry::Counter {
                    name,
                    time_nanos,
                    value,
                } => {
                    self.profiler
                        .counter(batch.text(*name), *time_nanos, *value);
                    self.write_profile_if_full();
                }
                Entry::Record { at, payload } => self.write_payload(*at, payload),
            }
        }
    }

    fn write_payload(&mut self, at: Moment, payload: &Payload) {
        let records = payload.len_records();
        match payload {
            Payload::Histogram(tag, histogram) => {
                self.encode(records, |file| file.histogram(tag, at, histogram));
            }
            Payload::Images(tag, pictures) => {
                let encoded: Option<Vec<Vec<u8>>> = pictures.iter().map(Pixels::encode).collect();
                match (encoded, pictures.first()) {
                    (Some(encoded), Some(first)) => {
                        let size = [first.width, first.height];
                        let encoded: Vec<&[u8]> = encoded.iter().map(Vec::as_slice).collect();
                        self.encode(records, |file| file.images(tag, at, size, &encoded));
                    }
                    _ => self.tally.lost.invalid += 1,
                }
            }
            Payload::Audio(tag, sound) => match sound.encode() {
                Some(encoded) => {
                    self.encode(records, |file| file.audio(tag, at, &[(&encoded, "")]));
                }
                None => self.tally.lost.invalid += 1,
            },
            Payload::Text(tag, text) => self.encode(records, |file| file.text(tag, at, text)),
            Payload::Tensor(tag, dtype, shape, bytes) => {
                self.encode(records, |file| file.tensor(tag, at, (*dtype, shape), bytes));
            }
            Payload::Hparams(hparams) => self.encode(records, |file| file.hparams(at, hparams)),
            Payload::Statistics(tensors) => {
                let tensors: Vec<_> = tensors
                    .iter()
                    .map(|(tag, summary)| (tag.as_str(), summary))
                    .collect();
                self.encode(records, |file| file.statistics(at, &tensors));
            }
            Payload::Graph(tag, graph) => self.encode(records, |file| file.graph(tag, at, graph)),
            Payload::Lineage(lineage) => self.encode(records, |file| file.lineage(at, lineage)),
            Payload::Program(fact) => self.encode(records, |file| file.program(at, fact)),
            Payload::Landscape(tag, landscape) => {
                self.encode(records, |file| file.landscape(tag, at, landscape));
            }
            Payload::Event(event) => self.encode(records, |file| file.event(event)),
            Payload::SessionStart => self.encode(records, |file| file.session_start(at)),
            #[cfg(feature = "live")]
            Payload::Hit(hit) => self.encode(records, |file| file.hit(at, hit)),
            Payload::Dump(tensors, reason) => {
                match dump::write(&self.place.folder, at.step, tensors, reason) {
                    Ok(dump) => {
                        self.tally.dumps_written += 1;
                        self.encode(records, |file| file.dump(at, &dump));
                    }
                    Err(error) => {
                        self.tally.lost.disk += records;
                        self.note_error("a dump", &error);
                    }
                }
            }
        }
    }

    fn write_profile_if_full(&mut self) {
        if self.profiler.is_full() {
            self.write_profile();
        }
    }

    fn write_profile(&mut self) {
        if let Some((at, profile)) = self.profiler.take() {
            let records = profile.spans.len() + profile.counters.len() + profile.flows.len();
            let records = records as u64;
            self.encode(records, |file| file.profile("spans", at, &profile));
        }
    }

    /// Records the losses since the last such record.
    fn tell_losses(&mut self, lost: LostRecords) {
        let before = mem::replace(&mut self.told, lost);
        if lost == before {
            return;
        }
        let causes = [
            (lost.queue_full, before.queue_full, "the queue was full"),
            (lost.disk, before.disk, "the file system refused them"),
            (lost.removed, before.removed, "their file was removed"),
            (lost.invalid, before.invalid, "they could not be encoded"),
        ];
        let at = Moment {
            step: 0,
            wall_time_secs: self.clock.secs(),
        };
        for (now, before, reason) in causes {
            if now > before {
                let record = CollectorLoss {
                    reason: reason.to_owned(),
                    records: now - before,
                    len_bytes: 0,
                };
                self.encode(0, |file| file.loss(at, &record));
            }
        }
    }

    /// Encodes into the file's memory, creating a file if there is none.
    fn encode(
        &mut self,
        records: u64,
        write: impl FnOnce(&mut RecordWriter<Output>) -> io::Result<()>,
    ) {
        if self.file.is_none() {
            self.begin_file();
        }
        let Some(file) = &mut self.file else {
            self.tally.lost.disk += records;
            return;
        };
        // Encoding into memory fails only for a record that is too large for any reader.
        match write(file) {
            Ok(()) => self.unflushed += records,
            Err(_) => self.tally.lost.invalid += records,
        }
    }

    fn begin_file(&mut self) {
        let now = self.begun_secs.take().unwrap_or_else(|| self.clock.secs());
        let begun = self
            .place
            .create(now, &self.bytes_written)
            .and_then(|output| {
                self.path.clone_from(&output.path);
                RecordWriter::new(output, now)
            });
        match begun {
            Ok(file) => {
                self.file = Some(file);
                self.in_file = 0;
            }
            Err(error) => self.note_error("a new event file", &error),
        }
    }

    /// Hands all encoded records to the system.
    fn flush(&mut self) {
        let Some(file) = &mut self.file else {
            return;
        };
        match file.flush() {
            Ok(()) => {
                let records = mem::take(&mut self.unflushed);
                self.in_file += records;
                self.tally.records_written += records;
                if self.tally.files.last() != Some(&self.path) {
                    self.tally.files.push(self.path.clone());
                }
            }
            Err(error) => {
                self.note_error("the event file", &error);
                self.tally.lost.disk += mem::take(&mut self.unflushed);
                self.give_up_file();
            }
        }
    }

    /// Detects a removed file: the next record begins a new one.
    fn check_file(&mut self) {
        if self.file.is_some() && Output::is_removed(&self.path) {
            self.tally.lost.removed += self.in_file + mem::take(&mut self.unflushed);
            self.tally.records_written -= self.in_file;
            self.tally.files.retain(|path| *path != self.path);
            self.note_error("the event file", &io::Error::other("it was removed"));
            self.file = None;
        }
    }

    fn give_up_file(&mut self) {
        self.tally.lost.disk += mem::take(&mut self.unflushed);
        if let Some(file) = self.file.take() {
            file.into_inner().abandon();
        }
    }

    fn note_error(&mut self, what: &str, error: &io::Error) {
        if self.tally.first_error.is_none() {
            self.tally.first_error = Some(format!("{what}: {error}"));
        }
    }
}
