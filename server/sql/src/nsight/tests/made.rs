//! Databases with the tables of Nsight Systems whose columns and cells are chosen by bytes, for tests and the fuzzer.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

/// The tables and columns that are read.
const TABLES: [(&str, &[&str]); 10] = [
    ("StringIds", &["id", "value"]),
    (
        "CUPTI_ACTIVITY_KIND_KERNEL",
        &[
            "start",
            "end",
            "deviceId",
            "streamId",
            "correlationId",
            "demangledName",
            "shortName",
        ],
    ),
    (
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        &[
            "start",
            "end",
            "deviceId",
            "streamId",
            "correlationId",
            "copyKind",
            "srcKind",
            "dstKind",
            "bytes",
        ],
    ),
    (
        "CUPTI_ACTIVITY_KIND_MEMSET",
        &[
            "start",
            "end",
            "deviceId",
            "streamId",
            "correlationId",
            "bytes",
        ],
    ),
    (
        "CUPTI_ACTIVITY_KIND_RUNTIME",
        &["start", "end", "globalTid", "correlationId", "nameId"],
    ),
    (
        "NVTX_EVENTS",
        &[
            "start",
            "end",
            "globalTid",
            "eventType",
            "text",
            "textId",
            "rangeId",
        ],
    ),
    (
        "TARGET_INFO_GPU",
        &["id", "name", "totalMemory", "smCount", "computeMajor"],
    ),
    ("TARGET_INFO_SESSION_START_TIME", &["utcEpochNs"]),
    ("ThreadNames", &["globalTid", "nameId"]),
    ("PROCESSES", &["globalPid", "name"]),
];
/// Maximum number of rows of a table.
const MAX_ROWS: u8 = 6;

/// Bytes that decide, one after another; zeros once there are no more.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    fn below(&mut self, limit: u8) -> u8 {
        self.next() % limit
    }

    fn number(&mut self) -> i64 {
        let mut bytes = [0; 8];
        bytes.fill_with(|| self.next());
        i64::from_le_bytes(bytes)
    }

    fn cell(&mut self) -> Value {
        match self.below(10) {
            // Small numbers are ids of other tables, kinds and times.
            0..4 => Value::Integer(self.next().into()),
            4 => Value::Integer(self.number()),
            5 => Value::Integer([i64::MIN, i64::MAX, -1, 34, 59, 60][usize::from(self.below(6))]),
            6 => Value::Null,
            7 => Value::Real(f64::from_bits(self.number().cast_unsigned())),
            8 => Value::Blob(vec![self.next(); self.below(4).into()]),
            _ => {
                let letters = [
                    "a", "_v1", "\"", "\\", "\0", "\n", "µ", "cuda", "/", "_ptsz",
                ];
                let length = self.below(4);
                let letter = |_| letters[usize::from(self.below(10))];
                Value::Text((0..length).map(letter).collect())
            }
        }
    }
}

/// Writes a database to a new file.
pub(super) fn write(path: &Path, choices: &[u8]) -> rusqlite::Result<()> {
    let mut choices = Choices(choices);
    let connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN")?;
    for (table, columns) in TABLES {
        let (shape, left_out) = (choices.below(8), choices.next());
        // The first table makes it a report.
        if shape == 7 && table != "StringIds" {
            continue;
        }
        let columns: Vec<&str> = (0..)
            .zip(columns)
            .filter(|(at, _)| shape != 6 || left_out >> (at % 8) & 1 == 0)
            .map(|(_, column)| *column)
            .collect();
        if columns.is_empty() {
            continue;
        }
        let list = format!("\"{}\"", columns.join("\", \""));
        connection.execute_batch(&match shape {
            5 => format!(
                "CREATE VIEW {table} AS SELECT {}",
                "1, ".repeat(columns.len()) + "1"
            ),
            4 => format!(
                "CREATE TABLE {table} ({list}, PRIMARY KEY (\"{}\")) WITHOUT ROWID",
                columns[0]
            ),
            _ => format!("CREATE TABLE {table} ({list})"),
        })?;
        let places = vec!["?"; columns.len()].join(", ");
        let insert = format!("INSERT OR IGNORE INTO {table} VALUES ({places})");
        for _ in 0..choices.below(MAX_ROWS + 1) {
            let cells: Vec<Value> = columns.iter().map(|_| choices.cell()).collect();
            if shape != 5 {
                // A cell that the table refuses leaves its row out.
                drop(connection.execute(&insert, params_from_iter(cells)));
            }
        }
    }
    connection.execute_batch("COMMIT")
}
