//! Data pipelines of two runs: operations matched by name in the order of the data, with the parameters that differ.

use std::collections::BTreeMap;

use trainscope_analysis::pipeline::{Operation, Pipeline};
use trainscope_api::compare::{ParameterDifference, PipelineDifference, PipelineFacts};
use trainscope_api::pipeline::{matched, parameters_by_name};

use super::Side;
use crate::table::is_path;

/// Differences of the pipelines recorded last; `None` unless both runs have one.
pub(super) fn differences(base: Side<'_>, other: Side<'_>) -> Option<PipelineFacts> {
    let a = Pipeline::new(base.row.pipeline.as_ref()?);
    let b = Pipeline::new(other.row.pipeline.as_ref()?);
    let names = |pipeline: &Pipeline| -> Vec<String> {
        pipeline
            .operations
            .iter()
            .map(|operation| operation.name.clone())
            .collect()
    };
    let partners = matched(&names(&a), &names(&b));
    let mut all = Vec::new();
    let mut next = 0;
    for (at, (operation, partner)) in a.operations.iter().zip(&partners).enumerate() {
        let until = partner.unwrap_or(next);
        alone(&b, next..until, &mut all);
        next = next.max(partner.map_or(next, |partner| partner + 1));
        let parameters = match partner.and_then(|partner| b.operations.get(partner)) {
            Some(theirs) => parameters(operation, theirs),
            None => Vec::new(),
        };
        if partner.is_none() || !parameters.is_empty() {
            all.push(PipelineDifference {
                operation: operation.name.clone(),
                base_place: Some(at as u64),
                other_place: partner.map(|partner| partner as u64),
                parameters,
            });
        }
    }
    alone(&b, next..b.operations.len(), &mut all);
    Some(PipelineFacts {
        differences: all,
        operations: [a.total as u64, b.total as u64],
    })
}

/// Operations of the other run only.
fn alone(other: &Pipeline, places: std::ops::Range<usize>, all: &mut Vec<PipelineDifference>) {
    for place in places {
        if let Some(operation) = other.operations.get(place) {
            all.push(PipelineDifference {
                operation: operation.name.clone(),
                other_place: Some(place as u64),
                ..PipelineDifference::default()
            });
        }
    }
}

/// Parameters by name, and the names of transforms and sampler.
fn named(operation: &Operation) -> BTreeMap<String, String> {
    let parts = operation.transforms.iter().chain(&operation.sampler);
    let parts = parts.map(|part| (&*part.name, &*part.parameters));
    let mut all = parameters_by_name(&operation.parameters, parts);
    // Places of parts have no value.
    all.retain(|_, value| !value.is_empty());
    let transforms: Vec<&str> = operation
        .transforms
        .iter()
        .map(|part| &*part.name)
        .collect();
    if !transforms.is_empty() {
        all.insert("transforms".to_owned(), transforms.join(", "));
    }
    if let Some(sampler) = &operation.sampler {
        all.insert("sampler".to_owned(), sampler.name.clone());
    }
    all
}

fn parameters(operation: &Operation, theirs: &Operation) -> Vec<ParameterDifference> {
    let (ours, theirs) = (named(operation), named(theirs));
    let mut names: Vec<&String> = ours.keys().chain(theirs.keys()).collect();
    names.sort();
    names.dedup();
    names
        .into_iter()
        .filter(|name| ours.get(*name) != theirs.get(*name))
        .map(|name| {
            let (base, other) = (ours.get(name).cloned(), theirs.get(name).cloned());
            let is_place = |value: &Option<String>| {
                value
                    .as_ref()
                    .is_some_and(|text| is_path(text.trim_start_matches('[')))
            };
            ParameterDifference {
                is_path: is_place(&base) || is_place(&other),
                name: name.clone(),
                base,
                other,
            }
        })
        .collect()
}
