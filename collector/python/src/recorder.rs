//! The class `Recorder`: the methods of a run that are called often, and those that the package builds on.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyException, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;
use trainscope_collector::{
    Collector, CollectorError, CollectorReport, Live, SessionStatus, SpanKind, SpanNames,
    StepRecorder, StepTime,
};

use crate::kinds::span_kind;
use crate::options::{Options, seconds};
use crate::refusal::{Outcome, Refusal};
use crate::value;

/// Above this length of a tensor, in bytes, other threads of the program run while it is read. Below it, taking the
/// interpreter back from another thread may cost more than the reading: up to 5 ms.
pub(crate) const DETACH_BYTES: usize = 1 << 20;

/// Origins of the default step; a later one has precedence.
mod source {
    /// The last step that a call named.
    pub(super) const LAST: u8 = 0;
    /// The number of updates of an optimizer.
    pub(super) const UPDATES: u8 = 1;
    /// A step that is open.
    pub(super) const OPEN: u8 = 2;
}

/// Records into one folder, which is the run; base of `trainscope.Run`.
#[pyclass(frozen, subclass, module = "trainscope._native")]
pub(crate) struct Recorder {
    pub(crate) collector: Collector,
    folder: PathBuf,
    rank: u32,
    is_strict: bool,
    step: AtomicI64,
    updates: AtomicI64,
    /// True once this program has made one of them itself.
    has_updated: AtomicBool,
    source: AtomicU8,
    /// Tensors of a step, which become one record. Held only while no code of the program runs.
    gathered: Mutex<Option<StepRecorder>>,
    /// Reason of a trigger that waits for the step after the open one.
    trigger: Mutex<Option<String>>,
    /// The last step that a trigger selected.
    triggered_step: AtomicI64,
    /// Scalars whose values are still on a device: name, tensor, step and time.
    pending: Mutex<Vec<(String, Py<PyAny>, StepTime)>>,
}

/// Maximum number of scalars on devices that wait for the end of their step; above it, they are fetched at once.
const MAX_PENDING: usize = 4_096;

impl Recorder {
    #[inline]
    pub(crate) fn time(
        &self,
        step: Option<&Bound<'_, PyAny>>,
        wall_time: Option<&Bound<'_, PyAny>>,
    ) -> Outcome<StepTime> {
        let step = match step {
            None => self.current_step(),
            Some(step) => {
                let step = value::step(step)?;
                if self.source.load(Ordering::Relaxed) == source::LAST {
                    self.step.store(step, Ordering::Relaxed);
                }
                step
            }
        };
        Ok(StepTime {
            step,
            wall_time_secs: value::wall_time(wall_time)?,
        })
    }

    #[inline]
    pub(crate) fn current_step(&self) -> i64 {
        self.step.load(Ordering::Relaxed)
    }

    /// The step of what has happened: between two updates that of the last one.
    pub(crate) fn last_step(&self) -> i64 {
        let is_between = self.source.load(Ordering::Relaxed) == source::UPDATES;
        let has_updated = self.has_updated.load(Ordering::Relaxed);
        self.current_step() - i64::from(is_between && has_updated)
    }

    /// Counts a record that cannot be made from the arguments, and warns of it; raises if the run is strict.
    #[cold]
    pub(crate) fn lose(this: &Bound<'_, Self>, reason: &str) -> PyResult<()> {
        let py = this.py();
        let recorder = this.get();
        recorder.collector.count_invalid();
        if recorder.collector.is_forked() {
            return Ok(());
        }
        if recorder.is_strict {
            return Err(PyValueError::new_err(reason.to_owned()));
        }
        let warning = py
            .import("trainscope._lost")
            .and_then(|module| module.getattr("warn"))
            .and_then(|warn| warn.call1((this, reason)));
        match warning {
            // A program that turns warnings into errors asks for no error in its training.
            Err(error) if !error.is_instance_of::<PyException>(py) => Err(error),
            _ => Ok(()),
        }
    }

    pub(crate) fn refuse(this: &Bound<'_, Self>, refusal: Refusal) -> PyResult<()> {
        match refusal {
            Refusal::Reason(reason) => Self::lose(this, &reason),
            Refusal::Interrupt(error) => Err(error),
        }
    }

    #[inline]
    pub(crate) fn settle(this: &Bound<'_, Self>, outcome: Outcome) -> PyResult<()> {
        match outcome {
            Ok(()) => Ok(()),
            Err(refusal) => Self::refuse(this, refusal),
        }
    }

    /// Records a span with its start and duration, in a lane or that of this thread.
    pub(crate) fn push_span(
        &self,
        py: Python<'_>,
        (name, lane): (&str, Option<&str>),
        kind: SpanKind,
        (start_nanos, nanos): (i64, i64),
        step: i64,
    ) {
        let nanos = u64::try_from(nanos).unwrap_or(0);
        let push = |lane: &str| {
            let names = SpanNames { name, lane };
            self.collector
                .ended_span(names, kind, step, start_nanos, nanos);
        };
        match lane {
            Some(lane) => push(lane),
            None => with_lane(py, push),
        }
    }

    pub(crate) fn put_off(
        this: &Bound<'_, Self>,
        name: &str,
        tensor: &Bound<'_, PyAny>,
        mut at: StepTime,
    ) -> Outcome {
        let recorder = this.get();
        if recorder.collector.is_forked() {
            recorder.collector.count_invalid();
            return Ok(());
        }
        let copy = tensor
            .call_method0("detach")
            .and_then(|tensor| tensor.call_method0("clone"));
        let copy = copy?;
        at.wall_time_secs = at
            .wall_time_secs
            .or_else(|| Some(recorder.collector.nanos() as f64 / 1e9));
        let pending = recorder.pending.lock_py_attached(this.py());
        let mut pending = pending.unwrap_or_else(PoisonError::into_inner);
        pending.push((name.to_owned(), copy.unbind(), at));
        let is_full = pending.len() >= MAX_PENDING;
        drop(pending);
        if is_full {
            Self::fetch(this);
        }
        Ok(())
    }

    /// Writes the scalars that were on devices, fetched in one transfer.
    fn fetch(this: &Bound<'_, Self>) {
        let py = this.py();
        let recorder = this.get();
        let pending = recorder.pending.lock_py_attached(py);
        let pending = std::mem::take(&mut *pending.unwrap_or_else(PoisonError::into_inner));
        if pending.is_empty() {
            return;
        }
        let tensors: Vec<_> = pending
            .iter()
            .map(|(_, tensor, _)| tensor.bind(py))
            .collect();
        let values = py
            .import("trainscope._device")
            .and_then(|module| module.getattr("fetch"))
            .and_then(|fetch| fetch.call1((tensors,)))
            .and_then(|values| values.extract::<Vec<Option<f64>>>());
        let values = values.unwrap_or_else(|_| vec![None; pending.len()]);
        for ((name, _, at), value) in pending.iter().zip(values) {
            match value {
                Some(value) => recorder.collector.scalar(name, *at, value),
                None => recorder.collector.count_invalid(),
            }
        }
    }

    /// Runs `record` with the recorder of this step's tensors; those of another step are written first.
    pub(crate) fn with_step(
        &self,
        py: Python<'_>,
        step: i64,
        len_bytes: usize,
        record: impl FnOnce(&mut StepRecorder) + Send,
    ) {
        let apply = |mut gathered: MutexGuard<'_, Option<StepRecorder>>| {
            if let Some(open) = gathered.as_mut().filter(|open| open.number() == step) {
                return record(open);
            }
            // The earlier step is written before this one begins.
            *gathered = None;
            let is_selected = self.collector.selects_step(step);
            let open = gathered.insert(self.collector.step(step));
            // The recorder has taken the trigger.
            if is_selected && !self.collector.selects_step(step) {
                self.triggered_step.store(step, Ordering::Relaxed);
            }
            record(open);
        };
        let wait = || self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        match self.gathered.try_lock() {
            Ok(gathered) if len_bytes < DETACH_BYTES => apply(gathered),
            Ok(gathered) => {
                drop(gathered);
                py.detach(|| apply(wait()));
            }
            // Another thread may read a large tensor while it holds the lock.
            Err(_) => py.detach(|| apply(wait())),
        }
    }

    /// `true` if tensors of this step are read: by a policy or a trigger.
    pub(crate) fn selects(&self, step: i64) -> bool {
        self.collector.selects_step(step) || self.triggered_step.load(Ordering::Relaxed) == step
    }

    /// Selects the next step: not the one that is open.
    pub(crate) fn set_trigger(&self, py: Python<'_>, reason: &str) {
        if self.collector.is_forked() {
            return;
        }
        if self.source.load(Ordering::Relaxed) == source::OPEN {
            let trigger = self.trigger.lock_py_attached(py);
            *trigger.unwrap_or_else(PoisonError::into_inner) = Some(reason.to_owned());
        } else {
            self.collector.trigger(reason);
        }
    }

    /// Writes the scalars on devices and the tensors of the open step.
    pub(crate) fn write_open(this: &Bound<'_, Self>) {
        Self::fetch(this);
        this.get().write_gathered(this.py());
    }

    fn write_gathered(&self, py: Python<'_>) {
        if self.collector.is_forked() {
            return;
        }
        let gathered = py.detach(|| {
            let mut gathered = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
            gathered.take()
        });
        drop(gathered);
    }
}

thread_local! {
    /// Name of this thread as Python has it.
    static LANE: OnceCell<String> = const { OnceCell::new() };
}

/// Calls a function with the lane of this thread.
pub(crate) fn with_lane<T>(py: Python<'_>, take: impl Fn(&str) -> T) -> T {
    // During thread shutdown the name may be gone already.
    LANE.try_with(|lane| take(lane.get_or_init(|| thread_name(py))))
        .unwrap_or_else(|_| take("a thread that ends"))
}

fn thread_name(py: Python<'_>) -> String {
    let name = py
        .import("threading")
        .and_then(|module| module.call_method0("current_thread"))
        .and_then(|thread| thread.getattr("name"))
        .and_then(|name| name.extract::<String>());
    name.unwrap_or_else(|_| format!("{:?}", std::thread::current().id()))
}

#[pymethods]
impl Recorder {
    #[new]
    #[pyo3(signature = (folder, options))]
    fn new(folder: PathBuf, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let options = Options::of(options)?;
        let mut builder = Collector::builder(&folder)
            .samples(options.samples()?)
            .dumps(options.dumps())
            .overflow(options.overflow()?)
            .queue_bytes(options.queue_bytes)
            .snapshot_bytes(options.snapshot_bytes)
            .flush_every(seconds("flush_every", options.flush_every)?)
            .patience(seconds("patience", options.patience)?);
        let rank = options.rank.unwrap_or(0);
        builder = builder.rank(rank, options.world_size.unwrap_or(1));
        if let Some(suffix) = &options.file_suffix {
            builder = builder.file_suffix(suffix);
        }
        if let Some(address) = &options.live {
            builder = builder.live(Live::to(address));
        }
        if let Some(at_hit) = options.at_hit()? {
            builder = builder.at_hit(at_hit);
        }
        if let Some(severity) = options.at_hit_severity()? {
            builder = builder.at_hit_severity(severity);
        }
        if let Some(wait) = options.wait {
            builder = builder.wait(seconds("wait", wait)?);
        }
        let collector = builder.start().map_err(|error| {
            let text = error.to_string();
            match error {
                CollectorError::NoPath(_) | CollectorError::Address(_) => {
                    PyValueError::new_err(text)
                }
                _ => PyOSError::new_err(text),
            }
        })?;
        Ok(Self {
            collector,
            folder: std::path::absolute(&folder).unwrap_or(folder),
            rank,
            is_strict: options.strict,
            step: AtomicI64::new(0),
            updates: AtomicI64::new(-1),
            has_updated: AtomicBool::new(false),
            source: AtomicU8::new(source::LAST),
            gathered: Mutex::default(),
            trigger: Mutex::default(),
            triggered_step: AtomicI64::new(i64::MIN),
            pending: Mutex::default(),
        })
    }

    /// Absolute folder of the run, the same for all ranks.
    #[getter]
    fn folder(&self) -> PathBuf {
        self.folder.clone()
    }

    /// Address of the server of the live session, also while it does not answer.
    ///
    /// `None` without one, after it has refused, and after `finish`.
    #[getter]
    fn url(&self) -> Option<String> {
        self.collector.server()
    }

    /// Rank of this process in the training, from 0.
    #[getter]
    fn rank(&self) -> u32 {
        self.rank
    }

    /// Waits until all records are in the file, at most for `patience`. `False` if they are not.
    ///
    /// >>> assert run.flush()
    fn flush(this: &Bound<'_, Self>) -> bool {
        let recorder = this.get();
        if recorder.collector.is_forked() {
            return false;
        }
        Self::fetch(this);
        recorder.write_gathered(this.py());
        this.py().detach(|| recorder.collector.flush())
    }

    /// Progress and losses of the recording. Nothing is waited for.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        report(py, &self.collector.report())
    }

    /// Ends the recording and waits until all records are in the file; `Run.finish` says more.
    #[pyo3(signature = (status=None))]
    fn finish<'py>(
        this: &Bound<'py, Self>,
        status: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let recorder = this.get();
        let py = this.py();
        let status = status.and_then(|status| value::name(status).ok().map(str::to_owned));
        let status = match status.as_deref() {
            Some("failure") => SessionStatus::Failure,
            _ => SessionStatus::Success,
        };
        if !recorder.collector.is_forked() {
            Self::fetch(this);
            recorder.write_gathered(py);
        }
        let ended = py.detach(|| recorder.collector.finish_with(status));
        report(py, &ended)
    }

    /// `True` if tensors of this step are read: by the policies of statistics and dumps, or by a trigger.
    fn _selects(&self, step: i64) -> bool {
        !self.collector.is_forked() && self.selects(step)
    }

    /// `True` if the options `names` and `exclude` select tensors of this name.
    fn _selects_name(&self, name: &str) -> bool {
        self.collector.selects_name(name)
    }

    /// Opens a step, which is the default of calls without a step.
    fn _begin_step(this: &Bound<'_, Self>, step: &Bound<'_, PyAny>) -> PyResult<()> {
        let recorder = this.get();
        match value::step(step) {
            Ok(step) => {
                recorder.source.store(source::OPEN, Ordering::Relaxed);
                recorder.step.store(step, Ordering::Relaxed);
                if !recorder.collector.is_forked() {
                    let trigger = recorder.trigger.lock_py_attached(this.py());
                    let trigger = trigger.unwrap_or_else(PoisonError::into_inner).take();
                    if let Some(reason) = trigger {
                        recorder.collector.trigger(&reason);
                    }
                }
                Ok(())
            }
            Err(refusal) => Self::refuse(this, refusal),
        }
    }

    /// Closes the open step: its tensors become one record, and scalars on devices are fetched.
    fn _end_step(this: &Bound<'_, Self>) {
        let recorder = this.get();
        if recorder.collector.is_forked() {
            return;
        }
        Self::fetch(this);
        recorder.write_gathered(this.py());
        let updates = recorder.updates.load(Ordering::Relaxed);
        if updates >= 0 {
            recorder.step.store(updates, Ordering::Relaxed);
            recorder.source.store(source::UPDATES, Ordering::Relaxed);
        } else {
            recorder.source.store(source::LAST, Ordering::Relaxed);
        }
    }

    /// Sets the number of updates of an optimizer: the default step while no step is open. The highest counts.
    /// `is_made`: this program has made the last of them.
    #[pyo3(signature = (updates, *, is_made=false))]
    fn _set_updates(&self, updates: i64, is_made: bool) {
        self.has_updated.fetch_or(is_made, Ordering::Relaxed);
        // Each of several optimizers counts its updates; the highest count is the step of the training.
        let updates = self
            .updates
            .fetch_max(updates, Ordering::Relaxed)
            .max(updates);
        if self.source.load(Ordering::Relaxed) != source::OPEN {
            self.step.store(updates, Ordering::Relaxed);
            self.source.store(source::UPDATES, Ordering::Relaxed);
        }
    }

    /// The default step of calls without a step.
    fn _step(&self) -> i64 {
        self.current_step()
    }

    /// The step of what has happened: between two updates that of the last one.
    fn _last_step(&self) -> i64 {
        self.last_step()
    }

    /// The open step, or `None`.
    fn _open_step(&self) -> Option<i64> {
        let is_open = self.source.load(Ordering::Relaxed) == source::OPEN;
        is_open.then(|| self.current_step())
    }

    /// `True` if errors of recording are raised.
    #[getter]
    fn _is_strict(&self) -> bool {
        self.is_strict
    }

    /// Time of the recording's clock, in ns since 1970.
    fn _nanos(&self) -> i64 {
        self.collector.nanos()
    }

    /// Records a span of this thread that has ended; `kind` as in `span`.
    #[pyo3(signature = (name, start_nanos, duration_nanos, step=None, kind=None))]
    fn _push_span(
        this: &Bound<'_, Self>,
        name: &str,
        start_nanos: i64,
        duration_nanos: i64,
        step: Option<i64>,
        kind: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let recorder = this.get();
        let record = || -> Outcome {
            let kind = kind.map_or(Ok(SpanKind::Other), span_kind)?;
            let step = step.unwrap_or_else(|| recorder.current_step());
            let times = (start_nanos, duration_nanos);
            recorder.push_span(this.py(), (name, None), kind, times, step);
            Ok(())
        };
        Self::settle(this, record())
    }

    /// Counts a record that could not be made, and warns of it once for each place; raises if the run is strict.
    fn _count_invalid(this: &Bound<'_, Self>, message: &str) -> PyResult<()> {
        Self::lose(this, message)
    }

    /// `True` in a fork of the process that started the run: nothing can be recorded there.
    fn _is_forked(&self) -> bool {
        self.collector.is_forked()
    }
}

fn report<'py>(py: Python<'py>, report: &CollectorReport) -> PyResult<Bound<'py, PyAny>> {
    let lost = PyDict::new(py);
    let counts = &report.lost;
    for (reason, count) in [
        ("queue_full", counts.queue_full),
        ("disk", counts.disk),
        ("removed", counts.removed),
        ("after_finish", counts.after_finish),
        ("forked", counts.forked),
        ("invalid", counts.invalid),
    ] {
        if count > 0 {
            lost.set_item(reason, count)?;
        }
    }
    let fields = PyDict::new(py);
    fields.set_item("files", &report.files)?;
    fields.set_item("records_written", report.records_written)?;
    fields.set_item("bytes_written", report.bytes_written)?;
    fields.set_item("dumps_written", report.dumps_written)?;
    fields.set_item("lost", lost)?;
    fields.set_item("changes_skipped", report.changes_skipped)?;
    fields.set_item("first_error", report.first_error.clone())?;
    fields.set_item("is_closed", report.is_closed)?;
    let class = py.import("trainscope.report")?.getattr("Report")?;
    class.call((), Some(&fields))
}
