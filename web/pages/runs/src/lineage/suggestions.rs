//! Suggestions for the last word of the filter: names of columns, then their values.

use trainscope_api::table::{CellValue, Cells, ColumnKind};

use super::filter::column_of;
use super::model::use_model;
use super::view::View;
use trainscope_web_kit::prelude::*;

/// Id of the list, for the `list` attribute of the field.
pub(super) const LIST: &str = "lineage-filter-terms";
/// Maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 24;

/// The suggestions as a list for a text field.
#[component]
pub(super) fn FilterTerms() -> impl IntoView {
    let model = use_model();
    let options = move || {
        let text = model.filter.get();
        let columns = model.columns.get();
        let infos = columns.columns.iter();
        let keys: Vec<(&str, bool)> = infos
            .filter(|info| info.kind != ColumnKind::Empty)
            .map(|info| (info.key.as_str(), super::axis::differs(info)))
            .collect();
        let view = model.view.get();
        let texts = suggestions(&text, &keys, &view).into_iter();
        texts
            .map(|text| view! { <option value=text></option> })
            .collect_view()
    };
    view! { <datalist id=LIST>{options}</datalist> }
}

/// Whole texts of the filter with the last word completed. `keys` are columns, with `true` for those that differ
/// between runs; these come first.
fn suggestions(text: &str, keys: &[(&str, bool)], view: &View) -> Vec<String> {
    let start = text.rfind(' ').map_or(0, |space| space + 1);
    let (before, word) = text.split_at(start);
    let (sign, word) = match word.strip_prefix('-') {
        Some(word) => ("-", word),
        None => ("", word),
    };
    let lower = word.to_lowercase();
    let known: Vec<&str> = keys.iter().map(|(key, _)| *key).collect();
    if let Some((key, value)) = key_and_value(&lower, &known) {
        let values = values_of(view, key).into_iter();
        let fit = values.filter(|entry| entry.to_lowercase().contains(value));
        let quoted = fit.map(|entry| {
            if entry.contains([' ', '"']) {
                format!("{before}{sign}{key}:\"{}\"", entry.replace('"', ""))
            } else {
                format!("{before}{sign}{key}:{entry}")
            }
        });
        return quoted.take(MAX_SUGGESTIONS).collect();
    }
    if lower.is_empty() {
        return Vec::new();
    }
    let fit = |differs: bool| {
        let group = keys
            .iter()
            .filter(move |(_, differing)| *differing == differs);
        let lower = &lower;
        group.filter(move |(key, _)| key.to_lowercase().contains(lower))
    };
    let all = fit(true).chain(fit(false)).take(MAX_SUGGESTIONS);
    all.map(|(key, _)| format!("{before}{sign}{key}:"))
        .collect()
}

/// Column of a word with a colon, and the rest of the word. Keys can have colons too.
fn key_and_value<'a, 'b>(word: &'b str, keys: &[&'a str]) -> Option<(&'a str, &'b str)> {
    let mut places = word.match_indices(':').map(|(at, _)| at);
    places.find_map(|at| {
        let key = column_of(&word[..at], keys)?;
        Some((key, &word[at + 1..]))
    })
}

/// Distinct texts of a column, sorted.
fn values_of(view: &View, key: &str) -> Vec<String> {
    let Some(column) = view.columns.get(key) else {
        return Vec::new();
    };
    match &column.cells {
        Cells::Numbers(_) => Vec::new(),
        Cells::Dictionary { entries, .. } => {
            let texts = entries.iter().filter_map(|entry| match entry {
                CellValue::Text(text) => Some(text.clone()),
                CellValue::Truth(yes) => Some(yes.to_string()),
                CellValue::Missing | CellValue::Number(_) => None,
            });
            let mut texts: Vec<String> = texts.collect();
            texts.sort();
            texts
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::table;
    use super::*;

    #[test]
    fn words_become_columns_and_columns_get_values() {
        let of = |text: &str| CellValue::Text(text.to_owned());
        let table = table(&[("optimizer", &[of("AdamW"), of("SGD"), of("two words")])]);
        let view = View::of(&table, |_| true);
        let keys = [
            ("optimizer", true),
            ("metric:train/opt", false),
            ("lr", true),
        ];
        let ask = |text: &str| suggestions(text, &keys, &view);
        assert_eq!(ask("opt"), ["optimizer:", "metric:train/opt:"]);
        assert_eq!(
            ask("lr:>0 -OPT"),
            ["lr:>0 -optimizer:", "lr:>0 -metric:train/opt:"]
        );
        assert_eq!(ask("optimizer:a"), ["optimizer:AdamW"]);
        assert_eq!(ask("optimizer:tw"), ["optimizer:\"two words\""]);
        assert_eq!(ask("lr:0"), [""; 0]);
        assert_eq!(ask(""), [""; 0]);
    }
}
