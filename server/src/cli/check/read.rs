//! Reads one tensor of a file and says what is known of it afterwards: block by block, each looked at while it is in
//! the cache.
//!
//! However large a tensor is, two blocks are in memory; the exceptions (units of a layer, column-major order) take the
//! tensor as a whole, after its file has been found long enough to hold it.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use trainscope_analysis::watchpoint::{Needs, channel_axis};
use trainscope_format::formats::tensor_file::{HeaderError, StoredTensor, TensorFile};
use trainscope_format::formats::{npy, safetensors};
use trainscope_format::tensor::{
    ChangeStats, ChannelStats, ContentHasher, DType, Select, TensorStats, Tolerance,
};
use trainscope_format::{Role, TensorSummary};

/// Bytes looked at a time: a multiple of every element, and little enough for the cache of one core.
const BLOCK_BYTES: usize = 256 << 10;
/// Headers of single tensors are shorter, so that one read brings header and elements.
const HEAD_BYTES: usize = 4 << 10;
/// Files that a reader keeps open.
const OPEN_FILES: usize = 4;

/// Where a tensor is.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Place {
    pub(in crate::cli) path: Arc<Path>,
    /// What its file says of it; `None` where the file is one tensor and nobody has looked.
    pub(in crate::cli) tensor: Option<StoredTensor>,
    /// The type of its elements where the file's own word for it is another one of that size.
    pub(in crate::cli) dtype: Option<DType>,
}

/// Why a tensor was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Unread {
    /// The file ends before the tensor does.
    Truncated { offset: u64, reason: String },
    /// The file is not what it should be.
    Damaged { offset: u64, reason: String },
    /// It is right, and of a kind that is not read.
    Refused { offset: u64, reason: String },
}

impl Unread {
    /// Where in the file, and why.
    pub(in crate::cli) fn offset_and_reason(self) -> (u64, String) {
        match self {
            Self::Truncated { offset, reason }
            | Self::Damaged { offset, reason }
            | Self::Refused { offset, reason } => (offset, reason),
        }
    }
}

impl From<HeaderError> for Unread {
    fn from(error: HeaderError) -> Self {
        match error {
            HeaderError::Wants(offset) => Self::Truncated {
                offset,
                reason: format!("it ends before its header does, at byte {offset}"),
            },
            HeaderError::Corrupt { offset, reason } => Self::Damaged { offset, reason },
            HeaderError::Unsupported { offset, reason } => Self::Refused { offset, reason },
        }
    }
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Self::Damaged {
            offset: 0,
            reason: format!("it cannot be read: {error}"),
        }
    }
}

/// The header of a safetensors file.
pub(in crate::cli) fn safetensors_header(path: &Path) -> Result<TensorFile, Unread> {
    let file = File::open(path)?;
    let len_bytes = file.metadata()?.len();
    header_of(&file, len_bytes, safetensors::header)
}

/// Reads as much of the beginning of a file as its header wants.
fn header_of<T>(
    file: &File,
    len_bytes: u64,
    parse: impl Fn(&[u8]) -> Result<T, HeaderError>,
) -> Result<T, Unread> {
    let mut head = vec![0; HEAD_BYTES];
    loop {
        let have = fill(file, &mut head, 0)?;
        match parse(&head[..have]) {
            // As much as it wants, and no more than there is.
            Err(HeaderError::Wants(len)) if len > have as u64 && len <= len_bytes => {
                head.resize(usize::try_from(len).unwrap_or(usize::MAX), 0);
            }
            Err(HeaderError::Wants(wanted)) => {
                return Err(Unread::Truncated {
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
fn fill(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
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

/// What a thread keeps between tensors.
#[derive(Default)]
pub(in crate::cli) struct Reader {
    files: Files,
    now: Vec<u8>,
    before: Vec<u8>,
}

/// The last files that were read, open.
#[derive(Default)]
struct Files(Vec<(Arc<Path>, Arc<File>)>);

impl Files {
    fn open(&mut self, path: &Arc<Path>) -> io::Result<Arc<File>> {
        if let Some(at) = self.0.iter().position(|(open, _)| open == path) {
            // The longest unused is first.
            self.0[at..].rotate_left(1);
        } else {
            if self.0.len() == OPEN_FILES {
                self.0.remove(0);
            }
            self.0.push((Arc::clone(path), Arc::new(File::open(path)?)));
        }
        self.0
            .last()
            .map(|(_, file)| Arc::clone(file))
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Reader {
    /// What is known of a tensor once it is read; how it changed, if that is needed and `before` has the same type and
    /// shape. What is wrong with `before` is not said here: it has been read itself.
    pub(in crate::cli) fn summary(
        &mut self,
        place: &Place,
        before: Option<&Place>,
        needs: Needs,
    ) -> Result<TensorSummary, Unread> {
        let mut now = Stream::open(&mut self.files, place, &mut self.now)?;
        let tensor = now.tensor.clone();
        let mut before = match (needs.change, before) {
            (Some(tolerance), Some(before)) => {
                Stream::open(&mut self.files, before, &mut self.before)
                    .ok()
                    .filter(|before| {
                        before.tensor.dtype == tensor.dtype && before.tensor.shape == tensor.shape
                    })
                    .map(|before| (before, tolerance))
            }
            _ => None,
        };
        let axis = channel_axis(&tensor.shape).filter(|_| needs.channels);
        let is_whole = axis.is_some()
            || tensor.is_column_major
            || before
                .as_ref()
                .is_some_and(|(b, _)| b.tensor.is_column_major);
        let mut seen = Seen::default();
        if is_whole {
            let bytes = now.whole()?;
            let before = match &mut before {
                Some((before, tolerance)) => before.whole().ok().map(|b| (b, *tolerance)),
                None => None,
            };
            let before = before
                .as_ref()
                .map(|(bytes, tolerance)| (&**bytes, *tolerance));
            seen.add(&tensor, &bytes, before, needs);
            seen.channels =
                axis.and_then(|axis| ChannelStats::of(tensor.dtype, &tensor.shape, &bytes, axis));
        } else {
            let mut is_lost = false;
            while let Some(block) = now.next_block()? {
                // What ends early before says nothing of the rest.
                let block_before = match &mut before {
                    Some((stream, tolerance)) if !is_lost => match stream.next_block() {
                        Ok(Some(bytes)) => Some((bytes, *tolerance)),
                        Ok(None) | Err(_) => {
                            is_lost = true;
                            None
                        }
                    },
                    _ => None,
                };
                seen.add(&tensor, block, block_before, needs);
            }
            if is_lost {
                seen.change = None;
            }
            if tensor.data.len_bytes == 0 {
                seen.add(&tensor, &[], before.map(|(_, t)| (&[][..], t)), needs);
            }
        }
        Ok(seen.finish(tensor))
    }
}

/// What has been seen of a tensor.
#[derive(Default)]
struct Seen {
    stats: TensorStats,
    hasher: Option<ContentHasher>,
    change: Option<ChangeStats>,
    channels: Option<ChannelStats>,
}

impl Seen {
    /// Adds the next elements.
    fn add(
        &mut self,
        tensor: &StoredTensor,
        bytes: &[u8],
        before: Option<(&[u8], Tolerance)>,
        needs: Needs,
    ) {
        let mut select = Select::new();
        if needs.exponents {
            select = select.exponents();
        }
        if let Some((before, tolerance)) = before {
            select = select.change(before, tolerance);
        }
        let seen = select.read(tensor.dtype, bytes);
        if needs.hash {
            self.hasher.get_or_insert_default().write(bytes);
        }
        if self.stats.count == 0 {
            self.stats = seen.stats;
        } else {
            self.stats.merge(&seen.stats);
        }
        match (&mut self.change, seen.change) {
            (Some(sofar), Some(change)) => sofar.merge(&change),
            (None, change) => self.change = change,
            (Some(_), None) => {}
        }
    }

    fn finish(self, tensor: StoredTensor) -> TensorSummary {
        TensorSummary {
            role: Role::Other,
            dtype: tensor.dtype,
            shape: tensor.shape,
            stats: self.stats,
            hash: self.hasher.map(|hasher| hasher.finish()),
            change: self.change,
            channels: self.channels,
        }
    }
}

/// The elements of a tensor, block by block.
struct Stream<'b> {
    file: Arc<File>,
    tensor: StoredTensor,
    buffer: &'b mut Vec<u8>,
    /// What is in the buffer and not handed out.
    ready: Range<usize>,
    /// Bytes of the tensor that are handed out.
    done: u64,
}

impl<'b> Stream<'b> {
    fn open(files: &mut Files, place: &Place, buffer: &'b mut Vec<u8>) -> Result<Self, Unread> {
        let file = files.open(&place.path)?;
        buffer.resize(HEAD_BYTES + BLOCK_BYTES, 0);
        let (tensor, ready) = if let Some(tensor) = &place.tensor {
            (tensor.clone(), 0..0)
        } else {
            let have = fill(&file, buffer, 0)?;
            match npy::header(&buffer[..have]) {
                Ok(mut tensor) => {
                    if let Some(dtype) = place.dtype
                        && dtype.min_normal_exponent().is_some()
                        && dtype.size_bytes() == tensor.dtype.size_bytes()
                    {
                        tensor.dtype = dtype;
                    }
                    let start = usize::try_from(tensor.data.offset).unwrap_or(have);
                    (tensor, start..have)
                }
                // Longer than any that is written today.
                Err(HeaderError::Wants(_)) => {
                    let len_bytes = file.metadata()?.len();
                    (header_of(&file, len_bytes, npy::header)?, 0..0)
                }
                Err(error) => return Err(error.into()),
            }
        };
        Ok(Self {
            file,
            tensor,
            buffer,
            ready,
            done: 0,
        })
    }

    /// The next bytes, little-endian: a whole block but for the last, and `None` after it.
    fn next_block(&mut self) -> Result<Option<&[u8]>, Unread> {
        let data = self.tensor.data;
        let left = usize::try_from(data.len_bytes - self.done).unwrap_or(usize::MAX);
        let len = left.min(BLOCK_BYTES);
        if len == 0 {
            return Ok(None);
        }
        if self.ready.len() < len {
            let have = self.ready.len();
            self.buffer.copy_within(self.ready.clone(), 0);
            let offset = data.offset + self.done + have as u64;
            let more = fill(&self.file, &mut self.buffer[have..len], offset)?;
            if have + more < len {
                let end = offset + more as u64;
                let wanted = data.offset.saturating_add(data.len_bytes);
                return Err(Unread::Truncated {
                    offset: end,
                    reason: format!("its header says {wanted} bytes, and {end} bytes are there"),
                });
            }
            self.ready = 0..len;
        }
        let block = self.ready.start..self.ready.start + len;
        self.ready.start = block.end;
        self.done += len as u64;
        let bytes = &mut self.buffer[block];
        self.tensor.bring_to_little_endian(bytes);
        Ok(Some(bytes))
    }

    /// All of them, in row-major order.
    fn whole(&mut self) -> Result<Vec<u8>, Unread> {
        let mut bytes = Vec::new();
        while let Some(block) = self.next_block()? {
            bytes.extend_from_slice(block);
        }
        self.tensor.bring_to_row_major(&mut bytes);
        Ok(bytes)
    }
}
