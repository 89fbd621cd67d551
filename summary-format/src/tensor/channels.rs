//! Statistics of each channel of a layer: dead or saturated neurons of an activation, or rows of a weight.

use serde::{Deserialize, Serialize};

use super::{DType, len_of};
use crate::float;

/// Elements widened at a time.
const BLOCK: usize = 1 << 10;

/// Statistics by channel, one column per figure: the slices of a tensor along one axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChannelStats {
    /// The axis of the channels, 0 for the outermost.
    pub axis: u32,
    /// Elements of each channel.
    pub count: u64,
    /// Elements that are NaN or infinite.
    pub not_finite: Vec<u64>,
    /// Elements that are 0.0 or −0.0.
    pub zero: Vec<u64>,
    /// The smallest finite element; NaN if there is none, as in the columns below.
    #[serde(with = "float::list")]
    pub min: Vec<f64>,
    /// The largest finite element.
    #[serde(with = "float::list")]
    pub max: Vec<f64>,
    /// The mean of the finite elements.
    #[serde(with = "float::list")]
    pub mean: Vec<f64>,
    /// The mean of their absolute values.
    #[serde(with = "float::list")]
    pub mean_abs: Vec<f64>,
}

impl ChannelStats {
    /// The statistics of each channel of a tensor in row-major order. `None` if it has no such axis or no elements, or
    /// if the number of bytes does not match the shape.
    pub fn of(dtype: DType, shape: &[u64], bytes: &[u8], axis: usize) -> Option<Self> {
        let size = dtype.size_bytes();
        let channels = usize::try_from(*shape.get(axis)?).ok()?;
        let inner = usize::try_from(len_of(&shape[axis + 1..])?).ok()?;
        let len = usize::try_from(len_of(shape)?).ok()?;
        if len == 0 || len.checked_mul(size) != Some(bytes.len()) {
            return None;
        }
        let mut stats = Self {
            axis: u32::try_from(axis).ok()?,
            count: (len / channels) as u64,
            not_finite: vec![0; channels],
            zero: vec![0; channels],
            min: vec![f64::INFINITY; channels],
            max: vec![f64::NEG_INFINITY; channels],
            mean: vec![0.0; channels],
            mean_abs: vec![0.0; channels],
        };
        let mut block = [0.0; BLOCK];
        let (mut channel, mut in_channel) = (0, 0);
        for piece in bytes.chunks(BLOCK * size) {
            let widened = dtype.widen_to_f64(piece, &mut block);
            let mut rest = &block[..widened];
            // One contiguous piece of a channel at a time.
            while !rest.is_empty() {
                let (stretch, after) = rest.split_at(rest.len().min(inner - in_channel));
                stats.add(channel, stretch);
                rest = after;
                in_channel += stretch.len();
                if in_channel == inner {
                    in_channel = 0;
                    channel = (channel + 1) % channels;
                }
            }
        }
        stats.finish();
        Some(stats)
    }

    /// Number of channels.
    pub fn len(&self) -> usize {
        self.zero.len()
    }

    /// `true` if there are no channels.
    pub fn is_empty(&self) -> bool {
        self.zero.is_empty()
    }

    /// Means are sums until the end.
    fn add(&mut self, channel: usize, elements: &[f64]) {
        for &element in elements {
            if !element.is_finite() {
                self.not_finite[channel] += 1;
                continue;
            }
            self.zero[channel] += u64::from(element == 0.0);
            self.min[channel] = self.min[channel].min(element);
            self.max[channel] = self.max[channel].max(element);
            self.mean[channel] += element;
            self.mean_abs[channel] += element.abs();
        }
    }

    fn finish(&mut self) {
        for channel in 0..self.len() {
            let finite = self.count - self.not_finite[channel];
            self.mean[channel] /= finite as f64;
            self.mean_abs[channel] /= finite as f64;
            if finite == 0 {
                self.min[channel] = f64::NAN;
                self.max[channel] = f64::NAN;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ChannelStats;
    use crate::tensor::DType;

    fn stats(shape: &[u64], axis: usize, numbers: &[f32]) -> Option<ChannelStats> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        ChannelStats::of(DType::F32, shape, &bytes, axis)
    }

    #[test]
    fn channels_along_each_axis() {
        let numbers = [0.0, 1.0, -2.0, 0.0, 3.0, f32::NAN];
        let columns = stats(&[2, 3], 1, &numbers).unwrap();
        assert_eq!((columns.axis, columns.count, columns.len()), (1, 2, 3));
        assert_eq!(columns.zero, [2, 0, 0]);
        assert_eq!(columns.not_finite, [0, 0, 1]);
        assert_eq!(columns.min, [0.0, 1.0, -2.0]);
        assert_eq!(columns.max, [0.0, 3.0, -2.0]);
        assert_eq!(columns.mean, [0.0, 2.0, -2.0]);
        assert_eq!(columns.mean_abs, [0.0, 2.0, 2.0]);
        let rows = stats(&[2, 3], 0, &numbers).unwrap();
        assert_eq!((rows.count, rows.zero), (3, vec![1, 1]));
        assert_eq!(rows.mean_abs, [1.0, 1.5]);
    }

    #[test]
    fn long_channels_cross_blocks() {
        let numbers: Vec<f32> = (0..6_000_u16).map(f32::from).collect();
        let halves = stats(&[2, 3_000], 0, &numbers).unwrap();
        assert_eq!(halves.min, [0.0, 3_000.0]);
        assert_eq!(halves.max, [2_999.0, 5_999.0]);
        let last = stats(&[1_500, 4], 1, &numbers).unwrap();
        assert_eq!(last.min, [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(last.max, [5_996.0, 5_997.0, 5_998.0, 5_999.0]);
    }

    #[test]
    fn nothing_finite_and_nothing_at_all() {
        let none = stats(&[1, 2], 0, &[f32::INFINITY, f32::NAN]).unwrap();
        assert!(none.min[0].is_nan() && none.mean[0].is_nan());
        assert_eq!(stats(&[0, 1 << 60], 1, &[]), None);
        assert_eq!(stats(&[3, 0], 1, &[]), None);
        assert_eq!(stats(&[], 0, &[1.0]), None, "a scalar has no axis");
        assert_eq!(stats(&[3], 0, &[1.0]), None, "too few bytes");
        assert_eq!(stats(&[u64::MAX, 2], 1, &[1.0]), None);
    }
}
