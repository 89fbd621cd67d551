//! The single number of a `TensorProto` that holds a scalar.

use half::{bf16, f16};

use super::super::tensor_proto::sizes;
use crate::wire::{Fields, Value, WireError};

/// The number in a tensor of one element, of any numeric type; `None` if it has another shape or holds no number.
///
/// Fields: type 1, shape 2, raw little-endian content 4, or a list per type, starting at field 5. An omitted list is a
/// zero. Integers beyond 2^53 are rounded to the nearest `f64`.
pub(super) fn single_number(tensor: &[u8]) -> Result<Option<f64>, WireError> {
    let mut data_type = 0;
    let mut content = None;
    let mut listed = (0, 0);
    for field in Fields::of(tensor) {
        match field? {
            (1, Value::Varint(number)) => data_type = number,
            (2, Value::Bytes(shape)) if sizes(shape)?.iter().any(|&size| size != 1) => {
                return Ok(None);
            }
            (4, Value::Bytes(bytes)) if !bytes.is_empty() => content = Some(bytes),
            (number @ 5..=17, value) => {
                if let Some(bits) = first_of_list(number, value)? {
                    listed = (number, bits);
                }
            }
            _ => {}
        }
    }
    Ok(match content {
        Some(bytes) => from_content(data_type, bytes),
        None => from_list(data_type, listed),
    })
}

/// The first element of a list field, packed or not, as raw bits.
fn first_of_list(number: u32, value: Value<'_>) -> Result<Option<u64>, WireError> {
    let packed = match value {
        Value::Varint(bits) | Value::Fixed64(bits) => return Ok(Some(bits)),
        Value::Fixed32(bits) => return Ok(Some(bits.into())),
        Value::Bytes([]) => return Ok(None),
        Value::Bytes(packed) => packed,
    };
    Ok(Some(match number {
        5 => u32::from_le_bytes(first(packed).ok_or(WireError)?).into(),
        6 => u64::from_le_bytes(first(packed).ok_or(WireError)?),
        7 | 10 | 11 | 13 | 16 | 17 => Fields::of(packed).varint().ok_or(WireError)?,
        // Strings, complex numbers, handles.
        _ => return Ok(None),
    }))
}

fn first<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.first_chunk().copied()
}

fn from_content(data_type: u64, bytes: &[u8]) -> Option<f64> {
    Some(match data_type {
        1 => f32::from_le_bytes(first(bytes)?).into(),
        2 => f64::from_le_bytes(first(bytes)?),
        3 => i32::from_le_bytes(first(bytes)?).into(),
        4 => u8::from_le_bytes(first(bytes)?).into(),
        5 => i16::from_le_bytes(first(bytes)?).into(),
        6 => i8::from_le_bytes(first(bytes)?).into(),
        9 => i64::from_le_bytes(first(bytes)?) as f64,
        10 => f64::from(*bytes.first()? != 0),
        14 => bf16::from_le_bytes(first(bytes)?).into(),
        17 => u16::from_le_bytes(first(bytes)?).into(),
        19 => f16::from_le_bytes(first(bytes)?).into(),
        22 => u32::from_le_bytes(first(bytes)?).into(),
        23 => u64::from_le_bytes(first(bytes)?) as f64,
        _ => return None,
    })
}

/// List of each type: several small types share one.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the list is wider than the type; the writer widened it"
)]
fn from_list(data_type: u64, (list, bits): (u32, u64)) -> Option<f64> {
    let expected = match data_type {
        1 => 5,
        2 => 6,
        3..=6 | 17 => 7,
        9 => 10,
        10 => 11,
        14 | 19 => 13,
        22 => 16,
        23 => 17,
        _ => return None,
    };
    let bits = if list == expected { bits } else { 0 };
    Some(match expected {
        5 => f32::from_bits(bits as u32).into(),
        6 => f64::from_bits(bits),
        7 => f64::from(bits as i32),
        10 => bits.cast_signed() as f64,
        11 => f64::from(bits != 0),
        13 if data_type == 14 => bf16::from_bits(bits as u16).into(),
        13 => f16::from_bits(bits as u16).into(),
        _ => bits as f64,
    })
}
