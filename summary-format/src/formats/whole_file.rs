//! Files that hold a single object: one record that refers to the whole file, which is read on demand.

use crate::body::Body;
use crate::decode::{Checkpoint, Decoder};
use crate::record::{Damage, Record, RecordBatch, TagId, TagInfo};

/// Counts the bytes of a file; the first one yields the record.
pub(crate) struct WholeFile {
    body: Body,
    tag: TagInfo,
    offset: u64,
}

impl WholeFile {
    /// Decoder of a file of which `offset` bytes have been read.
    pub(crate) fn at(body: Body, file_name: &str, offset: u64) -> Self {
        let stem = file_name.rsplit_once('.').map_or(file_name, |name| name.0);
        let tag = TagInfo {
            name: stem.into(),
            kind: body.kind(),
        };
        Self { body, tag, offset }
    }
}

impl Decoder for WholeFile {
    fn push(&mut self, bytes: &[u8], out: &mut RecordBatch) {
        if self.offset == 0 && !bytes.is_empty() {
            out.new_tags.push(self.tag.clone());
            out.records.push(Record {
                tag: TagId(0),
                step: 0,
                // Only the program that wrote it knows the time.
                wall_time_secs: f64::NAN,
                body: self.body.clone(),
            });
        }
        self.offset += bytes.len() as u64;
    }

    fn skip(&mut self, len_bytes: u64) -> bool {
        let has_record = self.offset > 0;
        if has_record {
            self.offset += len_bytes;
        }
        has_record
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
            tags: (self.offset > 0)
                .then(|| self.tag.clone())
                .into_iter()
                .collect(),
            state: Vec::new(),
        }
    }
}
