//! The native module `trainscope._native`: the collector as a Python class.

mod dlpack;
mod finite;
mod gate;
mod kinds;
mod landscape;
mod media;
mod memory;
mod numbers;
mod objects;
mod options;
mod recorder;
mod records;
mod refusal;
mod span;
mod tensors;
mod value;

use pyo3::prelude::*;

/// Records trainings; the package `trainscope` is built on it.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::finite::GradientHook;
    #[pymodule_export]
    use crate::recorder::Recorder;
    #[pymodule_export]
    use crate::span::{Flow, Span};
}
