//! `MindSpore` profiler files of data pipelines: operations with samples of their queues, and batches.

use std::collections::HashMap;

use serde::Deserialize;

use crate::queues::{Batch, Batches, NotOperators, Operator, Operators, Queue, QueueFormat, Usage};

/// Prefix, suffix and format of the file names; the rank is between the two.
const NAMES: [(&str, &str, QueueFormat); 4] = [
    (
        "pipeline_profiling_",
        ".json",
        QueueFormat::MinddataOperators,
    ),
    (
        "dataset_iterator_profiling_",
        ".txt",
        QueueFormat::MinddataIterator,
    ),
    (
        "device_queue_profiling_",
        ".txt",
        QueueFormat::MinddataDevice,
    ),
    (
        "minddata_cpu_utilization_",
        ".json",
        QueueFormat::MinddataCpu,
    ),
];

/// Format and rank of a file by its name.
pub(crate) fn claims(file_name: &str) -> Option<(QueueFormat, u32)> {
    NAMES.iter().find_map(|(before, after, format)| {
        let rank = file_name.strip_prefix(before)?.strip_suffix(after)?;
        Some((*format, rank.parse().ok()?))
    })
}

#[derive(Deserialize)]
struct File {
    op_info: Vec<Operation>,
    #[serde(default)]
    sampling_interval: u64,
}

#[derive(Deserialize)]
struct Operation {
    op_id: i64,
    #[serde(default)]
    op_type: String,
    #[serde(default)]
    num_workers: u64,
    metrics: Option<Metrics>,
    #[serde(default)]
    children: Vec<i64>,
}

#[derive(Deserialize)]
struct Metrics {
    output_queue: Option<Samples>,
}

#[derive(Deserialize)]
struct Samples {
    #[serde(default)]
    length: u64,
    /// Negative for samples without a queue.
    #[serde(default)]
    size: Vec<i64>,
}

/// `{"op_info": [{"op_id", "op_type", "num_workers", "metrics": {"output_queue": {"length", "size"}}, "children"}]}`.
pub(crate) fn operators(bytes: &[u8]) -> Result<Operators, NotOperators> {
    let file: File = serde_json::from_slice(bytes).map_err(|e| NotOperators(e.to_string()))?;
    let total = file.op_info.len();
    let mut kept = file.op_info;
    kept.truncate(Operators::MOST);
    let indices = kept
        .iter()
        .enumerate()
        .map(|(index, operator)| (operator.op_id, index));
    let indices: HashMap<i64, usize> = indices.collect();
    let operators = kept.into_iter().map(|operator| {
        let samples = operator.metrics.and_then(|metrics| metrics.output_queue);
        let children = operator.children.iter();
        Operator {
            id: operator.op_id,
            name: operator
                .op_type
                .strip_suffix("Op")
                .unwrap_or(&operator.op_type)
                .to_owned(),
            workers: operator.num_workers,
            queue: samples.map(|Samples { length, size }| Queue {
                capacity: length,
                sizes: size
                    .into_iter()
                    .filter_map(|size| size.try_into().ok())
                    .collect(),
            }),
            inputs: children.filter_map(|id| indices.get(id).copied()).collect(),
            cpu_percent: Vec::new(),
        }
    });
    Ok(Operators {
        interval_millis: file.sampling_interval,
        operators: operators.collect(),
        total,
        processors: 0,
    })
}

#[derive(Deserialize)]
struct UsageFile {
    op_info: Vec<OperationUsage>,
    #[serde(default)]
    cpu_processor_num: u64,
}

#[derive(Deserialize)]
struct OperationUsage {
    op_id: i64,
    metrics: Option<Utilization>,
}

/// Percent of one processor: two busy workers take 200.
#[derive(Default, Deserialize)]
struct Utilization {
    #[serde(default)]
    user_utilization: Vec<i64>,
    #[serde(default)]
    sys_utilization: Vec<i64>,
}

/// `{"cpu_processor_num", "op_info": [{"op_id", "metrics": {"user_utilization", "sys_utilization"}}]}`; both lists
/// hold the same samples and are added up.
pub(crate) fn usage(bytes: &[u8]) -> Result<Usage, NotOperators> {
    let file: UsageFile = serde_json::from_slice(bytes).map_err(|e| NotOperators(e.to_string()))?;
    let total = file.op_info.len();
    let operators = file
        .op_info
        .into_iter()
        .take(Operators::MOST)
        .map(|operator| {
            let Utilization {
                user_utilization: user,
                sys_utilization: system,
            } = operator.metrics.unwrap_or_default();
            let at = |list: &[i64], index: usize| {
                let value = list.get(index).copied().unwrap_or(0);
                u64::try_from(value).unwrap_or(0)
            };
            let samples = 0..user.len().max(system.len());
            let sums = samples.map(|index| at(&user, index).saturating_add(at(&system, index)));
            (operator.op_id, sums.collect())
        });
    Ok(Usage {
        processors: file.cpu_processor_num,
        operators: operators.collect(),
        total,
    })
}

/// Lines of five numbers: 0 for a time or 1 for the queue; type of the time or capacity of the queue; the batch;
/// milliseconds or length of the queue; the time in milliseconds. Lines of one batch are consecutive.
pub(crate) fn batches(bytes: &[u8]) -> Batches {
    let text = String::from_utf8_lossy(bytes);
    let (whole, rest) = text.rsplit_once('\n').unwrap_or(("", &text));
    let mut all = Batches {
        is_torn: !rest.trim().is_empty(),
        ..Batches::default()
    };
    for line in whole.lines() {
        let mut numbers = line.split_ascii_whitespace().map(str::parse::<i64>);
        let mut next = || numbers.next()?.ok();
        let five = (next(), next(), next(), next(), next());
        let (Some(kind), Some(which), Some(step), Some(value), Some(at_millis)) = five else {
            all.skipped_lines += u64::from(!line.trim().is_empty());
            continue;
        };
        if all.batches.last().is_none_or(|last| last.step != step) {
            all.batches.push(Batch {
                step,
                ..Batch::default()
            });
        }
        let Some(batch) = all.batches.last_mut() else {
            continue;
        };
        batch.at_millis = at_millis;
        let value = u64::try_from(value).ok();
        match (kind, which, value) {
            (0, 0, Some(wait)) => batch.wait_millis = Some(wait),
            // Times of the push, and of both together.
            (0, 1 | 2, Some(_)) => {}
            (1, 0.., Some(size)) => batch.queue = Some((size, which.unsigned_abs())),
            _ => all.skipped_lines += 1,
        }
    }
    all
}

impl QueueFormat {
    /// Detects a file by its name.
    pub fn sniff(file_name: &str) -> Option<Self> {
        claims(file_name).map(|(format, _)| format)
    }
}

impl Operators {
    /// Parses a file of [`QueueFormat::MinddataOperators`]. Unknown inputs are dropped.
    pub fn read(bytes: &[u8]) -> Result<Self, NotOperators> {
        operators(bytes)
    }
}

impl Usage {
    /// Parses a file of [`QueueFormat::MinddataCpu`].
    pub fn read(bytes: &[u8]) -> Result<Self, NotOperators> {
        usage(bytes)
    }
}

impl Batches {
    /// Parses a file of [`QueueFormat::MinddataIterator`] or [`QueueFormat::MinddataDevice`].
    pub fn read(bytes: &[u8]) -> Self {
        batches(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_a_file_is() {
        for (name, claimed) in [
            (
                "pipeline_profiling_0.json",
                Some((QueueFormat::MinddataOperators, 0)),
            ),
            (
                "dataset_iterator_profiling_7.txt",
                Some((QueueFormat::MinddataIterator, 7)),
            ),
            (
                "device_queue_profiling_12.txt",
                Some((QueueFormat::MinddataDevice, 12)),
            ),
            (
                "minddata_cpu_utilization_0.json",
                Some((QueueFormat::MinddataCpu, 0)),
            ),
            ("pipeline_profiling_.json", None),
            ("pipeline_profiling_0.txt", None),
            ("minddata_pipeline_summary_0.json", None),
        ] {
            assert_eq!(claims(name), claimed, "{name}");
        }
    }

    #[test]
    fn operators_keep_what_can_be_understood() {
        let json = br#"{"op_info": [
            {"op_id": 4, "op_type": "MapOp", "num_workers": 2, "children": [9, 5],
             "metrics": {"output_queue": {"length": 4, "size": [-1, 0, 2, 4]}}},
            {"op_id": 5, "op_type": "Odd", "metrics": null}]}"#;
        let found = operators(json).unwrap();
        let queue = found.operators[0].queue.clone().unwrap();
        assert_eq!(queue.sizes, [0, 2, 4]);
        assert_eq!((queue.mean_fill(), queue.empty_samples()), (Some(0.5), 1));
        assert_eq!(found.operators[0].inputs, [1]);
        assert_eq!(
            (&*found.operators[0].name, &*found.operators[1].name),
            ("Map", "Odd")
        );
        assert_eq!(found.operators[1].queue, None);
        assert_eq!(Queue::default().mean_fill(), None);
        let cut = operators(&json[..100]).unwrap_err();
        assert!(cut.to_string().contains("EOF"), "{cut}");
        assert!(operators(b"[]").is_err());
    }

    #[test]
    fn what_operations_take_is_found_by_their_numbers() {
        let json = br#"{"cpu_processor_num": 2, "op_info": [
            {"op_id": 5, "metrics": {"user_utilization": [0, 90], "sys_utilization": [-1, 20, 7]}},
            {"op_id": 6, "metrics": null}]}"#;
        let found = usage(json).unwrap();
        assert_eq!((found.processors, found.total), (2, 2));
        assert_eq!(found.operators, [(5, vec![0, 110, 7]), (6, Vec::new())]);
        let mut operators = Operators {
            operators: vec![
                Operator::default(),
                Operator {
                    id: 5,
                    ..Operator::default()
                },
            ],
            ..Operators::default()
        };
        operators.take_usage(&found);
        assert!(operators.operators[0].cpu_percent.is_empty());
        assert_eq!(operators.operators[1].cpu_percent, [0, 110, 7]);
        assert_eq!(operators.processors, 2);
        assert!(usage(br#"{"op_info": 3}"#).is_err());
    }

    #[test]
    fn batches_end_where_a_file_was_cut() {
        let text =
            "0 1 1 0 50\n0 0 1 163 50\n1 16 1 0 50\n0 0 2 x 60\n\n0 0 2 7 60\n1 16 2 3 60\n0 0 3 1";
        let found = batches(text.as_bytes());
        let batch = |step, at_millis, wait, size| Batch {
            step,
            at_millis,
            wait_millis: Some(wait),
            queue: Some((size, 16)),
        };
        assert_eq!(found.batches, [batch(1, 50, 163, 0), batch(2, 60, 7, 3)]);
        assert_eq!((found.skipped_lines, found.is_torn), (1, true));
        assert!(!batches(&text.as_bytes()[..text.len() - 7]).is_torn);
        assert_eq!(batches(b"\xff\xfe\n").skipped_lines, 1);
    }
}
