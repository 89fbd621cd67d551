//! A random forest for regression (Breiman 2001) that is the same on every machine: 64 trees, all columns at each node,
//! nodes split down to one row.

#![expect(clippy::float_cmp, reason = "equal values cannot be divided")]

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// Number of trees, as in Optuna's evaluator of importances.
pub const TREES: usize = 64;
/// Maximum depth of a tree, as in Optuna.
const MAX_DEPTH: u32 = 64;

/// A node of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node {
    /// Mean of the results of its rows.
    Leaf(f64),
    /// Rows whose value is at most the threshold go to `left`, the others to `right`: indices of nodes.
    Split {
        /// Index of the column.
        column: usize,
        /// Limit, in the unit of the column.
        threshold: f64,
        /// Index of a node.
        left: usize,
        /// Index of a node.
        right: usize,
    },
}

/// A tree; node 0 is its root.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    /// Its nodes.
    pub nodes: Vec<Node>,
}

impl Tree {
    /// Prediction for a row; `column` gives its values.
    fn predict(&self, column: impl Fn(usize) -> f64) -> f64 {
        let mut at = 0;
        // A path visits each node at most once.
        for _ in 0..self.nodes.len() {
            match self.nodes.get(at) {
                Some(Node::Leaf(value)) => return *value,
                Some(Node::Split {
                    column: of,
                    threshold,
                    left,
                    right,
                }) => {
                    at = if column(*of) <= *threshold {
                        *left
                    } else {
                        *right
                    };
                }
                None => break,
            }
        }
        f64::NAN
    }
}

/// Trees, and their score on rows that they have not seen.
#[derive(Clone, Debug, Default)]
pub struct Forest {
    /// [`TREES`] trees; empty without rows.
    pub trees: Vec<Tree>,
    /// Coefficient of determination over the rows that a tree has not seen, at most 1; `None` if undefined.
    pub r_squared: Option<f64>,
}

impl Forest {
    /// Trains a forest. All `columns` are as long as `results`, and their values are finite. Costs rows · log(rows) ·
    /// columns for each tree. `None` if `is_cancelled` was true before one of the trees.
    pub fn new(
        columns: &[Vec<f64>],
        results: &[f64],
        is_cancelled: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let rows = results.len();
        if rows == 0 || columns.is_empty() {
            return Some(Self::default());
        }
        let mut random = Pcg64::seed_from_u64(0);
        let orders: Vec<Vec<u32>> = columns.iter().map(|column| order(column)).collect();
        let mut unseen = vec![(0.0, 0_u32); rows];
        let mut trees = Vec::with_capacity(TREES);
        for _ in 0..TREES {
            if is_cancelled() {
                return None;
            }
            let mut weights = vec![0_u32; rows];
            for _ in 0..rows {
                weights[below(&mut random, rows)] += 1;
            }
            let tree = Growth::new(columns, results, &weights, &orders).grow(&mut random);
            for (row, (sum, count)) in unseen.iter_mut().enumerate() {
                if weights[row] == 0 {
                    *sum += tree.predict(|column| columns[column][row]);
                    *count += 1;
                }
            }
            trees.push(tree);
        }
        Some(Self {
            trees,
            r_squared: r_squared(results, &unseen),
        })
    }
}

/// Evenly drawn index below `len`, at least 1; the bias of a 64-bit number is below 1e-15 here.
fn below(random: &mut Pcg64, len: usize) -> usize {
    let wide = u128::from(random.next_u64()) * len as u128;
    usize::try_from(wide >> 64).unwrap_or(0)
}

/// 1 − Σ (result − mean prediction)² ÷ Σ (result − mean)² over rows with a prediction.
fn r_squared(results: &[f64], predictions: &[(f64, u32)]) -> Option<f64> {
    let pairs = results.iter().zip(predictions);
    let pairs: Vec<(f64, f64)> = pairs
        .filter(|(_, (_, count))| *count > 0)
        .map(|(result, (sum, count))| (*result, sum / f64::from(*count)))
        .collect();
    let mean = pairs.iter().map(|(result, _)| result).sum::<f64>() / pairs.len() as f64;
    let total: f64 = pairs
        .iter()
        .map(|(result, _)| (result - mean).powi(2))
        .sum();
    let rest: f64 = pairs
        .iter()
        .map(|(result, prediction)| (result - prediction).powi(2))
        .sum();
    let r_squared = 1.0 - rest / total;
    r_squared.is_finite().then_some(r_squared)
}

/// Rows in ascending order of their value.
fn order(column: &[f64]) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..).take(column.len()).collect();
    rows.sort_by(|a, b| column[*a as usize].total_cmp(&column[*b as usize]));
    rows
}

/// A tree that is being trained.
struct Growth<'a> {
    columns: &'a [Vec<f64>],
    results: &'a [f64],
    /// Number of times that the bootstrap drew each row.
    weights: &'a [u32],
    /// Rows by ascending value of each column; a node has the same range in each.
    orders: Vec<Vec<u32>>,
    goes_left: Vec<bool>,
    scratch: Vec<u32>,
}

/// Rows of a node: a range of each order.
#[derive(Clone, Copy)]
struct Span {
    begin: usize,
    end: usize,
    depth: u32,
    node: usize,
}

/// The best split of a node.
struct Division {
    column: usize,
    threshold: f64,
    /// Σ² ÷ weight of both sides: the more, the less squared error is left.
    score: f64,
}

impl<'a> Growth<'a> {
    fn new(
        columns: &'a [Vec<f64>],
        results: &'a [f64],
        weights: &'a [u32],
        orders: &[Vec<u32>],
    ) -> Self {
        let drawn = |rows: &Vec<u32>| -> Vec<u32> {
            rows.iter()
                .copied()
                .filter(|row| weights[*row as usize] > 0)
                .collect()
        };
        Self {
            columns,
            results,
            weights,
            orders: orders.iter().map(drawn).collect(),
            goes_left: vec![false; results.len()],
            scratch: Vec::new(),
        }
    }

    fn grow(mut self, random: &mut Pcg64) -> Tree {
        let mut nodes = vec![Node::Leaf(0.0)];
        let mut features: Vec<usize> = (0..self.columns.len()).collect();
        let mut open = vec![Span {
            begin: 0,
            end: self.orders[0].len(),
            depth: 0,
            node: 0,
        }];
        while let Some(span) = open.pop() {
            let cut = (span.depth < MAX_DEPTH).then(|| {
                for index in (1..features.len()).rev() {
                    features.swap(index, below(random, index + 1));
                }
                self.cut(span, &features)
            });
            let Some(Some(cut)) = cut else {
                nodes[span.node] = Node::Leaf(self.mean(span));
                continue;
            };
            let middle = self.partition(span, &cut);
            let (left, right) = (nodes.len(), nodes.len() + 1);
            nodes[span.node] = Node::Split {
                column: cut.column,
                threshold: cut.threshold,
                left,
                right,
            };
            nodes.extend([Node::Leaf(0.0); 2]);
            let depth = span.depth + 1;
            open.push(Span {
                begin: middle,
                depth,
                node: right,
                ..span
            });
            open.push(Span {
                end: middle,
                depth,
                node: left,
                ..span
            });
        }
        Tree { nodes }
    }

    /// Weight and weighted sum of the results of a row.
    fn row(&self, row: u32) -> (f64, f64) {
        let weight = f64::from(self.weights[row as usize]);
        (weight, weight * self.results[row as usize])
    }

    fn sums(&self, span: Span) -> (f64, f64) {
        let rows = &self.orders[0][span.begin..span.end];
        rows.iter().fold((0.0, 0.0), |sums, row| {
            let (weight, result) = self.row(*row);
            (sums.0 + weight, sums.1 + result)
        })
    }

    fn mean(&self, span: Span) -> f64 {
        let (weight, sum) = self.sums(span);
        sum / weight
    }

    /// The split with the minimum squared error, in the middle between neighbouring values; of equal splits that of the
    /// first feature. `None` if all results or all values are equal.
    fn cut(&self, span: Span, features: &[usize]) -> Option<Division> {
        let rows = &self.orders[0][span.begin..span.end];
        let first = self.results[*rows.first()? as usize];
        if rows.iter().all(|row| self.results[*row as usize] == first) {
            return None;
        }
        let (weight, sum) = self.sums(span);
        let mut best: Option<Division> = None;
        for feature in features {
            let column = &self.columns[*feature];
            let rows = &self.orders[*feature][span.begin..span.end];
            let (mut left_weight, mut left_sum) = (0.0, 0.0);
            for pair in rows.windows(2) {
                let &[row, next] = pair else { continue };
                let (own_weight, own_sum) = self.row(row);
                left_weight += own_weight;
                left_sum += own_sum;
                let (low, high) = (column[row as usize], column[next as usize]);
                if low == high {
                    continue;
                }
                let right_sum = sum - left_sum;
                let score = left_sum * left_sum / left_weight
                    + right_sum * right_sum / (weight - left_weight);
                if best.as_ref().is_none_or(|best| score > best.score) {
                    let middle = low + (high - low) / 2.0;
                    // Neighbouring floats have no middle.
                    let threshold = if middle < high { middle } else { low };
                    best = Some(Division {
                        column: *feature,
                        threshold,
                        score,
                    });
                }
            }
        }
        best
    }

    /// Rows of the left side come first in each order, which stays ascending on both sides. Returns the start of the
    /// right side.
    fn partition(&mut self, span: Span, cut: &Division) -> usize {
        let column = &self.columns[cut.column];
        for row in &self.orders[0][span.begin..span.end] {
            self.goes_left[*row as usize] = column[*row as usize] <= cut.threshold;
        }
        let mut middle = span.begin;
        for order in &mut self.orders {
            self.scratch.clear();
            middle = span.begin;
            for index in span.begin..span.end {
                let row = order[index];
                if self.goes_left[row as usize] {
                    order[middle] = row;
                    middle += 1;
                } else {
                    self.scratch.push(row);
                }
            }
            order[middle..span.end].copy_from_slice(&self.scratch);
        }
        middle
    }
}
