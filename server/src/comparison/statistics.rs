//! Statistics of tensors in event files: the course of each difference, kept until one of the two series grows.

use std::collections::BTreeMap;

use trainscope_analysis::comparison::measure::{is_same_content, of_statistics};
use trainscope_analysis::comparison::{Course, Stair};
use trainscope_api::records::RecordsQuery;
use trainscope_format::{Body, Kind, TensorSummary};

use super::Side;
use super::alignment::Points;
use super::pair::{Pair, TensorPair};
use super::recorded::{Growth, Key};
use super::scalars::Steps;
use crate::queries::error::Failure;

/// Courses of tensors by their recorded statistics.
#[derive(Default)]
pub(super) struct Statistics {
    courses: BTreeMap<Key, ([Growth; 2], Course)>,
    pub(super) steps: [Steps; 3],
}

impl Statistics {
    /// Compares tensors whose statistics have grown, or were not compared yet.
    pub(super) fn update(&mut self, pair: &Pair<'_>) -> Result<(), Failure> {
        for tensor in &pair.tensors {
            let [Some(a), Some(b)] = tensor.sources.map(|sources| sources.statistics) else {
                continue;
            };
            let key: Key = (tensor.rank, std::sync::Arc::clone(tensor.name));
            if self
                .courses
                .get(&key)
                .is_some_and(|known| known.0 == [a, b])
            {
                continue;
            }
            let mut course = Course::default();
            let mut compared = Vec::new();
            each_pair(
                pair,
                tensor,
                &mut self.steps,
                |stair, differs, has_other_shape| {
                    compared.push(stair.step);
                    course.differs |= differs;
                    course.has_other_shape |= has_other_shape;
                    course.add(stair);
                },
            )?;
            self.steps[2].add(&compared);
            self.courses.insert(key, ([a, b], course));
        }
        Ok(())
    }

    /// The course of a tensor.
    pub(super) fn of(&self, tensor: &TensorPair<'_>) -> Option<&Course> {
        let key = (tensor.rank, std::sync::Arc::clone(tensor.name));
        self.courses.get(&key).map(|entry| &entry.1)
    }
}

/// Calls a function for each compared step of a tensor, in order: the difference, true unless the contents are known
/// to be equal to the bit, and true if the shapes differ.
pub(super) fn each_pair(
    pair: &Pair<'_>,
    tensor: &TensorPair<'_>,
    steps: &mut [Steps; 3],
    mut look: impl FnMut(Stair, bool, bool),
) -> Result<(), Failure> {
    let key = (tensor.rank, std::sync::Arc::clone(tensor.name));
    let mut ours = read(pair.sides[0], &key)?;
    let theirs = read(pair.sides[1], &key)?;
    ours.keep_from(pair.since);
    steps[0].add(&ours.steps);
    steps[1].add(&theirs.steps);
    let pairs = pair.alignment.pairs(&ours.points(), &theirs.points());
    for (step, other_step) in pairs {
        let places = (
            ours.steps.binary_search(&step),
            theirs.steps.binary_search(&other_step),
        );
        let (Ok(a), Ok(b)) = places else { continue };
        let (a, b) = (&ours.each[a], &theirs.each[b]);
        let stair = Stair {
            step,
            other_step,
            difference: of_statistics(a, b),
            values: None,
            by_statistics: true,
        };
        look(stair, !is_same_content(a, b), a.shape != b.shape);
    }
    Ok(())
}

/// Statistics of a tensor by step.
#[derive(Default)]
struct Summaries {
    steps: Vec<i64>,
    wall_times_secs: Vec<f64>,
    each: Vec<TensorSummary>,
}

impl Summaries {
    fn points(&self) -> Points<'_> {
        Points {
            steps: &self.steps,
            wall_times_secs: &self.wall_times_secs,
        }
    }

    fn keep_from(&mut self, since: i64) {
        let first = self.steps.partition_point(|step| *step < since);
        self.steps.drain(..first);
        self.wall_times_secs.drain(..first);
        self.each.drain(..first);
    }
}

/// Reads the statistics of a tensor, without their details: the last of equal steps counts.
fn read(side: Side<'_>, key: &Key) -> Result<Summaries, Failure> {
    let query = RecordsQuery {
        run: side.run.to_owned(),
        tag: key.1.to_string(),
        rank: key.0,
        ..RecordsQuery::default()
    };
    let mut summaries = Summaries::default();
    side.index.each_record(Kind::Statistics, &query, |at| {
        let Body::Statistics(mut summary) = at.body else {
            return;
        };
        summary.channels = None;
        summary.stats.exponents = None;
        if summaries.steps.last().is_some_and(|last| *last >= at.step) {
            // Steps of live records never decrease.
            summaries.steps.pop();
            summaries.wall_times_secs.pop();
            summaries.each.pop();
        }
        summaries.steps.push(at.step);
        summaries.wall_times_secs.push(at.wall_time_secs);
        summaries.each.push(*summary);
    })?;
    Ok(summaries)
}
