//! Kinds of data pipelines: pipelines are of one kind if they are equal except for places on disk.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use trainscope_analysis::columns::CellValue;
use trainscope_analysis::pipeline::Pipeline;
use trainscope_format::lineage::{DatasetNode, DatasetOperation, LineageValue};

use super::RowFacts;

/// Names of parameters that hold places.
const PLACES: [&str; 2] = ["dataset_dir", "source"];

/// Key of the column with the letter of the kind.
pub(super) const KEY: &str = "data:pipeline";

/// Rows of each kind: the kind with the most runs first; equal ones by their first name.
pub(super) fn rows_of_kinds(rows: &[RowFacts]) -> Vec<(Arc<str>, Vec<usize>)> {
    let mut kinds: BTreeMap<&Arc<str>, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        if let Some(kind) = &row.kind {
            kinds.entry(kind).or_default().push(at);
        }
    }
    let mut kinds: Vec<(Arc<str>, Vec<usize>)> = kinds
        .into_iter()
        .map(|(kind, rows)| (Arc::clone(kind), rows))
        .collect();
    let first = |places: &[usize]| {
        let names = places
            .iter()
            .filter_map(|at| rows.get(*at))
            .map(|row| Arc::clone(&row.run));
        names.min()
    };
    kinds.sort_by_cached_key(|(_, places)| (Reverse(places.len()), first(places)));
    kinds
}

/// Letter of the kind of each row.
pub(super) fn letters_of(rows: &[RowFacts]) -> Vec<CellValue> {
    let mut all = vec![CellValue::Missing; rows.len()];
    for (index, (_, rows)) in rows_of_kinds(rows).into_iter().enumerate() {
        for at in rows {
            if let Some(cell) = all.get_mut(at) {
                *cell = CellValue::Text(letters(index));
            }
        }
    }
    all
}

/// A, B, …, Z, AA, AB, …
pub(super) fn letters(index: usize) -> String {
    let last = char::from(b'A' + u8::try_from(index % 26).unwrap_or_default());
    match index / 26 {
        0 => last.to_string(),
        more => letters(more - 1) + &last.to_string(),
    }
}

/// Text that is equal for pipelines of one kind, and the pipeline without places on disk.
pub(super) fn kind(pipeline: &DatasetNode) -> (String, Pipeline) {
    let mut bare = pipeline.clone();
    remove_places(&mut bare, 0);
    let text = serde_json::to_string(&bare).unwrap_or_default();
    (text, Pipeline::new(&bare))
}

fn remove_places(node: &mut DatasetNode, depth: usize) {
    node.parameters
        .retain(|(name, value)| !is_place(name, value));
    let clean = |operation: &mut DatasetOperation| {
        operation
            .parameters
            .retain(|(name, value)| !is_place(name, value));
    };
    node.operations
        .iter_mut()
        .chain(&mut node.sampler)
        .for_each(clean);
    // Decoders nest no deeper.
    if depth < 64 {
        node.children
            .iter_mut()
            .for_each(|child| remove_places(child, depth + 1));
    }
}

/// True for the absolute path of a place on a disk.
pub(crate) fn is_path(text: &str) -> bool {
    let mut chars = text.chars();
    let (first, rest) = (chars.next(), chars.as_str());
    first == Some('/')
        || (first.is_some_and(|letter| letter.is_ascii_uppercase()) && rest.starts_with(":\\"))
}

fn is_place(name: &str, value: &LineageValue) -> bool {
    PLACES.contains(&name)
        || match value {
            LineageValue::Text(text) => is_path(text),
            LineageValue::Texts(texts) => {
                !texts.is_empty() && texts.iter().all(|text| is_path(text))
            }
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::letters;

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!(
            [0, 25, 26, 27, 701, 702].map(letters),
            ["A", "Z", "AA", "AB", "ZZ", "AAA"]
        );
    }
}
