//! Rows as CSV, or as an array of JSON objects, written one by one in constant memory.

use std::io::{self, Write};

use serde::Serialize;
use trainscope_format::csv;

/// Output of rows.
pub(super) struct Table<'a> {
    form: Form<'a>,
    /// Last cell of every line.
    last: Option<String>,
}

enum Form<'a> {
    Csv(Box<csv::Rows<&'a mut dyn Write>>),
    Json { out: &'a mut dyn Write, rows: u64 },
}

impl<'a> Table<'a> {
    pub(super) fn new(out: &'a mut dyn Write, is_json: bool) -> Self {
        let form = if is_json {
            Form::Json { out, rows: 0 }
        } else {
            Form::Csv(Box::new(csv::Rows::new(out)))
        };
        Self { form, last: None }
    }

    /// Appends this cell to every following line.
    pub(super) fn end_lines_with(&mut self, cell: &str) {
        self.last = Some(cell.to_owned());
    }

    /// True if rows are objects, which hold more than cells do.
    pub(super) const fn is_json(&self) -> bool {
        matches!(self.form, Form::Json { .. })
    }

    /// Writes column names; objects repeat theirs in each row.
    pub(super) fn head(&mut self, names: &[&str]) -> io::Result<()> {
        match &mut self.form {
            Form::Csv(out) => out.row(names),
            Form::Json { .. } => Ok(()),
        }
    }

    /// Writes a line of cells, with the common last one.
    pub(super) fn cells(&mut self, cells: &[String]) -> io::Result<()> {
        match &mut self.form {
            Form::Csv(out) => out.row(cells.iter().chain(&self.last)),
            Form::Json { .. } => Ok(()),
        }
    }

    pub(super) fn object(&mut self, value: &impl Serialize) -> io::Result<()> {
        match &mut self.form {
            Form::Csv(_) => Ok(()),
            Form::Json { out, rows } => {
                out.write_all(if *rows == 0 { b"[\n" } else { b",\n" })?;
                *rows += 1;
                serde_json::to_writer(&mut **out, value).map_err(io::Error::from)
            }
        }
    }

    pub(super) fn finish(self) -> io::Result<()> {
        match self.form {
            Form::Csv(out) => out.finish(),
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
