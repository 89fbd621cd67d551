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
    /// First and last time, in nanoseconds since 1970; `None` if it is empty.
    pub fn extent_nanos(&self) -> Option<(i64, i64)> {
        let spans = self.spans.iter().map(|span| {
            let duration = i64::try_from(span.duration_nanos).unwrap_or(i64::MAX);
            (span.start_nanos, span.start_nanos.saturating_add(duration))
        });
        let counters = self.counters.iter().map(|c| (c.time_nanos, c.time_nanos));
        spans
            .chain(counters)
            .reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
    }
}
