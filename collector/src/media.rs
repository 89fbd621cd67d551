//! Images and audio: the data passed by the training, and their encoding on the writing thread.

use std::io::Cursor;

/// Pixels of one image: 8 bits per channel, rows from top to bottom, channels interleaved.
#[derive(Clone, Copy, Debug)]
pub struct Picture<'a> {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA.
    pub channels: u8,
    /// `width` · `height` · `channels` bytes.
    pub pixels: &'a [u8],
}

/// An image to encode.
#[derive(Debug)]
pub(crate) struct Pixels {
    pub(crate) width: u32,
    pub(crate) height: u32,
    channels: u8,
    /// One after another if there are several frames.
    bytes: Vec<u8>,
    animation: Option<Animation>,
}

/// Frames of an animated image.
#[derive(Clone, Copy, Debug)]
struct Animation {
    frames: u32,
    per_sec: f32,
}

/// Frames per second of an animation are given as a fraction with this denominator.
const DELAY_UNITS_PER_SEC: f32 = 1_000.0;

impl Pixels {
    pub(crate) fn of(picture: &Picture<'_>) -> Self {
        Self {
            width: picture.width,
            height: picture.height,
            channels: picture.channels,
            bytes: picture.pixels.to_vec(),
            animation: None,
        }
    }

    /// An animation; `None` without frames, or if their sizes differ.
    pub(crate) fn of_frames(frames: &[Picture<'_>], per_sec: f32) -> Option<Self> {
        let size = |frame: &Picture<'_>| (frame.width, frame.height, frame.channels);
        let first = frames.first()?;
        if frames.iter().any(|frame| size(frame) != size(first)) {
            return None;
        }
        let animation = Animation {
            frames: u32::try_from(frames.len()).ok()?,
            per_sec,
        };
        Some(Self {
            bytes: frames
                .iter()
                .flat_map(|frame| frame.pixels)
                .copied()
                .collect(),
            animation: (frames.len() > 1).then_some(animation),
            ..Self::of(&Picture {
                pixels: &[],
                ..*first
            })
        })
    }

    pub(crate) fn len_bytes(&self) -> usize {
        size_of::<Self>() + self.bytes.len()
    }

    /// Encodes as PNG; `None` if the sizes do not match the number of pixels.
    pub(crate) fn encode(&self) -> Option<Vec<u8>> {
        let color = match self.channels {
            1 => png::ColorType::Grayscale,
            2 => png::ColorType::GrayscaleAlpha,
            3 => png::ColorType::Rgb,
            4 => png::ColorType::Rgba,
            _ => return None,
        };
        // The encoder multiplies sizes without overflow checks.
        let len = u64::from(self.width)
            .checked_mul(self.height.into())?
            .checked_mul(self.channels.into())?;
        let frames = self.animation.map_or(1, |animation| animation.frames);
        if len == 0 || len.checked_mul(frames.into())? != self.bytes.len() as u64 {
            return None;
        }
        let mut encoded = Vec::new();
        let mut settings = png::Encoder::new(&mut encoded, self.width, self.height);
        settings.set_color(color);
        settings.set_depth(png::BitDepth::Eight);
        if let Some(animation) = self.animation {
            settings.set_animated(animation.frames, 0).ok()?;
            let delay = DELAY_UNITS_PER_SEC / animation.per_sec.max(f32::MIN_POSITIVE);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates, which is the longest delay there is"
            )]
            settings
                .set_frame_delay(delay as u16, DELAY_UNITS_PER_SEC as u16)
                .ok()?;
        }
        let mut writer = settings.write_header().ok()?;
        for frame in self.bytes.chunks_exact(usize::try_from(len).ok()?) {
            writer.write_image_data(frame).ok()?;
        }
        writer.finish().ok()?;
        Some(encoded)
    }
}

/// An audio clip to encode.
#[derive(Debug)]
pub(crate) struct Sound {
    pub(crate) rate_hz: u32,
    pub(crate) channels: u16,
    pub(crate) samples: Vec<f32>,
}

impl Sound {
    pub(crate) fn len_bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(self.samples.as_slice())
    }

    /// Encodes as WAV with unchanged 32-bit samples; `None` without channels or a rate, or with too many samples.
    pub(crate) fn encode(&self) -> Option<Vec<u8>> {
        if self.channels == 0 || self.rate_hz == 0 {
            return None;
        }
        let specification = hound::WavSpec {
            channels: self.channels,
            sample_rate: self.rate_hz,
            bits_per_sample: 32,
            sample_format: hound::SampleFormat::Float,
        };
        let mut encoded = Cursor::new(Vec::new());
        let mut writer = hound::WavWriter::new(&mut encoded, specification).ok()?;
        for &sample in &self.samples {
            writer.write_sample(sample).ok()?;
        }
        writer.finalize().ok()?;
        Some(encoded.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::{Picture, Pixels, Sound};

    fn encode(width: u32, height: u32, channels: u8, pixels: &[u8]) -> Option<Vec<u8>> {
        Pixels::of(&Picture {
            width,
            height,
            channels,
            pixels,
        })
        .encode()
    }

    #[test]
    fn pictures_that_fit_and_others() {
        let encoded = encode(2, 1, 3, &[255, 0, 0, 0, 255, 0]).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(encoded))
            .read_info()
            .unwrap();
        let mut pixels = [0; 6];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, [255, 0, 0, 0, 255, 0]);
        for channels in [1, 2, 4] {
            assert!(encode(1, 1, channels, &vec![7; channels.into()]).is_some());
        }
        assert_eq!(encode(2, 2, 3, &[0; 5]), None);
        assert_eq!(encode(0, 0, 3, &[]), None);
        assert_eq!(encode(1, 1, 5, &[0; 5]), None);
        assert_eq!(encode(u32::MAX, u32::MAX, 4, &[0; 5]), None);
    }

    #[test]
    fn frames_become_an_animation() {
        let frames: Vec<[u8; 2]> = vec![[1, 2], [3, 4], [5, 6]];
        let pictures: Vec<Picture<'_>> = frames
            .iter()
            .map(|pixels| Picture {
                width: 2,
                height: 1,
                channels: 1,
                pixels,
            })
            .collect();
        let encoded = Pixels::of_frames(&pictures, 4.0).unwrap().encode().unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(encoded))
            .read_info()
            .unwrap();
        let animation = reader.info().animation_control.unwrap();
        assert_eq!(animation.num_frames, 3);
        for frame in &frames {
            let mut pixels = [0; 2];
            reader.next_frame(&mut pixels).unwrap();
            assert_eq!(pixels, *frame);
            let delay = reader.info().frame_control.unwrap();
            assert_eq!((delay.delay_num, delay.delay_den), (250, 1_000));
        }
        let larger = Picture {
            width: 1,
            height: 2,
            ..pictures[0]
        };
        assert!(Pixels::of_frames(&[pictures[0], larger], 4.0).is_none());
        assert!(Pixels::of_frames(&[], 4.0).is_none());
    }

    #[test]
    fn sounds_keep_their_samples() {
        let samples = vec![0.0, -1.0, f32::NAN, 2.5];
        let encoded = Sound {
            rate_hz: 8_000,
            channels: 2,
            samples: samples.clone(),
        }
        .encode()
        .unwrap();
        let read: Vec<u32> = hound::WavReader::new(encoded.as_slice())
            .unwrap()
            .into_samples::<f32>()
            .map(|sample| sample.unwrap().to_bits())
            .collect();
        let wanted: Vec<u32> = samples.iter().map(|sample| sample.to_bits()).collect();
        assert_eq!(read, wanted);
        let silent = Sound {
            rate_hz: 0,
            channels: 0,
            samples: vec![1.0],
        };
        assert_eq!(silent.encode(), None);
    }
}
