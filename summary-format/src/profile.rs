//! Profiles: spans of time on lanes, and counters.

use serde::{Deserialize, Serialize};

use crate::stretch::Stretch;
use crate::wire::WireError;

/// Spans and counters in the order of recording. Times are nanoseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Profile {
    /// The names of spans and counters.
    pub names: Vec<String>,
    /// The lanes: threads, devices, streams.
    pub lanes: Vec<String>,
    /// Spans.
    pub spans: Vec<Span>,
    /// Values of counters.
    pub counters: Vec<Counter>,
    /// Kind of each name; empty if no kind is declared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub name_kinds: Vec<SpanKind>,
    /// Kind of each lane; empty if all are threads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lane_kinds: Vec<LaneKind>,
    /// Arrows between spans.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<SpanFlow>,
}

/// Kinds of time that a span declares; the numbers are those of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[repr(u8)]
pub enum SpanKind {
    /// Not declared: the name tells it.
    #[default]
    Other,
    /// Computation.
    Compute,
    /// Communication with other ranks.
    Communication,
    /// Copies between host and device.
    Copy,
    /// Waiting for data.
    Data,
    /// Other work of the host.
    Host,
    /// Waiting for anything else.
    Idle,
}

impl SpanKind {
    /// All kinds in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::Other,
        Self::Compute,
        Self::Communication,
        Self::Copy,
        Self::Data,
        Self::Host,
        Self::Idle,
    ];
}

/// Kinds of lanes; the numbers are those of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[repr(u8)]
pub enum LaneKind {
    /// Thread of a host.
    #[default]
    Thread,
    /// Device.
    Device,
    /// Stream of a device.
    Stream,
    /// Process.
    Process,
}

impl LaneKind {
    /// All kinds in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Thread, Self::Device, Self::Stream, Self::Process];
}

/// An arrow from the innermost span around one moment to that around another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SpanFlow {
    /// Lane that it leaves, as an index into [`Profile::lanes`].
    pub from_lane: u32,
    /// Time at which it leaves.
    pub from_nanos: i64,
    /// Lane that it enters.
    pub to_lane: u32,
    /// Time at which it arrives.
    pub to_nanos: i64,
}

/// A time span on a lane. Spans within others of the same lane are nested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Span {
    /// Name of the activity, as an index into [`Profile::names`].
    pub name: u32,
    /// Lane, as an index into [`Profile::lanes`].
    pub lane: u32,
    /// The step it belongs to.
    pub step: i64,
    /// Start time.
    pub start_nanos: i64,
    /// Duration.
    pub duration_nanos: u64,
}

/// The value of a counter from a time on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Counter {
    /// Name of the counter, as an index into [`Profile::names`].
    pub name: u32,
    /// Time of the change.
    pub time_nanos: i64,
    /// New value.
    #[serde(with = "crate::float")]
    pub value: f64,
}

/// Reference to a profile in its file, with its extent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileSource {
    /// Byte range; [`Profile::read`] decodes it.
    pub data: Stretch,
    /// Number of spans.
    pub spans: u64,
    /// Number of counter values.
    pub counters: u64,
    /// First time; 0 if it is empty.
    pub from_nanos: i64,
    /// Last time.
    pub to_nanos: i64,
}

/// Error for bytes that are not a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a profile: a message in it is truncated, a column is too short, or it exceeds 64 MiB")]
pub struct NotAProfile;

impl From<WireError> for NotAProfile {
    fn from(_: WireError) -> Self {
        Self
    }
}

impl Profile {
    /// Declared kind of a name.
    pub fn span_kind(&self, name: u32) -> SpanKind {
        let kind = self.name_kinds.get(name as usize);
        kind.copied().unwrap_or_default()
    }

    /// Kind of a lane.
    pub fn lane_kind(&self, lane: u32) -> LaneKind {
        let kind = self.lane_kinds.get(lane as usize);
        kind.copied().unwrap_or_default()
    }

    /// First and last time, in nanoseconds since 1970; `None` if it is empty.
    pub fn extent_nanos(&self) -> Option<(i64, i64)> {
        let spans = self.spans.iter().map(|span| {
            let duration = i64::try_from(span.duration_nanos).unwrap_or(i64::MAX);
            (span.start_nanos, span.start_nanos.saturating_add(duration))
        });
        let counters = self.counters.iter().map(|c| (c.time_nanos, c.time_nanos));
        let flows = self.flows.iter().map(|flow| {
            let (from, to) = (flow.from_nanos, flow.to_nanos);
            (from.min(to), from.max(to))
        });
        spans
            .chain(counters)
            .chain(flows)
            .reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
    }
}
