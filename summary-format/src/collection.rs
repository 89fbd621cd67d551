//! What a collector says of its own work: what it dumped, what a watchpoint made of a step, and what was lost.

use serde::{Deserialize, Serialize};

/// A file of tensors in full.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DumpRef {
    /// Where it is, relative to the folder of the event file, with `/` between parts. It is text, not a path to open.
    pub path: String,
    /// How many tensors it holds.
    pub tensors: u64,
    /// Its length.
    pub len_bytes: u64,
    /// Why it was written; empty if it was planned.
    pub reason: String,
}

/// How bad a finding is, worst last.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Severity {
    /// Worth knowing.
    #[default]
    Info,
    /// Probably wrong.
    Warning,
    /// Wrong.
    Error,
}

impl Severity {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Info, Self::Warning, Self::Error];
}

/// A condition that held while the program was running.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WatchHit {
    /// The id of the condition, `tensor_overflow`, …
    pub condition: String,
    /// What it held of: the tag of a tensor or of a scalar.
    pub tag: String,
    /// How bad it is.
    pub severity: Severity,
    /// What was seen, as a sentence.
    pub detail: String,
}

/// Records that did not get into the file, since the last such record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CollectorLoss {
    /// Why, as a sentence.
    pub reason: String,
    /// How many records.
    pub records: u64,
    /// How many bytes they would have taken, as far as that is known.
    pub len_bytes: u64,
}
