//! Column files: a trace in its memory layout, packed. A restart reads a fraction of the bytes of its source.
//!
//! It is a packed file: damaged, incomplete or outdated content is an error, and the source is read again.

use std::io::{self, Read, Write};
use std::path::Path;
use std::time::SystemTime;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use trainscope_format::trace::Trace;

use crate::files;
use crate::packed::{PackedFile, PackedWriter, Section, damaged};

/// First bytes, with the version: another one when anything stored changes, [`Trace`] and the answers included.
const MAGIC: &[u8; 24] = b"trainscope columns 0007\n";
/// Maximum length of a directory.
const MAX_DIRECTORY_LEN: u64 = 1 << 20;
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

/// A column file that is open for reading.
pub(super) struct ColumnFile(PackedFile<Directory>);

impl ColumnFile {
    /// Opens a file and checks its version and directory.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        PackedFile::open(path, MAGIC, MAX_DIRECTORY_LEN).map(Self)
    }

    /// The files that were read.
    pub(super) fn sources(&self) -> &[FileStamp] {
        &self.0.directory.sources
    }

    /// A part that is JSON.
    pub(super) fn json<T: DeserializeOwned>(&self, part: Part) -> io::Result<T> {
        let bytes = self.0.unpacked(self.section(part)?)?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// Any other part.
    pub(super) fn value<T: DeserializeOwned>(&self, part: Part) -> io::Result<T> {
        self.0.value(self.section(part)?)
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
            let packed = self.0.stretch(*block)?;
            let unpacked_len =
                lz4_flex::block::decompress_into(&packed, &mut unpacked).map_err(damaged)?;
            bytes.extend_from_slice(unpacked.get(..unpacked_len).unwrap_or_default());
        }
        bytes.drain(..skipped.min(bytes.len()));
        bytes.truncate(len);
        Ok(Some(bytes))
    }

    fn section(&self, part: Part) -> io::Result<Section> {
        let section = self.0.directory.sections.get(part as usize);
        section.copied().ok_or_else(|| damaged("a part is missing"))
    }
}

/// Writes a column file section by section, in the order of [`Part`].
pub(super) struct ColumnWriter<W: Write> {
    out: PackedWriter<W>,
    directory: Directory,
}

impl<W: Write> ColumnWriter<W> {
    pub(super) fn new(out: W, sources: Vec<FileStamp>) -> io::Result<Self> {
        Ok(Self {
            out: PackedWriter::new(out, MAGIC)?,
            directory: Directory {
                sources,
                sections: Vec::new(),
            },
        })
    }

    /// Appends a part as JSON.
    pub(super) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        let section = self
            .out
            .packed(|out| Ok(serde_json::to_writer(out, value)?))?;
        self.directory.sections.push(section);
        Ok(())
    }

    /// Appends a part in the encoding of the index.
    pub(super) fn value(&mut self, value: &impl Serialize) -> io::Result<()> {
        let section = self.out.value(value)?;
        self.directory.sections.push(section);
        Ok(())
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
            blocks.push(self.out.raw(&packed, block.len())?);
        }
        self.value(&blocks)
    }

    /// Completes the file.
    pub(super) fn finish(self) -> io::Result<W> {
        self.out.finish(&self.directory)
    }
}
