//! Rows as CSV, or as an array of JSON objects, written one by one in constant memory.

use std::io::{self, Write};

use serde::Serialize;

/// Output of rows.
pub(super) struct Table<'a> {
    form: Form<'a>,
    /// Last cell of every line.
    last: Option<String>,
}

enum Form<'a> {
    Csv(Box<csv::Writer<&'a mut dyn Write>>),
    Json { out: &'a mut dyn Write, rows: u64 },
}

impl<'a> Table<'a> {
    pub(super) fn new(out: &'a mut dyn Write, is_json: bool) -> Self {
        let form = if is_json {
            Form::Json { out, rows: 0 }
        } else {
            Form::Csv(Box::new(csv::Writer::from_writer(out)))
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
            Form::Csv(out) => out.write_record(names).map_err(io::Error::from),
            Form::Json { .. } => Ok(()),
        }
    }

    /// Writes a line of cells, with the common last one.
    pub(super) fn cells(&mut self, cells: &[String]) -> io::Result<()> {
        match &mut self.form {
            Form::Csv(out) => {
                let cells = cells.iter().chain(&self.last);
                out.write_record(cells).map_err(io::Error::from)
            }
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
            Form::Csv(mut out) => out.flush(),
            Form::Json { out, rows: 0 } => out.write_all(b"[]\n"),
            Form::Json { out, .. } => out.write_all(b"\n]\n"),
        }
    }
}

/// A number in the API's notation: the shortest that reads back equal; `NaN`, `Infinity`, `-Infinity`.
pub(in crate::cli) fn number(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else {
        format!("{value:?}")
    }
}

/// A number or an empty cell.
pub(super) fn maybe(value: Option<f64>) -> String {
    value.map(number).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_every_bit_and_what_is_none() {
        for value in [0.1, 1e-300, f64::MAX, -0.0, 5e-324, 3.0] {
            assert_eq!(
                number(value).parse::<f64>().unwrap().to_bits(),
                value.to_bits()
            );
        }
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(number);
        assert_eq!(odd, ["NaN", "Infinity", "-Infinity"]);
    }

    #[test]
    fn cells_are_quoted_and_nothing_is_an_array() {
        let mut out = Vec::new();
        let mut table = Table::new(&mut out, false);
        table.head(&["a", "b"]).unwrap();
        table
            .cells(&["x,\"y\"".to_owned(), "1\n2".to_owned()])
            .unwrap();
        table.finish().unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "a,b\n\"x,\"\"y\"\"\",\"1\n2\"\n"
        );
        let mut out = Vec::new();
        Table::new(&mut out, true).finish().unwrap();
        assert_eq!(out, b"[]\n");
    }
}
