//! Rows as Parquet, with a type for each column.

#[cfg(not(feature = "parquet"))]
mod absent;
#[cfg(feature = "parquet")]
mod rows;

use std::io::Write;
use std::path::PathBuf;

#[cfg(not(feature = "parquet"))]
pub(super) use absent::Rows;
#[cfg(feature = "parquet")]
pub(super) use rows::Rows;

/// Place of the rows.
#[cfg_attr(
    not(feature = "parquet"),
    expect(dead_code, reason = "nothing is written")
)]
pub(super) enum Output<'a> {
    Stream(&'a mut (dyn Write + Send)),
    /// Files `part-00000.parquet`, …
    Folder(PathBuf),
}

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnType {
    Integer,
    Float,
    /// Seconds since 1970.
    Time,
    Truth,
    Text,
    /// A text that was recorded, which may be empty.
    Content,
}

impl ColumnType {
    /// The type of a column of exports by its name.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "wall_time_secs" => Self::Time,
            "is_whole" => Self::Truth,
            "rank" | "step" | "last_step" | "index" | "nan" | "pos_inf" | "neg_inf" | "zero"
            | "negative" | "positive" | "subnormal" | "calls" | "flops" | "bytes"
            | "slow_steps" | "slow_from_step" => Self::Integer,
            "value" | "left" | "right" | "count" | "min" | "max" | "mean" | "std" | "mean_abs"
            | "l2" | "roofline" => Self::Float,
            name if name.ends_with("_nanos") || name.ends_with("_bytes") => Self::Integer,
            "text" => Self::Content,
            _ => Self::Text,
        }
    }
}
