//! Data pipelines side by side: operations of the same name at the same place of the data.

use std::collections::{BTreeMap, BTreeSet};

use trainscope_api::table::PipelinePlace;

use super::{Operation, Part, Pipeline};

/// Parameters of the operations of a pipeline at each place; `None` if it has no such operation.
pub type PlaceCells = Vec<Option<Vec<(String, String)>>>;

/// Joins the operations of pipelines by name and order, in the minimum number of places. Two places that no pipeline
/// has in common keep the order of the first pipelines. Costs operations × places for each pipeline.
pub fn side_by_side(pipelines: &[&Pipeline]) -> (Vec<PipelinePlace>, Vec<PlaceCells>) {
    // Places by number, in the order of the data.
    let mut places: Vec<(usize, &str)> = Vec::new();
    let mut cells: Vec<BTreeMap<usize, Vec<(String, String)>>> = Vec::new();
    for pipeline in pipelines {
        let names: Vec<&str> = pipeline
            .operations
            .iter()
            .map(|operation| &*operation.name)
            .collect();
        let mut by_place = BTreeMap::new();
        let mut joined = Vec::with_capacity(places.len());
        let mut next = places.len();
        let mut rest = pipeline.operations.iter();
        for (place, has_own) in alignment(&places, &names) {
            let operation = if has_own { rest.next() } else { None };
            let entry = place.and_then(|at| places.get(at).copied());
            let entry = entry.or_else(|| {
                next += 1;
                operation.map(|operation| (next - 1, &*operation.name))
            });
            if let (Some((number, _)), Some(operation)) = (entry, operation) {
                by_place.insert(number, parameters(operation));
            }
            joined.extend(entry);
        }
        places = joined;
        cells.push(by_place);
    }
    let heads = places.iter().map(|(number, name)| PipelinePlace {
        operation: (*name).to_owned(),
        differing: differing(
            &cells
                .iter()
                .filter_map(|by_place| by_place.get(number))
                .collect::<Vec<_>>(),
        ),
    });
    let heads = heads.collect();
    let rows = cells.into_iter().map(|mut by_place| {
        let cell = |(number, _): &(usize, &str)| by_place.remove(number);
        places.iter().map(cell).collect()
    });
    (heads, rows.collect())
}

/// Order of places and names that joins as many equal ones as possible: the index of a place, and `true` if the next
/// name belongs there. The longest common subsequence, by its table.
fn alignment(places: &[(usize, &str)], names: &[&str]) -> Vec<(Option<usize>, bool)> {
    let width = names.len() + 1;
    let mut common = vec![0_u32; (places.len() + 1) * width];
    for at in (0..places.len()).rev() {
        for name in (0..names.len()).rev() {
            common[at * width + name] = if places[at].1 == names[name] {
                common[(at + 1) * width + name + 1] + 1
            } else {
                common[(at + 1) * width + name].max(common[at * width + name + 1])
            };
        }
    }
    let (mut at, mut name) = (0, 0);
    let mut order = Vec::with_capacity(places.len().max(names.len()));
    while at < places.len() || name < names.len() {
        let is_same = at < places.len() && name < names.len() && places[at].1 == names[name];
        let place_first = name >= names.len()
            || (at < places.len()
                && common[(at + 1) * width + name] >= common[at * width + name + 1]);
        if is_same {
            order.push((Some(at), true));
            (at, name) = (at + 1, name + 1);
        } else if place_first {
            order.push((Some(at), false));
            at += 1;
        } else {
            order.push((None, true));
            name += 1;
        }
    }
    order
}

/// Parameters of an operation, its sampler and its transforms.
fn parameters(operation: &Operation) -> Vec<(String, String)> {
    let mut all = operation.parameters.clone();
    if let Some(sampler) = &operation.sampler {
        all.push(("sampler".to_owned(), sampler.name.clone()));
        add_part(&mut all, &sampler.name, sampler);
    }
    if !operation.transforms.is_empty() {
        let names: Vec<&str> = operation
            .transforms
            .iter()
            .map(|transform| &*transform.name)
            .collect();
        all.push(("transforms".to_owned(), names.join(", ")));
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for transform in &operation.transforms {
        let count = counts.entry(&transform.name).or_default();
        *count += 1;
        let name = if *count == 1 {
            transform.name.clone()
        } else {
            format!("{} {count}", transform.name)
        };
        add_part(&mut all, &name, transform);
    }
    all
}

fn add_part(all: &mut Vec<(String, String)>, name: &str, part: &Part) {
    let parameters = part.parameters.iter();
    all.extend(parameters.map(|(parameter, value)| (format!("{name}.{parameter}"), value.clone())));
}

/// Names of parameters that differ, in the order of their names.
fn differing(cells: &[&Vec<(String, String)>]) -> Vec<String> {
    let names: BTreeSet<&String> = cells
        .iter()
        .copied()
        .flatten()
        .map(|(name, _)| name)
        .collect();
    let differs = |wanted: &&String| {
        let values = cells.iter().map(|cell| {
            let mut parameters = cell.iter();
            parameters
                .find(|(name, _)| name == *wanted)
                .map(|(_, value)| value)
        });
        values.collect::<BTreeSet<Option<&String>>>().len() > 1
    };
    names.into_iter().filter(differs).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipeline(operations: &[(&str, &str)]) -> Pipeline {
        let operation = |(name, size): &(&str, &str)| Operation {
            name: (*name).to_owned(),
            parameters: vec![("size".to_owned(), (*size).to_owned())],
            ..Operation::default()
        };
        Pipeline {
            operations: operations.iter().map(operation).collect(),
            ..Pipeline::default()
        }
    }

    #[test]
    fn operations_are_joined_in_the_order_of_the_data() {
        let first = pipeline(&[
            ("Mnist", "1"),
            ("Map", "1"),
            ("Shuffle", "9"),
            ("Batch", "8"),
        ]);
        let second = pipeline(&[("Mnist", "1"), ("Map", "1"), ("Map", "2"), ("Batch", "16")]);
        let third = pipeline(&[("Numpy", "1"), ("Batch", "8")]);
        let (places, cells) = side_by_side(&[&first, &second, &third]);
        let names: Vec<&str> = places.iter().map(|place| &*place.operation).collect();
        assert_eq!(names.len(), 6, "{names:?}");
        for (pipeline, operations) in [(0, 4), (1, 4), (2, 2)] {
            let has = cells[pipeline].iter().flatten().count();
            assert_eq!((cells[pipeline].len(), has), (6, operations));
        }
        let batch = names.iter().position(|name| *name == "Batch").unwrap();
        assert_eq!(places[batch].differing, ["size"]);
        assert_eq!(
            cells[1][batch],
            Some(vec![("size".to_owned(), "16".to_owned())])
        );
        let mnist = names.iter().position(|name| *name == "Mnist").unwrap();
        assert_eq!(places[mnist].differing, [""; 0]);
        assert_eq!(side_by_side(&[]), (Vec::new(), Vec::new()));
    }
}
