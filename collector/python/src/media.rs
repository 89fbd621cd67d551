//! Images and sound from arrays: layouts are recognized, and numbers become bytes or samples.

use trainscope_collector::{DType, TensorView};

use crate::refusal::Outcome;

/// Images of one size, channels interleaved, 8 bits each.
pub(crate) struct Images {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) channels: u8,
    /// One list of bytes for each image.
    pub(crate) pixels: Vec<Vec<u8>>,
    /// `true` if channels could be first or last.
    pub(crate) is_ambiguous: bool,
}

/// Position of each axis of a layout such as `NCHW`.
struct Axes {
    batch: Option<usize>,
    channel: Option<usize>,
    height: usize,
    width: usize,
}

impl Axes {
    fn of(layout: &str, rank: usize) -> Outcome<Self> {
        let layout = layout.to_ascii_uppercase();
        let at = |axis: char| layout.chars().position(|letter| letter == axis);
        let has_all = layout.chars().count() == rank
            && layout.chars().all(|axis| "NCHW".contains(axis))
            && "NCHW".chars().all(|axis| layout.matches(axis).count() <= 1);
        match (at('H'), at('W')) {
            (Some(height), Some(width)) if has_all => Ok(Self {
                batch: at('N'),
                channel: at('C'),
                height,
                width,
            }),
            _ => Err(format!(
                "the layout {layout:?} does not fit an image with {rank} axes: use HW, HWC, CHW, NHWC or NCHW"
            ).into()),
        }
    }
}

/// Layout of a shape: channels are the axis of 1, 3 or 4; first if both could be.
fn recognize(shape: &[usize]) -> Outcome<(&'static str, bool)> {
    let is_channels = |size: usize| matches!(size, 1 | 3 | 4);
    let (first, last) = match shape {
        [_, _] => return Ok(("HW", false)),
        [first, _, last] | [_, first, _, last] => (is_channels(*first), is_channels(*last)),
        _ => return Err(format!("an image has 2 to 4 axes, not {}", shape.len()).into()),
    };
    match (first, last, shape.len()) {
        (true, _, 3) => Ok(("CHW", last)),
        (true, _, _) => Ok(("NCHW", last)),
        (_, true, 3) => Ok(("HWC", false)),
        (_, true, _) => Ok(("NHWC", false)),
        _ => Err(format!("an image needs an axis of 1, 3 or 4 channels: {shape:?}").into()),
    }
}

/// Images of a tensor. Floating point is from 0 to 1, integers from 0 to 255, both clamped; NaN is black.
pub(crate) fn images(view: &TensorView<'_>, layout: Option<&str>) -> Outcome<Images> {
    let shape = view.shape();
    let (layout, is_ambiguous) = match layout {
        Some(layout) => (layout, false),
        None => recognize(shape)?,
    };
    let axes = Axes::of(layout, shape.len())?;
    let elements = elements(view)?;
    let bytes: Vec<u8> = match view.dtype() {
        DType::U8 => elements.to_vec(),
        DType::Bool => elements
            .iter()
            .map(|is_set| u8::from(*is_set != 0) * 255)
            .collect(),
        dtype => {
            let scale = if is_float(dtype) { 255.0 } else { 1.0 };
            let numbers = dtype.to_f64(&elements);
            numbers
                .into_iter()
                .map(|number| byte(number * scale))
                .collect()
        }
    };
    let size = |axis: Option<usize>| axis.map_or(1, |axis| shape[axis]);
    let (batch, channels) = (size(axes.batch), size(axes.channel));
    let (height, width) = (shape[axes.height], shape[axes.width]);
    if !(1..=4).contains(&channels) {
        return Err(format!("an image has 1 to 4 channels, not {channels}").into());
    }
    let stride = |axis: Option<usize>| axis.map_or(0, |axis| shape[axis + 1..].iter().product());
    let strides: [usize; 4] = [
        stride(axes.batch),
        stride(Some(axes.height)),
        stride(Some(axes.width)),
        stride(axes.channel),
    ];
    let mut pixels = Vec::with_capacity(batch);
    for image in 0..batch {
        let mut interleaved = Vec::with_capacity(height * width * channels);
        for y in 0..height {
            for x in 0..width {
                for channel in 0..channels {
                    let place = [image, y, x, channel];
                    let at: usize = place
                        .iter()
                        .zip(strides)
                        .map(|(i, stride)| i * stride)
                        .sum();
                    interleaved.push(bytes.get(at).copied().unwrap_or_default());
                }
            }
        }
        pixels.push(interleaved);
    }
    let pixel_count = |size: usize| u32::try_from(size).map_err(|_| "the image is too large");
    Ok(Images {
        width: pixel_count(width)?,
        height: pixel_count(height)?,
        channels: u8::try_from(channels).unwrap_or(u8::MAX),
        pixels,
        is_ambiguous,
    })
}

/// Interleaved samples of a sound, and its number of channels. The shorter axis of two is that of the channels;
/// integers are scaled by the range of their type.
pub(crate) fn samples(view: &TensorView<'_>) -> Outcome<(Vec<f32>, u16)> {
    let elements = elements(view)?;
    let numbers = view.dtype().to_f64(&elements);
    let full_scale = match view.dtype() {
        DType::I8 => 128.0,
        DType::I16 => 32_768.0,
        DType::I32 => 2_147_483_648.0,
        _ => 1.0,
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "samples are recorded as f32"
    )]
    let sample = |number: f64| (number / full_scale) as f32;
    match *view.shape() {
        [_] => Ok((numbers.into_iter().map(sample).collect(), 1)),
        [first, last] => {
            let is_channels_first = first < last;
            let (len, channels) = if is_channels_first {
                (last, first)
            } else {
                (first, last)
            };
            let count = u16::try_from(channels).map_err(|_| "a sound has too many channels")?;
            let at = |time: usize, channel: usize| {
                if is_channels_first {
                    channel * len + time
                } else {
                    time * channels + channel
                }
            };
            let places =
                (0..len).flat_map(|time| (0..channels).map(move |channel| (time, channel)));
            let interleaved = places.map(|(time, channel)| {
                sample(numbers.get(at(time, channel)).copied().unwrap_or_default())
            });
            Ok((interleaved.collect(), count))
        }
        _ => Err(format!("a sound has 1 or 2 axes, not {}", view.shape().len()).into()),
    }
}

fn elements<'a>(view: &TensorView<'a>) -> Outcome<std::borrow::Cow<'a, [u8]>> {
    let elements = view.elements();
    elements.ok_or_else(|| "the memory of the array does not fit its shape".into())
}

fn is_float(dtype: DType) -> bool {
    dtype.min_normal_exponent().is_some()
}

/// The number without its fraction, as PyTorch and TensorBoard have it; NaN is 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates"
)]
fn byte(number: f64) -> u8 {
    number as u8
}
