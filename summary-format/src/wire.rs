//! The protobuf wire format, read in place: fields in the order of the message, nothing copied, every length checked.
//!
//! Code generators (`prost`, `quick-protobuf`) build a whole message before its first field is available. Here a tag is
//! looked up in place, weights are skipped unread, and errors in a message have an offset.

/// Bytes that are not a protobuf message: a field is cut off, or its key is not one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WireError;

/// The value of one field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    Fixed32(u32),
}

/// The fields of one message: number and value, in the order of the bytes. Ends after the first malformed one.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    bytes: &'a [u8],
}

impl<'a> Fields<'a> {
    #[inline]
    pub(crate) fn of(message: &'a [u8]) -> Self {
        Self { bytes: message }
    }

    /// Unread bytes.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    /// A base-128 number of at most ten bytes; bits beyond 64 are dropped, as every protobuf reader does.
    #[inline]
    pub(crate) fn varint(&mut self) -> Option<u64> {
        let (&first, rest) = self.bytes.split_first()?;
        if first < 0x80 {
            self.bytes = rest;
            return Some(u64::from(first));
        }
        self.long_varint()
    }

    fn long_varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for (index, &byte) in self.bytes.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                self.bytes = &self.bytes[index + 1..];
                return Some(value);
            }
        }
        None
    }

    #[inline]
    fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (chunk, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(*chunk)
    }

    #[inline]
    fn field(&mut self) -> Option<(u32, Value<'a>)> {
        let key = u32::try_from(self.varint()?).ok()?;
        let number = key >> 3;
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(u64::from_le_bytes(self.chunk()?)),
            2 => {
                let len = usize::try_from(self.varint()?).ok()?;
                let (bytes, rest) = self.bytes.split_at_checked(len)?;
                self.bytes = rest;
                Value::Bytes(bytes)
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.chunk()?)),
            // The formats read here never use groups.
            _ => return None,
        };
        (number != 0).then_some((number, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Value<'a>), WireError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.bytes = &[];
        }
        Some(field.ok_or(WireError))
    }
}

/// The bytes of a field that occurs once; the last occurrence counts, as in every protobuf reader.
pub(crate) fn bytes_of(message: &[u8], number: u32) -> Result<Option<&[u8]>, WireError> {
    let mut found = None;
    for field in Fields::of(message) {
        match field? {
            (n, Value::Bytes(bytes)) if n == number => found = Some(bytes),
            _ => {}
        }
    }
    Ok(found)
}

/// Calls `each` with every element of a repeated varint, packed or not.
pub(crate) fn varints(value: Value<'_>, mut each: impl FnMut(u64)) -> Result<(), WireError> {
    match value {
        Value::Varint(number) => each(number),
        Value::Bytes(packed) => {
            let mut packed = Fields::of(packed);
            while !packed.rest().is_empty() {
                each(packed.varint().ok_or(WireError)?);
            }
        }
        Value::Fixed32(_) | Value::Fixed64(_) => {}
    }
    Ok(())
}

/// Calls `each` with every element of a repeated `sint64`, packed or not.
pub(crate) fn zigzags(value: Value<'_>, mut each: impl FnMut(i64)) -> Result<(), WireError> {
    varints(value, |bits| {
        each((bits >> 1).cast_signed() ^ -(bits & 1).cast_signed());
    })
}

/// Calls `each` with every element of a repeated `float`, packed or not.
pub(crate) fn floats(value: Value<'_>, mut each: impl FnMut(f32)) -> Result<(), WireError> {
    match value {
        Value::Fixed32(bits) => each(f32::from_bits(bits)),
        Value::Bytes(packed) => {
            let (elements, rest) = packed.as_chunks();
            for bytes in elements {
                each(f32::from_le_bytes(*bytes));
            }
            return if rest.is_empty() {
                Ok(())
            } else {
                Err(WireError)
            };
        }
        Value::Varint(_) | Value::Fixed64(_) => {}
    }
    Ok(())
}

/// Calls `each` with every element of a repeated `fixed64`, packed or not.
pub(crate) fn fixed64s(value: Value<'_>, mut each: impl FnMut(u64)) -> Result<(), WireError> {
    match value {
        Value::Fixed64(bits) => each(bits),
        Value::Bytes(packed) => {
            let (elements, rest) = packed.as_chunks();
            for bytes in elements {
                each(u64::from_le_bytes(*bytes));
            }
            return if rest.is_empty() {
                Ok(())
            } else {
                Err(WireError)
            };
        }
        Value::Varint(_) | Value::Fixed32(_) => {}
    }
    Ok(())
}

/// Appends every element of a repeated `double`, packed or not.
pub(crate) fn doubles(value: Value<'_>, out: &mut Vec<f64>) -> Result<(), WireError> {
    if let Value::Bytes(packed) = value {
        out.reserve(packed.len() / 8);
    }
    fixed64s(value, |bits| out.push(f64::from_bits(bits)))
}

/// Text of a file; bytes that are not UTF-8 become replacement characters.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An `int32` of the wire: the lower half, with its sign.
#[expect(
    clippy::cast_possible_truncation,
    reason = "protobuf drops the upper half of an int32"
)]
pub(crate) const fn int32(bits: u64) -> i32 {
    bits as i32
}

#[cfg(test)]
mod tests {
    use super::{Fields, Value, WireError};

    #[test]
    fn reads_each_wire_type() {
        let message = [
            0x08, 0x96,
            0x01, // field 1, varint 150 (the example of the protobuf documentation)
            0x12, 0x07, b't', b'e', b's', b't', b'i', b'n', b'g', // field 2
            0x19, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, // field 3, 1.0 as f64
            0x25, 0, 0, 0x80, 0x3f, // field 4, 1.0 as f32
            0xc1, 0x3e, 1, 0, 0, 0, 0, 0, 0, 0, // field 1000
        ];
        let fields: Vec<_> = Fields::of(&message).map(Result::unwrap).collect();
        assert_eq!(
            fields,
            [
                (1, Value::Varint(150)),
                (2, Value::Bytes(b"testing")),
                (3, Value::Fixed64(1.0_f64.to_bits())),
                (4, Value::Fixed32(1.0_f32.to_bits())),
                (1000, Value::Fixed64(1)),
            ]
        );
    }

    #[test]
    fn a_negative_number_takes_ten_bytes() {
        let message = [
            0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
        ];
        assert_eq!(
            Fields::of(&message).next(),
            Some(Ok((2, Value::Varint(u64::MAX))))
        );
    }

    #[test]
    fn what_is_cut_off_is_malformed_and_ends_the_message() {
        for message in [
            &[0x08][..],                              // no value
            &[0x08, 0x80],                            // half a varint
            &[0x12, 0x05, b'a'],                      // bytes that are not there
            &[0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 1], // a length of terabytes
            &[0x19, 0, 0],                            // half a number
            &[0x25, 0],
            &[0x00, 0x00],       // field number 0
            &[0x0b, 0x08, 0x01], // a group
            &[
                0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1,
            ],
        ] {
            let mut fields = Fields::of(message);
            assert_eq!(fields.next(), Some(Err(WireError)), "{message:?}");
            assert_eq!(fields.next(), None);
        }
    }
}
