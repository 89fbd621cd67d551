//! Decodes one file block by block, from its start or from a checkpoint.

use std::io;
use std::path::Path;
use std::sync::Arc;

use trainscope_format::{Checkpoint, Damage, Decoder, Format, RecordBatch};

use crate::discovery::file::{FileId, OpenFile};

/// Number of bytes in a block.
const BLOCK_BYTES: usize = 1 << 20;

/// Decoded block of a file.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) batch: RecordBatch,
    /// The file, as it was opened.
    pub(crate) file: Arc<FileId>,
    /// Number of bytes fed before this block.
    pub(crate) begin_bytes: u64,
    /// Number of bytes of the file that its records take; some may have been fed with earlier blocks.
    pub(crate) record_bytes: u64,
    /// Bytes fed so far.
    pub(crate) fed_bytes: u64,
    /// The decoder's offset after them.
    pub(crate) offset: u64,
    /// State of the decoder.
    pub(crate) decoder: Vec<u8>,
    /// Damage whose end has not been reached.
    pub(crate) open_damage: Option<Damage>,
}

/// Value of [`Block::begin_bytes`] at no offset.
const NOWHERE: u64 = u64::MAX;

impl Block {
    /// A block that only has the progress in the file.
    pub(super) fn without_records(&self) -> Self {
        Self {
            file: Arc::clone(&self.file),
            begin_bytes: NOWHERE,
            fed_bytes: self.fed_bytes,
            ..Self::default()
        }
    }

    /// True if its records are missing.
    pub(super) fn is_gap(&self) -> bool {
        self.begin_bytes == NOWHERE
    }
}

/// A decoder between two blocks, with the number of bytes fed.
pub(crate) struct Tail {
    decoder: Box<dyn Decoder>,
    pub(crate) fed_bytes: u64,
}

impl Tail {
    /// A tail that continues after the records of a checkpoint; the default one is the start of the file.
    pub(crate) fn new(format: Format, path: &Path, from: Checkpoint) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let fed_bytes = from.offset;
        match format.resume(&name, from) {
            Ok(decoder) => Self { decoder, fed_bytes },
            // A checkpoint of another version would come with another index, so nothing is read twice.
            Err(_) => Self {
                decoder: format.decoder(&name),
                fed_bytes: 0,
            },
        }
    }

    /// Decodes the next bytes before `end` into `block`; false at the end.
    pub(crate) fn fill(
        &mut self,
        opened: &OpenFile,
        end: u64,
        buffer: &mut Vec<u8>,
        block: &mut Block,
    ) -> io::Result<bool> {
        let left = end.saturating_sub(self.fed_bytes);
        if left == 0 {
            return Ok(false);
        }
        block.batch.clear();
        let before = self.decoder.offset();
        block.begin_bytes = self.fed_bytes;
        block.file = Arc::clone(&opened.id);
        // Files of profilers have gigabytes.
        if self.decoder.skip(left) {
            self.fed_bytes = end;
            self.describe(before, block);
            return Ok(true);
        }
        let len = usize::try_from(left).map_or(BLOCK_BYTES, |left| left.min(BLOCK_BYTES));
        if buffer.len() < len {
            // No larger: clearing a whole block for each of many short files takes longer than reading them.
            buffer.resize(len, 0);
        }
        let n = opened.file.read_at(&mut buffer[..len], self.fed_bytes)?;
        if n == 0 {
            return Ok(false);
        }
        self.decoder.push(&buffer[..n], &mut block.batch);
        self.fed_bytes += n as u64;
        self.describe(before, block);
        Ok(true)
    }

    /// The state after the bytes of a block.
    fn describe(&self, before: u64, block: &mut Block) {
        let Checkpoint { offset, state, .. } = self.decoder.checkpoint();
        block.fed_bytes = self.fed_bytes;
        block.record_bytes = offset.saturating_sub(before);
        block.offset = offset;
        block.decoder = state;
        block.open_damage = self.decoder.open_damage();
    }
}
