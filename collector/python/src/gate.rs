//! Gates of live sessions: the training waits without the interpreter, and shows the requested tensors.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use trainscope_collector::{Flow, Place, StepRecorder, TensorSource, matches_pattern};

use crate::kinds::role_of;
use crate::memory::TensorMemory;
use crate::recorder::Recorder;
use crate::value;

/// Answers of a gate.
mod answer {
    pub(super) const GO_ON: u8 = 0;
    pub(super) const STOP_BY_PERSON: u8 = 1;
    pub(super) const STOP_BY_HIT: u8 = 2;
}

fn place_of(place: &str) -> PyResult<Place> {
    match place {
        "after_step" => Ok(Place::AfterStep),
        "before_update" => Ok(Place::BeforeUpdate),
        other => {
            let name = other.strip_prefix("node:").filter(|name| !name.is_empty());
            let name = name.ok_or_else(|| {
                PyValueError::new_err(format!(
                    "a gate is \"after_step\" or \"before_update\", not {other:?}"
                ))
            })?;
            Ok(Place::Node(name.to_owned()))
        }
    }
}

#[pymethods]
impl Recorder {
    /// Passes a gate: 0 to go on, 1 if a person stops the training, 2 if a hit does. `show`: a function that returns
    /// tensors as (name, role, tensor). `are_finite`: a function that returns `True` if all gradients are finite, or
    /// `None` to have their memory read. Raises the exception of a signal in a wait, such as `KeyboardInterrupt`.
    #[pyo3(signature = (place, step, show, are_finite))]
    fn _gate(
        this: &Bound<'_, Self>,
        place: &str,
        step: i64,
        show: Py<PyAny>,
        are_finite: Py<PyAny>,
    ) -> PyResult<u8> {
        let recorder = this.get();
        if recorder.collector.is_forked() {
            return Ok(answer::GO_ON);
        }
        let place = place_of(place)?;
        let py = this.py();
        if recorder.collector.has_gates() && !matches!(place, Place::Node(_)) {
            // Records of this step are judged before it goes on.
            Self::write_open(this);
        }
        let source = Functions { show, are_finite };
        let mut raised = None;
        let flow = py.detach(|| {
            let mut is_interrupted = || {
                Python::attach(|py| match py.check_signals() {
                    Ok(()) => false,
                    Err(error) => {
                        raised = Some(error);
                        true
                    }
                })
            };
            recorder
                .collector
                .gate_with(step, place, &source, &mut is_interrupted)
        });
        match (flow, raised) {
            (Flow::Interrupted, Some(error)) => Err(error),
            (Flow::Stop, _) if recorder.collector.is_stopped_by_hit() => Ok(answer::STOP_BY_HIT),
            (Flow::Stop, _) => Ok(answer::STOP_BY_PERSON),
            _ => Ok(answer::GO_ON),
        }
    }

    /// `True` if the gate of this place may make the training wait or stop. If not, it is noted.
    fn _has_gate(&self, place: &str) -> PyResult<bool> {
        let has_gates = self.collector.has_gates();
        if !has_gates {
            self.collector
                .skip_gate(self.current_step(), &place_of(place)?);
        }
        Ok(has_gates)
    }

    /// `True` if a gate since the last call has seen a hit of the severity that counts, with `at_hit="capsule"`.
    fn _takes_hit(&self) -> bool {
        self.collector.takes_hit()
    }

    /// Declares the layers at which the training can wait.
    fn _nodes(&self, names: Vec<String>) {
        self.collector.nodes(names);
    }

    /// The layer at which the training is to wait, or `None`.
    fn _target_node(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.collector.target_node())
    }

    /// Patterns of the activations that are to be kept until the gate.
    fn _keep_patterns(&self) -> Vec<String> {
        self.collector.keep_patterns()
    }

    /// `True` if the name matches one of the patterns.
    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "a list of Python")]
    fn _matches(patterns: Vec<String>, name: &str) -> bool {
        patterns
            .iter()
            .any(|pattern| matches_pattern(pattern, name))
    }

    /// Sets the number of steps of the whole training.
    fn _total_steps(&self, steps: i64) {
        self.collector.total_steps(steps);
    }
}

/// Functions of Python that return tensors, and `True` if all gradients are finite.
struct Functions {
    show: Py<PyAny>,
    are_finite: Py<PyAny>,
}

impl TensorSource for Functions {
    fn show(&self, to: &mut StepRecorder) {
        Python::attach(|py| {
            // A tensor that cannot be read is not shown; the training has recorded why.
            let items = self.show.call0(py).and_then(|items| {
                items
                    .bind(py)
                    .try_iter()?
                    .collect::<PyResult<Vec<Bound<'_, PyAny>>>>()
            });
            for item in items.unwrap_or_default() {
                show_one(&item, to);
            }
        });
    }

    fn gradients_are_finite(&self) -> Option<bool> {
        Python::attach(|py| self.are_finite.call0(py).ok()?.extract(py).ok())
    }
}

/// Shows a tensor; `None` if it is not wanted, or cannot be read. An item without a tensor is one that was changed.
fn show_one(item: &Bound<'_, PyAny>, to: &mut StepRecorder) -> Option<()> {
    let name = item.get_item(0).ok()?;
    let name = value::name(&name).ok()?;
    if !to.wants(name) {
        return None;
    }
    let role = item.get_item(1).ok()?;
    let role = role_of(value::name(&role).ok()?).ok()?;
    let mut tensor = item.get_item(2).ok()?;
    if tensor.is_none() {
        to.changed(name);
        return None;
    }
    let is_remote = tensor
        .getattr("is_cpu")
        .and_then(|is_cpu| is_cpu.is_truthy());
    if is_remote.is_ok_and(|is_cpu| !is_cpu) {
        tensor = tensor
            .call_method0("detach")
            .ok()?
            .call_method0("cpu")
            .ok()?;
    }
    let memory = TensorMemory::of(&tensor).ok()?;
    to.tensor(name, role, memory.view());
    Some(())
}
