//! TensorBoard event files of both generations, and those of this crate: the `Event` message and the kinds of its
//! values.
//!
//! In the first generation the field of a value determines its kind; the second writes tensors and names a plugin, on
//! the first value of a tag only. Meshes, projections and unknown plugins are reported as unread.

mod histogram;
mod hparams;
mod layout;
mod pr_curve;
mod scalar;

use super::event_file::{At, Fault, Source, coordinates, read_summary};
use super::tensor_proto::TensorProto;
use super::{media, native};
use crate::body::{Body, GraphFormat, GraphSource};
use crate::kind::Kind;
use crate::record::{RecordBatch, SessionStart};
use crate::tags::TagTable;
use crate::wire::{Fields, Value, WireError, bytes_of};

/// Reads one `Event`: wall time 1, step 2, and one of file version 3, graph 4, summary 5, log message 6, session log 7,
/// run metadata 8, meta graph 9, writer 10.
pub(crate) fn read_event(
    event: Source<'_>,
    tags: &mut TagTable,
    out: &mut RecordBatch,
) -> Result<(), WireError> {
    if let Some((at, tag, value)) = usual_scalar(event) {
        at.scalar(tag, value.into(), tags, out);
        return Ok(());
    }
    let (at, content) = coordinates(event)?;
    let (tag, format, graph): (&[u8], _, _) = match content {
        Some((5, summary)) => return read_summary(summary, at, tags, out, read_value),
        // File version and name of the writer.
        Some((3 | 10, _)) => return Ok(()),
        Some((7, log)) => {
            if status_of(log)? == SESSION_START {
                out.session_starts.push(SessionStart {
                    step: at.step,
                    wall_time_secs: at.wall_time_secs,
                });
            }
            return Ok(());
        }
        Some((4, graph)) => (b"graph", GraphFormat::TfGraphDef, graph),
        Some((8, tagged)) => {
            let tag = bytes_of(tagged, 1)?.unwrap_or_default();
            let metadata = bytes_of(tagged, 2)?.unwrap_or(&tagged[..0]);
            (tag, GraphFormat::TfRunMetadata, metadata)
        }
        Some((9, graph)) => (b"meta_graph", GraphFormat::TfMetaGraphDef, graph),
        _ => {
            out.skipped_records += 1;
            return Ok(());
        }
    };
    let data = event.stretch(graph);
    let body = Body::Graph(GraphSource { format, data });
    at.record((tag, Kind::Graphs), Ok(body), graph, tags, out);
    Ok(())
}

/// `SessionLog.START`.
const SESSION_START: u64 = 1;

/// Status of a `SessionLog`, field 1; 0 if there is none.
fn status_of(log: &[u8]) -> Result<u64, WireError> {
    let mut status = 0;
    for field in Fields::of(log) {
        if let (1, Value::Varint(value)) = field? {
            status = value;
        }
    }
    Ok(status)
}

/// Fast path for events with the exact byte layout of both generations' writers for one `f32` with a tag below 100
/// bytes: nearly all events of most files. Twice as fast as field by field, with the same result.
#[inline]
fn usual_scalar(source: Source<'_>) -> Option<(At<'_>, &[u8], f32)> {
    // A tensor of type 1 (`f32`), no dimensions, four bytes of content; then the plugin, with or without a data class.
    const TENSOR: [u8; 8] = [0x42, 10, 0x08, 1, 0x12, 0, 0x22, 4];
    const PLUGIN: &[u8] = b"\x4a\x0b\x0a\x09\x0a\x07scalars";
    const PLUGIN_AND_CLASS: &[u8] = b"\x4a\x0d\x0a\x09\x0a\x07scalars\x20\x01";

    let (head, rest) = source.payload.split_first_chunk::<10>()?;
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
    // All lengths are one byte each, and each message ends together with its parent.
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
        source,
    };
    Some((at, tag, f32::from_le_bytes(*number.first_chunk()?)))
}

/// Reads a `Summary.Value`: tag 1, and one of simple value 2, image 4, histogram 5, audio 6, tensor 8; metadata 9 names
/// the plugin. Field numbers of at least 1000 belong to this crate: the exact value 1000 if a simple value has lost
/// bits, 1001 the parts of a histogram that a tensor of bins lacks, and 1002 the messages of the native plugin.
#[inline]
fn read_value(
    value: &[u8],
    at: At<'_>,
    tags: &mut TagTable,
    out: &mut RecordBatch,
) -> Result<(), WireError> {
    let mut tag: &[u8] = b"";
    let mut number = None;
    let mut is_exact = false;
    let mut exact = None;
    let mut ours = None;
    let mut first_generation = None;
    let mut tensor = None;
    let mut metadata = None;
    for field in Fields::of(value) {
        match field? {
            (1, Value::Bytes(bytes)) => tag = bytes,
            (2, Value::Fixed32(bits)) if !is_exact => {
                number = Some(f64::from(f32::from_bits(bits)));
            }
            (4, Value::Bytes(bytes)) => first_generation = Some((Kind::Images, bytes)),
            (5, Value::Bytes(bytes)) => first_generation = Some((Kind::Histograms, bytes)),
            (6, Value::Bytes(bytes)) => first_generation = Some((Kind::Audio, bytes)),
            (8, Value::Bytes(bytes)) => tensor = Some(bytes),
            (9, Value::Bytes(bytes)) => metadata = Some(bytes),
            (1000, Value::Fixed64(bits)) => {
                number = Some(f64::from_bits(bits));
                is_exact = true;
            }
            (1001, Value::Bytes(bytes)) => exact = Some(bytes),
            (1002, Value::Bytes(bytes)) => ours = Some(bytes),
            _ => {}
        }
    }
    if let Some(number) = number {
        at.scalar(tag, number, tags, out);
        return Ok(());
    }
    if let Some(ours) = ours {
        return native::read(ours, tag, at, tags, out);
    }
    if let Some((kind, message)) = first_generation {
        let body = match kind {
            Kind::Images => media::image(message, at.source),
            Kind::Histograms => histogram::first_generation(message),
            _ => media::sound(message, at.source),
        };
        at.record((tag, kind), body, value, tags, out);
        return Ok(());
    }
    let plugin = match metadata {
        Some(metadata) => Plugin::of(metadata)?,
        None => None,
    };
    let named_kind = plugin.as_ref().map(Plugin::kind);
    // Hyper-parameters are in the metadata alone; any other value without content is skipped.
    let kind = match (named_kind, tensor) {
        (None, Some(_)) => tags.newest_kind(tag),
        (named_kind, _) => named_kind,
    };
    match (kind, tensor) {
        (Some(Kind::Scalars), Some(tensor)) => match scalar::single_number(tensor)? {
            Some(number) => at.scalar(tag, number, tags, out),
            None => several_numbers(tensor, tag, at, tags, out),
        },
        (Some(Kind::Hparams), _) => {
            let content = plugin.map_or(&[][..], |plugin| plugin.content);
            at.record(
                (tag, Kind::Hparams),
                hparams::read(content),
                value,
                tags,
                out,
            );
        }
        (Some(kind @ (Kind::Meshes | Kind::Projector | Kind::Unknown)), _) => {
            at.unread(tag, kind, tags, out);
        }
        (kind, Some(tensor)) => {
            let name = plugin.map_or(&[][..], |plugin| plugin.name);
            let parsed = TensorProto::parse(tensor).map_err(Fault::from);
            let kind = match (kind, &parsed) {
                (Some(Kind::Tensors) | None, Ok(tensor)) => tensor.kind(),
                (kind, _) => kind.unwrap_or(Kind::Tensors),
            };
            let body = parsed.and_then(|tensor| body(kind, &tensor, name, exact, at.source));
            at.record((tag, kind), body, value, tags, out);
        }
        (_, None) => out.skipped_records += 1,
    }
    Ok(())
}

/// Adds a tensor of several numbers that a writer calls a scalar; anything else is skipped.
fn several_numbers(
    tensor: &[u8],
    tag: &[u8],
    at: At<'_>,
    tags: &mut TagTable,
    out: &mut RecordBatch,
) {
    let parsed = TensorProto::parse(tensor).map_err(Fault::from);
    match parsed.and_then(|tensor| tensor.values(at.source)) {
        Ok(values)
            if values
                .shape
                .iter()
                .fold(1, |n: u64, size| n.saturating_mul(*size))
                > 1 =>
        {
            let body = Ok(Body::Tensor(values));
            at.record((tag, Kind::Tensors), body, tensor, tags, out);
        }
        _ => out.skipped_records += 1,
    }
}

/// Body of a tensor of this kind.
fn body(
    kind: Kind,
    tensor: &TensorProto<'_>,
    plugin: &[u8],
    exact: Option<&[u8]>,
    source: Source<'_>,
) -> Result<Body, Fault> {
    match kind {
        Kind::Histograms => histogram::second_generation(tensor, exact),
        Kind::Images => media::images(tensor, source),
        Kind::Audio => media::sounds(tensor, source),
        Kind::Text => tensor.text().map(Body::Text),
        Kind::Graphs => graph(tensor, plugin, source),
        Kind::PrCurves => pr_curve::read(tensor),
        Kind::CustomScalars => layout::read(tensor),
        _ => match tensor.opaque() {
            Some(opaque) => Ok(Body::Opaque(opaque)),
            None => tensor.values(source).map(Body::Tensor),
        },
    }
}

/// A graph in a tensor of text, its only element. Keras writes JSON, all others run metadata.
fn graph(tensor: &TensorProto<'_>, plugin: &[u8], source: Source<'_>) -> Result<Body, Fault> {
    let graph = tensor.single_text()?;
    let is_json = plugin == b"graph_keras_model" || graph.first() == Some(&b'{');
    Ok(Body::Graph(GraphSource {
        format: if is_json {
            GraphFormat::KerasJson
        } else {
            GraphFormat::TfRunMetadata
        },
        data: source.stretch(graph),
    }))
}

/// Content of a `SummaryMetadata`: plugin data 1, in it the name 1 and the content 2.
#[derive(Clone, Copy)]
struct Plugin<'a> {
    name: &'a [u8],
    content: &'a [u8],
}

impl<'a> Plugin<'a> {
    /// `None` without a name.
    fn of(metadata: &'a [u8]) -> Result<Option<Self>, WireError> {
        let Some(plugin_data) = bytes_of(metadata, 1)? else {
            return Ok(None);
        };
        Ok(match bytes_of(plugin_data, 1)? {
            None | Some(b"") => None,
            Some(name) => Some(Self {
                name,
                content: bytes_of(plugin_data, 2)?.unwrap_or_default(),
            }),
        })
    }

    fn kind(&self) -> Kind {
        match self.name {
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
        }
    }
}
