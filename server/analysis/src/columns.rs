//! Columns of the table of runs: kind, scale, direction and constancy of the values of a name over all runs.

#![expect(clippy::float_cmp, reason = "equal means equal to the bit")]

use std::collections::BTreeSet;

pub use trainscope_api::table::{CellValue, ColumnKind};

/// Maximum number of different values of a category: with more, the runs form no useful groups.
const MAX_CHOICES: usize = 200;
/// Minimum share of runs with a text (`auto`) among numbers for a column of texts.
const TEXT_SHARE: f64 = 0.2;
/// Minimum ratio of the maximum to the minimum value of a logarithmic axis: two decades.
const LOG_RATIO: f64 = 100.0;

/// Facts about the values of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnFacts {
    /// Kind of its values.
    pub kind: ColumnKind,
    /// `true` if its axis is logarithmic: all numbers are above 0, and the maximum is at least 100 times the minimum.
    pub is_log: bool,
    /// Minimum of the finite numbers.
    pub least: Option<f64>,
    /// Maximum of the finite numbers.
    pub greatest: Option<f64>,
    /// Number of runs with a value.
    pub runs: usize,
    /// Number of runs with NaN.
    pub nan: usize,
    /// Number of different values; all NaN count as one.
    pub distinct: usize,
}

impl ColumnFacts {
    /// Facts of a column; `cells` has one value for each run.
    pub fn new<'a>(cells: impl Iterator<Item = &'a CellValue>) -> Self {
        Self::of_counts(cells.map(|cell| (cell, 1)))
    }

    /// Facts of a column by its values, each with a number of runs; values of no run do not count.
    pub fn of_counts<'a>(counts: impl Iterator<Item = (&'a CellValue, usize)>) -> Self {
        let (mut numbers, mut texts, mut truths, mut nan) = (0_usize, 0_usize, 0_usize, 0);
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut is_whole, mut is_bit) = (true, true);
        let mut distinct = BTreeSet::new();
        for (cell, count) in counts.filter(|(_, count)| *count > 0) {
            match cell {
                CellValue::Missing => continue,
                CellValue::Number(number) => {
                    numbers += count;
                    nan += usize::from(number.is_nan()) * count;
                    is_whole &= number.fract() == 0.0;
                    is_bit &= *number == 0.0 || *number == 1.0;
                    if number.is_finite() {
                        least = least.min(*number);
                        greatest = greatest.max(*number);
                    }
                }
                CellValue::Text(_) => texts += count,
                CellValue::Truth(_) => truths += count,
            }
            distinct.insert(key(cell));
        }
        let runs = numbers + texts + truths;
        let is_number = numbers > 0 && ((texts + truths) as f64) < TEXT_SHARE * runs as f64;
        let kind = match () {
            () if runs == 0 => ColumnKind::Empty,
            () if truths == runs || (numbers == runs && is_bit) => ColumnKind::Truth,
            () if is_number && is_whole => ColumnKind::Integer,
            () if is_number => ColumnKind::Number,
            () if distinct.len() <= MAX_CHOICES && distinct.len() * 2 <= runs => {
                ColumnKind::Category
            }
            () => ColumnKind::Text,
        };
        let has_numbers = least <= greatest;
        Self {
            kind,
            is_log: has_numbers && least > 0.0 && greatest / least >= LOG_RATIO,
            least: has_numbers.then_some(least),
            greatest: has_numbers.then_some(greatest),
            runs,
            nan,
            distinct: distinct.len(),
        }
    }

    /// `true` if all runs that have a value have the same.
    pub fn is_constant(&self) -> bool {
        self.distinct <= 1
    }
}

/// Key of a value: equal values have equal keys, all NaN too.
pub(crate) fn key(cell: &CellValue) -> (u8, u64, &str) {
    match cell {
        CellValue::Missing => (0, 0, ""),
        CellValue::Number(number) if number.is_nan() => (1, f64::NAN.to_bits(), ""),
        // −0 equals 0.
        CellValue::Number(number) => (1, (number + 0.0).to_bits(), ""),
        CellValue::Text(text) => (2, 0, text),
        CellValue::Truth(yes) => (3, u64::from(*yes), ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(cells: &[CellValue]) -> ColumnFacts {
        ColumnFacts::new(cells.iter())
    }

    fn numbers(values: &[f64]) -> Vec<CellValue> {
        values.iter().copied().map(CellValue::Number).collect()
    }

    #[test]
    fn one_none_does_not_make_numbers_texts() {
        let mut cells = numbers(&[0.1, 0.01, 0.001]);
        cells.push(CellValue::of_text("None"));
        let column = facts(&cells);
        assert_eq!(
            (column.kind, column.is_log, column.runs),
            (ColumnKind::Number, true, 3)
        );
        cells.push(CellValue::of_text("auto"));
        assert_eq!(facts(&cells).kind, ColumnKind::Text, "one of four is 25 %");
        cells.extend(numbers(&[0.1, 0.2]));
        assert_eq!(facts(&cells).kind, ColumnKind::Number, "one of six");
    }

    #[test]
    fn zero_and_one_are_truth_values_and_keep_their_numbers() {
        let column = facts(&numbers(&[0.0, 1.0, 1.0]));
        assert_eq!(
            (column.kind, column.least, column.greatest),
            (ColumnKind::Truth, Some(0.0), Some(1.0))
        );
        assert_eq!(facts(&numbers(&[1.0, 2.0])).kind, ColumnKind::Integer);
        assert_eq!(facts(&numbers(&[1.0, f64::NAN])).nan, 1);
    }

    #[test]
    fn texts_that_name_each_run_are_no_categories() {
        let texts = |names: &[&str]| {
            names
                .iter()
                .map(|name| CellValue::of_text(name))
                .collect::<Vec<_>>()
        };
        assert_eq!(facts(&texts(&["a", "b", "c", "a"])).kind, ColumnKind::Text);
        assert_eq!(
            facts(&texts(&["a", "b", "b", "a"])).kind,
            ColumnKind::Category
        );
        assert_eq!(facts(&[CellValue::Missing]).kind, ColumnKind::Empty);
    }

    #[test]
    fn single_precision_is_no_difference() {
        assert_eq!(
            CellValue::of_single(0.004_999_999_888_241_291),
            CellValue::Number(0.005)
        );
        let (double, single) = (
            CellValue::Number(0.1),
            CellValue::Number(f64::from(0.1_f32)),
        );
        assert!(double.agrees(&single) && single.agrees(&double));
        assert!(!CellValue::Number(0.1).agrees(&CellValue::Number(0.100_001)));
        assert!(
            matches!(CellValue::of_single(f64::NAN), CellValue::Number(number) if number.is_nan())
        );
    }
}
