//! Tails one file: opens, checks that it is still the same file, decodes, publishes.
//!
//! Memory is bounded by the blocks in flight, for files of any size.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::mpsc;

use trainscope_format::{Checkpoint, Decoder};

use crate::discovery::file::{Head, Identity};
use crate::files;
use crate::index::{Block, Index, Source, Staging};

/// Size of a decoded block.
const BLOCK_BYTES: usize = 1 << 20;
/// Bytes read in one turn, so that a huge file does not delay the growing ones.
const TURN_BYTES: u64 = 64 << 20;
/// Size from which on decoding and publishing run on two threads.
const PIPELINE_BYTES: u64 = 4 << 20;

/// A decoder between two turns, with the number of bytes fed.
pub(crate) struct Tail {
    decoder: Box<dyn Decoder>,
    fed_bytes: u64,
}

/// Result of a turn.
pub(crate) enum Outcome {
    /// Read to the current end of the file.
    Done(Tail),
    /// There is more to read.
    More(Tail),
    /// The file was replaced or truncated: read it from the start.
    Replaced,
    /// It could not be opened or read; the sentence is the reason.
    Failed(String),
}

/// State of a worker between turns.
#[derive(Default)]
pub(crate) struct Worker {
    staging: Staging,
    buffer: Vec<u8>,
    block: Block,
}

impl Worker {
    /// Reads one turn of a source.
    pub(crate) fn turn(&mut self, source: &Source, tail: Option<Tail>, index: &Index) -> Outcome {
        let path = source.place().full;
        match self.read(source, tail, index, &path) {
            Ok(outcome) => outcome,
            Err(e) => Outcome::Failed(format!("it cannot be read: {e}")),
        }
    }

    fn read(
        &mut self,
        source: &Source,
        tail: Option<Tail>,
        index: &Index,
        path: &Path,
    ) -> std::io::Result<Outcome> {
        let mut file = files::open(path)?;
        let metadata = file.metadata()?;
        let (len, state) = (metadata.len(), source.state());
        let now = Head::read(&mut file)?;
        if Identity::of(&metadata) != source.identity
            || len < state.fed_bytes
            || !source.is_same(&now)
        {
            return Ok(Outcome::Replaced);
        }
        source.with_state(|state| {
            state.head = now;
            state.resize(len);
            state.modified = metadata.modified().ok();
            state.unreadable = None;
        });
        let mut tail = match tail {
            Some(tail) => tail,
            None => resume(source),
        };
        let begin = tail.fed_bytes;
        file.seek(SeekFrom::Start(begin))?;
        let end = len.min(tail.fed_bytes + TURN_BYTES);
        if end - tail.fed_bytes >= PIPELINE_BYTES {
            self.read_on_two_threads(source, index, &mut file, &mut tail, end)?;
        } else {
            self.buffer.resize(BLOCK_BYTES, 0);
            while tail.fed_bytes < end
                && tail.fill(&mut file, end, &mut self.buffer, &mut self.block)?
            {
                index.publish(source, &self.block, &mut self.staging);
            }
        }
        if tail.fed_bytes < len && tail.fed_bytes == end {
            return Ok(Outcome::More(tail));
        }
        // Not after a small addition: sealing takes time for all open chunks.
        if tail.fed_bytes - begin > begin {
            index.pack(source);
        }
        Ok(Outcome::Done(tail))
    }

    /// The caller's thread publishes while another one reads and decodes.
    fn read_on_two_threads(
        &mut self,
        source: &Source,
        index: &Index,
        file: &mut File,
        tail: &mut Tail,
        end: u64,
    ) -> std::io::Result<()> {
        let (full, decoded) = mpsc::sync_channel::<Block>(2);
        let (empty, reusable) = mpsc::channel::<Block>();
        let buffer = &mut self.buffer;
        std::thread::scope(|scope| {
            let read = std::thread::Builder::new()
                .name("decode".to_owned())
                .spawn_scoped(scope, move || {
                    buffer.resize(BLOCK_BYTES, 0);
                    while tail.fed_bytes < end {
                        let mut block = reusable.try_recv().unwrap_or_default();
                        if !tail.fill(file, end, buffer, &mut block)? || full.send(block).is_err() {
                            break;
                        }
                    }
                    Ok(())
                })?;
            for block in decoded {
                index.publish(source, &block, &mut self.staging);
                // The reader has ended: there is nothing to reuse.
                let _ended = empty.send(block);
            }
            read.join()
                .unwrap_or_else(|_| Err(std::io::Error::other("the decoder ended unexpectedly")))
        })
    }
}

impl Tail {
    /// Decodes the next block of the file into `block`; false at its end.
    fn fill(
        &mut self,
        file: &mut File,
        end: u64,
        buffer: &mut [u8],
        block: &mut Block,
    ) -> std::io::Result<bool> {
        let wanted =
            usize::try_from(end - self.fed_bytes).map_or(buffer.len(), |n| n.min(buffer.len()));
        let n = file.read(&mut buffer[..wanted])?;
        if n == 0 {
            return Ok(false);
        }
        block.batch.clear();
        self.decoder.push(&buffer[..n], &mut block.batch);
        self.fed_bytes += n as u64;
        let Checkpoint { offset, state, .. } = self.decoder.checkpoint();
        block.fed_bytes = self.fed_bytes;
        block.offset = offset;
        block.decoder = state;
        block.open_damage = self.decoder.open_damage();
        Ok(true)
    }
}

/// A decoder that resumes after the source's records.
fn resume(source: &Source) -> Tail {
    let path = source.place().full;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let checkpoint = source.checkpoint();
    let fed_bytes = checkpoint.offset;
    match source.format.resume(&name, checkpoint) {
        Ok(decoder) => Tail { decoder, fed_bytes },
        // A checkpoint of another version would come with another index, so nothing is read twice.
        Err(_) => Tail {
            decoder: source.format.decoder(&name),
            fed_bytes: 0,
        },
    }
}
