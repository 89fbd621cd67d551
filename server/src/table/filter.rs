//! Rows of the table that match the terms of a filter.

use std::sync::Arc;

use trainscope_analysis::columns::CellValue;
use trainscope_api::filter::{self, Term};

use super::{Column, RunTable};
use crate::index::ReadError;

/// A name that no column has.
#[derive(Debug, thiserror::Error)]
#[error("no run has a column {name}{}", similar.as_ref().map(|similar| format!("; {similar} is similar")).unwrap_or_default())]
pub(crate) struct UnknownColumn {
    pub(crate) name: String,
    /// A column with a similar name.
    pub(crate) similar: Option<String>,
}

/// Terms with the columns that they are about.
pub(crate) struct Filter {
    terms: Vec<(Term, Option<Arc<Column>>)>,
    /// Notes and tags, in which words without a key are searched.
    notes: [Arc<Column>; 2],
}

impl Filter {
    /// Terms of a text. The inner error is a key that no column has.
    pub(crate) fn new(
        table: &RunTable,
        text: &str,
    ) -> Result<Result<Self, UnknownColumn>, ReadError> {
        let mut terms = Vec::new();
        for term in filter::terms(text) {
            let column = match term.key.as_deref().map(|key| table.key(key)) {
                Some(Ok(key)) => Some(table.column(&key)?),
                Some(Err(unknown)) => return Ok(Err(unknown)),
                None => None,
            };
            terms.push((term, column));
        }
        let notes = [table.column("note")?, table.column("tags")?];
        Ok(Ok(Self { terms, notes }))
    }

    /// Indices of the rows that match.
    pub(crate) fn rows(&self, table: &RunTable) -> Vec<usize> {
        let rows = table.rows.iter().enumerate();
        let rows = rows.filter(|(at, row)| self.matches(*at, &row.run));
        rows.map(|(at, _)| at).collect()
    }

    /// True if a run matches, with its row; a row that does not exist has no values.
    pub(super) fn matches(&self, at: usize, run: &str) -> bool {
        self.terms.iter().all(|(term, column)| {
            let holds = |wanted: &String| match column {
                None => {
                    let mut notes = self.notes.iter().map(|column| column.get(at));
                    filter::contains(run, wanted)
                        || notes.any(|value| matches!(value, CellValue::Text(text) if filter::contains(&text, wanted)))
                }
                Some(column) => is_value(&column.get(at), wanted),
            };
            term.any.iter().any(holds) != term.is_negated
        })
    }
}

/// `true` if a value matches a term.
fn is_value(value: &CellValue, wanted: &str) -> bool {
    match value {
        CellValue::Missing => wanted == "none",
        CellValue::Number(number) => {
            filter::is_number(*number, wanted, &|number| number.to_string())
        }
        CellValue::Text(text) => filter::is_text(text, wanted),
        CellValue::Truth(yes) => filter::is_truth(*yes, wanted),
    }
}
