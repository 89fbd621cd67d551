//! The binary answer of `GET /api/timeline`: a third of the size of the JSON, and read many times faster, so that an
//! answer does not hold up a frame.
//!
//! ```text
//! magic   4 bytes  "TSL1"
//! from    signed   nanoseconds, as everything
//! to      signed
//! width   number
//! cut     number   0 or 1
//! names   number   then for each: its number, length of its text in bytes, the text
//! rows    number   then for each: lane, depth, number of cells, cells
//! cell:   begin    signed, from that of the cell before
//!         length   signed
//!         name     number
//!         count    number
//!         busy     1 byte
//!         kind     1 byte
//!         index    signed, from that of the cell before
//! ```
//!
//! A number is in groups of 7 bits, the lowest first, each in a byte whose highest bit says that another one follows
//! (LEB128). Signed numbers are `2 n` for n ≥ 0 and `−2 n − 1` below.

use super::{Cell, RowCells, TimelineAnswer};

const MAGIC: &[u8; 4] = b"TSL1";
/// Media type of the answer.
pub const CELLS_MEDIA_TYPE: &str = "application/octet-stream";
/// Least bytes of a cell.
const MIN_CELL_BYTES: usize = 7;
/// Most bytes of a number.
const MAX_NUMBER_BYTES: u32 = 10;

/// Error for bytes of another layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellsError;

impl std::fmt::Display for CellsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the answer is not in the cells layout of this version")
    }
}

impl std::error::Error for CellsError {}

/// Writes an answer as bytes.
pub fn encode(answer: &TimelineAnswer) -> Vec<u8> {
    let cells: usize = answer.rows.iter().map(|row| row.cells.len()).sum();
    let mut out = Vec::with_capacity(64 + 12 * cells);
    out.extend_from_slice(MAGIC);
    put_signed(&mut out, answer.from_nanos);
    put_signed(&mut out, answer.to_nanos);
    put(&mut out, answer.width.into());
    put(&mut out, answer.cut.into());
    put(&mut out, answer.names.len() as u64);
    for (name, text) in &answer.names {
        put(&mut out, (*name).into());
        put(&mut out, text.len() as u64);
        out.extend_from_slice(text.as_bytes());
    }
    put(&mut out, answer.rows.len() as u64);
    for row in &answer.rows {
        put(&mut out, row.lane.into());
        put(&mut out, row.depth.into());
        put(&mut out, row.cells.len() as u64);
        let (mut begin, mut index) = (0_i64, 0_u32);
        for cell in &row.cells {
            put_signed(&mut out, cell.begin.wrapping_sub(begin));
            put_signed(&mut out, cell.length);
            put(&mut out, cell.name.into());
            put(&mut out, cell.count.into());
            out.extend_from_slice(&[cell.busy, cell.kind]);
            put_signed(&mut out, i64::from(cell.index) - i64::from(index));
            (begin, index) = (cell.begin, cell.index);
        }
    }
    out
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

fn put_signed(out: &mut Vec<u8>, number: i64) {
    put(out, ((number << 1) ^ (number >> 63)).cast_unsigned());
}

/// Bytes that are still to be read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Result<u8, CellsError> {
        let (first, rest) = self.0.split_first().ok_or(CellsError)?;
        self.0 = rest;
        Ok(*first)
    }

    fn bytes(&mut self, len: usize) -> Result<&'a [u8], CellsError> {
        let (own, rest) = self.0.split_at_checked(len).ok_or(CellsError)?;
        self.0 = rest;
        Ok(own)
    }

    fn number(&mut self) -> Result<u64, CellsError> {
        let mut number = 0;
        for place in 0..MAX_NUMBER_BYTES {
            let byte = self.byte()?;
            // Bits beyond the 64th are lost, which only other programs write.
            number |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(CellsError)
    }

    fn small(&mut self) -> Result<u32, CellsError> {
        u32::try_from(self.number()?).map_err(|_| CellsError)
    }

    /// A number of things, each of which has this minimum size in bytes.
    fn count(&mut self, each: usize) -> Result<usize, CellsError> {
        let count = usize::try_from(self.number()?).map_err(|_| CellsError)?;
        if count > self.0.len() / each {
            return Err(CellsError);
        }
        Ok(count)
    }

    fn signed(&mut self) -> Result<i64, CellsError> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }
}

/// Reads an answer that [`encode`] wrote. Never panics, and never allocates more than the length of the input allows.
pub fn decode(bytes: &[u8]) -> Result<TimelineAnswer, CellsError> {
    let mut reader = Reader(bytes);
    if reader.bytes(MAGIC.len())? != MAGIC {
        return Err(CellsError);
    }
    let mut answer = TimelineAnswer {
        from_nanos: reader.signed()?,
        to_nanos: reader.signed()?,
        width: reader.small()?,
        cut: reader.number()? != 0,
        ..TimelineAnswer::default()
    };
    for _ in 0..reader.count(2)? {
        let name = reader.small()?;
        let len = reader.count(1)?;
        let text = std::str::from_utf8(reader.bytes(len)?).map_err(|_| CellsError)?;
        answer.names.insert(name, text.to_owned());
    }
    for _ in 0..reader.count(3)? {
        let (lane, depth) = (reader.small()?, reader.small()?);
        let count = reader.count(MIN_CELL_BYTES)?;
        let mut cells = Vec::with_capacity(count);
        let (mut begin, mut index) = (0_i64, 0_i64);
        for _ in 0..count {
            begin = begin.wrapping_add(reader.signed()?);
            let (length, name, count) = (reader.signed()?, reader.small()?, reader.small()?);
            let (busy, kind) = (reader.byte()?, reader.byte()?);
            index = index.wrapping_add(reader.signed()?);
            cells.push(Cell {
                begin,
                length,
                name,
                count,
                busy,
                kind,
                index: u32::try_from(index).map_err(|_| CellsError)?,
            });
        }
        answer.rows.push(RowCells { lane, depth, cells });
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn answer() -> TimelineAnswer {
        let cell = |begin: i64, length: i64, index: u32| Cell {
            begin,
            length,
            name: index / 2,
            count: 1 + index % 5,
            busy: 200,
            kind: 3,
            index,
        };
        TimelineAnswer {
            from_nanos: -512,
            to_nanos: i64::MAX,
            width: 3_444,
            rows: vec![
                RowCells {
                    lane: 300,
                    depth: 2,
                    cells: vec![
                        cell(-70, 128, 9),
                        cell(127, 0, 4_000_000_000),
                        cell(i64::MAX, i64::MIN, u32::MAX),
                        cell(i64::MIN, 1 << 40, 0),
                    ],
                },
                RowCells::default(),
            ],
            names: BTreeMap::from([(0, String::new()), (u32::MAX, "训练".to_owned())]),
            cut: true,
        }
    }

    #[test]
    fn every_answer_is_read_back() {
        for own in [answer(), TimelineAnswer::default()] {
            assert_eq!(decode(&encode(&own)), Ok(own));
        }
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            assert_eq!(Reader(&bytes).number(), Ok(number));
        }
    }

    #[test]
    fn bytes_of_another_layout_are_errors() {
        let whole = encode(&answer());
        for len in 0..whole.len() {
            assert_eq!(decode(&whole[..len]), Err(CellsError), "{len} bytes");
        }
        for at in 0..whole.len() {
            for change in [1, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= change;
                // Another answer, or none: never a panic or a huge allocation.
                let _any = decode(&bytes);
            }
        }
        assert_eq!(decode(b"{\"from_nanos\":0}"), Err(CellsError));
    }
}
