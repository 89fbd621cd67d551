//! Memory of a profile over time.

use serde::{Deserialize, Serialize};

use super::MemoryTotal;

/// The query of `GET /api/profile/memory`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct MemoryQuery {
    /// Name of the run.
    pub run: String,
    /// Id of the session; the newest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Rank; the lowest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Device, as `0:-1`; the one with the highest peak if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Moment of which the holders are listed; the peak if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_nanos: Option<i64>,
    /// Start of the stretch of time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_nanos: Option<i64>,
    /// End of the stretch of time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_nanos: Option<i64>,
    /// `true` for each allocation as a holder of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub single: bool,
}

/// Purpose of memory.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MemoryCategory {
    /// Weights.
    Parameters,
    /// State of the optimizer.
    Optimizer,
    /// Inputs.
    Inputs,
    /// Alive through the whole recording.
    Kept,
    /// Gradients.
    Gradients,
    /// Begun in the forward pass and released in the backward pass.
    Activations,
    /// Details of autograd.
    Autograd,
    /// Begun and released within one operator.
    Workspace,
    /// Anything else.
    #[default]
    Other,
}

/// Memory of a device over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MemoryAnswer {
    /// Devices with memory events; the answer is about the one of `device`.
    pub devices: Vec<MemoryTotal>,
    /// The device of this answer.
    pub device: String,
    /// `true` if categories are those of the framework's own record, `false` if they follow from lifetimes.
    pub categories_from_file: bool,
    /// Times of the points.
    pub times_nanos: Vec<i64>,
    /// Bytes of each category at these times, the maximum of each stretch of points.
    pub series: Vec<MemorySeries>,
    /// Allocated bytes at these times, as the file counts them.
    pub allocated: Vec<u64>,
    /// Reserved bytes at these times.
    pub reserved: Vec<u64>,
    /// Moment of the holders.
    pub at_nanos: i64,
    /// Bytes at that moment.
    pub at_len_bytes: u64,
    /// Allocations that are alive at that moment, grouped by operator or each by itself, the largest first.
    pub holders: Vec<MemoryHolder>,
    /// Call stacks of these allocations, callers before what they call; empty if the recording has none.
    pub stacks: Vec<MemoryFrame>,
    /// Allocations that failed for want of memory.
    pub failures: Vec<MemoryFailure>,
    /// Share of reserved memory that is not allocated at the peak, 0 to 1.
    pub fragmentation: f64,
    /// Least bytes of each step.
    pub least_by_step: Vec<(i64, u64)>,
    /// Growth of the least bytes a step, with its 95 % interval; `None` with fewer than three steps.
    pub growth: Option<MemoryGrowth>,
    /// `true` if holders were left out.
    pub cut: bool,
}

/// Bytes of a category over time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MemorySeries {
    /// Category.
    pub category: MemoryCategory,
    /// Bytes.
    pub bytes: Vec<u64>,
}

/// Allocations of one operator, or one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MemoryHolder {
    /// Operator, or empty if none was open.
    pub operator: String,
    /// Module or scope; empty if unknown.
    pub scope: String,
    /// Category.
    pub category: MemoryCategory,
    /// Number of allocations.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
    /// Start of the first.
    pub begin_nanos: i64,
    /// Release of the last; the end of the recording if it was not released.
    pub end_nanos: i64,
}

/// Frame of the call stacks of allocations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MemoryFrame {
    /// File, line and function.
    pub name: String,
    /// Distance from the outermost frame.
    pub depth: u32,
    /// Bytes with those of the frames that it calls.
    pub bytes: u64,
    /// Bytes of its own allocations.
    pub self_bytes: u64,
    /// Number of allocations.
    pub count: u64,
}

/// A frame without the folders of its file: `model.py(33): forward`.
#[must_use]
pub fn without_folders(frame: &str) -> &str {
    let path = frame.split_once('(').map_or(frame, |(path, _)| path);
    let name = path.rfind(['/', '\\']).map_or(0, |slash| slash + 1);
    &frame[name..]
}

/// An allocation that failed for want of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MemoryFailure {
    /// Moment.
    pub at_nanos: i64,
    /// Bytes that were asked for.
    pub bytes: u64,
    /// Bytes of the device that were not reserved.
    pub free_bytes: u64,
    /// Lines of the program that asked for them, the innermost first; empty if unknown.
    pub caller: String,
}

/// Growth of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MemoryGrowth {
    /// Bytes a step (Theil–Sen).
    pub slope: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
    /// Steps until the device is full; `None` if it is not growing or the size is unknown.
    pub steps_until_full: Option<u64>,
}
