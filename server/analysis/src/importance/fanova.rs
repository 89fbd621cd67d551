//! Share of the variance of a forest that a parameter explains alone: functional ANOVA (Hutter, Hoos, Leyton-Brown
//! 2014), exact for each tree.

use super::forest::{Node, Tree};

/// Maximum number of cells of a grid, 1 MB; above it pairs of leaves take less time.
const MAX_GRID_CELLS: usize = 1 << 17;

/// Bounds of the columns of a forest; columns without width count as one point.
#[derive(Clone, Debug, Default)]
pub struct Space {
    /// Minimum and maximum of each column.
    pub bounds: Vec<(f64, f64)>,
}

/// The leaves of a tree as boxes of the space: prediction, and the stretch of each column as shares of its width.
#[derive(Clone, Debug, Default)]
pub struct Boxes {
    /// Prediction of each leaf minus the mean by volume.
    deviations: Vec<f64>,
    /// Share of the space that each leaf covers.
    volumes: Vec<f64>,
    /// Ends of the leaves on each column in ascending order, each once, from 0 to 1.
    edges: Vec<Vec<f64>>,
    /// Begin and end of each leaf on each column, as indices into its edges: `leaf * columns + column`.
    sides: Vec<[u32; 2]>,
    /// Mean prediction by volume.
    mean: f64,
    variance: f64,
}

impl Boxes {
    /// The boxes of a tree.
    pub fn new(tree: &Tree, space: &Space) -> Self {
        let edges = edges(tree, space);
        let whole = edges.iter().map(|column| [0, last(column)]).collect();
        let mut boxes = Self {
            edges,
            ..Self::default()
        };
        let mut open: Vec<(usize, Vec<[u32; 2]>)> = vec![(0, whole)];
        // Nodes of a tree are visited once each, even if they do not form a tree.
        for _ in 0..tree.nodes.len() {
            let Some((node, sides)) = open.pop() else {
                break;
            };
            match tree.nodes.get(node) {
                Some(Node::Leaf(value)) => {
                    let pairs = sides.iter().zip(&boxes.edges);
                    let volume = pairs.map(|(side, edges)| length(*side, edges)).product();
                    boxes.volumes.push(volume);
                    boxes.deviations.push(*value);
                    boxes.sides.extend(sides);
                }
                Some(Node::Split {
                    column,
                    threshold,
                    left,
                    right,
                }) => {
                    let (Some([begin, end]), Some(edges)) =
                        (sides.get(*column).copied(), boxes.edges.get(*column))
                    else {
                        continue;
                    };
                    let share = space.share(*column, *threshold);
                    let at = edges.partition_point(|edge| *edge < share);
                    let at = u32::try_from(at).unwrap_or(u32::MAX).clamp(begin, end);
                    let (mut below, mut above) = (sides.clone(), sides);
                    below[*column] = [begin, at];
                    above[*column] = [at, end];
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
        boxes.variance = leaves
            .map(|(deviation, volume)| deviation * deviation * volume)
            .sum();
        boxes
    }

    /// Variance of the prediction over the space.
    pub fn variance(&self) -> f64 {
        self.variance
    }

    pub(super) fn len(&self) -> usize {
        self.deviations.len()
    }

    pub(super) fn prediction(&self, leaf: usize) -> f64 {
        self.mean + self.deviations.get(leaf).copied().unwrap_or_default()
    }

    /// Share of the space without some columns that a leaf covers.
    pub(super) fn share_without(&self, leaf: usize, columns: &[usize]) -> f64 {
        let sides = (0..self.edges.len()).filter(|column| !columns.contains(column));
        let lengths = sides.map(|column| self.side(leaf, column));
        lengths.map(|(begin, end)| end - begin).product()
    }

    /// Variance of the mean prediction as a function of some columns alone, over all other columns.
    pub fn marginal_variance(&self, columns: &[usize]) -> f64 {
        self.of_grid(columns)
            .unwrap_or_else(|| self.of_columns(columns))
    }

    /// Begin and end of a leaf on a column.
    pub(super) fn side(&self, leaf: usize, column: usize) -> (f64, f64) {
        let edges = self.edges.get(column);
        let end = |edge: u32| edges.and_then(|edges| edges.get(edge as usize)).copied();
        let [begin, until] = self.indices(leaf, column);
        (end(begin).unwrap_or(0.0), end(until).unwrap_or(1.0))
    }

    fn indices(&self, leaf: usize, column: usize) -> [u32; 2] {
        let side = self.sides.get(leaf * self.edges.len() + column);
        side.copied().unwrap_or_default()
    }

    /// Sums over the cells between all edges of these columns: each leaf is added at the corners of its box, and
    /// running sums along each column spread it over the cells. `None` if there are too many cells.
    fn of_grid(&self, columns: &[usize]) -> Option<f64> {
        let edges: Option<Vec<&Vec<f64>>> = columns
            .iter()
            .map(|column| self.edges.get(*column))
            .collect();
        let edges = edges?;
        let mut strides = Vec::with_capacity(edges.len());
        let mut cells = 1_usize;
        for edges in &edges {
            strides.push(cells);
            cells = cells
                .checked_mul(edges.len().saturating_sub(1))
                .filter(|cells| *cells <= MAX_GRID_CELLS)?;
        }
        let mut sums = vec![0.0; cells];
        let (mut corners, mut more) = (Vec::new(), Vec::new());
        for (leaf, (deviation, volume)) in self.deviations.iter().zip(&self.volumes).enumerate() {
            let sides = columns.iter().map(|column| self.indices(leaf, *column));
            let lengths = sides.clone().zip(&edges);
            let size: f64 = lengths.map(|(side, edges)| length(side, edges)).product();
            if size <= 0.0 {
                continue;
            }
            corners.clear();
            corners.push((0, deviation * volume / size));
            for ((side, edges), stride) in sides.zip(&edges).zip(&strides) {
                let [begin, end] = side.map(|edge| edge as usize * stride);
                more.clear();
                // There is no cell after the last edge.
                if side[1] < last(edges) {
                    more.extend(
                        corners
                            .iter()
                            .map(|(at, part): &(usize, f64)| (at + end, -part)),
                    );
                }
                for (at, _) in &mut corners {
                    *at += begin;
                }
                corners.append(&mut more);
            }
            for (at, part) in &corners {
                sums[*at] += part;
            }
        }
        let mut sizes = vec![1.0];
        for (stride, edges) in strides.iter().zip(&edges) {
            for line in sums.chunks_mut(stride * edges.len().saturating_sub(1)) {
                for cell in *stride..line.len() {
                    line[cell] += line[cell - stride];
                }
            }
            let lengths = edges.windows(2).map(|pair| pair[1] - pair[0]);
            sizes = lengths
                .flat_map(|length| sizes.iter().map(move |size| size * length))
                .collect();
        }
        let cells = sums.iter().zip(&sizes);
        Some(cells.map(|(mean, size)| size * mean * mean).sum())
    }

    /// Σ over pairs of leaves: product of their parts, times the stretch that both cover. Leaves that are equal on
    /// these columns count as one: categories stay cheap.
    fn of_columns(&self, columns: &[usize]) -> f64 {
        let mut parts: Vec<(Vec<(f64, f64)>, f64)> = Vec::with_capacity(self.volumes.len());
        for (leaf, (deviation, volume)) in self.deviations.iter().zip(&self.volumes).enumerate() {
            let sides: Vec<(f64, f64)> = columns
                .iter()
                .map(|column| self.side(leaf, *column))
                .collect();
            let size: f64 = sides.iter().map(|(begin, end)| end - begin).product();
            if size > 0.0 {
                parts.push((sides, deviation * volume / size));
            }
        }
        let key = |sides: &[(f64, f64)]| -> Vec<(u64, u64)> {
            sides
                .iter()
                .map(|(begin, end)| (begin.to_bits(), end.to_bits()))
                .collect()
        };
        parts.sort_by_cached_key(|(sides, _)| key(sides));
        parts.dedup_by(|later, first| {
            let is_same = later.0 == first.0;
            if is_same {
                first.1 += later.1;
            }
            is_same
        });
        let mut variance = 0.0;
        for (index, (sides, part)) in parts.iter().enumerate() {
            let size: f64 = sides.iter().map(|(begin, end)| end - begin).product();
            let mut others = 0.0;
            for (other_sides, other) in parts.iter().skip(index + 1) {
                let mut overlap = 1.0;
                for (side, other) in sides.iter().zip(other_sides) {
                    overlap *= (side.1.min(other.1) - side.0.max(other.0)).max(0.0);
                }
                others += other * overlap;
            }
            variance += part * (part * size + 2.0 * others);
        }
        variance
    }
}

/// Ends of the leaves of a tree on each column, in ascending order and each once, from 0 to 1.
fn edges(tree: &Tree, space: &Space) -> Vec<Vec<f64>> {
    let mut edges = vec![vec![0.0, 1.0]; space.bounds.len()];
    for node in &tree.nodes {
        if let Node::Split {
            column, threshold, ..
        } = node
            && let Some(column_edges) = edges.get_mut(*column)
        {
            column_edges.push(space.share(*column, *threshold));
        }
    }
    for column_edges in &mut edges {
        column_edges.sort_unstable_by(f64::total_cmp);
        column_edges.dedup();
    }
    edges
}

/// Index of the last edge of a column.
fn last(edges: &[f64]) -> u32 {
    u32::try_from(edges.len().saturating_sub(1)).unwrap_or(u32::MAX)
}

/// Length of a side between two edges.
fn length([begin, end]: [u32; 2], edges: &[f64]) -> f64 {
    let edge = |at: u32| edges.get(at as usize).copied().unwrap_or(1.0);
    edge(end) - edge(begin)
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
            for columns in [&[0][..], &[3], &[0, 2], &[1, 3], &[0, 1, 3]] {
                let (grid, pairs) = (boxes.of_grid(columns).unwrap(), boxes.of_columns(columns));
                assert!(
                    (grid - pairs).abs() <= 1e-9 * pairs.abs().max(1.0),
                    "{grid} is not {pairs}"
                );
            }
        }
    }
}
