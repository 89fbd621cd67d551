//! The binary answer of `POST /api/table`, little-endian.
//!
//! ```text
//! magic    4 bytes  "TST1"
//! rows     u32
//! columns  u32      the column of names and that of indices included
//! seq      u64
//! then for each column
//!   kind   u8       0 numbers, 1, 2 and 3 a dictionary with codes of u8, u16 and u32
//!   key    u8 length, UTF-8
//!   kind 0          rows × f64; the NaN 0x7ff8000000000001 is no value, 0x7ff8000000000000 a recorded NaN
//!   else entries    u32, then for each: tag u8 (0 no value, 1 number, 2 text, 3 true, 4 false), of a number f64, of a
//!                   text u32 length and UTF-8
//!        codes      rows × u8, u16 or u32, positions of entries
//! ```
//!
//! The first column is `run`: names, as texts. If the answer has some rows of the table only, the second one is
//! `run:index`: their indices, as numbers. The others follow in the order of the request, with at most 255 bytes of their
//! keys.

use super::cells::{NO_VALUE, recorded, width};
use super::{CellValue, Cells, MAX_COLUMNS, TableAnswer, TableColumn};

const MAGIC: &[u8; 4] = b"TST1";
/// Media type of the answer.
pub const TABLE_MEDIA_TYPE: &str = "application/octet-stream";
/// Key of the column of names.
const RUN: &str = "run";
/// Key of the column of indices.
const INDEX: &str = "run:index";
/// Longest key, in bytes.
const MAX_KEY_BYTES: usize = 255;
/// Least bytes of a column: kind and length of its key.
const MIN_COLUMN_BYTES: usize = 2;

/// Error for bytes of another layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableError;

impl std::fmt::Display for TableError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the answer is not in the table layout of this version")
    }
}

impl std::error::Error for TableError {}

/// Writes an answer as bytes.
pub fn encode(answer: &TableAnswer) -> Vec<u8> {
    let rows = answer.runs.len();
    let columns = answer.columns.len() + 1 + usize::from(answer.indices.is_some());
    let bytes: usize = answer
        .columns
        .iter()
        .map(|own| own.cells.len_bytes() + 64)
        .sum();
    let mut out = Vec::with_capacity(bytes + 64 * rows);
    out.extend_from_slice(MAGIC);
    put_len(&mut out, rows);
    put_len(&mut out, columns);
    out.extend_from_slice(&answer.seq.to_le_bytes());
    let names: Vec<CellValue> = answer.runs.iter().cloned().map(CellValue::Text).collect();
    put_column(&mut out, RUN, &Cells::new(names.iter()), rows);
    if let Some(indices) = &answer.indices {
        let indices = indices.iter().map(|own| f64::from(*own)).collect();
        put_column(&mut out, INDEX, &Cells::Numbers(indices), rows);
    }
    for column in &answer.columns {
        put_column(&mut out, &column.key, &column.cells, rows);
    }
    out
}

fn put_len(out: &mut Vec<u8>, len: usize) {
    out.extend_from_slice(&u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes());
}

/// Writes a column; rows that it lacks have no value.
fn put_column(out: &mut Vec<u8>, key: &str, cells: &Cells, rows: usize) {
    let key = key
        .get(..key.floor_char_boundary(MAX_KEY_BYTES))
        .unwrap_or_default();
    let (entries, codes) = match cells {
        Cells::Numbers(numbers) => {
            put_head(out, 0, key);
            for row in 0..rows {
                let number = numbers
                    .get(row)
                    .copied()
                    .unwrap_or(f64::from_bits(NO_VALUE));
                let number = if number.to_bits() == NO_VALUE {
                    number
                } else {
                    recorded(number)
                };
                out.extend_from_slice(&number.to_bits().to_le_bytes());
            }
            return;
        }
        Cells::Dictionary { entries, codes } => (entries, codes),
    };
    let is_beyond = |code: &u32| usize::try_from(*code).unwrap_or(usize::MAX) >= entries.len();
    let lacks = codes.len() < rows || codes.iter().any(is_beyond);
    let count = entries.len() + usize::from(lacks);
    let (kind, width) = match width(count) {
        1 => (1, 1),
        2 => (2, 2),
        _ => (3, 4),
    };
    put_head(out, kind, key);
    put_len(out, count);
    for entry in entries {
        match entry {
            CellValue::Missing => out.push(0),
            CellValue::Number(number) => {
                out.push(1);
                out.extend_from_slice(&recorded(*number).to_bits().to_le_bytes());
            }
            CellValue::Text(text) => {
                out.push(2);
                put_len(out, text.len());
                out.extend_from_slice(text.as_bytes());
            }
            CellValue::Truth(yes) => out.push(if *yes { 3 } else { 4 }),
        }
    }
    if lacks {
        out.push(0);
    }
    let none = u32::try_from(entries.len()).unwrap_or(u32::MAX);
    for row in 0..rows {
        let code = codes
            .get(row)
            .filter(|code| !is_beyond(code))
            .copied()
            .unwrap_or(none);
        out.extend(code.to_le_bytes().iter().take(width));
    }
}

fn put_head(out: &mut Vec<u8>, kind: u8, key: &str) {
    out.extend_from_slice(&[kind, u8::try_from(key.len()).unwrap_or(u8::MAX)]);
    out.extend_from_slice(key.as_bytes());
}

/// Bytes that are still to be read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, len: usize) -> Result<&'a [u8], TableError> {
        let (own, rest) = self.0.split_at_checked(len).ok_or(TableError)?;
        self.0 = rest;
        Ok(own)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], TableError> {
        let (own, rest) = self.0.split_first_chunk::<N>().ok_or(TableError)?;
        self.0 = rest;
        Ok(*own)
    }

    fn byte(&mut self) -> Result<u8, TableError> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn number(&mut self) -> Result<f64, TableError> {
        self.take()
            .map(|own| f64::from_bits(u64::from_le_bytes(own)))
    }

    /// A number of things, each of which takes this minimum number of bytes of the rest.
    fn count(&mut self, each: usize) -> Result<usize, TableError> {
        let count = u32::from_le_bytes(self.take()?);
        let count = usize::try_from(count).map_err(|_| TableError)?;
        if count > self.0.len() / each {
            return Err(TableError);
        }
        Ok(count)
    }

    fn text(&mut self, len: usize) -> Result<String, TableError> {
        let text = std::str::from_utf8(self.bytes(len)?);
        text.map(str::to_owned).map_err(|_| TableError)
    }

    fn column(&mut self, rows: usize) -> Result<TableColumn, TableError> {
        let kind = self.byte()?;
        let len = self.byte()?;
        let key = self.text(usize::from(len))?;
        let width = match kind {
            0 => {
                let bytes = self.bytes(rows.checked_mul(8).ok_or(TableError)?)?;
                let own = bytes.as_chunks::<8>().0.iter();
                let cells = own.map(|own| f64::from_bits(u64::from_le_bytes(*own)));
                let cells = Cells::Numbers(cells.collect());
                return Ok(TableColumn { key, cells });
            }
            1 => 1,
            2 => 2,
            3 => 4,
            _ => return Err(TableError),
        };
        let count = self.count(1)?;
        let mut entries = Vec::new();
        for _ in 0..count {
            entries.push(match self.byte()? {
                0 => CellValue::Missing,
                1 => CellValue::Number(recorded(self.number()?)),
                2 => {
                    let len = self.count(1)?;
                    CellValue::Text(self.text(len)?)
                }
                3 => CellValue::Truth(true),
                4 => CellValue::Truth(false),
                _ => return Err(TableError),
            });
        }
        let bytes = self.bytes(rows.checked_mul(width).ok_or(TableError)?)?;
        let code = |own: &[u8]| {
            let bytes = own.iter().rev();
            bytes.fold(0_u32, |code, byte| code << 8 | u32::from(*byte))
        };
        let codes: Vec<u32> = bytes.chunks_exact(width).map(code).collect();
        if codes
            .iter()
            .any(|code| usize::try_from(*code).is_ok_and(|code| code >= count))
        {
            return Err(TableError);
        }
        let cells = Cells::Dictionary { entries, codes };
        Ok(TableColumn { key, cells })
    }
}

/// Reads an answer that [`encode`] wrote. Never panics, and never allocates more than some times the length of the input.
pub fn decode(bytes: &[u8]) -> Result<TableAnswer, TableError> {
    let mut reader = Reader(bytes);
    if &reader.take::<4>()? != MAGIC {
        return Err(TableError);
    }
    let rows = u32::from_le_bytes(reader.take()?);
    let rows = usize::try_from(rows).map_err(|_| TableError)?;
    let columns = u32::from_le_bytes(reader.take()?);
    let columns = usize::try_from(columns).map_err(|_| TableError)?;
    let mut answer = TableAnswer {
        seq: u64::from_le_bytes(reader.take()?),
        ..TableAnswer::default()
    };
    if columns > (MAX_COLUMNS + 2).min(reader.0.len() / MIN_COLUMN_BYTES) {
        return Err(TableError);
    }
    for at in 0..columns {
        let own = reader.column(rows)?;
        match (at, &*own.key) {
            (0, RUN) => answer.runs = names(own.cells)?,
            (0, _) => return Err(TableError),
            (1, INDEX) => answer.indices = Some(indices(&own.cells)?),
            _ => answer.columns.push(own),
        }
    }
    if columns == 0 || !reader.0.is_empty() {
        return Err(TableError);
    }
    Ok(answer)
}

/// Names of runs. No two are equal, so that a name is never copied.
fn names(cells: Cells) -> Result<Vec<String>, TableError> {
    let Cells::Dictionary { mut entries, codes } = cells else {
        // Without rows.
        return if cells.is_empty() {
            Ok(Vec::new())
        } else {
            Err(TableError)
        };
    };
    let mut name = |code: &u32| {
        let entry = usize::try_from(*code)
            .ok()
            .and_then(|code| entries.get_mut(code));
        match entry.map(std::mem::take) {
            Some(CellValue::Text(text)) => Ok(text),
            _ => Err(TableError),
        }
    };
    codes.iter().map(&mut name).collect()
}

fn indices(cells: &Cells) -> Result<Vec<u32>, TableError> {
    let index = |row: usize| {
        let number = cells.number(row).filter(|own| own.fract() == 0.0);
        let number = number.filter(|own| (0.0..=f64::from(u32::MAX)).contains(own));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole and in the range"
        )]
        number.map(|own| own as u32).ok_or(TableError)
    };
    (0..cells.len()).map(index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(key: &str, values: &[CellValue]) -> TableColumn {
        TableColumn {
            key: key.to_owned(),
            cells: Cells::new(values.iter()),
        }
    }

    fn answer() -> TableAnswer {
        use CellValue::{Missing, Number, Text, Truth};
        TableAnswer {
            seq: u64::MAX,
            runs: ["<b>a", "b/c", "训练"].map(str::to_owned).to_vec(),
            indices: Some(vec![0, 7, u32::MAX]),
            columns: vec![
                column("lr", &[Number(0.1), Missing, Number(f64::NAN)]),
                column("opt", &[Text("adam".to_owned()), Missing, Truth(true)]),
                column(
                    "metric:loss",
                    &[Number(f64::NEG_INFINITY), Number(-0.0), Number(1e300)],
                ),
                column("empty", &[Missing, Missing, Missing]),
                column("nesterov", &[Truth(true), Truth(false), Truth(true)]),
            ],
        }
    }

    #[test]
    fn every_answer_is_read_back() {
        let own = answer();
        assert_eq!(decode(&encode(&own)).as_ref(), Ok(&own));
        let all = TableAnswer {
            indices: None,
            ..own
        };
        assert_eq!(decode(&encode(&all)), Ok(all));
        let none = TableAnswer {
            columns: vec![column("lr", &[])],
            ..TableAnswer::default()
        };
        assert_eq!(decode(&encode(&none)), Ok(none));
    }

    #[test]
    fn a_recorded_nan_is_not_taken_for_a_missing_value() {
        let odd = f64::from_bits(NO_VALUE);
        let values = [CellValue::Number(odd), CellValue::Missing];
        for cells in [
            Cells::new(values.iter()),
            Cells::Numbers(vec![f64::NAN, f64::from_bits(NO_VALUE)]),
        ] {
            let own = TableAnswer {
                runs: ["a", "b"].map(str::to_owned).to_vec(),
                columns: vec![TableColumn {
                    key: "x".to_owned(),
                    cells,
                }],
                ..TableAnswer::default()
            };
            let cells = &decode(&encode(&own)).unwrap().columns[0].cells;
            assert!(cells.number(0).is_some_and(f64::is_nan));
            assert_eq!(cells.get(1), CellValue::Missing);
        }
    }

    #[test]
    fn codes_are_as_short_as_their_number_allows() {
        for (choices, bytes) in [(2, 1), (300, 2), (70_000, 4)] {
            let values: Vec<CellValue> = (0..80_000)
                .map(|row| CellValue::Text((row % choices).to_string()))
                .collect();
            let own = TableAnswer {
                runs: (0..80_000).map(|row| row.to_string()).collect(),
                columns: vec![column("seed", &values)],
                ..TableAnswer::default()
            };
            let without = TableAnswer {
                columns: Vec::new(),
                ..own.clone()
            };
            let whole = encode(&own);
            let len = whole.len() - encode(&without).len();
            let entries: usize = (0..choices).map(|own| 5 + own.to_string().len()).sum();
            assert_eq!(len, 2 + "seed".len() + 4 + entries + 80_000 * bytes);
            assert_eq!(decode(&whole), Ok(own));
        }
    }

    #[test]
    fn a_long_key_is_cut_between_letters() {
        let key = "é".repeat(200);
        let own = TableAnswer {
            runs: vec!["a".to_owned()],
            columns: vec![column(&key, &[CellValue::Number(1.0)])],
            ..TableAnswer::default()
        };
        assert_eq!(
            decode(&encode(&own)).unwrap().columns[0].key,
            "é".repeat(127)
        );
    }

    #[test]
    fn bytes_of_another_layout_are_errors() {
        let whole = encode(&answer());
        for len in 0..whole.len() {
            assert_eq!(decode(&whole[..len]), Err(TableError), "{len} bytes");
        }
        for at in 0..whole.len() {
            for change in [1, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= change;
                // Another answer, or none: never a panic or a huge allocation.
                let _any = decode(&bytes);
            }
        }
        let longer = [&*whole, &[0]].concat();
        assert_eq!(decode(&longer), Err(TableError));
    }

    #[test]
    fn names_that_repeat_are_refused_before_they_are_copied() {
        let name = "x".repeat(1 << 16);
        let mut bytes = encode(&TableAnswer {
            runs: vec![name],
            ..TableAnswer::default()
        });
        let rows = 1_u32 << 20;
        bytes[4..8].copy_from_slice(&rows.to_le_bytes());
        bytes.resize(bytes.len() + rows as usize - 1, 0);
        assert_eq!(decode(&bytes), Err(TableError));
    }

    #[test]
    fn a_later_answer_changes_its_rows_only() {
        use CellValue::{Missing, Number, Text};
        let opt = |name: &str| Text(name.to_owned());
        let mut own = TableAnswer {
            seq: 1,
            runs: ["a", "b"].map(str::to_owned).to_vec(),
            indices: None,
            columns: vec![
                column("lr", &[Number(0.1), Number(0.2)]),
                column("opt", &[opt("adam"), opt("sgd")]),
            ],
        };
        let later = TableAnswer {
            seq: 2,
            runs: ["b", "c"].map(str::to_owned).to_vec(),
            indices: Some(vec![1, 2]),
            columns: vec![
                column("lr", &[opt("auto"), Number(0.3)]),
                column("opt", &[opt("lion"), Missing]),
            ],
        };
        let gap = TableAnswer {
            indices: Some(vec![1, 3]),
            ..later.clone()
        };
        assert!(!own.update(gap), "row 2 is missing");
        assert!(own.update(later));
        let expected = TableAnswer {
            seq: 2,
            runs: ["a", "b", "c"].map(str::to_owned).to_vec(),
            indices: None,
            columns: vec![
                column("lr", &[Number(0.1), opt("auto"), Number(0.3)]),
                column("opt", &[opt("adam"), opt("lion"), Missing]),
            ],
        };
        assert_eq!(own, expected);
    }
}
