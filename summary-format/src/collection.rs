//! Records about the collector: dumps, reported conditions and lost records.

use serde::{Deserialize, Serialize};

/// A file of tensors in full.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DumpRef {
    /// Path relative to the folder of the event file, with `/` between parts. It is text, not a path to open.
    pub path: String,
    /// Number of tensors in the file.
    pub tensors: u64,
    /// Size of the file in bytes.
    pub len_bytes: u64,
    /// Reason for the dump; empty if it was scheduled.
    pub reason: String,
}

/// Severity of a finding, in ascending order.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Severity {
    /// Worth knowing.
    #[default]
    Info,
    /// Probably a problem.
    Warning,
    /// A problem.
    Error,
}

impl Severity {
    /// All severities.
    pub const ALL: [Self; 3] = [Self::Info, Self::Warning, Self::Error];
}

/// A condition that the training program reported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WatchHit {
    /// The id of the condition, `tensor_overflow`, …
    pub condition: String,
    /// The tag of the tensor or scalar that met it.
    pub tag: String,
    /// Severity.
    pub severity: Severity,
    /// Description, as a sentence.
    pub detail: String,
}

/// Records that could not be written since the last record of this kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CollectorLoss {
    /// Reason, as a sentence.
    pub reason: String,
    /// Number of records.
    pub records: u64,
    /// Known size of these records in bytes.
    pub len_bytes: u64,
}
