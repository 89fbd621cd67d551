//! How a data pipeline ran: its operations with their workers and queues, and when each batch was taken.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::stretch::Stretch;

/// Files of this kind are read up to here: a hundred bytes a batch, or a few a sample.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// What a file says of the running of a data pipeline. New ones are appended: the order is part of the stored form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueFormat {
    /// `pipeline_profiling_<rank>.json` of `MindSpore`: operations, and samples of their queues.
    MinddataOperators,
    /// `dataset_iterator_profiling_<rank>.txt` of `MindSpore`: batches, as the program took them.
    MinddataIterator,
    /// `device_queue_profiling_<rank>.txt` of `MindSpore`: batches, as they went to the device.
    MinddataDevice,
    /// `minddata_cpu_utilization_<rank>.json` of `MindSpore`: samples of what each operation takes of the processors.
    MinddataCpu,
}

/// Where a file of this kind lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSource {
    /// How to read it.
    pub format: QueueFormat,
    /// Where it lies.
    pub data: Stretch,
}

/// The operations of a data pipeline as they ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operators {
    /// Time between two samples of the queues; 0 if the file does not say.
    pub interval_millis: u64,
    /// In the order of the file, the first [`Operators::MOST`].
    pub operators: Vec<Operator>,
    /// How many there are.
    pub total: usize,
    /// Processors of the machine; 0 if nobody has counted them.
    pub processors: u64,
}

/// An operation that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operator {
    /// What other files of the same recording call it.
    pub id: i64,
    /// What it is called: `Map`, `Batch`, …
    pub name: String,
    /// Threads, or processes, that work on it.
    pub workers: u64,
    /// Where it puts what it has made; `None` if it runs within the operation that it feeds.
    pub queue: Option<Queue>,
    /// What feeds it, as indices of operators.
    pub inputs: Vec<usize>,
    /// What all its workers took of the processors, sample by sample, in percent of one; empty if nobody has looked.
    pub cpu_percent: Vec<u64>,
}

/// What the operations of a data pipeline took of the processors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processors of the machine; 0 if the file does not say.
    pub processors: u64,
    /// By [`Operator::id`], sample by sample, in percent of one processor. The first [`Operators::MOST`].
    pub operators: Vec<(i64, Vec<u64>)>,
    /// How many there are.
    pub total: usize,
}

/// The queue behind an operation, looked at from time to time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// How much it holds.
    pub capacity: u64,
    /// How much it held, sample by sample.
    pub sizes: Vec<u64>,
}

/// Batches in the order in which they were taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batches {
    /// All that the file tells of.
    pub batches: Vec<Batch>,
    /// Lines that are not what they should be.
    pub skipped_lines: u64,
    /// Whether the last line is not whole.
    pub is_torn: bool,
}

/// A batch that was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Its number, from 1 on.
    pub step: i64,
    /// When it was there, by a clock that may begin anywhere.
    pub at_millis: i64,
    /// How long getting it from the pipeline took.
    pub wait_millis: Option<u64>,
    /// What the queue held then, and how much it can.
    pub queue: Option<(u64, u64)>,
}

/// The bytes are not a list of operations; the sentence says where that shows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotOperators(pub(crate) String);

impl Operators {
    /// Operators of one file that are read.
    pub const MOST: usize = 1_000;

    /// Takes over what the same operations took of the processors.
    pub fn take_usage(&mut self, usage: &Usage) {
        self.processors = usage.processors;
        let by_id: HashMap<i64, &Vec<u64>> = usage
            .operators
            .iter()
            .map(|(id, samples)| (*id, samples))
            .collect();
        for own in &mut self.operators {
            if let Some(samples) = by_id.get(&own.id) {
                own.cpu_percent.clone_from(samples);
            }
        }
    }
}

impl Queue {
    /// The share of the queue that was filled on the mean, 0 to 1; `None` without samples or room.
    pub fn mean_fill(&self) -> Option<f64> {
        let room = self.capacity as f64 * self.sizes.len() as f64;
        let held: f64 = self.sizes.iter().map(|size| *size as f64).sum();
        (room > 0.0).then(|| (held / room).min(1.0))
    }

    /// How many samples found it empty.
    pub fn empty_samples(&self) -> usize {
        self.sizes.iter().filter(|size| **size == 0).count()
    }
}
