//! State shared by all clones of a collector and its writing thread.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use trainscope_format::encode::Moment;
use trainscope_format::profile::SpanKind;

use crate::clock::Clock;
use crate::entry::Payload;
use crate::fork;
use crate::policy::{DumpPolicy, SamplePolicy};
use crate::queue::Queue;
use crate::ranges::Ranges;
use crate::report::CollectorReport;
use crate::statistics::{Memory, Snapshots};

/// Step of a record, and its time if that is not now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepTime {
    /// The step as counted by the program.
    pub step: i64,
    /// Seconds since 1970; `None` for now.
    pub wall_time_secs: Option<f64>,
}

impl From<i64> for StepTime {
    #[inline]
    fn from(step: i64) -> Self {
        Self {
            step,
            wall_time_secs: None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct SharedState {
    pub(crate) queue: Queue,
    pub(crate) clock: Arc<Clock>,
    pub(crate) samples: SamplePolicy,
    pub(crate) dumps: DumpPolicy,
    pub(crate) memory: Memory,
    /// Timeout of finishing, flushing and dropping.
    pub(crate) patience: Duration,
    /// The current step, for spans.
    pub(crate) step: AtomicI64,
    /// `true` if hyper-parameters were recorded, so that the session must be ended.
    pub(crate) has_session: AtomicBool,
    dumps_begun: AtomicU64,
    not_finite_begun: AtomicU64,
    has_trigger: AtomicBool,
    trigger: Mutex<Option<String>>,
    generation: u32,
    forked: AtomicU64,
}

impl SharedState {
    pub(crate) fn new(
        queue: Queue,
        clock: Arc<Clock>,
        (samples, dumps): (SamplePolicy, DumpPolicy),
        snapshot_bytes: usize,
        patience: Duration,
    ) -> Self {
        fork::watch();
        Self {
            queue,
            clock,
            samples,
            dumps,
            memory: Memory {
                snapshots: Snapshots::new(snapshot_bytes),
                ranges: Ranges::default(),
            },
            patience,
            step: AtomicI64::new(0),
            has_session: AtomicBool::new(false),
            dumps_begun: AtomicU64::new(0),
            not_finite_begun: AtomicU64::new(0),
            has_trigger: AtomicBool::new(false),
            trigger: Mutex::default(),
            generation: fork::generation(),
            forked: AtomicU64::new(0),
        }
    }

    /// `true` in the process that started recording, `false` in its forks.
    #[inline]
    pub(crate) fn is_ours(&self) -> bool {
        fork::generation() == self.generation
    }

    /// `true` if records may be appended; otherwise they are counted as lost. In a fork no lock may be touched.
    #[inline]
    pub(crate) fn is_open(&self, records: u64) -> bool {
        let is_ours = self.is_ours();
        if !is_ours {
            self.forked.fetch_add(records, Ordering::Relaxed);
        }
        is_ours
    }

    #[inline]
    pub(crate) fn moment(&self, at: impl Into<StepTime>) -> Moment {
        let at = at.into();
        Moment {
            step: at.step,
            wall_time_secs: at.wall_time_secs.unwrap_or_else(|| self.clock.secs()),
        }
    }

    pub(crate) fn push_record(&self, at: Moment, payload: Payload) {
        if self.is_open(payload.len_records()) {
            self.queue.push_record(at, payload);
        }
    }

    #[inline]
    pub(crate) fn push_span(
        &self,
        kind: SpanKind,
        names: [&str; 2],
        start_nanos: i64,
        duration_nanos: u64,
    ) {
        let step = self.step.load(Ordering::Relaxed);
        self.queue
            .push_span(kind, names, step, start_nanos, duration_nanos);
    }

    /// Counts a step with a dump; `false` if the limit is reached.
    pub(crate) fn count_dump(&self) -> bool {
        self.dumps_begun.fetch_add(1, Ordering::Relaxed) < self.dumps.most_steps
    }

    /// Counts a step dumped because of non-finite values; `false` if the limit is reached.
    pub(crate) fn count_not_finite(&self) -> bool {
        let most = self.dumps.not_finite_steps;
        most > 0 && self.not_finite_begun.fetch_add(1, Ordering::Relaxed) < most
    }

    pub(crate) fn set_trigger(&self, reason: &str) {
        if self.is_ours() {
            let mut trigger = self.trigger.lock().unwrap_or_else(PoisonError::into_inner);
            *trigger = Some(reason.to_owned());
            self.has_trigger.store(true, Ordering::Release);
        }
    }

    pub(crate) fn has_trigger(&self) -> bool {
        self.has_trigger.load(Ordering::Acquire)
    }

    pub(crate) fn take_trigger(&self) -> Option<String> {
        if !self.has_trigger.load(Ordering::Acquire) || !self.is_ours() {
            return None;
        }
        self.has_trigger.store(false, Ordering::Release);
        let mut trigger = self.trigger.lock().unwrap_or_else(PoisonError::into_inner);
        trigger.take()
    }

    pub(crate) fn report(&self) -> CollectorReport {
        if self.is_ours() {
            return self.queue.report();
        }
        let mut report = CollectorReport::default();
        report.lost.forked = self.forked.load(Ordering::Relaxed);
        report
    }
}
