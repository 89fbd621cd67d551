//! Ranks of a session side by side.

use serde::{Deserialize, Serialize};

use super::{Parts, Phase};
use crate::Sentence;

/// Answer of `GET /api/profile/ranks`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RanksAnswer {
    /// Ranks of the session.
    pub ranks: Vec<RankRow>,
    /// Steps that all ranks recorded, as the profiler counts.
    pub steps: Vec<i64>,
    /// Compute by rank and step, in the order of `ranks` and `steps`.
    pub compute_nanos: Vec<Vec<i64>>,
    /// Waiting for other ranks by rank and step.
    pub wait_nanos: Vec<Vec<i64>>,
    /// Time that all others together wait for a rank, by rank and step: at each collective the last to arrive has it.
    #[serde(default)]
    pub late_nanos: Vec<Vec<i64>>,
    /// Begin of steps by rank and step, on the clock of the session of each rank.
    #[serde(default)]
    pub begin_nanos: Vec<Vec<i64>>,
    /// Length of steps by rank and step.
    pub length_nanos: Vec<Vec<i64>>,
    /// First and last step that the parts of ranks and the sentence are about: those in which the slowest rank is slow;
    /// `None` for all.
    #[serde(default)]
    pub parts_steps: Option<(i64, i64)>,
    /// Ranks that the others wait for, those that cost most first.
    pub stragglers: Vec<Straggler>,
    /// Collectives by name and size.
    pub collectives: Vec<CollectiveRow>,
    /// Communication by process group, where files name groups.
    #[serde(default)]
    pub groups: Vec<GroupRow>,
    /// Traffic between ranks, where files have it.
    #[serde(default)]
    pub links: Vec<LinkRow>,
    /// Time that all ranks together wait for others at collectives, a step.
    pub lost_nanos: i64,
    /// `true` if ranks wait for one another for more than a twentieth of their steps.
    #[serde(default)]
    pub is_uneven: bool,
    /// Compute against collectives in one step of two ranks; `None` without two ranks that have a step in common.
    #[serde(default)]
    pub pair: Option<StepPair>,
    /// Sentence for the head of the page.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::Sentence))]
    pub sentence: Sentence,
    /// `true` if ranks or steps were left out.
    pub cut: bool,
}

/// One rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RankRow {
    /// Rank.
    pub rank: u32,
    /// Host, if the file says so.
    pub host: Option<String>,
    /// Compute in all steps.
    pub compute_nanos: i64,
    /// Waiting for other ranks in all steps.
    pub wait_nanos: i64,
    /// Mean parts of a step, over [`RanksAnswer::parts_steps`].
    pub parts_nanos: Parts,
    /// Mean waiting for other ranks in these steps.
    #[serde(default)]
    pub parts_wait_nanos: i64,
    /// Median length of a step.
    pub median_step_nanos: i64,
    /// Causes of its lateness at the collectives where it was the last.
    #[serde(default)]
    pub late_by: LateBy,
    /// Number of steps in a row in which the others wait for it.
    pub slow_steps: u64,
    /// First of them.
    pub slow_from_step: Option<i64>,
    /// Its clock minus that of the first rank.
    pub offset_nanos: i64,
    /// Most bytes allocated on one of its devices; 0 without events of memory.
    #[serde(default)]
    pub peak_len_bytes: u64,
}

/// Causes of the lateness of a rank: time beyond the median of the other ranks since the collective before, or since the step began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LateBy {
    /// It began the step later, or left the collective before later.
    pub begin_nanos: i64,
    /// Kernels.
    pub compute_nanos: i64,
    /// Copies and fills.
    pub copies_nanos: i64,
    /// Waiting for data.
    pub data_nanos: i64,
    /// The host: operators, calls of the runtime, and what was not recorded, without work of the device.
    pub host_nanos: i64,
}

impl LateBy {
    /// The cause with most time; `None` if nothing took longer than on other ranks.
    #[must_use]
    pub fn largest(&self) -> Option<LateCause> {
        let causes = [
            (self.compute_nanos, LateCause::Compute),
            (self.copies_nanos, LateCause::Copies),
            (self.data_nanos, LateCause::Data),
            (self.host_nanos, LateCause::Host),
            (self.begin_nanos, LateCause::Begin),
        ];
        let largest = causes.into_iter().max_by_key(|own| own.0);
        largest.filter(|own| own.0 > 0).map(|own| own.1)
    }
}

/// The largest part of [`LateBy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum LateCause {
    /// Its kernels take longer.
    Compute,
    /// Its copies take longer.
    Copies,
    /// It waits longer for data.
    Data,
    /// Its host launches work later.
    Host,
    /// It began the step late: what delayed it was before.
    Begin,
}

/// A rank that others wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Straggler {
    /// Rank.
    pub rank: u32,
    /// First step, as the profiler counts.
    pub from_step: i64,
    /// Last step.
    #[serde(default)]
    pub to_step: i64,
    /// Steps in a row.
    pub steps: u64,
    /// Length of these steps divided by their length without the waiting for this rank.
    pub slowness: f64,
    /// Time a step that each of the others waits for it, mean.
    pub gain_nanos: i64,
    /// Main cause of its lateness.
    #[serde(default)]
    pub cause: Option<LateCause>,
}

impl Straggler {
    /// Share of its slow steps in which the others wait for it, 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        (1.0 - 1.0 / self.slowness).clamp(0.0, 1.0)
    }
}

/// Collectives of one name and size over all ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CollectiveRow {
    /// Name of the kernel, or of the operation on a host.
    pub name: String,
    /// Operation of the program, as `all_reduce`; empty if unknown.
    pub operation: String,
    /// Algorithm and protocol by the name of the kernel, as `ring, LL128`; empty if unknown.
    pub algorithm: String,
    /// Number in all steps of one rank.
    pub count: u64,
    /// Bytes of one, the larger of input and output; 0 if unknown.
    pub bytes: u64,
    /// Time of one, mean.
    pub nanos: i64,
    /// Share that is hidden by kernels, 0 to 1.
    pub hidden: f64,
    /// Time between the first and the last rank to arrive, mean.
    pub spread_nanos: i64,
    /// Time from the arrival of all to the end, mean.
    pub transfer_nanos: i64,
    /// Bus bandwidth in bytes a second; 0 if unknown.
    pub bandwidth: f64,
}

/// Communication in the process groups of one description, mean of the ranks in the whole recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GroupRow {
    /// Description of the groups, as `mesh_tp`; without one the name.
    pub name: String,
    /// Number of ranks in a group; 0 if unknown.
    pub size: u64,
    /// `true` if ranks only send to and receive from one another, as the stages of a pipeline do.
    pub point_to_point: bool,
    /// Number of collectives.
    pub count: u64,
    /// Bytes of those whose size is known.
    pub bytes: u64,
    /// Time in which some collective is open.
    pub nanos: i64,
    /// Part of it in which the rank does not compute.
    pub exposed_nanos: i64,
}

/// Traffic from one rank to another in the whole recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LinkRow {
    /// Rank that sends.
    pub source: u32,
    /// Rank that receives.
    pub destination: u32,
    /// Hardware between the two, as the file names it; empty if it does not.
    pub transport: String,
    /// Bytes.
    pub bytes: u64,
    /// Time.
    pub nanos: u64,
    /// Bytes a second; 0 without time.
    pub bandwidth: f64,
}

/// A step of two ranks: one that computes as long as most, and the slowest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepPair {
    /// Number of the step, as the profiler counts.
    pub step: i64,
    /// The two ranks, the slowest last, on one clock that begins with their first compute.
    pub tracks: Vec<RankTrack>,
}

/// Compute and collectives of one rank in one step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RankTrack {
    /// Rank.
    pub rank: u32,
    /// Stretches of compute by phase, up to 100.
    pub compute: Vec<Phase>,
    /// Collectives in order of time, the 100 longest ones.
    pub collectives: Vec<MeetingRow>,
    /// End of the step.
    pub end_nanos: i64,
}

/// A collective of one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MeetingRow {
    /// Begin on this rank.
    pub begin_nanos: i64,
    /// Begin on the last rank: until then this one waits.
    pub arrived_nanos: i64,
    /// End.
    pub end_nanos: i64,
}
