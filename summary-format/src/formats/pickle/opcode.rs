//! Instructions of a pickle with their arguments.

use std::io::{self, Read};

use super::{Source, Value};

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Op {
    /// End of the pickle.
    Stop,
    /// Does not affect data: the protocol, frames.
    Nothing,
    /// Pushes a value.
    Push(Value),
    /// Pushes the text in the buffer.
    Text,
    /// Pushes the class or function whose module and name are lines of the buffer.
    Global,
    /// Pushes the class or function whose module and name are the top two values.
    StackGlobal,
    Mark,
    Pop,
    PopMark,
    Dup,
    EmptyList,
    EmptyDict,
    Append,
    Appends,
    SetItem,
    SetItems,
    /// Makes a tuple of the top values.
    TupleOf(usize),
    /// Makes a tuple of the values after the mark.
    Tuple,
    Get(u32),
    Put(u32),
    Memoize,
    /// Would call a function with the top value as its arguments.
    Call,
    /// Would make an object of this number of values on top.
    Make(usize),
    /// Would make an object of the values after the mark.
    MakeMarked,
    /// Would set the state of an object by the top value.
    Build,
    /// Adds the values after the mark to a set.
    AddItems,
}

/// The next instruction. A text goes into the buffer.
pub(super) fn next<R: Read>(source: &mut Source<R>, buffer: &mut Vec<u8>) -> io::Result<Op> {
    let at = source.offset;
    let code = source.byte()?;
    Ok(match code {
        b'.' => Op::Stop,
        b'(' => Op::Mark,
        b'0' => Op::Pop,
        b'1' => Op::PopMark,
        b'2' => Op::Dup,
        b']' => Op::EmptyList,
        b'}' => Op::EmptyDict,
        b')' => Op::TupleOf(0),
        0x85 => Op::TupleOf(1),
        0x86 => Op::TupleOf(2),
        0x87 => Op::TupleOf(3),
        b't' => Op::Tuple,
        b'a' => Op::Append,
        b'e' => Op::Appends,
        b's' => Op::SetItem,
        b'u' => Op::SetItems,
        b'N' => Op::Push(Value::None),
        0x88 => Op::Push(Value::Bool(true)),
        0x89 => Op::Push(Value::Bool(false)),
        b'K' => Op::Push(Value::Int(source.byte()?.into())),
        b'M' => Op::Push(Value::Int(u16::from_le_bytes(source.array()?).into())),
        b'J' => Op::Push(Value::Int(i32::from_le_bytes(source.array()?).into())),
        0x8a => long(source, 1)?,
        0x8b => long(source, 4)?,
        b'G' => Op::Push(Value::Float(f64::from_be_bytes(source.array()?))),
        0x8c | b'U' => {
            let len = source.number::<1>()?;
            source.text(len, buffer)?;
            Op::Text
        }
        b'X' | b'T' => {
            let len = source.number::<4>()?;
            source.text(len, buffer)?;
            Op::Text
        }
        0x8d => {
            let len = source.number::<8>()?;
            source.text(len, buffer)?;
            Op::Text
        }
        b'C' => bytes::<1, _>(source)?,
        b'B' => bytes::<4, _>(source)?,
        0x8e | 0x96 => bytes::<8, _>(source)?,
        b'h' => Op::Get(source.byte()?.into()),
        b'j' => Op::Get(u32::from_le_bytes(source.array()?)),
        b'q' => Op::Put(source.byte()?.into()),
        b'r' => Op::Put(u32::from_le_bytes(source.array()?)),
        0x94 => Op::Memoize,
        b'c' => {
            source.line(buffer)?;
            let mut name = Vec::new();
            source.line(&mut name)?;
            buffer.push(b'\n');
            buffer.append(&mut name);
            Op::Global
        }
        0x93 => Op::StackGlobal,
        b'R' => Op::Call,
        0x81 => Op::Make(2),
        0x92 => Op::Make(3),
        b'o' | 0x91 => Op::MakeMarked,
        b'b' => Op::Build,
        // Sets, and buffers outside of the file.
        0x8f | 0x97 => Op::Push(Value::Other),
        0x90 => Op::AddItems,
        // A reference to an object outside of the file.
        b'Q' => Op::Make(1),
        0x82 => other::<1, _>(source)?,
        0x83 => other::<2, _>(source)?,
        0x84 => other::<4, _>(source)?,
        0x80 => {
            source.byte()?;
            Op::Nothing
        }
        0x95 => {
            source.number::<8>()?;
            Op::Nothing
        }
        0x98 => Op::Nothing,
        _ => {
            let reason =
                format!("byte {at} is {code:#04x}: no instruction of pickle's protocols 2 to 5");
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
    })
}

/// A number of any length, little-endian, in two's complement.
fn long<R: Read>(source: &mut Source<R>, len_bytes: usize) -> io::Result<Op> {
    let len = match len_bytes {
        1 => source.number::<1>()?,
        _ => source.number::<4>()?,
    };
    let mut low = [0_u8; 16];
    let Some(len) = usize::try_from(len).ok().filter(|len| *len <= low.len()) else {
        source.skip(len)?;
        return Ok(Op::Push(Value::Other));
    };
    let (kept, sign) = low.split_at_mut(len);
    source.bytes.read_exact(kept)?;
    source.offset += len as u64;
    if kept.last().is_some_and(|last| last & 0x80 != 0) {
        sign.fill(0xff);
    }
    let wide = i128::from_le_bytes(low);
    let narrow = i64::try_from(wide).map(Value::Int);
    let narrow = narrow.or_else(|_| u64::try_from(wide).map(Value::Unsigned));
    Ok(Op::Push(narrow.unwrap_or(Value::Other)))
}

fn bytes<const N: usize, R: Read>(source: &mut Source<R>) -> io::Result<Op> {
    let len = source.number::<N>()?;
    source.skip(len)?;
    Ok(Op::Push(Value::Other))
}

fn other<const N: usize, R: Read>(source: &mut Source<R>) -> io::Result<Op> {
    source.number::<N>()?;
    Ok(Op::Push(Value::Other))
}
