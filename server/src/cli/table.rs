//! Tables in a terminal: each column as wide as its widest cell, counted in columns of the terminal.
//!
//! Table crates wrap long cells or cut their ends. Names of tensors differ at their ends, so the one column that may
//! shrink loses the front of its names.

use std::borrow::Cow;
use std::io::{self, Write};

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::style::QUIET;
use super::words;

/// Space between columns.
const GAP: usize = 2;

#[derive(Clone)]
pub(super) struct Column {
    head: Cow<'static, str>,
    is_right: bool,
    least: usize,
}

impl Column {
    /// A column of texts.
    pub(super) const fn left(head: &'static str) -> Self {
        Self::new(Cow::Borrowed(head))
    }

    /// A column of texts with a head from a file.
    pub(super) const fn new(head: Cow<'static, str>) -> Self {
        Self {
            head,
            is_right: false,
            least: 0,
        }
    }

    /// A column of numbers.
    pub(super) const fn right(head: &'static str) -> Self {
        Self::left(head).aligned_right()
    }

    /// Aligns the cells like numbers.
    pub(super) const fn aligned_right(mut self) -> Self {
        self.is_right = true;
        self
    }

    /// Sets a minimum width.
    pub(super) const fn at_least(mut self, least: usize) -> Self {
        self.least = least;
        self
    }
}

/// A cell: its text without escape sequences, and its style.
pub(super) struct Cell(String, Style);

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self(text.into(), Style::new())
    }
}

pub(super) fn styled(style: Style, text: impl Into<String>) -> Cell {
    Cell(text.into(), style)
}

/// Maximum length of a text in columns of a terminal: names in files have no limit.
const MAX_CELL_LEN: usize = 1_000;

/// A table whose rows are added one after the other.
pub(super) struct Table {
    columns: Vec<Column>,
    /// Each row has a cell for every column.
    rows: Vec<Vec<Cell>>,
    indent: usize,
    shrinks: Option<(usize, usize)>,
    most: Option<usize>,
}

impl Table {
    /// A table without rows. Columns without any text take no space, and heads without any text no line.
    pub(super) fn new(columns: impl Into<Vec<Column>>) -> Self {
        Self {
            columns: columns.into(),
            rows: Vec::new(),
            indent: 0,
            shrinks: None,
            most: None,
        }
    }

    /// Sets the number of spaces before each line.
    pub(super) fn indent(self, indent: usize) -> Self {
        Self { indent, ..self }
    }

    /// Cuts the front of the texts of a column if lines would be wider than `width`.
    pub(super) fn shrink(self, column: usize, width: Option<usize>) -> Self {
        let shrinks = width.map(|width| (column, width));
        Self { shrinks, ..self }
    }

    /// Cuts the end of the texts of the last column, whole sentences, if lines would be wider than `most`.
    pub(super) fn cut_last(self, most: Option<usize>) -> Self {
        Self { most, ..self }
    }

    /// Adds a row; missing cells are empty.
    pub(super) fn row(&mut self, cells: impl Into<Vec<Cell>>) {
        let mut cells = cells.into();
        cells.resize_with(self.columns.len(), || "".into());
        self.rows.push(cells);
    }

    /// Writes the heads and all rows, without spaces at the ends of lines.
    pub(super) fn write(mut self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        /// Minimum width of the column that shrinks.
        const MIN_WIDTH: usize = 20;
        for Cell(text, _) in self.rows.iter_mut().flatten() {
            if text.len() > MAX_CELL_LEN {
                *text = words::name(text, Some(MAX_CELL_LEN));
            }
        }
        let mut widths = vec![0; self.columns.len()];
        for (at, (column, width)) in self.columns.iter().zip(&mut widths).enumerate() {
            let cells = self.rows.iter().map(|row| row[at].0.width());
            *width = cells.fold(column.least.max(column.head.width()), usize::max);
        }
        if let Some((at, most)) = self.shrinks {
            let shown = widths.iter().filter(|width| **width > 0);
            let all = shown.fold(self.indent, |all, width| all + width + GAP) - GAP;
            let left = widths[at].saturating_sub(all.saturating_sub(most));
            widths[at] = left.max(MIN_WIDTH).min(widths[at]);
            for row in &mut self.rows {
                row[at].0 = words::name(&row[at].0, Some(widths[at]));
            }
        }
        if let (Some(most), Some(last)) = (self.most, self.columns.len().checked_sub(1)) {
            let before = widths[..last].iter().filter(|width| **width > 0);
            let before = before.fold(self.indent, |all, width| all + width + GAP);
            for row in &mut self.rows {
                row[last].0 =
                    words::beginning(&row[last].0, most.saturating_sub(before).max(MIN_WIDTH));
            }
        }
        if self.columns.iter().any(|column| !column.head.is_empty()) {
            let heads = self
                .columns
                .iter()
                .map(|column| styled(QUIET, &*column.head));
            self.line(&heads.collect::<Vec<Cell>>(), &widths, out)?;
        }
        self.rows
            .iter()
            .try_for_each(|row| self.line(row, &widths, out))
    }

    fn line(
        &self,
        cells: &[Cell],
        widths: &[usize],
        out: &mut (impl Write + ?Sized),
    ) -> io::Result<()> {
        let mut spaces = self.indent;
        for ((Cell(text, style), column), width) in cells.iter().zip(&self.columns).zip(widths) {
            let free = width.saturating_sub(text.width());
            if text.is_empty() {
                spaces += if *width > 0 { width + GAP } else { 0 };
                continue;
            }
            let before = spaces + if column.is_right { free } else { 0 };
            // Widths in format strings are limited to 16 bits, and names may be longer.
            write!(out, "{}{style}{text}{style:#}", " ".repeat(before))?;
            spaces = GAP + if column.is_right { 0 } else { free };
        }
        writeln!(out)
    }
}

#[cfg(test)]
mod tests {
    use super::{Column, Table, styled};
    use crate::cli::style::ERROR;

    fn text(table: Table) -> String {
        let mut out = anstream::StripStream::new(Vec::new());
        table.write(&mut out).unwrap();
        String::from_utf8(out.into_inner()).unwrap()
    }

    #[test]
    fn letters_of_two_columns_are_counted_as_two() {
        let mut table = Table::new([Column::left("NAME"), Column::right("STEP").at_least(6)]);
        table.row(["卷积".into(), "1".into()]);
        table.row(["fc1".into(), styled(ERROR, "12")]);
        assert_eq!(text(table), "NAME    STEP\n卷积       1\nfc1       12\n");
    }

    #[test]
    fn empty_cells_leave_no_spaces_at_the_end() {
        let columns = [Column::left(""), Column::left(""), Column::left("")];
        let mut table = Table::new(columns).indent(2);
        table.row(["a".into(), "".into(), "".into()]);
        table.row(["b".into(), "".into(), "c".into()]);
        assert_eq!(text(table), "  a\n  b  c\n");
    }

    #[test]
    fn names_of_any_length_are_cut() {
        let mut table = Table::new([Column::left("TENSOR"), Column::right("FOUND")]);
        table.row(["T".repeat(70_000).into(), "NaN".into()]);
        table.row(["loss".into(), "1".into()]);
        let lines = text(table);
        assert!(
            lines.lines().all(|line| line.chars().count() < 1_100),
            "{}",
            lines.len()
        );
    }

    #[test]
    fn the_front_of_long_names_is_cut() {
        let columns = [Column::left("TENSOR"), Column::right("FOUND")];
        let mut table = Table::new(columns).shrink(0, Some(30));
        table.row(["encoder.layers.11.attention.weight".into(), "NaN".into()]);
        assert_eq!(
            text(table),
            "TENSOR                   FOUND\n…rs.11.attention.weight    NaN\n"
        );
    }
}
