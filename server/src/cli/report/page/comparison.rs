//! The run compared with another one: the sentence of `trainscope diff`, the first tensors and scalars that part, and
//! the settings that differ.

use maud::{Markup, html};
use trainscope_api::compare::Parting;

use super::super::Contents;
use super::Pen;
use crate::cli::check::number;
use crate::cli::diff::setting;
use crate::cli::words;

/// Maximum number of rows of a table.
const MAX_ROWS: usize = 20;

pub(super) fn comparison(pen: Pen, contents: &Contents) -> Markup {
    let Some((base, result)) = &contents.comparison else {
        return html! {};
    };
    let outcome = &result.outcome;
    let settings: Vec<_> = result
        .settings
        .iter()
        .filter(|setting| setting.differs)
        .collect();
    let value = |part: &Parting, value: Option<f64>| match part.role {
        None => value.map(number).unwrap_or_default(),
        Some(_) => String::new(),
    };
    html! {
        section {
            h2 { (pen.texts.compared_with) " " (base) }
            p { b { (pen.words(&outcome.sentence)) } }
            @if !outcome.detail.en.is_empty() { p { (pen.words(&outcome.detail)) } }
            @for fault in &outcome.faults {
                p { b { (pen.texts.damaged) } " " (fault.place) ", " (pen.texts.offset) " " (words::count(fault.offset)) ": " (fault.reason) }
            }
            @if !outcome.partings.is_empty() {
                h3 { (pen.texts.first_partings) }
                table {
                    thead { tr {
                        th { (pen.texts.tensor) }
                        th class="v" { (pen.texts.step) }
                        th class="v" { (pen.texts.difference) }
                        th class="v" { (base) }
                        th class="v" { (contents.title) }
                    } }
                    tbody { @for part in outcome.partings.iter().take(MAX_ROWS) { tr {
                        td { (part.name) @if part.rank > 0 { " · " (pen.texts.rank) " " (part.rank) } }
                        td class="v" { (words::step(part.step)) }
                        td class="v" { (number(part.difference)) }
                        td class="v" { (value(part, part.base_value)) }
                        td class="v" { (value(part, part.other_value)) }
                    } } }
                }
                (rest(pen, outcome.total_partings))
            }
            @if !settings.is_empty() {
                h3 { (pen.texts.different_settings) }
                table {
                    thead { tr {
                        th { (pen.texts.setting) }
                        th class="v" { (base) }
                        th class="v" { (contents.title) }
                    } }
                    tbody { @for differing in settings.iter().take(MAX_ROWS) { tr {
                        td { (differing.key) }
                        @for at in 0..2 {
                            td class="v" { (setting(differing.values.get(at).and_then(Option::as_ref))) }
                        }
                    } } }
                }
                (rest(pen, settings.len() as u64))
            }
        }
    }
}

/// Number of rows left out of a table.
fn rest(pen: Pen, all: u64) -> Markup {
    let left_out = all.saturating_sub(MAX_ROWS as u64);
    html! {
        @if left_out > 0 { p { ((pen.texts.left_out)(&words::count(left_out))) } }
    }
}
