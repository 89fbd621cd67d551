//! `trainscope query`: SQL over the profiles of a session.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use trainscope_api::profile::TABLES;
use trainscope_format::csv;
use trainscope_sql::query::{self, Cell, QueryError};

use super::check::write_out;
use super::export::SessionChoice;
use super::mistake::Mistake;
use super::reading::Reading;
use super::table::{Column, Table};
use super::{CommandError, words};
use crate::queries::profile::{parts, value};

/// Rows of a text: a terminal shows no more.
const MAX_TEXT_ROWS: usize = 1_000;
/// Longest statement on standard input in bytes; a longer one is refused with its reason.
const MAX_INPUT: u64 = query::MAX_SQL_LEN as u64 + 1;

/// The flags of `trainscope query`.
#[derive(Args, Clone, Debug)]
pub(super) struct QueryFlags {
    /// The folder of a run, or a single file of one
    #[arg(value_name = "RUN", required_unless_present = "tables")]
    run: Option<PathBuf>,

    /// One SELECT statement; `-` reads it from standard input
    #[arg(value_name = "SQL", required_unless_present = "tables")]
    sql: Option<String>,

    /// List the tables and their columns
    #[arg(long)]
    tables: bool,

    /// Of this session of a profiler: its id or `newest`
    #[arg(long, value_name = "ID", default_value = "newest", value_parser = SessionChoice::parse)]
    session: SessionChoice,

    /// Of this rank only [default: all, told apart by the column `rank`]
    #[arg(long, value_name = "N")]
    rank: Option<u32>,

    /// End the statement after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    timeout: u64,

    /// Output format
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = QueryFormat::Text)]
    format: QueryFormat,

    /// Write the rows to a file; `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum QueryFormat {
    /// For people: the first 1,000 rows
    Text,
    /// Comma-separated values, NULL as an empty cell
    Csv,
    /// Names of the columns, and rows as arrays: `{"columns": […], "rows": [[…], …]}`
    Json,
}

pub(super) fn run(flags: &QueryFlags) -> Result<u8, CommandError> {
    let (Some(run), Some(sql)) = (&flags.run, &flags.sql) else {
        write_out(flags.output.as_deref(), write_tables)?;
        return Ok(0);
    };
    let sql = if sql == "-" { input()? } else { sql.clone() };
    let reading = Reading::of(run)?;
    let loaded = flags.session.loaded(flags.rank, &reading)?;
    let limit = Duration::from_secs(flags.timeout);
    let mut failure = None;
    write_out(flags.output.as_deref(), |out| {
        let mut rows = RowWriter::new(flags.format, out);
        let ended = query::run(parts(&loaded), &sql, limit, &Arc::default(), &mut rows);
        failure = ended.err();
        rows.finish()
    })?;
    failure.map_or(Ok(0), |error| Err(mistake(&error.at_place(&sql)).into()))
}

fn input() -> Result<String, Mistake> {
    let read = io::read_to_string(io::Read::take(io::stdin().lock(), MAX_INPUT));
    read.map_err(|error| Mistake::new(2, format!("the statement cannot be read: {error}")).at("-"))
}

/// The error of a statement, with its remedy.
fn mistake(error: &QueryError) -> Mistake {
    let mistake = Mistake::new(2, error.to_string());
    match error {
        QueryError::TooLong(_) => mistake.attempt("--timeout with more seconds, or fewer rows"),
        _ => mistake.attempt("trainscope query --tables, which lists tables and columns"),
    }
}

fn write_tables(out: &mut dyn Write) -> io::Result<()> {
    for info in TABLES {
        writeln!(out, "{}: {}", info.name, info.meaning)?;
        let columns = ["column", "type", "meaning"].map(Column::left);
        let mut table = Table::new(columns.to_vec()).indent(2);
        for column in info.columns {
            table.row([column.name, column.r#type, column.meaning].map(Into::into));
        }
        table.write(out)?;
        writeln!(out)?;
    }
    Ok(())
}

/// Writes rows as they arrive.
struct RowWriter<'a> {
    out: Output<'a>,
    names: Vec<String>,
    /// The first error of the output.
    error: Option<io::Error>,
}

enum Output<'a> {
    Text {
        rows: Vec<Vec<(String, bool)>>,
        is_cut: bool,
        out: &'a mut dyn Write,
    },
    Csv(Box<csv::Rows<&'a mut dyn Write>>),
    Json {
        rows: u64,
        out: &'a mut dyn Write,
    },
}

impl<'a> RowWriter<'a> {
    fn new(format: QueryFormat, out: &'a mut dyn Write) -> Self {
        Self {
            out: match format {
                QueryFormat::Text => Output::Text {
                    rows: Vec::new(),
                    is_cut: false,
                    out,
                },
                QueryFormat::Csv => Output::Csv(Box::new(csv::Rows::new(out))),
                QueryFormat::Json => Output::Json { rows: 0, out },
            },
            names: Vec::new(),
            error: None,
        }
    }

    fn write(&mut self, cells: &[Cell<'_>]) -> io::Result<bool> {
        match &mut self.out {
            Output::Text { rows, is_cut, .. } => {
                *is_cut = rows.len() >= MAX_TEXT_ROWS;
                if !*is_cut {
                    let cell = |cell: &Cell<'_>| {
                        let is_number = matches!(cell, Cell::Int(_) | Cell::Real(_));
                        (text(cell), is_number)
                    };
                    rows.push(cells.iter().map(cell).collect());
                }
                return Ok(!*is_cut);
            }
            Output::Csv(out) => out.row(cells.iter().map(text))?,
            Output::Json { rows, out } => {
                out.write_all(if *rows == 0 { b"\n" } else { b",\n" })?;
                *rows += 1;
                let values: Vec<_> = cells.iter().map(value).collect();
                serde_json::to_writer(out, &values)?;
            }
        }
        Ok(true)
    }

    fn finish(self) -> io::Result<()> {
        if let Some(error) = self.error {
            return Err(error);
        }
        match self.out {
            Output::Text { rows, is_cut, out } => {
                let is_number = |at: usize| {
                    let mut column = rows.iter().filter_map(|row| row.get(at));
                    column.any(|cell| cell.1)
                };
                let columns = self.names.into_iter().enumerate().map(|(at, name)| {
                    let column = Column::new(name.into());
                    if is_number(at) {
                        column.aligned_right()
                    } else {
                        column
                    }
                });
                let mut table = Table::new(columns.collect::<Vec<_>>());
                for row in &rows {
                    let cells = row.iter().map(|(text, _)| words::name(text, None).into());
                    table.row(cells.collect::<Vec<_>>());
                }
                table.write(out)?;
                if is_cut {
                    writeln!(
                        out,
                        "… these are the first 1,000 rows; --format csv has all"
                    )?;
                }
                Ok(())
            }
            Output::Csv(out) => out.finish(),
            // Without names the statement has failed before its first row.
            Output::Json { out, .. } if self.names.is_empty() => out.flush(),
            Output::Json { out, .. } => out.write_all(b"\n]}\n"),
        }
    }
}

impl query::Reader for RowWriter<'_> {
    fn columns(&mut self, names: &[&str]) {
        self.names = names.iter().map(ToString::to_string).collect();
        let written = match &mut self.out {
            Output::Text { .. } => Ok(()),
            Output::Csv(out) => out.row(names),
            Output::Json { out, .. } => out
                .write_all(b"{\"columns\": ")
                .and_then(|()| Ok(serde_json::to_writer(&mut *out, names)?))
                .and_then(|()| out.write_all(b", \"rows\": [")),
        };
        self.error = written.err();
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> bool {
        if self.error.is_some() {
            return false;
        }
        self.write(cells).unwrap_or_else(|error| {
            self.error = Some(error);
            false
        })
    }
}

fn text(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Int(value) => value.to_string(),
        Cell::Real(value) => csv::number(*value),
        Cell::Text(text) => (*text).to_owned(),
    }
}
