//! Hits by step and rank, in the order of data flow within each. Of a hundred thousand, those in view are there.

use leptos::html::Div;
use leptos::prelude::*;
use trainscope_api::findings::{Findings, Hit, Words};
use trainscope_format::Severity;

use super::model::{severity_name, use_model};
use super::numbers::{found, steps};
use crate::components::{fixed_icon, severity_icon};
use crate::erased::{Show, effect, handler, memo};
use crate::format;
use crate::i18n::use_i18n;

/// Height of a line, in pixels: `--hit`.
const LINE: f64 = 27.0;

/// The filter, the buttons and the table.
#[component]
pub(super) fn Hits() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    view! {
        <div class="toolbar hits-bar">
            <label class="field grow">
                {fixed_icon(crate::components::IconName::Filter, 14)}
                <input
                    type="search"
                    placeholder=i18n.text(|t| t.debugger.filter)
                    aria-label=i18n.text(|t| t.debugger.filter)
                    prop:value=move || model.search.get()
                    on:input=move |event| model.set_search(&event_target_value(&event))
                />
            </label>
            <label class="field of-steps">
                <input
                    type="text"
                    name="steps"
                    placeholder=i18n.text(|t| t.debugger.steps)
                    aria-label=i18n.text(|t| t.debugger.steps)
                    prop:value=move || model.steps.get()
                    on:change=move |event| model.set_steps(&event_target_value(&event))
                />
            </label>
            <Ranks />
            <Severities />
        </div>
        <List />
    }
}

/// A choice of rank, where there are several.
#[component]
fn Ranks() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let ranks = memo(move || model.findings.with(|findings| findings.ranks.clone()));
    move || {
        let ranks = ranks.get();
        if ranks.len() < 2 {
            return None;
        }
        let now = model.rank.get();
        let options = ranks.into_iter().map(|rank| {
            view! {
                <option value=rank.to_string() selected=now == Some(rank)>
                    {(i18n.texts().debugger.rank)(rank)}
                </option>
            }
        });
        Some(view! {
            <select
                name="rank"
                class="field"
                on:change=move |event| model.set_rank(&event_target_value(&event))
            >
                <option value="">{i18n.texts().debugger.all_ranks}</option>
                {options.collect_view()}
            </select>
        })
    }
}

/// The table: only lines in view, and some above and below, are there.
#[component]
fn List() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let scroller = NodeRef::<Div>::new();
    // What the rows are made of; the rest may change without drawing them anew.
    let window = memo(move || model.findings.with(|findings| Window::of(findings)));
    let rows = move || {
        window.with(|window| {
            let mut rows = Vec::with_capacity(window.hits.len() + 2);
            rows.push(space(window.above));
            let mut last = (!window.starts_group)
                .then(|| window.hits.first().map(|hit| (hit.step, hit.rank)))
                .flatten();
            for hit in &window.hits {
                if last != Some((hit.step, hit.rank)) {
                    last = Some((hit.step, hit.rank));
                    let rank = window.has_ranks.then_some(hit.rank);
                    rows.push(step_row(hit.step, rank).into_any());
                }
                let title = window.titles.get(hit.watchpoint as usize);
                let title = title.cloned().unwrap_or_default();
                rows.push(view! { <HitRow hit=hit.clone() title=title /> }.into_any());
            }
            rows.push(space(window.below));
            rows
        })
    };
    let is_filtered = move || {
        model.severity.get().is_some()
            || model.watchpoint.get().is_some()
            || model.rank.get().is_some()
            || !model.search.with(String::is_empty)
            || !model.steps.with(String::is_empty)
    };
    let nothing = move || {
        let is_empty = window.with(|window| window.hits.is_empty());
        is_empty.then(|| {
            if is_filtered() {
                view! {
                    <p class="none small ink2">
                        {i18n.texts().debugger.nothing_matches} " "
                        <button type="button" class="link" on:click=handler(move |_| model.clear_filters())>
                            {i18n.texts().runs.clear_filter}
                        </button>
                    </p>
                }
                .into_any()
            } else {
                view! { <p class="none small ink2">{i18n.texts().debugger.no_hits}</p> }.into_any()
            }
        })
    };
    // Lines are brought into view once there is room for them.
    effect(move || {
        let lines = window.with(|window| window.lines);
        let (Some(line), Some(scroller)) = (model.reveal.get(), scroller.get()) else {
            return;
        };
        if line > 0 && line >= lines {
            return;
        }
        model.reveal.set(None);
        let top = line as f64 * LINE;
        let (now, height) = (
            f64::from(scroller.scroll_top()),
            f64::from(scroller.client_height()),
        );
        let is_seen = top >= now + LINE && top + 2.0 * LINE <= now + height;
        if line == 0 || !is_seen {
            let to = (top - height / 3.0).max(0.0);
            scroller.set_scroll_top(whole(to));
        }
    });
    let scrolled = move |_| {
        if let Some(scroller) = scroller.get_untracked() {
            let line = f64::from(scroller.scroll_top()) / LINE;
            model.show_from(u64::try_from(whole(line)).unwrap_or(0));
        }
    };
    view! {
        <div class="scroll hit-list" node_ref=scroller on:scroll=scrolled>
            <table class="dense" aria-label=i18n.text(|t| t.debugger.hits)>
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
                        <th>{i18n.text(|t| t.debugger.tensor)}</th>
                        <th>{i18n.text(|t| t.debugger.watchpoint)}</th>
                        <th class="num">{i18n.text(|t| t.debugger.found)}</th>
                        <th class="num">{i18n.text(|t| t.debugger.limit)}</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
            {nothing}
        </div>
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "of a list that a browser can show"
)]
const fn whole(number: f64) -> i32 {
    number as i32
}

/// The lines that are loaded.
#[derive(Clone, Debug, Default, PartialEq)]
struct Window {
    hits: Vec<Hit>,
    titles: Vec<Words>,
    starts_group: bool,
    has_ranks: bool,
    lines: u64,
    /// Lines above and below that are not loaded.
    above: u64,
    below: u64,
}

impl Window {
    fn of(findings: &Findings) -> Self {
        let hits = findings.hits.clone();
        let place = |hit: &Hit| (hit.step, hit.rank);
        let groups = hits
            .windows(2)
            .filter(|two| place(&two[0]) != place(&two[1]))
            .count();
        let above = findings.first_line - u64::from(findings.starts_group).min(findings.first_line);
        let loaded = (hits.len() + groups + usize::from(findings.starts_group)) as u64;
        let all = findings.watchpoints.iter();
        Self {
            starts_group: findings.starts_group,
            has_ranks: findings.ranks.len() > 1,
            lines: findings.lines,
            above: if hits.is_empty() { 0 } else { above },
            below: if hits.is_empty() {
                0
            } else {
                findings.lines.saturating_sub(above + loaded)
            },
            titles: all.map(|own| own.title.clone()).collect(),
            hits,
        }
    }
}

/// Room for lines that are not loaded.
fn space(lines: u64) -> AnyView {
    let height = format!("{}px", lines as f64 * LINE);
    view! { <tr class="space" style:height=height hidden=lines == 0></tr> }.into_any()
}

/// Buttons that leave the hits of one severity.
#[component]
fn Severities() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let counts = memo(move || model.findings.with(|findings| findings.counts));
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
                on:click=handler(move |_| model.press_severity(Some(severity)))
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
                on:click=handler(move |_| model.press_severity(None))
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

fn step_row(step: i64, rank: Option<u32>) -> impl IntoView {
    let i18n = use_i18n();
    view! {
        <tr class="grouprow">
            <td colspan="5">
                <b class="med">
                    {move || format!("{} {}", i18n.texts().frame.step, format::integer(step))}
                </b>
                {move || rank.map(|rank| format!(" · {}", (i18n.texts().debugger.rank)(rank)))}
            </td>
        </tr>
    }
}

#[component]
fn HitRow(hit: Hit, title: Words) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let own = hit.key();
    let is_first = {
        let own = own.clone();
        memo(move || {
            model.findings.with(|findings| {
                let first = findings.first_cause.as_ref();
                first.is_some_and(|cause| cause.hit.key() == own)
            })
        })
    };
    let is_selected = memo(move || {
        model
            .selected
            .with(|hit| hit.as_ref().is_some_and(|hit| hit.key() == own))
    });
    let (class, icon) = severity_icon(hit.severity);
    let (value, limit) = found(&hit);
    let (name, until, clicked) = (hit.tensor.clone(), steps(&hit), hit.clone());
    let full = name.clone();
    let lasts = (hit.last_step > hit.step).then_some(until);
    let explains = hit.explains.filter(|&n| n > 0);
    view! {
        <tr
            class="hit-row"
            class:cur=move || is_selected.get()
            aria-selected=move || is_selected.get().to_string()
            on:click=handler(move |_| model.select(&clicked))
        >
            <td class=class>{fixed_icon(icon, 12)}</td>
            <td title=full>
                <div class="hit-name">
                    <button type="button" class="plain cut">
                        <bdi>{name}</bdi>
                    </button>
                    <Show when=move || is_first.get()>
                        <span class="tok first">{i18n.text(|t| t.debugger.first)}</span>
                    </Show>
                    <Show when=move || explains.is_some() && !is_first.get()>
                        <span class="tok explains">
                            {move || (i18n.texts().debugger.explains)(explains.unwrap_or_default())}
                        </span>
                    </Show>
                    <span class="ink3 micro">{lasts}</span>
                </div>
            </td>
            <td class="ink2 cut" title=hit.condition.clone()>{move || i18n.words(&title)}</td>
            <td class=format!("num med {class}")>{value}</td>
            <td class="num ink3">{limit}</td>
        </tr>
    }
}
