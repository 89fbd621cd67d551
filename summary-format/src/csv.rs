//! Tables as CSV (RFC 4180), the same in commands, files of the server and downloads of the page: UTF-8 without a byte
//! order mark, lines ending with `\n`, and no text that a spreadsheet takes for a formula.

use std::borrow::Cow;
use std::fmt::Debug;
use std::io::{self, Write};

/// First characters of a formula in a spreadsheet.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Writer of rows, one by one in constant memory.
pub struct Rows<W: Write>(::csv::Writer<W>);

impl<W: Write> Rows<W> {
    /// Starts a table.
    pub fn new(out: W) -> Self {
        Self(::csv::Writer::from_writer(out))
    }

    /// Writes a row; each row has as many cells as the first.
    pub fn row(&mut self, cells: impl IntoIterator<Item: AsRef<str>>) -> io::Result<()> {
        for cell in cells {
            self.0.write_field(&*harmless(cell.as_ref()))?;
        }
        Ok(self.0.write_record(None::<&[u8]>)?)
    }

    /// Writes out the last rows.
    pub fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Rows<Vec<u8>> {
    /// The whole table.
    pub fn into_text(self) -> String {
        let bytes = self.0.into_inner().unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }
}

/// A table in memory.
pub fn text<R: IntoIterator<Item: AsRef<str>>>(
    head: impl IntoIterator<Item: AsRef<str>>,
    rows: impl IntoIterator<Item = R>,
) -> String {
    let mut table = Rows::new(Vec::new());
    // Writing to memory does not fail.
    table.row(head).unwrap_or_default();
    for row in rows {
        table.row(row).unwrap_or_default();
    }
    table.into_text()
}

/// A number in the API's notation: the shortest that reads back equal; `NaN`, `Infinity`, `-Infinity`.
pub fn number<N: Copy + Debug + Into<f64>>(value: N) -> String {
    match value.into() {
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        _ => format!("{value:?}"),
    }
}

/// Marks a formula as text, with an apostrophe; numbers with a sign are none.
fn harmless(cell: &str) -> Cow<'_, str> {
    if cell.starts_with(FORMULA) && cell.parse::<f64>().is_err() {
        Cow::Owned(format!("'{cell}"))
    } else {
        Cow::Borrowed(cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_harmless() {
        for (cell, written) in [
            ("", ""),
            ("loss", "loss"),
            ("损失, \"验证\"", "\"损失, \"\"验证\"\"\""),
            ("训练损失", "训练损失"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("1\n2", "\"1\n2\""),
            ("1\r2", "\"1\r2\""),
            ("=1+1", "'=1+1"),
            ("=a,\"b\"", "\"'=a,\"\"b\"\"\""),
            ("@x", "'@x"),
            ("\tx", "'\tx"),
            ("\r=x", "\"'\r=x\""),
            ("-", "'-"),
            ("-1+cmd()", "'-1+cmd()"),
            ("+x", "'+x"),
            ("-1", "-1"),
            ("+1", "+1"),
            ("-3.5e-7", "-3.5e-7"),
            ("1 = 1", "1 = 1"),
            (&number(f64::NAN), "NaN"),
            (&number(f64::INFINITY), "Infinity"),
            (&number(f64::NEG_INFINITY), "-Infinity"),
            (&number(-3.5), "-3.5"),
        ] {
            assert_eq!(
                text(["head", cell], [[cell, "end"]]),
                format!("head,{written}\n{written},end\n")
            );
        }
        assert_eq!(text(["head"], [[""]]), "head\n\"\"\n", "no empty line");
    }

    #[test]
    fn numbers_keep_every_bit() {
        for value in [0.1, 1e-300, f64::MAX, -0.0, 5e-324, 3.0] {
            let read: f64 = number(value).parse().unwrap();
            assert_eq!(read.to_bits(), value.to_bits());
        }
        assert_eq!([number(0.1_f32), number(3.0)], ["0.1", "3.0"]);
    }
}
