//! Records that `TensorBoard` has no message for: the messages of field 1002, reader and writer side by side.
//!
//! Each submodule owns one message: `write` and `read` are inverse to each other.

pub(crate) mod collection;
pub(crate) mod graph;
pub(crate) mod landscape;
pub(crate) mod lineage;
pub(crate) mod profile;
pub(crate) mod program;
pub(crate) mod statistics;

use super::event_file::{At, Fault};
use crate::body::{Body, GraphFormat, GraphSource};
use crate::kind::Kind;
use crate::message::Message;
use crate::profile::ProfileSource;
use crate::record::RecordBatch;
use crate::tags::TagTable;
use crate::wire::{Fields, Value, WireError};

/// Version of the layout. New fields do not change it; changes that an old reader would misread do.
const VERSION: u64 = 1;

/// The field of each message.
pub(crate) const STATISTICS: u32 = 2;
pub(crate) const LINEAGE: u32 = 3;
pub(crate) const GRAPH: u32 = 4;
pub(crate) const PROFILE: u32 = 5;
pub(crate) const DUMP: u32 = 6;
pub(crate) const HIT: u32 = 7;
pub(crate) const LOSS: u32 = 8;
pub(crate) const LANDSCAPE: u32 = 9;
pub(crate) const PROGRAM: u32 = 10;

/// The content of field 1002: version 1, and one of the messages above.
pub(crate) fn envelope(number: u32, message: &Message) -> Message {
    let mut envelope = Message::default();
    envelope.varint(1, VERSION);
    envelope.message(number, message);
    envelope
}

/// Reads field 1002 of a value. Unknown versions and messages are counted as unread.
pub(super) fn read(
    envelope: &[u8],
    tag: &[u8],
    at: At<'_>,
    tags: &mut TagTable,
    out: &mut RecordBatch,
) -> Result<(), WireError> {
    let mut version = 0;
    let mut content = None;
    for field in Fields::of(envelope) {
        match field? {
            (1, Value::Varint(number)) => version = number,
            (number @ STATISTICS..=PROGRAM, Value::Bytes(message)) => {
                content = Some((number, message));
            }
            _ => {}
        }
    }
    let Some((number, message)) = content.filter(|_| version == VERSION) else {
        at.unread(tag, Kind::Unknown, tags, out);
        return Ok(());
    };
    let (kind, body) = match number {
        STATISTICS => {
            // One record per tensor; if the columns disagree, none can be assigned.
            match statistics::read(message) {
                Ok(rows) => {
                    for (name, summary) in rows {
                        let body = Ok(Body::Statistics(Box::new(summary)));
                        at.record((name, Kind::Statistics), body, message, tags, out);
                    }
                }
                Err(fault) => at.record((tag, Kind::Statistics), Err(fault), message, tags, out),
            }
            return Ok(());
        }
        LINEAGE => (
            Kind::Lineage,
            lineage::read(message).map(|lineage| Body::Lineage(Box::new(lineage))),
        ),
        GRAPH => {
            let format = GraphFormat::Native;
            let data = at.source.stretch(message);
            (Kind::Graphs, Ok(Body::Graph(GraphSource { format, data })))
        }
        PROFILE => (
            Kind::Profile,
            profile_source(message, at).map(Body::Profile),
        ),
        DUMP => (Kind::Dumps, collection::read_dump(message).map(Body::Dump)),
        HIT => (Kind::Hits, collection::read_hit(message).map(Body::Hit)),
        LOSS => (Kind::Losses, collection::read_loss(message).map(Body::Loss)),
        PROGRAM => {
            match program::read(message) {
                Ok(fact) => {
                    let tag = fact.tag();
                    let body = Ok(Body::Program(Box::new(fact)));
                    at.record((tag.as_bytes(), Kind::Program), body, message, tags, out);
                }
                Err(fault) => at.record((tag, Kind::Program), Err(fault), message, tags, out),
            }
            return Ok(());
        }
        _ => (
            Kind::Landscapes,
            landscape::read(message).map(|landscape| Body::Landscape(Box::new(landscape))),
        ),
    };
    at.record((tag, kind), body, message, tags, out);
    Ok(())
}

fn profile_source(message: &[u8], at: At<'_>) -> Result<ProfileSource, Fault> {
    let wrong =
        |_| Fault("the columns of a profile disagree or are truncated, or it exceeds 64 MiB");
    let profile = profile::read(message).map_err(wrong)?;
    let (from_nanos, to_nanos) = profile.extent_nanos().unwrap_or_default();
    Ok(ProfileSource {
        data: at.source.stretch(message),
        spans: profile.spans.len() as u64,
        counters: profile.counters.len() as u64,
        from_nanos,
        to_nanos,
    })
}
