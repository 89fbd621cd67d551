//! Files of summaries: blocks of keys and summaries, and a directory of the keys in each.
//!
//! A file is written under a temporary name and renamed: a process that ends early leaves nothing that is read.
//! Floating-point numbers are stored by their bits.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use trainscope_format::TensorSummary;
use trainscope_format::tensor::RangeCount;

use super::key::Key;
use super::{EXTENSION, Summary, is_sound};
use crate::files;
use crate::packed::{PackedFile, PackedWriter, Section, damaged};
use crate::tensor_files::read::TensorReadError;

/// First bytes, with the version of the layout.
const MAGIC: &[u8] = b"TSSUM1\n";
/// Length of a block, at which the next one begins.
const BLOCK_LEN: usize = 64 << 10;
/// Maximum length of a block: that of the channels of a few million columns.
const MAX_BLOCK_LEN: u64 = 256 << 20;

/// Origin of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Label {
    /// Version of trainscope.
    version: String,
    /// Real paths of the folders that were read.
    sources: Vec<String>,
}

impl Label {
    /// Of this program and these folders.
    pub(crate) fn new(sources: &[PathBuf]) -> Self {
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let sources = sources.iter().map(real);
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            sources: sources.map(|path| path.display().to_string()).collect(),
        }
    }

    /// Reason why summaries of this origin are not those of another one. Mount points differ between nodes, so another
    /// path is another folder only if both are here.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        if self.version != other.version {
            let version = &self.version;
            return Some(format!("it is of trainscope {version}"));
        }
        let identity = |path: &String| {
            let metadata = fs::metadata(path).ok()?;
            Some((metadata.dev(), metadata.ino()))
        };
        let pairs = self.sources.iter().zip(&other.sources);
        let mut pairs = pairs.filter(|(own, other)| own != other);
        let (own, _) = pairs.find(|(own, other)| {
            if [own, other]
                .map(Path::new)
                .iter()
                .any(|path| files::is_address(path))
            {
                return true;
            }
            let known = identity(own).zip(identity(other));
            known.is_some_and(|(own, other)| own != other)
        })?;
        Some(format!("it is of another folder, {own}"))
    }
}

#[derive(Default, Serialize, Deserialize)]
struct Directory {
    label: Label,
    blocks: Vec<Block>,
}

#[derive(Serialize, Deserialize)]
struct Block {
    section: Section,
    keys: Vec<Key>,
}

/// A summary in a block, with the counts in ranges that its own encoding leaves out.
type StoredResult<S, E> = Result<(S, Vec<(f64, f64, u64)>), E>;
type StoredSummary = StoredResult<Box<TensorSummary>, TensorReadError>;

/// A file that is open for reading.
pub(super) struct SummaryFile {
    path: PathBuf,
    file: PackedFile<Directory>,
}

impl SummaryFile {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            file: PackedFile::open(path, MAGIC, u64::MAX)?,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn label(&self) -> &Label {
        &self.file.directory.label
    }

    /// Keys of each block.
    pub(super) fn keys(&self) -> impl Iterator<Item = &[Key]> {
        self.file.directory.blocks.iter().map(|block| &*block.keys)
    }

    /// Passes on the summaries of a block one by one.
    pub(super) fn read(&self, block: u32, mut take: impl FnMut(Key, Summary)) -> io::Result<()> {
        let block = self.file.directory.blocks.get(block as usize);
        let Some(block) = block else {
            return Ok(());
        };
        if block.section.unpacked_len() > MAX_BLOCK_LEN {
            return Err(block.section.damaged("a block that is too long"));
        }
        let damaged = |error: &dyn std::fmt::Display| block.section.damaged(error);
        let bytes = self.file.unpacked(block.section)?;
        let (count, mut rest) =
            postcard::take_from_bytes::<usize>(&bytes).map_err(|error| damaged(&error))?;
        if count != block.keys.len() {
            return Err(damaged(&"a block with other summaries than its directory"));
        }
        for _ in 0..count {
            let ((key, stored), after): ((Key, StoredSummary), _) =
                postcard::take_from_bytes(rest).map_err(|error| damaged(&error))?;
            rest = after;
            let summary = unstored(stored);
            take(
                key,
                summary.ok_or_else(|| damaged(&"statistics that no tensor has"))?,
            );
        }
        Ok(())
    }
}

/// The summary as it was computed; `None` if no tensor has such statistics.
fn unstored(stored: StoredSummary) -> Option<Summary> {
    let (mut summary, ranges) = match stored {
        Ok(stored) => stored,
        Err(unread) => return Some(Err(unread)),
    };
    let ranges = ranges.into_iter();
    summary.stats.ranges = ranges
        .map(|(start, end, count)| RangeCount { start, end, count })
        .collect();
    is_sound(&summary).then_some(Ok(summary))
}

/// A file that is being written.
pub(super) struct SummaryWriter {
    /// `None` once it is complete.
    out: Option<PackedWriter<NamedTempFile>>,
    /// The block that is not written yet.
    bytes: Vec<u8>,
    keys: Vec<Key>,
    directory: Directory,
}

impl SummaryWriter {
    /// Begins a file under a temporary name in a folder, which is made if it does not exist.
    pub(super) fn begin(folder: &Path, label: Label) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let file = tempfile::Builder::new()
            .prefix(".part-")
            // As for any new file; the mask of the user applies.
            .permissions(fs::Permissions::from_mode(0o666))
            .tempfile_in(folder)?;
        Ok(Self {
            out: Some(PackedWriter::new(file, MAGIC)?),
            bytes: Vec::new(),
            keys: Vec::new(),
            directory: Directory {
                label,
                blocks: Vec::new(),
            },
        })
    }

    pub(super) fn add(&mut self, key: Key, summary: &Summary) -> io::Result<()> {
        let stored: StoredResult<&TensorSummary, &TensorReadError> = match summary {
            Ok(summary) => {
                let ranges = summary.stats.ranges.iter();
                let ranges = ranges.map(|range| (range.start, range.end, range.count));
                Ok((&**summary, ranges.collect()))
            }
            Err(unread) => Err(unread),
        };
        let entry = postcard::to_allocvec(&(key, stored)).map_err(damaged)?;
        if entry.len() as u64 > MAX_BLOCK_LEN / 2 {
            // It is computed again.
            return Ok(());
        }
        self.bytes.extend_from_slice(&entry);
        self.keys.push(key);
        if self.bytes.len() >= BLOCK_LEN {
            self.end_block()?;
        }
        Ok(())
    }

    fn end_block(&mut self) -> io::Result<()> {
        let Some(out) = self.out.as_mut().filter(|_| !self.keys.is_empty()) else {
            return Ok(());
        };
        let count = postcard::to_allocvec(&self.keys.len()).map_err(damaged)?;
        let bytes = std::mem::take(&mut self.bytes);
        let section = out.packed(|out| {
            out.write_all(&count)?;
            out.write_all(&bytes)
        })?;
        self.directory.blocks.push(Block {
            section,
            keys: std::mem::take(&mut self.keys),
        });
        Ok(())
    }

    /// Completes the file and gives it its name. Without one, the name follows from the keys, and a file without
    /// summaries is removed.
    pub(super) fn finish(&mut self, folder: &Path, name: Option<&str>) -> io::Result<()> {
        self.end_block()?;
        let Some(out) = self.out.take() else {
            return Ok(());
        };
        let name = match name {
            Some(name) => name.to_owned(),
            None if self.directory.blocks.is_empty() => return Ok(()),
            None => {
                let keys = self.directory.blocks.iter().map(|block| &block.keys);
                let keys: Vec<u8> = keys.flatten().flatten().copied().collect();
                format!("rest-{:016x}", twox_hash::XxHash3_64::oneshot(&keys))
            }
        };
        let file = out.finish(&self.directory)?;
        publish(file, &folder.join(format!("{name}.{EXTENSION}")))
    }
}

/// Gives a complete file its name, in place of any other.
fn publish(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.persist(path)?;
    Ok(())
}
