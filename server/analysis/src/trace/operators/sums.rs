//! Sums over the calls of one row of a table.

use trainscope_api::profile::{OperatorRow, PhaseKind};

use super::groups::Label;
use crate::trace::Model;
use crate::trace::figures::{median, percentile, rounded};
use crate::trace::roofline::ShortestTimes;

/// Sums over the calls of one row.
#[derive(Default)]
pub(super) struct Sums {
    /// Durations of the calls that count.
    pub durations: Vec<i64>,
    pub self_nanos: i64,
    pub self_in_steps: i64,
    pub total: i64,
    pub device_own: i64,
    pub device_total: i64,
    pub flops: u64,
    pub bytes: u64,
    /// Time of the kernels of the calls whose bytes are known.
    pub bytes_nanos: i64,
    /// The same at the peaks of the device.
    pub shortest: ShortestTimes,
    /// Self time by phase, in the order of their first call.
    phases: Vec<(PhaseKind, i64)>,
    calls: u64,
    occupied: f64,
    occupancy_nanos: i64,
    tensor_cores: bool,
}

/// Sums of a group, created if missing.
pub(super) fn slot(sums: &mut Vec<Sums>, group: usize) -> &mut Sums {
    if sums.len() <= group {
        sums.resize_with(group + 1, Sums::default);
    }
    &mut sums[group]
}

impl Sums {
    /// `true` without any call, also without those that do not count.
    pub(super) fn is_empty(&self) -> bool {
        self.calls == 0
    }

    /// Adds the self time of a call to its phase.
    pub(super) fn add_phase(&mut self, phase: PhaseKind, nanos: i64) {
        self.calls += 1;
        match self.phases.iter_mut().find(|(known, _)| *known == phase) {
            Some((_, all)) => *all = all.saturating_add(nanos),
            None => self.phases.push((phase, nanos)),
        }
    }

    /// Adds occupancy and tensor cores of device work.
    pub(super) fn add_work(&mut self, model: &Model, slice: u32, tensor_cores: bool) {
        self.tensor_cores |= tensor_cores;
        let detail = model.trace.slices.details[slice as usize] as usize;
        let Some(work) = model.trace.device_work.get(detail) else {
            return;
        };
        let occupancy = f64::from(work.occupancy_percent);
        if occupancy >= 0.0 && occupancy.is_finite() {
            let (begin, end) = model.span(slice);
            let nanos = end.saturating_sub(begin);
            self.occupied += occupancy / 100.0 * nanos as f64;
            self.occupancy_nanos = self.occupancy_nanos.saturating_add(nanos);
        }
    }

    /// The row, with its share of `all` self time and its self time in each of `steps`.
    pub(super) fn into_row(mut self, label: &Label, all: i64, steps: u64) -> OperatorRow {
        let calls = self.durations.len() as u64;
        let count = i64::try_from(calls).unwrap_or(i64::MAX).max(1);
        let sum = self.durations.iter().copied().fold(0, i64::saturating_add);
        let steps = i64::try_from(steps).unwrap_or(i64::MAX).max(1);
        let phase = self
            .phases
            .iter()
            .max_by_key(|(phase, nanos)| (*nanos, *phase));
        OperatorRow {
            name: label.name.clone(),
            r#type: label.r#type.clone(),
            shapes: label.shapes.clone(),
            calls,
            self_nanos: self.self_nanos,
            total_nanos: self.total,
            mean_nanos: rounded(sum, count),
            median_nanos: median(&mut self.durations),
            p99_nanos: percentile(&mut self.durations, 0.99),
            self_step_nanos: rounded(self.self_in_steps, steps),
            share: self.self_nanos as f64 / all.max(1) as f64,
            device_self_nanos: self.device_own,
            device_total_nanos: self.device_total,
            flops: self.flops,
            bytes: self.bytes,
            bytes_nanos: self.bytes_nanos,
            roofline: self.shortest.share_of(self.bytes_nanos),
            bound: self.shortest.bound(),
            occupancy: (self.occupancy_nanos > 0)
                .then(|| self.occupied / self.occupancy_nanos as f64),
            tensor_cores: self.tensor_cores,
            phase: phase.map(|(phase, _)| *phase).unwrap_or_default(),
        }
    }
}
