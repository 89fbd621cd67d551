//! `GET` and `PATCH /api/notebook`: notes of users about runs, stored in a small file beside the runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use trainscope_format::float;

/// All notes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Notebook {
    /// Grows with every change; a change names the version it was made from.
    pub version: u64,
    /// Notes by name of the run.
    pub runs: BTreeMap<String, RunNotes>,
    /// Pinned tags, in order.
    pub pinned: Vec<String>,
    /// Columns of the list of runs, in order: names of hyper-parameters, and `metric:` with the tag of a scalar.
    /// `null` for the default columns.
    #[serde(default)]
    pub columns: Option<Vec<String>>,
    /// Columns of the table of runs that are shown together: the key of the column they are shown in, by key.
    #[serde(default)]
    pub aliases: BTreeMap<String, String>,
    /// Saved views of pages, in order.
    #[serde(default)]
    pub views: Vec<View>,
    /// Names of runs that have notes and do not exist, or no longer: renamed folders. To move notes, change those of
    /// the new name to them and those of the old name to the default.
    #[serde(default)]
    pub without_run: Vec<StrayNotes>,
    /// Reasons why changes cannot be saved in their file, as sentences; empty if they can.
    pub problems: Vec<String>,
}

impl Notebook {
    /// The column that a column of the table is shown in, also over several aliases; of aliases in a circle each stays
    /// where it is.
    pub fn shown_column<'a>(&'a self, key: &'a str) -> &'a str {
        let mut into = key;
        for _ in 0..=self.aliases.len() {
            match self.aliases.get(into) {
                Some(next) => into = next,
                None => return into,
            }
        }
        key
    }
}

/// A saved view of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct View {
    /// Its name.
    pub name: String,
    /// Path of the page below the server's prefix: `lineage`, `compare`.
    pub page: String,
    /// Query of its address, without `?`.
    pub query: String,
}

/// Notes of a run that does not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StrayNotes {
    /// Name of the run, a key of [`Notebook::runs`].
    pub run: String,
    /// A run with a similar name and without notes, which may be its new name.
    pub similar: Option<String>,
}

/// Notes about one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunNotes {
    /// A line of text; empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Labels to search by, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// `true` if lists leave the run out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_hidden: bool,
    /// Colour of its lines: 1 to 10, with a dash pattern 11 to [`MAX_COLOUR`]. `null` for the default colour in the
    /// list of runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour: Option<u8>,
    /// Limits of scalars, by tag.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub thresholds: BTreeMap<String, Threshold>,
    /// Peak of the device of its profiles in FLOP per second, as typed by a user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_flops: Option<f64>,
    /// Marks in the timelines of its profiles, in the order in which they were made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<SliceMark>,
}

/// A slice of a profile that a user marked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SliceMark {
    /// Id of the session.
    pub session: String,
    /// Rank.
    pub rank: u32,
    /// Index of the slice.
    pub index: u32,
    /// Its start, nanoseconds since the start of the session.
    pub begin_nanos: i64,
    /// Its name.
    pub name: String,
    /// A line of text; empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
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
    /// `true` if a value must pass both limits to be highlighted, `false` if either suffices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub both: bool,
}

/// A limit and the side of it that is highlighted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Limit {
    /// `true` if values above are highlighted, `false` if values below.
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
    /// `true` if a value is highlighted. NaN passes no limit; charts mark it separately.
    pub fn is_passed_by(&self, value: f64) -> bool {
        let first = self.first.is_passed_by(value);
        match self.second {
            None => first,
            Some(second) if self.both => first && second.is_passed_by(value),
            Some(second) => first || second.is_passed_by(value),
        }
    }
}

/// A change. Fields left out are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NotebookChange {
    /// The version that it was made from. If there is a newer one the change is refused with `conflict`: get that
    /// version and repeat the change if it still makes sense.
    pub version: u64,
    /// New notes by name of the run.
    #[serde(default)]
    pub runs: BTreeMap<String, RunNotes>,
    /// New list of pinned tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<Vec<String>>,
    /// New columns of the list of runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// All aliases, with the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aliases: Option<BTreeMap<String, String>>,
    /// All views, with the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub views: Option<Vec<View>>,
}

impl NotebookChange {
    /// `true` if it changes something that belongs to all runs.
    pub fn changes_all_runs(&self) -> bool {
        self.pinned.is_some()
            || self.columns.is_some()
            || self.aliases.is_some()
            || self.views.is_some()
    }
}

/// Maximum length of a note in characters.
pub const MAX_NOTE_CHARS: usize = 2_000;
/// Highest number of a colour.
pub const MAX_COLOUR: u8 = 20;
/// Maximum number of labels, thresholds and marks of a run, of pinned tags, columns, aliases and views.
pub const MAX_ENTRIES: usize = 200;
/// Maximum length of the name of a view, in characters.
pub const MAX_VIEW_CHARS: usize = 200;
/// Maximum length of the query of a view, in bytes.
pub const MAX_VIEW_BYTES: usize = 16 << 10;
/// Maximum length of the name of a run, in bytes: that of a path.
pub const MAX_NAME_BYTES: usize = 4_096;

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
