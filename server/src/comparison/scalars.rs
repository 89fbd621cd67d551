//! Scalars of two runs: the course of each difference, kept until one of the two series grows.

use std::collections::BTreeMap;
use std::hash::{Hash as _, Hasher as _};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use trainscope_analysis::comparison::measure::of_numbers;
use trainscope_analysis::comparison::{Course, Stair};
use trainscope_api::scalars::{ScalarsQuery, Series};

use super::Side;
use super::alignment::Points;
use super::pair::Pair;
use super::recorded::{Growth, Key};
use crate::queries::error::Failure;

/// Maximum number of points of a series in memory: longer ones are read in ranges of steps.
const MAX_POINTS: u64 = 1 << 20;

/// Scalars of both runs.
#[derive(Default)]
pub(super) struct Scalars {
    courses: BTreeMap<Key, ([Growth; 2], ScalarCourse)>,
    /// Steps of the base, of the other run, and compared ones.
    pub(super) steps: [Steps; 3],
}

#[derive(Clone, Debug, Default)]
pub(super) struct ScalarCourse {
    pub(super) course: Course,
    /// Last compared step, and both values there.
    pub(super) last: Option<(i64, f64, f64)>,
}

/// A set of steps that grows by whole lists, most of which are equal.
#[derive(Default)]
pub(super) struct Steps {
    known: FxHashSet<u64>,
    /// Ascending.
    pub(super) all: Vec<i64>,
}

impl Steps {
    /// Adds ascending steps.
    pub(super) fn add(&mut self, steps: &[i64]) {
        let mut hasher = FxHasher::default();
        steps.hash(&mut hasher);
        if !self.known.insert(hasher.finish()) || steps.is_empty() {
            return;
        }
        self.all.extend_from_slice(steps);
        self.all.sort_unstable();
        self.all.dedup();
    }
}

impl Scalars {
    /// Compares scalars that have grown, or were not compared yet.
    pub(super) fn update(&mut self, pair: &Pair<'_>) -> Result<(), Failure> {
        let [base, other] = pair.recorded;
        for (key, growth) in &base.scalars {
            let Some(theirs) = other.scalars.get(key) else {
                continue;
            };
            let growth = [*growth, *theirs];
            if self.courses.get(key).is_some_and(|known| known.0 == growth) {
                continue;
            }
            let mut course = ScalarCourse::default();
            each_pair(pair, key, &mut self.steps, |stair| {
                course.last = stair.values.map(|(a, b)| (stair.step, a, b));
                course.course.add(stair);
            })?;
            self.courses.insert(key.clone(), (growth, course));
        }
        Ok(())
    }

    /// All scalars of both runs, by rank and tag.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Key, &ScalarCourse)> {
        self.courses.iter().map(|(key, (_, course))| (key, course))
    }
}

/// Calls a function for each compared point of a scalar, in order.
pub(super) fn each_pair(
    pair: &Pair<'_>,
    key: &Key,
    steps: &mut [Steps; 3],
    mut look: impl FnMut(Stair),
) -> Result<(), Failure> {
    let [base, other] = pair.sides;
    let most = [0, 1].map(|at| {
        pair.recorded[at]
            .scalars
            .get(key)
            .map_or(0, |growth| growth.points)
    });
    // Only equal steps can be compared range by range.
    let are_steps = pair.alignment == super::alignment::Alignment::Step;
    let ranges = if are_steps && most.iter().any(|points| *points > MAX_POINTS) {
        ranges(
            &read(base, key, i64::MIN, i64::MAX, 2)?,
            most[0].max(most[1]),
        )
    } else {
        vec![(i64::MIN, i64::MAX)]
    };
    for (from, to) in ranges {
        let ours = read(base, key, from, to, usize::MAX)?;
        let theirs = read(other, key, from, to, usize::MAX)?;
        let first = ours.steps.partition_point(|step| *step < pair.since);
        steps[0].add(&ours.steps[first..]);
        let first = theirs.steps.partition_point(|step| *step < pair.since);
        steps[1].add(&theirs.steps[first..]);
        let [a, b] = [&ours, &theirs].map(|series| Points {
            steps: &series.steps,
            wall_times_secs: &series.wall_times_secs,
        });
        let pairs = pair.alignment.pairs(&a, &b);
        let mut compared = Vec::new();
        for (step, other_step) in pairs {
            let places = (
                ours.steps.binary_search(&step),
                theirs.steps.binary_search(&other_step),
            );
            let (Ok(a), Ok(b)) = places else { continue };
            if step < pair.since {
                continue;
            }
            let (a, b) = (ours.values[a], theirs.values[b]);
            compared.push(step);
            look(Stair {
                step,
                other_step,
                difference: of_numbers(a, b),
                values: Some((a, b)),
                by_statistics: false,
            });
        }
        steps[2].add(&compared);
    }
    Ok(())
}

/// Ranges of steps of about [`MAX_POINTS`] points each.
fn ranges(ends: &Series, points: u64) -> Vec<(i64, i64)> {
    let (Some(&first), Some(&last)) = (ends.steps.first(), ends.steps.last()) else {
        return vec![(i64::MIN, i64::MAX)];
    };
    let parts = i64::try_from(points / MAX_POINTS + 1).unwrap_or(1);
    let len = (last.saturating_sub(first) / parts).max(1);
    let begin = |part: i64| first.saturating_add(len.saturating_mul(part));
    let range = |part: i64| {
        let from = if part == 0 { i64::MIN } else { begin(part) };
        let to = if part + 1 == parts {
            i64::MAX
        } else {
            begin(part + 1) - 1
        };
        (from, to)
    };
    (0..parts).map(range).collect()
}

/// Points of a scalar with unique, ascending steps: the last of equal steps counts.
fn read(side: Side<'_>, key: &Key, from: i64, to: i64, points: usize) -> Result<Series, Failure> {
    let query = ScalarsQuery {
        run: side.run.to_owned(),
        tag: key.1.to_string(),
        rank: key.0,
        from: Some(from),
        to: Some(to),
        points: Some(points),
        ..ScalarsQuery::default()
    };
    let mut series = side.index.series(&query)?.read()?;
    if series.steps.windows(2).all(|two| two[0] < two[1]) {
        return Ok(series);
    }
    let last: FxHashMap<i64, usize> = series.steps.iter().copied().zip(0..).collect();
    let mut order: Vec<(i64, usize)> = last.into_iter().collect();
    order.sort_unstable();
    series.values = order.iter().map(|(_, at)| series.values[*at]).collect();
    let times = &series.wall_times_secs;
    series.wall_times_secs = order
        .iter()
        .filter_map(|(_, at)| times.get(*at).copied())
        .collect();
    series.steps = order.into_iter().map(|(step, _)| step).collect();
    Ok(series)
}
