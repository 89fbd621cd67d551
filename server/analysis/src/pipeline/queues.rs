//! Queues of a pipeline: the fill of the queue behind each operation, and the bottleneck.

use std::collections::HashSet;

use trainscope_format::lineage::{DatasetNode, LineageValue};
use trainscope_format::queues::{Operators, Queue};

use super::{MIN_SAMPLES, Pipeline};

/// Fill above which a queue waits for its consumer; below it waits for its producer.
const HALF: f64 = 0.5;
/// Operation that the runtime appends to a pipeline; it does nothing to data.
const OF_RUNTIME: &str = "EpochCtrl";

/// Measurements of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationStats {
    /// Threads or processes that worked on it.
    pub workers: u64,
    /// Output queue; `None` if it ran within the operation that it feeds.
    pub queue: Option<Queue>,
    /// Processor load of all its workers per sample, in percent of one processor; empty if not measured.
    pub cpu_percent: Vec<u64>,
}

impl OperationStats {
    /// Mean share of its workers' time spent computing, 0 to 1, where 1 is a processor each; `None` if not measured.
    pub fn busy(&self) -> Option<f64> {
        let room = self.cpu_percent.len() as f64 * self.workers as f64 * 100.0;
        let taken: f64 = self.cpu_percent.iter().map(|taken| *taken as f64).sum();
        (room > 0.0).then(|| (taken / room).min(1.0))
    }
}

impl Pipeline {
    /// The measured pipeline, without the parameters of its operations.
    pub fn of_operators(operators: &Operators) -> Self {
        let fed: HashSet<usize> = operators
            .operators
            .iter()
            .flat_map(|operator| operator.inputs.iter().copied())
            .collect();
        // The last one feeds no other; in a cycle the first one in the file counts.
        let last = (0..operators.operators.len()).find(|index| !fed.contains(index));
        let mut ran = Vec::new();
        let mut seen = HashSet::new();
        let Some(mut tree) = node(operators, last.unwrap_or(0), &mut seen, &mut ran) else {
            return Self::default();
        };
        if operators.operators[ran[ran.len() - 1]].name == OF_RUNTIME && tree.children.len() == 1 {
            tree = tree.children.remove(0);
            ran.pop();
        }
        let mut pipeline = Self::new(&tree);
        for (operation, index) in pipeline.operations.iter_mut().zip(ran) {
            let found = &operators.operators[index];
            operation.running = Some(OperationStats {
                workers: found.workers,
                queue: found.queue.clone(),
                cpu_percent: found.cpu_percent.clone(),
            });
        }
        pipeline.interval_millis = operators.interval_millis;
        pipeline.processors = operators.processors;
        pipeline
    }

    /// Adds measurements of the same pipeline; returns false, without a change, if it is another one. Operations are
    /// equal if they have the same names in the same order; a file source may have the name of the file or of its
    /// reader.
    pub fn take_running(&mut self, ran: &Self) -> bool {
        let mut from = 0;
        let mut places = Vec::new();
        for operation in &ran.operations {
            if operation
                .running
                .as_ref()
                .is_none_or(|running| running.queue.is_none())
            {
                continue;
            }
            let is_source = operation.inputs.is_empty();
            let found = self.operations.iter().skip(from).position(|other| {
                let is_alike = plain(&other.name) == plain(&operation.name);
                is_alike && !is_source || is_source && other.inputs.is_empty()
            });
            let Some(found) = found else {
                return false;
            };
            places.push(from + found);
            from += found + 1;
        }
        if places.is_empty() {
            return false;
        }
        let queued = ran.operations.iter();
        let queued = queued.filter(|operation| {
            operation
                .running
                .as_ref()
                .is_some_and(|r| r.queue.is_some())
        });
        for (at, operation) in places.iter().zip(queued) {
            self.operations[*at].running.clone_from(&operation.running);
        }
        self.interval_millis = ran.interval_millis;
        self.processors = ran.processors;
        true
    }

    /// The bottleneck, if the training waits at all: the queue behind it is rather empty, and all queues before it are
    /// rather full, or it is a source. If `is_waiting` is unknown, the training counts as waiting if most of at least
    /// [`MIN_SAMPLES`] samples found the last queue empty.
    pub fn slow(&self, is_waiting: Option<bool>) -> Option<usize> {
        let last = self.operations.len().checked_sub(1)?;
        let (fill, mut at) = self.emptiest(&[last])?;
        let queue = self.queue(at)?;
        let has_enough = queue.sizes.len() >= MIN_SAMPLES;
        let mostly = has_enough && queue.empty_samples() * 2 > queue.sizes.len();
        if !is_waiting.unwrap_or(mostly) || fill >= HALF {
            return None;
        }
        // Inputs come before their users, so this ends.
        loop {
            match self.emptiest(&self.operations[at].inputs) {
                Some((fill, input)) if fill < HALF => at = input,
                _ => return Some(at),
            }
        }
    }

    /// Mean fill of the queues before an operation; the emptiest of several.
    pub fn fill_before(&self, at: usize) -> Option<f64> {
        let (fill, _) = self.emptiest(&self.operations.get(at)?.inputs)?;
        Some(fill)
    }

    /// The operation with the emptiest queue and its mean fill. An operation without a queue runs within its user: its
    /// inputs are used instead.
    fn emptiest(&self, among: &[usize]) -> Option<(f64, usize)> {
        let mut next = among.to_vec();
        let mut emptiest: Option<(f64, usize)> = None;
        while let Some(at) = next.pop() {
            match self.queue(at).and_then(Queue::mean_fill) {
                Some(fill) if emptiest.is_none_or(|(least, _)| fill < least) => {
                    emptiest = Some((fill, at));
                }
                Some(_) => {}
                None => next.extend(&self.operations.get(at)?.inputs),
            }
        }
        emptiest
    }

    fn queue(&self, at: usize) -> Option<&Queue> {
        self.operations.get(at)?.running.as_ref()?.queue.as_ref()
    }
}

/// The tree of inputs of an operator; `ran` collects the indices of operators in the order of a pipeline.
fn node(
    all: &Operators,
    at: usize,
    seen: &mut HashSet<usize>,
    ran: &mut Vec<usize>,
) -> Option<DatasetNode> {
    let operator = all.operators.get(at).filter(|_| seen.insert(at))?;
    let children = operator.inputs.iter();
    let children = children.filter_map(|input| node(all, *input, seen, ran));
    let children = children.collect();
    ran.push(at);
    let name = LineageValue::Text(operator.name.clone());
    Some(DatasetNode {
        parameters: vec![("op_type".to_owned(), name)],
        children,
        ..DatasetNode::default()
    })
}

/// Name in lower case without suffix: `BatchDataset`, `Batch` and `batch` are equal.
fn plain(name: &str) -> String {
    let name = name.strip_suffix("Dataset").unwrap_or(name);
    name.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use trainscope_format::queues::Operator;

    use super::*;

    /// Operators as (name, sizes of a queue of 10, inputs); without sizes there is no queue.
    fn operators(all: &[(&str, &[u64], &[usize])]) -> Operators {
        let operators = all.iter().map(|(name, sizes, inputs)| Operator {
            name: (*name).to_owned(),
            workers: 1,
            queue: (!sizes.is_empty()).then(|| Queue {
                capacity: 10,
                sizes: sizes.to_vec(),
            }),
            inputs: inputs.to_vec(),
            ..Operator::default()
        });
        Operators {
            interval_millis: 1_000,
            operators: operators.collect(),
            total: all.len(),
            ..Operators::default()
        }
    }

    #[test]
    fn workers_are_busy_by_what_they_take_of_a_processor_each() {
        let busy = |workers, samples: &[u64]| {
            let running = OperationStats {
                workers,
                cpu_percent: samples.to_vec(),
                ..OperationStats::default()
            };
            running.busy()
        };
        assert_eq!(busy(2, &[0, 100, 200]), Some(0.5));
        assert_eq!(busy(1, &[121, 100]), Some(1.0));
        assert_eq!((busy(1, &[]), busy(0, &[100])), (None, None));
    }

    fn slow(all: &[(&str, &[u64], &[usize])], is_waiting: Option<bool>) -> Option<String> {
        let pipeline = Pipeline::of_operators(&operators(all));
        let slow = pipeline.slow(is_waiting)?;
        Some(pipeline.operations[slow].name.clone())
    }

    #[test]
    fn the_slow_one_stands_between_a_full_queue_and_an_empty_one() {
        let chain: [(&str, &[u64], &[usize]); 5] = [
            ("EpochCtrl", &[], &[1]),
            ("Batch", &[0, 1], &[2]),
            ("Cast", &[0, 0], &[3]),
            ("Decode", &[0, 2], &[4]),
            ("Reader", &[10, 9], &[]),
        ];
        assert_eq!(slow(&chain, Some(true)).as_deref(), Some("Decode"));
        assert_eq!(slow(&chain, Some(false)), None);
        // Unknown, and one of two samples is not enough.
        assert_eq!(slow(&chain, None), None);

        let mut reading = chain;
        reading[4].1 = &[0; MIN_SAMPLES];
        reading[1].1 = &[0; MIN_SAMPLES];
        assert_eq!(slow(&reading, None).as_deref(), Some("Reader"));
        // A single sample of a queue is not enough.
        reading[1].1 = &[0];
        assert_eq!(slow(&reading, None), None);
        // The training waits for something else.
        let mut ahead = chain;
        ahead[1].1 = &[10, 10];
        assert_eq!(slow(&ahead, Some(true)), None);
        assert_eq!(slow(&[("Batch", &[], &[])], Some(true)), None);
        assert_eq!(slow(&[], None), None);
    }

    #[test]
    fn of_branches_the_emptier_one_is_followed() {
        let zip: [(&str, &[u64], &[usize]); 5] = [
            ("Zip", &[], &[1, 2]),
            ("Map", &[10], &[3]),
            ("Slow", &[0], &[4]),
            ("Left", &[10], &[]),
            ("Right", &[10], &[]),
        ];
        // A zip without a queue counts by its emptier input.
        assert_eq!(slow(&zip, Some(true)).as_deref(), Some("Slow"));
        let mut queued = zip;
        queued[0].1 = &[0];
        assert_eq!(slow(&queued, Some(true)).as_deref(), Some("Slow"));
    }

    #[test]
    fn circles_and_loose_ends_are_walked_once() {
        let circle: [(&str, &[u64], &[usize]); 2] = [("A", &[0], &[1]), ("B", &[0], &[0, 7])];
        let pipeline = Pipeline::of_operators(&operators(&circle));
        assert_eq!(pipeline.operations.len(), 2);
        assert_eq!(slow(&circle, Some(true)).as_deref(), Some("B"));
    }

    #[test]
    fn what_ran_is_found_again_in_what_was_recorded() {
        let text = |text: &str| LineageValue::Text(text.to_owned());
        let recorded = |name: &str, children: Vec<DatasetNode>| DatasetNode {
            parameters: vec![("op_type".to_owned(), text(name))],
            children,
            ..DatasetNode::default()
        };
        let source = recorded("TFRecordDataset", Vec::new());
        let mapped = recorded("Map", vec![recorded("Skip", vec![source])]);
        let mut pipeline = Pipeline::new(&recorded("Batch", vec![mapped]));
        let ran = operators(&[
            ("EpochCtrl", &[], &[1]),
            ("Batch", &[1], &[2]),
            ("Map", &[2], &[3]),
            ("TFReader", &[3], &[]),
        ]);
        assert!(pipeline.take_running(&Pipeline::of_operators(&ran)));
        let sizes = pipeline.operations.iter().map(|operation| {
            let queue = operation.running.as_ref()?.queue.as_ref()?;
            queue.sizes.first().copied()
        });
        assert_eq!(sizes.collect::<Vec<_>>(), [Some(3), None, Some(2), Some(1)]);
        // There is no queue between Skip and its user.
        assert_eq!(pipeline.fill_before(2), Some(0.3));
        let before = pipeline.clone();
        let other = operators(&[("Shuffle", &[1], &[1]), ("TFReader", &[3], &[])]);
        assert!(!pipeline.take_running(&Pipeline::of_operators(&other)));
        assert!(!pipeline.take_running(&Pipeline::default()));
        assert_eq!(pipeline, before);
    }
}
