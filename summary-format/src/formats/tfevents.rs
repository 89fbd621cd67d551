//! TensorBoard event files of both generations, and our own: the `Event` message and what its values are.
//!
//! Scalars are decoded, all other kinds are recognised and reported as unread. The first generation says what a value
//! is by the field it is written in, the second writes tensors and names a plugin, on the first value of a tag only.

use super::event_file::{At, coordinates, read_summary};
use super::tensor_proto;
use crate::record::{Kind, RecordBatch};
use crate::tags::TagTable;
use crate::wire::{Fields, Malformed, Value, bytes_of};

/// Reads one `Event`: wall time 1, step 2, and one of file version 3, graph 4, summary 5, log message 6, session log 7,
/// run metadata 8, meta graph 9, writer 10.
pub(crate) fn read_event(
    event: &[u8],
    tags: &mut TagTable,
    out: &mut RecordBatch,
) -> Result<(), Malformed> {
    if let Some((at, tag, value)) = usual_scalar(event) {
        at.scalar(tag, value.into(), tags, out);
        return Ok(());
    }
    let (at, body) = coordinates(event)?;
    match body {
        Some((5, summary)) => read_summary(summary, at, tags, out, read_value)?,
        // They say who wrote the file and when it was opened.
        Some((3 | 7 | 10, _)) => {}
        Some((4, _)) => at.unread(b"graph", Kind::Graphs, tags, out),
        Some((8, metadata)) => {
            let tag = bytes_of(metadata, 1)?.unwrap_or_default();
            at.unread(tag, Kind::Graphs, tags, out);
        }
        Some((9, _)) => at.unread(b"meta_graph", Kind::Graphs, tags, out),
        _ => out.skipped_records += 1,
    }
    Ok(())
}

/// An event that is, byte for byte, laid out as the writers of both generations lay out one `f32` with a tag below 100
/// bytes: nearly all events of most files. Reading it as a pattern is twice as fast as field by field, and gives the
/// same.
#[inline]
fn usual_scalar(event: &[u8]) -> Option<(At, &[u8], f32)> {
    // A tensor of type 1 (`f32`), no dimensions, four bytes of content; then the plugin, with or without a data class.
    const TENSOR: [u8; 8] = [0x42, 10, 0x08, 1, 0x12, 0, 0x22, 4];
    const PLUGIN: &[u8] = b"\x4a\x0b\x0a\x09\x0a\x07scalars";
    const PLUGIN_AND_CLASS: &[u8] = b"\x4a\x0d\x0a\x09\x0a\x07scalars\x20\x01";

    let (head, rest) = event.split_first_chunk::<10>()?;
    let [0x09, wall_time @ .., 0x10] = head else {
        return None;
    };
    let mut fields = Fields::of(rest);
    let step = fields.varint()?.cast_signed();
    let &[
        0x2a,
        summary_len,
        0x0a,
        value_len,
        0x0a,
        tag_len,
        ref rest @ ..,
    ] = fields.rest()
    else {
        return None;
    };
    // All in one byte each, and each thing ends where the thing around it ends.
    if summary_len >= 0x80
        || usize::from(value_len) != rest.len() + 2
        || usize::from(summary_len) != rest.len() + 4
    {
        return None;
    }
    let (tag, rest) = rest.split_at_checked(tag_len.into())?;
    let number = match rest {
        [0x15, number @ ..] if number.len() == 4 => number,
        _ => {
            let rest = rest.strip_prefix(&TENSOR)?;
            let (number, plugin) = rest.split_at_checked(4)?;
            if plugin != PLUGIN && plugin != PLUGIN_AND_CLASS {
                return None;
            }
            number
        }
    };
    let at = At {
        step,
        wall_time_secs: f64::from_le_bytes(*wall_time),
    };
    Some((at, tag, f32::from_le_bytes(*number.first_chunk()?)))
}

/// Reads a `Summary.Value`: tag 1, and one of simple value 2, image 4, histogram 5, audio 6, tensor 8; metadata 9 names
/// the plugin. Field 1000 is ours: the exact value where a simple value has lost bits.
#[inline]
fn read_value(
    value: &[u8],
    at: At,
    tags: &mut TagTable,
    out: &mut RecordBatch,
) -> Result<(), Malformed> {
    let mut tag: &[u8] = b"";
    let mut number = None;
    let mut is_exact = false;
    let mut kind = None;
    let mut tensor = None;
    let mut metadata = None;
    for field in Fields::of(value) {
        match field? {
            (1, Value::Bytes(bytes)) => tag = bytes,
            (2, Value::Fixed32(bits)) if !is_exact => {
                number = Some(f64::from(f32::from_bits(bits)));
            }
            (4, Value::Bytes(_)) => kind = Some(Kind::Images),
            (5, Value::Bytes(_)) => kind = Some(Kind::Histograms),
            (6, Value::Bytes(_)) => kind = Some(Kind::Audio),
            (8, Value::Bytes(bytes)) => tensor = Some(bytes),
            (9, Value::Bytes(bytes)) => metadata = Some(bytes),
            (1000, Value::Fixed64(bits)) => {
                number = Some(f64::from_bits(bits));
                is_exact = true;
            }
            _ => {}
        }
    }
    if let Some(number) = number {
        at.scalar(tag, number, tags, out);
        return Ok(());
    }
    if kind.is_none() {
        kind = match metadata {
            Some(metadata) => plugin_kind(metadata)?,
            None => None,
        };
    }
    // Hyper-parameters live in the metadata alone; everything else without a value says nothing.
    if kind.is_none() && tensor.is_some() {
        kind = tags.newest_kind(tag).or(Some(Kind::Tensors));
    }
    match (kind, tensor) {
        (Some(Kind::Scalars), Some(tensor)) => match tensor_proto::single_number(tensor)? {
            Some(number) => at.scalar(tag, number, tags, out),
            None => out.skipped_records += 1,
        },
        (None | Some(Kind::Scalars), _) => out.skipped_records += 1,
        (Some(kind), _) => at.unread(tag, kind, tags, out),
    }
    Ok(())
}

/// The kind that a `SummaryMetadata` names: plugin data 1, in it the name 1. `None` if it names none.
fn plugin_kind(metadata: &[u8]) -> Result<Option<Kind>, Malformed> {
    let Some(plugin_data) = bytes_of(metadata, 1)? else {
        return Ok(None);
    };
    let Some(name) = bytes_of(plugin_data, 1)? else {
        return Ok(None);
    };
    Ok(Some(match name {
        b"" => return Ok(None),
        b"scalars" => Kind::Scalars,
        b"histograms" => Kind::Histograms,
        b"images" => Kind::Images,
        b"audio" => Kind::Audio,
        b"text" => Kind::Text,
        b"tensor" => Kind::Tensors,
        b"hparams" => Kind::Hparams,
        b"pr_curves" => Kind::PrCurves,
        b"custom_scalars" => Kind::CustomScalars,
        b"mesh" => Kind::Meshes,
        b"projector" => Kind::Projector,
        name if name.starts_with(b"graph") => Kind::Graphs,
        _ => Kind::Unknown,
    }))
}
