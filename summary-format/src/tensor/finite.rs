//! The question whether all elements are finite, several times as fast as statistics.

#![expect(
    clippy::inline_always,
    reason = "code gets the instructions of the function that it is inlined into"
)]

use std::ops::BitOr;

use super::DType;
use super::dispatch::{Registers, with_registers};

/// Bytes that are tested together, without a branch between them.
const BLOCK_BYTES: usize = 4_096;

/// Bits of the exponent, of the types by their sizes in bits: all are set in NaN and infinities only.
const F16: u16 = 0x7c00;
const BF16: u16 = 0x7f80;
const F32: u32 = 0x7f80_0000;
const F64: u64 = 0x7ff0_0000_0000_0000;

/// `true` if no element is NaN or infinite; `None` for types other than floating point of 16, 32 and 64 bits.
pub fn are_finite(dtype: DType, bytes: &[u8]) -> Option<bool> {
    are_finite_with(Registers::default(), dtype, bytes)
}

fn are_finite_with(registers: Registers, dtype: DType, bytes: &[u8]) -> Option<bool> {
    with_registers!(registers, scan, dtype: DType, bytes: &[u8] => Option<bool>)
}

#[inline(always)]
fn scan(dtype: DType, bytes: &[u8]) -> Option<bool> {
    Some(match dtype {
        DType::F16 => all(bytes, |element| {
            u16::from(u16::from_le_bytes(element) & F16 == F16)
        }),
        DType::Bf16 => all(bytes, |element| {
            u16::from(u16::from_le_bytes(element) & BF16 == BF16)
        }),
        DType::F32 => all(bytes, |element| {
            u32::from(u32::from_le_bytes(element) & F32 == F32)
        }),
        DType::F64 => all(bytes, |element| {
            u64::from(u64::from_le_bytes(element) & F64 == F64)
        }),
        _ => return None,
    })
}

/// `true` if a function gives 0 for all elements of `N` bytes. Its results are as wide as the elements: what the compiler
/// makes vectors of.
#[inline(always)]
fn all<const N: usize, T>(bytes: &[u8], test: impl Fn([u8; N]) -> T) -> bool
where
    T: Copy + Default + Eq + BitOr<Output = T>,
{
    bytes.chunks(BLOCK_BYTES).all(|block| {
        let (elements, _) = block.as_chunks::<N>();
        let found = elements
            .iter()
            .fold(T::default(), |found, &element| found | test(element));
        found == T::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<T: Copy, const N: usize>(elements: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
        elements
            .iter()
            .flat_map(|&element| bytes(element))
            .collect()
    }

    #[test]
    fn an_element_that_is_not_finite_is_found_at_each_place_by_each_width_of_registers() {
        for registers in Registers::available() {
            for len in [1_usize, 7, 1_024, 1_500] {
                let mut elements = vec![f32::MAX; len];
                let finite = of(&elements, f32::to_le_bytes);
                assert_eq!(are_finite_with(registers, DType::F32, &finite), Some(true));
                for at in [0, len / 2, len - 1] {
                    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                        let before = std::mem::replace(&mut elements[at], value);
                        let bytes = of(&elements, f32::to_le_bytes);
                        assert_eq!(
                            are_finite_with(registers, DType::F32, &bytes),
                            Some(false),
                            "{value} at {at} of {len}"
                        );
                        elements[at] = before;
                    }
                }
            }
        }
    }

    #[test]
    fn the_largest_number_of_each_type_is_finite_and_what_follows_is_not() {
        let last = |bits: u64, dtype: DType| {
            let bytes = bits.to_le_bytes();
            are_finite(dtype, &bytes[..dtype.size_bytes()])
        };
        for (dtype, largest) in [
            (DType::F16, 0x7bff),
            (DType::Bf16, 0x7f7f),
            (DType::F32, 0x7f7f_ffff),
            (DType::F64, 0x7fef_ffff_ffff_ffff),
        ] {
            assert_eq!(last(largest, dtype), Some(true), "{dtype:?}");
            assert_eq!(last(largest + 1, dtype), Some(false), "{dtype:?}");
        }
        assert_eq!(are_finite(DType::F32, &[]), Some(true));
        assert_eq!(are_finite(DType::I32, &[0; 4]), None);
    }
}
