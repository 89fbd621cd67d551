//! View of a tensor in the memory of the training: type, sizes, and borrowed bytes.

use std::borrow::Cow;

use bytemuck::NoUninit;
use half::{bf16, f16};
use trainscope_format::tensor::DType;

/// A borrowed tensor. Elements are little-endian.
#[derive(Clone, Copy, Debug)]
pub struct TensorView<'a> {
    dtype: DType,
    shape: &'a [usize],
    /// Distance of neighbours along each axis, in elements; `None` for contiguous row-major order.
    strides: Option<&'a [usize]>,
    bytes: &'a [u8],
}

/// Rust types of tensor elements.
pub trait Element: NoUninit {
    /// Type in a file.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($rust:ty => $dtype:ident),*) => {
        $(impl Element for $rust {
            const DTYPE: DType = DType::$dtype;
        })*
    };
}

elements!(
    bool => Bool, u8 => U8, u16 => U16, u32 => U32, u64 => U64, i8 => I8, i16 => I16, i32 => I32, i64 => I64,
    f16 => F16, bf16 => Bf16, f32 => F32, f64 => F64
);

/// Maximum memory for gathering the elements of a strided view.
const MAX_GATHERED_BYTES: usize = 1 << 30;

impl<'a> TensorView<'a> {
    /// Contiguous elements in row-major order. An empty shape is a single number; if the sizes do not match the number
    /// of bytes, the tensor is invalid, which is counted when it is recorded.
    pub fn new(dtype: DType, shape: &'a [usize], bytes: &'a [u8]) -> Self {
        Self {
            dtype,
            shape,
            strides: None,
            bytes,
        }
    }

    /// Elements of a slice in row-major order.
    pub fn of<T: Element>(elements: &'a [T], shape: &'a [usize]) -> Self {
        Self::new(T::DTYPE, shape, bytemuck::cast_slice(elements))
    }

    /// Elements with gaps, in another order, or repeated: `strides` has the distance of neighbours along each axis, in
    /// elements of `bytes`. They are gathered in memory when the tensor is recorded.
    pub fn strided(
        dtype: DType,
        shape: &'a [usize],
        strides: &'a [usize],
        bytes: &'a [u8],
    ) -> Self {
        Self {
            dtype,
            shape,
            strides: Some(strides),
            bytes,
        }
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Sizes, outermost first.
    pub fn shape(&self) -> &'a [usize] {
        self.shape
    }

    pub(crate) fn file_shape(&self) -> Vec<u64> {
        self.shape.iter().map(|&size| size as u64).collect()
    }

    /// Elements in row-major order; `None` if shape, strides and bytes do not match. They are copied if they are in
    /// another order or have gaps.
    pub fn elements(&self) -> Option<Cow<'a, [u8]>> {
        let size = self.dtype.size_bytes();
        let len_bytes = self
            .shape
            .iter()
            .try_fold(size, |len, &axis| len.checked_mul(axis))
            .or_else(|| self.shape.contains(&0).then_some(0))?;
        match self.strides {
            Some(strides) if strides.len() != self.shape.len() => None,
            Some(strides) if len_bytes > 0 && !self.is_dense(strides) => {
                self.gather(strides, len_bytes).map(Cow::Owned)
            }
            Some(_) => self.bytes.get(..len_bytes).map(Cow::Borrowed),
            None => (self.bytes.len() == len_bytes).then_some(Cow::Borrowed(self.bytes)),
        }
    }

    /// Elements in the order in which they are in memory if there are no gaps between them, otherwise in row-major
    /// order; `None` like [`Self::elements`]. Nothing is copied for transposed tensors.
    pub(crate) fn elements_in_any_order(&self) -> Option<Cow<'a, [u8]>> {
        if self.has_gaps() {
            return self.elements();
        }
        let len = self.shape.iter().product::<usize>();
        let len_bytes = len.checked_mul(self.dtype.size_bytes())?;
        match self.strides {
            Some(_) => self.bytes.get(..len_bytes).map(Cow::Borrowed),
            None => self.elements(),
        }
    }

    /// `false` if the elements would have to be gathered and are more than the memory for that.
    pub fn is_readable(&self) -> bool {
        let len = self
            .shape
            .iter()
            .try_fold(1_usize, |len, &axis| len.checked_mul(axis));
        let len_bytes = len.and_then(|len| len.checked_mul(self.dtype.size_bytes()));
        let is_small = len_bytes.is_some_and(|len| len <= MAX_GATHERED_BYTES);
        self.shape.contains(&0) || is_small || !self.has_gaps()
    }

    /// `true` if the elements are not next to each other in any order of the axes.
    fn has_gaps(&self) -> bool {
        let Some(strides) = self.strides else {
            return false;
        };
        if strides.len() != self.shape.len() || self.shape.contains(&0) {
            return true;
        }
        let mut axes: Vec<(usize, usize)> = strides
            .iter()
            .copied()
            .zip(self.shape.iter().copied())
            .filter(|&(_, size)| size != 1)
            .collect();
        axes.sort_unstable();
        let mut dense = 1_usize;
        !axes.iter().all(|&(stride, size)| {
            let is_next = stride == dense;
            dense = dense.saturating_mul(size);
            is_next
        })
    }

    /// `true` if the strides are those of row-major order. The stride of an axis of length one is ignored.
    fn is_dense(&self, strides: &[usize]) -> bool {
        let mut dense = 1_usize;
        for (&size, &stride) in self.shape.iter().zip(strides).rev() {
            if size != 1 && stride != dense {
                return false;
            }
            dense = dense.saturating_mul(size);
        }
        true
    }

    fn gather(&self, strides: &[usize], len_bytes: usize) -> Option<Vec<u8>> {
        if len_bytes > MAX_GATHERED_BYTES {
            return None;
        }
        let size = self.dtype.size_bytes();
        let mut gathered = Vec::new();
        gathered.try_reserve_exact(len_bytes).ok()?;
        let mut index = vec![0_usize; self.shape.len()];
        while gathered.len() < len_bytes {
            let mut element = 0_usize;
            for (place, stride) in index.iter().zip(strides) {
                element = element.checked_add(place.checked_mul(*stride)?)?;
            }
            let begin = element.checked_mul(size)?;
            gathered.extend_from_slice(self.bytes.get(begin..begin.checked_add(size)?)?);
            // The last axis runs fastest.
            for (place, &axis) in index.iter_mut().zip(self.shape).rev() {
                *place += 1;
                if *place < axis {
                    break;
                }
                *place = 0;
            }
        }
        Some(gathered)
    }
}

impl<'a, T: Element> From<&'a T> for TensorView<'a> {
    /// View of a single number.
    fn from(number: &'a T) -> Self {
        Self::of(std::slice::from_ref(number), &[])
    }
}

#[cfg(test)]
mod tests {
    use super::TensorView;
    use trainscope_format::tensor::DType;

    const BYTES: [u8; 6] = [1, 2, 3, 4, 5, 6];

    fn strided<'a>(shape: &'a [usize], strides: &'a [usize]) -> TensorView<'a> {
        TensorView::strided(DType::U8, shape, strides, &BYTES)
    }

    #[test]
    fn views_are_read_row_by_row() {
        for (shape, strides, wanted) in [
            (&[3, 2][..], &[1, 3][..], &[1, 4, 2, 5, 3, 6][..]),
            (&[2, 2], &[3, 2], &[1, 3, 4, 6]),
            (&[2, 3], &[0, 1], &[1, 2, 3, 1, 2, 3]),
            (&[2, 3], &[3, 1], &[1, 2, 3, 4, 5, 6]),
            (&[1, 3], &[77, 1], &[1, 2, 3]),
            (&[], &[], &[1]),
            (&[0, 7], &[9, 9], &[]),
        ] {
            let elements = strided(shape, strides).elements().unwrap();
            assert_eq!(elements.as_ref(), wanted, "{shape:?} {strides:?}");
        }
    }

    #[test]
    fn tensors_without_gaps_are_borrowed_in_any_order() {
        use std::borrow::Cow;

        for (shape, strides) in [
            (&[3, 2][..], &[1, 3][..]),
            (&[1, 2, 3], &[9, 1, 2]),
            (&[2, 3], &[3, 1]),
            (&[], &[]),
        ] {
            let elements = strided(shape, strides).elements_in_any_order().unwrap();
            assert!(matches!(elements, Cow::Borrowed(_)), "{shape:?}");
            assert_eq!(elements.len(), shape.iter().product::<usize>());
        }
        for (shape, strides, wanted) in [
            (&[2, 2][..], &[3, 2][..], &[1, 3, 4, 6][..]),
            (&[2, 3], &[0, 1], &[1, 2, 3, 1, 2, 3]),
            (&[0, 7], &[9, 9], &[]),
        ] {
            let elements = strided(shape, strides).elements_in_any_order().unwrap();
            assert_eq!(elements.as_ref(), wanted, "{shape:?} {strides:?}");
        }
        assert!(strided(&[3, 7], &[7, 1]).elements_in_any_order().is_none());
        assert!(strided(&[2, 3], &[1]).elements_in_any_order().is_none());
    }

    #[test]
    fn what_does_not_fit_is_no_tensor() {
        let huge = usize::MAX / 2;
        assert!(strided(&[7], &[1]).elements().is_none());
        assert!(strided(&[2], &[huge]).elements().is_none());
        assert!(strided(&[3], &[usize::MAX]).elements().is_none());
        assert!(strided(&[huge, huge], &[0, 0]).elements().is_none());
        assert!(strided(&[1 << 40], &[0]).elements().is_none());
        assert!(strided(&[2, 3], &[1]).elements().is_none());
        for shape in [&[5][..], &[7], &[], &[huge, 3]] {
            assert!(
                TensorView::new(DType::U8, shape, &BYTES)
                    .elements()
                    .is_none()
            );
        }
        let none = [0, huge, huge];
        let empty = TensorView::new(DType::F32, &none, &[]);
        assert_eq!(empty.elements().unwrap().len(), 0);
        let number = 1.5_f64;
        assert_eq!(TensorView::from(&number).elements().unwrap().len(), 8);
    }
}
