//! Measurements of a data pipeline: its operations with workers and queues, and the times of batches.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::stretch::Stretch;

/// Size limit of these files: a hundred bytes per batch, or a few per sample.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// Profiler files of a data pipeline. New ones are appended: the order is part of the stored form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueFormat {
    /// `pipeline_profiling_<rank>.json` of `MindSpore`: operations, and samples of their queues.
    MinddataOperators,
    /// `dataset_iterator_profiling_<rank>.txt` of `MindSpore`: batches as requested by the program.
    MinddataIterator,
    /// `device_queue_profiling_<rank>.txt` of `MindSpore`: batches as sent to the device.
    MinddataDevice,
    /// `minddata_cpu_utilization_<rank>.json` of `MindSpore`: samples of the processor load of each operation.
    MinddataCpu,
}

/// Reference to a file of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSource {
    /// Format.
    pub format: QueueFormat,
    /// Byte range.
    pub data: Stretch,
}

/// Measured operations of a data pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operators {
    /// Time between two samples of the queues; 0 if unknown.
    pub interval_millis: u64,
    /// In the order of the file, the first [`Operators::MOST`].
    pub operators: Vec<Operator>,
    /// Number of operations in the file.
    pub total: usize,
    /// Processors of the machine; 0 if unknown.
    pub processors: u64,
}

/// A measured operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operator {
    /// Id in the other files of the same recording.
    pub id: i64,
    /// Name: `Map`, `Batch`, …
    pub name: String,
    /// Threads, or processes, that work on it.
    pub workers: u64,
    /// Output queue; `None` if it runs within the operation that it feeds.
    pub queue: Option<Queue>,
    /// Input operations, as indices.
    pub inputs: Vec<usize>,
    /// Processor load of all its workers per sample, in percent of one processor; empty if not measured.
    pub cpu_percent: Vec<u64>,
}

/// Processor load of the operations of a data pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processors of the machine; 0 if unknown.
    pub processors: u64,
    /// Load per sample by [`Operator::id`], in percent of one processor. The first [`Operators::MOST`].
    pub operators: Vec<(i64, Vec<u64>)>,
    /// Number of operations in the file.
    pub total: usize,
}

/// The sampled output queue of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Capacity.
    pub capacity: u64,
    /// Length at each sample.
    pub sizes: Vec<u64>,
}

/// Batches in the order in which they were taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batches {
    /// All batches of the file.
    pub batches: Vec<Batch>,
    /// Number of malformed lines.
    pub skipped_lines: u64,
    /// `true` if the last line is incomplete.
    pub is_torn: bool,
}

/// A batch that was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Its number, starting at 1.
    pub step: i64,
    /// Time at which it was available, by a clock with an arbitrary origin.
    pub at_millis: i64,
    /// Time spent waiting for the pipeline.
    pub wait_millis: Option<u64>,
    /// Length and capacity of the queue at that time.
    pub queue: Option<(u64, u64)>,
}

/// Error for bytes that are not a list of operations; the sentence has the position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotOperators(pub(crate) String);

impl Operators {
    /// Maximum number of operations read from one file.
    pub const MOST: usize = 1_000;

    /// Adds the processor load of the same operations.
    pub fn take_usage(&mut self, usage: &Usage) {
        self.processors = usage.processors;
        let by_id: HashMap<i64, &Vec<u64>> = usage
            .operators
            .iter()
            .map(|(id, samples)| (*id, samples))
            .collect();
        for operator in &mut self.operators {
            if let Some(samples) = by_id.get(&operator.id) {
                operator.cpu_percent.clone_from(samples);
            }
        }
    }
}

impl Queue {
    /// Mean fill of the queue, 0 to 1; `None` without samples or capacity.
    pub fn mean_fill(&self) -> Option<f64> {
        let room = self.capacity as f64 * self.sizes.len() as f64;
        let held: f64 = self.sizes.iter().map(|size| *size as f64).sum();
        (room > 0.0).then(|| (held / room).min(1.0))
    }

    /// Number of samples with an empty queue.
    pub fn empty_samples(&self) -> usize {
        self.sizes.iter().filter(|size| **size == 0).count()
    }
}
