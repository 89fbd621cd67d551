//! Who was busy when: spans of time on lanes, and counters.

use serde::{Deserialize, Serialize};

use crate::stretch::Stretch;
use crate::wire::Malformed;

/// Spans and counters as a program has taken them down, in no order. Times are nanoseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Profile {
    /// The names of spans and counters.
    pub names: Vec<String>,
    /// The lanes: threads, devices, streams.
    pub lanes: Vec<String>,
    /// Stretches of time.
    pub spans: Vec<Span>,
    /// Values of counters.
    pub counters: Vec<Counter>,
}

/// A stretch of time in which a lane did something. One that lies within another of its lane is a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Span {
    /// What was done, as an index into [`Profile::names`].
    pub name: u32,
    /// Where, as an index into [`Profile::lanes`].
    pub lane: u32,
    /// The step it belongs to.
    pub step: i64,
    /// When it began.
    pub start_nanos: i64,
    /// How long it took.
    pub duration_nanos: u64,
}

/// The value of a counter from a time on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Counter {
    /// What was counted, as an index into [`Profile::names`].
    pub name: u32,
    /// From when on.
    pub time_nanos: i64,
    /// How much.
    #[serde(with = "crate::float")]
    pub value: f64,
}

/// A profile where it lies, with what is known without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileSource {
    /// Where it lies; [`Profile::read`] reads it.
    pub data: Stretch,
    /// How many spans it has.
    pub spans: u64,
    /// How many values of counters.
    pub counters: u64,
    /// The first time in it; 0 if there is none.
    pub from_nanos: i64,
    /// The last time in it.
    pub to_nanos: i64,
}

/// The bytes are not a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a profile: a message in it is cut off, a column is too short, or it is above 64 MiB")]
pub struct NotAProfile;

impl From<Malformed> for NotAProfile {
    fn from(_: Malformed) -> Self {
        Self
    }
}

impl Profile {
    /// The first time in it and the last, in nanoseconds since 1970; `None` if it is empty.
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
