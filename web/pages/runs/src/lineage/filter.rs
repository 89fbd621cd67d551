//! The filter of the page: the terms of the list of runs, over all columns. Each distinct text is compared once, not
//! once per row.

use trainscope_api::filter::{RATE_NAMES, Term, contains, is_number, is_text, is_truth, terms};
use trainscope_api::notebook::RunNotes;
use trainscope_api::table::{CellValue, Cells};

use super::view::View;
use trainscope_web_kit::format;

/// Prefixes that a key may omit.
const PREFIXES: [&str; 6] = ["metric:", "run:", "eval:", "data:", "lineage:", "user:"];

/// Terms that must all hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Filter {
    terms: Vec<Term>,
}

impl Filter {
    pub(super) fn parse(text: &str) -> Self {
        Self { terms: terms(text) }
    }

    /// Columns of `keys` that the filter compares.
    pub(super) fn columns<'a>(&self, keys: &[&'a str]) -> Vec<&'a str> {
        let asked = self.terms.iter().filter_map(|term| term.key.as_deref());
        asked.filter_map(|key| column_of(key, keys)).collect()
    }

    /// Marks of the rows for which all terms hold. `notes` returns the notes of a run.
    pub(super) fn rows<'a>(
        &self,
        view: &View,
        notes: impl Fn(&str) -> Option<&'a RunNotes>,
    ) -> Vec<bool> {
        let keys: Vec<&str> = view.columns.keys().map(String::as_str).collect();
        let mut marks = vec![true; view.len()];
        for term in &self.terms {
            let column = term.key.as_deref().and_then(|key| column_of(key, &keys));
            let holds: Vec<bool> = match column.and_then(|key| view.columns.get(key)) {
                Some(column) => of_cells(&column.cells, view.len(), term),
                None => (0..view.len())
                    .map(|row| of_names(view, row, term, &notes))
                    .collect(),
            };
            for (mark, holds) in marks.iter_mut().zip(holds) {
                *mark &= holds != term.is_negated;
            }
        }
        marks
    }
}

/// Column that a key names: the same name in any case, else the name with a prefix. Every name of the learning rate
/// finds its column.
pub(super) fn column_of<'a>(key: &str, keys: &[&'a str]) -> Option<&'a str> {
    let named = |wanted: &str| {
        keys.iter()
            .find(|known| known.to_lowercase() == wanted)
            .copied()
    };
    let prefixed = || {
        let mut prefixes = PREFIXES.iter();
        prefixes.find_map(|prefix| named(&format!("{prefix}{key}")))
    };
    let rate = || {
        let is_rate = RATE_NAMES.contains(&key);
        RATE_NAMES.into_iter().filter(|_| is_rate).find_map(named)
    };
    named(key).or_else(prefixed).or_else(rate)
}

fn of_cells(cells: &Cells, rows: usize, term: &Term) -> Vec<bool> {
    let holds = |value: &CellValue| term.any.iter().any(|wanted| is_value(value, wanted));
    match cells {
        Cells::Numbers(_) => (0..rows).map(|row| holds(&cells.get(row))).collect(),
        Cells::Dictionary { entries, codes } => {
            let entries: Vec<bool> = entries.iter().map(holds).collect();
            let missing = holds(&CellValue::Missing);
            let of = |row: usize| {
                let code = codes.get(row).map(|code| *code as usize);
                code.and_then(|code| entries.get(code).copied())
                    .unwrap_or(missing)
            };
            (0..rows).map(of).collect()
        }
    }
}

fn is_value(value: &CellValue, wanted: &str) -> bool {
    match value {
        CellValue::Missing => wanted == "none",
        CellValue::Number(number) => is_number(*number, wanted, &format::cell),
        CellValue::Text(text) => is_text(text, wanted),
        CellValue::Truth(yes) => is_truth(*yes, wanted),
    }
}

/// Searches the name, the note and the tags of a row's runs; `name:`, `note:` and `tag:` search one of them.
fn of_names<'a>(
    view: &View,
    row: usize,
    term: &Term,
    notes: &impl Fn(&str) -> Option<&'a RunNotes>,
) -> bool {
    let runs = view.runs(row);
    let has_name = |wanted: &str| {
        let has = |run: &String| contains(run, wanted);
        contains(&view.names[row], wanted) || (view.is_grouped && runs.iter().any(has))
    };
    let theirs = || runs.iter().filter_map(|run| notes(run));
    let has_note = |wanted: &str| theirs().any(|noted| contains(&noted.note, wanted));
    let has_tag =
        |wanted: &str| theirs().any(|noted| noted.tags.iter().any(|tag| contains(tag, wanted)));
    term.any.iter().any(|wanted| match term.key.as_deref() {
        None => has_name(wanted) || has_note(wanted) || has_tag(wanted),
        Some("name") => has_name(wanted),
        Some("note") => has_note(wanted),
        Some("tag" | "tags") => has_tag(wanted),
        // A name may have a colon.
        Some(key) => has_name(&format!("{key}:{wanted}")),
    })
}

#[cfg(test)]
mod tests {
    use super::super::view::table;
    use super::*;
    use CellValue::{Missing, Number, Text};

    fn kept(text: &str) -> Vec<usize> {
        let of = |text: &str| Text(text.to_owned());
        let table = table(&[
            ("lr", &[Number(0.1), Number(1e-3), Number(1e-3), Missing]),
            (
                "optimizer",
                &[of("AdamW"), of("Adam"), of("SGD"), of("two words")],
            ),
            (
                "metric:train/loss",
                &[Number(f64::NAN), Number(0.5), Number(0.25), Number(3.0)],
            ),
        ]);
        let view = View::of(&table, |_| true);
        let noted = RunNotes {
            note: "best of all".to_owned(),
            ..RunNotes::default()
        };
        let marks = Filter::parse(text).rows(&view, |run| (run == "r2").then_some(&noted));
        (0..4).filter(|row| marks[*row]).collect()
    }

    #[test]
    fn all_terms_must_hold_and_values_are_of_any_column() {
        assert_eq!(kept(""), [0, 1, 2, 3]);
        assert_eq!(kept("lr:1e-4..1e-2"), [1, 2]);
        assert_eq!(kept("lr:none"), [3]);
        assert_eq!(kept("learning_rate:none"), [3]);
        assert_eq!(kept("optimizer:adam|sgd"), [0, 1, 2]);
        assert_eq!(kept("optimizer:=adam"), [1]);
        assert_eq!(kept("optimizer:\"two words\""), [3]);
        assert_eq!(kept("train/loss:nan"), [0]);
        assert_eq!(kept("metric:train/loss:<0.3"), [2]);
        assert_eq!(kept("best"), [2]);
        assert_eq!(kept("name:r1"), [1]);
        assert_eq!(kept("r"), [0, 1, 2, 3]);
        assert_eq!(kept("other:1"), [0_usize; 0]);
    }
}
