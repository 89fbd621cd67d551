//! Column files: a trace in its memory layout, packed. A restart reads a fraction of the bytes of its source.
//!
//! A file is a magic text with the version, sections, a directory of them, and the place of the directory. Every
//! section has a checksum: damaged, incomplete or outdated content is an error, and the source is read again.

use std::hash::Hasher as _;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::time::SystemTime;

use lz4_flex::frame::{FrameDecoder, FrameEncoder};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use trainscope_format::trace::Trace;
use twox_hash::XxHash3_64;

use crate::files::{self, File};

/// First bytes, with the version: another one when anything stored changes, [`Trace`] and the answers included.
const MAGIC: &[u8; 24] = b"trainscope columns 0007\n";
/// Offset, length and checksum of the directory, at the end.
const TRAILER_LEN: u64 = 24;
/// Maximum length of a directory.
const MAX_DIRECTORY_LEN: u64 = 1 << 20;
/// Maximum number of unpacked bytes per byte of LZ4.
const MAX_RATIO: u64 = 255;
/// Unpacked length of a block of text: the amount to unpack for the arguments of one slice.
const TEXT_BLOCK_LEN: usize = 64 << 10;

/// A source file as it was when it was read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct FileStamp {
    path: String,
    len_bytes: u64,
    modified: SystemTime,
}

impl FileStamp {
    /// The stamp of a file now; `None` if it is gone, or its name is not UTF-8.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let metadata = files::metadata(path).ok()?;
        Some(Self {
            path: path.to_str()?.to_owned(),
            len_bytes: metadata.len_bytes,
            modified: metadata.modified?,
        })
    }

    /// `true` while the file is unchanged.
    pub(super) fn is_current(&self) -> bool {
        Self::of(Path::new(&self.path)).as_ref() == Some(self)
    }

    pub(super) const fn modified(&self) -> SystemTime {
        self.modified
    }
}

/// Parts of a column file, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Row in the list of sessions, JSON.
    Entry,
    /// Lanes, steps and counters of the timeline, JSON.
    Lanes,
    /// Summary of all steps, JSON.
    Summary,
    /// Cells of the whole timeline.
    Outline,
    Trace,
    /// Blocks of the unpacked text of a packed source.
    Text,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Directory {
    /// The files that were read.
    sources: Vec<FileStamp>,
    sections: Vec<Section>,
}

/// A stretch of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Section {
    offset: u64,
    len: u64,
    unpacked_len: u64,
    /// XXH3 of its bytes in the file.
    checksum: u64,
}

/// A trace with the facts that its model does not contain.
#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct StoredTrace {
    /// Problems of its files, as sentences.
    pub(super) faults: Vec<String>,
    /// Positions of its slices in the file, empty if they are in its order.
    pub(super) numbers: Vec<u32>,
    pub(super) trace: Trace,
}

/// A [`StoredTrace`] to be written.
#[derive(Clone, Copy, Serialize)]
pub(super) struct StoredTraceRef<'a> {
    pub(super) faults: &'a [String],
    pub(super) numbers: &'a [u32],
    pub(super) trace: &'a Trace,
}

fn damaged(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// A column file that is open for reading.
pub(super) struct ColumnFile {
    file: File,
    directory: Directory,
}

impl ColumnFile {
    /// Opens a file and checks its version and directory.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = files::open(path)?;
        let mut magic = [0; MAGIC.len()];
        file.read_exact_at(&mut magic, 0)?;
        if magic != *MAGIC {
            return Err(damaged("another version"));
        }
        let len = file.metadata()?.len_bytes;
        let end = len
            .checked_sub(TRAILER_LEN)
            .ok_or_else(|| damaged("short"))?;
        let mut trailer = [[0; 8]; 3];
        file.read_exact_at(trailer.as_flattened_mut(), end)?;
        let [offset, len, checksum] = trailer.map(u64::from_le_bytes);
        if len > MAX_DIRECTORY_LEN {
            return Err(damaged("a directory that is too long"));
        }
        let section = Section {
            offset,
            len,
            unpacked_len: len,
            checksum,
        };
        let bytes = stretch(&file, section)?;
        let directory = postcard::from_bytes(&bytes).map_err(damaged)?;
        Ok(Self { file, directory })
    }

    /// The files that were read.
    pub(super) fn sources(&self) -> &[FileStamp] {
        &self.directory.sources
    }

    /// A part that is JSON.
    pub(super) fn json<T: DeserializeOwned>(&self, part: Part) -> io::Result<T> {
        Ok(serde_json::from_slice(&self.unpacked(part)?)?)
    }

    /// Any other part.
    pub(super) fn value<T: DeserializeOwned>(&self, part: Part) -> io::Result<T> {
        postcard::from_bytes(&self.unpacked(part)?).map_err(damaged)
    }

    /// The trace, with all indices checked.
    pub(super) fn trace(&self) -> io::Result<StoredTrace> {
        let stored: StoredTrace = self.value(Part::Trace)?;
        if stored.trace.is_sound() {
            Ok(stored)
        } else {
            Err(damaged("a trace that points to nothing"))
        }
    }

    /// Bytes of the unpacked source that start at a place, fewer at its end; `None` without text.
    pub(super) fn text(&self, place: u64, len: usize) -> io::Result<Option<Vec<u8>>> {
        if self.section(Part::Text).is_err() {
            return Ok(None);
        }
        let blocks: Vec<Section> = self.value(Part::Text)?;
        let block_len = TEXT_BLOCK_LEN as u64;
        let first = usize::try_from(place / block_len).map_err(damaged)?;
        let skipped = usize::try_from(place % block_len).map_err(damaged)?;
        let mut bytes = Vec::new();
        let mut unpacked = vec![0; TEXT_BLOCK_LEN];
        for block in blocks.get(first..).unwrap_or_default() {
            if bytes.len() >= skipped.saturating_add(len) {
                break;
            }
            let packed = stretch(&self.file, *block)?;
            let unpacked_len =
                lz4_flex::block::decompress_into(&packed, &mut unpacked).map_err(damaged)?;
            bytes.extend_from_slice(unpacked.get(..unpacked_len).unwrap_or_default());
        }
        bytes.drain(..skipped.min(bytes.len()));
        bytes.truncate(len);
        Ok(Some(bytes))
    }

    fn section(&self, part: Part) -> io::Result<Section> {
        let section = self.directory.sections.get(part as usize);
        section.copied().ok_or_else(|| damaged("a part is missing"))
    }

    fn unpacked(&self, part: Part) -> io::Result<Vec<u8>> {
        let section = self.section(part)?;
        let packed = stretch(&self.file, section)?;
        if section.unpacked_len > section.len.saturating_mul(MAX_RATIO) {
            return Err(damaged("a part that unpacks to too much"));
        }
        let mut bytes = Vec::new();
        let len = usize::try_from(section.unpacked_len).map_err(damaged)?;
        bytes.try_reserve_exact(len).map_err(damaged)?;
        FrameDecoder::new(&packed[..])
            .take(section.unpacked_len)
            .read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// Reads a stretch of a file and compares its checksum.
fn stretch(file: &File, section: Section) -> io::Result<Vec<u8>> {
    let len = file.metadata()?.len_bytes;
    let end = section.offset.checked_add(section.len);
    if end.is_none_or(|end| end > len) {
        return Err(damaged("a part behind the end"));
    }
    let mut bytes = files::buffer(section.len)?;
    file.read_exact_at(&mut bytes, section.offset)?;
    if XxHash3_64::oneshot(&bytes) == section.checksum {
        Ok(bytes)
    } else {
        Err(damaged("a wrong checksum"))
    }
}

/// Writes a column file section by section, in the order of [`Part`].
pub(super) struct ColumnWriter<W> {
    out: W,
    offset: u64,
    directory: Directory,
}

impl<W: Write> ColumnWriter<BufWriter<W>> {
    pub(super) fn new(out: W, sources: Vec<FileStamp>) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(1 << 20, out);
        out.write_all(MAGIC)?;
        Ok(Self {
            out,
            offset: MAGIC.len() as u64,
            directory: Directory {
                sources,
                sections: Vec::new(),
            },
        })
    }

    /// Appends a part as JSON.
    pub(super) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.packed(|out| Ok(serde_json::to_writer(out, value)?))
    }

    /// Appends a part in the encoding of the index.
    pub(super) fn value(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.packed(|out| {
            postcard::to_io(value, out).map_err(damaged)?;
            Ok(())
        })
    }

    /// Appends the unpacked text of the source, in blocks that are read alone.
    pub(super) fn text(&mut self, mut text: impl Read) -> io::Result<()> {
        let mut blocks = Vec::new();
        let mut block = Vec::with_capacity(TEXT_BLOCK_LEN);
        loop {
            block.clear();
            (&mut text)
                .take(TEXT_BLOCK_LEN as u64)
                .read_to_end(&mut block)?;
            if block.is_empty() {
                break;
            }
            let packed = lz4_flex::block::compress(&block);
            self.out.write_all(&packed)?;
            let section = Section {
                offset: self.offset,
                len: packed.len() as u64,
                unpacked_len: block.len() as u64,
                checksum: XxHash3_64::oneshot(&packed),
            };
            self.offset += section.len;
            blocks.push(section);
        }
        self.value(&blocks)
    }

    /// Completes the file.
    pub(super) fn finish(mut self) -> io::Result<W> {
        let directory = postcard::to_allocvec(&self.directory).map_err(damaged)?;
        self.out.write_all(&directory)?;
        let checksum = XxHash3_64::oneshot(&directory);
        for number in [self.offset, directory.len() as u64, checksum] {
            self.out.write_all(&number.to_le_bytes())?;
        }
        self.out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
    }

    fn packed(&mut self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut packed = Tally::new(&mut self.out);
        let mut frame = FrameEncoder::new(&mut packed);
        let unpacked_len = {
            let mut unpacked = BufWriter::new(Tally::new(&mut frame));
            fill(&mut unpacked)?;
            unpacked
                .into_inner()
                .map_err(io::IntoInnerError::into_error)?
                .len
        };
        frame.finish()?;
        let section = Section {
            offset: self.offset,
            len: packed.len,
            unpacked_len,
            checksum: packed.hash.finish(),
        };
        self.offset += section.len;
        self.directory.sections.push(section);
        Ok(())
    }
}

/// Counts bytes and computes their checksum.
struct Tally<W> {
    out: W,
    len: u64,
    hash: XxHash3_64,
}

impl<W> Tally<W> {
    fn new(out: W) -> Self {
        Self {
            out,
            len: 0,
            hash: XxHash3_64::new(),
        }
    }
}

impl<W: Write> Write for Tally<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.out.write(bytes)?;
        self.len += len as u64;
        self.hash.write(bytes.get(..len).unwrap_or_default());
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
