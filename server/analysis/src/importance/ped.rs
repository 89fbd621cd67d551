//! Importance of parameters for reaching the best runs: PED-ANOVA (Watanabe, Bansal, Hutter 2023), with densities on a
//! grid as in Optuna's evaluator.

use libm::erf;

/// Share of the runs that count as the best.
pub const BEST_SHARE: f64 = 0.1;
/// Minimum number of best runs.
const MIN_BEST: usize = 2;
/// Maximum number of cells of a grid of numbers.
const CELLS: usize = 50;
/// Factor of Scott's rule (1992) for the width of a kernel.
const SCOTT: f64 = 1.059;
/// Distance between the quartiles of a normal distribution, in standard deviations.
const QUARTILES: f64 = 1.34;
/// Minimum width of a kernel in cells: 90 % of the kernel are then in one cell.
const MIN_WIDTH: f64 = 0.5 / 1.64;
/// Added to both densities so that no quotient is infinite.
const DENSITY_FLOOR: f64 = 1e-12;

/// Grid of a parameter with the cell of each run; `None` for a run without a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    cells: Vec<Option<usize>>,
    len: usize,
    is_category: bool,
}

impl Grid {
    /// Grid of numbers between `low` and `high`, on a logarithmic scale if wanted.
    pub fn of_numbers(
        values: &[Option<f64>],
        (low, high): (f64, f64),
        is_log: bool,
        is_integer: bool,
    ) -> Self {
        let len = if is_integer {
            integer_cells(low, high, is_log)
        } else {
            CELLS
        };
        let scale = |value: f64| if is_log { value.ln() } else { value };
        let begin = scale(low);
        let step = (scale(high) - begin) / (len.max(2) - 1) as f64;
        let cell = |value: f64| {
            // A value in the middle between two cells belongs to the lower one.
            let cell = ((scale(value) - begin) / step - 0.5).ceil();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a cast of floats saturates; NaN becomes 0"
            )]
            let cell = cell.max(0.0) as usize;
            cell.min(len - 1)
        };
        let cells = values.iter().map(|value| value.map(cell)).collect();
        Self {
            cells,
            len,
            is_category: false,
        }
    }

    /// Grid with a cell for each of `choices` categories.
    pub fn of_categories(codes: &[Option<u32>], choices: usize) -> Self {
        let cells = codes
            .iter()
            .map(|code| code.map(|code| code as usize))
            .collect();
        Self {
            cells,
            len: choices.max(1),
            is_category: true,
        }
    }

    /// Number of runs in each cell, of those that `keep` picks.
    fn counts(&self, keep: &[bool]) -> Vec<f64> {
        let mut counts = vec![0.0; self.len];
        for cell in self
            .cells
            .iter()
            .zip(keep)
            .filter(|(_, keep)| **keep)
            .filter_map(|pair| *pair.0)
        {
            if let Some(count) = counts.get_mut(cell) {
                *count += 1.0;
            }
        }
        counts
    }
}

/// Cells of whole numbers: one each up to [`CELLS`]; on a logarithmic scale one for each factor of two, and one more.
fn integer_cells(low: f64, high: f64, is_log: bool) -> usize {
    let count = high - low + 1.0;
    let count = if is_log {
        count.log2().ceil() + 1.0
    } else {
        count
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of floats saturates; NaN becomes 0"
    )]
    let count = count as usize;
    count.clamp(1, CELLS)
}

/// Marks of the best tenth of the runs, those with the smallest `losses`; runs equal to the worst of them belong to it.
pub fn best(losses: &[f64]) -> Vec<bool> {
    let mut sorted = losses.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a tenth of a length is a small number above 0"
    )]
    let count = (BEST_SHARE * losses.len() as f64).ceil() as usize;
    let limit = sorted.get(count.max(MIN_BEST).min(sorted.len()).saturating_sub(1));
    losses
        .iter()
        .map(|loss| limit.is_some_and(|limit| loss <= limit))
        .collect()
}

/// Raw importance of a parameter: the difference between its density among the best runs and its density among all. 0
/// if fewer than two runs have it, or none of the best. Comparable only with those of other parameters.
pub fn importance(grid: &Grid, is_best: &[bool]) -> f64 {
    let everyone = vec![true; grid.cells.len()];
    let (of_best, of_all) = (grid.counts(is_best), grid.counts(&everyone));
    let (best_count, count): (f64, f64) = (of_best.iter().sum(), of_all.iter().sum());
    if count < 2.0 || best_count < 1.0 || grid.len < 2 {
        return 0.0;
    }
    let best = is_best.iter().filter(|mark| **mark).count() as f64;
    let runs = is_best.len() as f64;
    let (share_of_best, share_of_all) = (best_count / best, count / runs);
    let densities = grid
        .density(&of_best)
        .into_iter()
        .zip(grid.density(&of_all));
    let divergence: f64 = densities
        .map(|(top, all)| (top + DENSITY_FLOOR, all + DENSITY_FLOOR))
        .map(|(top, all)| all * (top / all - 1.0).powi(2))
        .sum();
    (best / runs).powi(2) * share_of_best.powi(2) / share_of_all * divergence
}

impl Grid {
    /// Density of counts by cell: a kernel at each cell that has runs, weighted by their number, and a prior over the
    /// whole grid with the weight of one run.
    fn density(&self, counts: &[f64]) -> Vec<f64> {
        let mut density = if self.is_category {
            of_categories(counts)
        } else {
            of_numbers(counts)
        };
        let total = counts.iter().sum::<f64>() + 1.0;
        for value in &mut density {
            *value /= total;
        }
        density
    }
}

/// Sum of kernels, not normalised: each gives 1 / (K + 1) to each choice and 1 to that of the kernel. K is the number
/// of kernels without the prior.
fn of_categories(counts: &[f64]) -> Vec<f64> {
    let choices = counts.len() as f64;
    let kernels = counts.iter().filter(|count| **count > 0.0).count() as f64;
    let share = 1.0 / (kernels + 1.0);
    let sum = 1.0 + share * choices;
    let total: f64 = counts.iter().sum();
    let even = 1.0 / choices;
    counts
        .iter()
        .map(|count| (count + total * share) / sum + even)
        .collect()
}

/// Sum of normal kernels, not normalised, cut at the ends of the grid and integrated over each cell.
fn of_numbers(counts: &[f64]) -> Vec<f64> {
    let cells = counts.len() as f64;
    let width = kernel_width(counts);
    let kernels = counts.iter().enumerate().filter(|(_, count)| **count > 0.0);
    let kernels = kernels.map(|(cell, count)| (cell as f64, width, *count));
    let prior = ((cells - 1.0) / 2.0, cells, 1.0);
    let mut density = vec![0.0; counts.len()];
    for (centre, width, weight) in kernels.chain([prior]) {
        let below = |edge: f64| 0.5 * (1.0 + erf((edge - centre) / (width * 2.0_f64.sqrt())));
        let inside = below(cells - 0.5) - below(-0.5);
        for (cell, value) in density.iter_mut().enumerate() {
            let edge = cell as f64;
            *value += weight * (below(edge + 0.5) - below(edge - 0.5)) / inside;
        }
    }
    density
}

/// Scott's rule on counts, in cells.
fn kernel_width(counts: &[f64]) -> f64 {
    let total: f64 = counts.iter().sum();
    let full: Vec<(f64, f64)> = counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0.0)
        .map(|(cell, count)| (cell as f64, *count))
        .collect();
    let mean = full.iter().map(|(cell, count)| cell * count).sum::<f64>() / total;
    let squares: f64 = full
        .iter()
        .map(|(cell, count)| (cell - mean).powi(2) * count)
        .sum();
    let deviation = (squares / (total - 1.0).max(1.0)).sqrt();
    let (quarter, three_quarters) = ((total / 4.0).floor(), (total * 3.0 / 4.0).floor());
    let (mut sum, mut first, mut last) = (0.0, None, None);
    for (cell, count) in &full {
        sum += count;
        if first.is_none() && sum >= quarter {
            first = Some(*cell);
        }
        if last.is_none() && sum > three_quarters {
            last = Some(*cell);
        }
    }
    let between = last.unwrap_or_default() - first.unwrap_or_default();
    let width = SCOTT * (between / QUARTILES).min(deviation) * total.powf(-0.2);
    width.max(MIN_WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_between_two_cells_go_to_the_lower() {
        let grid = Grid::of_numbers(
            &[Some(0.5), Some(1.5), Some(1.6), None],
            (0.0, 4.0),
            false,
            true,
        );
        assert_eq!(grid.cells, [Some(0), Some(1), Some(2), None]);
    }

    #[test]
    fn densities_add_up_to_one() {
        for counts in [vec![3.0, 0.0, 1.0, 0.0, 7.0], vec![1.0, 0.0, 0.0]] {
            for is_category in [true, false] {
                let grid = Grid {
                    cells: Vec::new(),
                    len: counts.len(),
                    is_category,
                };
                let sum: f64 = grid.density(&counts).iter().sum();
                assert!((sum - 1.0).abs() < 1e-12, "{sum}");
            }
        }
    }

    #[test]
    fn the_best_are_a_tenth_and_their_equals() {
        let losses: Vec<f64> = (0..20).map(|index| f64::from(index / 3)).collect();
        assert_eq!(best(&losses).iter().filter(|mark| **mark).count(), 3);
    }
}
