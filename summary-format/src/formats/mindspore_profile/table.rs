//! Tables with a header: columns by name, units in their names, and bad rows counted with their lines.

use super::super::decimal::scaled;
use crate::trace::TraceCounts;

/// Number of decimal digits from a unit to nanoseconds, by the name of the unit.
const UNITS: [(&str, usize); 5] = [("s", 9), ("ms", 6), ("us", 3), ("μs", 3), ("ns", 0)];

/// A table of one file.
pub(super) struct Table<'a> {
    /// Name of its file.
    name: String,
    reader: csv::Reader<&'a [u8]>,
    header: csv::ByteRecord,
    len_bytes: usize,
    /// `true` if a last row without a line break may be complete.
    may_end_open: bool,
    ends_open: bool,
    rows: u64,
    bad: u64,
    first_bad: u64,
    is_cut: bool,
}

/// A row of a table.
pub(super) struct Row {
    fields: csv::ByteRecord,
    /// Offset of its first byte.
    pub(super) offset: usize,
    line: u64,
}

/// A column of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    index: usize,
    /// Number of decimal digits down to nanoseconds.
    decimals: usize,
}

impl<'a> Table<'a> {
    /// Reads the header. A last row without a line break counts as incomplete.
    pub(super) fn new(name: &str, bytes: &'a [u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(bytes);
        let header = reader.byte_headers().cloned().unwrap_or_default();
        Self {
            name: name.to_owned(),
            reader,
            header,
            len_bytes: bytes.len(),
            may_end_open: false,
            ends_open: bytes.last().is_some_and(|last| *last != b'\n'),
            rows: 0,
            bad: 0,
            first_bad: 0,
            is_cut: false,
        }
    }

    /// The same for a file whose writer leaves out the last line break: its last row is complete if it has all fields.
    pub(super) fn open_ended(name: &str, bytes: &'a [u8]) -> Self {
        Self {
            may_end_open: true,
            ..Self::new(name, bytes)
        }
    }

    /// Index of the first of these columns that exists.
    pub(super) fn column(&self, names: &[&str]) -> Option<usize> {
        let find = |name: &&str| {
            self.header
                .iter()
                .position(|field| field == name.as_bytes())
        };
        names.iter().find_map(find)
    }

    /// Column of times of the first of these names, with or without a unit: `start_time(us)`. The default unit is
    /// milliseconds.
    pub(super) fn times(&self, names: &[&str]) -> Option<Times> {
        names.iter().find_map(|name| {
            self.fields().find_map(|(index, field)| {
                let rest = field.strip_prefix(name)?.trim();
                let unit = match rest.strip_prefix('(') {
                    Some(unit) => unit.strip_suffix(')')?.trim(),
                    None if rest.is_empty() => "ms",
                    None => return None,
                };
                let (_, decimals) = UNITS.iter().find(|(name, _)| *name == unit)?;
                Some(Times {
                    index,
                    decimals: *decimals,
                })
            })
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Columns with their names; those whose names are not UTF-8 are left out.
    pub(super) fn fields(&self) -> impl Iterator<Item = (usize, &str)> {
        let fields = self.header.iter().enumerate();
        fields.filter_map(|(index, field)| Some((index, str::from_utf8(field).ok()?)))
    }

    /// The next complete row.
    pub(super) fn next_row(&mut self) -> Option<Row> {
        let offset = usize::try_from(self.reader.position().byte()).unwrap_or(usize::MAX);
        let mut fields = csv::ByteRecord::new();
        // Byte records of flexible length cannot be wrong, and reads from memory cannot fail.
        if !matches!(self.reader.read_byte_record(&mut fields), Ok(true)) {
            return None;
        }
        let line = fields.position().map_or(0, csv::Position::line);
        let end = usize::try_from(self.reader.position().byte()).unwrap_or(usize::MAX);
        if self.ends_open && end >= self.len_bytes {
            let is_whole = self.may_end_open && fields.len() >= self.header.len();
            if !is_whole {
                self.is_cut = true;
                return None;
            }
        }
        self.rows += 1;
        Some(Row {
            fields,
            offset,
            line,
        })
    }

    /// Counts a row that could not be read.
    pub(super) fn bad(&mut self, row: &Row) {
        if self.bad == 0 {
            self.first_bad = row.line;
        }
        self.bad += 1;
    }

    /// A note that columns are missing.
    pub(super) fn lacks(&self, columns: &str, notes: &mut Vec<String>) {
        notes.push(format!("{}: no columns {columns}", self.name));
    }

    /// Adds the unreadable rows to the counts of a trace, with a note.
    pub(super) fn finish(self, counts: &mut TraceCounts, notes: &mut Vec<String>) {
        let Self { name, rows, .. } = self;
        counts.bytes += self.len_bytes as u64;
        counts.events += rows;
        if self.bad > 0 {
            counts.damaged += self.bad;
            let (bad, line) = (self.bad, self.first_bad);
            notes.push(format!(
                "{name}: {bad} of {rows} rows could not be read, the first in line {line}"
            ));
        }
        if self.is_cut {
            counts.truncated = true;
            let line = rows + 2;
            notes.push(format!(
                "{name}: it ends in line {line}, {}",
                super::CUT_ROW
            ));
        }
    }
}

impl Row {
    /// Bytes of its fields.
    pub(super) fn len_bytes(&self) -> usize {
        self.fields.as_slice().len()
    }

    /// Bytes of a column.
    pub(super) fn bytes(&self, column: Option<usize>) -> Option<&[u8]> {
        self.fields.get(column?)
    }

    /// Text of a column; empty if it is missing.
    pub(super) fn text(&self, column: Option<usize>) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.bytes(column).unwrap_or_default())
    }

    /// A whole number times ten to the power of `decimals`.
    pub(super) fn scaled(&self, column: Option<usize>, decimals: usize) -> Option<i64> {
        scaled(self.bytes(column)?, decimals)
    }

    /// Nanoseconds of a column of times.
    pub(super) fn nanos(&self, times: Times) -> Option<i64> {
        scaled(self.fields.get(times.index)?, times.decimals)
    }

    /// Nanoseconds of a number of times, to the nearest; `None` for negative values and anything but a number.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "casts of floats saturate"
    )]
    pub(super) fn multiple(&self, times: Times, count: u64) -> Option<u64> {
        let text = str::from_utf8(self.fields.get(times.index)?).ok()?;
        let time: f64 = text.parse().ok()?;
        let digits = i32::try_from(times.decimals).ok()?;
        let nanos = time * 10_f64.powi(digits) * count as f64;
        (nanos.is_finite() && nanos >= 0.0).then(|| nanos.round() as u64)
    }
}
