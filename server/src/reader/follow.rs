//! One file read on by a listener beside the index.

use std::io::BufReader;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use trainscope_format::body::GraphSource;
use trainscope_format::{Checkpoint, Damage, Format, Graph, Stretch, TagInfo};

use super::tail::{Block, Tail};
use crate::discovery::file::{FileId, OpenFile};
use crate::discovery::runs::EventSource;
use crate::files;

/// Maximum size of a graph, which is held in memory.
const MAX_GRAPH_BYTES: u64 = 1 << 30;

/// A file and how far it was read.
pub(crate) struct Follower {
    path: Arc<Path>,
    format: Format,
    id: Arc<FileId>,
    /// All tags so far, in order of their ids.
    tags: Vec<TagInfo>,
    fed_bytes: u64,
    offset: u64,
    decoder: Vec<u8>,
    open_damage: Option<Damage>,
    damages: Vec<Damage>,
    /// Number of bytes up to which the file is to be opened and read.
    due_bytes: u64,
    /// The file while it is read, and the end of that.
    opened: Option<(OpenFile, u64)>,
    tail: Option<Tail>,
    is_replaced: bool,
    unreadable: Option<String>,
}

/// Memory that followers share.
#[derive(Default)]
pub(crate) struct Buffers {
    bytes: Vec<u8>,
    spare: Block,
}

impl Buffers {
    /// Returns a block for reuse, unless others still use it.
    pub(crate) fn reuse(&mut self, block: Arc<Block>) {
        if let Ok(block) = Arc::try_unwrap(block) {
            self.spare = block;
        }
    }
}

impl Follower {
    /// A follower of a file from its first byte.
    pub(crate) fn new(source: &EventSource) -> Self {
        Self {
            path: source.path.as_path().into(),
            format: source.format,
            id: Arc::default(),
            tags: Vec::new(),
            fed_bytes: 0,
            offset: 0,
            decoder: Vec::new(),
            open_damage: None,
            damages: Vec::new(),
            due_bytes: u64::MAX,
            opened: None,
            tail: None,
            is_replaced: false,
            unreadable: None,
        }
    }

    /// Path of the file.
    pub(crate) fn path(&self) -> &Arc<Path> {
        &self.path
    }

    /// All tags so far, in order of their ids.
    pub(crate) fn tags(&self) -> &[TagInfo] {
        &self.tags
    }

    /// Number of bytes read.
    pub(crate) fn fed_bytes(&self) -> u64 {
        self.fed_bytes
    }

    /// Damaged ranges, the one at the end included.
    pub(crate) fn damages(&self) -> impl Iterator<Item = &Damage> {
        self.damages.iter().chain(&self.open_damage)
    }

    /// Offset of a truncated last record.
    pub(crate) fn torn_at(&self) -> Option<u64> {
        (self.unreadable.is_none() && self.offset < self.fed_bytes).then_some(self.offset)
    }

    /// Reason why it could not be read at all, or completely.
    pub(crate) fn unreadable(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    /// True if another file has taken its place, or it was truncated: its blocks are no longer its content.
    pub(crate) fn is_replaced(&self) -> bool {
        self.is_replaced
    }

    /// Compares with the same path in a later walk, or looks for more; the next calls of [`Self::next`] read it.
    pub(crate) fn expect(&mut self, walked: Option<&EventSource>) {
        let is_other = |source: &EventSource| source.identity != self.id.identity;
        if walked.is_some_and(|source| self.unreadable.is_some() || is_other(source)) {
            self.is_replaced = true;
        } else if walked.is_none_or(|source| source.stamp.len_bytes != self.fed_bytes) {
            // Shorter than what was read: either it has grown since that walk, or it was truncated.
            self.due_bytes = u64::MAX;
        }
    }

    /// The next block; `None` at the end.
    pub(crate) fn next(&mut self, buffers: &mut Buffers) -> Option<Arc<Block>> {
        loop {
            if let Some(block) = self.read(buffers) {
                return Some(block);
            }
            if self.due_bytes <= self.fed_bytes {
                return None;
            }
            self.open();
        }
    }

    /// Opens the file to read it as far as it is due.
    fn open(&mut self) {
        let end = std::mem::take(&mut self.due_bytes);
        if self.is_replaced || self.unreadable.is_some() {
            return;
        }
        let opened = match OpenFile::open(&self.path) {
            Ok(opened) => opened,
            Err(_) if self.fed_bytes > 0 => {
                self.is_replaced = true;
                return;
            }
            Err(e) => {
                self.unreadable = Some(format!("it cannot be read: {e}"));
                return;
            }
        };
        self.set_file(&opened.id);
        self.is_replaced |= opened.len_bytes < self.fed_bytes;
        // Other files are one record, which was read with the first byte.
        let is_stream = matches!(self.format, Format::Tfevents | Format::MindsporeSummary);
        self.is_replaced |= !is_stream && (1..opened.len_bytes).contains(&self.fed_bytes);
        if !self.is_replaced {
            let end = end.min(opened.len_bytes);
            self.opened = Some((opened, end));
        }
    }

    /// Compares the file with the one read so far.
    fn set_file(&mut self, now: &Arc<FileId>) {
        self.is_replaced |= self.fed_bytes > 0 && !now.continues(&self.id);
        self.id = Arc::clone(now);
    }

    /// Decodes the next block of the opened file.
    fn read(&mut self, buffers: &mut Buffers) -> Option<Arc<Block>> {
        let (opened, end) = self.opened.as_ref()?;
        let resume = || {
            Tail::new(
                self.format,
                &self.path,
                Checkpoint {
                    offset: self.offset,
                    tags: self.tags.clone(),
                    state: self.decoder.clone(),
                },
            )
        };
        let tail = self.tail.get_or_insert_with(resume);
        let mut block = std::mem::take(&mut buffers.spare);
        match tail.fill(opened, *end, &mut buffers.bytes, &mut block) {
            Ok(true) => {
                let block = Arc::new(block);
                self.take(&block);
                return Some(block);
            }
            Ok(false) => {}
            Err(e) => self.unreadable = Some(format!("it cannot be read: {e}")),
        }
        buffers.spare = block;
        self.opened = None;
        None
    }

    /// Continues after a block.
    fn take(&mut self, block: &Block) {
        self.tags.extend_from_slice(&block.batch.new_tags);
        self.damages.extend_from_slice(&block.batch.damages);
        self.fed_bytes = block.fed_bytes;
        self.offset = block.offset;
        self.decoder.clone_from(&block.decoder);
        self.open_damage.clone_from(&block.open_damage);
    }

    /// A graph in the part of the file that was read. An unreadable one is ignored: it only adds context.
    pub(crate) fn graph(&self, source: GraphSource) -> Option<Graph> {
        let OpenFile {
            file, len_bytes, ..
        } = OpenFile::open(&self.path).ok()?;
        if source.data == Stretch::WHOLE_FILE || matches!(self.format, Format::Graph(_)) {
            let mut file = BufReader::new(file);
            return Graph::read_file(source.format, &mut file, len_bytes).ok();
        }
        let Stretch { offset, len_bytes } = source.data;
        if len_bytes > MAX_GRAPH_BYTES || offset.checked_add(len_bytes)? > self.fed_bytes {
            return None;
        }
        let mut bytes = files::buffer(len_bytes).ok()?;
        file.read_exact_at(&mut bytes, offset).ok()?;
        Graph::read(source.format, &bytes).ok()
    }
}
