//! `trainscope table`: parameters, results and facts of many runs, a row each.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tempfile::TempDir;
use trainscope_analysis::columns::{CellValue, ColumnKind};
use trainscope_api::filter;
use trainscope_format::csv;

use super::check::write_out;
use super::export::write_to;
use super::mistake::Mistake;
use super::parquet::{self, ColumnType};
use super::style::QUIET;
use super::table::{Cell, Column, Table};
use super::{CommandError, words};
use crate::files;
use crate::index::{Index, ReadError};
use crate::ingest::{IngestSettings, Ingester};
use crate::notebook::Notebooks;
use crate::table::{self, Filter, Group, RunTable, UnknownColumn, compare, group};

/// Default number of columns in a terminal; more do not fit.
const GLANCE: usize = 12;
/// Polling interval of the reading progress.
const PAUSE: Duration = Duration::from_millis(2);
/// Digits of a number in a terminal.
const DIGITS: usize = 6;

/// The flags of `trainscope table`.
#[derive(Args, Clone, Debug)]
pub(super) struct TableFlags {
    /// Folders with training runs
    #[arg(value_name = "DIR", required = true)]
    dirs: Vec<PathBuf>,

    /// Columns by their keys, separated by commas: lr, metric:loss@min, eval:Accuracy; `*` matches any characters
    /// [default: parameters that differ and results; for programs: all]
    #[arg(long, short, value_name = "KEYS", value_delimiter = ',')]
    columns: Vec<String>,

    /// Runs that match: `lr:>0.01 opt:adam|sgd -metric:loss:nan`
    #[arg(long, value_name = "TERMS", allow_hyphen_values = true)]
    filter: Option<String>,

    /// Order by these columns, separated by commas; a leading `-` puts the largest first. Runs without a value are last
    #[arg(
        long,
        value_name = "KEYS",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    sort: Vec<String>,

    /// A row for each group of runs with equal values of these columns, with mean, standard deviation (sd) and number (n) of
    /// the results among the columns
    #[arg(long, value_name = "KEYS", value_delimiter = ',', conflicts_with_all = ["sort", "pareto"])]
    group_by: Vec<String>,

    /// Add the Pareto front of each run by two or three results: on front 1, no run is better in all of them
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    pareto: Vec<String>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Text)]
    format: OutputFormat,

    /// Write the table to a file; `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OutputFormat {
    /// For people
    Text,
    /// Comma-separated values, a line each run
    Csv,
    /// For programs
    Json,
    /// Typed columns, for `DuckDB`, polars, pandas, Spark
    Parquet,
}

/// The runs of some folders, read into a temporary index.
pub(super) struct Folders {
    pub(super) table: RunTable,
    _ingester: Ingester,
    _cache: TempDir,
}

impl Folders {
    /// Reads all runs below some folders.
    pub(super) fn read(dirs: &[PathBuf]) -> Result<Self, Mistake> {
        let mut base_dirs = Vec::new();
        for dir in dirs {
            if files::is_address(dir) {
                let base = files::canonical(dir)
                    .map_err(|error| Mistake::new(2, error.to_string()).at(words::path(dir)))?;
                base_dirs.push(base);
                continue;
            }
            let base = dir.canonicalize().ok().filter(|base| base.is_dir());
            base_dirs.push(base.ok_or_else(|| {
                Mistake::new(2, format!("{} is no folder", words::path(dir)))
                    .at(words::path(dir))
                    .attempt("the folder that holds the runs")
            })?);
        }
        let no_room = |error: &dyn std::fmt::Display| {
            Mistake::new(2, format!("there is no room for temporary files: {error}"))
                .at(std::env::temp_dir().display().to_string())
                .attempt("free space, or set TMPDIR to another folder")
        };
        let cache = tempfile::tempdir().map_err(|error| no_room(&error))?;
        let settings = IngestSettings {
            base_dirs: base_dirs.clone(),
            cache_dir: cache.path().to_owned(),
            // One scan is enough.
            reload_interval: Duration::from_hours(1),
            file_events: false,
        };
        let (ingester, index): (Ingester, Index) =
            Ingester::start(settings).map_err(|error| no_room(&error))?;
        while !index.ingest().idle {
            std::thread::sleep(PAUSE);
        }
        let notes = Notebooks::open(&base_dirs, cache.path()).read();
        let table = RunTable::read(&index, &base_dirs, &notes).map_err(|error| unread(&error))?;
        if table.rows.is_empty() {
            let names: Vec<String> = dirs.iter().map(|dir| words::path(dir)).collect();
            return Err(Mistake::new(2, "there are no runs").at(names.join(", ")));
        }
        for row in &table.rows {
            for (path, reason) in &row.faults {
                tell(&format!("{}/{path} is left out: {reason}", row.run));
            }
        }
        for row in table.rows.iter().filter(|row| row.left_out > 0) {
            let count = row.left_out;
            tell(&format!(
                "{}: {count} values are cut or left out: too long, too many or too deep",
                row.run
            ));
        }
        if table.left_out > 0 {
            tell(&format!(
                "{} columns are left out: a table has 2,000",
                table.left_out
            ));
        }
        Ok(Self {
            table,
            _ingester: ingester,
            _cache: cache,
        })
    }

    /// Numbers of the rows that match a filter; an unknown key is a mistake.
    pub(super) fn filtered(&self, text: Option<&str>) -> Result<Vec<usize>, Mistake> {
        let filter =
            Filter::new(&self.table, text.unwrap_or_default()).map_err(|error| unread(&error))?;
        let filter = filter.map_err(|error| unknown(error, "--filter"))?;
        Ok(filter.rows(&self.table))
    }

    /// Key of a column by its name in any letter case; a bare name may also be that of a result.
    pub(super) fn key(&self, name: &str, flag: &str) -> Result<String, Mistake> {
        self.table.key(name).map_err(|error| unknown(error, flag))
    }

    fn columns(&self, keys: &[String]) -> Result<Vec<Arc<table::Column>>, Mistake> {
        keys.iter()
            .map(|key| self.table.column(key).map_err(|error| unread(&error)))
            .collect()
    }
}

fn unread(error: &ReadError) -> Mistake {
    Mistake::new(2, error.to_string())
}

fn unknown(error: UnknownColumn, flag: &str) -> Mistake {
    let what = format!("no run has a column {}", error.name);
    let attempt = "trainscope table DIR --format csv, which has all columns".to_owned();
    Mistake::new(2, what)
        .at(flag.to_owned())
        .attempt(error.similar.unwrap_or(attempt))
}

/// Prints a line for people. Errors of stderr are ignored.
fn tell(line: &str) {
    drop(writeln!(anstream::stderr(), "{line}"));
}

pub(super) fn run(flags: &TableFlags) -> Result<u8, CommandError> {
    let folders = Folders::read(&flags.dirs)?;
    let mut rows = folders.filtered(flags.filter.as_deref())?;
    let mut order = Vec::new();
    for name in &flags.sort {
        let (is_reverse, name) = match name.strip_prefix('-') {
            Some(name) => (true, name),
            None => (false, &**name),
        };
        let column = folders.columns(&[folders.key(name, "--sort")?])?;
        let values = column
            .iter()
            .flat_map(|column| column.values(folders.table.rows.len()));
        order.push((values.collect::<Vec<CellValue>>(), is_reverse));
    }
    rows.sort_by(|a, b| {
        let orders = order.iter().map(|(cells, is_reverse)| {
            let (a, b) = (&cells[*a], &cells[*b]);
            compare(a, b, *is_reverse)
        });
        orders.fold(Ordering::Equal, Ordering::then)
    });
    let part = part(flags, &folders, rows)?;
    let path = flags.output.as_deref();
    let path = path.filter(|path| *path != Path::new("-"));
    match flags.format {
        OutputFormat::Text => write_out(path, |out| write_text(&part, out)),
        OutputFormat::Csv => write_out(path, |out| write_csv(&part, out)),
        OutputFormat::Json => write_out(path, |out| write_json(&part, out)),
        OutputFormat::Parquet => write_to(path, |out| Ok(write_parquet(&part, out)?)),
    }?;
    Ok(0)
}

/// Rows and columns to show.
struct Part {
    names: Vec<String>,
    /// Numbers of the rows, and of all.
    rows: Vec<usize>,
    all: usize,
    columns: Vec<(String, Arc<table::Column>)>,
    /// Number of columns that are not shown.
    hidden: usize,
    /// Name of a row.
    unit: &'static str,
}

impl Part {
    /// Number and name of each row.
    fn runs(&self) -> impl Iterator<Item = (usize, &str)> {
        let name = |row: &usize| Some((*row, &**self.names.get(*row)?));
        self.rows.iter().filter_map(name)
    }
}

fn part(flags: &TableFlags, folders: &Folders, rows: Vec<usize>) -> Result<Part, Mistake> {
    let table = &folders.table;
    let keys = columns(flags, folders)?;
    let named = |names: &[String], flag: &str| -> Result<Vec<String>, Mistake> {
        names.iter().map(|name| folders.key(name, flag)).collect()
    };
    if !flags.group_by.is_empty() {
        let by = named(&flags.group_by, "--group-by")?;
        let results: Vec<String> = keys
            .into_iter()
            .filter(|key| group(key) == Group::Result)
            .collect();
        let groups = table
            .groups(&rows, &by, &results)
            .map_err(|error| unread(&error))?;
        return Ok(Part {
            rows: (0..groups.names.len()).collect(),
            all: groups.names.len(),
            names: groups.names,
            columns: groups.columns,
            hidden: 0,
            unit: "groups",
        });
    }
    let columns = folders.columns(&keys)?;
    let hidden = table.keys.len().saturating_sub(keys.len());
    let mut columns: Vec<(String, Arc<table::Column>)> = keys.into_iter().zip(columns).collect();
    if !flags.pareto.is_empty() {
        let results = named(&flags.pareto, "--pareto")?;
        if !(2..=3).contains(&results.len()) {
            let mistake = Mistake::new(2, "a front has two or three results");
            return Err(mistake.at("--pareto"));
        }
        let fronts = table
            .fronts(&rows, &results)
            .map_err(|error| unread(&error))?;
        let fronts = fronts.map_err(|key| {
            let key = words::name(&key, None);
            Mistake::new(2, format!("{key} does not say its better end")).at("--pareto")
        })?;
        columns.push(("front".to_owned(), Arc::new(fronts)));
    }
    Ok(Part {
        names: table.rows.iter().map(|row| row.run.to_string()).collect(),
        rows,
        all: table.rows.len(),
        columns,
        hidden,
        unit: "runs",
    })
}

/// Keys of the columns to show.
fn columns(flags: &TableFlags, folders: &Folders) -> Result<Vec<String>, Mistake> {
    let table = &folders.table;
    if flags.columns.is_empty() {
        return Ok(match flags.format {
            OutputFormat::Text => table.glance(GLANCE),
            OutputFormat::Csv | OutputFormat::Json | OutputFormat::Parquet => table.keys.clone(),
        });
    }
    let mut keys: Vec<String> = Vec::new();
    for name in &flags.columns {
        if name.contains('*') {
            let pattern = name.to_lowercase();
            let matching = table
                .keys
                .iter()
                .filter(|key| filter::like(&key.to_lowercase(), &pattern));
            keys.extend(matching.cloned());
        } else {
            keys.push(folders.key(name, "--columns")?);
        }
    }
    let mut seen = BTreeSet::new();
    keys.retain(|key| seen.insert(key.clone()));
    Ok(keys)
}

/// Text of a value for people: six digits.
pub(super) fn short(value: f64) -> String {
    let plain = value.to_string();
    if !value.is_finite() {
        return csv::number(value);
    }
    if plain.len() <= DIGITS + 2 {
        return plain;
    }
    let size = value.abs();
    if (1e-4..1e7).contains(&size) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a logarithm of these numbers is −4 to 7"
        )]
        let before = size.log10().floor() as i32 + 1;
        let digits = usize::try_from(6 - before.max(1)).unwrap_or(0);
        let text = format!("{value:.digits$}");
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    } else {
        let text = format!("{value:.3e}");
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        format!("{digits}e{power}")
    }
}

fn write_text(part: &Part, out: &mut dyn Write) -> io::Result<()> {
    let mut heads = vec![Column::left("RUN")];
    for (key, column) in &part.columns {
        let head = Column::new(words::name(key, None).into());
        let kind = column.facts().kind;
        let is_number = matches!(kind, ColumnKind::Number | ColumnKind::Integer);
        heads.push(if is_number {
            head.aligned_right()
        } else {
            head
        });
    }
    let mut lines = Table::new(heads);
    let mut has_disagreement = false;
    for (row, run) in part.runs() {
        let mut cells: Vec<Cell> = vec![words::name(run, None).into()];
        for (_, column) in &part.columns {
            let text = match column.get(row) {
                CellValue::Number(number) => short(number),
                other => words::name(&other.text(), None),
            };
            let disagrees = column.disagrees(row);
            has_disagreement |= disagrees;
            cells.push(
                if disagrees {
                    format!("{text} ≠")
                } else {
                    text
                }
                .into(),
            );
        }
        lines.row(cells);
    }
    lines.write(out)?;
    let (rows, all) = (part.rows.len(), part.all);
    writeln!(out, "\n{QUIET}{rows} of {all} {}", part.unit)?;
    if part.hidden > 0 {
        writeln!(out, "{} more columns: --columns '*'", part.hidden)?;
    }
    if has_disagreement {
        writeln!(out, "≠ another source of this value says something else")?;
    }
    write!(out, "{QUIET:#}")
}

fn write_csv(part: &Part, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = csv::Rows::new(out);
    let keys = part.columns.iter().map(|(key, _)| &**key);
    lines.row(std::iter::once("run").chain(keys))?;
    for (row, run) in part.runs() {
        let cells = part
            .columns
            .iter()
            .map(|(_, column)| column.get(row).text());
        lines.row(std::iter::once(run.to_owned()).chain(cells))?;
    }
    lines.finish()
}

fn write_parquet(part: &Part, out: &mut (dyn Write + Send)) -> io::Result<()> {
    let types = part.columns.iter().map(|(key, column)| {
        let cells = part.rows.iter().map(|row| column.get(*row));
        (&**key, type_of(&cells.collect::<Vec<_>>()))
    });
    let mut rows = parquet::Rows::new(parquet::Output::Stream(out), "table")?;
    rows.head(std::iter::once(("run", ColumnType::Text)).chain(types))?;
    for (row, run) in part.runs() {
        let cells: Vec<String> = part
            .columns
            .iter()
            .map(|(_, column)| column.get(row).text())
            .collect();
        rows.row(std::iter::once(run).chain(cells.iter().map(String::as_str)))?;
    }
    rows.finish()
}

/// The type of a column by its cells: text, unless all of them are numbers, or truth values.
fn type_of(cells: &[CellValue]) -> ColumnType {
    let cells = || cells.iter().filter(|cell| !cell.is_missing());
    if cells().all(|cell| matches!(cell, CellValue::Number(_))) {
        ColumnType::Float
    } else if cells().all(|cell| matches!(cell, CellValue::Truth(_))) {
        ColumnType::Truth
    } else {
        ColumnType::Text
    }
}

fn write_json(part: &Part, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = Vec::new();
    for (row, run) in part.runs() {
        let mut line: BTreeMap<&str, CellValue> = BTreeMap::new();
        for (key, column) in &part.columns {
            let value = column.get(row);
            if !value.is_missing() {
                line.insert(key, value);
            }
        }
        line.insert("run", CellValue::Text(run.to_owned()));
        lines.push(line);
    }
    serde_json::to_writer_pretty(&mut *out, &lines)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_without_a_value_are_last_in_both_directions() {
        let cells = [
            CellValue::Missing,
            CellValue::Number(f64::NAN),
            CellValue::Number(2.0),
            CellValue::Number(1.0),
        ];
        for (is_reverse, expected) in [(false, [3, 2, 1, 0]), (true, [2, 3, 1, 0])] {
            let mut order = [0, 1, 2, 3];
            order.sort_by(|a, b| compare(&cells[*a], &cells[*b], is_reverse));
            assert_eq!(order, expected);
        }
    }

    #[test]
    fn numbers_for_people_have_six_digits() {
        for (value, text) in [
            (0.054_331_526, "0.05433"),
            (2.370_969_8, "2.37097"),
            (100_000_000.0, "1e8"),
            (1.25e-8, "1.25e-8"),
            (123_456.789, "123457"),
            (0.1, "0.1"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(short(value), text);
        }
    }
}
