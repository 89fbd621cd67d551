//! Spans of time as context managers and decorators, and flows between them.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyString;
use trainscope_collector::SpanKind;

use crate::kinds::{lane_kind, span_kind, span_kind_name};
use crate::objects::type_name;
use crate::recorder::{Recorder, with_lane};
use crate::refusal::Outcome;
use crate::value;

/// Time that this thread spends inside of a `with` block or a function; `Run.span` creates one.
#[pyclass(frozen, module = "trainscope._native")]
pub(crate) struct Span {
    recorder: Py<Recorder>,
    name: Py<PyString>,
    kind: SpanKind,
    /// Lane in which it is shown; that of the thread if missing.
    lane: Option<Py<PyString>>,
    /// Times at which it was entered, one inside of the other.
    starts_nanos: Mutex<Vec<i64>>,
}

/// Start of an arrow between two spans; `Run.flow` creates one, `Run.end_flow` ends it.
#[pyclass(frozen, module = "trainscope._native")]
pub(crate) struct Flow {
    lane: String,
    nanos: i64,
}

#[pymethods]
impl Span {
    fn __enter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        let span = this.get();
        let nanos = span.recorder.get().collector.nanos();
        let mut starts = span
            .starts_nanos
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        starts.push(nanos);
        drop(starts);
        this
    }

    /// Ends the span, also if the block is left by an exception.
    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> bool {
        let mut starts = self
            .starts_nanos
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let start = starts.pop();
        drop(starts);
        let recorder = self.recorder.get();
        let lane = self.lane.as_ref().map(|lane| lane.to_str(py)).transpose();
        if let (Some(start), Ok(name), Ok(lane)) = (start, self.name.to_str(py), lane) {
            let passed = recorder.collector.nanos().saturating_sub(start);
            let step = recorder.current_step();
            recorder.push_span(py, (name, lane), self.kind, (start, passed), step);
        }
        false
    }

    /// Records each call of a function, generator function or coroutine function.
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        function: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let decorate = py.import("trainscope._decorate")?.getattr("decorate")?;
        decorate.call1((
            self.recorder.clone_ref(py),
            self.name.clone_ref(py),
            span_kind_name(self.kind),
            self.lane.as_ref().map(|lane| lane.clone_ref(py)),
            function,
        ))
    }
}

#[pymethods]
impl Recorder {
    /// Span of time: a context manager, and a decorator for functions, generators and coroutines.
    ///
    /// Records the time, in ns, that this thread spends inside, at the current step. Names like those of graph nodes
    /// colour the graph. `kind`: compute, communication, copy, data (waiting for a batch), host, idle (other waiting)
    /// or other; without one the name tells: data, forward, `all_reduce`. `lane`: the row of the timeline; that of the
    /// thread by default. A wrong kind or lane is counted as invalid, and the span recorded without it. Takes less than
    /// 1 µs. After `finish` it is counted as lost.
    ///
    /// >>> with run.span("load", kind="data"): batch = list(range(10))
    #[pyo3(signature = (name, *, kind=None, lane=None))]
    fn span(
        this: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        kind: Option<&Bound<'_, PyAny>>,
        lane: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Span> {
        let mut refusal = None;
        let name = value::text(name).unwrap_or_else(|reason| {
            refusal = Some(reason);
            PyString::new(this.py(), "span")
        });
        let kind = kind.map_or(Ok(SpanKind::Other), span_kind);
        let kind = kind.unwrap_or_else(|reason| {
            refusal = Some(reason);
            SpanKind::Other
        });
        let lane = lane.map(value::text).transpose().unwrap_or_else(|reason| {
            refusal = Some(reason);
            None
        });
        if let Some(reason) = refusal {
            Self::refuse(this, reason)?;
        }
        Ok(Span {
            recorder: this.clone().unbind(),
            name: name.unbind(),
            kind,
            lane: lane.map(Bound::unbind),
            starts_nanos: Mutex::default(),
        })
    }

    /// Declares the kind of a lane, for all its later spans: thread, device, stream or process.
    ///
    /// Lanes are threads unless declared. Spans of a stream or device are its work; those of threads are the host's. A
    /// wrong kind is counted as invalid. After `finish` it is counted as lost.
    ///
    /// >>> run.lane("stream 7", "stream")
    /// >>> with run.span("copy to device", kind="copy", lane="stream 7"): batch = list(range(10))
    fn lane(
        this: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        kind: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let record = || -> Outcome {
            let name = value::name(name)?;
            let kind = lane_kind(kind)?;
            this.get().collector.lane(name, kind);
            Ok(())
        };
        Self::settle(this, record())
    }

    /// Begins an arrow at the innermost span that is open now, on this thread or in `lane`; `end_flow` ends it.
    ///
    /// Nothing is recorded until then. A wrong lane is counted as invalid, and the arrow begins on this thread.
    ///
    /// >>> with run.span("put"): flow = run.flow()
    /// >>> with run.span("get"): run.end_flow(flow)
    #[pyo3(signature = (*, lane=None))]
    fn flow(this: &Bound<'_, Self>, lane: Option<&Bound<'_, PyAny>>) -> PyResult<Flow> {
        let lane = match lane.map(value::name).transpose() {
            Ok(lane) => lane,
            Err(reason) => {
                Self::refuse(this, reason)?;
                None
            }
        };
        Ok(Flow {
            lane: lane.map_or_else(|| with_lane(this.py(), str::to_owned), str::to_owned),
            nanos: this.get().collector.nanos(),
        })
    }

    /// Ends an arrow at the innermost span that is open now, on this thread or in `lane`; any thread may end it.
    ///
    /// `flow`: the result of `flow`; anything else is counted as invalid. Ended more than once, it has as many arrows.
    /// After `finish` it is counted as lost.
    #[pyo3(signature = (flow, *, lane=None))]
    fn end_flow(
        this: &Bound<'_, Self>,
        flow: &Bound<'_, PyAny>,
        lane: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let record = || -> Outcome {
            let Ok(begin) = flow.cast::<Flow>() else {
                let kind = type_name(flow);
                return Err(format!("end_flow takes what flow has returned, not {kind}").into());
            };
            let lane = lane.map(value::name).transpose()?;
            let Flow { lane: from, nanos } = begin.get();
            let collector = &this.get().collector;
            let now = collector.nanos();
            let end = |lane: &str| collector.ended_flow((from.as_str(), *nanos), (lane, now));
            match lane {
                Some(lane) => end(lane),
                None => with_lane(this.py(), end),
            }
            Ok(())
        };
        Self::settle(this, record())
    }
}
