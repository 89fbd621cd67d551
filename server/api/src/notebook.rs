//! `GET` and `PATCH /api/notebook`: what people have noted about runs. It is kept in a small file beside the runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use trainscope_format::float;

/// Everything that was noted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Notebook {
    /// Grows with every change; a change names the one it was made from.
    pub version: u64,
    /// Runs of which something was noted, by name.
    pub runs: BTreeMap<String, RunNotes>,
    /// Tags whose cards stand first, in order.
    pub pinned: Vec<String>,
    /// Columns of the list of runs, in order: names of hyper-parameters, and `metric:` with the tag of a scalar. `null` if
    /// nobody has chosen any.
    #[serde(default)]
    pub columns: Option<Vec<String>>,
    /// What keeps changes from being written where they belong, as sentences; empty if nothing does.
    pub problems: Vec<String>,
}

/// What was noted about one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunNotes {
    /// A line of text; empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Words to find it by, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whether lists leave it out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_hidden: bool,
    /// The colour of its lines: 1 to 10, with a pattern 11 to [`MAX_COLOUR`]. Else it is that of the list of runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour: Option<u8>,
    /// Limits of scalars, by tag.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub thresholds: BTreeMap<String, Threshold>,
}

/// One or two limits of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Threshold {
    /// The first limit.
    pub first: Limit,
    /// The second one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<Limit>,
    /// Whether a value must be beyond both to stand out, instead of beyond either.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub both: bool,
}

/// A limit and the side of it that stands out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Limit {
    /// Whether values above it stand out; otherwise those below.
    pub above: bool,
    /// The value.
    #[serde(with = "float")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::Float))]
    pub value: f64,
}

impl Limit {
    fn is_passed_by(self, value: f64) -> bool {
        if self.above {
            value > self.value
        } else {
            value < self.value
        }
    }
}

impl Threshold {
    /// Whether a value stands out. NaN never does: it is not beyond anything, and shown by itself.
    pub fn is_passed_by(&self, value: f64) -> bool {
        let first = self.first.is_passed_by(value);
        match self.second {
            None => first,
            Some(second) if self.both => first && second.is_passed_by(value),
            Some(second) => first || second.is_passed_by(value),
        }
    }
}

/// A change. What it does not name stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NotebookChange {
    /// The version that it was made from. If there is a newer one the change is refused with `conflict`: get that one,
    /// and make the change from it if it still makes sense.
    pub version: u64,
    /// Runs and what is noted of them from now on.
    #[serde(default)]
    pub runs: BTreeMap<String, RunNotes>,
    /// Tags whose cards stand first from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<Vec<String>>,
    /// Columns of the list of runs from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
}

/// Characters that a note may have.
pub const MAX_NOTE_CHARS: usize = 2_000;
/// The last colour there is.
pub const MAX_COLOUR: u8 = 20;
/// Words that a run may have, pinned tags, columns and thresholds of a run.
pub const MAX_ENTRIES: usize = 200;

#[cfg(test)]
mod tests {
    use super::{Limit, Threshold};

    #[test]
    fn values_beyond_limits_stand_out() {
        let limit = |above, value| Limit { above, value };
        let one = Threshold {
            first: limit(true, 1.0),
            second: None,
            both: false,
        };
        let either = Threshold {
            second: Some(limit(false, -1.0)),
            ..one
        };
        let between = Threshold {
            first: limit(true, -1.0),
            second: Some(limit(false, 1.0)),
            both: true,
        };
        for (value, expected) in [
            (2.0, [true, true, false]),
            (1.0, [false, false, false]),
            (0.0, [false, false, true]),
            (-2.0, [false, true, false]),
            (f64::NAN, [false; 3]),
            (f64::INFINITY, [true, true, false]),
        ] {
            let seen = [one, either, between].map(|threshold| threshold.is_passed_by(value));
            assert_eq!(seen, expected, "{value}");
        }
    }
}
