//! Differences between two pipelines: operations in data order, and their parameters.

use std::collections::BTreeMap;

use trainscope_api::pipeline::{
    Pipeline, PipelineOperation, PipelinePart, matched, parameters_by_name,
};

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
    Values(Values),
}

/// Parameters by name, those of parts with the name of the part before them, each with its value in the other
/// pipeline, if present.
pub(super) type Parameters = BTreeMap<String, Option<String>>;

/// Differences of an operation from its counterpart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Values {
    /// The differing parameters.
    pub(super) parameters: Parameters,
    /// Names of the other transforms, if they or their order differ.
    pub(super) transforms: Option<Vec<String>>,
    /// Name of the other sampler, if it differs; empty without one.
    pub(super) sampler: Option<Vec<String>>,
}

impl Values {
    /// `true` if nothing differs.
    pub(super) fn is_same(&self) -> bool {
        *self == Self::default()
    }
}

impl Differences {
    /// `true` if nothing differs.
    pub(super) fn is_same(&self) -> bool {
        let is_same = |difference: &Difference| match difference {
            Difference::OnlyHere => false,
            Difference::Values(values) => values.is_same(),
        };
        self.is_there && self.only_there.is_empty() && self.operations.iter().all(is_same)
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

fn values(operation: &PipelineOperation, other: &PipelineOperation) -> Values {
    Values {
        parameters: parameters(operation, other),
        transforms: names(&operation.transforms, &other.transforms),
        sampler: names(operation.sampler.as_slice(), other.sampler.as_slice()),
    }
}

/// Names of the parts `there`, if they differ from those `here`.
fn names(here: &[PipelinePart], there: &[PipelinePart]) -> Option<Vec<String>> {
    let names = |parts: &[PipelinePart]| -> Vec<String> {
        parts.iter().map(|part| part.name.clone()).collect()
    };
    Some(names(there)).filter(|there| *there != names(here))
}

fn parameters(operation: &PipelineOperation, other: &PipelineOperation) -> Parameters {
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
    let mut all = parameters_by_name(&operation.parameters, parts);
    // Places of parts have no value; the names of the parts are compared in their order.
    all.retain(|_, value| !value.is_empty());
    all
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
            Difference::Values(Values {
                parameters: Parameters::from([("size".to_owned(), value)]),
                ..Values::default()
            })
        };
        let same = Difference::Values(Values::default());
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

    #[test]
    fn parts_differ_by_their_order_and_their_parameters() {
        let part = |name: &str, size: &str| PipelinePart {
            name: name.to_owned(),
            parameters: vec![("size".to_owned(), size.to_owned())],
        };
        let of = |transforms: Vec<PipelinePart>, sampler: Option<PipelinePart>| PipelineOperation {
            transforms,
            sampler,
            ..PipelineOperation::default()
        };
        let here = of(vec![part("Crop", "4"), part("Resize", "8")], None);
        let there = of(
            vec![part("Resize", "9"), part("Crop", "4")],
            Some(part("Random", "2")),
        );
        let value = |value: &str| Some(value.to_owned());
        let expected = Values {
            parameters: Parameters::from([
                ("Random.size".to_owned(), value("2")),
                ("Resize.size".to_owned(), value("9")),
            ]),
            transforms: Some(vec!["Resize".to_owned(), "Crop".to_owned()]),
            sampler: Some(vec!["Random".to_owned()]),
        };
        assert_eq!(values(&here, &there), expected);
        assert_eq!(values(&there, &here).sampler, Some(Vec::new()));
        assert!(values(&here, &here).is_same());
    }
}
