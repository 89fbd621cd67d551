//! Placeholder until the decoder is written.
use crate::decode::{Checkpoint, Decoder, RestoreError};
use crate::record::{Damage, RecordBatch};

/// Decoder of this format.
#[derive(Default)]
pub struct MindsporeSummaryDecoder {
    offset: u64,
}

impl MindsporeSummaryDecoder {
    /// From the first byte.
    pub fn new() -> Self {
        Self::default()
    }
    /// From a checkpoint.
    pub fn resume(from: Checkpoint) -> Result<Self, RestoreError> {
        Ok(Self {
            offset: from.offset,
        })
    }
}

impl Decoder for MindsporeSummaryDecoder {
    fn push(&mut self, bytes: &[u8], _out: &mut RecordBatch) {
        self.offset += bytes.len() as u64;
    }
    fn offset(&self) -> u64 {
        self.offset
    }
    fn open_damage(&self) -> Option<Damage> {
        None
    }
    fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            offset: self.offset,
            ..Checkpoint::default()
        }
    }
}
