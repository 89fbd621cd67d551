//! A file that is a graph and nothing else: one record, which points at all of the file and is read when somebody looks.

use crate::body::{Body, GraphFormat, GraphSource, Stretch};
use crate::decode::{Checkpoint, Decoder};
use crate::record::{Damage, Kind, Record, RecordBatch, TagId, TagInfo};

/// Counts the bytes of a graph; the first one is the record.
pub(crate) struct GraphFile {
    format: GraphFormat,
    tag: TagInfo,
    offset: u64,
}

impl GraphFile {
    /// A file of this name of which so many bytes were read.
    pub(crate) fn at(format: GraphFormat, file_name: &str, offset: u64) -> Self {
        let stem = file_name.rsplit_once('.').map_or(file_name, |name| name.0);
        let tag = TagInfo {
            name: stem.into(),
            kind: Kind::Graphs,
        };
        Self {
            format,
            tag,
            offset,
        }
    }
}

impl Decoder for GraphFile {
    fn push(&mut self, bytes: &[u8], out: &mut RecordBatch) {
        if self.offset == 0 && !bytes.is_empty() {
            out.new_tags.push(self.tag.clone());
            out.records.push(Record {
                tag: TagId(0),
                step: 0,
                // Only the program that wrote it knows.
                wall_time_secs: f64::NAN,
                body: Body::Graph(GraphSource {
                    format: self.format,
                    data: Stretch::WHOLE_FILE,
                }),
            });
        }
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
            tags: (self.offset > 0)
                .then(|| self.tag.clone())
                .into_iter()
                .collect(),
            state: Vec::new(),
        }
    }
}
