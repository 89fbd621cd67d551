//! Parts of a step, and kinds of time.

use serde::{Deserialize, Serialize};

/// Kinds of time, as numbers in cells: the colour of a slice.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[repr(u8)]
pub enum TimeKind {
    /// Computation.
    Compute = 0,
    /// Communication.
    Communication = 1,
    /// Copies.
    Copy = 2,
    /// Waiting for data.
    Data = 3,
    /// Work of the host.
    #[default]
    Host = 4,
    /// No work: waiting, projections, the profiler itself.
    Idle = 5,
}

impl TimeKind {
    /// All kinds in the order of their numbers.
    pub const ALL: [Self; 6] = [
        Self::Compute,
        Self::Communication,
        Self::Copy,
        Self::Data,
        Self::Host,
        Self::Idle,
    ];
}

/// Parts of a step by kind, nanoseconds. Each moment belongs to one part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Parts {
    /// Kernels, collectives apart.
    pub kernel: i64,
    /// Copies of memory.
    pub memcpy: i64,
    /// Fills of memory.
    pub memset: i64,
    /// Communication.
    pub communication: i64,
    /// Calls of the runtime.
    pub runtime: i64,
    /// Waiting for data.
    pub data: i64,
    /// Operators and annotations on the host.
    pub operators: i64,
    /// Everything else.
    pub other: i64,
}

impl Parts {
    /// Parts in the order of their fields.
    pub const fn values(&self) -> [i64; 8] {
        let Self {
            kernel,
            memcpy,
            memset,
            communication,
            runtime,
            data,
            operators,
            other,
        } = *self;
        [
            kernel,
            memcpy,
            memset,
            communication,
            runtime,
            data,
            operators,
            other,
        ]
    }

    /// Time of each kind, in the order of [`TimeKind::ALL`]. Without a device the host computes.
    pub const fn kinds(&self, has_device: bool) -> [i64; 6] {
        let host = self.runtime.saturating_add(self.operators);
        let (compute, host) = if has_device {
            (self.kernel, host)
        } else {
            (self.kernel.saturating_add(host), 0)
        };
        let copy = self.memcpy.saturating_add(self.memset);
        [
            compute,
            self.communication,
            copy,
            self.data,
            host,
            self.other,
        ]
    }

    /// Length of the step.
    pub fn total(&self) -> i64 {
        self.values().into_iter().fold(0, i64::saturating_add)
    }
}
