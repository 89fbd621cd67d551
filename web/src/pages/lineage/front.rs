//! Pareto fronts of two results: front 1 has the rows that no other row beats in both, front 2 those that only rows of
//! front 1 beat, and so on.

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
    let results: Vec<(f64, f64)> = (0..view.len())
        .map(|row| (value(a, *first, row), value(b, *second, row)))
        .collect();
    fronts(&results)
}

/// Front of each row by two results of which less is better, from 1 on; `None` for rows with a value that is not finite.
/// In the order of the first result, a row is on the first front whose last second result is not better: `O(n log n)`.
fn fronts(results: &[(f64, f64)]) -> Vec<Option<u32>> {
    let is_finite = |row: &usize| results[*row].0.is_finite() && results[*row].1.is_finite();
    let mut rows: Vec<usize> = (0..results.len()).filter(is_finite).collect();
    rows.sort_by(|a, b| {
        let (a, b) = (results[*a], results[*b]);
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let mut found = vec![None; results.len()];
    // Least second result of each front so far; descending fronts have ascending results.
    let mut least: Vec<f64> = Vec::new();
    let mut before: Option<(usize, usize)> = None;
    for row in rows {
        // Equal rows beat each other in nothing.
        let same = before.filter(|(other, _)| results[*other] == results[row]);
        let front = same.map_or_else(
            || least.partition_point(|own| *own <= results[row].1),
            |(_, front)| front,
        );
        match least.get_mut(front) {
            Some(own) => *own = results[row].1,
            None => least.push(results[row].1),
        }
        found[row] = u32::try_from(front + 1).ok();
        before = Some((row, front));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::fronts;

    #[test]
    fn fronts_are_those_of_the_slow_way() {
        let mut state = 7_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 28)
        };
        let results: Vec<(f64, f64)> = (0..60).map(|_| (next(), next())).collect();
        let beats = |a: (f64, f64), b: (f64, f64)| a.0 <= b.0 && a.1 <= b.1 && a != b;
        let mut slow = vec![None; results.len()];
        for front in 1.. {
            let rest: Vec<usize> = (0..results.len())
                .filter(|row| slow[*row].is_none())
                .collect();
            if rest.is_empty() {
                break;
            }
            let is_front = |row: &usize| {
                !rest
                    .iter()
                    .any(|other| beats(results[*other], results[*row]))
            };
            for row in rest.iter().copied().filter(is_front).collect::<Vec<_>>() {
                slow[row] = Some(front);
            }
        }
        assert_eq!(fronts(&results), slow);
        assert_eq!(fronts(&[(1.0, f64::NAN), (1.0, 2.0)]), [None, Some(1)]);
    }
}
