//! The handle that a training program records with.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use trainscope_format::encode::Moment;
use trainscope_format::graph::Graph;
use trainscope_format::hparams::{SessionEnd, SessionStatus};
use trainscope_format::statistics::Role;
use trainscope_format::tensor::TensorStats;
use trainscope_format::{Hparams, Lineage, Text};

use crate::builder::CollectorBuilder;
use crate::entry::Payload;
use crate::hyperparameters::Hyperparameters;
use crate::media::{Picture, Pixels, Sound};
use crate::notes;
use crate::report::CollectorReport;
use crate::shared::Shared;
use crate::span::SpanGuard;
use crate::statistics;
use crate::step::StepRecorder;
use crate::tensor::TensorView;

/// Records a training. Clones record into the same files, from any thread.
///
/// No recording call fails or panics, and none blocks unless configured to: records that cannot be written are
/// counted, see [`Collector::finish`]. Dropping the last clone finishes too.
///
/// In a fork of the process, calls are counted and do nothing; a collector started there works.
#[derive(Clone, Debug)]
pub struct Collector {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Collector {
    /// Configures a recording into this folder, which is the run; [`CollectorBuilder::start`] starts it.
    pub fn builder(folder: impl AsRef<Path>) -> CollectorBuilder {
        CollectorBuilder::new(folder.as_ref())
    }

    pub(crate) fn new(shared: Arc<Shared>, thread: JoinHandle<()>) -> Self {
        let thread = Mutex::new(Some(thread));
        Self {
            inner: Arc::new(Inner { shared, thread }),
        }
    }

    #[inline]
    pub(crate) fn shared(&self) -> &Shared {
        &self.inner.shared
    }

    /// Records one number. NaN and infinities are preserved.
    #[inline]
    pub fn scalar(&self, tag: &str, step: i64, value: f64) {
        self.scalars(step, &[(tag, value)]);
    }

    /// Records numbers of one step as one event: readers get all of them or none.
    #[inline]
    pub fn scalars(&self, step: i64, values: &[(&str, f64)]) {
        self.scalars_at(self.shared().moment(step), values);
    }

    #[inline]
    pub(crate) fn scalars_at(&self, at: Moment, values: &[(&str, f64)]) {
        let shared = self.shared();
        if shared.is_open(values.len() as u64) {
            shared.queue.push_scalars(at, values);
        }
    }

    /// Records text, usually markdown.
    pub fn text(&self, tag: &str, step: i64, text: impl Into<String>) {
        self.record(
            step,
            Payload::Text(tag.to_owned(), notes::text(text.into())),
        );
    }

    /// Records a table of texts: as many items as `shape` has elements.
    pub fn texts(&self, tag: &str, step: i64, shape: &[u64], items: &[&str]) {
        let text = Text {
            shape: shape.to_vec(),
            items: items.iter().map(|&item| item.to_owned()).collect(),
        };
        self.record(step, Payload::Text(tag.to_owned(), text));
    }

    /// Records a note: something worth knowing about the run.
    pub fn note(&self, note: impl Into<String>) {
        let step = self.shared().step.load(Ordering::Relaxed);
        self.text(notes::TAG, step, note);
    }

    /// Records images of one size. The pixels are copied; another thread encodes them.
    pub fn images(&self, tag: &str, step: i64, pictures: &[Picture<'_>]) {
        let pictures = pictures.iter().map(Pixels::of).collect();
        self.record(step, Payload::Images(tag.to_owned(), pictures));
    }

    /// Records audio: samples from −1 to 1, the channels interleaved.
    pub fn audio(&self, tag: &str, step: i64, rate_hz: u32, channels: u16, samples: &[f32]) {
        let sound = Sound {
            rate_hz,
            channels,
            samples: samples.to_vec(),
        };
        self.record(step, Payload::Audio(tag.to_owned(), sound));
    }

    /// Records a histogram of a tensor, computed on this thread.
    pub fn histogram(&self, tag: &str, step: i64, tensor: TensorView<'_>) {
        let Some(bytes) = tensor.elements() else {
            self.count_invalid();
            return;
        };
        let stats = TensorStats::of(tensor.dtype(), &bytes);
        let histogram = statistics::histogram(&stats, tensor.dtype(), &bytes);
        self.record(step, Payload::Histogram(tag.to_owned(), histogram));
    }

    /// Records a tensor in full, in the event file. For large tensors, use [`crate::DumpPolicy`], which writes
    /// separate files.
    pub fn values(&self, tag: &str, step: i64, tensor: TensorView<'_>) {
        let Some(bytes) = tensor.elements() else {
            self.count_invalid();
            return;
        };
        let payload = Payload::Tensor(
            tag.to_owned(),
            tensor.dtype(),
            tensor.file_shape(),
            bytes.into_owned(),
        );
        self.record(step, payload);
    }

    /// Begins a step. Statistics of its tensors are computed according to the policies and become one record.
    pub fn step(&self, step: i64) -> StepRecorder<'_> {
        let shared = self.shared();
        shared.step.store(step, Ordering::Relaxed);
        StepRecorder::new(self, shared.moment(step), shared.take_trigger())
    }

    /// Records one tensor according to the policies: a step with a single tensor.
    pub fn tensor(&self, name: &str, role: Role, step: i64, tensor: TensorView<'_>) {
        let shared = self.shared();
        StepRecorder::new(self, shared.moment(step), None).tensor(name, role, tensor);
    }

    /// Selects all tensors for statistics and dumps in the next step that [`Collector::step`] begins.
    pub fn trigger(&self, reason: &str) {
        self.shared().set_trigger(reason);
    }

    /// Records the hyper-parameters of the training and the tags of its metrics. Its end is recorded by
    /// [`Collector::finish`].
    pub fn hyperparameters(&self, hyperparameters: &Hyperparameters) {
        let step = 0;
        let shared = self.shared();
        let at = shared.moment(step);
        let (experiment, session) = hyperparameters.records(at.wall_time_secs);
        shared.has_session.store(true, Ordering::Relaxed);
        for hparams in [experiment, session] {
            shared.push_record(at, Payload::Hparams(hparams));
        }
    }

    /// Records a computation graph; [`crate::GraphBuilder`] creates one.
    pub fn graph(&self, tag: &str, graph: Graph) {
        self.record(0, Payload::Graph(tag.to_owned(), graph));
    }

    /// Records the lineage of the model; [`crate::DatasetPipeline`] describes the data pipeline.
    pub fn lineage(&self, lineage: Lineage) {
        let step = self.shared().step.load(Ordering::Relaxed);
        self.record(step, Payload::Lineage(lineage));
    }

    /// Starts a time span on this thread, which ends when the guard is dropped.
    #[inline]
    pub fn span<'a>(&'a self, name: &'a str) -> SpanGuard<'a> {
        SpanGuard::new(self.shared(), name)
    }

    /// Records a change of a counter.
    #[inline]
    pub fn counter(&self, name: &str, value: f64) {
        let shared = self.shared();
        if shared.is_open(1) {
            shared.queue.push_counter(name, shared.clock.nanos(), value);
        }
    }

    fn record(&self, step: i64, payload: Payload) {
        let shared = self.shared();
        shared.push_record(shared.moment(step), payload);
    }

    pub(crate) fn count_invalid(&self) {
        let shared = self.shared();
        if shared.is_open(1) {
            shared.queue.with_report(|report| report.lost.invalid += 1);
        }
    }

    /// Waits until all records so far are in the file, at most for [`CollectorBuilder::patience`]. Returns `false` on
    /// timeout.
    pub fn flush(&self) -> bool {
        let shared = self.shared();
        shared.is_ours() && shared.queue.flush(shared.patience)
    }

    /// Progress and losses of the recording.
    pub fn report(&self) -> CollectorReport {
        self.shared().report()
    }

    /// Ends the recording of all clones, waits until all records are in the file, at most for
    /// [`CollectorBuilder::patience`], and returns the report. Later records are counted as lost.
    pub fn finish(&self) -> CollectorReport {
        self.inner.finish(SessionStatus::Success)
    }
}

impl Inner {
    fn finish(&self, status: SessionStatus) -> CollectorReport {
        let shared = &self.shared;
        if !shared.is_ours() {
            return shared.report();
        }
        if shared.has_session.swap(false, Ordering::Relaxed) {
            let at = shared.moment(shared.step.load(Ordering::Relaxed));
            let end = SessionEnd {
                status,
                end_secs: at.wall_time_secs,
            };
            shared.push_record(at, Payload::Hparams(Hparams::SessionEnd(end)));
        }
        let report = shared.queue.finish(shared.patience);
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if report.is_closed
            && let Some(thread) = thread.take()
        {
            // It has caught its panics, so that joining returns nothing of interest.
            drop(thread.join());
        }
        report
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.shared.is_ours() {
            let is_panicking = std::thread::panicking();
            self.finish(if is_panicking {
                SessionStatus::Failure
            } else {
                SessionStatus::Success
            });
        } else {
            // A fork has no such thread; its handle must not be touched.
            let thread = self
                .thread
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(thread.take());
        }
    }
}
