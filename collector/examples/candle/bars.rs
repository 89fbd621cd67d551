//! The task: noisy images of bars, to be classified as vertical or horizontal.

use candle_core::{Device, Result, Tensor};

/// Width and height of an image in pixels.
pub(crate) const SIDE: usize = 12;

/// The same as `u32`.
pub(crate) const WIDTH: u32 = 12;

/// Generator of random images from a fixed seed.
pub(crate) struct Bars {
    seed: u64,
}

/// A batch of images.
pub(crate) struct Batch {
    pub(crate) images: Tensor,
    pub(crate) labels: Tensor,
    /// The same images in 8 bits.
    pub(crate) pixels: Vec<u8>,
}

impl Bars {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Random number from −1 to 1.
    pub(crate) fn chance(&mut self) -> f32 {
        // Numerical Recipes, "quick and dirty": good enough for noise.
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let bits = u16::try_from(self.seed >> 48).unwrap_or(0);
        f32::from(bits) / 32_768.0 - 1.0
    }

    pub(crate) fn batch(&mut self, len: u8) -> Result<Batch> {
        let (mut numbers, mut labels) = (Vec::new(), Vec::new());
        for index in 0..len {
            let stands = index % 2 == 1;
            labels.push(u32::from(stands));
            let period = if self.chance() > 0.0 { 4 } else { 3 };
            for row in 0..SIDE {
                for column in 0..SIDE {
                    let place = if stands { column } else { row };
                    let bar = if place % period == 0 { 1.0 } else { 0.0 };
                    numbers.push(bar + 0.4 * self.chance());
                }
            }
        }
        let pixels = numbers.iter().map(|x| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates"
            )]
            let shade = ((x + 0.4) / 1.8 * 255.0) as u8;
            shade
        });
        let pixels = pixels.collect();
        let shape = (usize::from(len), 1, SIDE, SIDE);
        Ok(Batch {
            images: Tensor::from_vec(numbers, shape, &Device::Cpu)?,
            labels: Tensor::from_vec(labels, usize::from(len), &Device::Cpu)?,
            pixels,
        })
    }
}
