//! Tensors of numbers and of text, as recorded in full.

use half::{bf16, f16};
use serde::{Deserialize, Serialize};

use crate::stretch::Stretch;
use crate::tensor::{self, DType};

/// A tensor of text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Text {
    /// Sizes, outermost first; empty for a single text.
    pub shape: Vec<u64>,
    /// Texts in row-major order, as many as the shape has elements; bytes that are not UTF-8 become replacement
    /// characters.
    pub items: Vec<String>,
}

/// A tensor of numbers in row-major order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tensor {
    /// Element type as stored.
    pub dtype: DType,
    /// Element type in the program, if the writer converted it.
    pub original_dtype: Option<DType>,
    /// Sizes, outermost first; empty for a single number.
    pub shape: Vec<u64>,
    /// The elements.
    pub data: TensorData,
}

/// A tensor of an unsupported element type: complex numbers, text, 4-bit and odd 8-bit numbers. Its elements are never
/// read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OpaqueTensor {
    /// Name of the type in its framework or file.
    pub dtype: String,
    /// Sizes, outermost first; empty for a single element.
    pub shape: Vec<u64>,
}

/// Location of the elements of a tensor: little-endian, in its `dtype`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TensorData {
    /// A byte range of the file.
    Stretch(Stretch),
    /// The bytes themselves. If there are fewer than the shape requires, the last one repeats to the end; if there is
    /// none, all are 0.
    Inline(Vec<u8>),
}

impl Tensor {
    /// Number of elements according to the shape; `None` above `u64::MAX`.
    pub fn len(&self) -> Option<u64> {
        tensor::len_of(&self.shape)
    }

    /// `true` if the shape has no elements.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// At most `len` elements, starting at index `from`, as numbers. `bytes` is the content of [`Tensor::data`] from
    /// its beginning; missing elements are left out. Integers beyond 2^53 become the nearest `f64`.
    pub fn numbers(&self, bytes: &[u8], from: u64, len: usize) -> Vec<f64> {
        let size = self.dtype.size_bytes();
        let there = self.len().unwrap_or(u64::MAX).saturating_sub(from);
        let len = usize::try_from(there).map_or(len, |there| there.min(len));
        let start = usize::try_from(from).unwrap_or(usize::MAX);
        let rest = bytes.get(start.saturating_mul(size)..).unwrap_or_default();
        let elements = rest.chunks_exact(size).take(len);
        let mut numbers: Vec<f64> = elements
            .map(|element| number(self.dtype, element))
            .collect();
        if matches!(self.data, TensorData::Inline(_)) {
            let last = bytes.chunks_exact(size).next_back();
            numbers.resize(len, last.map_or(0.0, |element| number(self.dtype, element)));
        }
        numbers
    }
}

impl DType {
    /// One element, little-endian; 0 if there are too few bytes. Integers beyond 2^53 become the nearest `f64`.
    pub fn number(self, bytes: &[u8]) -> f64 {
        number(self, bytes)
    }
}

/// One element, little-endian; 0 if there are too few bytes.
pub(crate) fn number(dtype: DType, bytes: &[u8]) -> f64 {
    fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
        bytes.first_chunk().copied().unwrap_or([0; N])
    }
    match dtype {
        DType::Bool => f64::from(u8::from(first::<1>(bytes) != [0])),
        DType::U8 => u8::from_le_bytes(first(bytes)).into(),
        DType::U16 => u16::from_le_bytes(first(bytes)).into(),
        DType::U32 => u32::from_le_bytes(first(bytes)).into(),
        DType::U64 => u64::from_le_bytes(first(bytes)) as f64,
        DType::I8 => i8::from_le_bytes(first(bytes)).into(),
        DType::I16 => i16::from_le_bytes(first(bytes)).into(),
        DType::I32 => i32::from_le_bytes(first(bytes)).into(),
        DType::I64 => i64::from_le_bytes(first(bytes)) as f64,
        DType::F16 => f16::from_le_bytes(first(bytes)).into(),
        DType::Bf16 => bf16::from_le_bytes(first(bytes)).into(),
        DType::F8E5m2 => f16::from_le_bytes([0, first::<1>(bytes)[0]]).into(),
        DType::F8E4m3 => f8_e4m3(first::<1>(bytes)[0]),
        DType::F32 => f32::from_le_bytes(first(bytes)).into(),
        DType::F64 => f64::from_le_bytes(first(bytes)),
    }
}

/// Bias 7; all ones is NaN, and there is no infinity (OCP 8-bit floating point specification).
fn f8_e4m3(byte: u8) -> f64 {
    let exponent = i32::from((byte >> 3) & 15);
    let mantissa = f64::from(byte & 7) / 8.0;
    let magnitude = match exponent {
        15 if byte & 7 == 7 => f64::NAN,
        0 => mantissa * 2.0_f64.powi(-6),
        _ => (1.0 + mantissa) * 2.0_f64.powi(exponent - 7),
    };
    if byte < 128 { magnitude } else { -magnitude }
}
