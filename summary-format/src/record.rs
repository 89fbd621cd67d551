//! The vocabulary of the whole workspace: tags, steps and records.
//!
//! A record belongs to a tag, a step and a wall time. Scalars are stored as columns, because a training writes
//! millions of them and all consumers store columns; other kinds are single records.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::body::Body;
use crate::kind::Kind;

/// Index of a (tag, kind) pair in the tags that one decoder has reported so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TagId(pub u32);

/// A tag as its file names it. A tag that is written with two kinds has two entries.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TagInfo {
    /// Name; bytes that are not UTF-8 become replacement characters.
    pub name: Arc<str>,
    /// Kind.
    pub kind: Kind,
}

/// Scalars as parallel columns, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScalarColumns {
    /// Tag of each value.
    pub tags: Vec<TagId>,
    /// The step as counted by the program; may repeat and may decrease.
    pub steps: Vec<i64>,
    /// Seconds since 1970 as written; may be 0, NaN or decrease.
    pub wall_times_secs: Vec<f64>,
    /// Exact values: an `f32` of the file is widened. NaN, ±∞ and −0.0 are preserved.
    pub values: Vec<f64>,
}

impl ScalarColumns {
    /// Appends one point.
    #[inline]
    pub fn push(&mut self, tag: TagId, step: i64, wall_time_secs: f64, value: f64) {
        self.tags.push(tag);
        self.steps.push(step);
        self.wall_times_secs.push(wall_time_secs);
        self.values.push(value);
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// `true` if there are no points.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Removes all but the first `len` points.
    pub fn truncate(&mut self, len: usize) {
        self.tags.truncate(len);
        self.steps.truncate(len);
        self.wall_times_secs.truncate(len);
        self.values.truncate(len);
    }
}

/// A record that is not a scalar.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Tag; its kind is that of the body.
    pub tag: TagId,
    /// The step as counted by the program; may repeat and may decrease.
    pub step: i64,
    /// Seconds since 1970 as written; may be 0, NaN or decrease.
    pub wall_time_secs: f64,
    /// Content.
    pub body: Body,
}

/// A record of a kind that is recognised and counted but whose body is not decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct UnreadRecord {
    /// Tag.
    pub tag: TagId,
    /// The step as counted by the program.
    pub step: i64,
    /// Seconds since 1970 as written.
    pub wall_time_secs: f64,
}

/// A byte range that could not be read; reading resumed after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// Offset in bytes from the start of the file.
    pub offset: u64,
    /// Number of bytes skipped.
    pub len_bytes: u64,
    /// Description, as a sentence without the file's name.
    pub reason: String,
}

/// Result of one call of a decoder. Reused between calls so that the columns keep their capacity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordBatch {
    /// New tags, in order of their [`TagId`]; the first id is the number of tags reported by this decoder before.
    pub new_tags: Vec<TagInfo>,
    /// Scalars in file order.
    pub scalars: ScalarColumns,
    /// Records of other kinds in file order.
    pub records: Vec<Record>,
    /// Recognised records of kinds that are not decoded, in file order.
    pub unread: Vec<UnreadRecord>,
    /// Damage by ascending offset: between records, and single values within them.
    pub damages: Vec<Damage>,
    /// Intact records of unknown content (an event of an unknown field, for example).
    pub skipped_records: u64,
    /// Session starts in file order.
    pub session_starts: Vec<SessionStart>,
    /// `true` if the step counter of the program overflowed 32 bits among these records: steps are those that the
    /// program meant.
    pub has_step_overflow: bool,
}

/// A `SessionLog` of status `START`: the program resumes at `step`, and earlier records at this and later
/// steps are superseded (`purge_step` of `SummaryWriter`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionStart {
    /// Lowest superseded step.
    pub step: i64,
    /// Seconds since 1970; records with a later time are not superseded.
    pub wall_time_secs: f64,
}

impl RecordBatch {
    /// Empties the batch and keeps the capacity.
    pub fn clear(&mut self) {
        self.new_tags.clear();
        self.scalars.truncate(0);
        self.records.clear();
        self.unread.clear();
        self.damages.clear();
        self.skipped_records = 0;
        self.session_starts.clear();
        self.has_step_overflow = false;
    }

    /// Number of points and records of any kind.
    pub fn len_records(&self) -> u64 {
        (self.scalars.len() + self.records.len() + self.unread.len()) as u64
    }
}
