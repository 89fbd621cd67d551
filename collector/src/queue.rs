//! The queue between the training and the writing thread: bounded in bytes, with the only lock that a recording call
//! takes.
//!
//! The two threads swap two batches, so that after a warm-up scalars need no allocation. Records that do not fit are
//! dropped and counted, or waited for, depending on [`Overflow`].

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use trainscope_format::encode::Moment;
use trainscope_format::profile::{LaneKind, SpanKind};

use crate::entry::{Batch, Entry, Payload};
use crate::report::{CollectorReport, LostRecords};

/// Behaviour for a record that does not fit into the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// It is dropped and counted; the training never waits.
    #[default]
    Drop,
    /// The training waits for room, at most this long per record; then the record is dropped and counted.
    Block(Duration),
}

/// Queued bytes at which the writing thread is woken early.
const WAKE_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    /// For the writing thread: many bytes are queued, a flush was requested, or recording ends.
    filled: Condvar,
    /// For all other threads: a batch was written, or the writing thread has ended.
    written: Condvar,
    limit_bytes: usize,
    wake_bytes: usize,
    overflow: Overflow,
}

#[derive(Debug, Default)]
struct State {
    batch: Batch,
    /// Size of the batch that the writing thread is processing.
    in_flight_bytes: usize,
    /// Number of threads waiting for room.
    waiting: u32,
    is_finished: bool,
    /// `true` after the writing thread has ended.
    is_over: bool,
    flushes_wanted: u64,
    flushes_done: u64,
    report: CollectorReport,
}

/// Room that an entry takes.
#[derive(Clone, Copy)]
struct Size {
    text: usize,
    other: usize,
    records: u64,
}

impl Size {
    /// Room of one entry with a number of bytes of text.
    fn of_entry(text: usize) -> Self {
        Self {
            text,
            other: size_of::<Entry>(),
            records: 1,
        }
    }
}

/// Instructions for the writing thread with a batch.
pub(crate) struct Order {
    /// `true` if a thread waits for a flush, or the flush interval is over.
    pub(crate) is_flush: bool,
    pub(crate) is_last: bool,
    flushes: u64,
}

impl Queue {
    pub(crate) fn new(limit_bytes: usize, overflow: Overflow) -> Self {
        let mut queue = Self {
            state: Mutex::default(),
            filled: Condvar::new(),
            written: Condvar::new(),
            limit_bytes,
            wake_bytes: WAKE_BYTES.min(limit_bytes / 4),
            overflow,
        };
        let batch = queue.new_batch();
        let state = queue.state.get_mut();
        state.unwrap_or_else(PoisonError::into_inner).batch = batch;
        queue
    }

    /// A batch with twice the capacity of the wake-up mark.
    pub(crate) fn new_batch(&self) -> Batch {
        Batch::with_room(2 * self.wake_bytes)
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it is held; even then, each field is consistent alone.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends numbers of one event.
    #[inline]
    pub(crate) fn push_scalars(&self, at: Moment, values: &[(&str, f64)]) {
        let text: usize = values.iter().map(|(tag, _)| tag.len()).sum();
        let size = Size {
            text,
            other: values.len() * size_of::<Entry>(),
            records: values.len() as u64,
        };
        self.push(size, |batch| {
            for (index, &(tag, value)) in values.iter().enumerate() {
                let tag = batch.keep(tag);
                batch.entries.push(Entry::Scalar {
                    tag,
                    at,
                    value,
                    is_joined: index + 1 < values.len(),
                });
            }
        });
    }

    /// Appends a span of time.
    #[inline]
    pub(crate) fn push_span(
        &self,
        kind: SpanKind,
        [name, lane]: [&str; 2],
        step: i64,
        start_nanos: i64,
        duration_nanos: u64,
    ) {
        self.push(Size::of_entry(name.len() + lane.len()), |batch| {
            let (name, lane) = (batch.keep(name), batch.keep(lane));
            batch.entries.push(Entry::Span {
                kind,
                name,
                lane,
                step,
                start_nanos,
                duration_nanos,
            });
        });
    }

    /// Appends the kind of a lane.
    pub(crate) fn push_lane(&self, name: &str, kind: LaneKind) {
        self.push(Size::of_entry(name.len()), |batch| {
            let name = batch.keep(name);
            batch.entries.push(Entry::Lane { name, kind });
        });
    }

    /// Appends a flow between two moments, each with its lane.
    pub(crate) fn push_flow(&self, from: (&str, i64), to: (&str, i64)) {
        self.push(Size::of_entry(from.0.len() + to.0.len()), |batch| {
            let (from_lane, to_lane) = (batch.keep(from.0), batch.keep(to.0));
            batch.entries.push(Entry::Flow {
                from_lane,
                from_nanos: from.1,
                to_lane,
                to_nanos: to.1,
            });
        });
    }

    /// Appends the value of a counter.
    pub(crate) fn push_counter(&self, name: &str, time_nanos: i64, value: f64) {
        self.push(Size::of_entry(name.len()), |batch| {
            let name = batch.keep(name);
            batch.entries.push(Entry::Counter {
                name,
                time_nanos,
                value,
            });
        });
    }

    /// Appends anything else.
    pub(crate) fn push_record(&self, at: Moment, payload: Payload) {
        let size = Size {
            text: 0,
            other: payload.len_bytes() + size_of::<Entry>(),
            records: payload.len_records(),
        };
        let payload = Box::new(payload);
        self.push(size, |batch| batch.push_record(at, payload));
    }

    #[inline]
    fn push(&self, size: Size, append: impl FnOnce(&mut Batch)) {
        let len_bytes = size.text + size.other;
        let mut state = self.lock();
        if state.used_bytes() + len_bytes > self.limit_bytes {
            state = self.wait_for_room(state, len_bytes);
        }
        if state.is_finished {
            state.report.lost.after_finish += size.records;
            return;
        }
        if state.used_bytes() + len_bytes > self.limit_bytes || !state.batch.has_room(size.text) {
            state.report.lost.queue_full += size.records;
            return;
        }
        let before = state.batch.len_bytes();
        append(&mut state.batch);
        // Waking costs a system call: only when the mark is passed.
        if before < self.wake_bytes && state.batch.len_bytes() >= self.wake_bytes {
            self.filled.notify_one();
        }
    }

    #[cold]
    fn wait_for_room<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        len_bytes: usize,
    ) -> MutexGuard<'a, State> {
        let Overflow::Block(at_most) = self.overflow else {
            return state;
        };
        if len_bytes > self.limit_bytes {
            return state;
        }
        state.waiting += 1;
        self.filled.notify_one();
        let mut state = self.wait(state, at_most, |state| {
            state.used_bytes() + len_bytes <= self.limit_bytes
        });
        state.waiting -= 1;
        state
    }

    /// Waits for a condition until the deadline or until the writing thread ends.
    fn wait<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        at_most: Duration,
        is_so: impl Fn(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        let begun = Instant::now();
        while !is_so(&state) && !state.is_over {
            let Some(rest) = at_most.checked_sub(begun.elapsed()) else {
                break;
            };
            let waited = self.written.wait_timeout(state, rest);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state
    }

    /// Requests a flush of all records so far and waits for it. Returns `false` on timeout.
    pub(crate) fn flush(&self, at_most: Duration) -> bool {
        let mut state = self.lock();
        state.flushes_wanted += 1;
        let wanted = state.flushes_wanted;
        self.filled.notify_one();
        let state = self.wait(state, at_most, |state| state.flushes_done >= wanted);
        state.flushes_done >= wanted || state.is_over
    }

    /// Ends the recording: later records are lost. Waits until all records are written or the timeout expires.
    pub(crate) fn finish(&self, at_most: Duration) -> CollectorReport {
        let mut state = self.lock();
        state.is_finished = true;
        self.filled.notify_one();
        let state = self.wait(state, at_most, |state| state.is_over);
        let mut report = state.report.clone();
        report.is_closed = state.is_over;
        report
    }

    /// Capacity in bytes.
    pub(crate) fn limit_bytes(&self) -> usize {
        self.limit_bytes
    }

    /// Current report.
    pub(crate) fn report(&self) -> CollectorReport {
        let state = self.lock();
        let mut report = state.report.clone();
        report.is_closed = state.is_over;
        report
    }

    /// Records lost so far.
    pub(crate) fn lost(&self) -> LostRecords {
        self.lock().report.lost
    }

    /// Updates the report.
    pub(crate) fn with_report(&self, change: impl FnOnce(&mut CollectorReport)) {
        change(&mut self.lock().report);
    }

    /// For the writing thread: waits for records or the timeout, and swaps the filled batch for an empty one.
    pub(crate) fn take(&self, empty: &mut Batch, at_most: Duration) -> Order {
        let mut state = self.lock();
        let begun = Instant::now();
        let mut is_time = false;
        while !state.is_finished
            && state.flushes_wanted == state.flushes_done
            && state.batch.len_bytes() < self.wake_bytes
            && (state.waiting == 0 || state.batch.entries.is_empty())
            && !is_time
        {
            match at_most.checked_sub(begun.elapsed()) {
                None => is_time = true,
                Some(rest) => {
                    let waited = self.filled.wait_timeout(state, rest);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
        std::mem::swap(&mut state.batch, empty);
        state.in_flight_bytes = empty.len_bytes();
        Order {
            is_flush: is_time || state.flushes_wanted > state.flushes_done,
            is_last: state.is_finished,
            flushes: state.flushes_wanted,
        }
    }

    /// For the writing thread: reports that the batch was written or abandoned.
    pub(crate) fn done(&self, order: &Order, change: impl FnOnce(&mut CollectorReport)) {
        let mut state = self.lock();
        state.in_flight_bytes = 0;
        state.flushes_done = order.flushes;
        change(&mut state.report);
        self.written.notify_all();
    }

    /// For the writing thread: reports its end.
    pub(crate) fn over(&self) {
        let mut state = self.lock();
        state.is_finished = true;
        state.is_over = true;
        // Releases its memory.
        state.batch = Batch::default();
        self.written.notify_all();
    }
}

impl State {
    #[inline]
    fn used_bytes(&self) -> usize {
        self.batch.len_bytes() + self.in_flight_bytes
    }
}
