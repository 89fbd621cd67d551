//! Event files of a run for a comparison: scalars, statistics and hyper-parameters.

use std::collections::BTreeMap;
use std::sync::Arc;

use trainscope_analysis::watchpoint::Context;
use trainscope_format::hparams::HparamValue;
use trainscope_format::{Hparams, TensorSummary};

use crate::discovery::runs::RunFiles;
use crate::judging::events::{EventRecords, Listener};
use crate::reader::Buffers;

/// Recorded data by rank and tag.
#[derive(Debug, Default)]
pub(super) struct RecordedData {
    /// Points by step; the last one of equal steps.
    pub(super) scalars: BTreeMap<(u32, Arc<str>), BTreeMap<i64, f64>>,
    pub(super) statistics: BTreeMap<(u32, Arc<str>), BTreeMap<i64, TensorSummary>>,
    /// Hyper-parameters by name.
    pub(super) hparams: BTreeMap<String, String>,
    /// Unsupported element types, by the names of their tensors.
    pub(super) opaque: BTreeMap<String, String>,
    /// Number of nodes of each operation in the largest graph.
    pub(super) operations: BTreeMap<String, u64>,
}

impl RecordedData {
    /// Reads all event files of a run; errors are returned with file, offset and reason.
    pub(super) fn read(run: &RunFiles) -> (Self, Vec<(Arc<str>, u64, String)>) {
        let mut recorded = Self::default();
        let mut faults = Vec::new();
        let mut buffers = Buffers::default();
        for (&rank, found) in &run.ranks {
            for source in &found.events {
                let mut records = EventRecords::new(source, rank, false, None);
                records.advance(i64::MAX, &mut recorded, &mut buffers, &mut |_| {});
                let mut fault = |offset, reason: &str| {
                    faults.push((Arc::clone(&records.shown), offset, reason.to_owned()));
                };
                let file = &records.file;
                if let Some(reason) = &file.unreadable {
                    fault(0, reason);
                }
                for damage in file.damages() {
                    fault(damage.offset, &damage.reason);
                }
            }
        }
        (recorded, faults)
    }
}

impl Listener for RecordedData {
    fn scalar(&mut self, rank: u32, tag: &str, step: i64, _wall_time_secs: f64, value: f64) {
        let points = self.scalars.entry((rank, tag.into())).or_default();
        points.insert(step, value);
    }

    fn statistics(&mut self, rank: u32, tag: &Arc<str>, step: i64, summary: &TensorSummary) {
        let steps = self.statistics.entry((rank, Arc::clone(tag))).or_default();
        steps.insert(step, summary.clone());
    }

    fn opaque(&mut self, _rank: u32, tag: &str, _step: i64, dtype: &str) {
        self.opaque.insert(tag.to_owned(), dtype.to_owned());
    }

    fn context(&mut self, _rank: u32, context: Context<'_>) {
        match context {
            Context::Hparams(Hparams::SessionStart(session)) => {
                for (name, value) in &session.values {
                    let value = match value {
                        HparamValue::Text(text) => text.clone(),
                        HparamValue::Null => String::new(),
                        HparamValue::Bool(yes) => yes.to_string(),
                        HparamValue::Number(number) => number.to_string(),
                    };
                    self.hparams.insert(name.clone(), value);
                }
            }
            Context::Graph(graph) => {
                let mut operations: BTreeMap<String, u64> = BTreeMap::new();
                for node in &graph.nodes {
                    *operations.entry(node.op_type.clone()).or_default() += 1;
                }
                if operations.values().sum::<u64>() > self.operations.values().sum() {
                    self.operations = operations;
                }
            }
            _ => {}
        }
    }
}
