//! Onset of findings: tensors × recorded steps, with the probable first cause framed. Rows and cells are links to
//! findings.

use std::collections::BTreeMap;

use super::cell::{Cell, State};
use super::measured::{BEYOND, Quantity};
use super::model::Model;
use super::onset::{Onset, Row};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{I18n, use_i18n};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

/// Distance between labelled columns.
const LABELLED: usize = 4;

/// Card of the matrix.
pub(super) fn view(model: Model) -> AnyView {
    let i18n = use_i18n();
    let is_wrong = Memo::new(move |_| {
        let found = model.findings.get();
        found.is_none_or(|found| found.first_cause.is_some())
    });
    let title = move || {
        let texts = i18n.texts().overview();
        if is_wrong.get() {
            texts.onset
        } else {
            texts.last_steps
        }
    };
    view! {
        <section class="card onset-card" aria-label=title>
            <div class="head ruled">
                <h2>{title}</h2>
                <span class="micro ink3 cut">{i18n.text(|t| t.overview().onset_order)}</span>
            </div>
            <div class="body">
                {move || model.onset.get().map(|onset| table(model, &onset, i18n))}
                {move || legend(model.onset.get().as_deref(), is_wrong.get(), i18n)}
            </div>
        </section>
    }
    .into_any()
}

fn table(model: Model, onset: &Onset, i18n: I18n) -> AnyView {
    let run = model.run();
    // Hits of each tensor by step. Hits of one step keep the order of the findings.
    let mut hits: BTreeMap<&str, Vec<(i64, String)>> = BTreeMap::new();
    let found = model.findings.get();
    for hit in found.iter().flat_map(|found| &found.hits) {
        let href = route::hit_href(&run, &hit.key());
        hits.entry(&hit.tensor).or_default().push((hit.step, href));
    }
    for hits in hits.values_mut() {
        hits.sort_by_key(|(step, _)| *step);
    }
    let named = label_columns(onset);
    let heads = onset.steps.iter().enumerate().map(|(column, step)| {
        let is_now = onset.column == Some(column);
        let step = format::integer(*step);
        let text = if named.contains(&column) {
            view! { <span>{step}</span> }.into_any()
        } else {
            // Not every number has room; screen readers get all.
            view! { <small class="sr-only">{step}</small> }.into_any()
        };
        view! { <th class:now=is_now aria-current=is_now.then_some("true")>{text}</th> }
    });
    let rows = onset
        .rows
        .iter()
        .map(|entry| row(entry, onset, hits.get(entry.name.as_str()), i18n));
    view! {
        <table class="onset" data-part="map">
            <thead>
                <tr>
                    <td></td>
                    {heads.collect_view()}
                </tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
    }
    .into_any()
}

/// Labelled columns: that of the cause, and every [`LABELLED`]th one from there.
fn label_columns(onset: &Onset) -> Vec<usize> {
    let from = onset.column.unwrap_or(onset.steps.len().saturating_sub(1));
    let columns = 0..onset.steps.len();
    columns
        .filter(|column| column.abs_diff(from).is_multiple_of(LABELLED))
        .collect()
}

fn row(row: &Row, onset: &Onset, hits: Option<&Vec<(i64, String)>>, i18n: I18n) -> AnyView {
    let is_cause = onset.tensor.as_deref() == Some(&row.name);
    let cells = row.cells.iter().zip(&onset.steps).enumerate();
    let cells = cells.map(|(column, (cell, step))| {
        let is_first = is_cause && onset.column == Some(column);
        let says = says(cell, onset.measured.as_ref(), i18n);
        let text = (i18n.texts().overview().cell)(&row.name, &format::integer(*step), &says);
        let mark = view! {
            <i
                class=class(cell)
                class:began=is_first
                data-kind=kind(cell.state)
                data-state=is_first.then_some("began")
            >
                {mark(cell)}
            </i>
        };
        // Finding at this step, or the last one before: later findings are consequences.
        let hit = hits
            .into_iter()
            .flatten()
            .take_while(|(at, _)| at <= step)
            .last();
        let inner = match hit {
            Some((_, href)) => {
                let href = href.clone();
                // The keyboard reaches the link of the row's name; links of a hundred cells would slow it down.
                view! { <a href=href tabindex="-1" aria-label=text.clone()>{mark}</a> }.into_any()
            }
            None => mark.into_any(),
        };
        view! { <td title=text>{inner}</td> }
    });
    let name = row.name.clone();
    let first = hits.and_then(|hits| hits.first()).map(|hit| hit.1.clone());
    let name = match first {
        Some(href) => view! { <a href=href><bdi>{name}</bdi></a> }.into_any(),
        None => view! { <bdi>{name}</bdi> }.into_any(),
    };
    view! {
        <tr class:now=is_cause aria-current=is_cause.then_some("true")>
            <th scope="row" title=row.name.clone()>{name}</th>
            {cells.collect_view()}
        </tr>
    }
    .into_any()
}

/// Name of a state in `data-kind`.
const fn kind(state: State) -> &'static str {
    match state {
        State::Missing => "missing",
        State::Finite => "finite",
        State::Grown(_) => "grown",
        State::Measured(_) => "measured",
        State::Inf => "inf",
        State::Nan => "nan",
    }
}

fn class(cell: &Cell) -> String {
    let state = match cell.state {
        State::Missing => "none".to_owned(),
        State::Finite => "fin".to_owned(),
        State::Grown(level) => format!("grown g{level}"),
        State::Measured(level) => format!("measured m{level}"),
        State::Inf => "inf-cell".to_owned(),
        State::Nan => "nan-cell".to_owned(),
    };
    let is_old = !cell.is_first && matches!(cell.state, State::Inf | State::Nan);
    if is_old {
        format!("{state} old")
    } else {
        state
    }
}

/// Sign of the first cell of its kind in a row: the state is not shown by colour alone.
fn mark(cell: &Cell) -> &'static str {
    match cell.state {
        State::Nan if cell.is_first => "×",
        State::Inf if cell.is_first => "∞",
        _ => "",
    }
}

fn says(cell: &Cell, measured: Option<&Quantity>, i18n: I18n) -> String {
    let seen = cell.seen;
    let size = || {
        seen.largest
            .map(|largest| format!("|x| ≤ {}", format::number(largest, 3)))
    };
    let quantity = || {
        let name = i18n.words(&measured?.name);
        Some(match cell.value {
            Some(value) => format!("{name} {}", format::number(value, 3)),
            None => name,
        })
    };
    match cell.state {
        State::Missing => i18n.texts().overview().no_record.to_owned(),
        State::Nan => format!("NaN ×{}", format::count(seen.nan)),
        State::Inf => format!("±∞ ×{}", format::count(seen.inf)),
        State::Measured(_) => quantity().unwrap_or_default(),
        State::Finite | State::Grown(_) if cell.value.is_some() => quantity().unwrap_or_default(),
        State::Finite | State::Grown(_) => size().unwrap_or_default(),
    }
}

/// Legend of the states in the map.
fn legend(onset: Option<&Onset>, is_wrong: bool, i18n: I18n) -> AnyView {
    let texts = i18n.texts().overview();
    let has = |is_it: fn(State) -> bool| {
        let cells = onset
            .into_iter()
            .flat_map(|onset| &onset.rows)
            .flat_map(|row| &row.cells);
        cells.map(|cell| cell.state).any(is_it)
    };
    let measured = onset.and_then(|onset| onset.measured.as_ref());
    let measured = measured.filter(|_| has(|state| matches!(state, State::Measured(_))));
    let measured = measured.map(|quantity| {
        let name = i18n.words(&quantity.name);
        let is_near = has(|state| matches!(state, State::Measured(level) if level < BEYOND));
        let [near, beyond] = texts.limit_parts;
        let threshold = quantity.threshold.clone();
        view! {
            <span class="measure">
                {name} ":"
            </span>
            {is_near
                .then(|| {
                    view! {
                        <span>
                            <i class="cell measured m2"></i>
                            {near}
                        </span>
                    }
                })}
            <span>
                <i class="cell measured m4"></i>
                {if threshold.is_empty() { beyond.to_owned() } else { threshold }}
            </span>
        }
    });
    let part = |is_there: bool, class: &'static str, text: &'static str| {
        is_there.then(|| {
            view! {
                <span>
                    <i class=format!("cell {class}")></i>
                    {text}
                </span>
            }
        })
    };
    view! {
        <p class="legend onset-legend" data-part="legend">
            {part(is_wrong, "began", texts.first)} <span class="grow"></span> {measured}
            {part(has(|state| state == State::Finite), "fin", texts.finite)}
            {part(has(|state| matches!(state, State::Grown(_))), "grown g2", texts.grows)}
            {part(has(|state| state == State::Inf), "inf-cell", "±∞")}
            {part(has(|state| state == State::Nan), "nan-cell", "NaN")}
        </p>
    }
    .into_any()
}
