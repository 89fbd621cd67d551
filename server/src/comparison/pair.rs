//! Two runs with the rule that pairs their points, and the tensors that both have.

use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHasher};
use trainscope_analysis::comparison::order::Position;
use trainscope_api::Sentence;
use trainscope_format::Role;

use super::alignment::{Alignment, Points};
use super::recorded::{Key, RunNames, Sources, recorded_steps};
use super::{Options, Side};
use crate::queries::error::Failure;

/// Pairs of steps, shared by tensors with equal ones.
pub(super) type StepPairs = Arc<[(i64, i64)]>;

/// Two runs.
pub(super) struct Pair<'a> {
    pub(super) sides: [Side<'a>; 2],
    pub(super) recorded: [&'a RunNames; 2],
    pub(super) alignment: Alignment,
    /// Reason why points are compared by step.
    pub(super) align_fault: Option<Sentence>,
    pub(super) since: i64,
    /// Tensors of both runs in the order within a step.
    pub(super) tensors: Vec<TensorPair<'a>>,
}

/// A tensor of both runs.
pub(super) struct TensorPair<'a> {
    pub(super) rank: u32,
    pub(super) name: &'a Arc<str>,
    pub(super) role: Role,
    pub(super) position: Position,
    pub(super) sources: [&'a Sources; 2],
    /// Steps at which files or records of both have its elements, or its summary.
    pub(super) elements: StepPairs,
}

impl<'a> Pair<'a> {
    pub(super) fn new(
        sides: [Side<'a>; 2],
        recorded: [&'a RunNames; 2],
        options: Options,
    ) -> Result<Self, Failure> {
        let (alignment, align_fault) = Alignment::new(options.align, sides, recorded);
        let mut pair = Self {
            sides,
            recorded,
            alignment,
            align_fault,
            since: options.since.unwrap_or(i64::MIN),
            tensors: Vec::new(),
        };
        let mut shared = FxHashMap::default();
        let [base, other] = recorded;
        for (key, sources) in &base.tensors {
            let Some(theirs) = other.tensors.get(key) else {
                continue;
            };
            let elements = pair.step_pairs(key, [sources, theirs], &mut shared)?;
            pair.tensors.push(TensorPair {
                rank: key.0,
                name: &key.1,
                role: sources.role,
                position: Position::of_tensor(sources.role, sources.place),
                sources: [sources, theirs],
                elements,
            });
        }
        pair.tensors
            .sort_by(|a, b| (a.position, a.name, a.rank).cmp(&(b.position, b.name, b.rank)));
        Ok(pair)
    }

    /// Pairs of steps with elements.
    fn step_pairs(
        &self,
        key: &Key,
        sources: [&Sources; 2],
        shared: &mut FxHashMap<u64, StepPairs>,
    ) -> Result<StepPairs, Failure> {
        let mut steps = [Vec::new(), Vec::new()];
        let mut times = [Vec::new(), Vec::new()];
        for at in 0..2 {
            let (recorded, side) = (self.recorded[at], self.sides[at]);
            if sources[at].in_files {
                let tensor = recorded
                    .catalog
                    .as_ref()
                    .and_then(|catalog| catalog.tensor(&key.1));
                let listed = tensor.and_then(|tensor| tensor.steps.get(&key.0));
                steps[at] = listed.into_iter().flatten().map(|step| step.0).collect();
            } else if sources[at].records.is_some() {
                (steps[at], times[at]) = recorded_steps(side, key)?;
            }
        }
        if steps.iter().any(Vec::is_empty) {
            return Ok(Arc::default());
        }
        let mut hasher = FxHasher::default();
        steps.hash(&mut hasher);
        for time in times.iter().flatten() {
            time.to_bits().hash(&mut hasher);
        }
        let entry = shared.entry(hasher.finish()).or_insert_with(|| {
            let [a, b] = [0, 1].map(|at| Points {
                steps: &steps[at],
                wall_times_secs: &times[at],
            });
            let mut pairs = self.alignment.pairs(&a, &b);
            pairs.retain(|pair| pair.0 >= self.since);
            pairs.into()
        });
        Ok(Arc::clone(entry))
    }
}
