//! Figures of devices: how long they work, and how long they wait.

use serde::{Deserialize, Serialize};

/// Figures of a device over the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeviceFigures {
    /// Union of kernels, communication and copies.
    pub busy_nanos: i64,
    /// Union of kernels and communication, divided by the time of the steps, 0 to 1. Of several devices the mean.
    pub utilization: f64,
    /// Mean of min(1, blocks per multiprocessor), weighted by time and multiplied by utilization; `None` if unknown.
    pub sm_efficiency: Option<f64>,
    /// Mean occupancy weighted by time, 0 to 1; `None` if unknown.
    pub occupancy: Option<f64>,
    /// Share of communication that is hidden by kernels, 0 to 1; `None` without communication.
    pub overlap: Option<f64>,
    /// Share of the time of kernels that use tensor cores, 0 to 1; `None` if no name of a kernel says whether it does.
    pub tensor_cores: Option<f64>,
    /// Kernels shorter than the call that launched them.
    pub short_kernels: u64,
    /// Kernels, collectives apart.
    pub kernels: u64,
}

/// One device of several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeviceShare {
    /// Name for display.
    pub name: String,
    /// Union of its kernels and communication, divided by the time of the steps, 0 to 1.
    pub utilization: f64,
}

/// Gaps of a stream with one cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct IdleTotal {
    /// `process/thread` of the stream.
    pub stream: String,
    /// `host`, `kernel`, `other_stream` or `other`.
    pub cause: String,
    /// Number of gaps.
    pub count: u64,
    /// Sum of their lengths.
    pub nanos: i64,
    /// Start of the longest one, nanoseconds since the start of the session.
    #[serde(default)]
    pub longest_begin_nanos: i64,
    /// Length of the longest one.
    #[serde(default)]
    pub longest_nanos: i64,
}

/// Delays between the end of a launch call and the start of its work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Delays {
    /// Number of launches.
    pub count: u64,
    /// Sum.
    pub sum: i64,
    /// Median.
    pub median: i64,
    /// Maximum.
    pub max: i64,
}
