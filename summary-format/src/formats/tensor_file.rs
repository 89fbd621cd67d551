//! Tensors as they lie in files, whatever the format: what the header of a file says of them.
//!
//! Nothing here reads elements: a header of a few KiB says where each tensor lies, and whoever opened the file reads
//! the stretches that are wanted, one at a time. Input are the first bytes of a file.

use crate::stretch::Stretch;
use crate::tensor::DType;
use crate::tensor::len_of;
use crate::values::OpaqueTensor;

/// A tensor where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTensor {
    /// Its name; empty where the file is the tensor and only the path names it.
    pub name: String,
    /// The type of its elements.
    pub dtype: DType,
    /// Sizes, outermost first; none at all is a single number.
    pub shape: Vec<u64>,
    /// Its bytes. The length is that of the shape, which may be more than the file has.
    pub data: Stretch,
    /// Whether the most significant byte comes first.
    pub is_big_endian: bool,
    /// Whether the first index changes fastest.
    pub is_column_major: bool,
}

/// A tensor that a header names and that cannot be where the header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedTensor {
    /// Its name.
    pub name: String,
    /// Where it lies, or the header says so.
    pub offset: u64,
    /// Why, as a sentence without the file's name.
    pub reason: String,
}

/// What the header of a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TensorFile {
    /// Its tensors, in the order of their bytes.
    pub tensors: Vec<StoredTensor>,
    /// Names and forms of tensors of types that are not computed with.
    pub opaque: Vec<(String, OpaqueTensor)>,
    /// Those that cannot be where the header says.
    pub refused: Vec<RefusedTensor>,
    /// What else is written there: keys and texts in the order of the file.
    pub metadata: Vec<(String, String)>,
    /// How long the file must be to hold all of them.
    pub len_bytes: u64,
}

/// Why a header cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The header is longer: ask again with the first so many bytes of the file. A shorter file is cut.
    #[error("the header ends at byte {0}")]
    Wants(u64),
    /// The file is not what its name says, or was damaged.
    #[error("{reason}")]
    Corrupt {
        /// Where, in bytes from the start of the file.
        offset: u64,
        /// What is wrong, as a sentence.
        reason: String,
    },
    /// The file is valid, and its elements are of a type that is not computed with.
    #[error("its elements are of the type {}, which is not computed with", .0.dtype)]
    Opaque(OpaqueTensor),
    /// The file is right and this version does not read such.
    #[error("{reason}")]
    Unsupported {
        /// Where the file says so.
        offset: u64,
        /// What it is, as a sentence.
        reason: String,
    },
}

impl StoredTensor {
    /// Brings the elements to little-endian order. Of a tensor that is not big-endian, they are.
    pub fn bring_to_little_endian(&self, bytes: &mut [u8]) {
        let size = self.dtype.size_bytes();
        if self.is_big_endian && size > 1 {
            for element in bytes.chunks_exact_mut(size) {
                element.reverse();
            }
        }
    }

    /// Brings all elements of the tensor to row-major order. Bytes that are not as many as [`StoredTensor::data`] says
    /// are left as they are.
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

/// The bytes that a tensor of this shape takes; `None` beyond 2^64.
pub(crate) fn len_bytes(dtype: DType, shape: &[u64]) -> Option<u64> {
    len_of(shape)?.checked_mul(dtype.size_bytes() as u64)
}

/// Elements in row-major order that stood in column-major order.
fn row_major(bytes: &[u8], shape: &[u64], size: usize) -> Vec<u8> {
    // How far apart neighbours along each axis stand, in elements.
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
        // [[0, 1, 2], [3, 4, 5]] by columns.
        let mut bytes = [0_u16, 3, 1, 4, 2, 5].map(u16::to_be_bytes).concat();
        tensor(&[2, 3], true, true).bring_to_little_endian(&mut bytes);
        tensor(&[2, 3], true, true).bring_to_row_major(&mut bytes);
        assert_eq!(bytes, [0_u16, 1, 2, 3, 4, 5].map(u16::to_le_bytes).concat());

        let cube: Vec<u8> = (0..24_u16).flat_map(u16::to_le_bytes).collect();
        let mut bytes = cube.clone();
        tensor(&[2, 3, 4], false, true).bring_to_row_major(&mut bytes);
        let at = |i: usize| u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]);
        // Element (1, 2, 3) is last in both; (0, 0, 1) comes after 2 * 3 others by columns.
        assert_eq!([at(0), at(1), at(4), at(12), at(23)], [0, 6, 2, 1, 23]);
    }

    #[test]
    fn bytes_of_another_length_stay() {
        let mut bytes = vec![1, 2, 3, 4];
        tensor(&[2, 3], false, true).bring_to_row_major(&mut bytes);
        assert_eq!(bytes, [1, 2, 3, 4]);
    }
}
