//! Skips the weights of an ONNX file, which are most of its bytes.

use std::io::{self, BufRead, Read, Seek};

use crate::message::Message;

/// Field paths to the initializers: graph 7, initializers 5, or sparse ones 15, which are values 1 and indices 2.
const WAYS: [&[u32]; 5] = [&[7], &[7, 5], &[7, 15], &[7, 15, 1], &[7, 15, 2]];
/// The content of a tensor: numbers of all types, and raw bytes 9.
const CONTENT: [u32; 7] = [4, 5, 6, 7, 9, 10, 11];
/// Size limit of a model without weights.
const MAX_BYTES: u64 = 1 << 30;

/// Copies a model of `len` bytes from `from` without the content of its initializers. If it is not a model, only the
/// part that parses is copied, and decoding reports the error.
pub(crate) fn without_weights(from: &mut (impl BufRead + Seek), len: u64) -> io::Result<Vec<u8>> {
    let mut skim = Skim {
        from,
        kept_bytes: 0,
    };
    Ok(skim.message(&mut Vec::new(), len)?.into_bytes())
}

struct Skim<'a, R> {
    from: &'a mut R,
    kept_bytes: u64,
}

impl<R: BufRead + Seek> Skim<'_, R> {
    /// Copies the fields of the next `len` bytes; `way` is their field path.
    fn message(&mut self, way: &mut Vec<u32>, len: u64) -> io::Result<Message> {
        let mut message = Message::default();
        let mut left = len;
        let is_tensor = matches!(way[..], [7, 5] | [7, 15, _]);
        while left > 0 {
            let (key, wire_type) = {
                let key = self.varint(&mut left)?;
                (key >> 3, key & 7)
            };
            let number = u32::try_from(key).map_err(|_| wrong())?;
            match wire_type {
                0 => message.varint(number, self.varint(&mut left)?),
                1 => message.double(number, f64::from_le_bytes(self.array(&mut left)?)),
                5 => message.float(number, f32::from_le_bytes(self.array(&mut left)?)),
                2 => {
                    let len = self.varint(&mut left)?;
                    left = left.checked_sub(len).ok_or_else(wrong)?;
                    way.push(number);
                    if WAYS.contains(&&way[..]) {
                        let inner = self.message(way, len)?;
                        message.message(number, &inner);
                    } else if is_tensor && CONTENT.contains(&number) {
                        let len = i64::try_from(len).map_err(|_| wrong())?;
                        self.from.seek_relative(len)?;
                    } else {
                        message.bytes(number, &self.bytes(len)?);
                    }
                    way.pop();
                }
                _ => return Err(wrong()),
            }
        }
        Ok(message)
    }

    fn bytes(&mut self, len: u64) -> io::Result<Vec<u8>> {
        self.kept_bytes = self.kept_bytes.saturating_add(len);
        if self.kept_bytes > MAX_BYTES {
            return Err(io::Error::other("it exceeds 1 GiB without its weights"));
        }
        // Reads only available bytes, whatever length the message claims.
        let mut bytes = Vec::new();
        Read::take(&mut *self.from, len).read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < len {
            return Err(wrong());
        }
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self, left: &mut u64) -> io::Result<[u8; N]> {
        *left = left.checked_sub(N as u64).ok_or_else(wrong)?;
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn varint(&mut self, left: &mut u64) -> io::Result<u64> {
        let mut value = 0;
        for index in 0..10 {
            let [byte] = self.array(left)?;
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(wrong())
    }
}

fn wrong() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "a message in it is truncated or malformed",
    )
}
