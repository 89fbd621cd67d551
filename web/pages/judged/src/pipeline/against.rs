//! Differences between two pipelines: operations in data order, and their parameters.

use std::collections::BTreeMap;

use trainscope_api::pipeline::{Pipeline, PipelineOperation, matched, parameters_by_name};

/// Differences between two pipelines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Differences {
    /// `true` if there is a pipeline to compare with.
    pub(super) is_there: bool,
    pub(super) operations: Vec<Difference>,
    /// Names of the operations that only the other one has.
    pub(super) only_there: Vec<String>,
}

/// Difference of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// The other pipeline has none like it.
    OnlyHere,
    /// Parameters that are not the same, by their names here: what they are there, if anything. Empty: it is the same.
    Values(BTreeMap<String, Option<String>>),
}

impl Differences {
    /// `true` if nothing differs.
    pub(super) fn is_same(&self) -> bool {
        let same = Difference::Values(BTreeMap::new());
        self.is_there
            && self.only_there.is_empty()
            && self.operations.iter().all(|own| *own == same)
    }
}

/// Operations are matched by name, in order, as many as can be.
pub(super) fn differing(own: &Pipeline, other: Option<&Pipeline>) -> Differences {
    let Some(other) = other else {
        return Differences::default();
    };
    let (here, there) = (&own.operations, &other.operations);
    let names = |own: &'_ [PipelineOperation]| -> Vec<String> {
        own.iter().map(|own| own.name.clone()).collect()
    };
    let partners = matched(&names(here), &names(there));
    let operations = here.iter().zip(&partners).map(|(own, partner)| {
        let other = partner.and_then(|partner| there.get(partner));
        other.map_or(Difference::OnlyHere, |other| {
            Difference::Values(values(own, other))
        })
    });
    let is_alone = |(index, _): &(usize, &PipelineOperation)| !partners.contains(&Some(*index));
    let alone = there.iter().enumerate().filter(is_alone);
    Differences {
        is_there: true,
        operations: operations.collect(),
        only_there: alone.map(|(_, own)| own.name.clone()).collect(),
    }
}

fn values(own: &PipelineOperation, other: &PipelineOperation) -> BTreeMap<String, Option<String>> {
    let (here, there) = (flat(own), flat(other));
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

fn flat(own: &PipelineOperation) -> BTreeMap<String, String> {
    let parts = own.transforms.iter().chain(&own.sampler);
    let parts = parts.map(|part| (&*part.name, &*part.parameters));
    parameters_by_name(&own.parameters, parts)
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
        let own = pipeline(&[("Source", "1"), ("Map", "1"), ("Map", "2"), ("Batch", "8")]);
        let other = pipeline(&[
            ("Source", "1"),
            ("Shuffle", "9"),
            ("Map", "1"),
            ("Batch", "16"),
        ]);
        let found = differing(&own, Some(&other));
        let size = |there: &str| {
            let value = Some(there.to_owned());
            Difference::Values(BTreeMap::from([("size".to_owned(), value)]))
        };
        let same = Difference::Values(BTreeMap::new());
        let only = Difference::OnlyHere;
        // It does not matter which of two operations of the same name has the counterpart, only that one does.
        assert_eq!(found.operations[0], same);
        assert_eq!(
            found.operations.iter().filter(|own| **own == only).count(),
            1
        );
        assert_eq!(found.operations[3], size("16"));
        assert_eq!(found.only_there, ["Shuffle"]);
        assert!(!found.is_same());
        assert!(differing(&own, Some(&own)).is_same());
        assert!(!differing(&own, None).is_same());
    }
}
