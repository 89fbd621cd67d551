//! Recorder of one training step: its tensors become one record when it ends.

use trainscope_format::encode::Moment;
use trainscope_format::statistics::{Role, TensorSummary};

use crate::collector::Collector;
use crate::dump::DumpTensor;
use crate::entry::Payload;
use crate::statistics;
use crate::tensor::TensorView;

/// Records a step; [`Collector::step`] creates one. Its tensors are written when it is dropped.
#[derive(Debug)]
pub struct StepRecorder<'a> {
    collector: &'a Collector,
    at: Moment,
    statistics: Vec<(String, TensorSummary)>,
    dump: Vec<DumpTensor>,
    dump_bytes: usize,
    /// Reason for recording tensors that no policy selects.
    trigger: Option<String>,
    /// `true` if this step may have a dump; `None` before it was counted.
    may_dump: Option<bool>,
}

impl<'a> StepRecorder<'a> {
    pub(crate) fn new(collector: &'a Collector, at: Moment, trigger: Option<String>) -> Self {
        Self {
            collector,
            at,
            statistics: Vec::new(),
            dump: Vec::new(),
            dump_bytes: 0,
            trigger,
            may_dump: None,
        }
    }

    /// Number of the step.
    pub fn number(&self) -> i64 {
        self.at.step
    }

    /// Records numbers as one event.
    pub fn scalars(&mut self, values: &[(&str, f64)]) {
        self.collector.scalars_at(self.at, values);
    }

    /// `true` if a policy selects a tensor of this name: check it before fetching a tensor from a device.
    pub fn wants(&self, name: &str) -> bool {
        self.wants_statistics(name) || self.wants_dump(name)
    }

    fn wants_statistics(&self, name: &str) -> bool {
        let policy = &self.collector.shared().samples;
        policy.wants(self.at.step, name) || (self.trigger.is_some() && policy.has_name(name))
    }

    fn wants_dump(&self, name: &str) -> bool {
        let policy = &self.collector.shared().dumps;
        policy.wants(self.at.step, name) || (self.trigger.is_some() && policy.has_name(name))
    }

    /// Records a tensor according to the policies. Names are tags: each tensor of a run, including gradients, needs
    /// its own.
    pub fn tensor(&mut self, name: &str, role: Role, view: TensorView<'_>) {
        let shared = self.collector.shared();
        if !self.wants(name) || !shared.is_open(1) {
            return;
        }
        let Some(bytes) = view.elements() else {
            self.lose();
            return;
        };
        if self.wants_statistics(name) {
            let tensor = (name, role);
            let seen = statistics::look(&shared.samples, &shared.memory, tensor, &view, &bytes);
            if seen.is_change_skipped {
                shared
                    .queue
                    .with_report(|report| report.changes_skipped += 1);
            }
            if let Some(histogram) = seen.histogram {
                let payload = Payload::Histogram(name.to_owned(), histogram);
                shared.queue.push_record(self.at, payload);
            }
            let stats = &seen.summary.stats;
            let is_finite = stats.nan + stats.pos_inf + stats.neg_inf == 0;
            if !is_finite && self.trigger.is_none() && shared.count_not_finite() {
                self.trigger = Some(format!("NaN or infinity in {name}"));
            }
            self.statistics.push((name.to_owned(), seen.summary));
        }
        if self.wants_dump(name) && self.may_dump() {
            // A tensor that cannot fit into the queue is not copied in the first place.
            self.dump_bytes = self.dump_bytes.saturating_add(bytes.len());
            if self.dump_bytes > shared.queue.limit_bytes() {
                shared
                    .queue
                    .with_report(|report| report.lost.queue_full += 1);
                return;
            }
            self.dump.push(DumpTensor {
                name: name.to_owned(),
                dtype: view.dtype(),
                shape: view.shape().to_vec(),
                bytes: bytes.into_owned(),
            });
        }
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

impl Drop for StepRecorder<'_> {
    fn drop(&mut self) {
        let shared = self.collector.shared();
        if !self.statistics.is_empty() {
            let payload = Payload::Statistics(std::mem::take(&mut self.statistics));
            shared.push_record(self.at, payload);
        }
        if !self.dump.is_empty() {
            let reason = self.trigger.take().unwrap_or_default();
            let payload = Payload::Dump(std::mem::take(&mut self.dump), reason);
            shared.push_record(self.at, payload);
        }
    }
}
