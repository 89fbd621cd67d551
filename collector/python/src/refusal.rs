//! Reasons for not recording something.

use std::fmt;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::objects::type_name;

/// Result of an attempt to record.
pub(crate) type Outcome<T = ()> = Result<T, Refusal>;

/// Reason for not recording something.
pub(crate) enum Refusal {
    /// Sentence for the user; the record is counted as invalid.
    Reason(String),
    /// `KeyboardInterrupt`, `SystemExit` and the like, which belong to the program.
    Interrupt(PyErr),
}

impl Refusal {
    /// The same with the name of the tensor in front.
    pub(crate) fn of(self, name: &str) -> Self {
        match self {
            Self::Reason(reason) => Self::Reason(format!("{name}: {reason}")),
            interrupt @ Self::Interrupt(_) => interrupt,
        }
    }
}

/// The value of code that may fail, `None` for an error; one that belongs to the program is passed on.
pub(crate) fn attempt<T>(result: PyResult<T>) -> Outcome<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if Python::attach(|py| error.is_instance_of::<PyException>(py)) => Ok(None),
        Err(error) => Err(Refusal::Interrupt(error)),
    }
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Self::Reason(reason)
    }
}

impl From<&str> for Refusal {
    fn from(reason: &str) -> Self {
        Self::Reason(reason.to_owned())
    }
}

impl From<PyErr> for Refusal {
    fn from(error: PyErr) -> Self {
        Python::attach(|py| {
            if !error.is_instance_of::<PyException>(py) {
                return Self::Interrupt(error);
            }
            // Even formatting an error may run a handler of signals.
            match error.value(py).str() {
                Ok(text) => Self::Reason(text.to_string_lossy().into_owned()),
                Err(inner) if inner.is_instance_of::<PyException>(py) => {
                    Self::Reason(type_name(error.value(py)))
                }
                Err(inner) => Self::Interrupt(inner),
            }
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reason(reason) => f.write_str(reason),
            Self::Interrupt(error) => error.fmt(f),
        }
    }
}
