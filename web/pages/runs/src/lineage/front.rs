//! Pareto fronts of the rows of a view by two or three results.

use trainscope_analysis::groups::fronts;
use trainscope_api::table::Direction;

use super::view::View;

/// Pareto front of each row; empty with fewer than two results.
pub(super) fn fronts_of(
    view: &View,
    keys: &[String],
    directions: &[Option<Direction>],
) -> Vec<Option<u32>> {
    if keys.len() < 2 {
        return Vec::new();
    }
    let value = |key: &str, direction: Option<Direction>, row: usize| {
        let value = view.number(key, row).unwrap_or(f64::NAN);
        if direction == Some(Direction::More) {
            -value
        } else {
            value
        }
    };
    let results: Vec<Vec<f64>> = (0..view.len())
        .map(|row| {
            let results = keys.iter().zip(directions);
            results
                .map(|(key, direction)| value(key, *direction, row))
                .collect()
        })
        .collect();
    fronts(&results)
}
