//! Files of packed sections: a magic text, sections of LZ4, a directory of them in postcard, and the place of the
//! directory.
//!
//! Every section and the directory have a checksum. A file is read by range: the directory first, then the sections
//! that are needed. Lengths in a file never reserve more memory than its bytes can unpack to.

use std::hash::Hasher as _;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use lz4_flex::frame::{FrameDecoder, FrameEncoder};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::files::{self, File};

/// Offset, length and checksum of the directory, at the end.
const TRAILER_LEN: u64 = 24;
/// Maximum number of unpacked bytes per byte of LZ4.
const MAX_RATIO: u64 = 255;

/// A stretch of a packed file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Section {
    offset: u64,
    len: u64,
    unpacked_len: u64,
    /// XXH3 of its bytes in the file.
    checksum: u64,
}

impl Section {
    pub(crate) fn unpacked_len(self) -> u64 {
        self.unpacked_len
    }

    /// Error of its content.
    pub(crate) fn damaged(self, reason: impl std::fmt::Display) -> io::Error {
        damaged_at(self.offset, reason)
    }
}

/// Error of a file that does not hold what it should.
pub(crate) fn damaged(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// Error at a place of a file.
fn damaged_at(offset: u64, reason: impl std::fmt::Display) -> io::Error {
    damaged(format!("at byte {offset}: {reason}"))
}

/// A packed file that is open for reading.
pub(crate) struct PackedFile<D> {
    file: File,
    len_bytes: u64,
    pub(crate) directory: D,
}

impl<D: DeserializeOwned> PackedFile<D> {
    /// Opens a file, and checks its magic text and its directory, which has a maximum length in bytes.
    pub(crate) fn open(path: &Path, magic: &[u8], max_directory_len: u64) -> io::Result<Self> {
        let file = files::open(path)?;
        let len_bytes = file.metadata()?.len_bytes;
        let mut start = vec![0; magic.len()];
        let end = len_bytes.checked_sub(TRAILER_LEN);
        let end = end.filter(|end| *end >= magic.len() as u64);
        let end = end.ok_or_else(|| damaged_at(len_bytes, "the file ends too early"))?;
        file.read_exact_at(&mut start, 0)?;
        if start != magic {
            return Err(damaged_at(0, "another kind or version of file"));
        }
        let mut trailer = [[0; 8]; 3];
        file.read_exact_at(trailer.as_flattened_mut(), end)?;
        let [offset, len, checksum] = trailer.map(u64::from_le_bytes);
        if len > max_directory_len {
            return Err(damaged_at(end, "a directory that is too long"));
        }
        let section = Section {
            offset,
            len,
            unpacked_len: len,
            checksum,
        };
        let bytes = stretch(&file, len_bytes, section)?;
        let directory = postcard::from_bytes(&bytes).map_err(|error| damaged_at(offset, error))?;
        Ok(Self {
            file,
            len_bytes,
            directory,
        })
    }
}

impl<D> PackedFile<D> {
    /// The bytes of a section as they are in the file.
    pub(crate) fn stretch(&self, section: Section) -> io::Result<Vec<u8>> {
        stretch(&self.file, self.len_bytes, section)
    }

    /// The unpacked bytes of a section.
    pub(crate) fn unpacked(&self, section: Section) -> io::Result<Vec<u8>> {
        if section.unpacked_len > section.len.saturating_mul(MAX_RATIO) {
            return Err(damaged_at(
                section.offset,
                "a part that unpacks to too much",
            ));
        }
        let packed = self.stretch(section)?;
        let mut bytes = Vec::new();
        let len = usize::try_from(section.unpacked_len).map_err(damaged)?;
        bytes.try_reserve_exact(len).map_err(damaged)?;
        FrameDecoder::new(&packed[..])
            .take(section.unpacked_len)
            .read_to_end(&mut bytes)
            .map_err(|error| damaged_at(section.offset, error))?;
        Ok(bytes)
    }

    /// The value in a section.
    pub(crate) fn value<T: DeserializeOwned>(&self, section: Section) -> io::Result<T> {
        let bytes = self.unpacked(section)?;
        postcard::from_bytes(&bytes).map_err(|error| damaged_at(section.offset, error))
    }
}

/// Reads a stretch of a file and compares its checksum.
fn stretch(file: &File, len_bytes: u64, section: Section) -> io::Result<Vec<u8>> {
    let end = section.offset.checked_add(section.len);
    if end.is_none_or(|end| end > len_bytes) {
        return Err(damaged_at(section.offset, "a part behind the end"));
    }
    let mut bytes = files::buffer(section.len)?;
    file.read_exact_at(&mut bytes, section.offset)?;
    if XxHash3_64::oneshot(&bytes) == section.checksum {
        Ok(bytes)
    } else {
        Err(damaged_at(section.offset, "a wrong checksum"))
    }
}

/// Writes a packed file section by section.
pub(crate) struct PackedWriter<W: Write> {
    out: BufWriter<W>,
    offset: u64,
}

impl<W: Write> PackedWriter<W> {
    pub(crate) fn new(out: W, magic: &[u8]) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(1 << 20, out);
        out.write_all(magic)?;
        Ok(Self {
            out,
            offset: magic.len() as u64,
        })
    }

    /// Appends bytes as they are.
    pub(crate) fn raw(&mut self, bytes: &[u8], unpacked_len: usize) -> io::Result<Section> {
        self.out.write_all(bytes)?;
        let section = Section {
            offset: self.offset,
            len: bytes.len() as u64,
            unpacked_len: unpacked_len as u64,
            checksum: XxHash3_64::oneshot(bytes),
        };
        self.offset += section.len;
        Ok(section)
    }

    /// Appends a value, packed.
    pub(crate) fn value(&mut self, value: &(impl Serialize + ?Sized)) -> io::Result<Section> {
        self.packed(|out| {
            postcard::to_io(value, out).map_err(damaged)?;
            Ok(())
        })
    }

    /// Appends what is written, packed.
    pub(crate) fn packed(
        &mut self,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Section> {
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
        Ok(section)
    }

    /// Completes the file with its directory.
    pub(crate) fn finish(mut self, directory: &impl Serialize) -> io::Result<W> {
        let directory = postcard::to_allocvec(directory).map_err(damaged)?;
        self.out.write_all(&directory)?;
        let checksum = XxHash3_64::oneshot(&directory);
        for number in [self.offset, directory.len() as u64, checksum] {
            self.out.write_all(&number.to_le_bytes())?;
        }
        self.out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
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
