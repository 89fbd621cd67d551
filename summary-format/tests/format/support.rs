//! Writer of events and frames in the way of other programs, independent of the decoders, and collector of the decoded
//! records.

use trainscope_format::{Body, Checkpoint, Damage, Decoder, Format, RecordBatch, TagId};

/// crc32c bit by bit from its definition (polynomial 0x1EDC6F41, reflected), masked as TFRecord does.
fn masked_crc32c(bytes: &[u8]) -> u32 {
    let mut crc = !0_u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ ((crc & 1) * 0x82f6_3b78);
        }
    }
    (!crc).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// A header that claims a payload of this length.
pub(crate) fn header(len: u64) -> Vec<u8> {
    let len = len.to_le_bytes();
    [&len[..], &masked_crc32c(&len).to_le_bytes()].concat()
}

/// A complete frame.
pub(crate) fn frame(payload: &[u8]) -> Vec<u8> {
    [
        &header(payload.len() as u64)[..],
        payload,
        &masked_crc32c(payload).to_le_bytes(),
    ]
    .concat()
}

pub(crate) fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
    out
}

pub(crate) fn varint_field(number: u64, value: u64) -> Vec<u8> {
    [varint(number << 3), varint(value)].concat()
}

pub(crate) fn fixed64_field(number: u64, value: u64) -> Vec<u8> {
    [&varint((number << 3) | 1)[..], &value.to_le_bytes()].concat()
}

pub(crate) fn fixed32_field(number: u64, value: u32) -> Vec<u8> {
    [&varint((number << 3) | 5)[..], &value.to_le_bytes()].concat()
}

pub(crate) fn bytes_field(number: u64, bytes: &[u8]) -> Vec<u8> {
    [
        &varint((number << 3) | 2)[..],
        &varint(bytes.len() as u64),
        bytes,
    ]
    .concat()
}

/// An event with a body: field number and bytes.
pub(crate) fn event(wall_time_secs: f64, step: i64, number: u64, body: &[u8]) -> Vec<u8> {
    [
        fixed64_field(1, wall_time_secs.to_bits()),
        varint_field(2, step.cast_unsigned()),
        bytes_field(number, body),
    ]
    .concat()
}

/// A framed event with a summary of these values.
pub(crate) fn summary(wall_time_secs: f64, step: i64, values: &[Vec<u8>]) -> Vec<u8> {
    let body: Vec<u8> = values
        .iter()
        .flat_map(|value| bytes_field(1, value))
        .collect();
    frame(&event(wall_time_secs, step, 5, &body))
}

/// A value of the first generation.
pub(crate) fn simple_value(tag: &str, value: f32) -> Vec<u8> {
    [
        bytes_field(1, tag.as_bytes()),
        fixed32_field(2, value.to_bits()),
    ]
    .concat()
}

/// A value of the second generation.
pub(crate) fn tensor_value(tag: &str, tensor: &[u8], plugin: Option<&str>) -> Vec<u8> {
    let metadata = plugin
        .map(|name| bytes_field(9, &bytes_field(1, &bytes_field(1, name.as_bytes()))))
        .unwrap_or_default();
    [
        bytes_field(1, tag.as_bytes()),
        bytes_field(8, tensor),
        metadata,
    ]
    .concat()
}

/// A tensor of this type and these dimensions with raw content.
pub(crate) fn tensor(data_type: u64, dims: &[u64], content: &[u8]) -> Vec<u8> {
    let shape: Vec<u8> = dims
        .iter()
        .flat_map(|&size| bytes_field(2, &varint_field(1, size)))
        .collect();
    [
        varint_field(1, data_type),
        bytes_field(2, &shape),
        bytes_field(4, content),
    ]
    .concat()
}

/// A tensor of these dimensions that holds texts.
pub(crate) fn text_tensor(dims: &[u64], texts: &[&[u8]]) -> Vec<u8> {
    let texts = texts.iter().flat_map(|text| bytes_field(8, text));
    tensor(7, dims, b"").into_iter().chain(texts).collect()
}

/// Appends one batch to another, as a reader of the whole file does.
pub(crate) fn append(all: &mut RecordBatch, next: &RecordBatch) {
    all.new_tags.extend_from_slice(&next.new_tags);
    let columns = &next.scalars;
    all.scalars.tags.extend_from_slice(&columns.tags);
    all.scalars.steps.extend_from_slice(&columns.steps);
    all.scalars
        .wall_times_secs
        .extend_from_slice(&columns.wall_times_secs);
    all.scalars.values.extend_from_slice(&columns.values);
    all.records.extend_from_slice(&next.records);
    all.unread.extend_from_slice(&next.unread);
    all.damages.extend_from_slice(&next.damages);
    all.skipped_records += next.skipped_records;
    all.has_step_overflow |= next.has_step_overflow;
}

/// All results of a decoder for some bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct DecoderOutput {
    pub(crate) batch: RecordBatch,
    pub(crate) offset: u64,
    pub(crate) open_damage: Option<Damage>,
    pub(crate) checkpoint: Checkpoint,
}

impl DecoderOutput {
    /// All results but the offset, which alone may differ while bytes are buffered, as text: NaN compares as equal.
    pub(crate) fn comparable(&self) -> String {
        format!("{self:?}")
    }

    /// Step and value of each point of a tag.
    pub(crate) fn points(&self, tag: &str) -> Vec<(i64, f64)> {
        let columns = &self.batch.scalars;
        let id = |id: &TagId| &*self.batch.new_tags[id.0 as usize].name == tag;
        (0..columns.len())
            .filter(|&i| id(&columns.tags[i]))
            .map(|i| (columns.steps[i], columns.values[i]))
            .collect()
    }
}

impl DecoderOutput {
    /// Step and body of each record of a tag that is not a scalar.
    pub(crate) fn bodies(&self, tag: &str) -> Vec<(i64, &Body)> {
        let records = self.batch.records.iter();
        records
            .filter(|record| &*self.batch.new_tags[record.tag.0 as usize].name == tag)
            .map(|record| (record.step, &record.body))
            .collect()
    }
}

/// Feeds bytes cut at these offsets.
pub(crate) fn feed(mut decoder: Box<dyn Decoder>, bytes: &[u8], cuts: &[usize]) -> DecoderOutput {
    let mut all = RecordBatch::default();
    let mut batch = RecordBatch::default();
    let mut from = 0;
    for &to in cuts.iter().chain([&bytes.len()]) {
        batch.clear();
        decoder.push(&bytes[from..to], &mut batch);
        append(&mut all, &batch);
        from = to;
    }
    DecoderOutput {
        batch: all,
        offset: decoder.offset(),
        open_damage: decoder.open_damage(),
        checkpoint: decoder.checkpoint(),
    }
}

/// Feeds bytes in one piece.
pub(crate) fn whole(format: Format, bytes: &[u8]) -> DecoderOutput {
    feed(format.decoder(""), bytes, &[])
}

/// Reason for a damaged value.
pub(crate) const NOT_A_MESSAGE: &str = "a value is not a message of its kind";
/// Reason for a damaged tensor.
pub(crate) const WRONG_LEN: &str = "the shape and the content of a tensor disagree";

pub(crate) fn double(number: u64, value: f64) -> Vec<u8> {
    fixed64_field(number, value.to_bits())
}

/// A packed list.
pub(crate) fn doubles(number: u64, values: &[f64]) -> Vec<u8> {
    let bytes: Vec<_> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    bytes_field(number, &bytes)
}

/// A value whose tag is `x` and whose content is this field.
pub(crate) fn value(number: u64, message: &[u8]) -> Vec<u8> {
    [bytes_field(1, b"x"), bytes_field(number, message)].concat()
}

/// Decoded records of an event with this value.
pub(crate) fn one_value(format: Format, value: &[u8]) -> DecoderOutput {
    let seen = whole(format, &summary(1.0, 3, &[value.to_vec()]));
    assert_eq!(seen.open_damage, None);
    seen
}

/// The only body among the decoded records, or the error.
pub(crate) fn only_body(seen: &DecoderOutput) -> Result<Body, String> {
    match (&seen.batch.records[..], &seen.batch.damages[..]) {
        ([record], []) => Ok(record.body.clone()),
        ([], [damage]) => Err(damage.reason.clone()),
        other => panic!("{other:?}"),
    }
}
