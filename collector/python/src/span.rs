//! Spans of time as context managers and decorators.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::recorder::Recorder;

/// Time that this thread spends inside of a `with` block or a function; `Run.span` creates one.
#[pyclass(frozen, module = "trainscope._native")]
pub(crate) struct Span {
    recorder: Py<Recorder>,
    name: Py<PyString>,
    /// Times at which it was entered, one inside of the other.
    starts_nanos: Mutex<Vec<i64>>,
}

impl Span {
    pub(crate) fn new(recorder: Py<Recorder>, name: Py<PyString>) -> Self {
        Self {
            recorder,
            name,
            starts_nanos: Mutex::default(),
        }
    }
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
        if let (Some(start), Ok(name)) = (start, self.name.to_str(py)) {
            let passed = recorder.collector.nanos().saturating_sub(start);
            recorder.push_span(py, name, start, passed);
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
            function,
        ))
    }
}
