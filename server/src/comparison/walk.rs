//! Walk over the elements of tensors of two runs, step by step. A tensor is read only until it has parted.

use std::collections::BTreeSet;
use std::hash::{Hash as _, Hasher as _};

use rustc_hash::FxHasher;
use trainscope_analysis::comparison::{Course, Stair};
use trainscope_api::compare::Reading;
use trainscope_api::findings::Progress;

use super::cells::{Cell, Cells, Fault};
use super::elements::ElementReader;
use super::pair::{Pair, TensorPair};
use super::{Effort, Options};

/// Number of bytes that are read ahead after the first step that parts: a second or two.
const FOLLOWING_BYTES: u64 = 256 << 20;

#[derive(Default)]
pub(super) struct Walk {
    /// Fingerprint of the files and pairs of steps.
    stamp: u64,
    /// For each tensor of the pair: its course, and the number of its pairs of steps that were compared.
    pub(super) courses: Vec<(Course, usize)>,
    pub(super) faults: Vec<Fault>,
    pub(super) reading: Reading,
    pub(super) progress: Option<Progress>,
    /// Last step whose tensors were all compared, or had parted.
    pub(super) read_until: Option<i64>,
}

impl Walk {
    /// Continues until all tensors have parted, or the effort is used up.
    pub(super) fn go_on(
        &mut self,
        pair: &Pair<'_>,
        known: &Cells,
        effort: &Effort,
        options: Options,
    ) {
        let stamp = stamp(pair);
        if self.stamp != stamp || self.courses.len() != pair.tensors.len() {
            *self = Self {
                stamp,
                courses: vec![Default::default(); pair.tensors.len()],
                ..Self::default()
            };
        }
        let steps: BTreeSet<(i64, u32)> = distinct_steps(pair);
        let sizes: Vec<((i64, u32), u64)> = steps
            .into_iter()
            .map(|(step, rank)| ((step, rank), size(pair, step, rank)))
            .collect();
        let total_bytes = sizes.iter().map(|(_, bytes)| bytes).sum();
        let mut done_bytes = 0;
        let mut reader = ElementReader::new(pair, known, &effort.gone);
        self.reading = Reading::Done;
        self.read_until = None;
        let mut first_parting: Option<i64> = None;
        // The first step is always read: each request makes progress.
        let mut has_read = false;
        for ((step, rank), bytes) in sizes {
            let is_beyond = first_parting.is_some_and(|first| step > first);
            if is_beyond && !options.all && total_bytes - done_bytes > FOLLOWING_BYTES {
                self.reading = Reading::FirstStep;
                break;
            }
            let wanted = self.wanted(pair, step, rank, options.tolerance);
            if !wanted.is_empty() && has_read && effort.is_over() {
                self.reading = Reading::Going;
                break;
            }
            for at in wanted {
                if !self.compare(pair, at, &mut reader) || (has_read && effort.is_over()) {
                    self.reading = Reading::Going;
                    break;
                }
                has_read = true;
            }
            if self.reading == Reading::Going {
                break;
            }
            if first_parting.is_none() && self.parts_at(pair, step, options.tolerance) {
                first_parting = Some(step);
            }
            done_bytes += bytes;
            self.read_until = Some(step);
        }
        for fault in reader.faults {
            if !self.faults.contains(&fault) {
                self.faults.push(fault);
            }
        }
        self.progress = (total_bytes > 0).then_some(Progress {
            done_bytes: if self.reading == Reading::Done {
                total_bytes
            } else {
                done_bytes
            },
            total_bytes,
        });
    }

    /// Indices of tensors whose next pair of steps begins with this step, and that have not parted.
    fn wanted(&self, pair: &Pair<'_>, step: i64, rank: u32, tolerance: f64) -> Vec<usize> {
        let is_wanted = |(at, tensor): &(usize, &TensorPair<'_>)| {
            let (course, next) = &self.courses[*at];
            tensor.rank == rank
                && tensor
                    .elements
                    .get(*next)
                    .is_some_and(|pair| pair.0 == step)
                && course.parting(tolerance).is_none()
        };
        let all = pair.tensors.iter().enumerate().filter(is_wanted);
        all.map(|(at, _)| at).collect()
    }

    /// Compares a tensor at its next pair of steps; false if the client has left.
    fn compare(&mut self, pair: &Pair<'_>, at: usize, reader: &mut ElementReader<'_>) -> bool {
        let tensor = &pair.tensors[at];
        let (course, next) = &mut self.courses[at];
        let Some(&steps) = tensor.elements.get(*next) else {
            return true;
        };
        let Some(cell) = reader.difference(tensor, steps) else {
            return false;
        };
        *next += 1;
        let (difference, by_statistics) = match cell {
            Cell::Difference {
                value,
                by_statistics,
                is_same,
            } => {
                course.differs |= !is_same;
                (value, by_statistics)
            }
            Cell::OtherShape => {
                course.differs = true;
                course.has_other_shape = true;
                (f64::INFINITY, false)
            }
            Cell::Fault => return true,
        };
        course.add(Stair {
            step: steps.0,
            other_step: steps.1,
            difference,
            values: None,
            by_statistics,
        });
        true
    }

    /// True if a tensor parts at a step or before it.
    fn parts_at(&self, pair: &Pair<'_>, step: i64, tolerance: f64) -> bool {
        let parting = |entry: &(Course, usize)| entry.0.parting(tolerance).map(|stair| stair.step);
        let all = self.courses.iter().take(pair.tensors.len());
        all.filter_map(parting).any(|first| first <= step)
    }
}

/// Fingerprint of the files of both runs, and of the pairs of steps.
fn stamp(pair: &Pair<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    for recorded in pair.recorded {
        let files = recorded.files.as_ref();
        files.map(|files| files.stamp).hash(&mut hasher);
    }
    for tensor in &pair.tensors {
        (tensor.name, tensor.rank, tensor.elements.len()).hash(&mut hasher);
    }
    hasher.finish()
}

/// Steps of the base and ranks at which elements are compared.
fn distinct_steps(pair: &Pair<'_>) -> BTreeSet<(i64, u32)> {
    let mut steps = BTreeSet::new();
    let mut known: Vec<(*const (i64, i64), u32)> = Vec::new();
    for tensor in &pair.tensors {
        // Most tensors share their pairs of steps.
        let key = (tensor.elements.as_ptr(), tensor.rank);
        if !known.contains(&key) {
            steps.extend(
                tensor
                    .elements
                    .iter()
                    .map(|aligned| (aligned.0, tensor.rank)),
            );
            if known.len() < 64 {
                known.push(key);
            }
        }
    }
    steps
}

/// Size of the files of both runs at a step of the base.
fn size(pair: &Pair<'_>, step: i64, rank: u32) -> u64 {
    let of = |at: usize, step: i64| -> u64 {
        let files = pair.recorded[at].files.as_ref();
        let sources = files.and_then(|files| files.run.ranks.get(&rank)?.steps.get(&step));
        let sources = sources.into_iter().flatten();
        sources.map(|source| source.len_bytes).sum()
    };
    let tensor = pair.tensors.iter().find_map(|tensor| {
        let at = tensor
            .elements
            .binary_search_by_key(&step, |aligned| aligned.0)
            .ok()?;
        (tensor.rank == rank).then(|| tensor.elements[at].1)
    });
    of(0, step) + tensor.map_or(0, |other| of(1, other))
}
