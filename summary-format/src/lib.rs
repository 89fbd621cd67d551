//! The records of a training run and the formats they are written in.
//!
//! Bytes go in, [`RecordBatch`]es come out; no function here opens a file, starts a thread or waits. A [`Decoder`] is
//! fed the bytes of one file in any cuts and keeps its state between calls.
//!
//! ```
//! use trainscope_format::encode::Moment;
//! use trainscope_format::{RecordBatch, RecordWriter, sniff};
//!
//! let mut writer = RecordWriter::new(Vec::new(), 1.7e9)?;
//! let at = Moment { step: 3, wall_time_secs: 1.7e9 };
//! writer.scalar("loss", at, f64::NAN)?;
//! let file = writer.into_inner();
//!
//! let name = "events.out.tfevents.1700000000.host";
//! let format = sniff(name, Vec::new).expect("an event file by its name");
//! let mut decoder = format.decoder(name);
//! let mut batch = RecordBatch::default();
//! for piece in file.chunks(7) {
//!     decoder.push(piece, &mut batch);
//! }
//! assert_eq!(&*batch.new_tags[0].name, "loss");
//! assert_eq!(batch.scalars.steps, [3]);
//! assert!(batch.scalars.values[0].is_nan());
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod body;
pub mod collection;
pub mod csv;
pub mod decode;
pub mod digits;
pub mod encode;
pub mod explanation;
pub mod float;
pub mod formats;
pub mod frame;
pub mod graph;
pub mod histogram;
pub mod hparams;
pub mod kind;
pub mod layout;
pub mod lineage;
pub mod media;
mod message;
pub mod profile;
pub mod program;
pub mod queues;
pub mod record;
pub mod session;
pub mod statistics;
pub mod stretch;
pub mod surface;
mod tags;
pub mod tensor;
pub mod trace;
pub mod values;
mod wire;

pub use body::{Body, GraphFormat, GraphSource, PrCurve};
pub use collection::{CollectorLoss, DumpRef, Severity, WatchHit};
pub use decode::{Checkpoint, Decoder, Format, RestoreError};
pub use encode::RecordWriter;
pub use explanation::Explanation;
pub use formats::{rank_hint, sniff};
pub use graph::Graph;
pub use histogram::Histogram;
pub use hparams::Hparams;
pub use kind::Kind;
pub use layout::ChartLayout;
pub use lineage::Lineage;
pub use media::{Audio, ImageEncoding, Images};
pub use profile::{Profile, ProfileSource};
pub use program::{ProgramFact, SourceLine};
pub use queues::{QueueFormat, QueueSource};
pub use record::{
    Damage, Record, RecordBatch, ScalarColumns, SessionStart, TagId, TagInfo, UnreadRecord,
};
pub use statistics::{Role, TensorSummary};
pub use stretch::Stretch;
pub use surface::Landscape;
pub use values::{OpaqueTensor, Tensor, TensorData, Text};
