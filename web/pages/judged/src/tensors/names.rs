//! Order and groups of tensors by their names.

use std::collections::{HashMap, HashSet};

use trainscope_api::tensors::{TensorEntry, TensorIndex, TensorSource};
use trainscope_format::Role;
use trainscope_format::session::SessionItem;

/// Splits a name before its last part.
pub(super) fn split(name: &str) -> (&str, &str) {
    match name.rfind(['/', '.']) {
        // `fc1.weight.grad` belongs to `fc1`, like `fc1.weight`.
        Some(at) => match name[..at].rfind(['/', '.']) {
            Some(before) if name[at..] == *".grad" => (&name[..before], &name[before + 1..]),
            _ => (&name[..at], &name[at + 1..]),
        },
        None => ("", name),
    }
}

/// Name of the tensor to show first. `hits` are names with steps, beginning with the first cause. If that is a scalar
/// or a node, takes the first listed tensor with a hit, preferably one with elements at that step. Without hits, takes
/// the first of the list; empty without a list.
pub(super) fn default_tensor(index: Option<&TensorIndex>, hits: &[(String, i64)]) -> String {
    let tensors = index.map(|index| &*index.tensors).unwrap_or_default();
    let of_hit = |(name, step): &(String, i64)| {
        let mut all = tensors.iter();
        let entry = all.find(|entry| entry.tensor == *name)?;
        let has_elements = entry.sources.iter().any(|source| {
            let steps = source.first_step..=source.last_step;
            source.source != TensorSource::Statistics && steps.contains(step)
        });
        Some((entry, has_elements))
    };
    let cause = hits.first().and_then(of_hit);
    let mut listed = hits.iter().filter_map(of_hit);
    let first = listed.clone().next();
    let found = cause
        .or_else(|| listed.find(|(_, has_elements)| *has_elements))
        .or(first);
    let found = found.map(|(entry, _)| entry).or_else(|| tensors.first());
    found.map(|entry| entry.tensor.clone()).unwrap_or_default()
}

/// Moves names with the same prefix together, to the position of the first.
pub(super) fn arrange(tensors: &mut [TensorEntry]) {
    let mut places: HashMap<String, usize> = HashMap::new();
    for (at, entry) in tensors.iter().enumerate() {
        let group = split(&entry.tensor).0;
        if !places.contains_key(group) {
            places.insert(group.to_owned(), at);
        }
    }
    tensors.sort_by_key(|entry| places.get(split(&entry.tensor).0).copied());
}

/// Adds tensors that a training shows but has not recorded, limited to `role` if given.
pub(super) fn add_live(
    index: &mut TensorIndex,
    items: Vec<SessionItem>,
    rank: u32,
    role: Option<&str>,
) {
    let known: HashSet<String> = index
        .tensors
        .iter()
        .map(|entry| entry.tensor.clone())
        .collect();
    let items = items.into_iter().filter(|item| {
        !known.contains(&item.name) && role.is_none_or(|role| role == name_of(item.role))
    });
    for item in items {
        index.total += 1;
        *index.roles.entry(name_of(item.role)).or_default() += 1;
        index.tensors.push(TensorEntry {
            tensor: item.name,
            role: item.role,
            ranks: vec![rank],
            dtype: item.dtype.map(|dtype| dtype.as_str().to_owned()),
            shape: Some(item.shape),
            sources: Vec::new(),
        });
    }
}

/// Name of a role in the API.
fn name_of(role: Role) -> String {
    let name = serde_json::to_value(role).ok();
    name.and_then(|name| Some(name.as_str()?.to_owned()))
        .unwrap_or_default()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use trainscope_api::tensors::SourceSteps;

    pub(in super::super) fn entry(name: &str) -> TensorEntry {
        TensorEntry {
            tensor: name.to_owned(),
            role: Role::Other,
            ranks: Vec::new(),
            dtype: None,
            shape: None,
            sources: Vec::new(),
        }
    }

    #[test]
    fn names_have_parts() {
        for (name, parts) in [
            ("activation/fc1.weight", ("activation/fc1", "weight")),
            ("fc1.weight.grad", ("fc1", "weight.grad")),
            ("fc1.weight", ("fc1", "weight")),
            ("x.grad", ("x", "grad")),
            ("logits", ("", "logits")),
            ("activation/0", ("activation", "0")),
        ] {
            assert_eq!(split(name), parts);
        }
    }

    #[test]
    fn what_only_the_training_shows_joins_the_list() {
        let item = |name: &str, role| SessionItem {
            name: name.to_owned(),
            role,
            dtype: None,
            shape: vec![2],
            place: None,
        };
        let mut index = TensorIndex {
            tensors: vec![entry("fc.weight")],
            total: 1,
            ..TensorIndex::default()
        };
        let items = vec![
            item("fc.weight", Role::Weight),
            item("fc.bias", Role::Weight),
            item("fc.weight.grad", Role::Gradient),
        ];
        add_live(&mut index, items, 3, Some("weight"));
        assert_eq!(index.total, 2);
        let added = &index.tensors[1];
        assert_eq!((&*added.tensor, &*added.ranks), ("fc.bias", &[3][..]));
        assert_eq!(added.shape, Some(vec![2]));
    }

    #[test]
    fn the_page_opens_with_the_first_cause() {
        let with = |name, source| TensorEntry {
            sources: vec![SourceSteps {
                source,
                steps: 2,
                first_step: 5,
                last_step: 9,
            }],
            ..entry(name)
        };
        let index = TensorIndex {
            tensors: vec![
                entry("a"),
                with("b", TensorSource::Statistics),
                with("c", TensorSource::Dump),
            ],
            ..TensorIndex::default()
        };
        let of = |hits: &[(&str, i64)]| {
            let hits = hits.iter().map(|(name, step)| ((*name).to_owned(), *step));
            default_tensor(Some(&index), &hits.collect::<Vec<_>>())
        };
        assert_eq!(of(&[]), "a");
        assert_eq!(of(&[("b", 5), ("c", 5)]), "b");
        // For a scalar as cause: a tensor with a hit and with elements at that step.
        assert_eq!(of(&[("loss", 4), ("b", 5), ("c", 6)]), "c");
        assert_eq!(of(&[("loss", 4), ("b", 5), ("c", 12)]), "b");
        assert_eq!(of(&[("loss", 4)]), "a");
        assert_eq!(default_tensor(None, &[("b".to_owned(), 5)]), "");
    }
}
