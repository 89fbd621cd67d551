//! `GET /api/pipeline`: how the data of a run are made, and how long the training waits for them.

use serde::{Deserialize, Serialize};
use trainscope_format::Severity;

/// Pipelines, and ranks whose times are told, of one answer at most: the newest, and the lowest.
pub const MAX_PIPELINES: usize = 64;
/// Stretches of steps of one answer at most.
pub const MAX_STRETCHES: usize = 400;
/// Stretches of samples of one queue, or of the work of one operation, at most.
pub const MAX_SAMPLES: usize = 120;
/// Files that could not be read, of one answer at most.
pub const MAX_FAULTS: usize = 20;

/// What is known of the data of a run. Its query is that of `/api/lineage`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PipelineAnswer {
    /// The newest first, those that are the same once.
    pub pipelines: Vec<Pipeline>,
    /// Where a profile says how long steps waited for data.
    pub inputs: Vec<InputTimes>,
    /// Whether the run has recorded a profile at all.
    pub has_profile: bool,
    /// Batches of an epoch, or samples: writers differ.
    pub dataset_size: Option<i64>,
    /// Samples a step.
    pub batch_size: Option<i64>,
    /// Files that say how a pipeline ran and could not be read, or not to their end. Up to [`MAX_FAULTS`].
    pub faults: Vec<PipelineFault>,
    /// Whether pipelines, ranks, files or parts of a profile were left out.
    pub cut: bool,
}

/// A file that could not be read, or not to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PipelineFault {
    /// The file, for people.
    pub path: String,
    /// What is wrong with it.
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
    /// Each after all that feed it, the first 500.
    pub operations: Vec<PipelineOperation>,
    /// How many there are.
    pub total: u64,
    /// Time between two samples of its queues, milliseconds; 0 if nobody has looked at them.
    pub interval_millis: u64,
    /// The operation that the rest waits for, if the training waits.
    pub slow: Option<SlowOperation>,
    /// Processors of the machine that it ran on; 0 if nobody has counted them.
    pub processors: u64,
}

/// The operation that the rest waits for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SlowOperation {
    /// As an index of operations.
    pub operation: u32,
    /// The share of the queue before it that was filled on the mean, 0 to 1; `None` for a source.
    pub fill_before: Option<f64>,
    /// How long a step would take with more workers, at best; the first row is how it was. Empty where the times do not
    /// carry an estimate.
    pub more_workers: Vec<WorkersEstimate>,
}

/// How long steps would take with so many workers of the slow operation.
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
    /// What it is called; empty if the file does not say.
    pub name: String,
    /// Names and values as short text.
    pub parameters: Vec<(String, String)>,
    /// What it does to each sample, in order.
    pub transforms: Vec<PipelinePart>,
    /// How it chooses samples.
    pub sampler: Option<PipelinePart>,
    /// What feeds it, as indices of operations.
    pub inputs: Vec<u32>,
    /// How many operations lie before it on the longest way from a source.
    pub column: u32,
    /// The row of its first source.
    pub row: u32,
    /// How it ran, if somebody has watched.
    pub running: Option<Running>,
}

/// How an operation ran. Without samples it has no queue, or nobody has looked at it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Running {
    /// Threads, or processes, that worked on it.
    pub workers: u64,
    /// How much the queue behind it holds.
    pub capacity: u64,
    /// The share of it that was filled on the mean, 0 to 1.
    pub fill: f64,
    /// How many samples were taken.
    pub samples: u64,
    /// True if that is enough to judge.
    pub judged: bool,
    /// How many of them found it empty.
    pub empty: u64,
    /// What it held, sample by sample; the least of each stretch where there are more than [`MAX_SAMPLES`].
    pub sizes: Vec<u64>,
    /// The share of its workers' time that they computed, 0 to 1, where 1 is a processor each; `None` if nobody has looked.
    pub busy: Option<f64>,
    /// The same sample by sample, not above 1; the greatest of each stretch where there are more than [`MAX_SAMPLES`].
    pub busy_samples: Vec<f64>,
}

/// A part of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PipelinePart {
    /// What it is called.
    pub name: String,
    /// Names and values as short text.
    pub parameters: Vec<(String, String)>,
}

/// How long the steps of a rank waited for data, as its profile says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InputTimes {
    /// The rank.
    pub rank: u32,
    /// Who took the times.
    pub clock: InputClock,
    /// The lane that trains, and waits; empty if these are not spans.
    pub lane: String,
    /// Steps that were profiled.
    pub steps: u64,
    /// The share of their time that was waiting, 0 to 1.
    pub share: f64,
    /// True if there are enough steps to judge.
    pub judged: bool,
    /// Severity; `None` if it is no matter, or not judged.
    pub severity: Option<Severity>,
    /// Mean time of a step, nanoseconds.
    pub mean_whole_nanos: u64,
    /// Mean waiting of a step, nanoseconds.
    pub mean_input_nanos: u64,
    /// The step that waited longest.
    pub longest: StepTime,
    /// What batches found in the queue, where somebody has looked.
    pub found: Option<InputQueue>,
    /// Steps in order, one of each stretch: the one that waited longest in it. Up to [`MAX_STRETCHES`].
    pub stretches: Vec<StepTime>,
}

/// Who took the times of [`InputTimes`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum InputClock {
    /// The program, by spans of one lane.
    #[default]
    Spans,
    /// The data set, whenever it was asked for a batch: from one to the next is a step, and the first is not counted.
    Iterator,
    /// Whatever brings batches to the device, which waits only if its queue runs empty.
    Device,
}

/// What batches found in the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InputQueue {
    /// Batches whose queue was looked at, without the first one of all.
    pub batches: u64,
    /// How many of them found it empty.
    pub empty: u64,
    /// How long the first batch of all took, nanoseconds.
    pub first_nanos: u64,
}

/// How long a step took, and how much of it was waiting for data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepTime {
    /// The step.
    pub step: i64,
    /// The last step of its stretch.
    pub last_step: i64,
    /// How long it took, nanoseconds.
    pub whole_nanos: u64,
    /// How long it waited, nanoseconds.
    pub input_nanos: u64,
}
