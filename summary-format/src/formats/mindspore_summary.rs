//! MindSpore summary, explain and lineage files: their `Event` messages and the kinds of their values.
//!
//! Tags are unchanged.

mod explanation;
mod histogram;
mod landscape;
mod lineage;
mod metrics;
mod tensor;

use std::net::Ipv4Addr;

use super::event_file::{At, Source, coordinates, read_summary};
use super::media;
use crate::body::{Body, GraphFormat, GraphSource};
use crate::kind::Kind;
use crate::record::RecordBatch;
use crate::tags::TagTable;
use crate::wire::{Fields, Value, WireError};

/// `true` if a file name contains `summary.` followed by the second of its creation.
pub(super) fn claims(file_name: &str) -> bool {
    after_seconds(file_name).is_some()
}

/// The rest of a name after `summary.<seconds>`.
fn after_seconds(file_name: &str) -> Option<&str> {
    let (_, after) = file_name.split_once("summary.")?;
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < after.len()).then_some(rest)
}

/// The rank in `summary.<seconds>.<rank>.<host>_MS`. Older names have no rank, and their host may be an address.
pub(crate) fn rank_hint(file_name: &str) -> Option<u32> {
    let rest = after_seconds(file_name)?.strip_prefix('.')?;
    let (rank, _host) = rest.split_once('.')?;
    let address = rest.rsplit_once('_').map_or(rest, |(host, _suffix)| host);
    if address.parse::<Ipv4Addr>().is_ok() {
        return None;
    }
    rank.parse().ok()
}

/// Reads one `Event` of a summary or explain file: wall time 1, step 2, and one of version 3, graph 4, summary 5,
/// explanation 6.
pub(crate) fn read_event(
    event: Source<'_>,
    tags: &mut TagTable,
    out: &mut RecordBatch,
) -> Result<(), WireError> {
    let (at, content) = coordinates(event)?;
    match content {
        Some((3, _)) => {}
        Some((4, graph)) => {
            let body = Body::Graph(GraphSource {
                format: GraphFormat::MindsporeGraph,
                data: event.stretch(graph),
            });
            at.record((b"graph", Kind::Graphs), Ok(body), graph, tags, out);
        }
        Some((5, summary)) => read_summary(summary, at, tags, out, read_value)?,
        Some((6, message)) => {
            let body = explanation::read(message);
            at.record((b"explain", Kind::Explanations), body, message, tags, out);
        }
        _ => out.skipped_records += 1,
    }
    Ok(())
}

/// Reads one `LineageEvent`: wall time 1, step 2, and one of version 3, training 6, evaluation 7, data set graph 9,
/// user-defined information 10.
pub(crate) fn read_lineage_event(
    event: Source<'_>,
    tags: &mut TagTable,
    out: &mut RecordBatch,
) -> Result<(), WireError> {
    let (at, content) = coordinates(event)?;
    let (tag, body, message): (&[u8], _, _) = match content {
        Some((3, _)) => return Ok(()),
        Some((6, message)) => (b"train_lineage", lineage::training(message), message),
        Some((7, message)) => (b"evaluation_lineage", lineage::evaluation(message), message),
        Some((9, message)) => (b"dataset_graph", lineage::dataset(message), message),
        Some((10, message)) => (
            b"user_defined_info",
            lineage::user_defined(message),
            message,
        ),
        _ => {
            out.skipped_records += 1;
            return Ok(());
        }
    };
    let body = body.map(|lineage| Body::Lineage(Box::new(lineage)));
    at.record((tag, Kind::Lineage), body, message, tags, out);
    Ok(())
}

/// Reads a `Summary.Value`: tag 1, and one of scalar 3, image 4, tensor 8, histogram 9, loss landscape 10.
fn read_value(
    value: &[u8],
    at: At<'_>,
    tags: &mut TagTable,
    out: &mut RecordBatch,
) -> Result<(), WireError> {
    let mut tag: &[u8] = b"";
    let mut scalar = None;
    let mut content = None;
    for field in Fields::of(value) {
        match field? {
            (1, Value::Bytes(bytes)) => tag = bytes,
            (3, Value::Fixed32(bits)) => scalar = Some(f32::from_bits(bits)),
            (number @ (4 | 8 | 9 | 10), Value::Bytes(bytes)) => content = Some((number, bytes)),
            _ => {}
        }
    }
    if let Some(scalar) = scalar {
        at.scalar(tag, scalar.into(), tags, out);
        return Ok(());
    }
    let (kind, body) = match content {
        Some((4, message)) => (Kind::Images, media::image(message, at.source)),
        Some((8, message)) => (Kind::Tensors, tensor::read(message, at.source)),
        Some((9, message)) => (Kind::Histograms, histogram::read(message)),
        Some((_, message)) => (Kind::Landscapes, landscape::read(message)),
        None => {
            out.skipped_records += 1;
            return Ok(());
        }
    };
    at.record((tag, kind), body, value, tags, out);
    Ok(())
}
