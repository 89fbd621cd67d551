//! Differences between two pipelines: operations in data order, and their parameters.

use std::collections::BTreeMap;

use trainscope_api::pipeline::{Pipeline, PipelineOperation, matched, parameters_by_name};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Differences {
    /// `true` if there is a pipeline to compare with.
    pub(super) is_there: bool,
    pub(super) operations: Vec<Difference>,
    /// Names of the operations that only the other pipeline has.
    pub(super) only_there: Vec<String>,
}

/// Difference of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// The other pipeline has no counterpart.
    OnlyHere,
    /// Differing parameters by name with their value in the other pipeline, if present; empty if equal.
    Values(BTreeMap<String, Option<String>>),
}

impl Differences {
    /// `true` if nothing differs.
    pub(super) fn is_same(&self) -> bool {
        let same = Difference::Values(BTreeMap::new());
        self.is_there
            && self.only_there.is_empty()
            && self.operations.iter().all(|difference| *difference == same)
    }
}

/// Compares two pipelines. As many operations as possible are matched by name, in order.
pub(super) fn differing(pipeline: &Pipeline, other: Option<&Pipeline>) -> Differences {
    let Some(other) = other else {
        return Differences::default();
    };
    let (here, there) = (&pipeline.operations, &other.operations);
    let names = |operations: &'_ [PipelineOperation]| -> Vec<String> {
        operations
            .iter()
            .map(|operation| operation.name.clone())
            .collect()
    };
    let partners = matched(&names(here), &names(there));
    let operations = here.iter().zip(&partners).map(|(operation, partner)| {
        let other = partner.and_then(|partner| there.get(partner));
        other.map_or(Difference::OnlyHere, |other| {
            Difference::Values(values(operation, other))
        })
    });
    let is_alone = |(index, _): &(usize, &PipelineOperation)| !partners.contains(&Some(*index));
    let alone = there.iter().enumerate().filter(is_alone);
    Differences {
        is_there: true,
        operations: operations.collect(),
        only_there: alone.map(|(_, operation)| operation.name.clone()).collect(),
    }
}

fn values(
    operation: &PipelineOperation,
    other: &PipelineOperation,
) -> BTreeMap<String, Option<String>> {
    let (here, there) = (flat(operation), flat(other));
    let mut differing = BTreeMap::new();
    for (name, value) in &here {
        if there.get(name) != Some(value) {
            differing.insert(name.clone(), there.get(name).cloned());
        }
    }
    let missing = there
        .into_iter()
        .filter(|(name, _)| !here.contains_key(name));
    differing.extend(missing.map(|(name, value)| (name, Some(value))));
    differing
}

fn flat(operation: &PipelineOperation) -> BTreeMap<String, String> {
    let parts = operation.transforms.iter().chain(&operation.sampler);
    let parts = parts.map(|part| (&*part.name, &*part.parameters));
    parameters_by_name(&operation.parameters, parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipeline(names: &[(&str, &str)]) -> Pipeline {
        let operations = names.iter().map(|(name, size)| PipelineOperation {
            name: (*name).to_owned(),
            parameters: vec![("size".to_owned(), (*size).to_owned())],
            ..PipelineOperation::default()
        });
        Pipeline {
            operations: operations.collect(),
            ..Pipeline::default()
        }
    }

    #[test]
    fn operations_are_matched_in_order() {
        let here = pipeline(&[("Source", "1"), ("Map", "1"), ("Map", "2"), ("Batch", "8")]);
        let other = pipeline(&[
            ("Source", "1"),
            ("Shuffle", "9"),
            ("Map", "1"),
            ("Batch", "16"),
        ]);
        let found = differing(&here, Some(&other));
        let size = |there: &str| {
            let value = Some(there.to_owned());
            Difference::Values(BTreeMap::from([("size".to_owned(), value)]))
        };
        let same = Difference::Values(BTreeMap::new());
        let only = Difference::OnlyHere;
        // Either of the two `Map` operations may be the counterpart.
        assert_eq!(found.operations[0], same);
        assert_eq!(
            found
                .operations
                .iter()
                .filter(|difference| **difference == only)
                .count(),
            1
        );
        assert_eq!(found.operations[3], size("16"));
        assert_eq!(found.only_there, ["Shuffle"]);
        assert!(!found.is_same());
        assert!(differing(&here, Some(&here)).is_same());
        assert!(!differing(&here, None).is_same());
    }
}
