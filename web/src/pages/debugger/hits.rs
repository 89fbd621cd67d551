//! Hits by step, in the order of data flow within each.

use leptos::html::Input;
use leptos::prelude::*;
use trainscope_api::findings::{Findings, Hit};
use trainscope_format::Severity;

use super::model::{key, severity_name, use_model};
use super::numbers::{found, steps};
use crate::components::{fixed_icon, severity_icon};
use crate::format;
use crate::i18n::use_i18n;

/// The filter, the buttons and the table.
#[component]
pub(super) fn Hits() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let input = NodeRef::<Input>::new();
    let hits = Memo::new(move |_| {
        model.findings.with(|findings| {
            // What the rows are made of; the rest may change without drawing them anew.
            let Findings {
                hits, watchpoints, ..
            } = &**findings;
            let titles = watchpoints.iter().map(|own| own.title.clone());
            (hits.clone(), titles.collect::<Vec<_>>())
        })
    });
    let rows = move || {
        let (hits, titles) = hits.get();
        let mut rows = Vec::new();
        let mut last = None;
        for hit in hits {
            if last != Some(hit.step) {
                last = Some(hit.step);
                rows.push(step_row(hit.step).into_any());
            }
            let title = titles
                .get(hit.watchpoint as usize)
                .cloned()
                .unwrap_or_default();
            rows.push(view! { <HitRow hit=hit title=title /> }.into_any());
        }
        rows
    };
    let left_out = move || {
        let (sent, total) = model
            .findings
            .with(|findings| (findings.hits.len() as u64, findings.total));
        (total > sent).then(|| (i18n.texts().debugger.cut)(sent, total))
    };
    let is_filtered = move || {
        model.severity.get().is_some()
            || model.watchpoint.get().is_some()
            || !model.search.with(String::is_empty)
    };
    let nothing = move || {
        model
            .findings
            .with(|findings| findings.hits.is_empty())
            .then(|| {
                if is_filtered() {
                    view! {
                        <p class="none small ink2">
                            {i18n.texts().debugger.nothing_matches} " "
                            <button
                                type="button"
                                class="link"
                                on:click=move |_| model.clear_filters()
                            >
                                {i18n.texts().runs.clear_filter}
                            </button>
                        </p>
                    }
                    .into_any()
                } else {
                    view! { <p class="none small ink2">{i18n.texts().debugger.no_hits}</p> }
                        .into_any()
                }
            })
    };
    view! {
        <div class="toolbar hits-bar">
            <label class="field grow">
                {fixed_icon(crate::components::IconName::Filter, 14)}
                <input
                    type="search"
                    node_ref=input
                    placeholder=move || i18n.texts().debugger.filter
                    aria-label=move || i18n.texts().debugger.filter
                    prop:value=move || model.search.get()
                    on:input=move |event| model.set_search(&event_target_value(&event))
                />
            </label>
            <Severities />
        </div>
        <div class="scroll hit-list">
            <table class="dense" aria-label=move || i18n.texts().debugger.hits>
                <colgroup>
                    <col class="c-icon" />
                    <col />
                    <col class="c-watch" />
                    <col class="c-found" />
                    <col class="c-limit" />
                </colgroup>
                <thead>
                    <tr>
                        <th></th>
                        <th>{move || i18n.texts().debugger.tensor}</th>
                        <th>{move || i18n.texts().debugger.watchpoint}</th>
                        <th class="num">{move || i18n.texts().debugger.found}</th>
                        <th class="num">{move || i18n.texts().debugger.limit}</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
            {nothing}
            {move || left_out().map(|text| view! { <p class="none small ink3">{text}</p> })}
        </div>
    }
}

/// Buttons that leave the hits of one severity.
#[component]
fn Severities() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let counts = Memo::new(move |_| model.findings.with(|findings| findings.counts));
    let button = move |severity: Severity| {
        let (class, icon) = severity_icon(severity);
        let count = move || {
            let counts = counts.get();
            format::count(match severity {
                Severity::Error => counts.error,
                Severity::Warning => counts.warning,
                Severity::Info => counts.info,
            })
        };
        view! {
            <button
                type="button"
                class=class
                title=move || (i18n.texts().debugger.severity)(severity_name(severity))
                aria-label=move || (i18n.texts().debugger.severity)(severity_name(severity))
                aria-pressed=move || (model.severity.get() == Some(severity)).to_string()
                on:click=move |_| model.press_severity(Some(severity))
            >
                {fixed_icon(icon, 12)}
                {count}
            </button>
        }
    };
    view! {
        <div class="seg" role="group">
            <button
                type="button"
                aria-pressed=move || model.severity.get().is_none().to_string()
                on:click=move |_| model.press_severity(None)
            >
                {move || {
                    let counts = counts.get();
                    let all = counts.error + counts.warning + counts.info;
                    (i18n.texts().debugger.all)(all)
                }}
            </button>
            {button(Severity::Error)}
            {button(Severity::Warning)}
            {button(Severity::Info)}
        </div>
    }
}

fn step_row(step: i64) -> impl IntoView {
    let i18n = use_i18n();
    view! {
        <tr class="grouprow">
            <td colspan="5">
                <b class="med">
                    {move || format!("{} {}", i18n.texts().frame.step, format::integer(step))}
                </b>
            </td>
        </tr>
    }
}

#[component]
fn HitRow(hit: Hit, title: trainscope_api::findings::Words) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let own = key(&hit);
    let is_first = {
        let own = own.clone();
        Memo::new(move |_| {
            model.findings.with(|findings| {
                let first = findings.first_cause.as_ref();
                first.is_some_and(|cause| key(&cause.hit) == own)
            })
        })
    };
    let is_selected = Memo::new(move |_| {
        model
            .selected
            .with(|hit| hit.as_ref().is_some_and(|hit| key(hit) == own))
    });
    let (class, icon) = severity_icon(hit.severity);
    let (value, limit) = found(&hit);
    let rank = (hit.rank > 0).then(|| (i18n.texts().debugger.rank)(hit.rank));
    let (name, until, clicked) = (hit.tensor.clone(), steps(&hit), hit.clone());
    let full = name.clone();
    let lasts = (hit.last_step > hit.step).then_some(until);
    view! {
        <tr
            class="hit-row"
            class:cur=move || is_selected.get()
            aria-selected=move || is_selected.get().to_string()
            on:click=move |_| model.select(&clicked)
        >
            <td class=class>{fixed_icon(icon, 12)}</td>
            <td title=full>
                <div class="hit-name">
                    <button type="button" class="plain cut">
                        <bdi>{name}</bdi>
                    </button>
                    <Show when=move || is_first.get()>
                        <span class="tok first">{move || i18n.texts().debugger.first}</span>
                    </Show>
                    <span class="ink3 micro">{rank} " " {lasts}</span>
                </div>
            </td>
            <td class="ink2 cut" title=hit.condition.clone()>{move || i18n.words(&title)}</td>
            <td class=format!("num med {class}")>{value}</td>
            <td class="num ink3">{limit}</td>
        </tr>
    }
}
