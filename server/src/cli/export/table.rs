//! Rows as CSV, as an array of JSON objects, or as Parquet, in constant memory.

use std::io::{self, Write};

use serde::Serialize;
use trainscope_format::csv;

use crate::cli::parquet::{self, ColumnType};

/// Output of rows.
pub(super) struct Table<'a> {
    form: Form<'a>,
    /// First cell of every line: the run, in a table of several runs.
    run: Option<String>,
    /// Last cell of every line.
    last: Option<String>,
    has_head: bool,
}

enum Form<'a> {
    Csv(Box<csv::Rows<&'a mut dyn Write>>),
    Json { out: &'a mut dyn Write, rows: u64 },
    Parquet(Box<parquet::Rows<'a>>),
}

/// An object of one of several runs.
#[derive(Serialize)]
struct OfRun<'a, T: Serialize> {
    run: &'a str,
    #[serde(flatten)]
    record: &'a T,
}

impl<'a> Table<'a> {
    pub(super) fn new(out: &'a mut dyn Write, is_json: bool) -> Self {
        let form = if is_json {
            Form::Json { out, rows: 0 }
        } else {
            Form::Csv(Box::new(csv::Rows::new(out)))
        };
        Self::of(form)
    }

    /// A table of typed columns.
    pub(super) fn parquet(rows: parquet::Rows<'a>) -> Self {
        Self::of(Form::Parquet(Box::new(rows)))
    }

    const fn of(form: Form<'a>) -> Self {
        Self {
            form,
            run: None,
            last: None,
            has_head: false,
        }
    }

    /// Begins the rows of one of several runs.
    pub(super) fn begin_run(&mut self, run: &str) {
        self.run = Some(run.to_owned());
    }

    /// Appends this cell to every following line.
    pub(super) fn end_lines_with(&mut self, cell: &str) {
        self.last = Some(cell.to_owned());
    }

    /// True if rows are objects, which hold more than cells do.
    pub(super) const fn is_json(&self) -> bool {
        matches!(self.form, Form::Json { .. })
    }

    /// Writes column names, once; objects repeat theirs in each row.
    pub(super) fn head(&mut self, names: &[&str]) -> io::Result<()> {
        if std::mem::replace(&mut self.has_head, true) {
            return Ok(());
        }
        let run = self.run.as_ref().map(|_| "run");
        let names: Vec<&str> = run.into_iter().chain(names.iter().copied()).collect();
        match &mut self.form {
            Form::Csv(out) => out.row(&names),
            Form::Json { .. } => Ok(()),
            Form::Parquet(rows) => {
                rows.head(names.iter().map(|name| (*name, ColumnType::of(name))))
            }
        }
    }

    /// Writes a line of cells, with the common ones.
    pub(super) fn cells(&mut self, cells: &[String]) -> io::Result<()> {
        let cells = self.run.iter().chain(cells).chain(&self.last);
        match &mut self.form {
            Form::Csv(out) => out.row(cells),
            Form::Json { .. } => Ok(()),
            Form::Parquet(rows) => rows.row(cells.map(String::as_str)),
        }
    }

    pub(super) fn object(&mut self, value: &impl Serialize) -> io::Result<()> {
        match &mut self.form {
            Form::Csv(_) | Form::Parquet(_) => Ok(()),
            Form::Json { out, rows } => {
                out.write_all(if *rows == 0 { b"[\n" } else { b",\n" })?;
                *rows += 1;
                match &self.run {
                    Some(run) => serde_json::to_writer(&mut **out, &OfRun { run, record: value }),
                    None => serde_json::to_writer(&mut **out, value),
                }
                .map_err(io::Error::from)
            }
        }
    }

    pub(super) fn finish(self) -> io::Result<()> {
        match self.form {
            Form::Csv(out) => out.finish(),
            Form::Parquet(rows) => rows.finish(),
            Form::Json { out, rows: 0 } => out.write_all(b"[]\n"),
            Form::Json { out, .. } => out.write_all(b"\n]\n"),
        }
    }
}

/// A number or an empty cell.
pub(super) fn maybe(value: Option<f64>) -> String {
    value.map(csv::number).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_with_the_common_cell_and_nothing_is_an_array() {
        let mut out = Vec::new();
        let mut table = Table::new(&mut out, false);
        table.head(&["a", "writer"]).unwrap();
        table.end_lines_with("=x");
        table.cells(&["-1.5".to_owned()]).unwrap();
        table.finish().unwrap();
        assert_eq!(out, b"a,writer\n-1.5,'=x\n");
        let mut out = Vec::new();
        Table::new(&mut out, true).finish().unwrap();
        assert_eq!(out, b"[]\n");
    }
}
