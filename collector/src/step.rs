//! Recorder of one training step: its tensors become one record when it ends.

use std::sync::atomic::Ordering;

use trainscope_format::encode::Moment;
use trainscope_format::statistics::{Role, TensorSummary};

use crate::collector::Collector;
use crate::dump::DumpTensor;
use crate::entry::Payload;
use crate::statistics;
use crate::tensor::TensorView;

/// Maximum number of tensors in one record, a few megabytes: a step with more, or one that does not end, becomes
/// several records.
const MAX_TENSORS: usize = 4_096;

/// Records a step; [`Collector::step`] creates one. Its tensors are written when it is dropped.
#[derive(Debug)]
pub struct StepRecorder {
    collector: Collector,
    at: Moment,
    statistics: Vec<(String, TensorSummary)>,
    dump: Vec<DumpTensor>,
    dump_bytes: usize,
    /// Reason for recording tensors that no policy selects.
    trigger: Option<String>,
    /// `true` if this step may have a dump; `None` before it was counted.
    may_dump: Option<bool>,
    /// `true` to compute statistics of all tensors regardless of the policy of steps.
    is_close: bool,
    #[cfg(feature = "live")]
    probe: Option<crate::live::probe::Probe>,
}

impl Collector {
    /// Begins a step. Statistics of its tensors are computed according to the policies and become one record.
    pub fn step(&self, step: i64) -> StepRecorder {
        let shared = self.shared();
        shared.step.store(step, Ordering::Relaxed);
        StepRecorder::new(self, shared.moment(step), shared.take_trigger())
    }

    /// Records one tensor according to the policies: a step with a single tensor.
    pub fn tensor(&self, name: &str, role: Role, step: i64, tensor: TensorView<'_>) {
        let shared = self.shared();
        StepRecorder::new(self, shared.moment(step), None).tensor(name, role, tensor);
    }
}

impl StepRecorder {
    pub(crate) fn new(collector: &Collector, at: Moment, trigger: Option<String>) -> Self {
        Self {
            collector: collector.clone(),
            at,
            statistics: Vec::new(),
            dump: Vec::new(),
            dump_bytes: 0,
            trigger,
            may_dump: None,
            is_close: false,
            #[cfg(feature = "live")]
            probe: None,
        }
    }

    /// A recorder of statistics of all tensors of a step.
    #[cfg(feature = "live")]
    pub(crate) fn closely(collector: &Collector, step: i64) -> Self {
        let mut recorder = Self::new(collector, collector.shared().moment(step), None);
        recorder.is_close = true;
        recorder
    }

    /// A recorder that records nothing and shows all tensors to a probe.
    #[cfg(feature = "live")]
    pub(crate) fn probing(
        collector: &Collector,
        step: i64,
        probe: crate::live::probe::Probe,
    ) -> Self {
        let mut recorder = Self::new(collector, collector.shared().moment(step), None);
        recorder.probe = Some(probe);
        recorder
    }

    #[cfg(feature = "live")]
    pub(crate) fn take_probe(mut self) -> Option<crate::live::probe::Probe> {
        self.probe.take()
    }

    /// Number of the step.
    pub fn number(&self) -> i64 {
        self.at.step
    }

    /// Records numbers as one event.
    pub fn scalars(&mut self, values: &[(&str, f64)]) {
        #[cfg(feature = "live")]
        if self.probe.is_some() {
            return;
        }
        self.collector.scalars_at(self.at, values);
    }

    /// `true` if a policy selects a tensor of this name: check it before fetching a tensor from a device.
    pub fn wants(&self, name: &str) -> bool {
        #[cfg(feature = "live")]
        if let Some(probe) = &self.probe {
            return probe.wants(name);
        }
        self.wants_statistics(name) || self.wants_dump(name)
    }

    fn wants_statistics(&self, name: &str) -> bool {
        let policy = &self.collector.shared().samples;
        #[cfg(feature = "live")]
        let is_close = self.is_close || self.collector.live().looks_at(self.at.step);
        #[cfg(not(feature = "live"))]
        let is_close = self.is_close;
        policy.wants(self.at.step, name)
            || ((is_close || self.trigger.is_some()) && policy.has_name(name))
    }

    fn wants_dump(&self, name: &str) -> bool {
        let policy = &self.collector.shared().dumps;
        policy.wants(self.at.step, name) || (self.trigger.is_some() && policy.has_name(name))
    }

    /// Records a tensor according to the policies. Names are tags: each tensor of a run, including gradients, needs a
    /// unique one.
    pub fn tensor(&mut self, name: &str, role: Role, view: TensorView<'_>) {
        #[cfg(feature = "live")]
        if let Some(probe) = &mut self.probe {
            probe.tensor(name, role, &view);
            return;
        }
        if self.wants(name) {
            let statistics = self.wants_statistics(name).then_some(1.0);
            self.record(name, role, view, statistics);
        }
    }

    /// Records the statistics of a tensor at this step regardless of the policy of steps, with each value multiplied by
    /// `scale`. A dump follows its policy, with unscaled values. Statistics are exact if `scale` is a power of two, and
    /// have no exponents otherwise. `true` if a NaN was counted.
    pub fn scaled_tensor(
        &mut self,
        name: &str,
        role: Role,
        view: TensorView<'_>,
        scale: f64,
    ) -> bool {
        #[cfg(feature = "live")]
        if let Some(probe) = &mut self.probe {
            probe.tensor(name, role, &view);
            return false;
        }
        self.record(name, role, view, Some(scale))
    }

    /// Notes that a tensor was changed in place since it was made: at a gate its elements cannot be read any more.
    #[cfg(feature = "live")]
    pub fn changed(&mut self, name: &str) {
        if let Some(probe) = &mut self.probe {
            probe.changed(name);
        }
    }

    /// Records statistics that were computed elsewhere, on a device for example.
    pub fn summary(&mut self, name: &str, summary: TensorSummary) {
        #[cfg(feature = "live")]
        if self.probe.is_some() {
            return;
        }
        if self.collector.shared().is_open(1) {
            self.push_summary(name, summary);
        }
    }

    fn push_summary(&mut self, name: &str, summary: TensorSummary) {
        let shared = self.collector.shared();
        #[cfg(feature = "live")]
        {
            let tolerance = shared.samples.change.unwrap_or_default();
            self.collector
                .live()
                .tensor(self.at.step, name, &summary, tolerance);
        }
        let stats = &summary.stats;
        let is_finite = stats.nan + stats.pos_inf + stats.neg_inf == 0;
        if !is_finite && self.trigger.is_none() && shared.count_not_finite() {
            self.trigger = Some(format!("NaN or infinity in {name}"));
        }
        self.statistics.push((name.to_owned(), summary));
        if self.statistics.len() >= MAX_TENSORS {
            self.write_statistics();
        }
    }

    fn write_statistics(&mut self) {
        if !self.statistics.is_empty() {
            let payload = Payload::Statistics(std::mem::take(&mut self.statistics));
            self.collector.shared().push_record(self.at, payload);
        }
    }

    /// Statistics multiplied by `scale` if there is one, and a dump if a policy selects it. `true` if a NaN was counted.
    fn record(&mut self, name: &str, role: Role, view: TensorView<'_>, scale: Option<f64>) -> bool {
        let collector = self.collector.clone();
        let shared = collector.shared();
        if !shared.is_open(1) {
            return false;
        }
        #[cfg(feature = "live")]
        let widened = collector
            .live()
            .needs(name, role)
            .map(|needs| shared.samples.with_needs(&needs, role, view.shape().len()));
        #[cfg(feature = "live")]
        let policy = widened.as_ref().unwrap_or(&shared.samples);
        #[cfg(not(feature = "live"))]
        let policy = &shared.samples;
        let is_ordered = policy.needs_order(role) || self.wants_dump(name);
        let elements = if is_ordered {
            view.elements()
        } else {
            view.elements_in_any_order()
        };
        let Some(bytes) = elements else {
            self.lose();
            return false;
        };
        let mut has_nan = false;
        if let Some(scale) = scale {
            let tensor = (name, role);
            let seen = statistics::look(policy, &shared.memory, tensor, &view, &bytes);
            if seen.is_change_skipped {
                shared
                    .queue
                    .with_report(|report| report.changes_skipped += 1);
            }
            if let Some(histogram) = seen.histogram {
                let payload = Payload::Histogram(name.to_owned(), histogram);
                shared.queue.push_record(self.at, payload);
            }
            has_nan = seen.summary.stats.nan > 0;
            self.push_summary(name, seen.summary.scaled(scale));
        }
        if self.wants_dump(name) && self.may_dump() {
            // A tensor that cannot fit into the queue is not copied in the first place.
            self.dump_bytes = self.dump_bytes.saturating_add(bytes.len());
            if self.dump_bytes > shared.queue.limit_bytes() {
                shared
                    .queue
                    .with_report(|report| report.lost.queue_full += 1);
                return has_nan;
            }
            self.dump.push(DumpTensor {
                name: name.to_owned(),
                dtype: view.dtype(),
                shape: view.shape().to_vec(),
                bytes: bytes.into_owned(),
            });
        }
        has_nan
    }

    /// Counts a tensor that cannot be read.
    pub(crate) fn lose(&self) {
        self.collector.count_invalid();
    }

    fn may_dump(&mut self) -> bool {
        let shared = self.collector.shared();
        *self.may_dump.get_or_insert_with(|| shared.count_dump())
    }
}

impl Drop for StepRecorder {
    fn drop(&mut self) {
        self.write_statistics();
        let shared = self.collector.shared();
        if !self.dump.is_empty() {
            let reason = self.trigger.take().unwrap_or_default();
            let payload = Payload::Dump(std::mem::take(&mut self.dump), reason);
            shared.push_record(self.at, payload);
        }
    }
}
