//! Kinds of data pipelines: pipelines are of one kind if they are equal but for places on a disk.

use std::collections::BTreeMap;

use trainscope_analysis::columns::CellValue;
use trainscope_api::table::ColumnSource;
use trainscope_format::lineage::{DatasetNode, DatasetOperation, LineageValue};

use super::row::Row;

/// Names of parameters that hold places.
const PLACES: [&str; 2] = ["dataset_dir", "source"];

/// Sets `data:pipeline` of each row with a pipeline: a letter for each kind, by number of runs, then by the first name.
pub(super) fn name_kinds(rows: &mut [Row]) {
    let mut kinds: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        if let Some(kind) = row.pipeline.as_ref().map(kind) {
            kinds.entry(kind).or_default().push(at);
        }
    }
    let mut kinds: Vec<Vec<usize>> = kinds.into_values().collect();
    // Rows are in the order of their names.
    kinds.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    for (index, kind) in kinds.into_iter().enumerate() {
        for at in kind {
            if let Some(row) = rows.get_mut(at) {
                row.put(
                    "data:pipeline",
                    ColumnSource::Lineage,
                    CellValue::Text(letters(index)),
                );
            }
        }
    }
}

/// A, B, …, Z, AA, AB, …
fn letters(index: usize) -> String {
    let last = char::from(b'A' + u8::try_from(index % 26).unwrap_or_default());
    match index / 26 {
        0 => last.to_string(),
        more => letters(more - 1) + &last.to_string(),
    }
}

/// Text that is equal for pipelines of one kind.
fn kind(pipeline: &DatasetNode) -> String {
    let mut own = pipeline.clone();
    remove_places(&mut own, 0);
    serde_json::to_string(&own).unwrap_or_default()
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

fn is_place(name: &str, value: &LineageValue) -> bool {
    let is_path = |text: &String| {
        let mut chars = text.chars();
        let (first, rest) = (chars.next(), chars.as_str());
        first == Some('/')
            || (first.is_some_and(|own| own.is_ascii_uppercase()) && rest.starts_with(":\\"))
    };
    PLACES.contains(&name)
        || match value {
            LineageValue::Text(text) => is_path(text),
            LineageValue::Texts(texts) => !texts.is_empty() && texts.iter().all(is_path),
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
