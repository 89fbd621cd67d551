//! The handle that a training program records with.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use trainscope_format::encode::Moment;
use trainscope_format::graph::Graph;
use trainscope_format::hparams::{SessionEnd, SessionStatus};
use trainscope_format::profile::{LaneKind, SpanKind};
use trainscope_format::program::{MAX_EXCERPT_BYTES, MAX_FIELDS, MAX_TEXT_BYTES};
use trainscope_format::tensor::TensorStats;
use trainscope_format::{Hparams, Landscape, Lineage, ProgramFact, Text};

use crate::entry::Payload;
use crate::hyperparameters::Hyperparameters;
#[cfg(feature = "live")]
use crate::live::session;
#[cfg(feature = "live")]
use crate::live::state::LiveState;
use crate::media::{Picture, Pixels, Sound};
use crate::notes;
use crate::report::CollectorReport;
use crate::shared::{SharedState, StepTime};
use crate::span::{FlowBegin, SpanGuard, SpanNames, with_lane};
use crate::statistics;
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
    shared: Arc<SharedState>,
    #[cfg(feature = "live")]
    live: Arc<LiveState>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Collector {
    pub(crate) fn new(
        shared: Arc<SharedState>,
        #[cfg(feature = "live")] live: Arc<LiveState>,
        thread: JoinHandle<()>,
    ) -> Self {
        let thread = Mutex::new(Some(thread));
        Self {
            inner: Arc::new(Inner {
                shared,
                #[cfg(feature = "live")]
                live,
                thread,
            }),
        }
    }

    #[cfg(feature = "live")]
    #[inline]
    pub(crate) fn live(&self) -> &LiveState {
        &self.inner.live
    }

    #[inline]
    pub(crate) fn shared(&self) -> &SharedState {
        &self.inner.shared
    }

    /// Records one number. NaN and infinities are preserved.
    #[inline]
    pub fn scalar(&self, tag: &str, at: impl Into<StepTime>, value: f64) {
        self.scalars(at, &[(tag, value)]);
    }

    /// Records numbers of one step as one event: readers get all of them or none.
    #[inline]
    pub fn scalars(&self, at: impl Into<StepTime>, values: &[(&str, f64)]) {
        self.scalars_at(self.shared().moment(at), values);
    }

    #[inline]
    pub(crate) fn scalars_at(&self, at: Moment, values: &[(&str, f64)]) {
        let shared = self.shared();
        if shared.is_open(values.len() as u64) {
            #[cfg(feature = "live")]
            self.live().scalars(at.step, values);
            shared.queue.push_scalars(at, values);
        }
    }

    /// Records text, usually markdown.
    pub fn text(&self, tag: &str, at: impl Into<StepTime>, text: impl Into<String>) {
        self.record(at, Payload::Text(tag.to_owned(), notes::text(text.into())));
    }

    /// Records a table of texts: as many items as `shape` has elements.
    pub fn texts(&self, tag: &str, at: impl Into<StepTime>, shape: &[u64], items: &[&str]) {
        let text = Text {
            shape: shape.to_vec(),
            items: items.iter().map(|&item| item.to_owned()).collect(),
        };
        self.record(at, Payload::Text(tag.to_owned(), text));
    }

    /// Records a note: something worth knowing about the run.
    pub fn note(&self, note: impl Into<String>) {
        self.note_at(self.shared().step.load(Ordering::Relaxed), note);
    }

    /// Records a note at a step.
    pub fn note_at(&self, at: impl Into<StepTime>, note: impl Into<String>) {
        self.text(notes::TAG, at, note);
    }

    /// Records images of one size. The pixels are copied; another thread encodes them.
    pub fn images(&self, tag: &str, at: impl Into<StepTime>, pictures: &[Picture<'_>]) {
        let pictures = pictures.iter().map(Pixels::of).collect();
        self.record(at, Payload::Images(tag.to_owned(), pictures));
    }

    /// Records frames of one size as one animated image.
    pub fn animation(
        &self,
        tag: &str,
        at: impl Into<StepTime>,
        frames: &[Picture<'_>],
        frames_per_sec: f32,
    ) {
        match Pixels::of_frames(frames, frames_per_sec) {
            Some(pixels) => self.record(at, Payload::Images(tag.to_owned(), vec![pixels])),
            None => self.count_invalid(),
        }
    }

    /// Records an event that was serialized elsewhere: the bytes of a `tensorflow.Event`, which are not checked.
    pub fn event(&self, event: Vec<u8>) {
        self.record(0, Payload::Event(event));
    }

    /// Records a fact of the program. Parts above the limits of the format are left out.
    pub fn program(&self, at: impl Into<StepTime>, mut fact: ProgramFact) {
        fact.numbers.truncate(MAX_FIELDS);
        fact.texts.truncate(MAX_FIELDS);
        let names = fact.numbers.iter_mut().map(|(name, _)| name);
        let texts = fact.texts.iter_mut().flat_map(|(name, text)| [name, text]);
        for text in names
            .chain(texts)
            .chain([&mut fact.kind, &mut fact.subject])
        {
            text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
        }
        if let Some(source) = &mut fact.source {
            let excerpt = source.excerpt.floor_char_boundary(MAX_EXCERPT_BYTES);
            source.excerpt.truncate(excerpt);
            for text in [&mut source.file, &mut source.function] {
                text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
            }
        }
        self.record(at, Payload::Program(Box::new(fact)));
    }

    /// Records that the training resumes at this step: readers drop points of earlier files at this and later steps.
    pub fn session_start(&self, step: i64) {
        self.record(step, Payload::SessionStart);
    }

    /// Records audio: samples from −1 to 1, the channels interleaved.
    pub fn audio(
        &self,
        tag: &str,
        at: impl Into<StepTime>,
        rate_hz: u32,
        channels: u16,
        samples: &[f32],
    ) {
        let sound = Sound {
            rate_hz,
            channels,
            samples: samples.to_vec(),
        };
        self.record(at, Payload::Audio(tag.to_owned(), sound));
    }

    /// Records a histogram of a tensor, computed on this thread.
    pub fn histogram(&self, tag: &str, at: impl Into<StepTime>, tensor: TensorView<'_>) {
        let Some(bytes) = tensor.elements() else {
            self.count_invalid();
            return;
        };
        let stats = TensorStats::of(tensor.dtype(), &bytes);
        let histogram = statistics::histogram(&stats, tensor.dtype(), &bytes);
        self.record(at, Payload::Histogram(tag.to_owned(), histogram));
    }

    /// Records a tensor in full, in the event file. For large tensors, use [`crate::DumpPolicy`], which writes
    /// separate files.
    pub fn values(&self, tag: &str, at: impl Into<StepTime>, tensor: TensorView<'_>) {
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
        self.record(at, payload);
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

    /// Records a loss landscape; [`crate::Plane`] computes one.
    pub fn landscape(&self, tag: &str, at: impl Into<StepTime>, landscape: Landscape) {
        self.record(at, Payload::Landscape(tag.to_owned(), Box::new(landscape)));
    }

    /// Starts a time span on this thread, which ends when the guard is dropped.
    #[inline]
    pub fn span<'a>(&'a self, name: &'a str) -> SpanGuard<'a> {
        SpanGuard::new(self.shared(), SpanKind::Other, name)
    }

    /// Starts a time span of a kind. Without a kind ([`Self::span`]), pages use the name: `data`, `forward`,
    /// `all_reduce`.
    #[inline]
    pub fn span_of<'a>(&'a self, name: &'a str, kind: SpanKind) -> SpanGuard<'a> {
        SpanGuard::new(self.shared(), kind, name)
    }

    /// Declares the kind of a lane, for all its later spans. Lanes are threads otherwise.
    pub fn lane(&self, name: &str, kind: LaneKind) {
        let shared = self.shared();
        if shared.is_open(1) {
            shared.queue.push_lane(name, kind);
        }
    }

    /// Begins an arrow at the innermost span that is open on this thread; [`Self::end_flow`] ends it on any thread.
    pub fn flow(&self) -> FlowBegin {
        FlowBegin {
            lane: with_lane(str::to_owned),
            nanos: self.nanos(),
        }
    }

    /// Ends an arrow at the innermost span that is open on this thread.
    pub fn end_flow(&self, begin: FlowBegin) {
        let FlowBegin { lane, nanos } = begin;
        let end_nanos = self.nanos();
        with_lane(|end_lane| self.ended_flow((&lane, nanos), (end_lane, end_nanos)));
    }

    /// Records an arrow that has ended. Each end is a lane and a time of [`Self::nanos`], and belongs to the innermost
    /// span of that lane around that time.
    pub fn ended_flow(&self, from: (&str, i64), to: (&str, i64)) {
        let shared = self.shared();
        if shared.is_open(1) {
            shared.queue.push_flow(from, to);
        }
    }

    /// Records a change of a counter.
    #[inline]
    pub fn counter(&self, name: &str, value: f64) {
        let shared = self.shared();
        if shared.is_open(1) {
            shared.queue.push_counter(name, shared.clock.nanos(), value);
        }
    }

    /// Current time of the recording's clock, in nanoseconds since 1970.
    #[inline]
    pub fn nanos(&self) -> i64 {
        self.shared().clock.nanos()
    }

    /// Records a span that began at a time of [`Self::nanos`] and has ended; `lane` is the row in which it is shown.
    #[inline]
    pub fn ended_span(
        &self,
        names: SpanNames<'_>,
        kind: SpanKind,
        step: i64,
        start_nanos: i64,
        nanos: u64,
    ) {
        let shared = self.shared();
        if shared.is_open(1) {
            let names = [names.name, names.lane];
            shared
                .queue
                .push_span(kind, names, step, start_nanos, nanos);
        }
    }

    /// `true` if statistics or dumps of this step are selected, by a policy, a trigger or a live session.
    pub fn selects_step(&self, step: i64) -> bool {
        let shared = self.shared();
        #[cfg(feature = "live")]
        if self.live().looks_at(step) {
            return true;
        }
        shared.samples.has_step(step) || shared.dumps.has_step(step) || shared.has_trigger()
    }

    /// `true` if the policy of statistics selects tensors of this name.
    pub fn selects_name(&self, name: &str) -> bool {
        self.shared().samples.has_name(name)
    }

    /// `true` in a fork of the process that started recording: nothing can be recorded there.
    pub fn is_forked(&self) -> bool {
        !self.shared().is_ours()
    }

    fn record(&self, at: impl Into<StepTime>, payload: Payload) {
        let shared = self.shared();
        shared.push_record(shared.moment(at), payload);
    }

    /// Counts a record that cannot be encoded: one that the program could not even pass to the collector, for example.
    pub fn count_invalid(&self) {
        let shared = self.shared();
        if shared.is_open(1) {
            shared.queue.with_report(|report| report.lost.invalid += 1);
        }
    }

    /// Waits until all records so far are in the file, at most for [`crate::CollectorBuilder::patience`]. Returns
    /// `false` on timeout.
    pub fn flush(&self) -> bool {
        let shared = self.shared();
        shared.is_ours() && shared.queue.flush(shared.patience)
    }

    /// Progress and losses of the recording.
    pub fn report(&self) -> CollectorReport {
        self.shared().report()
    }

    /// Ends the recording of all clones, waits until all records are in the file, at most for
    /// [`crate::CollectorBuilder::patience`], and returns the report. Later records are counted as lost.
    pub fn finish(&self) -> CollectorReport {
        self.finish_with(SessionStatus::Success)
    }

    /// Like [`Self::finish`], with the status for a training that failed, for example.
    pub fn finish_with(&self, status: SessionStatus) -> CollectorReport {
        self.inner.finish(status)
    }
}

impl Inner {
    fn finish(&self, status: SessionStatus) -> CollectorReport {
        let shared = &self.shared;
        if !shared.is_ours() {
            return shared.report();
        }
        #[cfg(feature = "live")]
        session::end(
            &self.live,
            match status {
                SessionStatus::Failure => trainscope_format::session::ByeReason::Failed,
                _ => trainscope_format::session::ByeReason::Finished,
            },
        );
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
            // It has caught its panics, so the result of joining is of no interest.
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
