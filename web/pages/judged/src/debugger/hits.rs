//! Hits by step and rank, in data-flow order within each. Only the rows in view are in the document.

use leptos::ev::MouseEvent;
use trainscope_api::findings::Hit;
use trainscope_format::Severity;
use wasm_bindgen::JsCast;
use web_sys::Element;

mod loaded;
mod row;

use self::loaded::{Line, LoadedHits};
use self::row::{Mark, Row, series_row};
use super::model::{LINE, parse_steps, use_model};
use super::numbers::{found, step_range};
use trainscope_web_kit::components::{
    RowHeights, RowList, RowRange, fixed_icon, severity_icon, severity_name,
};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{Locale, Texts, use_i18n};
use trainscope_web_kit::pixels::pixels;
use trainscope_web_kit::prelude::*;

/// Minimum and maximum widths of the columns of found values and limits, in characters. Without limits, the second
/// column has no width.
const FOUND_CHARS: (usize, usize) = (6, 22);
const LIMIT_CHARS: (usize, usize) = (5, 12);
/// Share of the view above a line after scrolling to it.
const ABOVE: f64 = 1.0 / 3.0;

/// Filter, buttons and table.
#[component]
pub(super) fn Hits() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    // Text that is not a range matches all steps, and a message says so.
    let is_wrong = move || model.steps.with(|text| parse_steps(text).is_none());
    view! {
        <div class="toolbar hits-bar">
            <label class="field grow">
                {fixed_icon(trainscope_web_kit::components::IconName::Filter, 14)}
                <input
                    type="search"
                    placeholder=i18n.text(|t| t.debugger().filter)
                    aria-label=i18n.text(|t| t.debugger().filter)
                    prop:value=move || model.search.get()
                    on:input=move |event| model.set_search(&event_target_value(&event))
                />
            </label>
            <label class="field of-steps" class:wrong=is_wrong>
                <input
                    type="text"
                    name="steps"
                    placeholder=i18n.text(|t| t.debugger().steps)
                    aria-label=i18n.text(|t| t.debugger().steps)
                    aria-invalid=move || is_wrong().to_string()
                    prop:value=move || model.steps.get()
                    on:change=move |event| model.set_steps(&event_target_value(&event))
                />
            </label>
            <Ranks />
            <Severities />
        </div>
        {move || {
            is_wrong().then(|| {
                let text = (i18n.texts().debugger().no_range)(&model.steps.get());
                view! {
                    <p class="no-range small err" role="alert">
                        {text}
                    </p>
                }
            })
        }}
        <List />
    }
}

/// Drop-down list of ranks, if there are several.
#[component]
fn Ranks() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let ranks = Memo::new(move |_| {
        model.findings.with(|findings| {
            let has_others = findings.judged.ranks > 1 && !findings.ranks.is_empty();
            has_others.then(|| findings.ranks.clone())
        })
    });
    move || {
        let ranks = ranks.get()?;
        let now = model.rank.get();
        let options = ranks.into_iter().map(|rank| {
            view! {
                <option value=rank.to_string() selected=now == Some(rank)>
                    {(i18n.texts().debugger().rank)(rank)}
                </option>
            }
        });
        Some(view! {
            <select
                name="rank"
                class="field"
                on:change=move |event| model.set_rank(&event_target_value(&event))
            >
                <option value="">{i18n.texts().debugger().all_ranks}</option>
                {options.collect_view()}
            </select>
        })
    }
}

/// Table of the lines in view, with a few above and below.
#[component]
fn List() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    // Lines that the rows are built from; other fields may change without a redraw.
    let window = Memo::new(move |_| model.findings.with(|findings| LoadedHits::of(findings)));
    let selected = Memo::new(move |_| {
        model.selected.with(|hit| {
            let hit = hit.as_ref()?;
            Some((hit.key(), (hit.rank, hit.step)))
        })
    });
    let list = RowList::new(LINE, move || {
        RowHeights::Equal(window.with(|window| window.lines), LINE)
    });
    // Widths for the loaded texts; names and titles get the rest.
    let widths = Memo::new(move |_| {
        let locale = i18n.locale();
        window.with(|window| column_widths(&window.hits, locale))
    });
    // Rows are plain text without signals: a change rebuilds all rows in view.
    let rows = move || {
        let RowRange { start, end, .. } = list.range.get();
        let (texts, locale) = (i18n.texts(), i18n.locale());
        selected.with(|selected| {
            let (selected, place) = selected.as_ref().map(|(key, place)| (key, *place)).unzip();
            window.with(|window| {
                let (before, drawn, behind) = window.part(start, end);
                let mut rows = Vec::with_capacity(drawn.len() + 2);
                rows.push(space(before));
                rows.extend(drawn.iter().map(|line| match *line {
                    Line::Step(step, rank, last, is_inner) => {
                        let rank = window.has_ranks.then_some(rank);
                        step_row((step, last), rank, is_inner, texts)
                    }
                    Line::Series(at) => {
                        let is_selected = window.holds(at, place);
                        series_row(&window.series[at], window.has_ranks, is_selected, texts)
                    }
                    Line::Hit(at) => {
                        let hit = &window.hits[at];
                        let key = Some(hit.key());
                        let mark = if key == window.first_cause {
                            Mark::First
                        } else {
                            Mark::of(hit.explains)
                        };
                        let title = window.titles.get(hit.watchpoint as usize);
                        let title = title.map(|title| i18n.words(title)).unwrap_or_default();
                        let name = window.names.short(&hit.tensor);
                        let row = Row {
                            at,
                            name,
                            title,
                            mark,
                            is_selected: key.as_ref() == selected,
                            is_again: window.is_again(at),
                        };
                        row.view(hit, locale, texts)
                    }
                }));
                rows.push(space(behind));
                rows
            })
        })
    };
    let pressed = move |event: MouseEvent| {
        let target = event
            .target()
            .and_then(|target| target.dyn_into::<Element>().ok());
        let head = |target: &Element| target.closest("button[data-series]").ok().flatten();
        if let Some(head) = target.as_ref().and_then(head) {
            model.toggle_series(&head.get_attribute("data-series").unwrap_or_default());
            return;
        }
        let row = target.and_then(|target| target.closest("[data-at]").ok().flatten());
        let at = row.and_then(|row| row.get_attribute("data-at")?.parse::<usize>().ok());
        let hit = at.and_then(|at| window.with_untracked(|window| window.hits.get(at).cloned()));
        if let Some(hit) = hit {
            model.select(&hit);
        }
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
                        {i18n.texts().debugger().nothing_matches} " "
                        <button type="button" class="link" on:click=move |_| model.clear_filters()>
                            {i18n.texts().runs().clear_filter}
                        </button>
                    </p>
                }
                .into_any()
            } else {
                view! { <p class="none small ink2">{i18n.texts().debugger().no_hits}</p> }
                    .into_any()
            }
        })
    };
    // Line scrolled into view, and the offset at that time. The line stays in view until the user scrolls.
    let shown = StoredValue::new(None::<(usize, i32)>);
    // Scrolls to a line once the list has a size.
    Effect::new(move || {
        let lines = window.with(|window| window.lines);
        let (_, height, _) = list.size.get();
        let scroll = list.scroll.get_untracked();
        let scrolled = pixels(scroll);
        let before = shown.get_value().filter(|(_, at)| *at == scrolled);
        let line = model
            .reveal
            .get()
            .map(count)
            .or(before.map(|(line, _)| line));
        let (Some(line), Some(holder)) = (line, list.holder.get()) else {
            return;
        };
        if line > 0 && line >= lines {
            return;
        }
        if model.reveal.with_untracked(Option::is_some) {
            model.reveal.set(None);
        }
        let to = list.position_of(line, (scroll, height), Some(ABOVE));
        let to = to.map_or(scrolled, pixels);
        shown.set_value(Some((line, to)));
        if to != scrolled {
            holder.set_scroll_top(to);
        }
    });
    let scrolled = move |_| {
        list.follow();
        model.show_from(list.first_row() as u64);
    };
    view! {
        <div class="scroll hit-list" node_ref=list.holder on:scroll=scrolled>
            <table
                class="dense"
                class:no-limit=move || widths.get().1 == 0
                style:--found=move || format!("{}ch", widths.get().0)
                style:--limit=move || format!("{}ch", widths.get().1)
                aria-label=i18n.text(|t| t.debugger().hits)
                aria-rowcount=move || (window.with(|window| window.lines) + 1).to_string()
            >
                <colgroup>
                    <col class="c-icon" />
                    <col />
                    <col class="c-watch" />
                    <col class="c-found" />
                    <col class="c-limit" />
                </colgroup>
                <thead>
                    <tr>
                        <td></td>
                        <th>{i18n.text(|t| t.debugger().tensor)}</th>
                        <th>{i18n.text(|t| t.debugger().watchpoint)}</th>
                        <th class="num">{i18n.text(|t| t.debugger().found)}</th>
                        <th class="num">{i18n.text(|t| t.debugger().limit)}</th>
                    </tr>
                </thead>
                <tbody on:click=pressed>{rows}</tbody>
            </table>
            {nothing}
        </div>
    }
}

/// Widths of the columns of found values and limits, in characters.
fn column_widths(hits: &[Hit], locale: Locale) -> (usize, usize) {
    let mut widths = (FOUND_CHARS.0, LIMIT_CHARS.0);
    let mut has_limit = false;
    for hit in hits {
        let [_, value, limit] = found(hit, locale);
        has_limit |= !limit.is_empty();
        widths.0 = widths.0.max(text_width(&value));
        widths.1 = widths.1.max(text_width(&limit));
    }
    let limit = if has_limit {
        widths.1.min(LIMIT_CHARS.1)
    } else {
        0
    };
    (widths.0.min(FOUND_CHARS.1), limit)
}

/// Width of a text in digits; an ideograph takes about two.
fn text_width(text: &str) -> usize {
    let width = |char: char| if char >= '\u{2e80}' { 2 } else { 1 };
    text.chars().map(width).sum()
}

/// Converts a number of lines; no list exceeds 32 bits.
fn count(lines: u64) -> usize {
    usize::try_from(lines).unwrap_or(usize::MAX)
}

/// Empty row in place of lines that are not loaded.
fn space(lines: usize) -> AnyView {
    let height = format!("{}px", lines as f64 * LINE);
    view! { <tr class="space" style:height=height hidden=lines == 0></tr> }.into_any()
}

/// Buttons that filter the hits by severity.
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
                title=move || (i18n.texts().debugger().severity)(severity_name(severity))
                aria-label=move || {
                    let name = (i18n.texts().debugger().severity)(severity_name(severity));
                    format!("{} {name}", count())
                }
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
                    let texts = i18n.texts();
                    (texts.debugger().all)(&(texts.frame().hits)(counts))
                }}
            </button>
            {button(Severity::Error)}
            {button(Severity::Warning)}
            {button(Severity::Info)}
        </div>
    }
}

fn step_row(of: (i64, i64), rank: Option<u32>, is_inner: bool, texts: Texts) -> AnyView {
    let rank = rank.map(|rank| format!(" · {}", (texts.debugger().rank)(rank)));
    view! {
        <tr class="grouprow" class:inner=is_inner>
            <td colspan="5">
                <b class="med">{format!("{} {}", texts.frame().step, step_range(of))}</b>
                {rank}
            </td>
        </tr>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use trainscope_api::Sentence;
    use trainscope_api::findings::Measure;
    use trainscope_format::digits::{Operator, Unit};
    use trainscope_format::float::Float;

    use super::loaded::tests::hit;
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_text() {
        assert_eq!(text_width("1 of 1"), 6);
        assert_eq!(text_width("0 个变化的元素"), 14);
        // Without limits, their column takes no room.
        assert_eq!(column_widths(&[hit(7)], Locale::En), (6, 0));
        let mut limited = hit(7);
        limited.measures = vec![Measure {
            name: "z_gt".to_owned(),
            quantity: Sentence::default(),
            operator: Operator::Above,
            unit: Unit::Number,
            value: Float(20.0),
            limit: Some(Float(10.0)),
            of: None,
            found: Sentence::default(),
            threshold: "> 10".to_owned(),
        }];
        assert_eq!(column_widths(&[hit(7), limited], Locale::En), (6, 5));
    }
}
