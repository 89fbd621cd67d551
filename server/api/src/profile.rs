//! `GET /api/profile…`: profiles of a run, and what they say about its steps, operators, memory and ranks.
//!
//! Times are nanoseconds since the start of the session unless a field says otherwise, as integers below 2^53.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use trainscope_format::Severity;

mod device;
mod diff;
mod flame;
mod memory;
mod operators;
mod parts;
mod ranks;
mod sql;

pub use device::{Delays, DeviceFigures, DeviceShare, IdleTotal};
pub use diff::{OperatorDifference, ProfileDiff, ProfileDiffQuery};
pub use flame::{FlameAnswer, FlameFrame, FlameQuery};
pub use memory::{
    MemoryAnswer, MemoryCategory, MemoryFailure, MemoryFrame, MemoryGrowth, MemoryHolder,
    MemoryQuery, MemorySeries, without_folders,
};
pub use operators::{
    OperatorAnswer, OperatorGroup, OperatorQuery, OperatorsAnswer, OperatorsQuery,
};
pub use parts::{Parts, TimeKind};
pub use ranks::{
    CollectiveRow, GroupRow, LateBy, LateCause, LinkRow, MeetingRow, RankRow, RankTrack,
    RanksAnswer, StepPair, Straggler,
};
pub use sql::{
    MAX_SQL_BYTES, MAX_SQL_ROWS, MAX_SQL_SECONDS, SqlAnswer, SqlColumn, SqlRequest, SqlTable,
    SqlValue, TABLES,
};

use crate::Sentence;

/// Maximum number of stretches of steps in one answer.
pub const MAX_STRETCHES: usize = 400;
/// Maximum number of rows of operators in one answer.
pub const MAX_OPERATORS: usize = 5_000;
/// Rows of operators of one answer by default.
pub const DEFAULT_OPERATORS: usize = 200;
/// Maximum number of frames of a flame chart.
pub const MAX_FRAMES: usize = 5_000;
/// Maximum number of points of a series of memory.
pub const MAX_MEMORY_POINTS: usize = 800;

/// The query of every resource of a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct ProfileQuery {
    /// Name of the run.
    pub run: String,
    /// Id of the session; the newest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Rank; the lowest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// First step; all whole steps if both are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_step: Option<i64>,
    /// Last step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_step: Option<i64>,
}

/// Profiles of a run: sessions × ranks, the newest session first, in it the lowest rank first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProfileList {
    /// One row for each session and rank.
    pub sessions: Vec<ProfileEntry>,
    /// Files of profilers that cannot be read, with the reason and the way to export them.
    pub unread: Vec<UnreadProfile>,
    /// `true` if sessions were left out.
    pub cut: bool,
}

/// A file of a profiler that is not read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UnreadProfile {
    /// Path for display.
    pub path: String,
    /// Reason.
    pub reason: String,
}

/// State of the reading of a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ProfileState {
    /// Its files are being read.
    Reading,
    /// Read completely.
    #[default]
    Whole,
    /// Its file ends before its last event is complete; everything before is shown.
    Truncated,
    /// Parts of it could not be read; everything else is shown.
    Damaged,
    /// None of it could be read.
    Unreadable,
}

/// One session of one rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProfileEntry {
    /// Id of the session, for queries.
    pub session: String,
    /// Rank.
    pub rank: u32,
    /// `kineto`, `chrome`, `mindspore`, `spans`, `xplane` or `folded`.
    pub format: String,
    /// Paths of its files for display.
    pub files: Vec<String>,
    /// State of the reading.
    pub state: ProfileState,
    /// Bytes read so far.
    pub read_bytes: u64,
    /// Bytes of its files.
    pub total_bytes: u64,
    /// Begin on the clock of the file, nanoseconds; empty while it is not read.
    pub origin_nanos: String,
    /// Begin since 1970, nanoseconds; `None` if the clock counts from an unknown moment.
    pub unix_nanos: Option<String>,
    /// Length.
    pub extent_nanos: i64,
    /// Number of events.
    pub events: u64,
    /// Number of steps.
    pub steps: u64,
    /// First and last step; `None` without steps.
    pub step_range: Option<(i64, i64)>,
    /// Source of the steps.
    pub steps_from: StepSource,
    /// Number of operators by name.
    pub operators: u64,
    /// Kinds of data in it.
    pub has: ProfileContent,
    /// Places that could not be read.
    pub damaged: u64,
    /// Problems, as sentences.
    pub faults: Vec<String>,
}

/// Kinds of data in a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct ProfileContent {
    /// Kernels or copies of a device.
    pub device: bool,
    /// Allocations.
    pub memory: bool,
    /// Python frames.
    pub stacks: bool,
    /// Shapes of the inputs of operators.
    pub shapes: bool,
    /// Collectives.
    pub communication: bool,
    /// Operators.
    pub operators: bool,
}

/// Source of the steps of a profile, in the order in which they are tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum StepSource {
    /// `ProfilerStep#N`.
    ProfilerStep,
    /// Steps of native spans.
    Spans,
    /// Step numbers of tables.
    Table,
    /// Executions of the operators of a compiled graph.
    Executions,
    /// Guessed from annotations that repeat.
    Annotations,
    /// No steps: the whole trace counts as one.
    #[default]
    None,
}

/// Answer of `GET /api/profile/overview`, and `export --kind profile --format json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProfileOverview {
    /// One session of one rank in the answer of the server; all of them in an export.
    pub sessions: Vec<SessionSummary>,
}

/// Everything that is computed of one session of one rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionSummary {
    /// Id of the session.
    pub session: String,
    /// Rank.
    pub rank: u32,
    /// `kineto`, `chrome`, `mindspore`, `spans`, `xplane` or `folded`.
    pub format: String,
    /// Paths of its files for display.
    pub files: Vec<String>,
    /// State of the reading.
    pub state: ProfileState,
    /// Places that could not be read.
    pub damaged: u64,
    /// Host that recorded it, if the file says so.
    pub host: Option<String>,
    /// Name of its first device, if it has one.
    pub device_name: Option<String>,
    /// Begin on the clock of the file.
    pub origin_nanos: String,
    /// Begin since 1970; `None` if the clock counts from an unknown moment.
    pub unix_nanos: Option<String>,
    /// Length.
    pub extent_nanos: i64,
    /// Number of events of all phases.
    pub events: u64,
    /// Events by phase.
    pub by_phase: BTreeMap<String, u64>,
    /// Events of phases that are not shown.
    pub unread: BTreeMap<String, u64>,
    /// Slices that begin within another one of their lane and end after it.
    pub unnested: u64,
    /// Slices by category.
    pub categories: BTreeMap<String, CategoryTotal>,
    /// Lanes that have slices.
    pub lanes: Vec<LaneTotal>,
    /// Pairs of flows by category.
    pub flows: BTreeMap<String, u64>,
    /// Flows without an end.
    pub flows_without_end: u64,
    /// Source of the steps.
    pub steps_from: StepSource,
    /// Name of the annotation that the steps are guessed from, if they are.
    pub steps_by: Option<String>,
    /// Added to the numbers of the profiler to give those of the training; 0 if that is unknown.
    pub step_offset: i64,
    /// Steps in the range of the query, or ranges of steps represented by the longest one of each, up to
    /// [`MAX_STRETCHES`] in the answer of the server.
    pub steps: Vec<ProfileStep>,
    /// Number of steps in the range.
    pub step_count: u64,
    /// Number of them that are whole.
    pub whole_steps: u64,
    /// Median length of the whole steps.
    pub median_step_nanos: i64,
    /// Mean length of the whole steps.
    pub mean_step_nanos: i64,
    /// Length that 95 % of the whole steps do not exceed.
    pub p95_step_nanos: i64,
    /// Median absolute deviation of their lengths.
    pub mad_step_nanos: i64,
    /// Numbers of the outliers: longer than median + 5 MAD and than 1.05 medians.
    pub outliers: Vec<i64>,
    /// The kind of time that grew most in the outliers; `None` without any.
    pub outlier_growth: Option<KindGrowth>,
    /// Mean of each part over the whole steps.
    pub mean_parts_nanos: Parts,
    /// Figures of the device, if it has one.
    pub device: Option<DeviceFigures>,
    /// Each device of a recording of several; empty for a single one.
    pub devices: Vec<DeviceShare>,
    /// Idle time of streams by cause.
    pub idle: Vec<IdleTotal>,
    /// Activity of the host while the device waited for it, by kind.
    pub host_while_idle_nanos: BTreeMap<String, i64>,
    /// Segments of the critical paths of all steps by kind.
    pub critical_path_nanos: BTreeMap<String, i64>,
    /// Launch delays; `None` without launches.
    pub launch_delay_nanos: Option<Delays>,
    /// Memory by device.
    pub memory: Vec<MemoryTotal>,
    /// FLOPs by operator, without what is recomputed for the backward pass.
    pub flops: BTreeMap<String, u64>,
    /// Peak of the first device in FLOP per second for these FLOPs, each type of number at its own peak; `None` without
    /// FLOPs or for a device whose peak is not known.
    #[serde(default)]
    pub peak_flops: Option<f64>,
    /// Share of the device time of operators that multiply matrices whose FLOPs are known, 0 to 1; `None` without any.
    #[serde(default)]
    pub counted_flops: Option<f64>,
    /// Measurements of the data set's iterator, if it was profiled.
    pub input: Option<InputShare>,
    /// The ten operators with the most self time; all of them in an export.
    pub operators: Vec<OperatorRow>,
    /// Number of operators by name.
    pub operator_count: u64,
    /// Advice that was found, the largest gain first.
    pub advice: Vec<Advice>,
    /// Rules that were judged and found nothing, by id.
    pub passed: Vec<String>,
    /// Rules that could not be judged.
    pub not_judged: Vec<NotJudged>,
    /// Sentence for the head of the page.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::Sentence))]
    pub sentence: Sentence,
    /// Sentence below it; empty if there is none.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::Sentence))]
    pub detail: Sentence,
    /// Reason, with its number, why rules about the times of steps that found nothing were not judged; `None` if they were.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::Sentence>))]
    pub unjudged: Option<Sentence>,
}

/// Slices of a category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CategoryTotal {
    /// Number of slices.
    pub count: u64,
    /// Sum of their durations.
    pub nanos: u64,
}

/// Slices of a lane.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LaneTotal {
    /// Process.
    pub process: String,
    /// Thread.
    pub thread: String,
    /// Number of slices.
    pub slices: u64,
    /// Sum of their durations.
    pub nanos: u64,
    /// Rows of nested slices.
    pub rows: u32,
}

/// A kind of time of which the outliers have more than the other steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KindGrowth {
    /// The kind. Without a device, operators on the host are `compute`.
    pub kind: TimeKind,
    /// Mean of the outliers less the mean of the other whole steps.
    pub nanos: i64,
}

/// A step, or the longest of several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProfileStep {
    /// Number as the profiler counts.
    pub number: i64,
    /// Number of steps that it represents.
    pub of_steps: u64,
    /// Begin.
    pub begin_nanos: i64,
    /// End.
    pub end_nanos: i64,
    /// Parts; they add up to its length.
    pub parts_nanos: Parts,
    /// Communication, hidden or not.
    pub communication_nanos: i64,
    /// Communication during kernels that compute.
    pub hidden_nanos: i64,
    /// Time during which the device was busy.
    pub busy_nanos: i64,
    /// Phases in order of time, for the page of steps.
    pub phases: Vec<Phase>,
    /// `false` for steps that the recording cut off; they are not part of means.
    pub is_whole: bool,
    /// `true` for an outlier.
    pub is_outlier: bool,
}

/// A phase of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Phase {
    /// Kind of phase.
    pub kind: PhaseKind,
    /// Begin.
    pub begin_nanos: i64,
    /// End.
    pub end_nanos: i64,
}

/// Kinds of phases.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PhaseKind {
    /// Waiting for data.
    Data,
    /// Forward pass.
    Forward,
    /// Backward pass.
    Backward,
    /// Update of the weights.
    Update,
    /// Communication.
    Communication,
    /// Anything else on the host.
    #[default]
    Host,
    /// Between two steps.
    Interval,
    /// Forward and backward pass, where the recording does not tell them apart.
    Training,
    /// Parts of the forward pass that run again within the backward pass (activation checkpointing).
    Recomputation,
}

/// Allocations of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MemoryTotal {
    /// Type and index, as `0:-1` for the host.
    pub device: String,
    /// Number of events.
    pub events: u64,
    /// Number of allocations.
    pub allocations: u64,
    /// Number of releases.
    pub frees: u64,
    /// Allocations with their release.
    pub pairs: u64,
    /// Releases of memory that was allocated before the recording began.
    pub freed_unseen: u64,
    /// Allocations that were not released in the recording.
    pub never_freed: u64,
    /// Most bytes allocated.
    pub peak_len_bytes: u64,
    /// Time of the peak.
    pub peak_at_nanos: i64,
    /// Step of the peak, as the profiler counts.
    pub peak_step: Option<i64>,
    /// Most bytes reserved.
    pub peak_reserved_bytes: u64,
    /// Size of the device; 0 if unknown.
    pub device_len_bytes: u64,
    /// `true` if bytes count from the start of the recording, not of the program.
    pub since_recording: bool,
    /// `true` if the file has no addresses: allocations and releases are not paired.
    #[serde(default)]
    pub without_addresses: bool,
    /// Number of allocations that failed for want of memory.
    #[serde(default)]
    pub failures: u64,
    /// `true` if the recording has call stacks: purposes and holders follow from them.
    #[serde(default)]
    pub by_stacks: bool,
}

impl MemoryTotal {
    /// Peak as a share of the device, 0 to 1; `None` if the size of the device is unknown, or what was allocated before
    /// the recording.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let is_known = self.device_len_bytes > 0 && !self.since_recording;
        is_known.then(|| self.peak_len_bytes as f64 / self.device_len_bytes as f64)
    }
}

/// Measurements of the iterator of a data set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InputShare {
    /// Share of the time that the training waited, 0 to 1, the first batch left out.
    pub share: f64,
    /// Number of batches.
    pub batches: u64,
    /// `true` if there are enough batches to judge.
    pub is_judged: bool,
    /// Mean waiting time of a batch.
    pub mean_waited_nanos: i64,
    /// Mean time from one batch to the next.
    pub mean_whole_nanos: i64,
    /// Number of batches that found an empty queue.
    pub empty: u64,
}

/// Peak that the shortest time of an operator follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Bound {
    /// The rate of its units.
    Compute,
    /// The bandwidth of its memory.
    Memory,
}

/// Totals of an operator or kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OperatorRow {
    /// Name; with a group by type, scope or shape the text of the group.
    pub name: String,
    /// Type.
    pub r#type: String,
    /// Shapes of the inputs, for groups by shape.
    pub shapes: String,
    /// Calls.
    pub calls: u64,
    /// Time without children.
    pub self_nanos: i64,
    /// Time with children.
    pub total_nanos: i64,
    /// Mean time of a call.
    pub mean_nanos: i64,
    /// Median time of a call.
    pub median_nanos: i64,
    /// Time that 99 % of the calls do not exceed.
    pub p99_nanos: i64,
    /// Self time a step.
    pub self_step_nanos: i64,
    /// Share of the self time of all operators, 0 to 1.
    pub share: f64,
    /// Time of the kernels that it launched itself.
    pub device_self_nanos: i64,
    /// Time of the kernels that it and its children launched.
    pub device_total_nanos: i64,
    /// FLOPs of all calls; 0 if unknown.
    pub flops: u64,
    /// Bytes that its calls on a device move at least, each input and each output once; 0 if unknown.
    #[serde(default)]
    pub bytes: u64,
    /// Time of the kernels of these calls.
    #[serde(default)]
    pub bytes_nanos: i64,
    /// Shortest time for the FLOPs and bytes of these calls at the peaks of the device, divided by the time of their
    /// kernels: above 1 where caches hide bytes; `None` if unknown.
    #[serde(default)]
    pub roofline: Option<f64>,
    /// The peak that this shortest time follows from.
    #[serde(default)]
    pub bound: Option<Bound>,
    /// Mean occupancy of its kernels, 0 to 1; `None` if unknown.
    pub occupancy: Option<f64>,
    /// `true` for a kernel that uses tensor cores.
    pub tensor_cores: bool,
    /// Phase of most of its time.
    pub phase: PhaseKind,
}

/// A finding about a profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Advice {
    /// Id of the condition.
    pub id: String,
    /// Severity.
    pub severity: Severity,
    /// Measured value.
    pub value: f64,
    /// Limit.
    pub limit: f64,
    /// Time a step that it would save at best; 0 if it saves no time.
    pub gain_nanos: i64,
    /// Title: the thing to do.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::Sentence))]
    pub title: Sentence,
    /// Evidence.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::Sentence))]
    pub evidence: Sentence,
    /// Line of code or setting that changes it; empty if there is none.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::Sentence))]
    pub remedy: Sentence,
    /// Search that frames its slices in the timeline; empty if there is none.
    pub search: String,
    /// Step with the clearest evidence, as the profiler counts.
    pub step: Option<i64>,
    /// Rank that it is about; the rank of the profile if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// `true` if the data pipeline shows the evidence, and no slice does: it is from the profile of the data set.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_pipeline: bool,
}

/// A rule that could not be judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NotJudged {
    /// Id of the condition.
    pub id: String,
    /// Reason.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::Sentence))]
    pub reason: Sentence,
    /// False if the profile lacks the subject of the rule, such as other ranks, or no baseline was given.
    pub applies: bool,
}
