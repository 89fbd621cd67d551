//! Methods of a recorder for numbers, texts and counters.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFloat, PyInt};

use crate::objects::type_name;
use crate::recorder::Recorder;
use crate::refusal::{Outcome, Refusal};
use crate::value::{self, Number};

#[pymethods]
impl Recorder {
    /// Records one number.
    ///
    /// `value`: a float, int, bool, number of NumPy, or an array or tensor with one element; it is written as f64. NaN
    /// and infinities are kept, and are findings. A tensor on a device is not waited for: it is written, with the step
    /// and time of this call, when its step has ended. `wall_time`: seconds since 1970; now by default.
    ///
    /// Takes 0.1 µs; nothing is waited for. After `finish` it is counted as lost.
    ///
    /// >>> run.scalar("train/loss", 0.25, step=3)
    #[pyo3(signature = (name, value, step=None, *, wall_time=None))]
    fn scalar(
        this: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        step: Option<&Bound<'_, PyAny>>,
        wall_time: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let recorder = this.get();
        let record = || -> Outcome {
            let name = value::name(name)?;
            let at = recorder.time(step, wall_time)?;
            match value::number(value)? {
                Number::Value(value) => recorder.collector.scalar(name, at, value),
                Number::OnDevice => Self::put_off(this, name, value, at)?,
            }
            Ok(())
        };
        Self::settle(this, record())
    }

    /// Records several numbers of one moment, as one event: readers see all of them or none.
    ///
    /// `values`: numbers as in `scalar`, by name. Nested mappings join their names with `/`. Values that are no numbers
    /// are counted as invalid; the others are written.
    ///
    /// Takes 0.3 to 1 µs for four numbers; nothing is waited for. After `finish` it is counted as lost.
    ///
    /// >>> run.log({"loss": 0.25, "rate": {"weights": 1e-3, "bias": 1e-2}}, step=3)
    #[pyo3(signature = (values, step=None, *, wall_time=None))]
    fn log(
        this: &Bound<'_, Self>,
        values: &Bound<'_, PyAny>,
        step: Option<&Bound<'_, PyAny>>,
        wall_time: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let recorder = this.get();
        let at = match recorder.time(step, wall_time) {
            Ok(at) => at,
            Err(reason) => return Self::refuse(this, reason),
        };
        // Names that are borrowed from Python's strings; nested ones have to be joined.
        if let Ok(values) = values.cast_exact::<PyDict>() {
            let items: Vec<_> = values.iter().collect();
            let flat = items
                .iter()
                .map(|(name, value)| value::name(name).ok().zip(value::plain_number(value)));
            if let Some(flat) = flat.collect::<Option<Vec<_>>>() {
                recorder.collector.scalars(at, &flat);
                return Ok(());
            }
        }
        let mut flat = Vec::new();
        let mut losses = Vec::new();
        flatten(values, "", 0, &mut |name, value| {
            let number = value::number(value);
            match number {
                Ok(Number::Value(number)) => flat.push((name, number)),
                Ok(Number::OnDevice) => {
                    if let Err(reason) = Self::put_off(this, &name, value, at) {
                        losses.push(reason);
                    }
                }
                Err(reason) => losses.push(reason.of(&name)),
            }
        })
        .unwrap_or_else(|reason| losses.push(reason));
        let numbers: Vec<(&str, f64)> = flat
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .collect();
        recorder.collector.scalars(at, &numbers);
        for reason in losses {
            Self::refuse(this, reason)?;
        }
        Ok(())
    }

    /// Records a text, shown as Markdown. Anything else is written as its `str`.
    ///
    /// The text is copied; nothing is waited for. After `finish` it is counted as lost.
    ///
    /// >>> run.text("sample", "The *first* sentence.", step=3)
    #[pyo3(signature = (name, text, step=None, *, wall_time=None))]
    fn text(
        this: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        text: &Bound<'_, PyAny>,
        step: Option<&Bound<'_, PyAny>>,
        wall_time: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let record = || -> Outcome {
            let name = value::name(name)?;
            let at = this.get().time(step, wall_time)?;
            let text = text.str()?;
            this.get()
                .collector
                .text(name, at, text.to_string_lossy().into_owned());
            Ok(())
        };
        Self::settle(this, record())
    }

    /// Records a note about the run at the current step: shown with the findings.
    ///
    /// After `finish` it is counted as lost.
    ///
    /// >>> run.note("The learning rate was set by hand.")
    fn note(this: &Bound<'_, Self>, text: &Bound<'_, PyAny>) -> PyResult<()> {
        let record = || -> Outcome {
            let text = text.str()?;
            let recorder = this.get();
            let note = text.to_string_lossy().into_owned();
            recorder.collector.note_at(recorder.last_step(), note);
            Ok(())
        };
        Self::settle(this, record())
    }

    /// Records the current value of a counter, for example the length of a queue; it is shown with the spans.
    ///
    /// NaN and infinities are kept. Nothing is waited for. After `finish` it is counted as lost.
    ///
    /// >>> run.counter("queue", 3)
    fn counter(
        this: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let record = || -> Outcome {
            let name = value::name(name)?;
            let value = value.extract::<f64>();
            let value = value.map_err(|error| Refusal::from(error).of(name))?;
            this.get().collector.counter(name, value);
            Ok(())
        };
        Self::settle(this, record())
    }

    /// Selects the next step: statistics of all its tensors, and their elements in full.
    ///
    /// `reason` becomes a note. After `finish` it does nothing.
    ///
    /// >>> run.trigger("the loss has doubled")
    fn trigger(this: &Bound<'_, Self>, reason: &Bound<'_, PyAny>) -> PyResult<()> {
        let record = || -> Outcome {
            let reason = reason.str()?;
            this.get().set_trigger(this.py(), &reason.to_string_lossy());
            Ok(())
        };
        Self::settle(this, record())
    }
}

/// Maximum depth of mappings in `log`; one that contains itself would not end.
const MAX_DEPTH: usize = 16;

/// Calls `each` with the joined name of every value.
fn flatten(
    values: &Bound<'_, PyAny>,
    prefix: &str,
    depth: usize,
    each: &mut impl FnMut(String, &Bound<'_, PyAny>),
) -> Outcome {
    if !is_mapping(values)? {
        return Err(format!("{} is no mapping", type_name(values)).into());
    }
    if depth > MAX_DEPTH {
        return Err(format!("{prefix} is nested too deeply").into());
    }
    let items = values.call_method0("items")?;
    let mut refusal = Ok(());
    for item in items.try_iter()? {
        let (name, value) = item?.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        let name = match value::name(&name) {
            Ok(name) if prefix.is_empty() => name.to_owned(),
            Ok(name) => format!("{prefix}/{name}"),
            Err(reason) => {
                refusal = Err(reason);
                continue;
            }
        };
        if is_mapping(&value)? {
            if let Err(reason) = flatten(&value, &name, depth + 1, each) {
                refusal = Err(reason);
            }
        } else {
            each(name, &value);
        }
    }
    refusal
}

fn is_mapping(object: &Bound<'_, PyAny>) -> Outcome<bool> {
    static MAPPING: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if object.is_instance_of::<PyDict>() {
        return Ok(true);
    }
    if object.is_instance_of::<PyFloat>() || object.is_instance_of::<PyInt>() {
        return Ok(false);
    }
    let py = object.py();
    let class = MAPPING.get_or_try_init(py, || {
        Ok::<_, PyErr>(py.import("collections.abc")?.getattr("Mapping")?.unbind())
    })?;
    // Its check is code in Python, in which a signal may arrive.
    Ok(object.is_instance(class.bind(py))?)
}
