//! `GET /api/pipeline`: the data pipeline of a run and the time that the training waits for data.

use serde::{Deserialize, Serialize};
use trainscope_format::Severity;

mod against;

pub use against::{matched, parameters_by_name};

/// Maximum number of pipelines, and of ranks with times, in one answer: the newest, and the lowest.
pub const MAX_PIPELINES: usize = 64;
/// Maximum number of ranges of steps in one answer.
pub const MAX_STRETCHES: usize = 400;
/// Maximum number of samples of one queue, or of the load of one operation.
pub const MAX_SAMPLES: usize = 120;
/// Maximum number of unreadable files in one answer.
pub const MAX_FAULTS: usize = 20;

/// Data pipelines of a run. Its query is that of `/api/lineage`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PipelineAnswer {
    /// The newest first, without duplicates.
    pub pipelines: Vec<Pipeline>,
    /// Waiting times of steps, if a profile records them.
    pub inputs: Vec<InputTimes>,
    /// `true` if the run has a profile.
    pub has_profile: bool,
    /// Size of an epoch in batches or samples, depending on the writer.
    pub dataset_size: Option<i64>,
    /// Samples per step.
    pub batch_size: Option<i64>,
    /// Files with pipeline measurements that could not be read completely, up to [`MAX_FAULTS`].
    pub faults: Vec<PipelineFault>,
    /// `true` if pipelines, ranks, files or parts of a profile were left out.
    pub cut: bool,
}

/// A file that could not be read completely.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PipelineFault {
    /// Path for display.
    pub path: String,
    /// Description of the error.
    pub reason: String,
}

/// A data pipeline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Pipeline {
    /// Rank that recorded it.
    pub rank: u32,
    /// Step it was recorded at.
    pub step: i64,
    /// Operations, each after its inputs, the first 500.
    pub operations: Vec<PipelineOperation>,
    /// Number of operations.
    pub total: u64,
    /// Time between two samples of its queues, milliseconds; 0 if they were not sampled.
    pub interval_millis: u64,
    /// The bottleneck, if the training waits for data.
    pub slow: Option<SlowOperation>,
    /// Processors of the machine that it ran on; 0 if unknown.
    pub processors: u64,
}

/// The bottleneck of a pipeline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SlowOperation {
    /// Index of the operation.
    pub operation: u32,
    /// Mean fill of the queue before it, 0 to 1; `None` for a source.
    pub fill_before: Option<f64>,
    /// Estimated best-case step times with more workers; the first row is the measured one. Empty if the times do not
    /// allow an estimate.
    pub more_workers: Vec<WorkersEstimate>,
}

/// Step time with a number of workers of the slowest operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkersEstimate {
    /// Its workers.
    pub workers: u64,
    /// Mean time of a step, nanoseconds.
    pub step_nanos: u64,
}

/// An operation of a data pipeline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PipelineOperation {
    /// Name; empty if the file has none.
    pub name: String,
    /// Names and values as short text.
    pub parameters: Vec<(String, String)>,
    /// Transforms of each sample, in order.
    pub transforms: Vec<PipelinePart>,
    /// Sampler, if it has one.
    pub sampler: Option<PipelinePart>,
    /// Indices of the operations that feed it.
    pub inputs: Vec<u32>,
    /// Number of operations before it on the longest path from a source.
    pub column: u32,
    /// Row of its first source.
    pub row: u32,
    /// Measurements, if they were recorded.
    pub running: Option<OperationStats>,
}

/// Measurements of an operation. Without samples it has no queue, or the queue was not sampled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OperationStats {
    /// Threads or processes that worked on it.
    pub workers: u64,
    /// Capacity of the queue behind it.
    pub capacity: u64,
    /// Mean fill of that queue, 0 to 1.
    pub fill: f64,
    /// Number of samples.
    pub samples: u64,
    /// `true` if there are enough samples to judge.
    pub judged: bool,
    /// Number of samples with an empty queue.
    pub empty: u64,
    /// Queue length at each sample; the minimum of consecutive samples if there are more than [`MAX_SAMPLES`].
    pub sizes: Vec<u64>,
    /// Share of its workers' time spent computing, 0 to 1, where 1 is a processor each; `None` if not measured.
    pub busy: Option<f64>,
    /// The same for each sample, not above 1; the maximum of consecutive samples if there are more than
    /// [`MAX_SAMPLES`].
    pub busy_samples: Vec<f64>,
}

/// A part of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PipelinePart {
    /// Name of the part.
    pub name: String,
    /// Names and values as short text.
    pub parameters: Vec<(String, String)>,
}

/// Times that the steps of a rank waited for data, from its profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InputTimes {
    /// The rank.
    pub rank: u32,
    /// Source of the times.
    pub clock: InputClock,
    /// The lane that trains and waits; empty if the times do not come from spans.
    pub lane: String,
    /// Steps that were profiled.
    pub steps: u64,
    /// Share of the step time spent waiting, 0 to 1.
    pub share: f64,
    /// `true` if there are enough steps to judge.
    pub judged: bool,
    /// Severity; `None` if it is harmless or was not judged.
    pub severity: Option<Severity>,
    /// Mean time of a step, nanoseconds.
    pub mean_whole_nanos: u64,
    /// Mean waiting time of a step, nanoseconds.
    pub mean_input_nanos: u64,
    /// The step that waited longest.
    pub longest: StepTime,
    /// State of the queue when batches were requested, if it was recorded.
    pub found: Option<InputQueue>,
    /// Steps in order, reduced to the one of each range that waited longest. Up to [`MAX_STRETCHES`].
    pub stretches: Vec<StepTime>,
}

/// Source of the times in [`InputTimes`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum InputClock {
    /// The program, by spans of one lane.
    #[default]
    Spans,
    /// The data set, at each request for a batch: a step is the time between two requests; the first one is not
    /// counted.
    Iterator,
    /// The transfer of batches to the device, which waits only if its queue runs empty.
    Device,
}

/// State of the queue when batches were requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InputQueue {
    /// Batches with a recorded queue length, without the very first one.
    pub batches: u64,
    /// Number of batches that found it empty.
    pub empty: u64,
    /// Time that the very first batch took, nanoseconds.
    pub first_nanos: u64,
}

/// Total and waiting time of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepTime {
    /// The step.
    pub step: i64,
    /// The last step of its range.
    pub last_step: i64,
    /// Total time, nanoseconds.
    pub whole_nanos: u64,
    /// Waiting time, nanoseconds.
    pub input_nanos: u64,
}
