//! Order and groups of tensors by their names.

use std::collections::HashMap;

use trainscope_api::tensors::{TensorEntry, TensorIndex};

/// Splits a name before its last part.
pub(super) fn split(name: &str) -> (&str, &str) {
    match name.rfind(['/', '.']) {
        // `fc1.weight.grad` is one of `fc1`, beside `fc1.weight`.
        Some(at) => match name[..at].rfind(['/', '.']) {
            Some(before) if name[at..] == *".grad" => (&name[..before], &name[before + 1..]),
            _ => (&name[..at], &name[at + 1..]),
        },
        None => ("", name),
    }
}

/// The tensor to show first: that of the first cause if it is listed, else the first of the list; empty without a list.
pub(super) fn default_tensor(index: Option<&TensorIndex>, cause: Option<&str>) -> String {
    let tensors = index.map(|index| &*index.tensors).unwrap_or_default();
    let found = tensors.iter().find(|entry| Some(&*entry.tensor) == cause);
    let found = found.or_else(|| tensors.first());
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

#[cfg(test)]
pub(super) mod tests {
    use trainscope_format::Role;

    use super::*;

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
    fn the_page_opens_with_the_first_cause() {
        let index = TensorIndex {
            tensors: vec![entry("a"), entry("b")],
            ..TensorIndex::default()
        };
        let of = |cause| default_tensor(Some(&index), cause);
        assert_eq!((of(None), of(Some("b"))), ("a".to_owned(), "b".to_owned()));
        // A cause may be a scalar.
        assert_eq!(of(Some("loss")), "a");
        assert_eq!(default_tensor(None, Some("b")), "");
    }
}
