//! Statements over the tables of a profile, with limits of time, memory and rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode};

use crate::profile::{self, ProfilePart};
pub use crate::table::Cell;

/// Maximum length of a statement in bytes.
pub const MAX_SQL_LEN: usize = 64 << 10;
/// Maximum length of a text of a cell in bytes.
const MAX_CELL_BYTES: i32 = 16 << 20;
/// Memory of all statements of the process together, in bytes: sorting and grouping take it. `SQLite` has one limit for
/// a process.
pub const MAX_MEMORY_BYTES: u64 = 1 << 30;
/// Instructions of `SQLite`'s machine between two looks at the clock: some 10 microseconds.
const LOOK_INSTRUCTIONS: i32 = 1_000;

/// Error of a statement.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum QueryError {
    /// A statement that `SQLite` rejects, with its message.
    #[error("{message}")]
    Wrong {
        /// The reason.
        message: String,
        /// Position in the statement, in bytes.
        offset: Option<usize>,
    },
    /// Not a reading statement, or more than one statement.
    #[error("only one statement that reads is allowed: it begins with SELECT, WITH or VALUES")]
    NotReading,
    /// It took too long.
    #[error("the statement took longer than {} s and was ended", .0.as_secs())]
    TooLong(Duration),
    /// It needs too much memory.
    #[error(
        "the statement needs more than {} MiB of memory: group or order fewer rows",
        MAX_MEMORY_BYTES >> 20
    )]
    TooLarge,
    /// It was ended from outside.
    #[error("the statement was ended")]
    Cancelled,
}

impl QueryError {
    /// The same with the beginning of the wrong part in its message, if `SQLite` names the place.
    #[must_use]
    pub fn at_place(self, sql: &str) -> Self {
        /// Letters of the part.
        const LETTERS: usize = 40;
        match self {
            Self::Wrong {
                message,
                offset: Some(offset),
            } => {
                let rest = sql.get(offset..).unwrap_or_default().chars();
                let rest = rest.map(|letter| if letter.is_control() { ' ' } else { letter });
                let rest: String = rest.take(LETTERS).collect();
                Self::Wrong {
                    message: format!("{message}, at `{rest}`"),
                    offset: Some(offset),
                }
            }
            other => other,
        }
    }
}

/// Reads rows of a statement.
pub trait Reader {
    /// Names of the columns; once, before the first row.
    fn columns(&mut self, names: &[&str]);
    /// A row; `false` ends the statement.
    fn row(&mut self, cells: &[Cell<'_>]) -> bool;
}

/// Runs one statement over the profiles of ranks.
pub fn run(
    parts: Vec<ProfilePart>,
    sql: &str,
    limit: Duration,
    is_cancelled: &Arc<AtomicBool>,
    reader: &mut dyn Reader,
) -> Result<(), QueryError> {
    if sql.len() > MAX_SQL_LEN {
        return Err(QueryError::Wrong {
            message: format!("the statement is longer than {} kB", MAX_SQL_LEN >> 10),
            offset: None,
        });
    }
    let begin = Instant::now();
    let mut connection = open(parts).map_err(|error| wrong(&error))?;
    let cancelled = Arc::clone(is_cancelled);
    let is_over = move || begin.elapsed() >= limit || cancelled.load(Ordering::Relaxed);
    let hooked = connection
        .progress_handler(LOOK_INSTRUCTIONS, Some(is_over))
        .and_then(|()| connection.authorizer(Some(is_allowed)));
    hooked.map_err(|error| wrong(&error))?;
    read(&connection, sql, reader).map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) if is_cancelled.load(Ordering::Relaxed) => {
            QueryError::Cancelled
        }
        Some(ErrorCode::OperationInterrupted) => QueryError::TooLong(limit),
        Some(ErrorCode::OutOfMemory) => QueryError::TooLarge,
        Some(ErrorCode::AuthorizationForStatementDenied) => QueryError::NotReading,
        _ => wrong(&error),
    })
}

fn open(parts: Vec<ProfilePart>) -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    // Sorting stays in memory, where it is counted, and writes no files. The limit can only be lowered.
    connection.execute_batch(&format!(
        "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF; PRAGMA hard_heap_limit = {MAX_MEMORY_BYTES};"
    ))?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_CELL_BYTES)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_WORKER_THREADS, 0)?;
    profile::add(&connection, parts)?;
    Ok(connection)
}

/// Reading of tables, and functions of `SQLite`.
fn is_allowed(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select
        | AuthAction::Read { .. }
        | AuthAction::Function { .. }
        | AuthAction::Recursive => Authorization::Allow,
        _ => Authorization::Deny,
    }
}

fn read(connection: &Connection, sql: &str, reader: &mut dyn Reader) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(sql)?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    reader.columns(&names);
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut cells = Vec::with_capacity(names.len());
        for column in 0..names.len() {
            cells.push(match row.get_ref(column)? {
                ValueRef::Null => Cell::Null,
                ValueRef::Integer(value) => Cell::Int(value),
                ValueRef::Real(value) => Cell::Real(value),
                ValueRef::Text(text) => Cell::Text(std::str::from_utf8(text).unwrap_or("\u{fffd}")),
                ValueRef::Blob(_) => Cell::Text("(bytes)"),
            });
        }
        if !reader.row(&cells) {
            break;
        }
    }
    Ok(())
}

/// End of `SQLite`'s message for a change of a virtual table, which it refuses before it asks.
const UNMODIFIABLE: &str = "may not be modified";

fn wrong(error: &rusqlite::Error) -> QueryError {
    match error {
        rusqlite::Error::SqlInputError { msg, offset, .. } => QueryError::Wrong {
            message: msg.clone(),
            offset: usize::try_from(*offset).ok(),
        },
        rusqlite::Error::SqliteFailure(_, Some(message)) if message.ends_with(UNMODIFIABLE) => {
            QueryError::NotReading
        }
        rusqlite::Error::SqliteFailure(_, Some(message)) => QueryError::Wrong {
            message: message.clone(),
            offset: None,
        },
        rusqlite::Error::MultipleStatement => QueryError::NotReading,
        other => QueryError::Wrong {
            message: other.to_string(),
            offset: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use trainscope_analysis::trace::Model;
    use trainscope_format::trace::{
        Category, CounterSeries, DeclaredStep, Lane, NONE, Slice, SliceClass, Trace,
    };

    use super::*;

    struct SharedModel(Model);

    impl AsRef<Model> for SharedModel {
        fn as_ref(&self) -> &Model {
            &self.0
        }
    }

    /// 300 slices of 7 names on 3 lanes, in steps of 100 ns.
    fn part(rank: u32) -> ProfilePart {
        let mut trace = Trace::default();
        let names: Vec<_> = ["relu", "gemm", "Zeta", "add", "µ", "gemm2", "a'b"]
            .map(|name| trace.texts.intern(name))
            .to_vec();
        trace.lanes = vec![Lane::default(); 3];
        trace.categories.push(Category {
            name: "cpu_op".to_owned(),
            class: SliceClass::Operator,
            ..Category::default()
        });
        for at in 0..300_u16 {
            trace.slices.push(&Slice {
                begin: 1_000 + i64::from(at) * 2,
                duration: u64::from(at * 37 % 11),
                name: names[usize::from(at * 13 % 7)],
                lane: at % 3,
                category: 0,
                link: NONE,
                detail: NONE,
                place: 0,
            });
        }
        for number in 0..5 {
            trace.declared_steps.push(DeclaredStep {
                number,
                begin: 1_000 + number * 100,
                end: 1_100 + number * 100,
            });
        }
        for name in ["queue", "power"] {
            trace.counters.push(CounterSeries {
                name: name.to_owned(),
                times: vec![1_000, 1_001, 1_002],
                values: vec![1.5, f64::NAN, f64::INFINITY],
                ..CounterSeries::default()
            });
        }
        ProfilePart {
            rank,
            model: Arc::new(SharedModel(Model::new(trace))),
        }
    }

    #[derive(Default)]
    struct Lines(Vec<String>, usize);

    impl Reader for Lines {
        fn columns(&mut self, names: &[&str]) {
            self.0.push(names.join("|"));
        }

        fn row(&mut self, cells: &[Cell<'_>]) -> bool {
            let cells: Vec<String> = cells
                .iter()
                .map(|cell| match cell {
                    Cell::Null => "-".to_owned(),
                    Cell::Int(value) => value.to_string(),
                    Cell::Real(value) => value.to_string(),
                    Cell::Text(text) => (*text).to_owned(),
                })
                .collect();
            self.0.push(cells.join("|"));
            self.1 == 0 || self.0.len() <= self.1
        }
    }

    fn ask(parts: Vec<ProfilePart>, sql: &str) -> Result<Vec<String>, QueryError> {
        let mut lines = Lines::default();
        let limit = Duration::from_secs(20);
        run(parts, sql, limit, &Arc::default(), &mut lines)?;
        Ok(lines.0)
    }

    fn rows(sql: &str) -> Vec<String> {
        let mut lines = ask(vec![part(0)], sql).unwrap();
        lines.remove(0);
        lines
    }

    #[test]
    fn an_index_of_the_table_changes_no_answer() {
        // A `+` before a column keeps SQLite from handing it to the table.
        for (fast, slow) in [
            (
                "SELECT name, count(*), sum(duration_ns), min(begin_ns) FROM slices GROUP BY name",
                "SELECT name, count(*), sum(duration_ns), min(begin_ns) FROM slices GROUP BY +name",
            ),
            (
                "SELECT step, lane, name, sum(duration_ns) FROM slices GROUP BY step, lane, name",
                "SELECT step, lane, name, sum(duration_ns) FROM slices GROUP BY +step, +lane, +name",
            ),
            (
                "SELECT id, name FROM slices ORDER BY name DESC, lane",
                "SELECT id, name FROM slices ORDER BY +name DESC, +lane, id",
            ),
            (
                "SELECT id FROM slices WHERE name = 'gemm' AND lane = 1 ORDER BY step DESC",
                "SELECT id FROM slices WHERE +name = 'gemm' AND +lane = 1 ORDER BY +step DESC, id",
            ),
            (
                "SELECT count(*) FROM slices WHERE name = 'GEMM' COLLATE NOCASE",
                "SELECT count(*) FROM slices WHERE lower(name) = 'gemm'",
            ),
            (
                "SELECT count(*) FROM slices WHERE step = '2'",
                "SELECT count(*) FROM slices WHERE +step = 2",
            ),
            (
                "SELECT count(*) FROM slices WHERE step = 2.0",
                "SELECT count(*) FROM slices WHERE +step = 2",
            ),
            (
                "SELECT count(*) FROM slices WHERE step = NULL OR name = 'none'",
                "SELECT 0",
            ),
            (
                "SELECT name FROM slices WHERE id = 17.0",
                "SELECT name FROM slices WHERE +id = 17",
            ),
            (
                "SELECT count(*) FROM slices a JOIN slices b ON b.id = a.id + 1",
                "SELECT 299",
            ),
            (
                "SELECT DISTINCT name FROM slices",
                "SELECT DISTINCT +name FROM slices ORDER BY 1",
            ),
            (
                "SELECT count(*) FROM slices WHERE step IS NULL",
                "SELECT count(*) FROM slices WHERE begin_ns >= 500",
            ),
        ] {
            let mut fast_rows = rows(fast);
            let mut slow_rows = rows(slow);
            if fast.contains("DISTINCT") {
                fast_rows.sort_unstable();
                slow_rows.sort_unstable();
            }
            assert_eq!(fast_rows, slow_rows, "{fast}");
        }
    }

    #[test]
    fn ranks_are_one_table() {
        let parts = vec![part(0), part(3)];
        let lines = ask(
            parts.clone(),
            "SELECT rank, count(*), count(DISTINCT name), max(id) FROM slices GROUP BY rank",
        );
        assert_eq!(lines.unwrap()[1..], ["0|300|7|299", "3|300|7|299"]);
        let lines = ask(
            parts.clone(),
            "SELECT rank, name FROM slices WHERE id = 5 ORDER BY rank DESC",
        );
        assert_eq!(lines.unwrap()[1..], ["3|Zeta", "0|Zeta"]);
        let lines = ask(
            parts,
            "SELECT rank, step, duration_ns FROM steps WHERE step = 4",
        );
        assert_eq!(lines.unwrap()[1..], ["0|4|100", "3|4|100"]);
        assert_eq!(
            ask(Vec::new(), "SELECT count(*) FROM slices").unwrap()[1..],
            ["0"]
        );
    }

    #[test]
    fn what_is_no_number_is_told_apart() {
        assert_eq!(
            rows("SELECT name, time_ns, value, is_nan FROM counters"),
            [
                "queue|0|1.5|0",
                "queue|1|-|1",
                "queue|2|inf|0",
                "power|0|1.5|0",
                "power|1|-|1",
                "power|2|inf|0"
            ]
        );
    }

    #[test]
    fn every_column_of_every_table_can_be_read() {
        for table in trainscope_api::profile::TABLES {
            let lines = ask(vec![part(0)], &format!("SELECT * FROM {}", table.name)).unwrap();
            let names: Vec<_> = table.columns.iter().map(|column| column.name).collect();
            assert_eq!(lines[0], names.join("|"));
        }
    }

    #[test]
    fn nothing_but_reading_is_allowed() {
        for sql in [
            "CREATE TABLE t(x)",
            "INSERT INTO sqlite_master VALUES(1,2,3,4,5)",
            "CREATE TEMP TABLE t AS SELECT 1",
            "UPDATE slices SET name = ''",
            "DELETE FROM slices",
            "DROP TABLE slices",
            "ATTACH '/tmp/x.db' AS x",
            "VACUUM INTO '/tmp/x.db'",
            "PRAGMA hard_heap_limit = 0",
            "PRAGMA temp_store_directory = '/tmp'",
            "PRAGMA writable_schema = ON",
            "BEGIN",
            "ANALYZE",
        ] {
            assert_eq!(
                ask(vec![part(0)], sql),
                Err(QueryError::NotReading),
                "{sql}"
            );
        }
        for sql in ["SELECT 1; SELECT 2", "SELECT 1; DROP TABLE slices"] {
            assert_eq!(
                ask(vec![part(0)], sql),
                Err(QueryError::NotReading),
                "{sql}"
            );
        }
        assert!(ask(vec![part(0)], "SELECT load_extension('x')").is_err());
        assert!(ask(vec![part(0)], "").is_err());
    }

    #[test]
    fn a_statement_that_is_wrong_is_told_where() {
        let error = ask(vec![part(0)], "SELECT nme FROM slices").unwrap_err();
        assert_eq!(
            error,
            QueryError::Wrong {
                message: "no such column: nme".to_owned(),
                offset: Some(7)
            }
        );
    }

    #[test]
    fn statements_end_in_time_and_in_their_memory() {
        let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
        let limit = Duration::from_millis(50);
        let mut lines = Lines::default();
        let ended = Arc::default();
        let answer = run(vec![part(0)], endless, limit, &ended, &mut lines);
        assert_eq!(answer, Err(QueryError::TooLong(limit)));
        ended.store(true, Ordering::Relaxed);
        let answer = run(
            vec![part(0)],
            endless,
            Duration::from_mins(1),
            &ended,
            &mut lines,
        );
        assert_eq!(answer, Err(QueryError::Cancelled));
        for large in [
            "SELECT length(zeroblob(1 << 30))",
            "SELECT length(printf('%.*c', 1 << 30, 'x'))",
        ] {
            assert!(ask(vec![part(0)], large).is_err(), "{large}");
        }
        let mut lines = Lines(Vec::new(), 3);
        let all = "SELECT id FROM slices";
        run(vec![part(0)], all, limit * 100, &Arc::default(), &mut lines).unwrap();
        assert_eq!(lines.0.len(), 4);
    }
}
