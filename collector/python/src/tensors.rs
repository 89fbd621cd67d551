//! Methods of a recorder for tensors: statistics, values and histograms.

use pyo3::prelude::*;
use trainscope_collector::{Collector, Role, StepTime};
use trainscope_format::statistics::TensorSummary;
use trainscope_format::tensor::{FiniteStats, TensorStats};

use crate::kinds::role_of;
use crate::memory::{TensorMemory, dtype_of};
use crate::recorder::{DETACH_BYTES, Recorder};
use crate::refusal::Outcome;
use crate::value;

#[pymethods]
impl Recorder {
    /// Records statistics of a tensor, on the steps that `every` and `first` of `start` select.
    ///
    /// Counts by class (NaN, infinities, zeros, signs, subnormals), extremes, moments, exponents and a hash of the
    /// elements, and additions by options of `start`; extremes and moments are those of the finite elements. `tensor`:
    /// an array or tensor of any framework and shape, a list or a number. Complex numbers are read as twice as many
    /// real ones, along one more axis. `name` identifies the tensor in the whole run. `role`: weight, gradient,
    /// activation, input, output, loss, `optimizer_state`, `frozen_weight` or other (the default).
    ///
    /// The elements are read where they are, on this thread; that takes 2 to 6 times as long as reading the memory.
    /// Elements are kept only for `change`. Tensors without memory (meta, freed, quantised, inside of `vmap`) are
    /// counted as invalid. After `finish` it is counted as lost.
    ///
    /// >>> run.tensor("fc1.weight", [[0.5, -0.5], [0.0, 1.5]], role="weight", step=3)
    #[pyo3(signature = (name, tensor, *, role=None, step=None))]
    fn tensor(
        this: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        tensor: &Bound<'_, PyAny>,
        role: Option<&Bound<'_, PyAny>>,
        step: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let recorder = this.get();
        let record = || -> Outcome {
            let name = value::name(name)?;
            let role = match role {
                None => Role::Other,
                Some(role) => role_of(value::name(role)?)?,
            };
            let at = recorder.time(step, None)?;
            if recorder.collector.is_forked() {
                recorder.collector.count_invalid();
                return Ok(());
            }
            if !recorder.selects(at.step) {
                return Ok(());
            }
            let memory = TensorMemory::of(tensor).map_err(|refusal| refusal.of(name))?;
            let view = memory.view();
            recorder.with_step(this.py(), at.step, memory.len_bytes(), |open| {
                open.tensor(name, role, view);
            });
            Ok(())
        };
        Self::settle(this, record())
    }

    /// Records all elements of a tensor, as they are: type, shape, NaN and infinities.
    ///
    /// `tensor`: as in `tensor`. The elements are copied; for large tensors, the options `dump_…` of `start` write
    /// separate files. After `finish` it is counted as lost.
    ///
    /// >>> run.values("attention", [[0.5, 0.5], [0.1, 0.9]], step=3)
    #[pyo3(signature = (name, tensor, step=None, *, wall_time=None))]
    fn values(
        this: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        tensor: &Bound<'_, PyAny>,
        step: Option<&Bound<'_, PyAny>>,
        wall_time: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        Self::record_whole(
            this,
            name,
            tensor,
            (step, wall_time),
            |collector, name, at, memory| {
                collector.values(name, at, memory.view());
            },
        )
    }

    /// Records the distribution of all finite elements of a tensor in 64 bins; NaN and infinities are counted.
    ///
    /// `tensor`: as in `tensor`. Takes a few times as long as reading the memory, on this thread. After `finish` it is
    /// counted as lost.
    ///
    /// >>> run.histogram("scores", [0.1, 0.2, 0.2, 0.9], step=3)
    #[pyo3(signature = (name, tensor, step=None, *, wall_time=None))]
    fn histogram(
        this: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        tensor: &Bound<'_, PyAny>,
        step: Option<&Bound<'_, PyAny>>,
        wall_time: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let py = this.py();
        Self::record_whole(
            this,
            name,
            tensor,
            (step, wall_time),
            |collector, name, at, memory| {
                let view = memory.view();
                if memory.len_bytes() < DETACH_BYTES {
                    collector.histogram(name, at, view);
                } else {
                    py.detach(|| collector.histogram(name, at, view));
                }
            },
        )
    }

    /// Records statistics of tensors, each as (name, role, tensor), also on steps that no policy selects.
    ///
    /// Statistics are multiplied by `scale`: exact for powers of two, else without exponents. Returns the number of
    /// tensors that were read; the others are counted as invalid.
    #[pyo3(signature = (items, step=None, scale=1.0))]
    fn _record_tensors(
        this: &Bound<'_, Self>,
        items: &Bound<'_, PyAny>,
        step: Option<i64>,
        scale: f64,
    ) -> PyResult<usize> {
        Self::record_all(this, items, step, scale).map(|seen| seen.read)
    }

    /// Records statistics as `_record_tensors` does. Returns `True` if one of the tensors has a NaN.
    #[pyo3(signature = (items, step))]
    fn _record_and_find_nan(
        this: &Bound<'_, Self>,
        items: &Bound<'_, PyAny>,
        step: i64,
    ) -> PyResult<bool> {
        Self::record_all(this, items, Some(step), 1.0).map(|seen| seen.has_nan)
    }

    /// Records statistics that were computed elsewhere.
    ///
    /// `row`: count, NaN, +inf, -inf, zero, negative, positive, subnormal, and over the finite elements minimum,
    /// maximum, sum, sum of squares, sum of magnitudes; then a hash, which is not recorded.
    #[pyo3(signature = (name, role, dtype, shape, row, step=None))]
    fn _record_summary(
        this: &Bound<'_, Self>,
        name: &str,
        role: &str,
        dtype: &str,
        shape: Vec<u64>,
        row: [f64; 14],
        step: Option<i64>,
    ) -> PyResult<()> {
        let recorder = this.get();
        let step = step.unwrap_or_else(|| recorder.current_step());
        let record = || -> Outcome {
            let summary = TensorSummary {
                role: role_of(role)?,
                dtype: dtype_of(dtype)?.0,
                shape,
                stats: stats_of_row(&row),
                hash: None,
                change: None,
                channels: None,
            };
            if !recorder.collector.is_forked() {
                recorder.with_step(this.py(), step, 0, |open| open.summary(name, summary));
            }
            Ok(())
        };
        Self::settle(this, record())
    }
}

/// Tensors of one call.
#[derive(Default)]
struct Observation {
    /// Number of those that were read.
    read: usize,
    /// `true` if a NaN was counted in one of them.
    has_nan: bool,
}

impl Recorder {
    /// Records statistics of tensors, each as (name, role, tensor).
    fn record_all(
        this: &Bound<'_, Self>,
        items: &Bound<'_, PyAny>,
        step: Option<i64>,
        scale: f64,
    ) -> PyResult<Observation> {
        let recorder = this.get();
        let step = step.unwrap_or_else(|| recorder.current_step());
        let mut seen = Observation::default();
        if recorder.collector.is_forked() {
            for _ in 0..items.len()? {
                recorder.collector.count_invalid();
            }
            return Ok(seen);
        }
        for item in items.try_iter()? {
            let item = item?;
            let record = || -> Outcome<bool> {
                let part = |at: usize| item.get_item(at);
                let (name, role, tensor) = (part(0)?, part(1)?, part(2)?);
                let name = value::name(&name)?;
                let role = role_of(value::name(&role)?)?;
                let memory = TensorMemory::of(&tensor);
                let memory = memory.map_err(|refusal| refusal.of(name))?;
                let view = memory.view();
                let mut has_nan = false;
                recorder.with_step(this.py(), step, memory.len_bytes(), |open| {
                    has_nan = open.scaled_tensor(name, role, view, scale);
                });
                Ok(has_nan)
            };
            match record() {
                Ok(has_nan) => {
                    seen.read += 1;
                    seen.has_nan |= has_nan;
                }
                Err(reason) => Self::refuse(this, reason)?,
            }
        }
        Ok(seen)
    }

    /// Records content other than statistics: values, a histogram.
    fn record_whole(
        this: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        tensor: &Bound<'_, PyAny>,
        (step, wall_time): (Option<&Bound<'_, PyAny>>, Option<&Bound<'_, PyAny>>),
        record: impl FnOnce(&Collector, &str, StepTime, &TensorMemory<'_>),
    ) -> PyResult<()> {
        let run = || -> Outcome {
            let name = value::name(name)?;
            let at = this.get().time(step, wall_time)?;
            let memory = TensorMemory::of(tensor).map_err(|refusal| refusal.of(name))?;
            record(&this.get().collector, name, at, &memory);
            Ok(())
        };
        Self::settle(this, run())
    }
}

/// Statistics of a row: count, NaN, +inf, -inf, zero, negative, positive, subnormal, and over the finite elements
/// minimum, maximum, sum, sum of squares, sum of magnitudes; then a hash, which is left out.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts below 2^53"
)]
fn stats_of_row(row: &[f64; 14]) -> TensorStats {
    let [
        count,
        nan,
        pos_inf,
        neg_inf,
        zero,
        negative,
        positive,
        subnormal,
        min,
        max,
        sum,
        squares,
        magnitudes,
        _,
    ] = *row;
    let finite = zero + negative + positive;
    let mean = sum / finite;
    TensorStats {
        count: count as u64,
        nan: nan as u64,
        pos_inf: pos_inf as u64,
        neg_inf: neg_inf as u64,
        zero: zero as u64,
        negative: negative as u64,
        positive: positive as u64,
        subnormal: subnormal as u64,
        finite: (finite > 0.0).then(|| FiniteStats {
            min,
            max,
            mean,
            m2: if squares.is_finite() {
                // Rounding may leave a negative rest if all elements are equal.
                (squares - sum * mean).max(0.0)
            } else {
                f64::INFINITY
            },
            mean_abs: magnitudes / finite,
            l2: squares.sqrt(),
        }),
        exponents: None,
        ranges: Vec::new(),
    }
}
