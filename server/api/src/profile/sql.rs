//! SQL over the profiles of a session: tables, requests and answers.

use serde::{Deserialize, Serialize};

/// Maximum number of rows of an answer.
pub const MAX_SQL_ROWS: usize = 10_000;
/// Maximum number of bytes of the texts of an answer.
pub const MAX_SQL_BYTES: usize = 16 << 20;
/// Maximum time of a statement in seconds.
pub const MAX_SQL_SECONDS: u64 = 30;

/// A statement over all ranks of a session, or one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SqlRequest {
    /// Name of the run.
    pub run: String,
    /// Id of the session; the newest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Rank; all of them if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// One `SELECT` of `SQLite`, at most 64 kB.
    pub sql: String,
}

/// Rows of a statement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SqlAnswer {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows, at most [`MAX_SQL_ROWS`].
    pub rows: Vec<Vec<SqlValue>>,
    /// `true` if there are more.
    pub cut: bool,
    /// Seconds that the statement took.
    pub seconds: f64,
}

/// A value of a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum SqlValue {
    /// No value.
    #[default]
    Null,
    /// A whole number.
    Int(i64),
    /// A finite number.
    Real(f64),
    /// A text; `Infinity` and `-Infinity` for infinite numbers.
    Text(String),
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqlColumn {
    /// Its name.
    pub name: &'static str,
    /// `INTEGER`, `REAL` or `TEXT`.
    pub r#type: &'static str,
    /// A sentence about it in English.
    pub meaning: &'static str,
}

/// A table that statements can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqlTable {
    /// Its name.
    pub name: &'static str,
    /// A sentence about a row of it in English.
    pub meaning: &'static str,
    /// Its columns.
    pub columns: &'static [SqlColumn],
}

const fn column(name: &'static str, r#type: &'static str, meaning: &'static str) -> SqlColumn {
    SqlColumn {
        name,
        r#type,
        meaning,
    }
}

const RANK: SqlColumn = column("rank", "INTEGER", "Rank of the profile");

/// All tables. Times are nanoseconds since the start of the recording.
pub const TABLES: [SqlTable; 6] = [
    SqlTable {
        name: "slices",
        meaning: "A call, kernel, copy or annotation",
        columns: &[
            column(
                "id",
                "INTEGER",
                "Number of the slice in its file, as in addresses of the page",
            ),
            RANK,
            column(
                "step",
                "INTEGER",
                "Step in which it begins; NULL outside of steps",
            ),
            column("name", "TEXT", "Name"),
            column(
                "category",
                "TEXT",
                "Category in the file, such as `kernel` or `cpu_op`",
            ),
            column(
                "kind",
                "TEXT",
                "Kind of time: `compute`, `communication`, `copy`, `data`, `host` or `idle`",
            ),
            column(
                "phase",
                "TEXT",
                "Phase of the step, such as `forward` or `backward`",
            ),
            column("lane", "INTEGER", "Thread or stream: `lanes.lane`"),
            column("begin_ns", "INTEGER", "Begin"),
            column("duration_ns", "INTEGER", "Duration"),
            column("end_ns", "INTEGER", "End"),
            column(
                "depth",
                "INTEGER",
                "Row in its lane: 0 for slices in no other one",
            ),
            column("parent", "INTEGER", "`id` of the slice around it"),
            column(
                "launch",
                "INTEGER",
                "`id` of the call that launched it on the device",
            ),
            column("device", "INTEGER", "Device of a kernel, copy or fill"),
            column("bytes", "INTEGER", "Bytes that were copied, filled or sent"),
            column("shapes", "TEXT", "Shapes of the inputs of an operator"),
            column(
                "flops",
                "INTEGER",
                "Floating-point operations, if the file tells",
            ),
        ],
    },
    SqlTable {
        name: "steps",
        meaning: "A step of the training",
        columns: &[
            column("step", "INTEGER", "Number as the profiler counts"),
            RANK,
            column("begin_ns", "INTEGER", "Begin"),
            column(
                "duration_ns",
                "INTEGER",
                "Duration, with the work that was launched in it",
            ),
            column(
                "end_ns",
                "INTEGER",
                "End of the work that was launched in it",
            ),
            column("host_end_ns", "INTEGER", "End of its slice on the host"),
            column("launches", "INTEGER", "Launches in it"),
            column(
                "is_whole",
                "INTEGER",
                "0 if the recording ended before its work did",
            ),
        ],
    },
    SqlTable {
        name: "lanes",
        meaning: "A thread of the host, or a stream of a device",
        columns: &[
            column("lane", "INTEGER", "Number of the lane"),
            RANK,
            column(
                "kind",
                "TEXT",
                "`host`, `device`, `async`, `derived` or `profiler`",
            ),
            column("process", "TEXT", "Process"),
            column("process_name", "TEXT", "Name of the process"),
            column("thread", "TEXT", "Thread or stream"),
            column("thread_name", "TEXT", "Name of the thread or stream"),
        ],
    },
    SqlTable {
        name: "flows",
        meaning: "An arrow from one slice to another",
        columns: &[
            column("from_slice", "INTEGER", "`id` of the slice that it leaves"),
            RANK,
            column("to_slice", "INTEGER", "`id` of the slice that it enters"),
            column("category", "TEXT", "Category, such as `ac2g` or `fwdbwd`"),
        ],
    },
    SqlTable {
        name: "counters",
        meaning: "A value of a series of numbers over time",
        columns: &[
            column("name", "TEXT", "Name of the series"),
            RANK,
            column("process", "TEXT", "Process"),
            column("time_ns", "INTEGER", "Time"),
            column(
                "value",
                "REAL",
                "Value; NULL for NaN, which SQLite does not have",
            ),
            column("is_nan", "INTEGER", "1 for NaN"),
        ],
    },
    SqlTable {
        name: "memory",
        meaning: "An allocation or a release of memory",
        columns: &[
            column("time_ns", "INTEGER", "Time"),
            RANK,
            column(
                "device_type",
                "INTEGER",
                "Type of the device as PyTorch counts: 0 is the host, 1 CUDA",
            ),
            column("device", "INTEGER", "Index of the device; -1 for the host"),
            column("bytes", "INTEGER", "Bytes; negative for a release"),
            column("address", "INTEGER", "Address"),
            column(
                "allocated_bytes",
                "INTEGER",
                "Bytes that are allocated after it",
            ),
            column(
                "reserved_bytes",
                "INTEGER",
                "Bytes that are reserved after it",
            ),
        ],
    },
];
