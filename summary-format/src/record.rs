//! The vocabulary of the whole workspace: what a training records.
//!
//! A record belongs to a tag, a step and a wall time. Scalars travel as columns, because a training writes millions
//! of them and everything downstream stores columns; other kinds travel one by one.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::body::Body;
use crate::kind::Kind;

/// The number of a (tag, kind) pair within one decoder: an index into the tags it has reported so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TagId(pub u32);

/// A tag as its file names it. A tag that is written with two kinds is two of these.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TagInfo {
    /// The name, byte for byte where it is UTF-8 and with replacement characters where it is not.
    pub name: Arc<str>,
    /// What it records.
    pub kind: Kind,
}

/// Scalars as parallel columns, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScalarColumns {
    /// Whose value it is.
    pub tags: Vec<TagId>,
    /// The step as the program counted it; may repeat and may go back.
    pub steps: Vec<i64>,
    /// Seconds since 1970 as written; may be 0, NaN or go back.
    pub wall_times_secs: Vec<f64>,
    /// The value, exact: an `f32` of the file is widened. NaN, ±Inf and −0.0 are kept.
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

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Keeps the first `len` points.
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
    /// Whose value it is; the tag's kind is that of the body.
    pub tag: TagId,
    /// The step as the program counted it; may repeat and may go back.
    pub step: i64,
    /// Seconds since 1970 as written; may be 0, NaN or go back.
    pub wall_time_secs: f64,
    /// What it holds.
    pub body: Body,
}

/// A record of a kind that is recognised and counted but whose body is not decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Unread {
    /// Whose value it is.
    pub tag: TagId,
    /// The step as the program counted it.
    pub step: i64,
    /// Seconds since 1970 as written.
    pub wall_time_secs: f64,
}

/// A stretch of a file that could not be read; reading went on after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// How many bytes were skipped.
    pub len_bytes: u64,
    /// What was wrong, as a sentence without the file's name.
    pub reason: String,
}

/// What one call of a decoder yields. Reused between calls so that the columns keep their capacity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordBatch {
    /// Tags seen for the first time, in order of their [`TagId`]; the first one's id is the number of tags reported
    /// by this decoder before.
    pub new_tags: Vec<TagInfo>,
    /// Scalars in file order.
    pub scalars: ScalarColumns,
    /// Records of other kinds in file order.
    pub records: Vec<Record>,
    /// Recognised records of kinds that are not decoded, in file order.
    pub unread: Vec<Unread>,
    /// Damaged stretches passed over, by ascending offset: between records, and single values within them.
    pub damages: Vec<Damage>,
    /// Records that are whole but hold nothing we can name (an event of an unknown field, say).
    pub skipped_records: u64,
    /// Session starts in file order.
    pub session_starts: Vec<SessionStart>,
}

/// A `SessionLog` of status `START`: the program goes on at `step`, and whatever was recorded before from that step on
/// is superseded (`purge_step` of `SummaryWriter`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionStart {
    /// Lowest superseded step.
    pub step: i64,
    /// Seconds since 1970; records with a later time are not superseded.
    pub wall_time_secs: f64,
}

impl RecordBatch {
    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.new_tags.clear();
        self.scalars.truncate(0);
        self.records.clear();
        self.unread.clear();
        self.damages.clear();
        self.skipped_records = 0;
        self.session_starts.clear();
    }

    /// Points and records in it, of any kind.
    pub fn len_records(&self) -> u64 {
        (self.scalars.len() + self.records.len() + self.unread.len()) as u64
    }
}
