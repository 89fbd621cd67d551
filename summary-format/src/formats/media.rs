//! Images and audio in event files: their byte ranges and declared properties.

use super::event_file::{Fault, NO_CONTENT, Source};
use super::tensor_proto::TensorProto;
use crate::body::Body;
use crate::media::{Audio, ImageEncoding, Images};
use crate::wire::{Fields, Value, int32, text};

const NO_SIZES: Fault = Fault("a tensor of images does not begin with width and height");
const WAV: &str = "audio/wav";

/// An `Image`, the same message in both families: height 1, width 2, channels 3, encoded 4.
pub(super) fn image(message: &[u8], source: Source<'_>) -> Result<Body, Fault> {
    let mut sizes = [0; 3];
    let mut encoded = None;
    for field in Fields::of(message) {
        match field? {
            (number @ 1..=3, Value::Varint(bits)) => {
                sizes[number as usize - 1] = u32::try_from(int32(bits)).unwrap_or(0);
            }
            (4, Value::Bytes(bytes)) if !bytes.is_empty() => encoded = Some(bytes),
            _ => {}
        }
    }
    let encoded = encoded.ok_or(NO_CONTENT)?;
    let [height, width, channels] = sizes;
    Ok(Body::Images(Images {
        width,
        height,
        channels,
        encoding: ImageEncoding::sniff(encoded),
        items: vec![source.stretch(encoded)],
    }))
}

/// Width and height in decimal, then encoded images.
pub(super) fn images(tensor: &TensorProto<'_>, source: Source<'_>) -> Result<Body, Fault> {
    let texts = tensor.texts()?;
    let [width, height, images @ ..] = &texts[..] else {
        return Err(NO_SIZES);
    };
    let pixels = |text: &[u8]| str::from_utf8(text).ok()?.trim().parse().ok();
    Ok(Body::Images(Images {
        width: pixels(width).unwrap_or(0),
        height: pixels(height).unwrap_or(0),
        channels: 0,
        encoding: images
            .first()
            .map_or(ImageEncoding::Unknown, |image| ImageEncoding::sniff(image)),
        items: images.iter().map(|image| source.stretch(image)).collect(),
    }))
}

/// An `Audio`: sample rate 1, channels 2, frames 3, encoded 4, media type 5.
pub(super) fn sound(message: &[u8], source: Source<'_>) -> Result<Body, Fault> {
    let mut encoded = None;
    let mut sample_rate_hz = None;
    let mut channels = None;
    let mut frames = None;
    let mut content_type = None;
    for field in Fields::of(message) {
        match field? {
            (1, Value::Fixed32(bits)) => sample_rate_hz = Some(f32::from_bits(bits).into()),
            (2, Value::Varint(number)) => channels = u32::try_from(number).ok(),
            (3, Value::Varint(number)) => frames = Some(number),
            (4, Value::Bytes(bytes)) if !bytes.is_empty() => encoded = Some(bytes),
            (5, Value::Bytes(bytes)) => content_type = Some(text(bytes)),
            _ => {}
        }
    }
    let encoded = encoded.ok_or(NO_CONTENT)?;
    let header = WavHeader::of(encoded);
    Ok(Body::Audio(Audio {
        sample_rate_hz: sample_rate_hz.or(header.map(|wav| wav.sample_rate_hz)),
        channels: channels.or(header.map(|wav| wav.channels)),
        frames: frames.or(header.map(|wav| wav.frames)),
        content_type: content_type.unwrap_or_else(|| WAV.to_owned()),
        labels: vec![String::new()],
        items: vec![source.stretch(encoded)],
    }))
}

/// Rows of encoded audio and label, or encoded audio alone.
pub(super) fn sounds(tensor: &TensorProto<'_>, source: Source<'_>) -> Result<Body, Fault> {
    let texts = tensor.texts()?;
    let (sounds, labels): (Vec<_>, Vec<_>) = if let [_, 2] = tensor.shape[..] {
        let (rows, _) = texts.as_chunks::<2>();
        rows.iter()
            .map(|[sound, label]| (*sound, text(label)))
            .unzip()
    } else {
        texts
            .into_iter()
            .map(|sound| (sound, String::new()))
            .unzip()
    };
    let header = sounds.first().and_then(|sound| WavHeader::of(sound));
    Ok(Body::Audio(Audio {
        sample_rate_hz: header.map(|wav| wav.sample_rate_hz),
        channels: header.map(|wav| wav.channels),
        frames: header.map(|wav| wav.frames),
        content_type: WAV.to_owned(),
        labels,
        items: sounds.iter().map(|sound| source.stretch(sound)).collect(),
    }))
}

/// Header of a WAV file.
#[derive(Clone, Copy)]
struct WavHeader {
    sample_rate_hz: f64,
    channels: u32,
    frames: u64,
}

impl WavHeader {
    /// Chunks of a RIFF file: name, length, content, padded to even. `fmt ` holds channels at 2, frames a second at 4
    /// and bytes a frame at 12; `data` holds the frames.
    fn of(sound: &[u8]) -> Option<Self> {
        let mut rest = sound
            .strip_prefix(b"RIFF")?
            .get(4..)?
            .strip_prefix(b"WAVE")?;
        let mut format = None;
        loop {
            let (name, after) = rest.split_first_chunk::<4>()?;
            let (len, after) = after.split_first_chunk::<4>()?;
            let len = u32::from_le_bytes(*len);
            match name {
                b"fmt " => {
                    format = Some((
                        u16::from_le_bytes(*after.get(2..)?.first_chunk()?),
                        u32::from_le_bytes(*after.get(4..)?.first_chunk()?),
                        u16::from_le_bytes(*after.get(12..)?.first_chunk()?),
                    ));
                }
                b"data" => {
                    let (channels, sample_rate_hz, frame_len) = format?;
                    let there = u64::from(len).min(after.len() as u64);
                    return Some(Self {
                        sample_rate_hz: sample_rate_hz.into(),
                        channels: channels.into(),
                        frames: there.checked_div(frame_len.into())?,
                    });
                }
                _ => {}
            }
            rest = after.get(usize::try_from(len).ok()?.checked_next_multiple_of(2)?..)?;
        }
    }
}
