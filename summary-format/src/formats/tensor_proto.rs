//! `TensorProto`: numbers and text in tensors, the only form of values in the second generation.

use super::event_file::{Fault, Source};
use super::graph_tf::dtype_name;
use crate::kind::Kind;
use crate::tensor::DType;
use crate::tensor::len_of;
use crate::values::{OpaqueTensor, Tensor, TensorData, Text, number};
use crate::wire::{Fields, Value, WireError, doubles, floats, int32, text, varints};

const UNKNOWN_TYPE: Fault = Fault("a tensor has an unknown element type");
const WRONG_LEN: Fault = Fault("the shape and the content of a tensor disagree");
const NOT_TEXT: Fault = Fault("a tensor holds numbers where text belongs");
const NOT_NUMBERS: Fault = Fault("a tensor holds text where numbers belong");
const TOO_MANY: Fault = Fault("a tensor holds more than a million texts");
const TOO_LONG: Fault = Fault("a tensor written element by element exceeds 64 MiB");

/// Limit of lists that are decoded element by element into memory; writers use raw content for large tensors.
const MAX_LISTED_BYTES: usize = 64 << 20;
/// Limit of texts: a decoded empty text takes many times its encoded length.
const MAX_TEXTS: usize = 1 << 20;
/// `DT_STRING` of `DataType`.
pub(crate) const STRING: u64 = 7;
/// The numeric types of `DataType` that this crate supports.
pub(crate) const TYPES: [(u64, DType); 15] = [
    (1, DType::F32),
    (2, DType::F64),
    (3, DType::I32),
    (4, DType::U8),
    (5, DType::I16),
    (6, DType::I8),
    (9, DType::I64),
    (10, DType::Bool),
    (14, DType::Bf16),
    (17, DType::U16),
    (19, DType::F16),
    (22, DType::U32),
    (23, DType::U64),
    (24, DType::F8E5m2),
    (25, DType::F8E4m3),
];

/// A tensor with its type and shape. Fields: type 1, shape 2, raw little-endian content 4, or a list per type, starting
/// at field 5.
pub(super) struct TensorProto<'a> {
    data_type: u64,
    pub(super) shape: Vec<u64>,
    /// Empty if the elements are in a list.
    content: &'a [u8],
    message: &'a [u8],
}

impl<'a> TensorProto<'a> {
    pub(super) fn parse(message: &'a [u8]) -> Result<Self, WireError> {
        let mut tensor = Self {
            data_type: 0,
            shape: Vec::new(),
            content: &[],
            message,
        };
        for field in Fields::of(message) {
            match field? {
                (1, Value::Varint(number)) => tensor.data_type = number,
                (2, Value::Bytes(shape)) => tensor.shape = sizes(shape)?,
                (4, Value::Bytes(content)) => tensor.content = content,
                _ => {}
            }
        }
        Ok(tensor)
    }

    /// Kind of a tensor without a plugin.
    pub(super) fn kind(&self) -> Kind {
        match self.data_type {
            STRING => Kind::Text,
            _ => Kind::Tensors,
        }
    }

    /// The texts, undecoded: list 8.
    pub(super) fn texts(&self) -> Result<Vec<&'a [u8]>, Fault> {
        if self.data_type != STRING {
            return Err(NOT_TEXT);
        }
        let mut texts = Vec::new();
        for field in Fields::of(self.message) {
            if let (8, Value::Bytes(bytes)) = field? {
                if texts.len() == MAX_TEXTS {
                    return Err(TOO_MANY);
                }
                texts.push(bytes);
            }
        }
        if len_of(&self.shape) != Some(texts.len() as u64) {
            return Err(WRONG_LEN);
        }
        Ok(texts)
    }

    /// The text of a tensor with a single one.
    pub(super) fn single_text(&self) -> Result<&'a [u8], Fault> {
        match self.texts()?[..] {
            [text] => Ok(text),
            _ => Err(WRONG_LEN),
        }
    }

    pub(super) fn text(&self) -> Result<Text, Fault> {
        let items = self.texts()?.into_iter().map(text).collect();
        Ok(Text {
            shape: self.shape.clone(),
            items,
        })
    }

    /// All numbers; their count must match the shape.
    pub(super) fn numbers(&self) -> Result<Vec<f64>, Fault> {
        let dtype = self.dtype()?;
        let listed;
        let bytes = match self.content {
            [] => {
                listed = self.listed(dtype)?;
                &listed[..]
            }
            content => content,
        };
        if !self.is_len(bytes.len(), dtype) {
            return Err(WRONG_LEN);
        }
        let elements = bytes.chunks_exact(dtype.size_bytes());
        Ok(elements.map(|element| number(dtype, element)).collect())
    }

    /// Reference to the numbers in the file, if they are stored as raw content.
    pub(super) fn values(&self, source: Source<'_>) -> Result<Tensor, Fault> {
        let dtype = self.dtype()?;
        let data = match self.content {
            [] => match self.packed(dtype)? {
                Some(packed) if self.is_len(packed.len(), dtype) => {
                    TensorData::Stretch(source.stretch(packed))
                }
                _ => {
                    let listed = self.listed(dtype)?;
                    let len = (listed.len() / dtype.size_bytes()) as u64;
                    // Fewer are valid: the last one repeats.
                    if len_of(&self.shape).is_none_or(|expected| len > expected) {
                        return Err(WRONG_LEN);
                    }
                    TensorData::Inline(listed)
                }
            },
            content if self.is_len(content.len(), dtype) => {
                TensorData::Stretch(source.stretch(content))
            }
            _ => return Err(WRONG_LEN),
        };
        Ok(Tensor {
            dtype,
            original_dtype: None,
            shape: self.shape.clone(),
            data,
        })
    }

    /// Shape of a tensor of a known but unsupported type: complex, quantised and narrow numbers, resources, variants.
    pub(super) fn opaque(&self) -> Option<OpaqueTensor> {
        let is_opaque = matches!(self.data_type, 8 | 11..=13 | 15 | 16 | 18 | 20 | 21 | 26..=30);
        is_opaque.then(|| OpaqueTensor {
            dtype: dtype_name(self.data_type),
            shape: self.shape.clone(),
        })
    }

    fn is_len(&self, len_bytes: usize, dtype: DType) -> bool {
        let expected =
            len_of(&self.shape).and_then(|len| len.checked_mul(dtype.size_bytes() as u64));
        expected == Some(len_bytes as u64)
    }

    fn dtype(&self) -> Result<DType, Fault> {
        let known = TYPES.iter().find(|known| known.0 == self.data_type);
        match (self.data_type, known) {
            (STRING, _) => Err(NOT_NUMBERS),
            (_, Some(known)) => Ok(known.1),
            (_, None) => Err(UNKNOWN_TYPE),
        }
    }

    /// Contiguous elements in the layout of memory.
    fn packed(&self, dtype: DType) -> Result<Option<&'a [u8]>, WireError> {
        let list = match dtype {
            DType::F32 => 5,
            DType::F64 => 6,
            DType::F8E5m2 | DType::F8E4m3 => 18,
            _ => return Ok(None),
        };
        let mut found = None;
        for field in Fields::of(self.message) {
            match field? {
                (number, Value::Bytes(packed)) if number == list && found.is_none() => {
                    found = Some(packed);
                }
                (number, _) if number == list => return Ok(None),
                _ => {}
            }
        }
        Ok(found)
    }

    /// Elements of the list of a type as raw bytes.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the list is wider than the type; the writer widened it"
    )]
    fn listed(&self, dtype: DType) -> Result<Vec<u8>, Fault> {
        let list = match dtype {
            DType::F32 => 5,
            DType::F64 => 6,
            DType::I64 => 10,
            DType::Bool => 11,
            DType::F16 | DType::Bf16 => 13,
            DType::U32 => 16,
            DType::U64 => 17,
            _ => 7,
        };
        let mut bytes = Vec::new();
        let mut numbers = Vec::new();
        for field in Fields::of(self.message) {
            let (number, value) = field?;
            if number != list {
                continue;
            }
            match dtype {
                DType::F32 => floats(value, |number| bytes.extend(number.to_le_bytes()))?,
                DType::F64 => {
                    doubles(value, &mut numbers)?;
                    bytes.extend(numbers.drain(..).flat_map(f64::to_le_bytes));
                }
                _ => varints(value, |bits| match dtype {
                    DType::I64 | DType::U64 => bytes.extend(bits.to_le_bytes()),
                    DType::I32 => bytes.extend(int32(bits).to_le_bytes()),
                    DType::U32 => bytes.extend((bits as u32).to_le_bytes()),
                    DType::Bool => bytes.push(u8::from(bits != 0)),
                    DType::U8 | DType::I8 => bytes.push(bits as u8),
                    _ => bytes.extend((bits as u16).to_le_bytes()),
                })?,
            }
            if bytes.len() > MAX_LISTED_BYTES {
                return Err(TOO_LONG);
            }
        }
        Ok(bytes)
    }
}

/// The sizes in a `TensorShapeProto`: dimensions 2, their size 1. Negative (unknown) sizes become huge.
pub(super) fn sizes(shape: &[u8]) -> Result<Vec<u64>, WireError> {
    let mut sizes = Vec::new();
    for field in Fields::of(shape) {
        if let (2, Value::Bytes(dimension)) = field? {
            let mut size = 0;
            for field in Fields::of(dimension) {
                if let (1, Value::Varint(number)) = field? {
                    size = number;
                }
            }
            sizes.push(size);
        }
    }
    Ok(sizes)
}
