//! Pareto fronts of the rows of a view by two results.

use trainscope_analysis::groups::fronts;
use trainscope_api::table::Direction;

use super::view::View;

/// Front of each row by two results; empty unless there are two.
pub(super) fn fronts_of(
    view: &View,
    keys: &[String],
    directions: &[Option<Direction>],
) -> Vec<Option<u32>> {
    let ([a, b], [first, second]) = (keys, directions) else {
        return Vec::new();
    };
    let value = |key: &str, direction: Option<Direction>, row: usize| {
        let value = view.number(key, row).unwrap_or(f64::NAN);
        if direction == Some(Direction::More) {
            -value
        } else {
            value
        }
    };
    let results: Vec<Vec<f64>> = (0..view.len())
        .map(|row| vec![value(a, *first, row), value(b, *second, row)])
        .collect();
    fronts(&results)
}
