//! Names, numbers and steps from Python objects of any type.

use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyString};

use crate::objects::type_name;
use crate::refusal::{Outcome, Refusal, attempt};

/// A number, or one that is still on a device.
pub(crate) enum Number {
    Value(f64),
    OnDevice,
}

/// Maximum length of a name, in bytes.
const MAX_NAME_BYTES: usize = 64 << 10;

/// Text of a name; the error names the type of anything else.
#[inline]
pub(crate) fn name<'a>(object: &'a Bound<'_, PyAny>) -> Outcome<&'a str> {
    let Ok(text) = object.cast::<PyString>() else {
        return Err(format!("a name must be text, not {}", type_name(object)).into());
    };
    match text.to_str() {
        Ok("") => Err("a name must not be empty".into()),
        Ok(text) if text.len() > MAX_NAME_BYTES => {
            Err(format!("a name of {} bytes is too long", text.len()).into())
        }
        Ok(text) => Ok(text),
        Err(_) => Err("a name must be valid Unicode".into()),
    }
}

/// The object itself, if it is the text of a name.
pub(crate) fn text<'py>(object: &Bound<'py, PyAny>) -> Outcome<Bound<'py, PyString>> {
    name(object)?;
    let text = object.cast::<PyString>().map_err(PyErr::from)?;
    Ok(text.clone())
}

/// The number of a float, int, bool, NumPy scalar or anything else with `__float__`.
#[inline]
pub(crate) fn number(object: &Bound<'_, PyAny>) -> Outcome<Number> {
    if let Ok(float) = object.cast_exact::<PyFloat>() {
        return Ok(Number::Value(float.value()));
    }
    other_number(object)
}

/// The number of a float or an int, for which no code of the program runs.
#[inline]
pub(crate) fn plain_number(object: &Bound<'_, PyAny>) -> Option<f64> {
    match object.cast_exact::<PyFloat>() {
        Ok(float) => Some(float.value()),
        Err(_) if object.is_exact_instance_of::<PyInt>() => object.extract().ok(),
        Err(_) => None,
    }
}

fn other_number(object: &Bound<'_, PyAny>) -> Outcome<Number> {
    let refuse =
        |error: PyErr| Refusal::from(error).of(&format!("{} is not a number", type_name(object)));
    if object.is_instance_of::<PyInt>() || object.is_instance_of::<PyString>() {
        return object.extract().map(Number::Value).map_err(refuse);
    }
    if is_on_device(object)? {
        return Ok(Number::OnDevice);
    }
    // Arrays with one element, of any number of axes.
    let item = attempt(object.call_method0(pyo3::intern!(object.py(), "item")))?;
    let number = item.as_ref().unwrap_or(object).extract();
    number.map(Number::Value).map_err(refuse)
}

/// `true` for a tensor of PyTorch that is not in main memory: reading it would wait for the device.
fn is_on_device(object: &Bound<'_, PyAny>) -> Outcome<bool> {
    let is_cpu = attempt(object.getattr(pyo3::intern!(object.py(), "is_cpu")))?;
    Ok(is_cpu.is_some_and(|is_cpu| is_cpu.extract::<bool>().is_ok_and(|is_cpu| !is_cpu)))
}

/// A step: an int, anything with `__index__`, or a float without a fraction.
#[inline]
pub(crate) fn step(object: &Bound<'_, PyAny>) -> Outcome<i64> {
    match object.extract::<i64>() {
        Ok(step) => Ok(step),
        Err(error) => other_step(object, error),
    }
}

fn other_step(object: &Bound<'_, PyAny>, error: PyErr) -> Outcome<i64> {
    if let interrupt @ Refusal::Interrupt(_) = error.into() {
        return Err(interrupt);
    }
    #[expect(clippy::cast_possible_truncation, reason = "checked below")]
    let whole = |step: f64| {
        let is_whole = step.fract() == 0.0 && step.abs() < 9e15;
        is_whole.then_some(step as i64)
    };
    let step = attempt(object.extract::<f64>())?.and_then(whole);
    match step {
        Some(step) => Ok(step),
        None => Err(format!("a step must be a whole number, not {}", short(object)?).into()),
    }
}

/// Seconds since 1970 of a record.
pub(crate) fn wall_time(object: Option<&Bound<'_, PyAny>>) -> Outcome<Option<f64>> {
    let Some(object) = object.filter(|object| !object.is_none()) else {
        return Ok(None);
    };
    let secs = object.extract::<f64>();
    let secs = secs.map_err(|error| Refusal::from(error).of("wall_time"))?;
    if !secs.is_finite() {
        return Err(format!("wall_time must be seconds since 1970, not {secs}").into());
    }
    Ok(Some(secs))
}

/// `repr` of an object, shortened; its type if it has none.
fn short(object: &Bound<'_, PyAny>) -> Outcome<String> {
    let text = attempt(object.repr())?;
    let text = text.map(|text| text.to_string_lossy().chars().take(60).collect());
    Ok(text.unwrap_or_else(|| type_name(object)))
}
