//! The task: classify the points of two interleaving half circles.

use crate::numbers::{Random, single};

/// Points in the plane with their labels.
pub(crate) struct Moons {
    pub(crate) points: Vec<[f32; 2]>,
    pub(crate) labels: Vec<usize>,
}

/// A batch of points.
pub(crate) struct Batch {
    pub(crate) inputs: Vec<f32>,
    pub(crate) labels: Vec<usize>,
}

impl Moons {
    /// Generates `len` points, half of them in each circle.
    pub(crate) fn new(len: usize, random: &mut Random) -> Self {
        let mut moons = Self {
            points: Vec::new(),
            labels: Vec::new(),
        };
        for index in 0..len {
            let label = index % 2;
            let x = 2.0 * random.unit() - 1.0;
            let y = (1.0 - x * x).sqrt();
            let noise = [random.normal() * 0.08, random.normal() * 0.08];
            let (x, y) = if label == 0 {
                (x - 0.5, y - 0.25)
            } else {
                (x + 0.5, 0.25 - y)
            };
            moons
                .points
                .push([single(x + noise[0]), single(y + noise[1])]);
            moons.labels.push(label);
        }
        moons
    }

    /// A random batch.
    pub(crate) fn batch(&self, len: usize, random: &mut Random) -> Batch {
        let chosen: Vec<usize> = (0..len).map(|_| random.below(self.points.len())).collect();
        Batch {
            inputs: chosen.iter().flat_map(|&at| self.points[at]).collect(),
            labels: chosen.iter().map(|&at| self.labels[at]).collect(),
        }
    }

    /// All points.
    pub(crate) fn all(&self) -> Batch {
        Batch {
            inputs: self.points.iter().flatten().copied().collect(),
            labels: self.labels.clone(),
        }
    }
}
