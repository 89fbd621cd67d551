//! Element types, and the conversion of blocks of elements to numbers.

#![expect(
    clippy::inline_always,
    reason = "code gets the instructions of the function that it is inlined into"
)]

use std::fmt;

use half::bf16;
use serde::{Deserialize, Serialize};

/// The type of a tensor's elements. New ones are appended: the order is part of the stored form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum DType {
    /// One byte; 0 is false.
    Bool,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits; rounded to the nearest `f64` beyond 2^53.
    U64,
    /// Signed, 8 bits.
    I8,
    /// Signed, 16 bits.
    I16,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits; rounded to the nearest `f64` beyond 2^53.
    I64,
    /// IEEE half precision.
    F16,
    /// The upper half of an `f32`.
    Bf16,
    /// 4 bits of exponent, 3 of mantissa, no infinities (OCP 8-bit floating point, E4M3).
    F8E4m3,
    /// 5 bits of exponent, 2 of mantissa: the upper half of an `f16` (OCP 8-bit floating point, E5M2).
    F8E5m2,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
}

impl DType {
    /// All types.
    pub const ALL: [Self; 15] = [
        Self::Bool,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::F16,
        Self::Bf16,
        Self::F8E4m3,
        Self::F8E5m2,
        Self::F32,
        Self::F64,
    ];

    /// Size of an element in bytes.
    pub const fn size_bytes(self) -> usize {
        match self {
            Self::Bool | Self::U8 | Self::I8 | Self::F8E4m3 | Self::F8E5m2 => 1,
            Self::U16 | Self::I16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// The name used in the API and on disk.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F8E4m3 => "f8_e4m3",
            Self::F8E5m2 => "f8_e5m2",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// The type of a name from [`DType::as_str`].
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dtype| dtype.as_str() == name)
    }

    /// The exponent of the smallest normal number; values nearer to zero are subnormal. `None` for integers.
    pub const fn min_normal_exponent(self) -> Option<i32> {
        match self {
            Self::F8E4m3 => Some(-6),
            Self::F8E5m2 | Self::F16 => Some(-14),
            Self::Bf16 | Self::F32 => Some(-126),
            Self::F64 => Some(-1022),
            _ => None,
        }
    }

    /// `true` if blocks of this type are read as `f32`: every value fits, and it is wider than a byte.
    pub(super) const fn is_read_as_f32(self) -> bool {
        matches!(
            self,
            Self::U16 | Self::I16 | Self::F16 | Self::Bf16 | Self::F32
        )
    }

    /// Writes the elements of `bytes` as `f32`, exactly, and returns their number; 0 for types that do not fit.
    #[inline(always)]
    pub(super) fn widen_to_f32(self, bytes: &[u8], out: &mut [f32]) -> usize {
        match self {
            Self::U16 => each(bytes, out, |b| u16::from_le_bytes(b).into()),
            Self::I16 => each(bytes, out, |b| i16::from_le_bytes(b).into()),
            Self::F16 => each(bytes, out, |b| f32_of_f16(u16::from_le_bytes(b))),
            Self::Bf16 => each(bytes, out, |b| {
                f32::from_bits(u32::from(u16::from_le_bytes(b)) << 16)
            }),
            Self::F32 => each(bytes, out, f32::from_le_bytes),
            _ => 0,
        }
    }

    /// The elements of `bytes` as `f64`; for every type.
    pub fn to_f64(self, bytes: &[u8]) -> Vec<f64> {
        let mut numbers = vec![0.0; bytes.len() / self.size_bytes()];
        self.widen_to_f64(bytes, &mut numbers);
        numbers
    }

    /// Writes the elements of `bytes` as `f64` and returns their number; for every type.
    #[inline(always)]
    pub(super) fn widen_to_f64(self, bytes: &[u8], out: &mut [f64]) -> usize {
        match self {
            Self::Bool => each(bytes, out, |[byte]| f64::from(u8::from(byte != 0))),
            Self::U8 => each(bytes, out, |b| u8::from_le_bytes(b).into()),
            Self::I8 => each(bytes, out, |b| i8::from_le_bytes(b).into()),
            Self::U16 => each(bytes, out, |b| u16::from_le_bytes(b).into()),
            Self::I16 => each(bytes, out, |b| i16::from_le_bytes(b).into()),
            Self::U32 => each(bytes, out, |b| u32::from_le_bytes(b).into()),
            Self::I32 => each(bytes, out, |b| i32::from_le_bytes(b).into()),
            Self::U64 => each(bytes, out, |b| u64::from_le_bytes(b) as f64),
            Self::I64 => each(bytes, out, |b| i64::from_le_bytes(b) as f64),
            Self::F16 => each(bytes, out, |b| f32_of_f16(u16::from_le_bytes(b)).into()),
            Self::Bf16 => each(bytes, out, |b| bf16::from_le_bytes(b).into()),
            Self::F8E4m3 => each(bytes, out, |[byte]| E4M3[usize::from(byte)].into()),
            Self::F8E5m2 => each(bytes, out, |[byte]| f32_of_f16(u16::from(byte) << 8).into()),
            Self::F32 => each(bytes, out, |b| f32::from_le_bytes(b).into()),
            Self::F64 => each(bytes, out, f64::from_le_bytes),
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[inline(always)]
fn each<const N: usize, T>(bytes: &[u8], out: &mut [T], read: impl Fn([u8; N]) -> T) -> usize {
    let (elements, _torn) = bytes.as_chunks::<N>();
    for (out, element) in out.iter_mut().zip(elements) {
        *out = read(*element);
    }
    elements.len().min(out.len())
}

/// Converts an `f16` to `f32` without branches, so that a loop over many vectorises; `half` checks the processor's
/// features for each.
#[inline(always)]
fn f32_of_f16(bits: u16) -> f32 {
    // Sign extension moves the sign into place; the copies in the three bits below are then cleared.
    let spread = (i32::from(bits.cast_signed()) << 13).cast_unsigned() & 0x8fff_e000;
    // The exponent bias is 15 there and 127 here; multiplying makes subnormal numbers normal too.
    let finite = f32::from_bits(spread) * f32::from_bits((127 + 127 - 15) << 23);
    let exponent = if bits & 0x7c00 == 0x7c00 {
        0x7f80_0000
    } else {
        0
    };
    f32::from_bits(finite.to_bits() | exponent)
}

/// The value of each E4M3 byte: bias 7; all ones is NaN, and there is no infinity.
static E4M3: [f32; 256] = {
    let mut table = [0.0; 256];
    let mut byte = 0_u32;
    while byte < 256 {
        let exponent = (byte >> 3) & 15;
        let mantissa = (byte & 7) as f32;
        let magnitude = if exponent == 15 && byte & 7 == 7 {
            f32::NAN
        } else if exponent == 0 {
            // Eighths of 2^-6.
            mantissa * f32::from_bits((127 - 9) << 23)
        } else {
            (1.0 + mantissa / 8.0) * f32::from_bits((exponent + 127 - 7) << 23)
        };
        table[byte as usize] = if byte < 128 { magnitude } else { -magnitude };
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::DType;

    fn number(dtype: DType, bytes: &[u8]) -> f64 {
        let mut out = [f64::NAN; 2];
        assert_eq!(dtype.widen_to_f64(bytes, &mut out), 1, "{dtype:?}");
        if dtype.is_read_as_f32() {
            let mut narrow = [f32::NAN; 2];
            assert_eq!(dtype.widen_to_f32(bytes, &mut narrow), 1, "{dtype:?}");
            assert_eq!(
                f64::from(narrow[0]).to_bits() << 1,
                out[0].to_bits() << 1,
                "{dtype:?}"
            );
        }
        out[0]
    }

    #[test]
    fn elements_of_every_type() {
        for (dtype, bytes, expected) in [
            (DType::Bool, &[7_u8][..], 1.0),
            (DType::U8, &[200], 200.0),
            (DType::U16, &[0xff, 0xff], 65_535.0),
            (DType::U32, &[0xff, 0xff, 0xff, 0xff], 4_294_967_295.0),
            (
                DType::U64,
                &[0, 0, 0, 0, 0, 0, 0, 0x80],
                9_223_372_036_854_775_808.0,
            ),
            (DType::I8, &[0x80], -128.0),
            (DType::I16, &[0, 0x80], -32_768.0),
            (DType::I32, &[0, 0, 0, 0x80], -2_147_483_648.0),
            (DType::I64, &[0xff; 8], -1.0),
            (DType::F16, &[0x01, 0x00], 2.0_f64.powi(-24)),
            (DType::F16, &[0xff, 0x7b], 65_504.0),
            (DType::Bf16, &[0x80, 0xbf], -1.0),
            (DType::F32, &[0, 0, 0x80, 0x7f], f64::INFINITY),
            (DType::F64, &[0, 0, 0, 0, 0, 0, 0xf0, 0xbf], -1.0),
            // OCP 8-bit floating point specification, section 5: largest, smallest normal, smallest subnormal.
            (DType::F8E4m3, &[0x7e], 448.0),
            (DType::F8E4m3, &[0x08], 2.0_f64.powi(-6)),
            (DType::F8E4m3, &[0x81], -(2.0_f64.powi(-9))),
            (DType::F8E5m2, &[0x7b], 57_344.0),
            (DType::F8E5m2, &[0x04], 2.0_f64.powi(-14)),
            (DType::F8E5m2, &[0x01], 2.0_f64.powi(-16)),
            (DType::F8E5m2, &[0xfc], f64::NEG_INFINITY),
        ] {
            assert_eq!(
                number(dtype, bytes).to_bits(),
                expected.to_bits(),
                "{dtype:?}"
            );
        }
        assert!(number(DType::F8E4m3, &[0x7f]).is_nan());
        assert!(number(DType::F8E4m3, &[0xff]).is_nan());
        assert!(number(DType::F8E5m2, &[0x7d]).is_nan());
    }

    #[test]
    fn every_half_is_what_the_library_says() {
        for bits in 0..=u16::MAX {
            let expected = f64::from(half::f16::from_bits(bits));
            let seen = number(DType::F16, &bits.to_le_bytes());
            assert!(
                seen.to_bits() == expected.to_bits() || (seen.is_nan() && expected.is_nan()),
                "{bits:x}"
            );
        }
    }

    #[test]
    fn names_are_those_of_serde() {
        for dtype in DType::ALL {
            let name = serde_json::to_string(&dtype).unwrap();
            assert_eq!(name, format!("\"{dtype}\""));
            assert_eq!(DType::of_name(dtype.as_str()), Some(dtype));
        }
    }
}
