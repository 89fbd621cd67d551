//! Method of a recorder for loss landscapes.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use trainscope_collector::{LandscapeGrid, Normalisation, Plane, Snapshot};
use trainscope_format::{Tensor, TensorData};

use crate::memory::TensorMemory;
use crate::recorder::Recorder;
use crate::refusal::{Outcome, Refusal};

/// Step and parameters of a saved state.
type SavedState<'py> = (i64, Vec<Bound<'py, PyAny>>);

#[pymethods]
impl Recorder {
    /// Records a loss landscape; `Run.landscape` says more.
    ///
    /// `snapshots`: (step, parameters). `loss` gets the bytes of each parameter in single precision, and returns a
    /// number. With a seed, the directions are random, and only the last snapshot counts.
    #[pyo3(signature = (name, snapshots, loss, size, samples, seed=None, normalisation=None, reach=None))]
    #[expect(clippy::too_many_arguments, reason = "called by name")]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a list of Python is converted to a value"
    )]
    fn _landscape(
        this: &Bound<'_, Self>,
        name: &str,
        snapshots: Vec<SavedState<'_>>,
        loss: &Bound<'_, PyAny>,
        size: usize,
        samples: u64,
        seed: Option<u64>,
        normalisation: Option<&str>,
        reach: Option<f64>,
    ) -> PyResult<()> {
        let record = || -> Outcome {
            let plane = plane(&snapshots, seed, normalisation)?;
            let plane = reach.map_or(plane.clone(), |reach| plane.reach(reach));
            let mut error = None;
            let grid = LandscapeGrid { size, samples };
            let landscape = plane.evaluate(grid, |weights| {
                if error.is_some() {
                    return f64::NAN;
                }
                evaluate(loss, weights).unwrap_or_else(|raised| {
                    error = Some(raised);
                    f64::NAN
                })
            });
            let landscape = landscape.map_err(|error| error.to_string())?;
            if let Some(error) = error {
                return Err(Refusal::from(error).of("the loss function"));
            }
            let step = plane.steps().last().copied().unwrap_or(0);
            this.get().collector.landscape(name, step, landscape);
            Ok(())
        };
        Self::settle(this, record())
    }
}

/// The plane of the snapshots, or a random one through the last.
fn plane(
    snapshots: &[SavedState<'_>],
    seed: Option<u64>,
    normalisation: Option<&str>,
) -> Outcome<Plane> {
    let normalisation = match normalisation {
        None if seed.is_some() => Normalisation::Filter,
        None | Some("orthonormal") => Normalisation::Orthonormal,
        Some("filter") => Normalisation::Filter,
        Some(other) => {
            let reason = format!("there is no normalisation {other:?}: filter or orthonormal");
            return Err(reason.into());
        }
    };
    let first = match seed {
        Some(_) => snapshots.len().saturating_sub(1),
        None => 0,
    };
    let mut all = Vec::with_capacity(snapshots.len());
    for (step, parameters) in snapshots.iter().skip(first) {
        let mut snapshot = Snapshot::new(*step);
        for parameter in parameters {
            let memory = TensorMemory::of(parameter)?;
            let (shape, values) = values(&memory)?;
            snapshot = snapshot.parameter(&shape, values);
        }
        all.push(snapshot);
    }
    let plane = match (seed, all.last()) {
        (Some(seed), Some(last)) => Plane::random_with(last, seed, normalisation),
        _ => Plane::pca_with(&all, normalisation),
    };
    Ok(plane.map_err(|error| error.to_string())?)
}

/// Shape and elements of a parameter in single precision.
fn values(memory: &TensorMemory<'_>) -> Outcome<(Vec<usize>, Vec<f32>)> {
    let view = memory.view();
    let bytes = view.elements().ok_or("a parameter cannot be read")?;
    let tensor = Tensor {
        dtype: view.dtype(),
        original_dtype: None,
        shape: view.shape().iter().map(|size| *size as u64).collect(),
        data: TensorData::Inline(Vec::new()),
    };
    let numbers = tensor.numbers(&bytes, 0, usize::MAX);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "single precision is wanted"
    )]
    let values = numbers.into_iter().map(|value| value as f32).collect();
    Ok((view.shape().to_vec(), values))
}

/// Calls the loss function.
fn evaluate(loss: &Bound<'_, PyAny>, weights: &[Vec<f32>]) -> PyResult<f64> {
    let py = loss.py();
    let parameters = weights.iter().map(|values| {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        PyBytes::new(py, &bytes)
    });
    let parameters = PyList::new(py, parameters.collect::<Vec<_>>())?;
    loss.call1((parameters,))?.extract()
}
