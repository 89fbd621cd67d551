//! Data in files of Python's `pickle`, protocols 2 to 5, read without running anything.
//!
//! A pickle is a program for a stack machine. Only instructions that build lists, dicts, tuples, numbers and texts are
//! followed; imports and calls become [`Value::Other`] and are counted. Parts that a [`Shape`] recognises leave the
//! tree as soon as they are complete, so that millions of them take little memory.

use std::io::{self, BufRead, BufReader, Read};

mod machine;
mod opcode;

pub(crate) use machine::{Document, Shape, read, unsigned};

/// Bytes read at a time.
const BLOCK_BYTES: usize = 1 << 20;
/// Maximum length of a text; longer ones are cut.
const MAX_TEXT: u64 = 64 << 10;
/// Maximum depth of lists and dicts. Deeper values become [`Value::Other`].
const MAX_DEPTH: u16 = 64;
/// Maximum number of values outside of recognised parts, of 16 bytes each.
const MAX_VALUES: usize = 1 << 26;
/// Maximum total length of texts, in bytes.
const MAX_TEXT_BYTES: usize = 256 << 20;

/// Number of values in a page of the memo.
const PAGE: usize = 256;

/// A value of the tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Value {
    #[default]
    None,
    Bool(bool),
    Int(i64),
    /// A number above [`i64::MAX`], as addresses are.
    Unsigned(u64),
    Float(f64),
    /// A text, as an index into [`Document::texts`].
    Text(u32),
    /// A list or tuple.
    List(Box<Items<Value>>),
    Dict(Box<Items<(Value, Value)>>),
    /// A value with several owners, as an index into [`Document::shared`].
    Shared(u32),
    /// A run of parts that a [`Shape`] has taken: its kind, the number of the first, and their count.
    Taken(u8, u32, u32),
    /// A class or function by name.
    Global(Global),
    /// Anything else: results of calls that were not made, sets, bytes.
    Other,
}

/// Elements of a container.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Items<T> {
    pub(crate) items: Vec<T>,
    /// Levels of containers below this one.
    depth: u16,
}

/// Classes and functions whose results are known without a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Global {
    /// `collections.OrderedDict`.
    Dict,
    /// `torch.jit._pickle.restore_type_tag(value, type)`: its result is the value.
    Tagged,
    Unknown,
}

/// Bytes of a file with their offset.
struct Source<R> {
    bytes: BufReader<R>,
    offset: u64,
}

impl<R: Read> Source<R> {
    fn new(file: R) -> Self {
        Self {
            bytes: BufReader::with_capacity(BLOCK_BYTES, file),
            offset: 0,
        }
    }

    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let array = if let Some(array) = self.bytes.buffer().first_chunk() {
            let array = *array;
            self.bytes.consume(N);
            array
        } else {
            let mut array = [0; N];
            self.bytes.read_exact(&mut array)?;
            array
        };
        self.offset += N as u64;
        Ok(array)
    }

    fn byte(&mut self) -> io::Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// A little-endian number of `N` bytes, at most eight.
    fn number<const N: usize>(&mut self) -> io::Result<u64> {
        let mut wide = [0; 8];
        for (to, from) in wide.iter_mut().zip(self.array::<N>()?) {
            *to = from;
        }
        Ok(u64::from_le_bytes(wide))
    }

    fn skip(&mut self, len: u64) -> io::Result<()> {
        let mut left = len;
        while left > 0 {
            let block = self.bytes.fill_buf()?;
            if block.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let len = block.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            self.bytes.consume(len);
            left -= len as u64;
            self.offset += len as u64;
        }
        Ok(())
    }

    /// The first [`MAX_TEXT`] bytes of a text of this length; the rest is skipped.
    fn text(&mut self, len: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
        let kept = len.min(MAX_TEXT);
        buffer.clear();
        let read = (&mut self.bytes).take(kept).read_to_end(buffer)? as u64;
        self.offset += read;
        if read < kept {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.skip(len - kept)
    }

    /// A line without its end, cut at [`MAX_TEXT`] bytes.
    fn line(&mut self, buffer: &mut Vec<u8>) -> io::Result<()> {
        buffer.clear();
        loop {
            match self.byte()? {
                b'\n' => return Ok(()),
                byte if (buffer.len() as u64) < MAX_TEXT => buffer.push(byte),
                _ => {}
            }
        }
    }
}

/// Memo: values that are read again, by their number. Others are not kept.
#[derive(Debug, Default)]
struct Memo {
    /// Pages of values, each made when one of its values is wanted; `None` for values that are not read.
    pages: Vec<Option<Box<[Option<Value>; PAGE]>>>,
    /// Number of the next value.
    next: u32,
}

impl Memo {
    /// Requests that the value of a number is kept.
    fn want(&mut self, number: u32) {
        let (page, slot) = (number as usize / PAGE, number as usize % PAGE);
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        let page = self.pages[page].get_or_insert_with(|| Box::new([const { None }; PAGE]));
        page[slot] = Some(Value::Other);
    }

    /// The place of a value that is wanted.
    fn slot(&mut self, number: u32) -> Option<&mut Value> {
        let page = self.pages.get_mut(number as usize / PAGE)?.as_mut()?;
        page[number as usize % PAGE].as_mut()
    }
}
