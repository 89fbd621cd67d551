//! Groups of runs with equal parameters, such as those of one setting with several seeds, and Pareto fronts of results.

use std::collections::BTreeMap;

use crate::columns::{self, CellValue};

/// Parts of names of parameters that do not make a group: repetitions and places.
const REPETITIONS: [&str; 8] = [
    "seed", "host", "hostname", "commit", "path", "dir", "folder", "rank",
];

/// Runs with equal values.
#[derive(Clone, Debug, PartialEq)]
pub struct RunGroup {
    /// Value of each column.
    pub values: Vec<CellValue>,
    /// Rows of its runs, in their order.
    pub rows: Vec<usize>,
}

/// Mean and spread of a result over the runs of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Number of finite results.
    pub count: usize,
    /// Their mean; NaN without any.
    pub mean: f64,
    /// Their standard deviation, by `count − 1`; `None` below two.
    pub deviation: Option<f64>,
    /// Number of results that are NaN or infinite; mean and deviation leave them out.
    pub not_finite: usize,
}

/// Groups of `rows` by the values of columns, in the order of their first runs. Runs without a value form groups too.
pub fn groups(columns: &[Vec<CellValue>], rows: &[usize]) -> Vec<RunGroup> {
    let mut places: BTreeMap<Vec<(u8, u64, &str)>, usize> = BTreeMap::new();
    let mut groups: Vec<RunGroup> = Vec::new();
    for row in rows {
        let values = columns
            .iter()
            .map(|column| column.get(*row).unwrap_or(&CellValue::Missing));
        let key: Vec<_> = values.clone().map(columns::key).collect();
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.rows.push(*row),
            None => groups.push(RunGroup {
                values: values.cloned().collect(),
                rows: vec![*row],
            }),
        }
    }
    groups
}

/// `true` for parameters that make groups unless others are wanted: all but seeds, paths, hosts and commits.
pub fn makes_group(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let mut words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    !words.any(|word| REPETITIONS.contains(&word))
}

/// Mean and spread of numbers; missing ones do not count.
pub fn spread(values: impl Iterator<Item = Option<f64>>) -> Spread {
    let (finite, others): (Vec<f64>, Vec<f64>) =
        values.flatten().partition(|value| value.is_finite());
    let count = finite.len();
    let mean = finite.iter().sum::<f64>() / count as f64;
    let squares: f64 = finite.iter().map(|value| (value - mean).powi(2)).sum();
    Spread {
        count,
        mean,
        deviation: (count > 1).then(|| (squares / (count - 1) as f64).sqrt()),
        not_finite: others.len(),
    }
}

/// Pareto front of each row by results of which less is better: front 1 has the rows that no other row beats, front 2
/// those that only rows of front 1 beat, and so on. A row beats another if it is worse in no result and better in one.
/// `None` for rows with a result that is not finite. Costs up to rows² comparisons for more than two results.
pub fn fronts(results: &[Vec<f64>]) -> Vec<Option<u32>> {
    let is_finite = |row: &usize| results[*row].iter().all(|value| value.is_finite());
    let mut order: Vec<usize> = (0..results.len()).filter(is_finite).collect();
    let compare = |a: &usize, b: &usize| {
        let pairs = results[*a].iter().zip(&results[*b]);
        pairs.fold(std::cmp::Ordering::Equal, |order, (a, b)| {
            order.then((a + 0.0).total_cmp(&(b + 0.0)))
        })
    };
    order.sort_by(compare);
    if results.iter().all(|row| row.len() == 2) {
        return fronts_of_two(results, order);
    }
    let beats = |a: usize, b: usize| {
        let mut pairs = results[a].iter().zip(&results[b]);
        results[a] != results[b] && pairs.all(|(a, b)| a <= b)
    };
    let mut found = vec![None; results.len()];
    let mut members: Vec<Vec<usize>> = Vec::new();
    for row in order {
        // Rows that beat this one come before it, and those of a front are beaten by one of the previous front.
        let is_beaten = |front: &Vec<usize>| front.iter().rev().any(|member| beats(*member, row));
        let front = members.partition_point(is_beaten);
        match members.get_mut(front) {
            Some(front) => front.push(row),
            None => members.push(vec![row]),
        }
        found[row] = u32::try_from(front + 1).ok();
    }
    found
}

/// The same for two results and rows in their order: a row is on the first front whose last second result is not
/// better, `O(n log n)`.
fn fronts_of_two(results: &[Vec<f64>], order: Vec<usize>) -> Vec<Option<u32>> {
    let mut found = vec![None; results.len()];
    // Minimum second result of each front so far; descending fronts have ascending results.
    let mut least: Vec<f64> = Vec::new();
    let mut before: Option<(usize, usize)> = None;
    for row in order {
        // Equal rows beat each other in nothing.
        let same = before.filter(|(other, _)| results[*other] == results[row]);
        let front = same.map_or_else(
            || least.partition_point(|result| *result <= results[row][1]),
            |(_, front)| front,
        );
        match least.get_mut(front) {
            Some(result) => *result = results[row][1],
            None => least.push(results[row][1]),
        }
        found[row] = u32::try_from(front + 1).ok();
        before = Some((row, front));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn runs_with_equal_parameters_are_a_group() {
        let numbers = |values: &[f64]| {
            values
                .iter()
                .copied()
                .map(CellValue::Number)
                .collect::<Vec<_>>()
        };
        let mut lr = numbers(&[0.1, 0.2, 0.1, 0.0]);
        lr[3] = CellValue::Missing;
        let found = groups(&[lr], &[0, 1, 2, 3]);
        let rows: Vec<&[usize]> = found.iter().map(|group| &*group.rows).collect();
        assert_eq!(rows, [&[0, 2][..], &[1], &[3]]);
        assert_eq!(groups(&[], &[1, 2]).len(), 1);
        for (name, makes) in [
            ("lr", true),
            ("random_seed", false),
            ("data.path", false),
            ("host", false),
            ("ghost", true),
        ] {
            assert_eq!(makes_group(name), makes, "{name}");
        }
    }

    #[test]
    fn a_spread_leaves_nan_out_and_counts_it() {
        let two = spread([Some(1.0), Some(3.0), None, Some(f64::NAN)].into_iter());
        assert_eq!((two.count, two.mean, two.not_finite), (2, 2.0, 1));
        assert!((two.deviation.unwrap() - 2.0_f64.sqrt()).abs() < 1e-12);
        let one = spread([Some(1.0)].into_iter());
        assert_eq!((one.count, one.deviation), (1, None));
        assert!(spread(std::iter::empty()).mean.is_nan());
    }

    proptest! {
        #[test]
        fn fronts_are_those_of_the_definition(
            rows in prop_oneof![Just(2_usize), Just(3)].prop_flat_map(|results| {
                prop::collection::vec(prop::collection::vec(0_u8..6, results), 0..40)
            })
        ) {
            let results: Vec<Vec<f64>> =
                rows.iter().map(|row| row.iter().copied().map(f64::from).collect()).collect();
            let beats = |a: &[f64], b: &[f64]| a != b && a.iter().zip(b).all(|(a, b)| a <= b);
            let mut expected = vec![None; results.len()];
            for front in 1.. {
                let rest: Vec<usize> =
                    (0..results.len()).filter(|row| expected[*row].is_none()).collect();
                if rest.is_empty() {
                    break;
                }
                for row in &rest {
                    if !rest.iter().any(|other| beats(&results[*other], &results[*row])) {
                        expected[*row] = Some(front);
                    }
                }
            }
            prop_assert_eq!(fronts(&results), expected);
        }
    }

    #[test]
    fn results_that_are_not_finite_have_no_front() {
        assert_eq!(
            fronts(&[vec![1.0, f64::NAN], vec![1.0, 2.0]]),
            [None, Some(1)]
        );
    }
}
