//! Tensor files of any format: the content of their headers.
//!
//! No elements are read here: a header of a few KiB has the location of each tensor, and the caller reads the byte
//! ranges it needs, one at a time. The input is the first bytes of a file.

use crate::stretch::Stretch;
use crate::tensor::DType;
use crate::tensor::len_of;
use crate::values::OpaqueTensor;

/// Location and form of a stored tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTensor {
    /// Name; empty if the file holds a single tensor without a name.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Sizes, outermost first; empty for a single number.
    pub shape: Vec<u64>,
    /// Byte range. Its length follows from the shape and may exceed the file.
    pub data: Stretch,
    /// `true` if the most significant byte comes first.
    pub is_big_endian: bool,
    /// `true` if the first index changes fastest.
    pub is_column_major: bool,
}

/// A tensor whose entry in the header is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedTensor {
    /// Its name.
    pub name: String,
    /// Offset of the tensor as declared, in bytes.
    pub offset: u64,
    /// Reason, as a sentence without the file's name.
    pub reason: String,
}

/// Parsed header of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TensorFile {
    /// Tensors in the order of their bytes.
    pub tensors: Vec<StoredTensor>,
    /// Names and shapes of tensors of unsupported element types.
    pub opaque: Vec<(String, OpaqueTensor)>,
    /// Tensors with an invalid entry.
    pub refused: Vec<RefusedTensor>,
    /// Metadata of the writer: keys and texts in the order of the file.
    pub metadata: Vec<(String, String)>,
    /// File size needed to hold all tensors.
    pub len_bytes: u64,
}

/// Error in a header.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The header is longer: retry with this many bytes of the file. If the file is shorter, it is truncated.
    #[error("the header ends at byte {0}")]
    Wants(u64),
    /// The file is damaged or not of the format of its name.
    #[error("{reason}")]
    Corrupt {
        /// Offset in bytes from the start of the file.
        offset: u64,
        /// Description, as a sentence.
        reason: String,
    },
    /// The file is valid, but the element type is not supported.
    #[error("its element type {} is not supported", .0.dtype)]
    Opaque(OpaqueTensor),
    /// The file is valid, but this version does not read it.
    #[error("{reason}")]
    Unsupported {
        /// Offset of the unsupported part.
        offset: u64,
        /// Description, as a sentence.
        reason: String,
    },
}

impl StoredTensor {
    /// Converts the elements to little-endian order; no-op unless the tensor is big-endian.
    pub fn bring_to_little_endian(&self, bytes: &mut [u8]) {
        let size = self.dtype.size_bytes();
        if self.is_big_endian && size > 1 {
            for element in bytes.chunks_exact_mut(size) {
                element.reverse();
            }
        }
    }

    /// Converts all elements of the tensor to row-major order; no-op if the number of bytes differs from
    /// [`StoredTensor::data`].
    pub fn bring_to_row_major(&self, bytes: &mut Vec<u8>) {
        if self.is_column_major
            && !bytes.is_empty()
            && self.shape.iter().filter(|&&len| len != 1).count() > 1
            && bytes.len() as u64 == self.data.len_bytes
        {
            *bytes = row_major(bytes, &self.shape, self.dtype.size_bytes());
        }
    }
}

/// Size of a tensor of this shape in bytes; `None` above `u64::MAX`.
pub(crate) fn len_bytes(dtype: DType, shape: &[u64]) -> Option<u64> {
    len_of(shape)?.checked_mul(dtype.size_bytes() as u64)
}

/// Row-major copy of elements in column-major order.
fn row_major(bytes: &[u8], shape: &[u64], size: usize) -> Vec<u8> {
    // Distance of neighbours along each axis, in elements.
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1_usize;
    for &len in shape {
        strides.push(stride);
        stride *= usize::try_from(len).unwrap_or(1);
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = vec![0_u64; shape.len()];
    let mut from = 0;
    while out.len() < bytes.len() {
        out.extend_from_slice(&bytes[from * size..(from + 1) * size]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            from += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            from -= strides[axis] * usize::try_from(index[axis]).unwrap_or(0);
            index[axis] = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::StoredTensor;
    use crate::stretch::Stretch;
    use crate::tensor::DType;

    fn tensor(shape: &[u64], big: bool, column: bool) -> StoredTensor {
        StoredTensor {
            name: String::new(),
            dtype: DType::U16,
            shape: shape.to_vec(),
            data: Stretch {
                offset: 0,
                len_bytes: 2 * shape.iter().product::<u64>(),
            },
            is_big_endian: big,
            is_column_major: column,
        }
    }

    #[test]
    fn columns_become_rows() {
        // [[0, 1, 2], [3, 4, 5]] in column-major order.
        let mut bytes = [0_u16, 3, 1, 4, 2, 5].map(u16::to_be_bytes).concat();
        tensor(&[2, 3], true, true).bring_to_little_endian(&mut bytes);
        tensor(&[2, 3], true, true).bring_to_row_major(&mut bytes);
        assert_eq!(bytes, [0_u16, 1, 2, 3, 4, 5].map(u16::to_le_bytes).concat());

        let cube: Vec<u8> = (0..24_u16).flat_map(u16::to_le_bytes).collect();
        let mut bytes = cube.clone();
        tensor(&[2, 3, 4], false, true).bring_to_row_major(&mut bytes);
        let at = |i: usize| u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]);
        // Element (1, 2, 3) is last in both; (0, 0, 1) comes after 2 * 3 others in column-major order.
        assert_eq!([at(0), at(1), at(4), at(12), at(23)], [0, 6, 2, 1, 23]);
    }

    #[test]
    fn bytes_of_another_length_stay() {
        let mut bytes = vec![1, 2, 3, 4];
        tensor(&[2, 3], false, true).bring_to_row_major(&mut bytes);
        assert_eq!(bytes, [1, 2, 3, 4]);
    }
}
