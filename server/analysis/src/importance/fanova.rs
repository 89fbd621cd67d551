//! Share of the variance of a forest that a parameter explains alone: functional ANOVA (Hutter, Hoos, Leyton-Brown
//! 2014), exact for each tree.

use super::forest::{Node, Tree};

/// Bounds of the columns of a forest; columns without width count as one point.
#[derive(Clone, Debug, Default)]
pub struct Space {
    /// Least and greatest value of each column.
    pub bounds: Vec<(f64, f64)>,
}

/// The leaves of a tree as boxes of the space: prediction, and the stretch of each column as shares of its width.
#[derive(Clone, Debug, Default)]
pub struct Boxes {
    /// Prediction of each leaf less their mean by volume.
    deviations: Vec<f64>,
    /// Share of the space that each leaf covers.
    volumes: Vec<f64>,
    /// Begin and end of each leaf on each column, 0 to 1: `leaf * columns + column`.
    sides: Vec<(f64, f64)>,
    columns: usize,
    /// Mean prediction by volume.
    mean: f64,
    variance: f64,
}

impl Boxes {
    /// The boxes of a tree.
    pub fn new(tree: &Tree, space: &Space) -> Self {
        let columns = space.bounds.len();
        let mut boxes = Self {
            columns,
            ..Self::default()
        };
        let mut open = vec![(0, vec![(0.0, 1.0); columns])];
        // Nodes of a tree are visited once each, even if the tree is none.
        for _ in 0..tree.nodes.len() {
            let Some((node, sides)) = open.pop() else {
                break;
            };
            match tree.nodes.get(node) {
                Some(Node::Leaf(value)) => {
                    boxes
                        .volumes
                        .push(sides.iter().map(|(begin, end)| end - begin).product());
                    boxes.deviations.push(*value);
                    boxes.sides.extend(sides);
                }
                Some(Node::Split {
                    column,
                    threshold,
                    left,
                    right,
                }) => {
                    let Some(side) = sides.get(*column).copied() else {
                        continue;
                    };
                    let share = space.share(*column, *threshold).clamp(side.0, side.1);
                    let (mut below, mut above) = (sides.clone(), sides);
                    below[*column].1 = share;
                    above[*column].0 = share;
                    open.push((*right, above));
                    open.push((*left, below));
                }
                None => {}
            }
        }
        let leaves = boxes.deviations.iter().zip(&boxes.volumes);
        let mean: f64 = leaves.map(|(value, volume)| value * volume).sum();
        boxes.mean = mean;
        for value in &mut boxes.deviations {
            *value -= mean;
        }
        let leaves = boxes.deviations.iter().zip(&boxes.volumes);
        boxes.variance = leaves.map(|(own, volume)| own * own * volume).sum();
        boxes
    }

    /// Variance of the prediction over the space.
    pub fn variance(&self) -> f64 {
        self.variance
    }

    /// Number of leaves.
    pub(super) fn len(&self) -> usize {
        self.deviations.len()
    }

    /// Prediction of a leaf.
    pub(super) fn prediction(&self, leaf: usize) -> f64 {
        self.mean + self.deviations.get(leaf).copied().unwrap_or_default()
    }

    /// Share of the space without some columns that a leaf covers.
    pub(super) fn share_without(&self, leaf: usize, columns: &[usize]) -> f64 {
        let sides = (0..self.columns).filter(|column| !columns.contains(column));
        let lengths = sides.map(|column| self.side(leaf, column));
        lengths.map(|(begin, end)| end - begin).product()
    }

    /// Variance of the mean prediction as a function of some columns alone, over all other columns.
    pub fn marginal_variance(&self, columns: &[usize]) -> f64 {
        match columns {
            [column] => self.of_column(*column),
            _ => self.of_columns(columns),
        }
    }

    /// Begin and end of a leaf on a column.
    pub(super) fn side(&self, leaf: usize, column: usize) -> (f64, f64) {
        self.sides
            .get(leaf * self.columns + column)
            .copied()
            .unwrap_or((0.0, 1.0))
    }

    /// Sweep over the ends of the leaves on one column.
    fn of_column(&self, column: usize) -> f64 {
        let mut ends: Vec<(f64, f64)> = Vec::with_capacity(self.volumes.len() * 2);
        for (leaf, (own, volume)) in self.deviations.iter().zip(&self.volumes).enumerate() {
            let (begin, end) = self.side(leaf, column);
            if end > begin {
                let part = own * volume / (end - begin);
                ends.extend([(begin, part), (end, -part)]);
            }
        }
        ends.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (mut at, mut mean, mut variance) = (0.0, 0.0, 0.0);
        for (end, part) in ends {
            variance += (end - at) * mean * mean;
            mean += part;
            at = end;
        }
        variance
    }

    /// Σ over pairs of leaves: product of their parts, times the stretch that both cover. Leaves that are equal on
    /// these columns count as one, so that categories stay cheap.
    fn of_columns(&self, columns: &[usize]) -> f64 {
        let mut parts: Vec<(Vec<(f64, f64)>, f64)> = Vec::with_capacity(self.volumes.len());
        for (leaf, (own, volume)) in self.deviations.iter().zip(&self.volumes).enumerate() {
            let sides: Vec<(f64, f64)> = columns
                .iter()
                .map(|column| self.side(leaf, *column))
                .collect();
            let size: f64 = sides.iter().map(|(begin, end)| end - begin).product();
            if size > 0.0 {
                parts.push((sides, own * volume / size));
            }
        }
        let key = |sides: &[(f64, f64)]| -> Vec<(u64, u64)> {
            sides
                .iter()
                .map(|(begin, end)| (begin.to_bits(), end.to_bits()))
                .collect()
        };
        parts.sort_by_cached_key(|(sides, _)| key(sides));
        parts.dedup_by(|own, first| {
            let is_same = own.0 == first.0;
            if is_same {
                first.1 += own.1;
            }
            is_same
        });
        let mut variance = 0.0;
        for (index, (sides, part)) in parts.iter().enumerate() {
            let size: f64 = sides.iter().map(|(begin, end)| end - begin).product();
            let mut others = 0.0;
            for (other_sides, other) in parts.iter().skip(index + 1) {
                let mut overlap = 1.0;
                for (own, other) in sides.iter().zip(other_sides) {
                    overlap *= (own.1.min(other.1) - own.0.max(other.0)).max(0.0);
                }
                others += other * overlap;
            }
            variance += part * (part * size + 2.0 * others);
        }
        variance
    }
}

impl Space {
    /// Place of a value between the bounds of a column, 0 to 1.
    fn share(&self, column: usize, value: f64) -> f64 {
        match self.bounds.get(column) {
            Some((low, high)) if high > low => ((value - low) / (high - low)).clamp(0.0, 1.0),
            _ => 1.0,
        }
    }
}
