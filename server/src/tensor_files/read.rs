//! Reads one tensor of a file and computes its summary block by block, each while it is in the cache.
//!
//! Two blocks are in memory, or two tensors if the next step is compared with this one. Statistics by channel and
//! column-major order need a whole tensor of any size; buffers grow with the data read, not with the size in a header.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use trainscope_analysis::watchpoint::{Needs, channel_axis};
use trainscope_format::formats::tensor_file::{HeaderError, StoredTensor, TensorFile};
use trainscope_format::formats::{npy, safetensors};
use trainscope_format::tensor::{ChannelStats, DType, Tolerance};
use trainscope_format::{OpaqueTensor, TensorSummary};

use crate::files::{self, File};

mod result;

use result::TensorResult;

/// Block size: a multiple of every element size, and small enough for the cache of one core.
const BLOCK_BYTES: usize = 256 << 10;
/// Usual size of single-tensor headers with room for elements: one read covers both.
const HEAD_BYTES: usize = 4 << 10;
/// Maximum number of files that a reader keeps open: a tensor is followed over this many steps.
const OPEN_FILES: usize = 32;
/// Maximum size of a tensor kept for the next comparison; larger ones are read again.
const KEPT_BYTES: u64 = 64 << 20;

/// Maximum size of a tensor recorded as one repeated element, as long as decoders list elements.
const MAX_INLINE_BYTES: usize = 64 << 20;
/// Size of the widest element type.
const MAX_ELEMENT_BYTES: usize = 8;

/// Location of a tensor.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) path: Arc<Path>,
    /// Header of the tensor; `None` before the header of a single-tensor file is read.
    pub(crate) tensor: Option<StoredTensor>,
    /// Element type if the header declares another one of the same size.
    pub(crate) dtype: Option<DType>,
}

impl Place {
    /// Opens the file and returns its header of the tensor.
    pub(crate) fn open(&self) -> Result<(File, StoredTensor), TensorReadError> {
        let file = files::open(&self.path)?;
        let tensor = if let Some(tensor) = &self.tensor {
            tensor.clone()
        } else {
            let len_bytes = file.metadata()?.len_bytes;
            let mut tensor = header_of(&file, len_bytes, npy::header)?;
            self.correct(&mut tensor);
            tensor
        };
        Ok((file, tensor))
    }

    /// Replaces the declared element type by the known one.
    fn correct(&self, tensor: &mut StoredTensor) {
        if let Some(dtype) = self.dtype
            && dtype.min_normal_exponent().is_some()
            && dtype.size_bytes() == tensor.dtype.size_bytes()
        {
            tensor.dtype = dtype;
        }
    }
}

/// Reason why a tensor was not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum TensorReadError {
    Truncated {
        offset: u64,
        reason: String,
    },
    Damaged {
        offset: u64,
        reason: String,
    },
    /// The file is valid, but not supported.
    Refused {
        offset: u64,
        reason: String,
    },
    /// It is valid, but the element type is not supported.
    Opaque(OpaqueTensor),
    /// The system does not let this process read it; another one may.
    Unreadable {
        reason: String,
    },
}

impl TensorReadError {
    /// Offset in the file, and reason.
    pub(crate) fn offset_and_reason(self) -> (u64, String) {
        match self {
            Self::Truncated { offset, reason }
            | Self::Damaged { offset, reason }
            | Self::Refused { offset, reason } => (offset, reason),
            Self::Unreadable { reason } => (0, reason),
            Self::Opaque(tensor) => (
                0,
                format!(
                    "its elements are of the type {}, and values of that type are not read",
                    tensor.dtype
                ),
            ),
        }
    }
}

impl From<HeaderError> for TensorReadError {
    fn from(error: HeaderError) -> Self {
        match error {
            HeaderError::Wants(offset) => Self::Truncated {
                offset,
                reason: format!("it ends before its header does, at byte {offset}"),
            },
            HeaderError::Corrupt { offset, reason } => Self::Damaged { offset, reason },
            HeaderError::Opaque(tensor) => Self::Opaque(tensor),
            HeaderError::Unsupported { offset, reason } => Self::Refused { offset, reason },
        }
    }
}

impl From<io::Error> for TensorReadError {
    fn from(error: io::Error) -> Self {
        Self::Unreadable {
            reason: format!("it cannot be read: {error}"),
        }
    }
}

pub(crate) fn safetensors_header(path: &Path) -> Result<TensorFile, TensorReadError> {
    let file = files::open(path)?;
    let len_bytes = file.metadata()?.len_bytes;
    header_of(&file, len_bytes, safetensors::header)
}

/// Reads as much of the beginning of a file as its header needs.
fn header_of<T>(
    file: &File,
    len_bytes: u64,
    parse: impl Fn(&[u8]) -> Result<T, HeaderError>,
) -> Result<T, TensorReadError> {
    let mut head = vec![0; HEAD_BYTES];
    loop {
        let have = fill(file, &mut head, 0)?;
        match parse(&head[..have]) {
            // As much as it needs, but no more than the file has.
            Err(HeaderError::Wants(len)) if len > have as u64 && len <= len_bytes => {
                head.resize(usize::try_from(len).unwrap_or(usize::MAX), 0);
            }
            Err(HeaderError::Wants(wanted)) => {
                return Err(TensorReadError::Truncated {
                    offset: have as u64,
                    reason: format!(
                        "its header takes {wanted} bytes, and {len_bytes} bytes are there"
                    ),
                });
            }
            Err(error) => return Err(error.into()),
            Ok(header) => return Ok(header),
        }
    }
}

/// Reads until the buffer is full or the file ends.
pub(crate) fn fill(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut have = 0;
    while have < buffer.len() {
        match file.read_at(&mut buffer[have..], offset + have as u64) {
            Ok(0) => break,
            Ok(len) => have += len,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(have)
}

/// State of a thread between tensors.
#[derive(Default)]
pub(crate) struct Reader {
    files: Files,
    now: Vec<u8>,
    before: Vec<u8>,
    /// Tensor in the buffer `before`, if the last one was kept.
    kept: Option<BufferedTensor>,
}

/// A tensor whose bytes are still in memory.
struct BufferedTensor {
    tensor: StoredTensor,
    /// Offset in the buffer.
    start: usize,
}

/// Tensor to compare with.
#[derive(Clone, Copy)]
pub(crate) enum Before<'a> {
    Nothing,
    /// A tensor in a file.
    At(&'a Place),
    /// The last tensor read, if its bytes were kept; otherwise it is read again.
    Last(&'a Place),
}

/// Recently used files, open.
#[derive(Default)]
struct Files(Vec<(Arc<Path>, Arc<File>)>);

impl Files {
    fn open(&mut self, place: &Place) -> io::Result<Arc<File>> {
        if place.tensor.is_none() {
            // It has no other entry.
            return self.open_new(&place.path);
        }
        let is_it = |path: &Arc<Path>| {
            Arc::ptr_eq(path, &place.path) || path.as_os_str() == place.path.as_os_str()
        };
        if let Some(at) = self.0.iter().position(|(path, _)| is_it(path)) {
            // The least recently used is first.
            self.0[at..].rotate_left(1);
        } else {
            if self.0.len() == OPEN_FILES {
                self.0.remove(0);
            }
            let file = self.open_new(&place.path)?;
            self.0.push((Arc::clone(&place.path), file));
        }
        self.0
            .last()
            .map(|(_, file)| Arc::clone(file))
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn open_new(&mut self, path: &Path) -> io::Result<Arc<File>> {
        let file = files::open(path).or_else(|error| {
            if self.0.is_empty() {
                return Err(error);
            }
            // All threads together may have more open than the system allows.
            self.0.clear();
            files::open(path)
        });
        Ok(Arc::new(file?))
    }
}

impl Reader {
    /// Summary of a tensor; with its change, if that is needed and `before` has the same type and shape. Errors in
    /// `before` are not repeated here. With `keeps`, the bytes stay in memory for the next call, unless they are too
    /// many.
    pub(crate) fn summary(
        &mut self,
        place: &Place,
        before: Before<'_>,
        needs: &Needs,
        keeps: bool,
    ) -> Result<TensorSummary, TensorReadError> {
        let kept = self.kept.take();
        let mut now = Stream::open(&mut self.files, place, &mut self.now, keeps)?;
        let tensor = now.tensor.clone();
        let is_alike =
            |other: &StoredTensor| other.dtype == tensor.dtype && other.shape == tensor.shape;
        let mut before = match (needs.change, before, kept) {
            (Some(tolerance), Before::Last(_), Some(kept)) => {
                let len = usize::try_from(kept.tensor.data.len_bytes).unwrap_or(0);
                let bytes = self.before.get(kept.start..kept.start + len);
                bytes
                    .filter(|_| is_alike(&kept.tensor))
                    .map(|bytes| (Earlier::BufferedTensor(bytes), tolerance))
            }
            (Some(tolerance), Before::Last(place) | Before::At(place), _) => {
                Stream::open(&mut self.files, place, &mut self.before, false)
                    .ok()
                    .filter(|before| is_alike(&before.tensor))
                    .map(|before| (Earlier::Stream(before), tolerance))
            }
            _ => None,
        };
        let axis = channel_axis(&tensor.shape).filter(|_| needs.channels);
        let is_column_major =
            tensor.is_column_major || before.as_ref().is_some_and(|(b, _)| b.is_column_major());
        let mut seen = TensorResult::default();
        if axis.is_some() || is_column_major {
            let bytes = now.whole()?;
            let before = match &mut before {
                Some((before, tolerance)) => before.whole().map(|b| (b, *tolerance)),
                None => None,
            };
            let before = before
                .as_ref()
                .map(|(bytes, tolerance)| (&**bytes, *tolerance));
            seen.add_whole(&tensor, &bytes, before, needs);
            seen.channels =
                axis.and_then(|axis| ChannelStats::of(tensor.dtype, &tensor.shape, &bytes, axis));
        } else {
            add_blocks(&mut seen, &tensor, &mut now, before, needs)?;
        }
        self.kept = now.kept();
        if self.kept.is_some() {
            std::mem::swap(&mut self.now, &mut self.before);
        }
        Ok(seen.finish(tensor))
    }
}

impl Reader {
    /// Summary of a tensor with elements in a record: little-endian, the last one repeated to the end, or zeros without
    /// elements.
    pub(crate) fn summary_of_inline(
        mut tensor: StoredTensor,
        bytes: &[u8],
        needs: &Needs,
    ) -> Result<TensorSummary, TensorReadError> {
        let size = tensor.dtype.size_bytes();
        let elements = tensor
            .shape
            .iter()
            .try_fold(1_u64, |all, len| all.checked_mul(*len));
        let elements = if tensor.shape.contains(&0) {
            Some(0)
        } else {
            elements
        };
        let len = elements.and_then(|all| usize::try_from(all).ok()?.checked_mul(size));
        let Some(len) = len.filter(|len| *len <= MAX_INLINE_BYTES) else {
            return Err(TensorReadError::Refused {
                offset: 0,
                reason: format!(
                    "a tensor of shape {:?} is written as {} bytes that repeat, which is not judged above 64 MiB",
                    tensor.shape,
                    bytes.len()
                ),
            });
        };
        let mut all = bytes.to_vec();
        let last = bytes.len().checked_sub(size).map(|from| &bytes[from..]);
        let zeros = [0; MAX_ELEMENT_BYTES];
        let last = last.unwrap_or(&zeros[..size]);
        while all.len() < len {
            all.extend_from_slice(last);
        }
        tensor.data.len_bytes = len as u64;
        let axis = channel_axis(&tensor.shape).filter(|_| needs.channels);
        let mut seen = TensorResult::default();
        seen.add_whole(&tensor, &all, None, needs);
        seen.channels =
            axis.and_then(|axis| ChannelStats::of(tensor.dtype, &tensor.shape, &all, axis));
        Ok(seen.finish(tensor))
    }
}

/// The earlier state of a tensor.
enum Earlier<'b> {
    Stream(Stream<'b>),
    /// Rest of its bytes, little-endian, in row-major order.
    BufferedTensor(&'b [u8]),
}

impl Earlier<'_> {
    fn is_column_major(&self) -> bool {
        matches!(self, Self::Stream(stream) if stream.tensor.is_column_major)
    }

    /// The next `len` bytes; `None` at a premature end.
    fn next(&mut self, len: usize) -> Option<&[u8]> {
        match self {
            Self::Stream(stream) => stream.next_block().ok().flatten(),
            Self::BufferedTensor(rest) => {
                let (next, after) = rest.split_at_checked(len)?;
                *rest = after;
                Some(next)
            }
        }
    }

    fn whole(&mut self) -> Option<Vec<u8>> {
        match self {
            Self::Stream(stream) => stream.whole().ok(),
            Self::BufferedTensor(bytes) => Some(bytes.to_vec()),
        }
    }
}

/// Adds all elements of a tensor, a block at a time.
fn add_blocks(
    seen: &mut TensorResult,
    tensor: &StoredTensor,
    now: &mut Stream<'_>,
    mut before: Option<(Earlier<'_>, Tolerance)>,
    needs: &Needs,
) -> Result<(), TensorReadError> {
    // A premature end of the earlier state does not affect the rest.
    let mut is_lost = false;
    while let Some(block) = now.next_block()? {
        let block_before = match &mut before {
            Some((earlier, tolerance)) if !is_lost => {
                let bytes = earlier.next(block.len());
                is_lost = bytes.is_none();
                bytes.map(|bytes| (bytes, *tolerance))
            }
            _ => None,
        };
        seen.add(tensor, block, block_before, needs);
    }
    if is_lost {
        seen.change = None;
    }
    if tensor.data.len_bytes == 0 {
        let before = before.map(|(_, tolerance)| (&[][..], tolerance));
        seen.add(tensor, &[], before, needs);
    }
    Ok(())
}

/// The elements of a tensor, block by block.
struct Stream<'b> {
    file: Arc<File>,
    tensor: StoredTensor,
    buffer: &'b mut Vec<u8>,
    /// Range of the buffer not yet returned.
    ready: Range<usize>,
    /// Number of bytes returned.
    done: u64,
    /// Offset of the tensor in the buffer, if the whole tensor stays there.
    kept_from: Option<usize>,
}

impl<'b> Stream<'b> {
    fn open(
        files: &mut Files,
        place: &Place,
        buffer: &'b mut Vec<u8>,
        keeps: bool,
    ) -> Result<Self, TensorReadError> {
        let file = files.open(place)?;
        // Never shortened, since growing again would have to fill it.
        if buffer.len() < HEAD_BYTES + BLOCK_BYTES {
            buffer.resize(HEAD_BYTES + BLOCK_BYTES, 0);
        }
        let (tensor, ready) = if let Some(tensor) = &place.tensor {
            (tensor.clone(), 0..0)
        } else {
            let have = fill(&file, &mut buffer[..HEAD_BYTES + BLOCK_BYTES], 0)?;
            match npy::header(&buffer[..have]) {
                Ok(mut tensor) => {
                    place.correct(&mut tensor);
                    let start = usize::try_from(tensor.data.offset).unwrap_or(have);
                    (tensor, start.min(have)..have)
                }
                // Longer than any current writer's.
                Err(HeaderError::Wants(_)) => {
                    let len_bytes = file.metadata()?.len_bytes;
                    (header_of(&file, len_bytes, npy::header)?, 0..0)
                }
                Err(error) => return Err(error.into()),
            }
        };
        let is_kept = keeps && tensor.data.len_bytes <= KEPT_BYTES && !tensor.is_column_major;
        Ok(Self {
            file,
            tensor,
            buffer,
            kept_from: is_kept.then_some(ready.start),
            ready,
            done: 0,
        })
    }

    /// The next bytes, little-endian: a whole block except for the last, and `None` after it.
    fn next_block(&mut self) -> Result<Option<&[u8]>, TensorReadError> {
        let data = self.tensor.data;
        let left = usize::try_from(data.len_bytes - self.done).unwrap_or(usize::MAX);
        let len = left.min(BLOCK_BYTES);
        if len == 0 {
            return Ok(None);
        }
        let have = self.ready.len();
        if have < len {
            if self.kept_from.is_none() {
                self.buffer.copy_within(self.ready.clone(), 0);
                self.ready = 0..have;
            }
            let start = self.ready.start;
            if self.buffer.len() < start + len {
                self.buffer.resize(start + len, 0);
            }
            let offset = data.offset + self.done + have as u64;
            let more = fill(
                &self.file,
                &mut self.buffer[start + have..start + len],
                offset,
            )?;
            if have + more < len {
                let end = offset + more as u64;
                let wanted = data.offset.saturating_add(data.len_bytes);
                return Err(TensorReadError::Truncated {
                    offset: end,
                    reason: format!("its header says {wanted} bytes, and {end} bytes are there"),
                });
            }
            self.ready = start..start + len;
        }
        let block = self.ready.start..self.ready.start + len;
        self.ready.start = block.end;
        self.done += len as u64;
        let bytes = &mut self.buffer[block];
        self.tensor.bring_to_little_endian(bytes);
        Ok(Some(bytes))
    }

    /// The tensor in the buffer, if it is complete.
    fn kept(self) -> Option<BufferedTensor> {
        let start = self.kept_from?;
        (self.done == self.tensor.data.len_bytes).then_some(BufferedTensor {
            tensor: self.tensor,
            start,
        })
    }

    /// All bytes in row-major order.
    fn whole(&mut self) -> Result<Vec<u8>, TensorReadError> {
        let mut bytes = Vec::new();
        while let Some(block) = self.next_block()? {
            bytes.extend_from_slice(block);
        }
        self.tensor.bring_to_row_major(&mut bytes);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests;
