//! Share of the variance of a forest that a parameter explains alone: functional ANOVA (Hutter, Hoos, Leyton-Brown
//! 2014), exact for each tree.

use super::forest::{Node, Tree};

/// Most columns of a grid: each leaf has 2 to the power of them corners.
const MAX_GRID_COLUMNS: usize = 8;
/// Most cells of a grid; pairs of leaves take less time than more.
const MAX_GRID_CELLS: usize = 1 << 17;

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
            _ => self
                .of_grid(columns)
                .unwrap_or_else(|| self.of_columns(columns)),
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

    /// Sums over the cells between all ends of the leaves on these columns: each leaf is added at the corners of its box,
    /// and running sums along each column spread it over the cells. `None` if there are too many cells or corners.
    fn of_grid(&self, columns: &[usize]) -> Option<f64> {
        if columns.len() > MAX_GRID_COLUMNS {
            return None;
        }
        let leaves = 0..self.volumes.len();
        let mut edges = Vec::with_capacity(columns.len());
        let mut cells = 1_usize;
        for column in columns {
            let sides = leaves.clone().map(|leaf| self.side(leaf, *column));
            let mut own: Vec<f64> = sides.flat_map(|(begin, end)| [begin, end]).collect();
            own.sort_unstable_by(f64::total_cmp);
            own.dedup();
            cells = cells
                .checked_mul(own.len())
                .filter(|cells| *cells <= MAX_GRID_CELLS)?;
            edges.push(own);
        }
        let mut strides = vec![1; edges.len()];
        for at in 1..edges.len() {
            strides[at] = strides[at - 1] * edges[at - 1].len();
        }
        let mut sums = vec![0.0; cells];
        for leaf in leaves {
            let sides = columns.iter().map(|column| self.side(leaf, *column));
            let size: f64 = sides.clone().map(|(begin, end)| end - begin).product();
            if size <= 0.0 {
                continue;
            }
            let part = self.deviations[leaf] * self.volumes[leaf] / size;
            let place = |edges: &[f64], value: f64| edges.partition_point(|own| *own < value);
            let ends: Vec<[usize; 2]> = sides
                .zip(&edges)
                .map(|((begin, end), edges)| [place(edges, begin), place(edges, end)])
                .collect();
            for corner in 0..1_usize << columns.len() {
                let (mut at, mut sign) = (0, 1.0);
                for (column, ends) in ends.iter().enumerate() {
                    let is_end = corner >> column & 1;
                    at += ends[is_end] * strides[column];
                    sign = if is_end == 1 { -sign } else { sign };
                }
                sums[at] += sign * part;
            }
        }
        for (stride, edges) in strides.iter().zip(&edges) {
            for cell in 0..cells {
                if cell / stride % edges.len() > 0 {
                    sums[cell] += sums[cell - stride];
                }
            }
        }
        let variance = sums.iter().enumerate().map(|(cell, mean)| {
            let lengths = strides.iter().zip(&edges).map(|(stride, edges)| {
                let at = cell / stride % edges.len();
                edges.get(at + 1).map_or(0.0, |end| end - edges[at])
            });
            lengths.product::<f64>() * mean * mean
        });
        Some(variance.sum())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::importance::forest::Forest;

    #[test]
    fn a_grid_has_the_variance_of_all_pairs_of_leaves() {
        let number = |row: usize, at: usize| f64::from(u32::try_from(row * (at + 7) % 31).unwrap());
        let mut columns: Vec<Vec<f64>> = (0..3)
            .map(|at| (0..60).map(|row| number(row, at)).collect())
            .collect();
        columns.push((0..60).map(|row| number(row, 1) % 2.0).collect());
        let results: Vec<f64> = (0..60).map(|row| number(row, 0) * number(row, 2)).collect();
        let forest = Forest::new(&columns, &results, &|| false).unwrap();
        let space = Space {
            bounds: vec![(0.0, 30.0), (0.0, 30.0), (0.0, 30.0), (0.0, 1.0)],
        };
        for tree in &forest.trees {
            let boxes = Boxes::new(tree, &space);
            for own in [&[0, 2][..], &[1, 3], &[0, 1, 3]] {
                let (grid, pairs) = (boxes.of_grid(own).unwrap(), boxes.of_columns(own));
                assert!(
                    (grid - pairs).abs() <= 1e-9 * pairs.abs().max(1.0),
                    "{grid} is not {pairs}"
                );
            }
        }
        let one = Boxes::new(&forest.trees[0], &space);
        let (grid, sweep) = (one.of_grid(&[0]).unwrap(), one.of_column(0));
        assert!((grid - sweep).abs() <= 1e-9 * sweep.abs().max(1.0));
    }
}
