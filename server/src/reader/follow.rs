//! Reads one file for a listener, separately from the index.

use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use trainscope_format::body::GraphSource;
use trainscope_format::{Checkpoint, Damage, Format, Graph, Stretch, TagInfo};

use super::feed::{Feed, Feeds};
use super::tail::{Block, Tail};
use crate::discovery::file::{FileId, OpenFile};
use crate::discovery::runs::EventSource;
use crate::files;

/// Maximum size of a graph, which is held in memory.
const MAX_GRAPH_BYTES: u64 = 1 << 30;

/// A file and the progress of reading it.
pub(crate) struct Follower {
    pub(crate) path: Arc<Path>,
    format: Format,
    id: Arc<FileId>,
    /// Number of bytes read.
    pub(crate) fed_bytes: u64,
    /// End of the complete records.
    checkpoint: Checkpoint,
    damages: Vec<Damage>,
    open_damage: Option<Damage>,
    /// Number of bytes up to which the file is to be read if the feed does not bring them.
    due_bytes: u64,
    feed: Option<Feed>,
    /// The file while it is read, with the end of the range.
    opened: Option<(OpenFile, u64)>,
    tail: Option<Tail>,
    /// True if another file has taken its place, or it was truncated: its blocks are no longer its content.
    pub(crate) is_replaced: bool,
    /// Reason why it could not be read at all, or completely.
    pub(crate) unreadable: Option<String>,
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
    /// A follower of a file from its first byte; with feeds, also of the later blocks of the index.
    pub(crate) fn new(source: &EventSource, feeds: Option<&Feeds>) -> Self {
        let path = source.path.as_path().into();
        let feeds = feeds.filter(|_| is_stream(source.format));
        Self {
            feed: feeds.map(|feeds| feeds.subscribe(&path)),
            path,
            format: source.format,
            id: Arc::new(FileId {
                identity: source.identity,
                ..FileId::default()
            }),
            fed_bytes: 0,
            checkpoint: Checkpoint::default(),
            damages: Vec::new(),
            open_damage: None,
            due_bytes: u64::MAX,
            opened: None,
            tail: None,
            is_replaced: false,
            unreadable: None,
        }
    }

    /// All tags so far, in order of their ids.
    pub(crate) fn tags(&self) -> &[TagInfo] {
        &self.checkpoint.tags
    }

    /// Damaged ranges, the one at the end included.
    pub(crate) fn damages(&self) -> impl Iterator<Item = &Damage> {
        self.damages.iter().chain(&self.open_damage)
    }

    /// Offset of a truncated last record.
    pub(crate) fn torn_at(&self) -> Option<u64> {
        let offset = self.checkpoint.offset;
        (self.unreadable.is_none() && offset < self.fed_bytes).then_some(offset)
    }

    /// Compares with the same path in a later walk; the next calls of [`Self::next`] read its growth.
    pub(crate) fn expect(&mut self, walked: &EventSource) {
        let is_other = walked.identity != self.id.identity;
        if self.unreadable.is_some() || is_other {
            self.is_replaced = true;
        } else if walked.stamp.len_bytes < self.fed_bytes {
            // Either it has grown since that walk, or it was truncated.
            self.open(0);
        } else {
            self.due_bytes = walked.stamp.len_bytes;
        }
    }

    /// The next block; `None` at the end.
    pub(crate) fn next(&mut self, buffers: &mut Buffers) -> Option<Arc<Block>> {
        loop {
            if let Some(block) = self.read(buffers) {
                return Some(block);
            }
            if let Some(block) = self.feed.as_ref().and_then(Feed::pop) {
                self.note_file(&block.file);
                if block.begin_bytes == self.fed_bytes && !self.is_replaced {
                    self.tail = None;
                    self.take(&block);
                    return Some(block);
                }
                self.due_bytes = self.due_bytes.max(block.fed_bytes);
            } else if self.fed_bytes < self.due_bytes {
                self.open(self.due_bytes);
            } else {
                return None;
            }
        }
    }

    /// Opens the file to read it up to `end`.
    fn open(&mut self, end: u64) {
        self.due_bytes = 0;
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
        self.note_file(&opened.id);
        self.is_replaced |= opened.len_bytes < self.fed_bytes;
        self.is_replaced |= self.fed_bytes > 0 && !is_stream(self.format);
        if !self.is_replaced && self.fed_bytes < opened.len_bytes {
            let end = end.min(opened.len_bytes);
            self.opened = Some((opened, end));
        }
    }

    /// Compares the file with the one read so far.
    fn note_file(&mut self, now: &Arc<FileId>) {
        self.is_replaced |= self.fed_bytes > 0 && !now.is_same(&self.id);
        if self.fed_bytes == 0 || now.head.0.len() > self.id.head.0.len() {
            self.id = Arc::clone(now);
        }
    }

    /// Decodes the next block of the opened file.
    fn read(&mut self, buffers: &mut Buffers) -> Option<Arc<Block>> {
        let (opened, end) = self.opened.as_ref()?;
        let resume = || Tail::new(self.format, &self.path, self.checkpoint.clone());
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
        self.fed_bytes = block.fed_bytes;
        let tags = &block.batch.new_tags;
        self.checkpoint.tags.extend_from_slice(tags);
        self.checkpoint.offset = block.offset;
        self.checkpoint.state.clone_from(&block.decoder);
        self.damages.extend_from_slice(&block.batch.damages);
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

/// True if later records follow those that were read. Other files are one whole, which is read again when it changes.
fn is_stream(format: Format) -> bool {
    !format.is_whole()
}
