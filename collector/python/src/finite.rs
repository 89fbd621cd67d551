//! Looks at gradients while a backward pass computes them: whether their elements are finite.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use trainscope_format::tensor::are_finite;

use crate::memory::TensorMemory;
use crate::recorder::DETACH_BYTES;

/// Bytes of a tensor above which PyTorch, with its threads, is the faster one.
const MAX_BYTES: usize = 16 << 20;

/// Hook of a function of autograd that calls another one if an outgoing gradient may not be finite.
#[pyclass(frozen, module = "trainscope._native")]
pub(crate) struct GradientHook {
    at: usize,
    numbers: Vec<usize>,
    otherwise: Py<PyAny>,
}

#[pymethods]
impl GradientHook {
    /// `otherwise(at, outgoing, incoming)` is called unless the gradients with these numbers are in memory and finite.
    #[new]
    fn new(at: usize, numbers: Vec<usize>, otherwise: Py<PyAny>) -> Self {
        Self {
            at,
            numbers,
            otherwise,
        }
    }

    fn __call__(&self, outgoing: &Bound<'_, PyTuple>, incoming: &Bound<'_, PyAny>) -> PyResult<()> {
        for &number in &self.numbers {
            let gradient = outgoing.get_item(number)?;
            if !gradient.is_none() && !is_finite(&gradient) {
                let otherwise = self.otherwise.bind(outgoing.py());
                return otherwise.call1((self.at, outgoing, incoming)).map(drop);
            }
        }
        Ok(())
    }
}

/// `true` if all elements are in main memory and finite; `false` also of a tensor that is not looked at.
fn is_finite(tensor: &Bound<'_, PyAny>) -> bool {
    let py = tensor.py();
    let is_cpu = tensor.getattr(intern!(py, "is_cpu"));
    if !is_cpu
        .and_then(|is_cpu| is_cpu.is_truthy())
        .unwrap_or(false)
    {
        return false;
    }
    let Ok(memory) = TensorMemory::of(tensor) else {
        return false;
    };
    // Gaps between the elements count, too.
    let (dtype, bytes) = (memory.dtype(), memory.bytes());
    let are_finite = || are_finite(dtype, bytes) == Some(true);
    if bytes.len() > MAX_BYTES {
        false
    } else if bytes.len() < DETACH_BYTES {
        are_finite()
    } else {
        py.detach(are_finite)
    }
}
