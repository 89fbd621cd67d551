//! MindSpore summary, explain and lineage files: their `Event` messages and what their values are.
//!
//! Scalars are decoded, all other kinds are recognised and reported as unread. Tags are kept as the file has them.

use std::net::Ipv4Addr;

use super::event_file::{At, coordinates, read_summary};
use crate::record::{Kind, RecordBatch};
use crate::tags::TagTable;
use crate::wire::{Fields, Malformed, Value};

/// Whether a file name says that `summary.` and the second of its creation.
pub(super) fn claims(file_name: &str) -> bool {
    after_seconds(file_name).is_some()
}

/// What follows `summary.<seconds>`.
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
    event: &[u8],
    tags: &mut TagTable,
    out: &mut RecordBatch,
) -> Result<(), Malformed> {
    let (at, body) = coordinates(event)?;
    match body {
        Some((3, _)) => {}
        Some((4, _)) => at.unread(b"graph", Kind::Graphs, tags, out),
        Some((5, summary)) => read_summary(summary, at, tags, out, read_value)?,
        Some((6, _)) => at.unread(b"explain", Kind::Explanations, tags, out),
        _ => out.skipped_records += 1,
    }
    Ok(())
}

/// Reads one `LineageEvent`: wall time 1, step 2, and one of version 3, training 6, evaluation 7, data set graph 9,
/// information of the user 10.
pub(crate) fn read_lineage_event(
    event: &[u8],
    tags: &mut TagTable,
    out: &mut RecordBatch,
) -> Result<(), Malformed> {
    let (at, body) = coordinates(event)?;
    let tag: &[u8] = match body {
        Some((3, _)) => return Ok(()),
        Some((6, _)) => b"train_lineage",
        Some((7, _)) => b"evaluation_lineage",
        Some((9, _)) => b"dataset_graph",
        Some((10, _)) => b"user_defined_info",
        _ => {
            out.skipped_records += 1;
            return Ok(());
        }
    };
    at.unread(tag, Kind::Lineage, tags, out);
    Ok(())
}

/// Reads a `Summary.Value`: tag 1, and one of scalar 3, image 4, tensor 8, histogram 9, loss landscape 10.
fn read_value(
    value: &[u8],
    at: At,
    tags: &mut TagTable,
    out: &mut RecordBatch,
) -> Result<(), Malformed> {
    let mut tag: &[u8] = b"";
    let mut scalar = None;
    let mut kind = None;
    for field in Fields::of(value) {
        match field? {
            (1, Value::Bytes(bytes)) => tag = bytes,
            (3, Value::Fixed32(bits)) => scalar = Some(f32::from_bits(bits)),
            (4, Value::Bytes(_)) => kind = Some(Kind::Images),
            (8, Value::Bytes(_)) => kind = Some(Kind::Tensors),
            (9, Value::Bytes(_)) => kind = Some(Kind::Histograms),
            (10, Value::Bytes(_)) => kind = Some(Kind::Landscapes),
            _ => {}
        }
    }
    match (scalar, kind) {
        (Some(scalar), _) => at.scalar(tag, scalar.into(), tags, out),
        (None, Some(kind)) => at.unread(tag, kind, tags, out),
        (None, None) => out.skipped_records += 1,
    }
    Ok(())
}
