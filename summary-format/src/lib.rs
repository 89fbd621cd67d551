//! The records of a training run and the formats they are written in.
//!
//! Bytes go in, [`RecordBatch`]es come out; nothing here opens a file, starts a thread or waits. A [`Decoder`] is fed
//! the bytes of one file in any cuts and remembers what it needs between two of them.

pub mod decode;
pub mod float;
pub mod formats;
pub mod frame;
pub mod record;
mod tags;
pub mod tensor;
mod wire;

pub use decode::{Checkpoint, Decoder, Format, RestoreError, rank_hint, sniff};
pub use record::{Damage, Kind, RecordBatch, RunId, ScalarColumns, TagId, TagInfo, Unread};
