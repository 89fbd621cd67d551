//! Tensors: the `TensorProto` of summary files.

use super::super::event_file::{Fault, Source};
use crate::body::Body;
use crate::surface::Grid;
use crate::tensor::DType;
use crate::tensor::len_of;
use crate::values::{OpaqueTensor, Tensor, TensorData};
use crate::wire::{Fields, Value, WireError, doubles, floats, int32, varints};

const WRONG_LEN: Fault = Fault("the shape and the content of a tensor disagree");
const TOO_LONG: Fault = Fault("a tensor written element by element exceeds 64 MiB");
const MAX_LISTED_BYTES: usize = 64 << 20;

/// Sizes 1, type 2, and the elements in one of the lists 3 (`f32`), 4 (`i32`), 5 (`i64`), 6 (`f64`), 7 (`u64`) or as
/// raw bytes in 8. Its writer converts every type to `f32` and declares the original one in field 2. Elements of types
/// from newer versions yield an opaque tensor.
pub(super) fn read(message: &[u8], source: Source<'_>) -> Result<Body, Fault> {
    let mut shape = Vec::new();
    let mut data_type = 0;
    let mut lists: [List<'_>; 6] = Default::default();
    for field in Fields::of(message) {
        match field? {
            (1, value) => varints(value, |size| shape.push(size))?,
            (2, Value::Varint(number)) => data_type = number,
            (number @ 3..=8, value) => lists[number as usize - 3].add(number, value)?,
            _ => {}
        }
    }
    let original_dtype = dtype_of(data_type);
    let list = lists
        .into_iter()
        .enumerate()
        .find(|(_, list)| !list.is_empty());
    let (dtype, list) = match list {
        // An empty tensor, or one without content.
        None => (DType::F32, List::default()),
        Some((5, list)) => match original_dtype {
            Some(dtype) => (dtype, list),
            None => {
                return Ok(Body::Opaque(OpaqueTensor {
                    dtype: format!("MindSpore type {data_type}"),
                    shape,
                }));
            }
        },
        Some((index, list)) => (
            [DType::F32, DType::I32, DType::I64, DType::F64, DType::U64][index],
            list,
        ),
    };
    let expected = len_of(&shape).and_then(|len| len.checked_mul(dtype.size_bytes() as u64));
    if expected != Some(list.len_bytes()) {
        return Err(WRONG_LEN);
    }
    Ok(Body::Tensor(Tensor {
        dtype,
        original_dtype: original_dtype.filter(|&original| original != dtype),
        shape,
        data: match list {
            List::Packed([]) => TensorData::Inline(Vec::new()),
            List::Packed(packed) => TensorData::Stretch(source.stretch(packed)),
            List::Listed(listed) => TensorData::Inline(listed),
        },
    }))
}

/// Elements of one list as raw bytes.
enum List<'a> {
    /// Bytes within the message.
    Packed(&'a [u8]),
    /// Bytes collected element by element.
    Listed(Vec<u8>),
}

impl Default for List<'_> {
    fn default() -> Self {
        Self::Packed(&[])
    }
}

impl<'a> List<'a> {
    fn is_empty(&self) -> bool {
        self.len_bytes() == 0
    }

    fn len_bytes(&self) -> u64 {
        match self {
            Self::Packed(bytes) => bytes.len() as u64,
            Self::Listed(bytes) => bytes.len() as u64,
        }
    }

    fn add(&mut self, list: u32, value: Value<'a>) -> Result<(), Fault> {
        if let (3 | 6 | 8, Value::Bytes(packed), Self::Packed([])) = (list, value, &*self) {
            *self = Self::Packed(packed);
            return Ok(());
        }
        let mut bytes = match std::mem::take(self) {
            Self::Packed(packed) => packed.to_vec(),
            Self::Listed(bytes) => bytes,
        };
        match list {
            3 => floats(value, |number| bytes.extend(number.to_le_bytes()))?,
            4 => varints(value, |bits| bytes.extend(int32(bits).to_le_bytes()))?,
            6 => {
                let mut numbers = Vec::new();
                doubles(value, &mut numbers)?;
                bytes.extend(numbers.into_iter().flat_map(f64::to_le_bytes));
            }
            8 => {}
            _ => varints(value, |bits| bytes.extend(bits.to_le_bytes()))?,
        }
        if bytes.len() > MAX_LISTED_BYTES {
            return Err(TOO_LONG);
        }
        *self = Self::Listed(bytes);
        Ok(())
    }
}

/// The shape and the `f32` list of a tensor that is part of a larger message.
pub(super) fn grid(message: &[u8]) -> Result<Grid, WireError> {
    let mut grid = Grid::default();
    for field in Fields::of(message) {
        match field? {
            (1, value) => varints(value, |size| grid.shape.push(size))?,
            (3, value) => floats(value, |number| grid.values.push(number.into()))?,
            _ => {}
        }
    }
    Ok(grid)
}

/// Element type of a `DataType`, if it is numeric.
fn dtype_of(data_type: u64) -> Option<DType> {
    Some(match data_type {
        1 => DType::Bool,
        2 => DType::I8,
        3 => DType::I16,
        4 => DType::I32,
        5 => DType::I64,
        6 => DType::U8,
        7 => DType::U16,
        8 => DType::U32,
        9 => DType::U64,
        10 => DType::F16,
        11 => DType::F32,
        12 => DType::F64,
        _ => return None,
    })
}
