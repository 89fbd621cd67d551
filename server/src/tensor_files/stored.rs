//! Stored tensors, and the elements of slices, block by block: reads only the bytes of the slice, and gaps so short
//! that two reads would take longer.
//!
//! Blocks are in the order of memory, which is the order of the indices unless the first index changes fastest.

use tokio_util::sync::CancellationToken;
use trainscope_api::tensors::{Axis, Element, Slice};
use trainscope_format::formats::tensor_file::StoredTensor;
use trainscope_format::tensor::DType;

use crate::files::File;
use crate::tensor_files::read::{TensorReadError, fill};

/// Maximum size of a block.
const BLOCK_BYTES: u64 = 1 << 20;
/// Gap between two elements that is read along: a page of a file takes as long as a part of it.
const GAP_BYTES: u64 = 512;

pub(crate) struct ReadableTensor {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<u64>,
    /// Distance of neighbours along each axis, in elements.
    strides: Vec<u64>,
    is_big_endian: bool,
    data: Data,
    /// Cancelled once the client has disconnected.
    gone: CancellationToken,
}

enum Data {
    File {
        file: File,
        offset: u64,
    },
    /// In memory; the last element repeats, and without any all are 0.
    Inline(Vec<u8>),
}

impl ReadableTensor {
    /// Creates one in a file.
    pub(crate) fn in_file(file: File, tensor: StoredTensor) -> Self {
        let offset = tensor.data.offset;
        Self::new(tensor, Data::File { file, offset })
    }

    /// Creates one in a record: little-endian, in the order of the indices.
    pub(crate) fn inline(tensor: StoredTensor, bytes: Vec<u8>) -> Self {
        Self::new(tensor, Data::Inline(bytes))
    }

    fn new(tensor: StoredTensor, data: Data) -> Self {
        let mut strides = vec![1; tensor.shape.len()];
        let mut stride = 1_u64;
        for number in 0..strides.len() {
            let axis = if tensor.is_column_major {
                number
            } else {
                strides.len() - 1 - number
            };
            strides[axis] = stride;
            stride = stride.saturating_mul(tensor.shape[axis].max(1));
        }
        Self {
            dtype: tensor.dtype,
            shape: tensor.shape,
            strides,
            is_big_endian: tensor.is_big_endian,
            data,
            gone: CancellationToken::new(),
        }
    }

    /// Ends reading, with an error, once `gone` is cancelled.
    pub(crate) fn end_with(&mut self, gone: &CancellationToken) {
        self.gone = gone.clone();
    }

    /// Size of all elements in bytes, saturating at `u64::MAX`.
    pub(crate) fn len_bytes(&self) -> u64 {
        Slice::whole(&self.shape)
            .len()
            .saturating_mul(self.dtype.size_bytes() as u64)
    }

    /// True if the first index changes fastest, and the order matters.
    pub(crate) fn is_column_major(&self) -> bool {
        self.strides.first() < self.strides.last()
    }

    /// True if the elements of another one have the same order and type.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        self.dtype == other.dtype && self.has_order_of(other)
    }

    /// True if the elements of another one have the same order, of any type.
    pub(crate) fn has_order_of(&self, other: &Self) -> bool {
        self.shape == other.shape && self.strides == other.strides
    }

    /// The elements of a slice, little-endian, in the order of the indices. For slices that fit into memory.
    pub(crate) fn read(&self, slice: &Slice) -> Result<(Vec<u8>, u64), TensorReadError> {
        let mut blocks = self.blocks(slice);
        let mut bytes = Vec::new();
        while let Some((_, block)) = blocks.next()? {
            bytes.extend_from_slice(block);
        }
        let size = self.dtype.size_bytes();
        let read_bytes = blocks.read_bytes;
        if blocks.plan.is_in_order() {
            return Ok((bytes, read_bytes));
        }
        let mut ordered = vec![0; bytes.len()];
        for (counter, element) in (0..).zip(bytes.chunks_exact(size)) {
            let at = blocks.plan.rank_in_order(counter) * size;
            ordered[at..at + size].copy_from_slice(element);
        }
        Ok((ordered, read_bytes))
    }

    /// Iterates over the elements of a slice of any size.
    pub(crate) fn blocks(&self, slice: &Slice) -> Blocks<'_> {
        Blocks {
            stored: self,
            plan: Plan::new(self, slice),
            next: 0,
            block: Vec::new(),
            stretch: Vec::new(),
            read_bytes: 0,
        }
    }

    /// Fails if the file ends before the last element of a slice.
    pub(crate) fn holds(&self, slice: &Slice) -> Result<(), TensorReadError> {
        let Data::File { file, offset } = &self.data else {
            return Ok(());
        };
        let there = file.metadata()?.len_bytes;
        let wanted = offset.saturating_add(Plan::new(self, slice).end(self.dtype.size_bytes()));
        if wanted <= there {
            return Ok(());
        }
        Err(TensorReadError::Truncated {
            offset: there,
            reason: format!("its header says {wanted} bytes, and it ends at byte {there}"),
        })
    }

    /// Reads elements that start at index `from`, in memory order.
    fn fetch(&self, from: u64, out: &mut [u8]) -> Result<(), TensorReadError> {
        let size = self.dtype.size_bytes();
        match &self.data {
            Data::File { file, offset } => {
                let at = offset + from * size as u64;
                let have = fill(file, out, at)?;
                if have < out.len() {
                    let wanted = offset.saturating_add(self.len_bytes());
                    let there = at + have as u64;
                    return Err(TensorReadError::Truncated {
                        offset: there,
                        reason: format!(
                            "its header says {wanted} bytes, and it ends at byte {}",
                            file.metadata().map_or(there, |metadata| metadata.len_bytes)
                        ),
                    });
                }
            }
            Data::Inline(bytes) => {
                let last = (bytes.len() / size).checked_sub(1);
                for (index, element) in out.chunks_exact_mut(size).enumerate() {
                    let Some(last) = last else {
                        element.fill(0);
                        continue;
                    };
                    let from = usize::try_from(from).unwrap_or(usize::MAX);
                    let at = from.saturating_add(index).min(last) * size;
                    element.copy_from_slice(&bytes[at..at + size]);
                }
            }
        }
        Ok(())
    }
}

/// The order in which a slice is read.
pub(crate) struct Plan {
    /// The first element.
    base: u64,
    /// Ranges, outermost in memory first: axis, first index, number of indices, distance.
    axes: Vec<(usize, u64, u64, u64)>,
    /// Number of leading `axes` around a contiguous run.
    outer: usize,
    /// Elements of a contiguous run.
    run: u64,
    /// All elements.
    len: u64,
    fixed: Vec<u64>,
}

impl Plan {
    fn new(stored: &ReadableTensor, slice: &Slice) -> Self {
        let at = slice.axes.iter().zip(&stored.strides);
        let base = at.map(|(axis, stride)| axis.start().saturating_mul(*stride));
        let mut axes: Vec<_> = slice
            .axes
            .iter()
            .zip(&stored.strides)
            .enumerate()
            .filter(|(_, (axis, _))| axis.is_range())
            .map(|(number, (axis, stride))| (number, axis.start(), axis.len(), *stride))
            .collect();
        axes.sort_by_key(|axis| std::cmp::Reverse(axis.3));
        let (mut outer, mut run) = (axes.len(), 1_u64);
        while let Some(&(_, _, len, stride)) = outer.checked_sub(1).map(|last| &axes[last])
            && (stride == run || len == 1)
        {
            run = run.saturating_mul(len);
            outer -= 1;
        }
        Self {
            base: base.fold(0, u64::saturating_add),
            axes,
            outer,
            run: run.max(1),
            len: slice.len(),
            fixed: slice.axes.iter().map(|axis: &Axis| axis.start()).collect(),
        }
    }

    /// True if elements come in the order of their indices.
    fn is_in_order(&self) -> bool {
        self.axes.is_sorted_by_key(|axis| axis.0)
    }

    /// The first byte after the last element, relative to the first element; 0 for an empty slice.
    fn end(&self, size: usize) -> u64 {
        if self.len == 0 {
            return 0;
        }
        let reach = self
            .axes
            .iter()
            .map(|(_, _, len, stride)| (len - 1).saturating_mul(*stride));
        let last = reach.fold(self.base, u64::saturating_add);
        last.saturating_add(1).saturating_mul(size as u64)
    }

    /// Position of the contiguous run with this number.
    fn start(&self, mut number: u64) -> u64 {
        let mut at = self.base;
        for &(_, _, len, stride) in self.axes[..self.outer].iter().rev() {
            at += number % len * stride;
            number /= len;
        }
        at
    }

    /// The indices, in the tensor, of the element with this number in memory order.
    pub(crate) fn indices(&self, mut counter: u64) -> Vec<u64> {
        let mut indices = self.fixed.clone();
        for &(axis, from, len, _) in self.axes.iter().rev() {
            indices[axis] = from + counter % len.max(1);
            counter /= len.max(1);
        }
        indices
    }

    /// Its number in the order of the indices.
    fn rank_in_order(&self, counter: u64) -> usize {
        let indices = self.indices(counter);
        let mut ordered: Vec<_> = self.axes.clone();
        ordered.sort_unstable_by_key(|axis| axis.0);
        let rank = ordered.iter().fold(0, |rank, &(axis, from, len, _)| {
            rank * len + (indices[axis] - from)
        });
        usize::try_from(rank).unwrap_or(0)
    }
}

/// The elements of a slice, little-endian, a block at a time.
pub(crate) struct Blocks<'a> {
    stored: &'a ReadableTensor,
    pub(crate) plan: Plan,
    next: u64,
    block: Vec<u8>,
    stretch: Vec<u8>,
    /// Number of bytes read from the file so far.
    pub(crate) read_bytes: u64,
}

impl Blocks<'_> {
    /// The number of the first element, and the elements.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, &[u8])>, TensorReadError> {
        let first = self.next;
        let size = self.stored.dtype.size_bytes() as u64;
        let most = (BLOCK_BYTES / size).min(self.plan.len - first);
        if most == 0 {
            return Ok(None);
        }
        if self.stored.gone.is_cancelled() {
            let reason = "the request was given up".to_owned();
            return Err(TensorReadError::Refused { offset: 0, reason });
        }
        self.block.clear();
        // Runs read at once, with their wanted parts.
        let mut wanted: Vec<(u64, u64)> = Vec::new();
        let mut taken = 0;
        while taken < most {
            let within = self.next % self.plan.run;
            let from = self.plan.start(self.next / self.plan.run) + within;
            let len = (self.plan.run - within).min(most - taken);
            let (begin, end) = match (wanted.first(), wanted.last()) {
                (Some(first), Some(last)) => (first.0, last.0 + last.1),
                _ => (from, from),
            };
            let is_far = from.saturating_sub(end) * size > GAP_BYTES
                || (from + len - begin) * size > 2 * BLOCK_BYTES;
            if is_far {
                self.fetch(&wanted)?;
                wanted.clear();
            }
            wanted.push((from, len));
            taken += len;
            self.next += len;
        }
        self.fetch(&wanted)?;
        if self.stored.is_big_endian && size > 1 {
            let elements = self.block.chunks_exact_mut(self.stored.dtype.size_bytes());
            elements.for_each(<[u8]>::reverse);
        }
        Ok(Some((first, &self.block)))
    }

    /// Appends these runs to the block, reading the gaps along.
    fn fetch(&mut self, wanted: &[(u64, u64)]) -> Result<(), TensorReadError> {
        let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else {
            return Ok(());
        };
        let size = self.stored.dtype.size_bytes();
        let bytes = |elements: u64| usize::try_from(elements).unwrap_or(usize::MAX / size) * size;
        let len = bytes(last.0 + last.1 - first.0);
        self.read_bytes += len as u64;
        if wanted.len() == 1 {
            let start = self.block.len();
            self.block.resize(start + len, 0);
            return self.stored.fetch(first.0, &mut self.block[start..]);
        }
        self.stretch.resize(len.max(self.stretch.len()), 0);
        let stretch = &mut self.stretch[..len];
        self.stored.fetch(first.0, stretch)?;
        for (from, count) in wanted {
            let at = bytes(from - first.0);
            self.block
                .extend_from_slice(&stretch[at..at + bytes(*count)]);
        }
        Ok(())
    }
}

/// Converts elements to JSON.
pub(crate) fn elements(dtype: DType, bytes: &[u8]) -> Vec<Element> {
    let elements = bytes.chunks_exact(dtype.size_bytes());
    let exact = |element: &[u8]| match (dtype, element.first_chunk()) {
        (DType::I64, Some(bytes)) => i64::from_le_bytes(*bytes).into(),
        (DType::U64, Some(bytes)) => u64::from_le_bytes(*bytes).into(),
        _ => Element::Number(dtype.number(element)),
    };
    elements.map(exact).collect()
}

#[cfg(test)]
mod tests;
