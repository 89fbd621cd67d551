//! `/api/pipeline`: the data-set graphs that a run has recorded, and what its profiles say of waiting for data.

use std::cell::RefCell;
use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use serde_json::Value;
use trainscope_analysis::pipeline::{self, Waiting};
use trainscope_api::error::ApiError;
use trainscope_api::pipeline::{
    InputTimes, MAX_PIPELINES, MAX_STRETCHES, Pipeline, PipelineAnswer, PipelineOperation,
    PipelinePart, StepTime,
};
use trainscope_api::records::{MAX_RECORDS, RecordsQuery, RunQuery};
use trainscope_format::lineage::TrainLineage;
use trainscope_format::{Body, Kind, Lineage, Profile};

use super::error::Failure;
use super::request::Params;
use super::{Site, blocking, json};
use crate::index::Index;

/// How the data of a run are made, and how long the training waits for them
#[utoipa::path(
    get,
    path = "/api/pipeline",
    operation_id = "pipeline",
    params(RunQuery),
    responses(
        (status = 200, description = "Data pipelines, and waiting by step; empty where neither was recorded", body = PipelineAnswer),
        (status = "default", description = "Why not", body = ApiError),
    )
)]
pub(super) async fn get(
    State(site): State<Site>,
    Params(query): Params<RunQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&answer(&site.index, &query.run)?)).await
}

fn answer(index: &Index, run: &str) -> Result<PipelineAnswer, Failure> {
    let mut answer = PipelineAnswer::default();
    let (mut pipelines, mut trainings) = (Vec::new(), Vec::new());
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
                    let found = told(&pipeline::Pipeline::new(&node), rank, at.step);
                    pipelines.push((at.wall_time_secs, found));
                }
                Lineage::Train(own) => trainings.push((at.wall_time_secs, own)),
                Lineage::Evaluation(_) | Lineage::UserDefined(_) => {}
            }
        }
    }
    // The newest first, of equals the lowest rank.
    pipelines.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.rank.cmp(&b.1.rank)));
    for (_, own) in pipelines {
        let mut known = answer.pipelines.iter();
        if known.all(|known| known.operations != own.operations) {
            answer.pipelines.push(own);
        }
    }
    answer.cut |= answer.pipelines.len() > MAX_PIPELINES;
    answer.pipelines.truncate(MAX_PIPELINES);
    let last = trainings.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let TrainLineage {
        dataset_size,
        batch_size,
        ..
    } = last.map(|(_, own)| own).unwrap_or_default();
    (answer.dataset_size, answer.batch_size) = (dataset_size, batch_size);

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
            // It was read when it was indexed; now it is another file.
            let profile = Profile::read(&found.read(source.data)?).ok();
            Ok(profile.map(|profile| waiting.borrow_mut().observe(&profile)))
        })?;
        answer.cut |= records.cut;
        ranks.insert(rank, waiting.into_inner());
    }
    let times = ranks
        .into_iter()
        .filter_map(|(rank, own)| Some(times(rank, &own.times()?)));
    answer.inputs = times.collect();
    Ok(answer)
}

fn query(run: &str, tag: &str, rank: u32) -> RecordsQuery {
    RecordsQuery {
        run: run.to_owned(),
        tag: tag.to_owned(),
        rank,
        points: Some(MAX_RECORDS),
        ..RecordsQuery::default()
    }
}

fn told(own: &pipeline::Pipeline, rank: u32, step: i64) -> Pipeline {
    let index = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    let operations = own.operations.iter().map(|own| PipelineOperation {
        name: own.name.clone(),
        parameters: unfolded(&own.parameters),
        transforms: own.transforms.iter().map(part).collect(),
        sampler: own.sampler.as_ref().map(part),
        inputs: own.inputs.iter().map(|input| index(*input)).collect(),
        column: index(own.column),
        row: index(own.row),
    });
    Pipeline {
        rank,
        step,
        operations: operations.collect(),
        total: own.total as u64,
    }
}

fn part(own: &pipeline::Part) -> PipelinePart {
    PipelinePart {
        name: own.name.clone(),
        parameters: unfolded(&own.parameters),
    }
}

/// `MindSpore` writes what an operation is given as one text of JSON; here each value stands by itself.
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

fn times(rank: u32, times: &pipeline::InputTimes) -> InputTimes {
    let told = |own: &pipeline::StepTime, last_step: i64| StepTime {
        step: own.step,
        last_step,
        whole_nanos: own.whole_nanos,
        input_nanos: own.input_nanos,
    };
    let mean = |of: fn(&pipeline::StepTime) -> u64| {
        let sum: u128 = times.steps.iter().map(|own| u128::from(of(own))).sum();
        let mean = sum / (times.steps.len() as u128).max(1);
        u64::try_from(mean).unwrap_or(u64::MAX)
    };
    let each = times.steps.len().div_ceil(MAX_STRETCHES).max(1);
    let stretches = times.steps.chunks(each).filter_map(|steps| {
        let worst = steps.iter().max_by_key(|own| own.input_nanos)?;
        Some(told(worst, steps.last()?.step))
    });
    let longest = times.longest();
    InputTimes {
        rank,
        lane: times.lane.clone(),
        steps: times.steps.len() as u64,
        share: times.share(),
        severity: times.severity(),
        mean_whole_nanos: mean(|own| own.whole_nanos),
        mean_input_nanos: mean(|own| own.input_nanos),
        longest: longest.map_or_else(StepTime::default, |own| told(&own, own.step)),
        stretches: stretches.collect(),
    }
}
