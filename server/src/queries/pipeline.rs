//! Data pipelines of a run: the recorded graphs of its data sets, their course, and the time that the training waited
//! for data.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::Value;
use trainscope_analysis::pipeline::{self, Clock, Waiting};
use trainscope_api::pipeline::{
    InputClock, InputQueue, InputTimes, MAX_PIPELINES, MAX_SAMPLES, MAX_STRETCHES, OperationStats,
    Pipeline, PipelineAnswer, PipelineOperation, PipelinePart, SlowOperation, StepTime,
    WorkersEstimate,
};
use trainscope_format::lineage::TrainLineage;
use trainscope_format::{Body, Kind, Lineage, Profile};

use super::error::Failure;
use super::pipeline_queues::{self, query};
use crate::index::Index;

/// Data pipelines of a run, and waiting by step; empty if neither was recorded.
pub(crate) fn answer(index: &Index, run: &str) -> Result<PipelineAnswer, Failure> {
    let mut answer = PipelineAnswer::default();
    let (mut pipelines, mut trainings) = (Vec::new(), Vec::new());
    let watched = pipeline_queues::read_files(index, run, &mut answer)?;
    for (tag, rank) in index.tags_of(run, Kind::Lineage)? {
        let records = index.records(Kind::Lineage, &query(run, &tag, rank), |found| {
            Ok(match found.body {
                Body::Lineage(body) => Some(*body),
                _ => None,
            })
        })?;
        answer.cut |= records.cut;
        for at in records.records {
            match at.body {
                Lineage::Dataset(node) => {
                    let found = pipeline::Pipeline::new(&node);
                    pipelines.push((at.wall_time_secs, rank, at.step, found));
                }
                Lineage::Train(train) => trainings.push((at.wall_time_secs, train)),
                Lineage::Evaluation(_) | Lineage::UserDefined(_) => {}
            }
        }
    }
    let times = waiting(index, run, watched.times, &mut answer)?;
    // The newest first; equal ones by rank.
    pipelines.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for (rank, ran) in watched.pipelines {
        let mut of_rank = pipelines.iter_mut().filter(|entry| entry.1 == rank);
        if !of_rank.any(|(.., pipeline)| pipeline.take_running(&ran)) {
            // The measured pipeline comes first.
            pipelines.insert(0, (f64::INFINITY, rank, 0, ran));
        }
    }
    for (_, rank, step, pipeline) in pipelines {
        let pipeline = told(&pipeline, rank, step, times.get(&rank));
        let mut known = answer.pipelines.iter();
        if known.all(|known| known.operations != pipeline.operations) {
            answer.pipelines.push(pipeline);
        }
    }
    answer.cut |= answer.pipelines.len() > MAX_PIPELINES;
    answer.pipelines.truncate(MAX_PIPELINES);
    let last = trainings.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let TrainLineage {
        dataset_size,
        batch_size,
        ..
    } = last.map(|(_, train)| train).unwrap_or_default();
    (answer.dataset_size, answer.batch_size) = (dataset_size, batch_size);

    let times = times.iter();
    answer.inputs = times.map(|(rank, times)| input(*rank, times)).collect();
    Ok(answer)
}

/// Waiting times of each rank: from its spans, or else from `batches`.
fn waiting(
    index: &Index,
    run: &str,
    batches: BTreeMap<u32, pipeline::InputTimes>,
    answer: &mut PipelineAnswer,
) -> Result<BTreeMap<u32, pipeline::InputTimes>, Failure> {
    let mut ranks: BTreeMap<u32, Waiting> = BTreeMap::new();
    for (tag, rank) in index.tags_of(run, Kind::Profile)? {
        answer.has_profile = true;
        if ranks.len() >= MAX_PIPELINES && !ranks.contains_key(&rank) {
            answer.cut = true;
            continue;
        }
        let waiting = RefCell::new(ranks.remove(&rank).unwrap_or_default());
        let records = index.records(Kind::Profile, &query(run, &tag, rank), |found| {
            let Body::Profile(source) = &found.body else {
                return Ok(None);
            };
            // A record that no longer decodes belongs to a replaced file.
            let profile = Profile::read(&found.read(source.data)?).ok();
            Ok(profile.map(|profile| waiting.borrow_mut().observe(&profile)))
        })?;
        answer.cut |= records.cut;
        ranks.insert(rank, waiting.into_inner());
    }
    let spans = ranks
        .into_iter()
        .filter_map(|(rank, waiting)| Some((rank, waiting.times()?)));
    let mut times = batches;
    times.extend(spans);
    answer.has_profile |= !times.is_empty();
    Ok(times)
}

fn told(
    pipeline: &pipeline::Pipeline,
    rank: u32,
    step: i64,
    times: Option<&pipeline::InputTimes>,
) -> Pipeline {
    let judged = times.filter(|times| times.is_judged());
    let slow = pipeline.slow(judged.map(|times| times.severity().is_some()));
    let more_workers = |slow: usize| {
        let running = pipeline.operations.get(slow)?.running.as_ref()?;
        let all = pipeline::more_workers(times?, running.workers).into_iter();
        let all = all.map(|estimate| WorkersEstimate {
            workers: estimate.workers,
            step_nanos: estimate.step_nanos,
        });
        Some(all.collect())
    };
    let index = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    let operations = pipeline
        .operations
        .iter()
        .map(|operation| PipelineOperation {
            name: operation.name.clone(),
            parameters: unfolded(&operation.parameters),
            transforms: operation.transforms.iter().map(part).collect(),
            sampler: operation.sampler.as_ref().map(part),
            inputs: operation.inputs.iter().map(|input| index(*input)).collect(),
            column: index(operation.column),
            row: index(operation.row),
            running: operation.running.as_ref().map(running),
        });
    Pipeline {
        rank,
        step,
        operations: operations.collect(),
        total: pipeline.total as u64,
        interval_millis: pipeline.interval_millis,
        slow: slow.map(|slow| SlowOperation {
            operation: index(slow),
            fill_before: pipeline.fill_before(slow),
            more_workers: more_workers(slow).unwrap_or_default(),
        }),
        processors: pipeline.processors,
    }
}

fn running(stats: &pipeline::OperationStats) -> OperationStats {
    let room = stats.workers as f64 * 100.0;
    let each = stats.cpu_percent.len().div_ceil(MAX_SAMPLES).max(1);
    let greatest = stats.cpu_percent.chunks(each);
    let greatest = greatest.filter_map(|taken| taken.iter().copied().max());
    let busy = stats.busy();
    let alone = OperationStats {
        workers: stats.workers,
        busy,
        busy_samples: greatest
            .filter(|_| busy.is_some())
            .map(|taken| (taken as f64 / room).min(1.0))
            .collect(),
        ..OperationStats::default()
    };
    let Some(queue) = &stats.queue else {
        return alone;
    };
    let each = queue.sizes.len().div_ceil(MAX_SAMPLES).max(1);
    let sizes = queue.sizes.chunks(each);
    OperationStats {
        capacity: queue.capacity,
        fill: queue.mean_fill().unwrap_or(0.0),
        samples: queue.sizes.len() as u64,
        judged: queue.sizes.len() >= pipeline::MIN_SAMPLES,
        empty: queue.empty_samples() as u64,
        sizes: sizes
            .filter_map(|sizes| sizes.iter().copied().min())
            .collect(),
        ..alone
    }
}

fn part(part: &pipeline::Part) -> PipelinePart {
    PipelinePart {
        name: part.name.clone(),
        parameters: unfolded(&part.parameters),
    }
}

/// `MindSpore` writes the parameters of an operation as one text of JSON; here each value is a separate pair.
fn unfolded(parameters: &[(String, String)]) -> Vec<(String, String)> {
    let unfold = |(name, text): &(String, String)| {
        if name != "tensor_op_params" {
            return vec![(name.clone(), text.clone())];
        }
        match serde_json::from_str(text) {
            Ok(Value::Object(values)) => {
                let values = values.into_iter().map(|(name, value)| match value {
                    Value::String(text) => (name, text),
                    other => (name, other.to_string()),
                });
                values.collect()
            }
            _ if text == "None" => Vec::new(),
            _ => vec![(name.clone(), text.clone())],
        }
    };
    parameters.iter().flat_map(unfold).collect()
}

fn input(rank: u32, times: &pipeline::InputTimes) -> InputTimes {
    let told = |time: &pipeline::StepTime, last_step: i64| StepTime {
        step: time.step,
        last_step,
        whole_nanos: time.whole_nanos,
        input_nanos: time.input_nanos,
    };
    let each = times.steps.len().div_ceil(MAX_STRETCHES).max(1);
    let stretches = times.steps.chunks(each).filter_map(|steps| {
        let worst = steps.iter().max_by_key(|step| step.input_nanos)?;
        Some(told(worst, steps.last()?.step))
    });
    let longest = times.longest();
    InputTimes {
        rank,
        clock: match times.clock {
            Clock::Spans => InputClock::Spans,
            Clock::Iterator => InputClock::Iterator,
            Clock::Device => InputClock::Device,
        },
        lane: times.lane.clone(),
        steps: times.steps.len() as u64,
        share: times.share(),
        judged: times.is_judged(),
        severity: times.severity(),
        mean_whole_nanos: times.mean(|step| step.whole_nanos),
        mean_input_nanos: times.mean(|step| step.input_nanos),
        longest: longest.map_or_else(StepTime::default, |step| told(&step, step.step)),
        found: times.found.map(|queue| InputQueue {
            batches: queue.batches,
            empty: queue.empty,
            first_nanos: queue.first_nanos,
        }),
        stretches: stretches.collect(),
    }
}
