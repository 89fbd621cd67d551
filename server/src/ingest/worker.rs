//! Reads files for the index, one turn at a time.
//!
//! Memory is bounded by the blocks in flight, for files of any size: at most four per worker, and those that wait in
//! feeds.

use std::io;
use std::path::Path;
use std::sync::{Arc, mpsc};

use crate::discovery::file::OpenFile;
use crate::files;
use crate::index::{Index, Source, Staging};
use crate::reader::{Block, Feeds, Tail};

/// Bytes read in one turn, so that a huge file does not delay the growing ones.
const TURN_BYTES: u64 = 64 << 20;
/// Minimum size for decoding and publishing on two threads.
const PIPELINE_BYTES: u64 = 4 << 20;

/// Maximum number of times that an object is read again, because it was changed while it was read.
const MAX_CHANGES: u32 = 3;

/// Result of a turn.
pub(super) enum Outcome {
    /// Read to the current end of the file.
    Done(Tail),
    /// There is more to read.
    More(Tail),
    /// The file was replaced or truncated: read it from the start.
    Replaced,
    /// It could not be opened or read; the sentence is the reason.
    Failed(String),
}

/// Reads files of the index.
pub(super) struct Worker {
    output: Output,
    buffer: Vec<u8>,
    block: Block,
}

/// Receivers of decoded blocks.
struct Output {
    index: Index,
    feeds: Feeds,
    staging: Staging,
}

impl Output {
    /// Publishes a block and hands it on; returns it for reuse if no feed holds it.
    fn publish(&mut self, source: &Source, path: &Path, block: Block) -> Block {
        let block = Arc::new(block);
        self.index.publish(source, &block, &mut self.staging);
        self.feeds.push(path, &block);
        Arc::try_unwrap(block).unwrap_or_default()
    }
}

impl Worker {
    pub(super) fn new(index: &Index, feeds: &Feeds) -> Self {
        Self {
            output: Output {
                index: index.clone(),
                feeds: feeds.clone(),
                staging: Staging::default(),
            },
            buffer: Vec::new(),
            block: Block::default(),
        }
    }

    /// Reads one turn of a source.
    pub(super) fn turn(&mut self, source: &Source, tail: Option<Tail>) -> Outcome {
        let path = source.place().full;
        let mut read = self.read(source, tail, &path);
        for _ in 0..MAX_CHANGES {
            match &read {
                Err(error) if files::is_conflict(error) && files::look_again(&path) => {}
                _ => break,
            }
            read = self.read(source, None, &path);
        }
        read.unwrap_or_else(|e| Outcome::Failed(format!("it cannot be read: {e}")))
    }

    fn read(&mut self, source: &Source, tail: Option<Tail>, path: &Path) -> io::Result<Outcome> {
        let opened = OpenFile::open(path)?;
        if !source.is_same(&opened) {
            return Ok(Outcome::Replaced);
        }
        source.with_state(|state| {
            state.head.clone_from(&opened.id.head);
            state.resize(opened.len_bytes);
            state.modified = opened.modified;
            state.unreadable = None;
        });
        let resume = || Tail::new(source.format, path, source.checkpoint());
        let mut tail = tail.unwrap_or_else(resume);
        let begin = tail.fed_bytes;
        let end = opened.len_bytes.min(begin + TURN_BYTES);
        if end - begin >= PIPELINE_BYTES {
            self.read_on_two_threads(source, path, &opened, &mut tail, end)?;
        } else {
            while tail.fill(&opened, end, &mut self.buffer, &mut self.block)? {
                let block = std::mem::take(&mut self.block);
                self.block = self.output.publish(source, path, block);
            }
        }
        if tail.fed_bytes < opened.len_bytes && tail.fed_bytes == end {
            return Ok(Outcome::More(tail));
        }
        // Not after a small addition: sealing takes time for all open chunks.
        if tail.fed_bytes - begin > begin {
            self.output.index.pack(source);
        }
        Ok(Outcome::Done(tail))
    }

    /// The caller's thread publishes while another one reads and decodes.
    fn read_on_two_threads(
        &mut self,
        source: &Source,
        path: &Path,
        opened: &OpenFile,
        tail: &mut Tail,
        end: u64,
    ) -> io::Result<()> {
        let (full, decoded) = mpsc::sync_channel::<Block>(2);
        let (empty, reusable) = mpsc::channel::<Block>();
        let buffer = &mut self.buffer;
        std::thread::scope(|scope| {
            let read = std::thread::Builder::new()
                .name("decode".to_owned())
                .spawn_scoped(scope, move || {
                    loop {
                        let mut block = reusable.try_recv().unwrap_or_default();
                        let is_filled = tail.fill(opened, end, buffer, &mut block)?;
                        if !is_filled || full.send(block).is_err() {
                            return Ok(());
                        }
                    }
                })?;
            for block in decoded {
                let reusable = self.output.publish(source, path, block);
                // The reader has ended: there is nothing to reuse.
                let _ended = empty.send(reusable);
            }
            read.join()
                .unwrap_or_else(|_| Err(io::Error::other("the decoder ended unexpectedly")))
        })
    }
}
