//! Options of a recording.

use std::time::Duration;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trainscope_collector::{AtHit, DumpPolicy, Overflow, PauseSeverity, SamplePolicy};

use crate::kinds::role_of;

/// Options of a recording, as `trainscope.start` has them.
#[derive(FromPyObject)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate option")]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    pub(crate) rank: Option<u32>,
    pub(crate) world_size: Option<u32>,
    every: u64,
    first: u64,
    names: Vec<String>,
    exclude: Vec<String>,
    exponents: bool,
    hash: bool,
    change: bool,
    histograms: bool,
    channels: Vec<(String, usize)>,
    dump_every: u64,
    dump_first: u64,
    dump_at_not_finite: u64,
    dump_names: Vec<String>,
    pub(crate) queue_bytes: usize,
    pub(crate) snapshot_bytes: usize,
    on_full: String,
    pub(crate) flush_every: f64,
    pub(crate) patience: f64,
    pub(crate) strict: bool,
    #[pyo3(default)]
    pub(crate) file_suffix: Option<String>,
    pub(crate) live: Option<String>,
    at_hit: Option<String>,
    at_hit_severity: Option<String>,
    pub(crate) wait: Option<f64>,
}

impl Options {
    /// Options of a dictionary. An error names the option and the problem.
    pub(crate) fn of(options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let options: Self = options.extract().map_err(|error: PyErr| {
            let py = options.py();
            let text = error.value(py).to_string();
            let name = text.rsplit('.').next().unwrap_or_default().to_owned();
            let cause = error.cause(py).map(|cause| cause.value(py).to_string());
            PyTypeError::new_err(format!("option {name}: {}", cause.unwrap_or(text)))
        })?;
        if let (Some(rank), Some(size)) = (options.rank, options.world_size)
            && rank >= size
        {
            let text = format!("rank {rank} is not below world_size {size}");
            return Err(PyValueError::new_err(text));
        }
        Ok(options)
    }

    pub(crate) fn samples(&self) -> PyResult<SamplePolicy> {
        let mut samples = SamplePolicy::every(self.every)
            .first(self.first)
            .exponents(self.exponents)
            .hash(self.hash);
        for pattern in &self.names {
            samples = samples.matching(pattern);
        }
        for pattern in &self.exclude {
            samples = samples.except(pattern);
        }
        if self.change {
            samples = samples.change();
        }
        if self.histograms {
            samples = samples.histograms();
        }
        for (role, axis) in &self.channels {
            samples = samples.channels(
                role_of(role).map_err(|refusal| PyValueError::new_err(refusal.to_string()))?,
                *axis,
            );
        }
        Ok(samples)
    }

    pub(crate) fn dumps(&self) -> DumpPolicy {
        let mut dumps = DumpPolicy::every(self.dump_every)
            .first(self.dump_first)
            .at_not_finite(self.dump_at_not_finite);
        for pattern in &self.dump_names {
            dumps = dumps.matching(pattern);
        }
        dumps
    }

    pub(crate) fn at_hit(&self) -> PyResult<Option<AtHit>> {
        match self.at_hit.as_deref() {
            None => Ok(None),
            Some("record") => Ok(Some(AtHit::Record)),
            Some("pause") => Ok(Some(AtHit::Pause)),
            Some("stop") => Ok(Some(AtHit::Stop)),
            Some("capsule") => Ok(Some(AtHit::Capsule)),
            Some(other) => Err(PyValueError::new_err(format!(
                "at_hit must be \"record\", \"pause\", \"stop\" or \"capsule\", not {other:?}"
            ))),
        }
    }

    pub(crate) fn at_hit_severity(&self) -> PyResult<Option<PauseSeverity>> {
        match self.at_hit_severity.as_deref() {
            None => Ok(None),
            Some("info") => Ok(Some(PauseSeverity::Info)),
            Some("warning") => Ok(Some(PauseSeverity::Warning)),
            Some("error") => Ok(Some(PauseSeverity::Error)),
            Some(other) => Err(PyValueError::new_err(format!(
                "at_hit_severity must be \"info\", \"warning\" or \"error\", not {other:?}"
            ))),
        }
    }

    pub(crate) fn overflow(&self) -> PyResult<Overflow> {
        match self.on_full.as_str() {
            "drop" => Ok(Overflow::Drop),
            "block" => Ok(Overflow::Block(seconds("patience", self.patience)?)),
            other => Err(PyValueError::new_err(format!(
                "on_full must be \"drop\" or \"block\", not {other:?}"
            ))),
        }
    }
}

/// Duration of an option of this name, in seconds.
pub(crate) fn seconds(name: &str, secs: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(secs).map_err(|_| {
        PyValueError::new_err(format!("{name} must be a number of seconds, not {secs}"))
    })
}
