//! Parameters as the measures see them: numbers, codes of categories, columns of a forest, grids.

use std::collections::BTreeMap;

use trainscope_api::importance::PAIR_CELLS;

use super::fanova::Space;
use super::ped::Grid;
use super::{Bar, Reason, rank};
use crate::columns::{CellValue, ColumnFacts, ColumnKind};

/// A parameter of the runs that have a result, in their order.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) bar: Bar,
    values: Values,
    /// Number of the group of each run by its value; 0 without one.
    partition: Vec<usize>,
}

#[derive(Clone, Debug)]
enum Values {
    Numbers {
        values: Vec<Option<f64>>,
        bounds: (f64, f64),
        is_log: bool,
        is_integer: bool,
    },
    Categories {
        codes: Vec<Option<u32>>,
        /// Different values by code.
        choices: Vec<CellValue>,
    },
}

impl Parameter {
    /// A parameter of numbers or categories. `domain` is widened to hold all numbers.
    pub(super) fn new(
        mut bar: Bar,
        cells: &[CellValue],
        facts: &ColumnFacts,
        domain: Option<(f64, f64)>,
    ) -> Self {
        let (codes, choices) = codes(cells);
        let partition = partition(&codes);
        let is_number = matches!(facts.kind, ColumnKind::Number | ColumnKind::Integer);
        bar.is_log = is_number && facts.is_log;
        let values = match (is_number, facts.least, facts.greatest) {
            (true, Some(least), Some(greatest)) => Values::Numbers {
                // Infinities have no place on an axis.
                values: cells
                    .iter()
                    .map(|cell| cell.number().filter(|number| number.is_finite()))
                    .collect(),
                bounds: bounds((least, greatest), domain, bar.is_log),
                is_log: facts.is_log,
                is_integer: facts.kind == ColumnKind::Integer,
            },
            _ => Values::Categories { codes, choices },
        };
        Self {
            bar,
            values,
            partition,
        }
    }

    /// `true` if two parameters divide the runs into the same groups. All parameters with a different number in each
    /// run do so; they are copies only if they also order the runs alike.
    pub(super) fn divides_like(&self, other: &Self) -> bool {
        let names_each = self
            .partition
            .iter()
            .enumerate()
            .all(|(run, group)| run == *group);
        self.partition == other.partition && (!names_each || self.orders_like(other))
    }

    fn orders_like(&self, other: &Self) -> bool {
        let order = |parameter: &Self| {
            let mut runs: Vec<(f64, usize)> =
                parameter.numbers().into_iter().flatten().zip(0..).collect();
            runs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            runs.into_iter().map(|(_, run)| run).collect::<Vec<usize>>()
        };
        let (this, other) = (order(self), order(other));
        this == other || this.iter().eq(other.iter().rev())
    }

    /// Numbers of the runs; `None` for categories.
    pub(super) fn numbers(&self) -> Vec<Option<f64>> {
        match &self.values {
            Values::Numbers { values, .. } => values.clone(),
            Values::Categories { codes, .. } => vec![None; codes.len()],
        }
    }

    /// Rank correlation with results; for categories √max(0, ε²).
    pub(super) fn rank(&self, results: &[f64]) -> Result<f64, Reason> {
        let value = match &self.values {
            Values::Numbers { values, .. } => {
                let (xs, ys) = pairs(values, results);
                rank::spearman(&xs, &ys)
            }
            Values::Categories { codes, .. } => {
                let (codes, ys) = pairs(codes, results);
                rank::epsilon_squared(&codes, &ys).map(|epsilon| epsilon.max(0.0).sqrt())
            }
        };
        value.ok_or(Reason::TooFewRuns)
    }

    /// Linear correlation of numbers with results.
    pub(super) fn linear(&self, results: &[f64]) -> Result<f64, Reason> {
        match &self.values {
            Values::Numbers { values, .. } => {
                let (xs, ys) = pairs(values, results);
                rank::pearson(&xs, &ys).ok_or(Reason::TooFewRuns)
            }
            Values::Categories { .. } => Err(Reason::NoNumber),
        }
    }

    /// Grid of the densities.
    pub(super) fn grid(&self) -> Grid {
        match &self.values {
            Values::Numbers {
                values,
                bounds,
                is_log,
                is_integer,
            } => Grid::of_numbers(values, *bounds, *is_log, *is_integer),
            Values::Categories { codes, choices } => Grid::of_categories(codes, choices.len()),
        }
    }

    /// Cells of the parameter with these columns in a forest. Those of numbers have equal distances on their scale;
    /// categories have one each, for the most common ones.
    pub(super) fn axis(&self, columns: &[usize]) -> Axis {
        match &self.values {
            Values::Numbers { bounds, is_log, .. } => {
                let ends = [bounds.0, bounds.1].map(|end| if *is_log { end.ln() } else { end });
                let edge = |at: usize| {
                    let position = ends[0] + (ends[1] - ends[0]) * at as f64 / PAIR_CELLS as f64;
                    if *is_log { position.exp() } else { position }
                };
                let place = |at: usize| {
                    let centre = (at as f64 + 0.5) / PAIR_CELLS as f64;
                    // The second column marks runs without a value.
                    columns.iter().copied().zip([centre, 0.0]).collect()
                };
                Axis {
                    edges: (0..=PAIR_CELLS).map(edge).collect(),
                    is_log: *is_log,
                    choices: Vec::new(),
                    places: (0..PAIR_CELLS).map(place).collect(),
                }
            }
            Values::Categories { codes, choices } => {
                let lacks = codes.contains(&None);
                let all = (0_u32..).take(choices.len()).map(Some);
                let mut order: Vec<Option<u32>> = all.chain(lacks.then_some(None)).collect();
                let count =
                    |wanted: &Option<u32>| codes.iter().filter(|code| *code == wanted).count();
                order.sort_by_cached_key(|code| std::cmp::Reverse(count(code)));
                order.truncate(PAIR_CELLS);
                let marks = marked(choices.len(), lacks);
                let place = |wanted: &Option<u32>| {
                    let codes = (0_u32..).take(marks).map(Some);
                    let codes = codes.chain(lacks.then_some(None));
                    let mark = codes.map(|code| mark(code == *wanted));
                    columns.iter().copied().zip(mark).collect()
                };
                let choice = |wanted: &Option<u32>| {
                    let value = wanted.and_then(|code| choices.get(usize::try_from(code).ok()?));
                    value.cloned().unwrap_or_default()
                };
                Axis {
                    edges: Vec::new(),
                    is_log: false,
                    choices: order.iter().map(choice).collect(),
                    places: order.iter().map(place).collect(),
                }
            }
        }
    }

    /// Columns of a forest for some rows, with their bounds: the number and, if some runs lack it, a mark of those;
    /// a column for each category.
    fn columns(&self, rows: &[usize]) -> Vec<(Vec<f64>, (f64, f64))> {
        match &self.values {
            Values::Numbers {
                values,
                bounds,
                is_log,
                ..
            } => {
                let scale = |number: f64| if *is_log { number.ln() } else { number };
                let median = median(values);
                let value_of = |row: &usize| values.get(*row).copied().flatten();
                let numbers = rows
                    .iter()
                    .map(|row| scale(value_of(row).unwrap_or(median)))
                    .collect();
                let mut columns = vec![(numbers, (scale(bounds.0), scale(bounds.1)))];
                if rows.iter().any(|row| value_of(row).is_none()) {
                    let marks = rows
                        .iter()
                        .map(|row| mark(value_of(row).is_none()))
                        .collect();
                    columns.push((marks, (0.0, 1.0)));
                }
                columns
            }
            Values::Categories { codes, choices } => {
                let code = |row: &usize| codes.get(*row).copied().flatten();
                let lacks = codes.contains(&None);
                let choices = (0_u32..).take(marked(choices.len(), lacks)).map(Some);
                let choices = choices.chain(lacks.then_some(None));
                choices
                    .map(|choice| {
                        let marks = rows.iter().map(|row| mark(code(row) == choice));
                        (marks.collect(), (0.0, 1.0))
                    })
                    .collect()
            }
        }
    }
}

/// Bounds of numbers: a domain and all numbers. A bound without a place on the axis does not count: infinity, and on a
/// logarithmic axis a number that is not above 0.
fn bounds((least, greatest): (f64, f64), domain: Option<(f64, f64)>, is_log: bool) -> (f64, f64) {
    let has_place = |bound: f64| bound.is_finite() && (!is_log || bound > 0.0);
    let (low, high) = domain.unwrap_or((least, greatest));
    (
        if has_place(low) {
            low.min(least)
        } else {
            least
        },
        if has_place(high) {
            high.max(greatest)
        } else {
            greatest
        },
    )
}

/// Number of columns of a number of choices, without that of a missing value. Two choices are one column.
fn marked(choices: usize, lacks: bool) -> usize {
    if choices == 2 && !lacks { 1 } else { choices }
}

/// Point of an axis in the space of a forest: columns with a share of their width, 0 to 1.
pub(super) type AxisPlace = Vec<(usize, f64)>;

/// Cells of a parameter.
pub(super) struct Axis {
    /// Edges of cells of numbers.
    pub(super) edges: Vec<f64>,
    pub(super) is_log: bool,
    /// Values of cells of categories.
    pub(super) choices: Vec<CellValue>,
    /// Centre of each cell.
    pub(super) places: Vec<AxisPlace>,
}

pub(super) struct ForestSpace {
    pub(super) columns: Vec<Vec<f64>>,
    pub(super) bounds: Space,
    /// Columns of each parameter.
    pub(super) groups: Vec<Vec<usize>>,
}

pub(super) fn forest_space(parameters: &[Parameter], rows: &[usize]) -> ForestSpace {
    let mut space = ForestSpace {
        columns: Vec::new(),
        bounds: Space::default(),
        groups: Vec::new(),
    };
    for parameter in parameters {
        let begin = space.columns.len();
        for (column, bounds) in parameter.columns(rows) {
            space.columns.push(column);
            space.bounds.bounds.push(bounds);
        }
        space.groups.push((begin..space.columns.len()).collect());
    }
    space
}

fn mark(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}

fn median(values: &[Option<f64>]) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().flatten().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// Values of the runs that have one, with their results.
fn pairs<T: Copy>(values: &[Option<T>], results: &[f64]) -> (Vec<T>, Vec<f64>) {
    let pairs = values.iter().zip(results);
    pairs
        .filter_map(|(value, result)| Some(((*value)?, *result)))
        .unzip()
}

/// Codes of equal values in the order in which they appear, and the values.
fn codes(cells: &[CellValue]) -> (Vec<Option<u32>>, Vec<CellValue>) {
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    let mut choices = Vec::new();
    let mut code = |cell: &CellValue| {
        let key = match cell {
            CellValue::Missing => return None,
            CellValue::Number(number) => format!("n{}", number + 0.0),
            CellValue::Text(text) => format!("t{text}"),
            CellValue::Truth(yes) => format!("b{yes}"),
        };
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        let code = *numbers.entry(key).or_insert(next);
        if code == next {
            choices.push(cell.clone());
        }
        Some(code)
    };
    let codes = cells.iter().map(&mut code).collect();
    (codes, choices)
}

/// Groups of runs, numbered in the order of their first run.
fn partition(codes: &[Option<u32>]) -> Vec<usize> {
    let mut groups: BTreeMap<Option<u32>, usize> = BTreeMap::new();
    let group = |code: &Option<u32>| {
        let next = groups.len();
        *groups.entry(*code).or_insert(next)
    };
    codes.iter().map(group).collect()
}
