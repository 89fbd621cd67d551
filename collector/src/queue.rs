//! The queue between the training and the writing thread: bounded by bytes, and the only lock a recording call takes.
//!
//! The two threads share two batches that change places, so that after warming up nothing is allocated for scalars.
//! What does not fit is dropped and counted, or waited for, as the program has chosen.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use trainscope_format::encode::Moment;

use crate::entry::{Batch, Entry, Payload};
use crate::report::{CollectorReport, Lost};

/// What happens to a record for which there is no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// It is dropped and counted; the training never waits.
    #[default]
    Drop,
    /// The training waits for room, at most so long for each record; then the record is dropped and counted.
    Block(Duration),
}

/// Bytes that wait when the writing thread is woken before its time.
const WAKE_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    /// For the writing thread: there is much to write, a flush is wanted, or it is the end.
    filled: Condvar,
    /// For everybody else: a batch has been written, or nothing more will be.
    written: Condvar,
    limit_bytes: usize,
    wake_bytes: usize,
    overflow: Overflow,
}

#[derive(Debug, Default)]
struct State {
    batch: Batch,
    /// What the writing thread has taken and not finished.
    in_flight_bytes: usize,
    /// How many threads wait for room.
    waiting: u32,
    is_finished: bool,
    /// The writing thread has ended.
    is_over: bool,
    flushes_wanted: u64,
    flushes_done: u64,
    report: CollectorReport,
}

/// How much room something takes.
#[derive(Clone, Copy)]
struct Size {
    text: usize,
    other: usize,
    records: u64,
}

impl Size {
    /// One entry with so much text.
    fn of_entry(text: usize) -> Self {
        Self {
            text,
            other: size_of::<Entry>(),
            records: 1,
        }
    }
}

/// What the writing thread is to do with the batch it got.
pub(crate) struct Order {
    /// Somebody waits for everything to be in the file, or it is time.
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

    /// A batch with room for twice what wakes the writing thread.
    pub(crate) fn new_batch(&self) -> Batch {
        Batch::with_room(2 * self.wake_bytes)
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is held; and if it did, each field is whole by itself.
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
        [name, lane]: [&str; 2],
        step: i64,
        start_nanos: i64,
        duration_nanos: u64,
    ) {
        self.push(Size::of_entry(name.len() + lane.len()), |batch| {
            let (name, lane) = (batch.keep(name), batch.keep(lane));
            batch.entries.push(Entry::Span {
                name,
                lane,
                step,
                start_nanos,
                duration_nanos,
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

    /// Waits until something is so, at most for a while, and no longer than somebody writes.
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

    /// Asks for everything so far to be written, and waits for that, at most for a while. Says whether it is.
    pub(crate) fn flush(&self, at_most: Duration) -> bool {
        let mut state = self.lock();
        state.flushes_wanted += 1;
        let wanted = state.flushes_wanted;
        self.filled.notify_one();
        let state = self.wait(state, at_most, |state| state.flushes_done >= wanted);
        state.flushes_done >= wanted || state.is_over
    }

    /// Ends it: what comes later is lost. Waits until all is written, at most for a while.
    pub(crate) fn finish(&self, at_most: Duration) -> CollectorReport {
        let mut state = self.lock();
        state.is_finished = true;
        self.filled.notify_one();
        let state = self.wait(state, at_most, |state| state.is_over);
        let mut report = state.report.clone();
        report.is_closed = state.is_over;
        report
    }

    /// How many bytes may wait.
    pub(crate) fn limit_bytes(&self) -> usize {
        self.limit_bytes
    }

    /// How things are.
    pub(crate) fn report(&self) -> CollectorReport {
        let state = self.lock();
        let mut report = state.report.clone();
        report.is_closed = state.is_over;
        report
    }

    /// What has been lost so far.
    pub(crate) fn lost(&self) -> Lost {
        self.lock().report.lost
    }

    /// Lets the report be changed.
    pub(crate) fn with_report(&self, change: impl FnOnce(&mut CollectorReport)) {
        change(&mut self.lock().report);
    }

    /// For the writing thread: waits for something to do, at most for a while, and takes all that is there in
    /// exchange for an empty batch.
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

    /// For the writing thread: what was taken has been written or given up.
    pub(crate) fn done(&self, order: &Order, change: impl FnOnce(&mut CollectorReport)) {
        let mut state = self.lock();
        state.in_flight_bytes = 0;
        state.flushes_done = order.flushes;
        change(&mut state.report);
        self.written.notify_all();
    }

    /// For the writing thread: nothing more will be written.
    pub(crate) fn over(&self) {
        let mut state = self.lock();
        state.is_finished = true;
        state.is_over = true;
        // Its memory is not needed any more.
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
