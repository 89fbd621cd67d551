//! Parameters as the measures see them: numbers, codes of categories, columns of a forest, grids.

use std::collections::BTreeMap;

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
        choices: usize,
    },
}

impl Parameter {
    /// A parameter of numbers or categories.
    pub(super) fn new(bar: Bar, cells: &[CellValue], facts: &ColumnFacts) -> Self {
        let (codes, choices) = codes(cells);
        let partition = partition(&codes);
        let is_number = matches!(facts.kind, ColumnKind::Number | ColumnKind::Integer);
        let values = match (is_number, facts.least, facts.greatest) {
            (true, Some(least), Some(greatest)) => Values::Numbers {
                // Infinities have no place on an axis.
                values: cells
                    .iter()
                    .map(|own| own.number().filter(|own| own.is_finite()))
                    .collect(),
                bounds: (least, greatest),
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

    /// `true` if two parameters divide the runs into the same groups. Numbers that differ in each run divide them all
    /// alike; they are copies only if they order them alike.
    pub(super) fn divides_like(&self, other: &Self) -> bool {
        let names_each = self
            .partition
            .iter()
            .enumerate()
            .all(|(run, group)| run == *group);
        self.partition == other.partition && (!names_each || self.orders_like(other))
    }

    fn orders_like(&self, other: &Self) -> bool {
        let order = |own: &Self| {
            let mut runs: Vec<(f64, usize)> =
                own.numbers().into_iter().flatten().zip(0..).collect();
            runs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            runs.into_iter().map(|(_, run)| run).collect::<Vec<usize>>()
        };
        let (own, other) = (order(self), order(other));
        own == other || own.iter().eq(other.iter().rev())
    }

    /// Numbers of the runs; none of categories.
    pub(super) fn numbers(&self) -> Vec<Option<f64>> {
        match &self.values {
            Values::Numbers { values, .. } => values.clone(),
            Values::Categories { codes, .. } => vec![None; codes.len()],
        }
    }

    /// Rank correlation with results; of categories √max(0, ε²).
    pub(super) fn rank(&self, results: &[f64]) -> Result<f64, Reason> {
        let value = match &self.values {
            Values::Numbers { values, .. } => {
                let (xs, ys) = pairs(values, results);
                rank::spearman(&xs, &ys)
            }
            Values::Categories { codes, .. } => {
                let (codes, ys) = pairs(codes, results);
                rank::epsilon_squared(&codes, &ys).map(|own| own.max(0.0).sqrt())
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
            Values::Categories { codes, choices } => Grid::of_categories(codes, *choices),
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
                let scale = |own: f64| if *is_log { own.ln() } else { own };
                let median = median(values);
                let own = |row: &usize| values.get(*row).copied().flatten();
                let numbers = rows
                    .iter()
                    .map(|row| scale(own(row).unwrap_or(median)))
                    .collect();
                let mut columns = vec![(numbers, (scale(bounds.0), scale(bounds.1)))];
                if rows.iter().any(|row| own(row).is_none()) {
                    let marks = rows.iter().map(|row| mark(own(row).is_none())).collect();
                    columns.push((marks, (0.0, 1.0)));
                }
                columns
            }
            Values::Categories { codes, choices } => {
                let code = |row: &usize| codes.get(*row).copied().flatten();
                let lacks = codes.contains(&None);
                // Two choices are one column.
                let marked = if *choices == 2 && !lacks { 1 } else { *choices };
                let choices = (0_u32..).take(marked).map(Some);
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

/// Columns of a forest.
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

/// Codes of equal values, in the order in which they appear, and their number.
fn codes(cells: &[CellValue]) -> (Vec<Option<u32>>, usize) {
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    let mut code = |cell: &CellValue| {
        let key = match cell {
            CellValue::Missing => return None,
            CellValue::Number(number) => format!("n{}", number + 0.0),
            CellValue::Text(text) => format!("t{text}"),
            CellValue::Truth(yes) => format!("b{yes}"),
        };
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        Some(*numbers.entry(key).or_insert(next))
    };
    let codes = cells.iter().map(&mut code).collect();
    (codes, numbers.len())
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
