//! Writes event files as training programs do: frames with their checksums, scalars as simple values.
//!
//! It shares no code with the program's decoders, so that the two check each other. The task runner uses the same file
//! for sample runs and bench data.

use std::io::{Result, Write};

/// An event file being written. Every method leaves complete records.
pub(crate) struct EventFile<W> {
    out: W,
    event: Vec<u8>,
    frame: Vec<u8>,
}

impl<W: Write> EventFile<W> {
    /// Begins a file with the version record.
    pub(crate) fn begin(out: W, wall_time_secs: f64) -> Result<Self> {
        let mut file = Self {
            out,
            event: Vec::new(),
            frame: Vec::new(),
        };
        put_double(&mut file.event, 1, wall_time_secs);
        put_bytes(&mut file.event, 3, b"brain.Event:2");
        file.write_event()?;
        Ok(file)
    }

    /// Writes one event with one value for each tag.
    pub(crate) fn scalars(
        &mut self,
        wall_time_secs: f64,
        step: i64,
        values: &[(&str, f32)],
    ) -> Result<()> {
        put_scalars(&mut self.event, wall_time_secs, step, values);
        self.write_event()
    }

    /// Writes buffered data.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.out.flush()
    }

    fn write_event(&mut self) -> Result<()> {
        self.frame.clear();
        put_frame(&mut self.frame, &self.event);
        self.event.clear();
        self.out.write_all(&self.frame)
    }
}

/// Appends one frame: length, checksum of the length, payload, checksum of the payload.
pub(crate) fn put_frame(out: &mut Vec<u8>, payload: &[u8]) {
    let len = (payload.len() as u64).to_le_bytes();
    out.extend_from_slice(&len);
    out.extend_from_slice(&masked_crc(&len).to_le_bytes());
    out.extend_from_slice(payload);
    out.extend_from_slice(&masked_crc(payload).to_le_bytes());
}

/// Appends the payload of an event with one simple value for each tag.
pub(crate) fn put_scalars(
    out: &mut Vec<u8>,
    wall_time_secs: f64,
    step: i64,
    values: &[(&str, f32)],
) {
    let len_value = |tag: &str| 1 + len_varint(tag.len() as u64) + tag.len() + 5;
    let len_summary: usize = values
        .iter()
        .map(|(tag, _)| 1 + len_varint(len_value(tag) as u64) + len_value(tag))
        .sum();
    put_double(out, 1, wall_time_secs);
    // Negative steps take ten bytes in protobuf.
    put_key(out, 2, 0);
    put_varint(out, step.cast_unsigned());
    put_key(out, 5, 2);
    put_varint(out, len_summary as u64);
    for (tag, value) in values {
        put_key(out, 1, 2);
        put_varint(out, len_value(tag) as u64);
        put_bytes(out, 1, tag.as_bytes());
        put_key(out, 2, 5);
        out.extend_from_slice(&value.to_le_bytes());
    }
}

fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes)
        .rotate_right(15)
        .wrapping_add(0xa282_ead8)
}

fn put_key(out: &mut Vec<u8>, field: u8, wire_type: u8) {
    out.push(field << 3 | wire_type);
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

fn len_varint(value: u64) -> usize {
    // Seven bits a byte, and one byte for zero.
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

fn put_double(out: &mut Vec<u8>, field: u8, value: f64) {
    put_key(out, field, 1);
    out.extend_from_slice(&value.to_le_bytes());
}

fn put_bytes(out: &mut Vec<u8>, field: u8, bytes: &[u8]) {
    put_key(out, field, 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}
