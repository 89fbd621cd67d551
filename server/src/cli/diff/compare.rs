//! Compares two runs step by step and finds the first difference of each tensor and scalar.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use trainscope_analysis::watchpoint::Needs;
use trainscope_format::TensorSummary;
use trainscope_format::tensor::Tolerance;

use super::measure::{exceeds, of_numbers, of_tensors};
use super::recorded::RecordedData;
use crate::discovery::runs::RunFiles;
use crate::tensor_files::contents::{Content, ListedTensor};
use crate::tensor_files::dumps::DumpGraphs;
use crate::tensor_files::listing;
use crate::tensor_files::read::{Before, Reader, TensorReadError};

/// Result of a comparison.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Relative tolerance.
    pub(super) tolerance: f64,
    /// First difference of each tensor and scalar that differs, in order.
    pub(super) parted: Vec<Parting>,
    /// The largest difference within the tolerance, if there is any.
    pub(super) largest_within: Option<Parting>,
    /// Number of tensors and scalars in both runs.
    pub(super) common: u64,
    /// Number of steps in both runs.
    pub(super) common_steps: u64,
    /// Names in the first run only.
    pub(super) only_a: Vec<String>,
    pub(super) only_b: Vec<String>,
    /// Hyper-parameters that differ: name and both values.
    pub(super) hparams: Vec<(String, String, String)>,
    /// Number of hyper-parameters.
    pub(super) hparam_count: u64,
    /// Operations with different counts in the graphs: name and both counts.
    pub(super) operations: Vec<(String, u64, u64)>,
    /// Number of nodes of each graph.
    pub(super) nodes: [u64; 2],
    /// Last common value of scalars: tag, step and both values.
    pub(super) results: Vec<(Arc<str>, i64, f64, f64)>,
    /// Unsupported element types, by the names of their tensors: not compared.
    pub(super) opaque: BTreeMap<String, String>,
    /// Read errors: file, offset and reason.
    pub(super) faults: Vec<(Arc<str>, u64, String)>,
    /// Number of steps and tensors of each run.
    pub(super) sizes: [(u64, u64); 2],
    pub(super) took: Duration,
}

/// First difference of a tensor or scalar.
#[derive(Clone, Debug)]
pub(super) struct Parting {
    pub(super) name: Arc<str>,
    pub(super) rank: u32,
    pub(super) step: i64,
    pub(super) difference: f64,
    /// Both values, for a scalar.
    pub(super) values: Option<(f64, f64)>,
    /// Position within a step: earlier in the computation first.
    order: (u8, usize),
}

/// Compares two runs.
pub(super) fn compare(
    a: &RunFiles,
    b: &RunFiles,
    tolerance: f64,
    since_step: Option<i64>,
) -> Outcome {
    let began = Instant::now();
    let mut comparing = Comparing {
        since: since_step.unwrap_or(i64::MIN),
        outcome: Outcome {
            tolerance,
            ..Outcome::default()
        },
        steps: BTreeSet::new(),
        done: BTreeSet::new(),
        seen: BTreeSet::new(),
    };
    let [(of_a, faults_a), (of_b, faults_b)] = [a, b].map(RecordedData::read);
    comparing
        .outcome
        .faults
        .extend(faults_a.into_iter().chain(faults_b));
    let opaque = of_a.opaque.iter().chain(&of_b.opaque);
    comparing.outcome.opaque = opaque
        .map(|(name, dtype)| (name.clone(), dtype.clone()))
        .collect();
    comparing.scalars(&of_a, &of_b);
    comparing.statistics(&of_a, &of_b);
    comparing.dumps(a, b);
    comparing.names([a, b], [&of_a, &of_b]);
    comparing.outcome.describe(&of_a, &of_b);
    let mut outcome = comparing.outcome;
    outcome.common = comparing.seen.len() as u64;
    outcome.common_steps = comparing.steps.len() as u64;
    outcome.parted.sort_by(|a, b| {
        (a.step, a.order, &a.name, a.rank).cmp(&(b.step, b.order, &b.name, b.rank))
    });
    outcome.took = began.elapsed();
    outcome
}

type Key = (u32, Arc<str>);

struct Comparing {
    since: i64,
    outcome: Outcome,
    /// Compared steps.
    steps: BTreeSet<i64>,
    /// Tensors and scalars that differ already: the first difference is enough.
    done: BTreeSet<Key>,
    /// Compared tensors and scalars.
    seen: BTreeSet<Key>,
}

impl Comparing {
    fn look(&mut self, parting: Parting) {
        let key = (parting.rank, Arc::clone(&parting.name));
        self.steps.insert(parting.step);
        self.seen.insert(key.clone());
        if exceeds(parting.difference, self.outcome.tolerance) {
            if self.done.insert(key) {
                self.outcome.parted.push(parting);
            }
            return;
        }
        let largest = self.outcome.largest_within.as_ref();
        if parting.difference > largest.map_or(0.0, |largest| largest.difference) {
            self.outcome.largest_within = Some(parting);
        }
    }

    fn scalars(&mut self, a: &RecordedData, b: &RecordedData) {
        for (key, of_a) in &a.scalars {
            let Some(of_b) = b.scalars.get(key) else {
                continue;
            };
            let mut last = None;
            for (&step, &x) in of_a.range(self.since..) {
                let Some(&y) = of_b.get(&step) else { continue };
                last = Some((step, x, y));
                if !self.done.contains(key) {
                    self.look(Parting {
                        name: Arc::clone(&key.1),
                        rank: key.0,
                        step,
                        difference: of_numbers(x, y),
                        values: Some((x, y)),
                        order: (3, 0),
                    });
                }
            }
            if let Some((step, x, y)) = last
                && key.0 == 0
            {
                self.outcome.results.push((Arc::clone(&key.1), step, x, y));
            }
        }
    }

    fn statistics(&mut self, a: &RecordedData, b: &RecordedData) {
        for (key, of_a) in &a.statistics {
            let Some(of_b) = b.statistics.get(key) else {
                continue;
            };
            for (&step, x) in of_a.range(self.since..) {
                let Some(y) = of_b.get(&step) else { continue };
                // The recorded change is the one since the previous step, which is another quantity.
                let y = TensorSummary {
                    change: None,
                    ..y.clone()
                };
                self.look(Parting {
                    name: Arc::clone(&key.1),
                    rank: key.0,
                    step,
                    difference: of_tensors(x, &y),
                    values: None,
                    order: (phase(&key.1), 0),
                });
                if self.done.contains(key) {
                    break;
                }
            }
        }
    }

    fn dumps(&mut self, a: &RunFiles, b: &RunFiles) {
        let [mut reader_a, mut reader_b] = [(); 2].map(|()| Reader::default());
        for (&rank, of_a) in &a.ranks {
            let Some(of_b) = b.ranks.get(&rank) else {
                continue;
            };
            let [graphs_a, graphs_b] =
                [of_a, of_b].map(|found| DumpGraphs::read(&found.dump, |_, _| {}));
            for (&step, sources_a) in of_a.steps.range(self.since..) {
                let Some(sources_b) = of_b.steps.get(&step) else {
                    continue;
                };
                let list_a = listing::list(sources_a, &graphs_a);
                let list_b = listing::list(sources_b, &graphs_b);
                for (source, unread) in list_a.faults.into_iter().chain(list_b.faults) {
                    let (offset, reason) = unread.offset_and_reason();
                    self.fault(&source.shown, offset, reason);
                }
                let known: BTreeMap<&str, &ListedTensor<'_>> = list_b
                    .tensors
                    .iter()
                    .map(|tensor| (&*tensor.name, tensor))
                    .collect();
                for (place, x) in list_a.tensors.iter().enumerate() {
                    let key = (rank, Arc::from(&*x.name));
                    let Some(y) = known.get(&*x.name) else {
                        continue;
                    };
                    if self.done.contains(&key) {
                        continue;
                    }
                    match both(x, y, &mut reader_a, &mut reader_b) {
                        Ok(difference) => self.look(Parting {
                            order: (phase(&x.name), place),
                            name: key.1,
                            rank,
                            step,
                            difference,
                            values: None,
                        }),
                        Err((_, TensorReadError::Opaque(tensor))) => {
                            let opaque = &mut self.outcome.opaque;
                            opaque.insert(x.name.clone(), tensor.dtype);
                        }
                        Err((shown, unread)) => {
                            let (offset, reason) = unread.offset_and_reason();
                            self.fault(&shown, offset, reason);
                        }
                    }
                }
            }
        }
    }

    /// Adds one error per file.
    fn fault(&mut self, shown: &Arc<str>, offset: u64, reason: String) {
        if !self.outcome.faults.iter().any(|(file, ..)| file == shown) {
            self.outcome
                .faults
                .push((Arc::clone(shown), offset, reason));
        }
    }

    /// Names of each run, and of one run only.
    fn names(&mut self, runs: [&RunFiles; 2], recorded: [&RecordedData; 2]) {
        let mut all = [(); 2].map(|()| BTreeSet::new());
        for (at, (run, recorded)) in runs.into_iter().zip(recorded).enumerate() {
            let mut steps: BTreeSet<i64> = BTreeSet::new();
            let scalars = recorded
                .scalars
                .iter()
                .map(|(key, points)| (key, points.keys()));
            for (key, of_key) in scalars {
                all[at].insert(key.1.to_string());
                steps.extend(of_key);
            }
            let mut tensors: BTreeSet<String> = BTreeSet::new();
            for (key, of_key) in &recorded.statistics {
                tensors.insert(key.1.to_string());
                steps.extend(of_key.keys());
            }
            for found in run.ranks.values() {
                steps.extend(found.steps.keys());
                let ends = [found.steps.first_key_value(), found.steps.last_key_value()];
                let graphs = DumpGraphs::read(&found.dump, |_, _| {});
                for (_, sources) in ends.into_iter().flatten() {
                    let listed = listing::list(sources, &graphs).tensors;
                    tensors.extend(listed.into_iter().map(|tensor| tensor.name));
                }
            }
            self.outcome.sizes[at] = (steps.len() as u64, tensors.len() as u64);
            all[at].append(&mut tensors);
        }
        let [a, b] = &all;
        self.outcome.only_a = a.difference(b).cloned().collect();
        self.outcome.only_b = b.difference(a).cloned().collect();
    }
}

/// Difference of two tensors; element by element if they have the same type.
fn both(
    a: &ListedTensor<'_>,
    b: &ListedTensor<'_>,
    reader_a: &mut Reader,
    reader_b: &mut Reader,
) -> Result<f64, (Arc<str>, TensorReadError)> {
    let mut needs = Needs {
        hash: true,
        ..Needs::default()
    };
    let summary = |tensor: &ListedTensor<'_>, reader: &mut Reader, before, needs: &Needs| {
        match &tensor.content {
            Content::Known(known) => Ok(known.as_ref().clone()),
            Content::Opaque(opaque) => Err(TensorReadError::Opaque(opaque.clone())),
            Content::At(place) => reader.summary(place, before, needs, false),
        }
        .map_err(|unread| (Arc::clone(&tensor.source.shown), unread))
    };
    let of_a = summary(a, reader_a, Before::Nothing, &needs)?;
    let before = match &a.content {
        Content::At(place) => Before::At(place),
        Content::Known(_) | Content::Opaque(_) => Before::Nothing,
    };
    needs.change = Some(Tolerance {
        relative: 0.0,
        absolute: 0.0,
    });
    let of_b = summary(b, reader_b, before, &needs)?;
    Ok(of_tensors(&of_a, &of_b))
}

impl Outcome {
    /// Compares the context of the runs.
    fn describe(&mut self, a: &RecordedData, b: &RecordedData) {
        let keys: BTreeSet<&String> = a.hparams.keys().chain(b.hparams.keys()).collect();
        self.hparam_count = keys.len() as u64;
        for name in keys {
            let value = |of: &RecordedData| of.hparams.get(name).cloned().unwrap_or_default();
            let (x, y) = (value(a), value(b));
            if x != y {
                self.hparams.push((name.clone(), x, y));
            }
        }
        self.nodes = [a, b].map(|of| of.operations.values().sum());
        if self.nodes.iter().all(|nodes| *nodes > 0) {
            let keys: BTreeSet<&String> = a.operations.keys().chain(b.operations.keys()).collect();
            for name in keys {
                let count = |of: &RecordedData| of.operations.get(name).copied().unwrap_or(0);
                let (x, y) = (count(a), count(b));
                if x != y {
                    self.operations.push((name.clone(), x, y));
                }
            }
        }
    }
}

/// Order within a step: weights are read, activations follow, then the loss and gradients.
fn phase(name: &str) -> u8 {
    let name = name.to_ascii_lowercase();
    let is = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if is(&["grad"]) {
        4
    } else if is(&["input", "activation", "default/"]) {
        1
    } else if is(&["weight", "bias", "param", "gamma", "beta"]) {
        0
    } else {
        2
    }
}
