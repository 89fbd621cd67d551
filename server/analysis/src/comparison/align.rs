//! Pairs of recorded points of two runs: by step, or at the same number of samples, epochs or seconds.

/// Tolerance for equal positions, relative: quotients of whole numbers are not exact.
const EQUAL: f64 = 1e-9;

/// Points of both runs at the same step; both lists ascend.
pub fn common_steps(a: &[i64], b: &[i64]) -> Vec<(i64, i64)> {
    let mut pairs = Vec::new();
    let mut rest = b.iter().peekable();
    for &step in a {
        while rest.next_if(|other| **other < step).is_some() {}
        if rest.peek() == Some(&&step) {
            pairs.push((step, step));
        }
    }
    pairs
}

/// Points at the same position: each point of `a` with the last one of `b` that is not later. Both lists are steps with
/// positions, ascending.
///
/// A point of `b` is compared once, with the nearest point of `a`. Points of `a` have no partner if they are later than
/// the last one of `b` by more than the distance of its last two.
pub fn by_position(a: &[(i64, f64)], b: &[(i64, f64)]) -> Vec<(i64, i64)> {
    let Some(&(_, last)) = b.last() else {
        return Vec::new();
    };
    let before = b.len().checked_sub(2).and_then(|at| b.get(at));
    let end = last + before.map_or(0.0, |before| last - before.1);
    let is_not_later =
        |other: f64, position: f64| other <= position + EQUAL * position.abs().max(other.abs());
    let mut pairs: Vec<(i64, i64)> = Vec::new();
    let mut next = 0;
    for &(step, position) in a {
        while b
            .get(next)
            .is_some_and(|point| is_not_later(point.1, position))
        {
            next += 1;
        }
        let Some(&(other, _)) = next.checked_sub(1).and_then(|at| b.get(at)) else {
            continue;
        };
        if pairs.last().is_some_and(|pair| pair.1 == other) || !is_not_later(position, end) {
            continue;
        }
        pairs.push((step, other));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_in_both() {
        assert_eq!(common_steps(&[0, 1, 3, 5], &[1, 2, 3]), [(1, 1), (3, 3)]);
        assert!(common_steps(&[], &[1]).is_empty());
    }

    #[test]
    fn samples_of_other_batches() {
        let steps = |scale: f64, count: i64| -> Vec<(i64, f64)> {
            (1..=count)
                .map(|step| (step, step as f64 * scale))
                .collect()
        };
        // Batches of 8 and of 16: step 2 is step 1.
        let pairs = by_position(&steps(8.0, 6), &steps(16.0, 3));
        assert_eq!(pairs, [(2, 1), (4, 2), (6, 3)]);
        let pairs = by_position(&steps(16.0, 3), &steps(8.0, 6));
        assert_eq!(pairs, [(1, 2), (2, 4), (3, 6)]);
        // The other one ended early.
        let pairs = by_position(&steps(8.0, 100), &steps(16.0, 3));
        assert_eq!(pairs.last(), Some(&(6, 3)));
    }
}
